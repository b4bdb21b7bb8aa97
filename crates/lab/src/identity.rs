//! What the results in a folder are of: names and values of whatever changes them, in a file beside
//! them, so that results of something else are not mixed with them.

use std::path::Path;

use mmgp_base::Result;
use mmgp_base::table::{self, Source};
use serde::{Deserialize, Serialize};

/// What results are of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    schema: u32,
    /// The command that asks for them, without flags that change none of them; empty where none does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    of: Vec<(String, String)>,
}

impl Identity {
    /// The identity of results that these names and values decide.
    pub fn new<N: AsRef<str>>(of: &[(N, String)]) -> Self {
        let of = of.iter().map(|(name, value)| (name.as_ref().into(), value.clone())).collect();
        Self { schema: 1, command: Vec::new(), of }
    }

    /// The identity with the command that asks for the results, as a user types it after the program's name.
    pub fn asked_by(self, command: Vec<String>) -> Self {
        Self { command, ..self }
    }

    /// The identity that was written down.
    ///
    /// # Errors
    /// [`Error::Read`](mmgp_base::Error::Read) where there is no such file,
    /// [`Error::Input`](mmgp_base::Error::Input) where it is another.
    pub fn read(path: &Path) -> Result<Self> {
        let source = Source::read(path)?;
        serde_json::from_str(&source.text)
            .map_err(|error| source.json_error(&source.text, &error, "what an earlier run wrote"))
    }

    /// Writes the identity down.
    ///
    /// # Errors
    /// [`Error::Write`](mmgp_base::Error::Write).
    pub fn write(&self, path: &Path) -> Result<()> {
        table::write(path, table::json(self))
    }

    /// The value of that name.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.of.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The first difference from what was written down, in words; `None` where there is none.
    pub fn difference(&self, before: &Self) -> Option<String> {
        let is_of = |name: &str| before.value(name).unwrap_or_default();
        let (name, value) = self.of.iter().find(|(name, value)| is_of(name) != value)?;
        let told = |text: &str| if text.is_empty() { "none".into() } else { format!("{text:?}") };
        Some(format!("{name} was {}, and is {}", told(is_of(name)), told(value)))
    }

    /// The command as a user types it again.
    pub fn typed(&self) -> String {
        typed(&self.command)
    }

    /// The command as a user types it to go on in a folder.
    pub fn typed_into(&self, folder: &Path) -> String {
        format!("{} --out {}", self.typed(), folder.display())
    }
}

/// Words as a user types them after the program's name.
pub fn typed(words: &[String]) -> String {
    let quoted = words.iter().map(|word| {
        let is_plain = !word.contains(|it: char| it.is_whitespace() || "'\"$\\".contains(it));
        if is_plain { word.clone() } else { format!("'{}'", word.replace('\'', "'\\''")) }
    });
    ["mmgp".to_string()].into_iter().chain(quoted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_told_in_words() {
        let of = |seed: &str| Identity::new(&[("program", "pbpi".into()), ("--seed", seed.into())]);
        assert_eq!(of("1").difference(&of("1")), None);
        assert_eq!(of("2").difference(&of("")).unwrap(), "--seed was none, and is \"2\"");
    }
}
