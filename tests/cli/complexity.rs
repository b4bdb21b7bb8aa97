//! `mmgp complexity`

use serde_json::Value;

use super::Folder;

/// PBPI at nine small runs.
const SMALL: [&str; 8] =
    ["complexity", "--generations", "1", "--n", "100,200,400", "--p", "1,2,4", "--quiet"];

fn json(folder: &Folder, flags: &[&str]) -> Value {
    folder.json(&[flags, &["--format", "json"]].concat())
}

fn number(value: &Value, name: &str) -> f64 {
    value[name].as_f64().unwrap_or_else(|| panic!("{name} is no number in {value}"))
}

/// The growth of the quantity of that name.
fn growth<'a>(answer: &'a Value, name: &str) -> &'a Value {
    let growths = answer["growths"].as_array().expect("growths");
    let found = growths.iter().find(|growth| growth["name"] == name);
    found.unwrap_or_else(|| panic!("no growth of {name}"))
}

#[test]
fn one_run_is_counted_and_bound() {
    let flags = ["complexity", "--app", "synthetic", "--streams", "1", "--task-us", "50"];
    let answer = json(&Folder::new(), &[&flags[..], &["--n", "10", "--p", "1"]].concat());
    let run = &answer["runs"][0];
    // Ten off-loads of 50 us at 3.2 GHz, each after 24 cycles of polling, 10 of a DMA command and 6
    // of a look at its tag.
    assert_eq!(number(run, "outside"), 10.0 * (160_000.0 + 24.0 + 10.0 + 6.0));
    assert_eq!((number(run, "requests"), number(run, "bytes")), (10.0, 160.0));
    // Stop and start before at 100 ns, stop after at 150 ns each.
    assert_eq!(number(run, "signalling"), 10.0 * 350.0 * 3.2);
    let ratio = number(run, "bound_s") / number(run, "time_s");
    assert!(ratio > 0.98 && ratio <= 1.0, "{ratio}");
    assert_eq!((&run["binds"], &run["dominates"]), (&"issue".into(), &"issue".into()));
    assert_eq!(answer["growths"], Value::Array(Vec::new()));
}

#[test]
fn a_program_that_divides_its_data_grows_as_n_over_p() {
    let answer = json(&Folder::new(), &SMALL);
    assert_eq!(answer["runs"].as_array().map(Vec::len), Some(9));
    for name in ["instructions", "branches", "lines"] {
        let growth = growth(&answer, name);
        let largest = growth["terms"].as_array().and_then(|terms| terms.last());
        assert_eq!(largest.map(|term| &term["form"]), Some(&"n/p".into()), "{growth}");
        assert!(number(growth, "relative_error") < 0.1, "{growth}");
    }
    for run in answer["runs"].as_array().expect("runs") {
        let ratio = number(run, "bound_s") / number(run, "time_s");
        assert!(ratio > 0.5 && ratio <= 1.0, "{run}");
        let parts = ["issue_s", "latency_s", "bandwidth_s"].map(|name| number(run, name));
        let longest = parts.into_iter().fold(0.0, f64::max);
        let serial = number(run, "branches_s") + number(run, "host_s");
        assert!((number(run, "bound_s") - longest - serial).abs() < 1e-12);
    }
}

#[test]
fn people_and_spreadsheets_read_the_same() {
    let folder = Folder::new();
    let text = folder.succeeds(&SMALL);
    for part in [
        "pbpi on qs20",
        "T_C  instructions",
        "1. T_C: the host",
        "2. T_D =",
        "3. For each request",
        "4. T_B =",
        "bound/time",
        "dominates",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let csv = folder.succeeds(&[&SMALL[..], &["--format", "csv"]].concat());
    let lines: Vec<&str> = csv.lines().collect();
    assert!(lines[0].starts_with("program,machine,m,n,p,host_cycles,signalling,instructions,"));
    assert!(lines[0].ends_with(
        "issue_s,latency_s,bandwidth_s,branches_s,host_s,bound_s,time_s,binds,by_factor,dominates"
    ));
    assert_eq!(lines.len(), 10);
    assert!(lines[9].starts_with("pbpi,qs20,1,400,4,"), "{}", lines[9]);
    folder.succeeds(&[&SMALL[..], &["--out", "growth.txt"]].concat());
    assert_eq!(folder.read("growth.txt"), text);
}

#[test]
fn what_cannot_be_asked_says_what_can() {
    let folder = Folder::new();
    let refuses = |flags: &[&str], message: &str| {
        folder.refuses(&[&["complexity", "--generations", "1"][..], flags].concat(), message);
    };
    refuses(
        &["--n", "100,200", "--p", "1"],
        "the runs: n takes 2 values; a growth needs 3 values of it: give 1 more, as in --n",
    );
    refuses(&["--n", "100", "--p", "17"], "m = 1, p = 17 needs 17 APUs, but there are 16");
    refuses(
        &["--input", "sim12"],
        "--input: found mmgp complexity, expected --n, at each of which an input is made",
    );
    let error = folder.mmgp(&["complexity", "--vary", "b=1,2,3"]).stderr;
    assert!(error.starts_with("error: there is no further size \"b\""), "{error}");
    let error = folder.mmgp(&["complexity", "raxml", "--formulas", "list-ranking"]).stderr;
    assert!(error.contains("found list-ranking beside raxml"), "{error}");
    let error = folder.mmgp(&["complexity", "--vary", "b"]).stderr;
    assert!(error.contains("expected a name, =, and numbers above 0"), "{error}");
}

#[test]
fn formulas_take_the_place_of_runs() {
    let folder = Folder::new();
    let flags = ["complexity", "--formulas", "list-ranking", "--p", "1,8"];
    let answer = json(&folder, &flags);
    let [one, eight] = [0, 1].map(|run| &answer["runs"][run]);
    // 75 cycles for each of 2^20 nodes; eight SPEs ask for more lines than the memory delivers.
    let issue = 75.0 * f64::from(1 << 20) / 3.2e9;
    assert!((number(one, "issue_s") / issue - 1.0).abs() < 1e-12);
    assert_eq!((&one["dominates"], &eight["dominates"]), (&"issue".into(), &"bandwidth".into()));
    let third = answer["steps"][2].as_str().expect("a text").replace('\n', " ");
    assert!(third.contains("C = T_C/T_D cycles (75 here), which does not grow with n"), "{third}");

    folder.write(
        "mine.toml",
        "name = \"mine\"\ndescription = \"d\"\nsource = \"s\"\n[sizes]\nn = 10\n\
         [computation]\naccelerator = \"n * q\"\n",
    );
    let mistake = "mine.toml:7:20: found \"q\", expected n or a number";
    folder.refuses(&["complexity", "--formulas", "mine.toml"], mistake);
    folder.refuses(
        &["complexity", "--formulas", "list-ranking", "--vary", "q=3"],
        "there is no size \"q\"; known: n, p, b, s",
    );
    let error = folder.mmgp(&["complexity", "--formulas", "list"]).stderr;
    assert!(error.starts_with("error: there is no file of formulas \"list\""), "{error}");
}
