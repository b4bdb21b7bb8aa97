//! Folders of studies whose files were cut, exchanged, mixed and edited: `report`, `plot` and `predict`
//! refuse them or answer, through the program as it is installed.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;

use mmgp::table::{self, Source};

use crate::mutation::{Format, damaged};
use crate::pages::data_of;
use crate::target::{Input, Random, Seen, Target, Verdict};

/// Folders of two studies by the program at that path.
///
/// # Errors
/// What was in the way of making them.
pub fn target(program: &Path) -> Result<Target, String> {
    let folders = Rc::new(Folders::new(program)?);
    let again = Rc::clone(&folders);
    let input = move |random: &mut Random| folders.input(random);
    let target = Target::new("study-folder", input, move |input| again.check(input));
    Ok(Target { cost: 1000, ..target })
}

/// Two studies by a program, and a place for those that went wrong.
struct Folders {
    program: PathBuf,
    place: PathBuf,
    /// The text files of each.
    studies: [Vec<Source>; 2],
}

impl Folders {
    /// Has the program at that path make two small studies.
    fn new(program: &Path) -> Result<Self, String> {
        // It runs in a folder of its own.
        let program = &std::path::absolute(program).map_err(|error| error.to_string())?;
        let place = std::env::temp_dir().join(format!("mmgp-fuzz-{}", std::process::id()));
        let of = |name: &str, input: &str| -> Result<Vec<Source>, String> {
            let folder = place.join(name);
            let mut command = Command::new(program);
            command.args(["study", "--quiet", "--generations", "2", "--input", input, "--out"]);
            let ran = command.arg(&folder).output().map_err(|error| error.to_string())?;
            if !ran.status.success() {
                return Err(String::from_utf8_lossy(&ran.stderr).into_owned());
            }
            let mut parts = Vec::new();
            for name in table::names_in(&folder) {
                let is_text = [".csv", ".toml", ".json"].iter().any(|end| name.ends_with(end));
                // A trace is large, and its reader is tried by itself.
                if is_text && name != "trace.json" {
                    let source = Source::read(&folder.join(&name)).map_err(|it| it.to_string())?;
                    parts.push(Source { name, ..source });
                }
            }
            table::remove_folder(&folder).map_err(|error| error.to_string())?;
            Ok(parts)
        };
        let studies = [of("one", "sim12")?, of("other", "sim24")?];
        Ok(Self { program: program.into(), place, studies })
    }

    /// Runs a command in the case's folder: its answer, where it has one.
    fn run(&self, arguments: &[&str]) -> Result<Option<String>, String> {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(self.place.join("case"));
        let ran = command.output().map_err(|error| error.to_string())?;
        let said = String::from_utf8_lossy(&ran.stderr);
        let of = arguments[0];
        match ran.status.code() {
            _ if said.contains("panicked") => Err(format!("{of} panics: {said}")),
            Some(0) => Ok(Some(String::from_utf8_lossy(&ran.stdout).into_owned())),
            Some(1..=3) if !said.trim().is_empty() => Ok(None),
            Some(code) => Err(format!("{of} ends with code {code}: {said}")),
            None => Err(format!("{of} is ended by a signal: {said}")),
        }
    }

    fn input(&self, random: &mut Random) -> Input {
        let [mut parts, other] = self.studies.clone();
        for _ in 0..random.within(1, 3) {
            let place = random.below(parts.len());
            let from_other = other.iter().find(|it| it.name == parts[place].name).cloned();
            let swap = parts[random.below(parts.len())].text.clone();
            let part = &mut parts[place];
            let format = match part.name.rsplit('.').next() {
                Some("csv") => Format::Csv,
                Some("toml") => Format::Toml,
                _ => Format::Text,
            };
            match random.below(8) {
                0 => part.text = from_other.map(|it| it.text).unwrap_or_default(),
                1 => part.text = swap,
                2 => {
                    parts.remove(place);
                }
                3 => {
                    let end = part.text.floor_char_boundary(random.below(part.text.len() + 1));
                    part.text.truncate(end);
                }
                _ => part.text = damaged(random, &[&part.text], format, ""),
            }
            if parts.is_empty() {
                break;
            }
        }
        Input(parts)
    }

    fn check(&self, input: &Input) -> Verdict {
        let case = self.place.join("case");
        let failed = |error: mmgp::Error| error.to_string();
        if !table::names_in(&case).is_empty() {
            table::remove_folder(&case).map_err(failed)?;
        }
        table::create_folder(&case).map_err(failed)?;
        for part in &input.0 {
            table::write(&case.join(&part.name), &part.text).map_err(failed)?;
        }
        let mut seen = Seen::Refused;
        if let Some(html) = self.run(&["report", "."])? {
            data_of(&html)?;
            seen = Seen::Taken;
        }
        for kind in ["combined", "breakdown", "benchmarks", "heat-map"] {
            self.run(&["plot", "--study", ".", "--kind", kind, "--out", "x.svg"])?;
        }
        if let Some(json) = self.run(&["predict", "--params", "params.toml", "--format", "json"])? {
            let read = serde_json::from_str::<serde_json::Value>(&json);
            read.map_err(|error| format!("predict writes no JSON: {error}"))?;
        }
        Ok(seen.into())
    }
}

impl Drop for Folders {
    fn drop(&mut self) {
        let _ = table::remove_folder(&self.place);
    }
}
