//! Timed runs in the formats of Extra-P.
//!
//! ```
//! use mmgp_model::export::runs::RunsTarget;
//! use mmgp_base::table::Source;
//! use mmgp_intake::{Claims, runs};
//!
//! let claims = Claims::default();
//! let source = Source::new("runs.csv", "m,p,repetition,time_s\n1,1,1,8.5\n2,4,1,1.5\n");
//! let (read, _) = runs(&source, &claims)?;
//! let text = "extra-p-jsonl".parse::<RunsTarget>()?.write(&read)?;
//! assert_eq!(runs(&Source::new("runs.jsonl", &text), &claims)?.0, read);
//! # Ok::<(), mmgp_base::Error>(())
//! ```

mod objects;
mod text;

pub use objects::{extra_p_json, extra_p_json_lines};
pub use text::extra_p;

use std::collections::BTreeMap;
use std::str::FromStr;

use mmgp_base::error::{Error, Result};
use mmgp_base::table::records::Run;

/// A format to hand timed runs over in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunsTarget {
    /// See [`extra_p`].
    ExtraP,
    /// See [`extra_p_json`].
    ExtraPJson,
    /// See [`extra_p_json_lines`].
    ExtraPJsonLines,
}

impl RunsTarget {
    /// Every target, in the order in which they are offered.
    pub const ALL: &'static [Self] = &[Self::ExtraP, Self::ExtraPJson, Self::ExtraPJsonLines];

    /// The name by which it is asked for.
    pub fn name(self) -> &'static str {
        match self {
            Self::ExtraP => "extra-p",
            Self::ExtraPJson => "extra-p-json",
            Self::ExtraPJsonLines => "extra-p-jsonl",
        }
    }

    /// The runs in this format, the last line ended by a newline.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] where the format cannot hold them; the message says which can.
    pub fn write(self, runs: &[Run]) -> Result<String> {
        match self {
            Self::ExtraP => extra_p(runs),
            Self::ExtraPJson => extra_p_json(runs),
            Self::ExtraPJsonLines => extra_p_json_lines(runs),
        }
    }

    /// The command that fits a model to `file` with Extra-P. Its default search has no negative
    /// exponents and would turn `T_APU/(m*p)` into a logarithm; with these options it finds it.
    pub fn command(self, file: &str) -> String {
        let reader = match self {
            Self::ExtraP => "--text",
            Self::ExtraPJson | Self::ExtraPJsonLines => "--json",
        };
        let file = file.replace('\'', "'\\''");
        format!(
            "extrap {reader} '{file}' --modeler multi-parameter \
             --options '#spm=Default' '#spo=allow_negative_exponents=true'"
        )
    }
}

impl FromStr for RunsTarget {
    type Err = Error;

    /// Finds the target of that [name](Self::name).
    fn from_str(name: &str) -> Result<Self> {
        Self::ALL.iter().copied().find(|target| target.name() == name).ok_or_else(|| {
            Error::UnknownName {
                kind: "export target for runs",
                name: name.into(),
                known: Self::ALL.iter().map(|target| target.name().into()).collect(),
            }
        })
    }
}

/// The region that the runs are of.
const REGION: &str = "run";

/// The times of each (m, p), in increasing order, the repetitions in theirs.
fn points(runs: &[Run]) -> Result<BTreeMap<(u32, u32), Vec<f64>>> {
    if runs.is_empty() {
        return Err(refused("no runs".into(), "at least one"));
    }
    let mut sorted: Vec<&Run> = runs.iter().collect();
    sorted.sort_by_key(|run| (run.m, run.p, run.repetition));
    let mut points: BTreeMap<(u32, u32), Vec<f64>> = BTreeMap::new();
    for run in sorted {
        points.entry((run.m, run.p)).or_default().push(run.time_s);
    }
    Ok(points)
}

fn refused(found: String, expected: &str) -> Error {
    Error::out_of_range("runs", found, expected)
}

#[cfg(test)]
mod tests;
