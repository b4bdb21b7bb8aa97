//! What came of PBPI's chains, as it is printed and written.

use std::cell::RefCell;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use serde::Serialize;

use super::Once;
use super::report::{OwnReport, RunReport, together};
use crate::Mapping;
use crate::apps::pbpi::{Inference, Pbpi, Sample, SampleSink, Samples, Tally, Trace};
use crate::apps::phylogeny::newick;
use crate::apps::phylogeny::splits::{Branch, Consensus, Split};
use crate::apps::{Application, Ran};
use crate::cli::input::pbpi::SamplingArguments;
use crate::cli::output::aligned;
use crate::error::{Error, Result};
use crate::runtime::Runtime;
use crate::table::{self, StreamedFile};

/// PBPI as it runs once.
pub struct PbpiOnce {
    pbpi: Pbpi,
    /// Of the taxa.
    names: Vec<String>,
    samples: Option<Rc<RefCell<SampleFile>>>,
    /// The file of the consensus.
    consensus: Option<PathBuf>,
}

impl PbpiOnce {
    /// With the names of the taxa. Opens the file of the samples at once, so that a path that cannot
    /// be written shows before the run.
    pub fn new(pbpi: Pbpi, names: Vec<String>, sampling: &SamplingArguments) -> Result<Self> {
        let pbpi = sampling.apply(pbpi)?;
        let samples = sampling.samples.as_deref().map(SampleFile::create).transpose()?;
        Ok(Self { pbpi, names, samples, consensus: sampling.consensus.clone() })
    }
}

impl Once for PbpiOnce {
    fn application(&self) -> &dyn Application {
        &self.pbpi
    }

    fn run(&self, on: &Runtime, mapping: Mapping) -> Result<Ran> {
        let sink = self.samples.as_ref().map(|file| Rc::clone(file) as SampleSink);
        self.pbpi.run_sampled(on, mapping, sink)
    }

    fn end(&self, ran: Result<Ran>) -> Result<Ran> {
        match &self.samples {
            Some(file) => file.borrow_mut().end(ran),
            None => ran,
        }
    }

    fn report(&self, ran: &Ran) -> Box<dyn OwnReport> {
        let inference = ran.findings().expect("invariant: PBPI makes an inference");
        let consensus_file = self.consensus.clone();
        Box::new(InferenceReport { consensus_file, ..InferenceReport::new(inference, &self.names) })
    }
}

/// What PBPI has to say of a run.
#[derive(Serialize)]
struct InferenceReport {
    /// Of the cold chain's last tree.
    log_likelihood: f64,
    /// Of all chains.
    accepted: usize,
    chains: Vec<ChainReport>,
    /// Over all chains.
    proposals: Vec<TallyReport>,
    swaps: TallyReport,
    #[serde(skip_serializing_if = "Option::is_none")]
    samples: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    consensus: Option<ConsensusReport>,
    #[serde(skip)]
    consensus_file: Option<PathBuf>,
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
    fn new(inference: &Inference, names: &[String]) -> Self {
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
            log_likelihood: inference.log_likelihood(),
            accepted: inference.accepted(),
            chains: inference.chains.iter().map(chain).collect(),
            proposals: proposals.into(),
            swaps: tally(("swaps", inference.swaps)),
            samples: (inference.samples > 0).then_some(inference.samples),
            consensus,
            consensus_file: None,
        }
    }
}

impl OwnReport for InferenceReport {
    fn values(&self) -> Vec<(&'static str, String)> {
        let mut figures = vec![
            ("log_likelihood", self.log_likelihood.to_string()),
            ("accepted", self.accepted.to_string()),
        ];
        // What a single chain without samples does not have.
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

    /// Proposals and the consensus.
    fn text(&self) -> String {
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

    fn json(&self, run: &RunReport) -> String {
        together(run, self)
    }

    /// Writes the consensus, which is there where samples were asked for.
    fn write_files(&self) -> Result<()> {
        let Some(path) = &self.consensus_file else { return Ok(()) };
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
struct SampleFile {
    path: PathBuf,
    file: StreamedFile,
    /// What went wrong first.
    error: Option<io::Error>,
}

impl SampleFile {
    fn create(path: &Path) -> Result<Rc<RefCell<Self>>> {
        let mut file = StreamedFile::create(path)?;
        let error = writeln!(file, "generation,log_likelihood,tree").err();
        Ok(Rc::new(RefCell::new(Self { path: path.into(), file, error })))
    }

    /// Puts the file in its place, or leaves none where the run has failed. Nothing does so by
    /// itself: a machine whose program failed may still hold it.
    fn end<T>(&mut self, ran: Result<T>) -> Result<T> {
        match ran {
            Ok(ran) => self.commit().map(|()| ran),
            Err(error) => {
                self.file.discard();
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
