//! Flags of `mmgp fit`: for the refined model, the files that it writes, and what the library asks for by its
//! files.

use std::path::PathBuf;

use clap::Args;

use super::Arguments;
use crate::cli::choice::one_of;
use crate::error::{Error, Warning};
use crate::fit::RefinedCounts;
use crate::fit::refined::Traffic;
use crate::models::refined::Placement;

/// What is counted or known of program and machine, for the refined model.
#[derive(Args)]
#[command(next_help_heading = "Refined model, fitted beside equation 11")]
pub struct CountFlags {
    /// Pieces into which the shared loops can be cut: division is uneven
    #[arg(long, value_name = "I", value_parser = clap::value_parser!(u32).range(1..))]
    iterations: Option<u32>,
    /// Hardware contexts of the host: switches and queueing only beyond
    #[arg(long, value_name = "H", value_parser = clap::value_parser!(u32).range(1..))]
    hardware_contexts: Option<u32>,
    /// Accelerators that stream from one memory: accelerators,bytes,repetition,time_s
    #[arg(long, value_name = "FILE")]
    pub memory: Option<PathBuf>,
    /// Memories of the machine
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    memories: Option<u32>,
    /// How the data are dealt to them
    #[arg(long, value_parser = one_of(&PLACEMENTS), value_name = "BY", default_value = "process")]
    placement: Placement,
    /// Bytes that all off-loads of a sequential run move
    #[arg(long, value_name = "BYTES", requires = "memory")]
    moved_bytes: Option<f64>,
    /// Bytes of them that an off-load waits for, before its first and after its last computation
    #[arg(long, value_name = "BYTES", requires = "moved_bytes")]
    exposed_bytes: Option<f64>,
    /// Parameter file of the refined model to write
    #[arg(long, value_name = "FILE")]
    pub refined_out: Option<PathBuf>,
}

/// How the data may be dealt to the memories of a machine.
const PLACEMENTS: [(Placement, &str, &str); 2] = [
    (Placement::ByProcess, "process", "All APUs of a process stream from the memory of its own"),
    (Placement::ByApu, "apu", "Each APU streams its part from a memory of its own"),
];

impl CountFlags {
    /// The counts; `None` where no flag asks for the refined model.
    pub fn counts(&self) -> Option<RefinedCounts> {
        let traffic = self
            .moved_bytes
            .map(|bytes| Traffic { bytes, exposed_bytes: self.exposed_bytes.unwrap_or(0.0) });
        let is_asked = self.iterations.is_some()
            || self.hardware_contexts.is_some()
            || traffic.is_some()
            || self.refined_out.is_some();
        is_asked.then_some(RefinedCounts {
            iterations: self.iterations,
            hardware_contexts: self.hardware_contexts,
            traffic,
            memories: self.memories.map(|memories| (memories, self.placement)),
        })
    }
}

/// The files that a fit writes.
pub(super) struct OutputFiles {
    pub out: Option<PathBuf>,
    pub report: Option<PathBuf>,
    pub refined_out: Option<PathBuf>,
}

impl OutputFiles {
    /// The files that the flags name.
    pub fn of(arguments: &Arguments) -> Self {
        let Arguments { out, report, counts, .. } = arguments;
        let refined_out = counts.refined_out.clone();
        Self { out: out.clone(), report: report.clone(), refined_out }
    }

    /// The files of the rows with that value: `p.toml` is `p-N-1000.toml`.
    pub fn by(self, column: &str, value: &str) -> Self {
        let is_plain = |it: char| it.is_alphanumeric() || matches!(it, '.' | '_' | '-' | '+');
        let plain = |text: &str| text.replace(|it: char| !is_plain(it), "_");
        let suffix = format!("-{}-{}", plain(column), plain(value));
        let named = |path: PathBuf| {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let end = path.extension().map(|it| format!(".{}", it.to_string_lossy()));
            path.with_file_name(format!("{stem}{suffix}{}", end.unwrap_or_default()))
        };
        let Self { out, report, refined_out } = self;
        let refined_out = refined_out.map(named);
        Self { out: out.map(named), report: report.map(named), refined_out }
    }
}

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
            Error::too_little(file, found, advice)
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
        let advice = "also time (m, p) = (1, 2), or give profile.csv or runs.csv";
        let refused = Error::too_little("f", "x", advice);
        assert_eq!(
            error(refused).to_string(),
            "f: x; also time (m, p) = (1, 2), or give --profile FILE or --runs FILE"
        );
    }
}
