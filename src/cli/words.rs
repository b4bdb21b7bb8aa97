//! What the user calls m and p.

use std::collections::BTreeMap;
use std::str::FromStr;

use crate::Mapping;
use crate::plot::Names;

/// What the user calls m and p, in the plural: ranks and threads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words {
    of_m: String,
    of_p: String,
}

/// The words where the user says nothing: m and p of the model.
impl Default for Words {
    fn default() -> Self {
        Self { of_m: "m".into(), of_p: "p".into() }
    }
}

impl FromStr for Words {
    type Err = String;

    /// Reads `ranks,threads`.
    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let (of_m, of_p) = text.split_once(',').unwrap_or((text, ""));
        let is_word = |word: &str| {
            let mut letters = word.bytes();
            letters.next().is_some_and(|it| it.is_ascii_alphabetic())
                && letters.all(|it| it.is_ascii_alphanumeric() || it == b'_')
        };
        let taken = ["nodes", "rep", "dir"];
        if !is_word(of_m) || !is_word(of_p) || of_m == of_p {
            return Err("expected two words, as in ranks,threads".into());
        }
        if let Some(word) = [of_m, of_p].into_iter().find(|word| taken.contains(word)) {
            return Err(format!("{word} is a placeholder already"));
        }
        Ok(Self { of_m: of_m.into(), of_p: of_p.into() })
    }
}

impl Words {
    /// The words for axes and captions of pictures.
    pub fn names(&self) -> Names {
        Names::of_user(self.pair())
    }

    /// The two words.
    pub fn pair(&self) -> (String, String) {
        (self.of_m.clone(), self.of_p.clone())
    }

    /// A configuration in these words with its further factors, `32 ranks of 4 threads with scheme=static`.
    pub fn of_both(&self, mapping: Mapping, factors: &BTreeMap<String, String>) -> String {
        let with = assigned(factors);
        let with = if with.is_empty() { with } else { format!(" with {with}") };
        self.of(mapping) + &with
    }

    /// A configuration in these words, `32 ranks of 4 threads`; `(32, 4)` where the user has none.
    pub fn of(&self, mapping: Mapping) -> String {
        if *self == Self::default() {
            return mapping.to_string();
        }
        let (m, p) = (mapping.m(), mapping.p());
        format!("{m} {} of {p} {}", counted(&self.of_m, m), counted(&self.of_p, p))
    }
}

/// Further factors as they are typed, `scheme=static, block=64`; nothing where there are none.
pub fn assigned(factors: &BTreeMap<String, String>) -> String {
    let all: Vec<String> = factors.iter().map(|(name, value)| format!("{name}={value}")).collect();
    all.join(", ")
}

/// The word for so many: the singular for one.
fn counted(plural: &str, count: u32) -> &str {
    if count != 1 {
        return plural;
    }
    let is_sibilant = ["sses", "xes", "ches", "shes"].iter().any(|end| plural.ends_with(end));
    let singular = if is_sibilant { plural.strip_suffix("es") } else { plural.strip_suffix('s') };
    singular.filter(|it| !it.is_empty()).unwrap_or(plural)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_is_told_in_the_users_words() {
        let check = |words: &str, (m, p): (u32, u32), told: &str| {
            assert_eq!(words.parse::<Words>().expect("two words").of(Mapping::of(m, p)), told);
        };
        check("ranks,threads", (32, 4), "32 ranks of 4 threads");
        check("processes,GPUs", (1, 1), "1 process of 1 GPU");
        assert_eq!(Words::default().of(Mapping::of(4, 2)), "(4, 2)");
        for wrong in ["ranks", "ranks,", "a,a", "a b,c", "nodes,threads", "1,2"] {
            assert!(wrong.parse::<Words>().is_err(), "{wrong}");
        }
    }
}
