//! What came of PBPI's chains, as it is printed and written.

use std::cell::RefCell;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use serde::Serialize;

use crate::apps::pbpi::{Inference, Sample, SampleSink, Samples, Tally, Trace};
use crate::apps::phylogeny::newick;
use crate::apps::phylogeny::splits::{Branch, Consensus, Split};
use crate::cli::output::aligned;
use crate::error::{Error, Result};
use crate::table::{self, StreamedFile};

/// What PBPI has to say of a run.
#[derive(Serialize)]
pub(super) struct InferenceReport {
    chains: Vec<ChainReport>,
    /// Over all chains.
    proposals: Vec<TallyReport>,
    swaps: TallyReport,
    #[serde(skip_serializing_if = "Option::is_none")]
    samples: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    consensus: Option<ConsensusReport>,
}

/// A chain at its end.
#[derive(Serialize)]
struct ChainReport {
    /// On the ladder of temperatures; 0 is the cold chain.
    place: usize,
    log_likelihood: f64,
    accepted: usize,
}

/// How often something was tried, and how often it came to pass.
#[derive(Serialize)]
struct TallyReport {
    name: &'static str,
    tried: u64,
    accepted: u64,
}

/// The majority-rule tree.
#[derive(Serialize)]
struct ConsensusReport {
    /// Samples that it is made of.
    samples: f64,
    /// With posterior probabilities (Newick).
    tree: String,
    splits: Vec<SplitReport>,
}

/// One of its inner branches.
#[derive(Serialize)]
struct SplitReport {
    /// The taxa on the side without the first one.
    taxa: Vec<String>,
    probability: f64,
    /// Mean length of the branch.
    length: f64,
}

impl InferenceReport {
    pub fn new(inference: &Inference, names: &[String]) -> Self {
        let chain = |chain: &Trace| ChainReport {
            place: chain.place,
            log_likelihood: chain.log_likelihood(),
            accepted: chain.accepted(),
        };
        let tally = |(name, tally): (&'static str, Tally)| TallyReport {
            name,
            tried: tally.tried,
            accepted: tally.accepted,
        };
        let proposals = inference.proposals().map(|(kind, count)| tally((kind.name(), count)));
        let consensus = inference.consensus();
        let consensus = consensus.map(|tree| ConsensusReport {
            samples: inference.splits.weight(),
            tree: tree.write(names).trim_end().to_string(),
            splits: splits(&tree, names),
        });
        Self {
            chains: inference.chains.iter().map(chain).collect(),
            proposals: proposals.into(),
            swaps: tally(("swaps", inference.swaps)),
            samples: (inference.samples > 0).then_some(inference.samples),
            consensus,
        }
    }

    /// Name and value of each figure that a single chain without samples does not have.
    pub fn figures(&self) -> Vec<(&'static str, String)> {
        let mut figures = Vec::new();
        if self.chains.len() > 1 {
            figures.extend([
                ("chains", self.chains.len().to_string()),
                ("swaps_tried", self.swaps.tried.to_string()),
                ("swaps_accepted", self.swaps.accepted.to_string()),
            ]);
        }
        figures.extend(self.samples.map(|samples| ("samples", samples.to_string())));
        figures
    }

    /// Proposals and the consensus, for people.
    pub fn text(&self) -> String {
        let row = |tally: &TallyReport| {
            let share = 100.0 * tally.accepted as f64 / tally.tried.max(1) as f64;
            let (tried, accepted) = (tally.tried.to_string(), tally.accepted.to_string());
            vec![tally.name.to_string(), tried, accepted, format!("{share:.1} %")]
        };
        let rows: Vec<Vec<String>> = self.proposals.iter().map(row).collect();
        let table = aligned(&["proposal", "tried", "accepted", "share"], &rows);
        let consensus = self.consensus.as_ref().map_or_else(String::new, |consensus| {
            format!("\nconsensus (Newick, posterior probabilities):\n{}\n", consensus.tree)
        });
        format!("\n{table}{consensus}")
    }

    /// Writes the consensus, which is there where samples were asked for.
    pub fn write_consensus(&self, path: &Path) -> Result<()> {
        let tree = self.consensus.as_ref().map_or("", |consensus| &consensus.tree);
        table::write(path, format!("{tree}\n"))
    }
}

fn splits(consensus: &Consensus, names: &[String]) -> Vec<SplitReport> {
    let report = |(split, branch): &(Split, Branch)| {
        let taxa = split.taxa().map(|taxon| names[taxon].clone()).collect();
        SplitReport { taxa, probability: branch.share, length: branch.length }
    };
    consensus.branches().iter().map(report).collect()
}

/// The file of the samples, written while they come.
pub(super) struct SampleFile {
    path: PathBuf,
    file: StreamedFile,
    /// What went wrong first.
    error: Option<io::Error>,
}

impl SampleFile {
    /// Opens it at once, so that a path that cannot be written shows before the run.
    pub fn create(path: &Path) -> Result<Rc<RefCell<Self>>> {
        let mut file = StreamedFile::create(path)?;
        let error = writeln!(file, "generation,log_likelihood,tree").err();
        Ok(Rc::new(RefCell::new(Self { path: path.into(), file, error })))
    }

    /// Where the program puts its samples.
    pub fn sink(file: &Rc<RefCell<Self>>) -> SampleSink {
        Rc::clone(file) as SampleSink
    }

    /// Puts the file in its place, or leaves none where the run has failed. Nothing does so by
    /// itself: a machine whose program failed may still hold it.
    pub fn end<T>(file: Option<&Rc<RefCell<Self>>>, outcome: Result<T>) -> Result<T> {
        let Some(file) = file else { return outcome };
        let mut file = file.borrow_mut();
        match outcome {
            Ok(outcome) => file.commit().map(|()| outcome),
            Err(error) => {
                file.file.discard();
                Err(error)
            }
        }
    }

    fn commit(&mut self) -> Result<()> {
        match self.error.take() {
            None => self.file.commit(),
            Some(source) => {
                self.file.discard();
                Err(Error::Write { file: self.path.clone(), source })
            }
        }
    }
}

impl Samples for SampleFile {
    fn take(&mut self, sample: &Sample<'_>) {
        if self.error.is_some() {
            return;
        }
        let tree = newick::write(sample.tree, sample.names);
        // A tree has commas, and its names may have quotes.
        let tree = tree.trim_end().replace('"', "\"\"");
        let (generation, log_likelihood) = (sample.generation, sample.log_likelihood);
        let written = writeln!(self.file, "{generation},{log_likelihood},\"{tree}\"");
        self.error = written.err();
    }
}
