//! What the library asks for by its files, as flags of `mmgp fit`.

use crate::error::{Error, Warning};

/// What would give a term a value.
const MEASURES: [(&str, &str); 6] = [
    ("alpha.csv, or runs.csv with several m,", "--alpha FILE, or --runs FILE with several m,"),
    ("offload.csv", "--offload FILE"),
    ("context_switch.csv", "--context-switch FILE"),
    ("collective.csv", "--collective FILE"),
    ("profile.csv, or runs.csv with several p,", "--profile FILE, or --runs FILE with several p,"),
    ("profile.csv", "--profile FILE"),
];

/// The flags that give what a term needs.
pub(super) fn measure(files: &'static str) -> &'static str {
    let known = MEASURES.iter().find(|(known, _)| *known == files);
    known.map_or(files, |(_, flags)| flags)
}

/// A warning of a fit.
pub(in crate::cli) fn warning(warning: Warning) -> Warning {
    match warning {
        Warning::NotMeasured { term, taken, measure: files } => {
            Warning::NotMeasured { term, taken, measure: measure(files) }
        }
        Warning::Note(text) if text.contains(" cannot tell apart ") => {
            Warning::Note(text.replace("give profile.csv", "give --profile FILE"))
        }
        Warning::Note(text) if text.ends_with("name what the program calls") => {
            Warning::Note(text + " with --operation and --operation-bytes")
        }
        other => other,
    }
}

/// Why a fit was refused.
pub(super) fn error(error: Error) -> Error {
    match error {
        Error::TooLittleData { file, found, advice } => {
            let advice = advice.replace("give profile.csv", "give --profile FILE");
            let advice = advice.replace(" or runs.csv", " or --runs FILE");
            Error::TooLittleData { file, found, advice }
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_that_a_fit_asks_for_has_a_flag() {
        for (files, flags) in MEASURES {
            assert_eq!(measure(files), flags);
            assert!(!flags.contains(".csv") && flags.contains("--"), "{flags}");
        }
        let advice = "also time (m, p) = (1, 2), or give profile.csv or runs.csv".into();
        let refused = Error::TooLittleData { file: "f".into(), found: "x".into(), advice };
        assert_eq!(
            error(refused).to_string(),
            "f: x; also time (m, p) = (1, 2), or give --profile FILE or --runs FILE"
        );
    }
}
