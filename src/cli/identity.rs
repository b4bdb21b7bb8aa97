//! What the results in a folder are of: names and values of whatever changes them, in a file beside
//! them, so that results of something else are not mixed with them.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::output::json;
use crate::error::{Error, Result};
use crate::table::{self, Source};

/// The file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Identity {
    schema: u32,
    of: Vec<(String, String)>,
}

/// Writes down what results are of.
///
/// # Errors
/// [`Error::Write`].
pub fn write<N: AsRef<str>>(path: &Path, of: &[(N, String)]) -> Result<()> {
    let of = of.iter().map(|(name, value)| (name.as_ref().into(), value.clone())).collect();
    table::write(path, json(&Identity { schema: 1, of }))
}

/// The first difference from what was written down, in words; `None` where there is none.
///
/// # Errors
/// [`Error::Read`] where there is no such file, [`Error::Input`] where it is another.
pub fn difference<N: AsRef<str>>(path: &Path, of: &[(N, String)]) -> Result<Option<String>> {
    let source = Source::read(path)?;
    let known: Identity = serde_json::from_str(&source.text).map_err(|error| Error::Input {
        at: source.position(0),
        found: error.to_string(),
        expected: "what an earlier run wrote".into(),
    })?;
    for (name, value) in of {
        let name = name.as_ref();
        let before = known.of.iter().find(|(known, _)| known == name);
        let before = before.map_or("", |(_, value)| value.as_str());
        if before != value {
            let told =
                |text: &str| if text.is_empty() { "none".into() } else { format!("{text:?}") };
            return Ok(Some(format!("{name} was {}, and is {}", told(before), told(value))));
        }
    }
    Ok(None)
}
