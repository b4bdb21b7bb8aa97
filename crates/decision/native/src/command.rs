//! A command with places for the mapping, and what stands in them.

use std::collections::BTreeMap;
use std::path::Path;

/// What the user runs, with placeholders.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Command {
    /// The program and its arguments, at least the program.
    pub argv: Vec<String>,
    /// What is set in its environment.
    pub env: Vec<(String, String)>,
    /// Folder in which it runs; that where mmgp was started, unless given.
    pub folder: Option<String>,
    /// What runs before each run, untimed.
    pub prepare: Option<Vec<String>>,
    /// What runs after each run, however that ended.
    pub conclude: Option<Vec<String>>,
    /// Names of variables that are taken out of the environment.
    pub without: Vec<String>,
    /// Whether it, and what runs before and after it, are scripts of a shell: what is filled in is then
    /// quoted.
    pub is_script: bool,
}

impl Command {
    /// All texts that may have placeholders.
    fn texts(&self) -> impl Iterator<Item = &String> {
        let lists = [Some(&self.argv), self.prepare.as_ref(), self.conclude.as_ref()];
        let lists = lists.into_iter().flatten().flatten();
        lists.chain(self.env.iter().map(|(_, value)| value)).chain(&self.folder)
    }

    /// Whether a placeholder stands anywhere in it.
    pub fn names(&self, placeholder: &str) -> bool {
        let braced = format!("{{{placeholder}}}");
        self.texts().any(|text| text.contains(&braced))
    }

    /// Words of it with all placeholders filled in.
    pub(crate) fn filled(&self, places: &Placeholders, words: &[String]) -> Vec<String> {
        let filled = |word: &String| match self.is_script {
            true => places.fill_script(word),
            false => places.fill(word),
        };
        words.iter().map(filled).collect()
    }

    /// Words in braces that look like placeholders and are none of `known`.
    pub fn unknown(&self, known: &[String]) -> Vec<String> {
        let mut found = Vec::new();
        for text in self.texts() {
            for part in text.split('{').skip(1) {
                let Some((word, _)) = part.split_once('}') else { continue };
                let is_word = !word.is_empty() && word.bytes().all(|it| it.is_ascii_lowercase());
                if is_word && !known.iter().any(|it| it == word) && !found.contains(&word.into()) {
                    found.push(word.to_string());
                }
            }
        }
        found
    }
}

/// Whether a program is there and may be run: at its path, or by its name on the `PATH`.
pub fn is_executable(program: &str) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    let is_one = |path: &Path| {
        path.metadata().is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
    };
    if program.contains('/') {
        return is_one(Path::new(program));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    !program.is_empty() && std::env::split_paths(&path).any(|folder| is_one(&folder.join(program)))
}

/// What stands in the places.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Placeholders(BTreeMap<String, String>);

impl Placeholders {
    /// The same with one more.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl ToString) -> Self {
        self.0.insert(name.into(), value.to_string());
        self
    }

    /// A text with all of them filled in, each `{name}`; other braces stay as they are.
    pub fn fill(&self, text: &str) -> String {
        self.fill_by(text, |_, value| value.into())
    }

    /// The same of a script of a shell, which reads each as it is, wherever it stands.
    fn fill_script(&self, text: &str) -> String {
        let mut quotes = Quotes::None;
        self.fill_by(text, move |before, value| {
            quotes = quotes.behind(before);
            quotes.around(value)
        })
    }

    /// A text in which each is what `shown` makes of the text since the last one and its value.
    fn fill_by(&self, text: &str, mut shown: impl FnMut(&str, &str) -> String) -> String {
        let mut filled = String::with_capacity(text.len());
        let (mut rest, mut since) = (text, 0);
        while let Some(open) = rest.find('{') {
            filled.push_str(&rest[..open]);
            rest = &rest[open..];
            let close = rest.find('}');
            let value = close.and_then(|close| Some((close, self.0.get(&rest[1..close])?)));
            match value {
                Some((close, value)) => {
                    let value = shown(&filled[since..], value);
                    filled.push_str(&value);
                    since = filled.len();
                    rest = &rest[close + 1..];
                }
                None => {
                    filled.push('{');
                    rest = &rest[1..];
                }
            }
        }
        filled + rest
    }

    /// Placeholders as variables of an environment: `MMGP_M` of `m`.
    pub fn variables(&self) -> impl Iterator<Item = (String, String)> {
        let name = |name: &str| {
            let upper = name.to_ascii_uppercase();
            let kept = |it: char| if it.is_ascii_alphanumeric() { it } else { '_' };
            format!("MMGP_{}", upper.chars().map(kept).collect::<String>())
        };
        self.0.iter().map(move |(key, value)| (name(key), value.clone()))
    }
}

/// What a place in a script stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quotes {
    None,
    Single,
    Double,
}

impl Quotes {
    /// What stands behind a text that begins in this.
    fn behind(self, text: &str) -> Self {
        let (mut quotes, mut is_escaped) = (self, false);
        for letter in text.chars() {
            quotes = match (quotes, letter) {
                _ if is_escaped => quotes,
                (Self::None, '\'') => Self::Single,
                (Self::None, '"') => Self::Double,
                (Self::Single, '\'') | (Self::Double, '"') => Self::None,
                _ => quotes,
            };
            is_escaped = letter == '\\' && !is_escaped && quotes != Self::Single;
        }
        quotes
    }

    /// A value so that the shell reads it as it is there.
    fn around(self, value: &str) -> String {
        let is_plain = |it: char| it.is_ascii_alphanumeric() || "_@%+=:,./-".contains(it);
        match self {
            Self::None if !value.is_empty() && value.chars().all(is_plain) => value.into(),
            Self::None => format!("'{}'", value.replace('\'', r"'\''")),
            Self::Single => value.replace('\'', r"'\''"),
            Self::Double => {
                let escaped = |it: char| match it {
                    '"' | '\\' | '$' | '`' => format!("\\{it}"),
                    _ => it.to_string(),
                };
                value.chars().map(escaped).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_placeholders_are_filled_and_other_braces_stay() {
        let places = Placeholders::default().with("m", 4).with("p", 2).with("block-size", "x y");
        let check = |text: &str, filled: &str| assert_eq!(places.fill(text), filled);
        check("-n{m} {p}{m}", "-n4 24");
        check("{block-size}", "x y");
        check("{{m}} {q} {", "{4} {q} {");
        check("awk '{print $1}' µ{m}", "awk '{print $1}' µ4");
        // What is filled in is not looked at again.
        assert_eq!(places.clone().with("dir", "{m}").fill("{dir}"), "{m}");
        let variables: Vec<_> = places.variables().map(|(name, _)| name).collect();
        assert_eq!(variables, ["MMGP_BLOCK_SIZE", "MMGP_M", "MMGP_P"]);
    }

    /// What a shell makes of it is the value, in whatever quotes it stands.
    #[test]
    fn a_shell_reads_every_value_as_it_is() {
        for value in ["plain-1.5", "a b", "it's", "$HOME `id` \"q\" \\", "a\nb; id", "", "*"] {
            let places = Placeholders::default().with("x", value);
            let command = Command { is_script: true, ..Command::default() };
            let script = r#"printf '%s|' {x} '{x}' "{x}" "it's {x}" \"{x} \'{x}"#;
            let words = ["sh", "-c", script].map(String::from);
            let words = command.filled(&places, &words);
            let run = std::process::Command::new(&words[0]).args(&words[1..]).output();
            let printed = String::from_utf8(run.expect("a shell").stdout).expect("text");
            let expected = format!("{value}|{value}|{value}|it's {value}|\"{value}|'{value}|");
            assert_eq!(printed, expected, "{script}");
        }
    }

    #[test]
    fn a_word_in_braces_that_is_no_placeholder_is_found() {
        let argv = ["a", "{m}", "{ranks}", "{print $1}", "{}", "x{ranks}"].map(String::from);
        let command = Command { argv: argv.to_vec(), ..Command::default() };
        assert_eq!(command.unknown(&["m".into()]), ["ranks"]);
        assert!(command.names("m") && !command.names("p"));
    }
}
