//! What the results in a folder are of: names and values of whatever changes them, in a file beside
//! them, so that results of something else are not mixed with them.

use std::ffi::OsString;
use std::path::Path;

use clap::CommandFactory as _;
use serde::{Deserialize, Serialize};

use super::output::json;
use super::{Cli, input};
use crate::error::Result;
use crate::report::provenance::InputFile;
use crate::table::{self, Source};

/// What results are of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    schema: u32,
    /// The command that asks for them, without what changes none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    of: Vec<(String, String)>,
}

/// Flags of every command that change no result.
const NEVER_ASKED: [&str; 8] =
    ["out", "force", "shard", "threads", "quiet", "help", "help-all", "version"];

impl Identity {
    /// Of these names and values.
    pub fn new<N: AsRef<str>>(of: &[(N, String)]) -> Self {
        let of = of.iter().map(|(name, value)| (name.as_ref().into(), value.clone())).collect();
        Self { schema: 1, command: Vec::new(), of }
    }

    /// What a command asks, by the value of every flag that may change a result, the content of the files
    /// that are read for a flag, and the program's version. `not_asked` are further flags that choose
    /// among results, or say what is done with them.
    ///
    /// # Errors
    /// [`Error::Read`].
    pub fn of_command(
        words: &[OsString],
        files: &[(&'static str, Option<&Path>)],
        not_asked: &[&str],
    ) -> Result<Self> {
        let mut of = vec![("version".to_string(), crate::VERSION.to_string())];
        let command = Cli::command();
        let matches = command.clone().try_get_matches_from(words);
        let matches = matches.expect("invariant: the arguments were understood before");
        let (mut command, mut matches) = (&command, &matches);
        // A program is a subcommand of a command.
        while let Some((name, inner)) = matches.subcommand() {
            command = command.find_subcommand(name).expect("invariant: it has a name");
            matches = inner;
        }
        for argument in command.get_arguments() {
            let id = argument.get_id().as_str();
            if NEVER_ASKED.contains(&id) || not_asked.contains(&id) {
                continue;
            }
            let values = matches.get_raw(id).into_iter().flatten();
            let values: Vec<String> = values.map(|it| it.to_string_lossy().into_owned()).collect();
            of.push((format!("--{}", argument.get_long().unwrap_or(id)), values.join(",")));
        }
        for (flag, path) in files {
            let Some(path) = path else { continue };
            let file = InputFile::new(&*input::source(path)?, flag);
            of.push((format!("the file of {flag}"), file.sha256));
        }
        Ok(Self { command: plain_words(words), ..Self::new(&of) })
    }

    /// What was written down.
    ///
    /// # Errors
    /// [`Error::Read`] where there is no such file, [`Error::Input`] where it is another.
    pub fn read(path: &Path) -> Result<Self> {
        let source = Source::read(path)?;
        serde_json::from_str(&source.text)
            .map_err(|error| source.json_error(&source.text, &error, "what an earlier run wrote"))
    }

    /// Writes it down.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn write(&self, path: &Path) -> Result<()> {
        table::write(path, json(self))
    }

    /// The first difference from what was written down, in words; `None` where there is none.
    pub fn difference(&self, before: &Self) -> Option<String> {
        let is_of = |name: &str| {
            let known = before.of.iter().find(|(known, _)| known == name);
            known.map_or("", |(_, value)| value.as_str())
        };
        let (name, value) = self.of.iter().find(|(name, value)| is_of(name) != value)?;
        let told = |text: &str| if text.is_empty() { "none".into() } else { format!("{text:?}") };
        Some(format!("{name} was {}, and is {}", told(is_of(name)), told(value)))
    }

    /// The command as somebody would type it again.
    pub fn typed(&self) -> String {
        typed(&self.command)
    }
}

/// Words as somebody would type them after the program's name.
pub fn typed(words: &[String]) -> String {
    let quoted = words.iter().map(|word| {
        let is_plain = !word.contains(|it: char| it.is_whitespace() || "'\"$\\".contains(it));
        if is_plain { word.clone() } else { format!("'{}'", word.replace('\'', "'\\''")) }
    });
    ["mmgp".to_string()].into_iter().chain(quoted).collect::<Vec<_>>().join(" ")
}

/// The words of a command after the program's name, without what changes no result.
pub fn plain_words(words: &[OsString]) -> Vec<String> {
    let mut plain = Vec::new();
    let mut words = words.iter().skip(1).map(|word| word.to_string_lossy().into_owned());
    while let Some(word) = words.next() {
        let flag = word.split('=').next().unwrap_or_default();
        match flag {
            "--quiet" | "--force" => {}
            "--out" | "--threads" | "--shard" if word == flag => drop(words.next()),
            "--out" | "--threads" | "--shard" => {}
            _ => plain.push(word),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(arguments: &[&str]) -> Vec<OsString> {
        ["mmgp"].iter().chain(arguments).map(OsString::from).collect()
    }

    fn asked(arguments: &[&str]) -> Vec<(String, String)> {
        let all = words(&[&["schedulers"], arguments].concat());
        Identity::of_command(&all, &[], &["workers", "tasks"]).unwrap().of
    }

    #[test]
    fn results_are_of_every_flag_that_may_change_one_however_it_is_written() {
        let of = asked(&["synthetic", "--seed", "3"]);
        let of = |name: &str| {
            let found = of.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value.as_str())
        };
        assert_eq!(of("version"), Some(crate::VERSION));
        assert_eq!((of("--app"), of("--seed")), (Some("synthetic"), Some("3")));
        // What is given by default, and nothing of programs that do not run.
        assert_eq!((of("--machine"), of("--task-us")), (Some("qs20"), Some("96")));
        assert_eq!((of("--spes-per-task"), of("--tree")), (Some("1"), None));
        let same = ["synthetic", "--seed=3", "--machine", "qs20", "--force", "--workers=2"];
        assert_eq!(
            asked(&[&same[..], &["--out", "x", "--quiet", "--threads=1", "--tasks=4"]].concat()),
            asked(&["synthetic", "--seed", "3"])
        );
        assert_ne!(asked(&["pbpi", "--seed", "3"]), asked(&["pbpi", "--seed", "4"]));
    }

    #[test]
    fn a_command_is_kept_without_what_changes_no_result() {
        let check = |arguments: &[&str], expected: &str| {
            assert_eq!(typed(&plain_words(&words(arguments))), expected);
        };
        check(
            &["study", "raxml", "--threads", "1", "--out=x", "--quiet", "--seed", "3"],
            "mmgp study raxml --seed 3",
        );
        check(&["study", "--input", "my file's"], "mmgp study --input 'my file'\\''s'");
        check(&["schedulers", "--force", "--tasks=4"], "mmgp schedulers --tasks=4");
        check(&["validate", "--shard=1/2", "--params", "x"], "mmgp validate --params x");
    }
}
