//! The walls between the modules, and what may stand where, read from the source itself.

#![allow(clippy::disallowed_methods)] // The sources are read here.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use toml::de::{DeTable, DeValue};

/// Which crates of the workspace a crate may depend on: Cargo holds the sources to it, this list
/// holds the manifests to the code map. Nobody beneath `lab` has both `model` and a machine.
const MAY_DEPEND_ON: [(&str, &[&str]); 21] = [
    ("base", &[]),
    ("intake", &["base"]),
    ("model", &["base", "intake"]),
    ("tune", &["base", "intake", "model"]),
    ("pictures", &["base", "model"]),
    ("lists", &["base"]),
    ("sweep", &["base"]),
    ("native", &["base", "intake", "lists"]),
    ("launch", &["base", "intake"]),
    ("probe", &["base"]),
    ("machine", &["base"]),
    ("sim", &["base"]),
    ("cluster", &["base", "machine", "sim"]),
    ("spu", &["base"]),
    ("kernels", &["base", "lists", "spu", "sweep"]),
    ("cell", &["base", "machine", "sim", "spu"]),
    ("runtime", &["base", "machine", "sim", "cell"]),
    ("apps", &["base", "lists", "machine", "sim", "spu", "kernels", "cell", "runtime", "sweep"]),
    (
        "lab",
        &[
            "base", "model", "native", "lists", "machine", "sim", "cluster", "spu", "kernels",
            "cell", "runtime", "apps", "sweep",
        ],
    ),
    (
        "mmgp",
        &[
            "base", "intake", "model", "tune", "native", "launch", "probe", "lists", "machine",
            "sim", "cluster", "spu", "kernels", "cell", "runtime", "apps", "sweep", "lab",
            "pictures",
        ],
    ),
    ("python", &[]),
];

/// Within crates of several modules: who may use whom. `units`, `mapping` and `error` are open to
/// all.
const MAY_USE: [(&str, &[&str]); 31] = [
    ("units", &[]),
    ("quantity", &[]),
    ("mapping", &[]),
    ("error", &[]),
    ("attempt", &[]),
    ("answer", &["table"]),
    ("target", &[]),
    ("table", &["attempt"]),
    ("series", &[]),
    ("statistics", &[]),
    ("models", &["statistics", "table"]),
    ("fit", &["belief", "models", "statistics", "table"]),
    ("objective", &["expression"]),
    ("belief", &["models", "objective", "statistics"]),
    ("expression", &[]),
    ("complexity", &["expression", "statistics", "table"]),
    ("decide", &["belief", "expression", "models", "objective", "statistics", "table"]),
    ("export", &["belief", "models", "table"]),
    ("guided", &["fit", "models", "statistics"]),
    ("import", &["intake", "table"]),
    ("observer", &[]),
    ("space", &["decide"]),
    ("identity", &["table"]),
    ("measure", &["observer", "table"]),
    ("schedulers", &["guided"]),
    ("validate", &["measure", "models", "space", "table"]),
    ("transaction", &["identity", "measure", "observer", "table"]),
    (
        "study",
        &[
            "belief",
            "decide",
            "fit",
            "identity",
            "measure",
            "models",
            "observer",
            "space",
            "table",
            "transaction",
            "validate",
        ],
    ),
    ("report", &["answer", "belief", "models", "decide", "objective", "validate", "plot", "table"]),
    ("capi", &["belief", "decide", "fit", "guided", "models", "statistics", "table"]),
    (
        "cli",
        &[
            "answer",
            "apps",
            "belief",
            "cell",
            "cluster",
            "complexity",
            "decide",
            "export",
            "fit",
            "import",
            "intake",
            "lab",
            "launch",
            "probe",
            "lists",
            "machine",
            "measure",
            "models",
            "native",
            "objective",
            "plot",
            "report",
            "runtime",
            "schedulers",
            "spu",
            "statistics",
            "sweep",
            "table",
            "tune",
            "validate",
        ],
    ),
];

/// What everybody may use.
const OPEN_TO_ALL: [&str; 6] = ["units", "quantity", "mapping", "error", "attempt", "target"];

/// The folder of what a question about a program needs.
const DECISION: &str = "decision";

/// The folder of the emulated machine and what runs on it.
const EMULATOR: &str = "emulator";

/// What one wing takes from the other all the same: the ranking of lists on this computer takes lists.
const ACROSS: [(&str, &str); 1] = [("native", "lists")];

/// The crates whose top-level modules are parts of their own.
const OF_SEVERAL_MODULES: [&str; 4] = ["base", "lab", "model", "mmgp"];

/// Lines that a source file may have above its tests.
const MOST_LINES: usize = 400;

/// A file of a crate without its tests and comments.
struct SourceFile {
    /// The crate's name without `mmgp-`.
    package: String,
    /// Below the crate's `src`.
    path: PathBuf,
    code: String,
    /// Lines above the tests, comments included.
    lines: usize,
}

impl SourceFile {
    /// The part that it belongs to: its crate, or a top-level module of a crate of several.
    fn module(&self) -> &str {
        if !OF_SEVERAL_MODULES.contains(&self.package.as_str()) {
            return &self.package;
        }
        let first = self.path.components().next().expect("a file has a name");
        let first = first.as_os_str().to_str().expect("file names are UTF-8");
        first.strip_suffix(".rs").unwrap_or(first)
    }

    /// How many modules it lies below the root of its crate.
    fn depth(&self) -> usize {
        self.path.components().count()
    }

    /// Name as in `spu/dispatch.rs`: the crate, unless it is `mmgp`, and the path in it.
    fn name(&self) -> String {
        let path = self.path.display();
        if self.package == "mmgp" { path.to_string() } else { format!("{}/{path}", self.package) }
    }

    /// Whether it is one of `names`.
    fn is(&self, names: &[&str]) -> bool {
        names.contains(&self.name().as_str())
    }

    /// Whether it is the root of a crate of several modules, which names them all.
    fn is_root(&self) -> bool {
        OF_SEVERAL_MODULES.contains(&self.package.as_str())
            && ["lib.rs", "main.rs"].map(Path::new).contains(&self.path.as_path())
    }
}

/// The folder of the workspace.
fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The crates in a folder of `crates`, with their own folders.
fn crates_in(folder: &str) -> Vec<(String, PathBuf)> {
    let crates = fs::read_dir(workspace().join("crates").join(folder));
    let beneath = crates.expect("the folder can be read").map(|entry| {
        let entry = entry.expect("the folder can be read");
        (entry.file_name().into_string().expect("file names are UTF-8"), entry.path())
    });
    beneath.filter(|(_, path)| path.join("Cargo.toml").exists()).collect()
}

/// The crates of the workspace with their folders.
fn packages() -> Vec<(String, PathBuf)> {
    let mut all = crates_in("");
    all.extend(crates_in(DECISION));
    all.extend(crates_in(EMULATOR));
    all.push(("mmgp".to_string(), workspace().to_path_buf()));
    all
}

/// All files of the crates but those that hold nothing but tests.
fn sources() -> Vec<SourceFile> {
    let mut sources = Vec::new();
    for (package, folder) in packages() {
        let root = folder.join("src");
        let mut texts = BTreeMap::new();
        collect(&root, &mut texts);
        let test_files: Vec<PathBuf> =
            texts.iter().flat_map(|(path, text)| test_files(path, text)).collect();
        let is_test = |path: &Path| {
            test_files.iter().any(|test| path == test || path.starts_with(test.with_extension("")))
        };
        let of_the_library = texts.iter().filter(|(path, _)| !is_test(path));
        sources.extend(of_the_library.map(|(path, text)| {
            let above_tests = without_tests(text);
            SourceFile {
                package: package.clone(),
                path: path.strip_prefix(&root).expect("it was found there").to_path_buf(),
                code: without_comments(above_tests).replace(".fs(", ".("),
                lines: above_tests.lines().count(),
            }
        }));
    }
    assert!(sources.len() > 300, "the search for sources is broken");
    sources
}

fn collect(folder: &Path, texts: &mut BTreeMap<PathBuf, String>) {
    for entry in fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("the folder can be read").path();
        if path.is_dir() {
            collect(&path, texts);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            texts.insert(path.clone(), fs::read_to_string(&path).expect("sources are UTF-8"));
        }
    }
}

const TEST_MARK: &str = "#[cfg(test)]\n";

/// The name of the module after a [`TEST_MARK`], and what follows the name.
fn test_module(after_mark: &str) -> Option<(&str, &str)> {
    let line = after_mark.lines().next()?;
    let (_, declared) = line.split_once("mod ")?;
    declared.find([' ', ';']).map(|end| declared.split_at(end))
}

/// The files that `text` declares as `#[cfg(test)] mod name;`.
fn test_files(path: &Path, text: &str) -> Vec<PathBuf> {
    text.split(TEST_MARK)
        .skip(1)
        .filter_map(test_module)
        .filter(|(_, rest)| rest.starts_with(';'))
        .map(|(name, _)| {
            let is_root = path.file_name().is_some_and(|name| name == "lib.rs");
            let folder = if is_root { path.with_file_name("") } else { path.with_extension("") };
            folder.join(format!("{name}.rs"))
        })
        .collect()
}

/// What stands above `#[cfg(test)] mod tests {`, which is the end of a file.
fn without_tests(text: &str) -> &str {
    let starts = text.match_indices(TEST_MARK).map(|(start, _)| start);
    starts
        .into_iter()
        .find(|&start| {
            test_module(&text[start + TEST_MARK.len()..])
                .is_some_and(|(_, rest)| !rest.starts_with(';'))
        })
        .map_or(text, |start| &text[..start])
}

fn without_comments(text: &str) -> String {
    text.lines()
        .map(|line| line.split("//").next().unwrap_or_default().to_string() + "\n")
        .collect()
}

/// The words of `code`: names, with a `!` where one is called as a macro.
fn words(code: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut rest = code;
    while let Some(start) = rest.find(is_part) {
        rest = &rest[start..];
        let end = rest.find(|letter| !is_part(letter)).unwrap_or(rest.len());
        let end = end + usize::from(rest[end..].starts_with('!') && !rest[end..].starts_with("!="));
        words.push(&rest[..end]);
        rest = &rest[end..];
    }
    words
}

/// The parts that a file uses: `crate::name`, `crate::{name, ..}`, a chain of `super` that leads to
/// the root, and `mmgp_crate::name`. What a root itself exports is `error`'s.
fn uses(file: &SourceFile) -> Vec<String> {
    let to_root = "super::".repeat(file.depth());
    let mut names = Vec::new();
    let several = OF_SEVERAL_MODULES.map(|package| format!("mmgp_{package}::"));
    for root in ["crate::", &to_root].into_iter().chain(several.iter().map(String::as_str)) {
        for (start, _) in file.code.match_indices(root) {
            let before = file.code[..start].chars().next_back();
            if !before.is_some_and(|letter| letter.is_alphanumeric() || "_:".contains(letter)) {
                names.extend(first_names(&file.code[start + root.len()..]));
            }
        }
    }
    names
}

/// The name at the start of a path, or those of a group `{a::b, c::{d, e}}`.
fn first_names(path: &str) -> Vec<String> {
    let name = |text: &str| {
        let word = words(text).first().map(ToString::to_string).unwrap_or_default();
        if word.starts_with(char::is_uppercase) { "error".to_string() } else { word }
    };
    let Some(group) = path.strip_prefix('{') else { return vec![name(path)] };
    let mut depth = 0;
    let mut names = Vec::new();
    let mut start = 0;
    for (index, letter) in group.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                let item = group[start..index].trim();
                if !item.is_empty() {
                    names.push(name(item));
                }
                start = index + 1;
                if letter == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    names
}

/// Asserts that no file outside `allowed` (modules or files) holds one of `forbidden`.
fn check_absence(forbidden: &[&str], allowed: impl Fn(&SourceFile) -> bool, wall: &str) {
    for file in sources() {
        let found: Vec<&str> =
            words(&file.code).into_iter().filter(|word| forbidden.contains(word)).collect();
        assert!(allowed(&file) || found.is_empty(), "{} uses {found:?}: {wall}", file.name());
    }
}

#[test]
fn every_crate_depends_only_on_what_the_code_map_allows() {
    let packages = packages();
    assert_eq!(packages.len(), MAY_DEPEND_ON.len(), "a crate has no place in the code map");
    for (package, folder) in packages {
        let text = fs::read_to_string(folder.join("Cargo.toml")).expect("a crate has a manifest");
        let manifest = DeTable::parse(&text).expect("a manifest is TOML");
        let Some((_, allowed)) = MAY_DEPEND_ON.iter().find(|(name, _)| *name == package) else {
            panic!("crate {package} has no place in the code map of this test");
        };
        let Some(DeValue::Table(dependencies)) =
            manifest.get_ref().get("dependencies").map(|it| it.get_ref())
        else {
            panic!("crate {package} has no dependencies")
        };
        for name in dependencies.keys() {
            let Some(name) = name.get_ref().strip_prefix("mmgp-") else { continue };
            assert!(allowed.contains(&name), "{package} depends on {name}, but may on {allowed:?}");
        }
    }
}

#[test]
fn neither_wing_uses_the_other() {
    let names = |wing: &str| crates_in(wing).into_iter().map(|(name, _)| name).collect::<Vec<_>>();
    let wings = [names(DECISION), names(EMULATOR)];
    assert!(wings.iter().all(|wing| wing.len() > 4), "{wings:?}");
    for [own, other] in [[0, 1], [1, 0]].map(|order| order.map(|wing| &wings[wing])) {
        for (name, allowed) in
            MAY_DEPEND_ON.iter().filter(|(it, _)| own.iter().any(|own| own == it))
        {
            let across = allowed.iter().filter(|it| other.iter().any(|known| known == *it));
            let across: Vec<_> = across.filter(|it| !ACROSS.contains(&(name, it))).collect();
            assert!(across.is_empty(), "{name} may use {across:?} of the other wing");
        }
    }
}

#[test]
fn every_module_uses_only_what_the_code_map_allows() {
    for file in sources().iter().filter(|file| !file.is_root()) {
        if !OF_SEVERAL_MODULES.contains(&file.package.as_str()) {
            continue;
        }
        let module = file.module();
        let Some((_, allowed)) = MAY_USE.iter().find(|(name, _)| *name == module) else {
            panic!("{}: module {module} has no place in the code map of this test", file.name());
        };
        for used in uses(file) {
            assert!(
                used == module
                    || OPEN_TO_ALL.contains(&used.as_str())
                    || allowed.contains(&used.as_str()),
                "{}: {module} uses {used}, but may use only {allowed:?} and {OPEN_TO_ALL:?}",
                file.name()
            );
        }
    }
}

/// Read requests, and what a command prints.
const NATIVE_PIPES: [&str; 2] = ["native/supervisor.rs", "native/supervisor/output.rs"];

/// Files that start processes: a launcher, to ask for its version, those of the sample, compilers, and a program that is
/// traced.
const STARTS_PROCESSES: [&str; 4] =
    ["native/binding.rs", "native/stencil.rs", "probe/library.rs", "probe/run.rs"];

#[test]
fn only_table_opens_files() {
    // `fs` is an instruction of the SPU too: its table names it, and kernels call `spu.fs(..)`.
    check_absence(
        &["fs"],
        |file| {
            // What may be run, and what a pipe is, have names in `fs` too.
            file.module() == "table"
                || file.is(&["spu/instruction/floating.rs", "native/command.rs"])
                || file.is(&NATIVE_PIPES)
        },
        "only `table` opens files",
    );
    check_absence(
        &["File", "OpenOptions"],
        |file| file.module() == "table" || file.is(&NATIVE_PIPES),
        "only `table` opens files",
    );
}

#[test]
fn only_the_command_line_prints() {
    check_absence(
        &["println!", "print!", "eprintln!", "eprint!", "dbg!"],
        |file| ["cli", "main"].contains(&file.module()),
        "only `cli` and `main` print",
    );
    check_absence(
        &["stdout", "stderr"],
        |file| {
            file.module() == "cli"
                || file.name().starts_with("native/supervisor")
                || file.is(&["intake/names.rs"])
                || file.is(&STARTS_PROCESSES)
        },
        "only `cli` knows where to print, and `native` what a command prints",
    );
    check_absence(
        &["stdin"],
        |file| {
            ["cli", "table"].contains(&file.module())
                || file.name().starts_with("native/supervisor")
                || file.is(&STARTS_PROCESSES)
        },
        "standard input is a file to read, which `table` opens",
    );
}

#[test]
fn one_file_asks_for_the_time() {
    check_absence(
        &["Instant", "SystemTime", "UNIX_EPOCH"],
        |file| file.is(&["native/clock.rs"]),
        "results need no clock; runs on this computer have one",
    );
}

#[test]
fn only_the_border_to_c_and_compiled_kernels_are_unsafe() {
    check_absence(
        &["unsafe"],
        |file| file.is(&["spu/compiled.rs", "capi.rs", "capi/pool.rs", "python/frame/arrow.rs"]),
        "`unsafe` stands in spu/compiled.rs and at the borders to C and Arrow alone",
    );
}

#[test]
fn the_numerical_libraries_live_where_numbers_are_estimated() {
    check_absence(
        &["nalgebra", "argmin", "argmin_math"],
        |file| {
            ["belief", "fit", "statistics"].contains(&file.module())
                || file.is(&["apps/phylogeny/substitution.rs"])
                || file.is(&["model/decide/contest.rs", "model/decide/next.rs"])
                || file.is(&["model/complexity/growth.rs", "model/guided/learnt.rs"])
        },
        "argmin and nalgebra live in `statistics`, `belief` and `fit`, and with what is drawn from these; \
         but for the eigen system of a rate matrix",
    );
}

#[test]
fn a_file_is_one_thing() {
    for file in sources() {
        let (name, lines) = (file.name(), file.lines);
        assert!(lines <= MOST_LINES, "{name} has {lines} lines above its tests: two things?");
    }
}

#[test]
fn every_value_of_a_machine_says_where_it_comes_from() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/machines");
    let mut values = 0;
    for entry in fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("the folder can be read").path();
        let text = fs::read_to_string(&path).expect("a machine is a UTF-8 file");
        let document = DeTable::parse(&text).expect("a machine is TOML");
        for (section, entries) in document.get_ref() {
            let DeValue::Table(entries) = entries.get_ref() else { continue };
            for (name, entry) in entries {
                let name = format!("{}: {}.{}", path.display(), section.get_ref(), name.get_ref());
                check_value(&name, entry.get_ref());
                values += 1;
            }
        }
    }
    assert!(values > 40, "the search for values is broken: {values}");
}

fn check_value(name: &str, entry: &DeValue<'_>) {
    let DeValue::Table(entry) = entry else { panic!("{name} is a bare value") };
    let text = |key: &str| match entry.get(key).map(|value| value.get_ref()) {
        Some(DeValue::String(text)) => text.trim().to_string(),
        _ => panic!("{name} has no {key}"),
    };
    assert!(entry.contains_key("value"), "{name} has no value");
    assert!(!text("unit").is_empty(), "{name} has no unit");
    let (status, source) = (text("status"), text("source"));
    assert!(!source.is_empty(), "{name} has no source");
    assert!(
        ["documented", "measured", "calibrated", "assumed"].contains(&status.as_str()),
        "{name}: {status} is no status"
    );
    // A published figure has a number and a place where it was published.
    let figure = source.replace("calibrated", "");
    let is_figure = figure.contains(|letter: char| letter.is_ascii_digit())
        && figure.split_whitespace().count() >= 3;
    assert!(
        status != "calibrated" || is_figure,
        "{name} is calibrated, but {source:?} names no published figure"
    );
}

#[test]
fn the_search_for_uses_finds_every_form() {
    let code = "use crate::{a::b, c::{d, e}, Error};\nfn f() { crate::g::h(); $crate::i!() }\n\
                use super::super::k; use super::l; use mmgp_base::m as n;\nuse other::crate_::o;";
    let (package, path) = ("mmgp".into(), "x/y.rs".into());
    let file = SourceFile { package, path, code: code.into(), lines: 0 };
    let mut found = uses(&file);
    found.sort();
    assert_eq!(found, ["a", "c", "error", "g", "i!", "k", "m"]);
    let text = "a\n#[cfg(test)]\nmod trials;\nb\n#[cfg(test)]\npub mod tests {\nc";
    assert_eq!(without_tests(text), "a\n#[cfg(test)]\nmod trials;\nb\n");
    assert_eq!(test_files(Path::new("fit.rs"), text), [Path::new("fit/trials.rs")]);
}

/// Documents of the top folder and of `docs`.
fn documents() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in ["", "docs", "docs/emulator"] {
        for entry in fs::read_dir(workspace().join(folder)).expect("the folder can be read") {
            let path = entry.expect("the folder can be read").path();
            found.extend(path.extension().is_some_and(|it| it == "md").then_some(path));
        }
    }
    found
}

/// Anchors of the headings of a document, as forges make them.
fn anchors(text: &str) -> Vec<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let anchor = |line: &str| -> String {
        let kept = line.trim_start_matches('#').trim().chars();
        let kept = kept.filter(|it| it.is_alphanumeric() || " -_".contains(*it));
        kept.map(|it| if it == ' ' { '-' } else { it.to_ascii_lowercase() }).collect()
    };
    headings.map(anchor).collect()
}

#[test]
fn links_of_documents_lead_somewhere() {
    let documents = documents();
    assert!(documents.len() > 10, "the search for documents is broken");
    for path in documents {
        let text = fs::read_to_string(&path).expect("documents are UTF-8");
        for (start, _) in text.match_indices("](") {
            let link = text[start + 2..].split(')').next().unwrap_or_default();
            if link.starts_with("http") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { path.clone() } else { path.with_file_name(file) };
            assert!(target.exists(), "{}: there is no {link}", path.display());
            if !anchor.is_empty() {
                let text = fs::read_to_string(&target).expect("documents are UTF-8");
                assert!(anchors(&text).iter().any(|it| it == anchor), "{}: {link}", path.display());
            }
        }
    }
}
