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
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(open) = rest.find('{') {
            filled.push_str(&rest[..open]);
            rest = &rest[open..];
            let close = rest.find('}');
            let value = close.and_then(|close| Some((close, self.0.get(&rest[1..close])?)));
            match value {
                Some((close, value)) => {
                    filled.push_str(value);
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

    /// The same of a list.
    pub fn fill_all(&self, texts: &[String]) -> Vec<String> {
        texts.iter().map(|text| self.fill(text)).collect()
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

    #[test]
    fn a_word_in_braces_that_is_no_placeholder_is_found() {
        let argv = ["a", "{m}", "{ranks}", "{print $1}", "{}", "x{ranks}"].map(String::from);
        let command = Command { argv: argv.to_vec(), ..Command::default() };
        assert_eq!(command.unknown(&["m".into()]), ["ranks"]);
        assert!(command.names("m") && !command.names("p"));
    }
}
