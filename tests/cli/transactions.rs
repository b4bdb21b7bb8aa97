//! Folders of results: whole or refused, gone on with where they were interrupted, made in shares.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Stdio;

use crate::Folder;

const STUDY: [&str; 8] =
    ["study", "--machine", "ps3", "--input", "sim12", "--generations", "2", "--quiet"];

/// Parameters of something else.
const PUBLISHED: &str = include_str!("../../models/published/pbpi-qs20.toml");

fn with<'a>(command: &[&'a str], flags: &[&'a str]) -> Vec<&'a str> {
    [command, flags].concat()
}

/// All files in a folder and beneath it.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("it is there") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if path.is_dir() {
            let beneath = contents(&path).into_iter();
            all.extend(beneath.map(|(file, bytes)| (format!("{name}/{file}"), bytes)));
        } else {
            all.insert(name, fs::read(&path).expect("it can be read"));
        }
    }
    all
}

#[track_caller]
fn same(folder: &Folder, one: &str, other: &str) {
    let (one, other) = (contents(&folder.path(one)), contents(&folder.path(other)));
    let names = |of: &BTreeMap<String, Vec<u8>>| of.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&one), names(&other));
    for (name, bytes) in &one {
        assert!(*bytes == other[name], "{name}");
    }
}

fn copy(folder: &Folder, from: &str, to: &str) {
    for (name, bytes) in contents(&folder.path(from)) {
        let path = folder.path(to).join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("it is made");
        fs::write(path, bytes).expect("it is written");
    }
}

#[test]
fn a_study_is_made_in_shares_or_goes_on_and_is_the_same_to_the_byte() {
    let folder = Folder::new();
    folder.succeeds(&with(&STUDY, &["--out", "whole", "--threads", "1"]));
    for shard in ["1/3", "2/3"] {
        folder.succeeds(&with(&STUDY, &["--shard", shard]));
    }
    let parts = ["mmgp-study-shard-1-of-3", "mmgp-study-shard-2-of-3", "mmgp-study-shard-3-of-3"];
    let command = STUDY[..7].join(" ").replacen("study", "study pbpi", 1);
    folder.refuses(
        &["merge", parts[0], parts[1]],
        &format!(
            "DIR: found no folder with share 3/3, expected that of `mmgp {command} --shard 3/3`"
        ),
    );
    folder.succeeds(&with(&STUDY, &["--shard", "3/3", "--out", parts[2]]));
    folder.succeeds(&[&["merge"], &parts[..], &["--out", "merged", "--quiet"]].concat());
    same(&folder, "whole", "merged");
    // The rest of a share, after a kill while a result was written.
    let kept = folder.path(parts[0]).join("unfinished/kept.jsonl");
    let text = fs::read_to_string(&kept).expect("it is there");
    let lines = text.lines().count();
    assert!(lines >= 3, "{text}");
    fs::write(&kept, &text[..text.len() - 20]).expect("it is written");
    let killed = folder.mmgp(&["report", parts[0], "--out", "r.html"]);
    let goes_on = format!("`mmgp {command} --out {}` goes on with it", parts[0]);
    assert!(killed.stderr.contains(&goes_on), "{}", killed.stderr);
    folder.succeeds(&with(&STUDY, &["--out", parts[0]]));
    same(&folder, "whole", parts[0]);
    let other = ["study", "--machine", "ps3", "--input", "sim12", "--generations", "3", "--quiet"];
    folder.succeeds(&with(&other, &["--shard", "1/3", "--out", "other"]));
    let mixed = folder.mmgp(&["merge", "other", parts[1], parts[2]]);
    assert!(mixed.stderr.contains("--generations was \"3\", and is \"2\""), "{}", mixed.stderr);
    let unlike = folder.mmgp(&with(&STUDY, &["--out", "other"]));
    assert!(
        unlike.stderr.contains("is not finished: --generations was \"3\""),
        "{}",
        unlike.stderr
    );
    folder.succeeds(&with(&STUDY, &["--out", "other", "--force"]));
    same(&folder, "whole", "other");
}

#[test]
fn a_validation_and_a_comparison_are_made_in_shares() {
    let folder = Folder::new();
    let validate = [
        &["validate", "--params", "pbpi-qs20", "--machine", "ps3", "--input", "sim12"],
        &["--generations", "2", "--quiet"][..],
    ]
    .concat();
    let compare = ["schedulers", "--app", "synthetic", "--machine", "ps3", "--quiet"];
    let compare = with(&compare, &["--schedulers", "edtlp,ynr,linux", "--workers", "1..3"]);
    for command in [&validate, &compare] {
        folder.succeeds(&with(command, &["--out", "whole"]));
        folder.succeeds(&with(command, &["--out", "a", "--shard", "1/2"]));
        folder.succeeds(&with(command, &["--out", "b", "--shard", "2/2", "--threads", "1"]));
        folder.succeeds(&["merge", "b", "a", "--out", "c", "--quiet"]);
        same(&folder, "whole", "c");
        for made in ["whole", "a", "b", "c"] {
            fs::remove_dir_all(folder.path(made)).expect("it is removed");
        }
    }
}

#[test]
fn files_that_do_not_belong_together_are_refused() {
    let folder = Folder::new();
    folder.succeeds(&with(&STUDY, &["--out", "s"]));
    let whole = |name: &str| fs::read(folder.path("s").join(name)).expect("it is there");
    let refuses = |name: &str, content: &[u8], why: &str| {
        let before = fs::read(folder.path("s").join(name)).ok();
        fs::write(folder.path("s").join(name), content).expect("it is written");
        for command in [
            &["report", "s", "--out", "x.html"][..],
            &["plot", "--study", "s", "--kind", "combined", "--out", "x.svg"],
        ] {
            let run = folder.mmgp(command);
            assert_eq!(run.code, Some(2), "{name}: {}", run.stderr);
            assert!(run.stderr.contains(why), "{name}: {}", run.stderr);
        }
        assert_eq!(folder.files(), ["s"]);
        match before {
            Some(before) => fs::write(folder.path("s").join(name), before).expect("as it was"),
            None => fs::remove_file(folder.path("s").join(name)).expect("it is removed"),
        }
    };
    let validation = whole("validation.csv");
    let line = validation[..validation.len() / 2].iter().rposition(|&it| it == b'\n');
    let half = &validation[..=line.expect("a line")];
    refuses("validation.csv", half, "s/validation.csv: it is not what `mmgp study");
    refuses("params.toml", PUBLISHED.as_bytes(), "s/params.toml: it is not what `mmgp study");
    folder.succeeds(&["report", "s", "--out", "x.html"]);
    // Parameters by themselves may be changed by hand, which is told.
    let text = String::from_utf8(whole("params.toml")).expect("text");
    fs::write(folder.path("s/params.toml"), text + "# mine\n").expect("it is written");
    let run = folder.mmgp(&["predict", "--params", "s/params.toml", "--top", "1"]);
    assert_eq!(run.code, Some(0));
    let told = "warning: s/params.toml: it is not what `mmgp study";
    assert!(run.stderr.contains(told), "{}", run.stderr);
}

#[test]
fn a_folder_without_a_manifest_is_held_to_its_parameters() {
    let folder = Folder::new();
    folder.succeeds(&with(&STUDY, &["--out", "s"]));
    fs::remove_file(folder.path("s/manifest.json")).expect("it is removed");
    folder.succeeds(&["report", "s", "--out", "x.html"]);
    let text = folder.read("s/validation.csv");
    let half: String = text.split_inclusive('\n').take(7).collect();
    folder.write("s/validation.csv", half);
    let run = folder.mmgp(&["report", "s", "--out", "x.html"]);
    assert!(run.stderr.contains("validation.csv has 6 of 14 feasible"), "{}", run.stderr);
    folder.write("s/params.toml", PUBLISHED);
    let run = folder.mmgp(&["report", "s", "--out", "y.html"]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("expected a validation of the same parameters"), "{}", run.stderr);
    let plot = ["plot", "--params", "pbpi-qs20", "--validation", "s/validation.csv"];
    let run = folder.mmgp(&with(&plot, &["--kind", "all", "--out", "y.svg"]));
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(!folder.path("y.html").exists() && !folder.path("y.svg").exists());
}

#[test]
fn what_was_killed_while_files_took_their_places_is_refused_and_then_finished() {
    let folder = Folder::new();
    folder.succeeds(&with(&STUDY, &["--out", "whole"]));
    // An older study of something else, of which nothing is to stay.
    let older = ["study", "--machine", "ps3", "--input", "sim12", "--generations", "1", "--quiet"];
    folder.succeeds(&with(&older, &["--out", "s"]));
    copy(&folder, "whole", "s/unfinished");
    for file in ["params.toml", "alpha.csv"] {
        let from = folder.path("s/unfinished").join(file);
        fs::rename(from, folder.path("s").join(file)).expect("it takes its place");
    }
    let run = folder.mmgp(&["report", "s", "--out", "x.html"]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("when their writer was killed; `mmgp study"), "{}", run.stderr);
    folder.succeeds(&with(&STUDY, &["--out", "s"]));
    same(&folder, "whole", "s");
}

#[test]
fn a_second_study_leaves_the_first_one_alone() {
    let folder = Folder::new();
    folder.succeeds(&STUDY);
    let first = contents(&folder.path("mmgp-study"));
    folder.succeeds(&STUDY);
    let other = ["study", "--machine", "ps3", "--input", "sim12", "--generations", "1", "--quiet"];
    let run = folder.mmgp(&other);
    assert_eq!(run.code, Some(0));
    assert!(run.stderr.contains("those of this command go to mmgp-study-2"), "{}", run.stderr);
    assert_eq!(contents(&folder.path("mmgp-study")), first);
    assert_eq!(folder.files(), ["mmgp-study", "mmgp-study-2"]);
    // A validation is not put beside the page of a study.
    let validate = ["validate", "--params", "pbpi-qs20", "--machine", "ps3", "--input", "sim12"];
    folder.refuses(
        &with(&validate, &["--out", "mmgp-study-2"]),
        "--out: found mmgp-study-2, which has the results of `mmgp study pbpi --machine ps3 --input sim12 \
         --generations 1`, expected another folder, or --force to replace them",
    );
}

#[cfg(target_os = "linux")]
#[test]
fn an_input_is_known_by_what_was_read_of_it() {
    let folder = Folder::with("first.phy", include_str!("../../data/sim12.phy"));
    crate::signals::fifo(&folder.path("input.phy"));
    let study = ["study", "--machine", "ps3", "--generations", "1", "--quiet", "--input"];
    let child = folder.command(&with(&study, &["input.phy", "--out", "s"]));
    let mut child = { child }.stderr(Stdio::null()).spawn().expect("it starts");
    fs::write(folder.path("input.phy"), folder.read("first.phy")).expect("it is read");
    assert!(child.wait().expect("it ends").success());
    folder.succeeds(&with(&study, &["first.phy", "--out", "t"]));
    let hash = |of: &str| {
        let provenance = folder.read_json(&format!("{of}/study.json"));
        provenance["inputs"][0]["sha256"].to_string()
    };
    assert_eq!(hash("s").len(), 66);
    assert_eq!(hash("s"), hash("t"));
}
