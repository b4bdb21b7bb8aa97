//! A study: everything there is to choose for a program is predicted, run, and compared.
//!
//! A [`Subject`] says what is studied: over which space, from what its times are predicted, and how a
//! point of it runs. There are three: [`Mappings`] (processes and accelerators of any program),
//! [`ThreadChoices`] (accelerators, sublists and DMA lists of list ranking) and [`SweepChoices`] (ranks
//! and blocks of a wavefront). [`Study::run`] leaves tables in a folder, which is what it was before
//! until [`Results::commit`] puts all of them in their places; a study that is interrupted goes on where
//! it was, and a [`Shard`] of one leaves the rest to others.
//!
//! ```
//! use mmgp_apps::pbpi::Pbpi;
//! use mmgp_apps::phylogeny::{Patterns, simulate};
//! use mmgp_lab::Identity;
//! use mmgp_lab::measure::Emulated;
//! use mmgp_lab::study::{Mappings, Study, StudyEnd};
//! use mmgp_machine::Machine;
//!
//! let tree = simulate::tree(6, 0.1, 1)?;
//! let alignment = simulate::alignment(&tree, &simulate::names(6), 40, 1)?;
//! let pbpi = Pbpi::new(Patterns::compress(&alignment), Some(tree), 1, 3)?;
//! let ps3 = Emulated::new(Machine::named("ps3")?);
//!
//! let folder = std::env::temp_dir().join(format!("mmgp-example-{}", std::process::id()));
//! let study = Study::new(&folder, Identity::new(&[("generations", "3".to_string())]));
//! let StudyEnd::Whole(results) = study.run(&Mappings::new(&pbpi, &ps3), &())? else { unreachable!() };
//! let equation_11 = &results.summary.models[0];
//! println!("It chooses {}, {} was the fastest", equation_11.predicted_best, equation_11.measured_best);
//! assert_eq!(results.summary.configurations, 14);
//! results.commit()?;
//! assert!(folder.join("validation.csv").exists());
//! # std::fs::remove_dir_all(folder).unwrap();
//! # Ok::<(), mmgp_base::Error>(())
//! ```

mod choices;
mod mappings;
mod sweep3d;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::fmt::Debug;
use std::path::{Path, PathBuf};

use mmgp_base::{Result, Warning, table};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::identity::Identity;
use crate::measure::Shard;
use crate::observer::Observer;
use crate::space::Point;
use crate::transaction::{Earlier, FinishedShard, KeptResults, Transaction};
use crate::validate::{Outcome, Summary};
pub use choices::{Choice, Choices, ThreadChoices};
pub use mappings::{Mappings, Predictions, counts};
pub use sweep3d::SweepChoices;

/// What is studied: a program over a space of choices.
pub trait Subject: Sync {
    /// What is predicted, and what that follows from.
    type Predictions: Sync;
    /// Predictions beside what ran.
    type Comparison;

    /// The files that it leaves in the folder of a study.
    const FILES: &'static [&'static str];
    /// What the runs of all points are called while they go on.
    const RUNS: &'static str;

    /// Measures what predictions follow from, and predicts; writes both down.
    ///
    /// # Errors
    /// What a measurement runs into, and what is not told by what was measured.
    fn predict(&self, bench: &Workbench<'_>) -> Result<Self::Predictions>;

    /// The points that run.
    fn points(&self, predictions: &Self::Predictions) -> Vec<Point>;

    /// How many runs may be under way at once without changing each other's times.
    fn at_once(&self) -> usize {
        usize::MAX
    }

    /// Runs a point.
    ///
    /// # Errors
    /// What the run runs into.
    fn run(&self, predictions: &Self::Predictions, point: &Point) -> Result<Outcome>;

    /// Compares predictions with the outcomes of the points, in their order, and writes down the rows.
    ///
    /// # Errors
    /// [`Write`](mmgp_base::Error::Write), and what a run runs into that is made once more.
    fn compare(
        &self,
        predictions: &Self::Predictions,
        outcomes: &[Outcome],
        bench: &Workbench<'_>,
    ) -> Result<(Self::Comparison, Summary)>;

    /// The text of the parameters that the results stand beside.
    fn parameters(&self, predictions: &Self::Predictions) -> Option<String> {
        let _ = predictions;
        None
    }
}

/// The file that sums up a study.
pub const SUMMARY: &str = "summary.json";

/// How a study is made, and in which folder.
#[derive(Debug, Clone)]
pub struct Study {
    /// The folder that it leaves its files in.
    pub folder: PathBuf,
    /// What its results are of: those of something else are not mixed with them.
    pub identity: Identity,
    /// The share of the runs that is made.
    pub shard: Shard,
    /// What is done with results that the folder has.
    pub earlier: Earlier,
    /// Threads of this computer.
    pub threads: usize,
    /// Seed of all random numbers.
    pub seed: u64,
}

/// What measurements and runs of a study have at hand.
pub struct Workbench<'a> {
    folder: PathBuf,
    kept: &'a KeptResults,
    /// Threads of this computer.
    pub threads: usize,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Receives how far work is.
    pub observer: &'a dyn Observer,
    warnings: RefCell<Vec<Warning>>,
}

/// What a study came to.
pub enum StudyEnd<S: Subject> {
    /// A share of the study.
    Share(FinishedShard),
    /// The whole study.
    Whole(Box<Results<S>>),
}

/// All that a study found. Its files take their places in the folder by [`Results::commit`].
pub struct Results<S: Subject> {
    transaction: Transaction,
    parameters: Option<String>,
    /// What was predicted.
    pub predictions: S::Predictions,
    /// Predictions beside what ran.
    pub comparison: S::Comparison,
    /// How well each model met the runs.
    pub summary: Summary,
    /// What is doubtful.
    pub warnings: Vec<Warning>,
}

impl Study {
    /// A whole study in a folder, on one thread, which goes on with what is there of the same.
    pub fn new(folder: &Path, identity: Identity) -> Self {
        let (shard, earlier) = (Shard::WHOLE, Earlier::Kept);
        Self { folder: folder.into(), identity, shard, earlier, threads: 1, seed: 1 }
    }

    /// Measures, predicts, runs every point of which no outcome is kept, and compares.
    ///
    /// # Errors
    /// As [`Transaction::begin`] and the subject.
    pub fn run<S: Subject>(self, subject: &S, observer: &dyn Observer) -> Result<StudyEnd<S>> {
        let Self { folder, identity, shard, earlier, threads, seed } = self;
        let transaction = Transaction::begin(&folder, identity, shard, earlier, observer)?;
        let (folder, kept, warnings) =
            (transaction.unfinished(), transaction.kept(), RefCell::default());
        let bench = Workbench { folder, kept, threads, seed, observer, warnings };
        let predictions = subject.predict(&bench)?;
        let points = subject.points(&predictions);
        let how = (threads.min(subject.at_once()), observer);
        let run = |point: &Point| subject.run(&predictions, point);
        let Some(outcomes) = kept.share(shard, (S::RUNS, &points), how, &run)? else {
            return transaction.finish_shard().map(StudyEnd::Share);
        };
        let (comparison, summary) = subject.compare(&predictions, &outcomes, &bench)?;
        bench.write(SUMMARY, table::json(&summary))?;
        let mut warnings = bench.warnings.into_inner();
        warnings.dedup();
        let parameters = subject.parameters(&predictions);
        let results =
            Results { transaction, parameters, predictions, comparison, summary, warnings };
        Ok(StudyEnd::Whole(Box::new(results)))
    }
}

impl Workbench<'_> {
    /// Writes a file of the study.
    ///
    /// # Errors
    /// [`Write`](mmgp_base::Error::Write).
    pub fn write(&self, file: &str, content: impl AsRef<[u8]>) -> Result<()> {
        table::write(&self.folder.join(file), content)
    }

    /// Does something for all items, but for those of which a result is kept.
    ///
    /// # Errors
    /// The first error in the order of the items.
    pub fn each<I: Sync + Debug, T: Serialize + DeserializeOwned + Send>(
        &self,
        work: &'static str,
        items: &[I],
        job: &(dyn Fn(&I) -> Result<T> + Sync),
    ) -> Result<Vec<T>> {
        self.kept.all(work, items, (self.threads, self.observer), job)
    }

    /// Notes what is doubtful.
    pub fn doubt(&self, warnings: impl IntoIterator<Item = Warning>) {
        self.warnings.borrow_mut().extend(warnings);
    }
}

impl<S: Subject> Results<S> {
    /// The folder that the files are in, for more to be added, until they take their places.
    pub fn unfinished(&self) -> PathBuf {
        self.transaction.unfinished()
    }

    /// The folder that the files take their places in.
    pub fn folder(&self) -> &Path {
        self.transaction.folder()
    }

    /// Puts all files in their places.
    ///
    /// # Errors
    /// Those of reading and writing.
    pub fn commit(self) -> Result<()> {
        self.transaction.commit(self.parameters.as_deref())
    }
}
