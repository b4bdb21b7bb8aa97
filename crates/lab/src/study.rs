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
mod sweep3d;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mmgp_apps::application::Traffic;
use mmgp_apps::{Application, Division};
use mmgp_base::table::records::{Prediction, Profile, Split};
use mmgp_base::table::{self, csv};
use mmgp_base::units::SimSpan;
use mmgp_base::{Result, Warning};
use mmgp_model::belief::Posterior;
use mmgp_model::decide::{Configuration, Constraints, Ranking, Sampling, candidates, rank};
use mmgp_model::fit::refined::{self, RefinedCounts};
use mmgp_model::fit::{FileRows, FitResult, Inputs, Options, Settings, fit};
use mmgp_model::models::Parameters;
use mmgp_model::models::parameters::Decomposition;
use mmgp_model::models::refined::Placement;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::identity::Identity;
use crate::measure::{self, ApplicationTarget, Emulated, Layout, Shard, Target as _, Watch};
use crate::observer::Observer;
use crate::space::{Point, Space};
use crate::transaction::{Earlier, FinishedShard, KeptResults, Transaction};
use crate::validate::{Comparison, Outcome, Summary, check_same_result, compare};
use choices::{PREDICTIONS, VALIDATION};

pub use choices::{Choice, Choices, ThreadChoices};
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
    Whole(Results<S>),
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
        Ok(StudyEnd::Whole(results))
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

/// The files of parameters: equation 11, and the refined model.
const PARAMETERS: [&str; 2] = ["params.toml", "refined.toml"];
/// The file that says where the time of each run went.
const SPLIT: &str = "split.csv";
/// The file of what happened when in the middle of a run.
const TRACE: &str = "trace.json";

/// Off-loads of a process that a trace shows.
const OFFLOADS_SHOWN: f64 = 12.0;

/// A program on a machine, at every feasible (m, p).
pub struct Mappings<'a> {
    app: &'a (dyn Application + 'static),
    target: &'a ApplicationTarget,
    /// The machine again, where a part of a run can be traced on it.
    traced: Option<&'a Emulated>,
    /// What is predicted from, and its text; measured where it is not given.
    given: Option<(&'a Parameters, &'a str)>,
}

/// What is predicted of all (m, p), and from what.
pub struct Predictions {
    /// What equation 11 predicts from.
    pub parameters: Parameters,
    /// The parameters with the terms of the refined model, where they are known.
    pub refined: Parameters,
    /// All (m, p), the best first; none where parameters were given.
    pub ranking: Option<Ranking>,
    /// The machine, and the part of the best run that is traced.
    watched: Option<(Emulated, Arc<Watch>)>,
}

impl<'a> Mappings<'a> {
    /// A program on an emulated machine, with a trace of the middle of the run that is predicted to be
    /// the fastest.
    pub fn new(app: &'a (dyn Application + 'static), target: &'a Emulated) -> Self {
        Self { traced: Some(target), ..Self::on(app, target) }
    }

    /// A program on any target.
    pub fn on(app: &'a (dyn Application + 'static), target: &'a ApplicationTarget) -> Self {
        Self { app, target, traced: None, given: None }
    }

    /// The program with predictions from parameters that are given, with their text: nothing is measured
    /// beside the runs, and nothing is traced.
    #[must_use]
    pub fn predicted_by(self, parameters: &'a Parameters, text: &'a str) -> Self {
        Self { given: Some((parameters, text)), traced: None, ..self }
    }

    /// The program and the machine, for titles.
    pub fn title(&self) -> String {
        format!("{} on {}", self.app.name().to_uppercase(), self.target.name())
    }

    /// The micro-benchmarks and the profile, written, and the parameters of both models that follow
    /// from them.
    fn measure_and_fit(&self, bench: &Workbench<'_>) -> Result<FitResult> {
        let (app, target) = (self.app, self.target);
        let (seed, observer) = (bench.seed, bench.observer);
        let tables = measure::micro_benchmarks(target, measure::REPETITIONS, seed, observer)?;
        measure::write(&bench.folder, &tables)?;
        let rows = measure::profile(target, app, measure::PROFILE_REPETITIONS, seed, observer)?;
        bench.write("profile.csv", csv::write(&rows))?;
        let name = format!("{} on {}", app.name(), target.name());
        let counts = Some(counts(app, target.layout(), &rows));
        let settings = Settings::new(name, decomposition(app), target.layout().apus)
            .with(Options { counts, ..Options::default() });
        let inputs = Inputs {
            alpha: Some(measured("alpha.csv", tables.alpha)),
            offload: Some(measured("offload.csv", tables.offload)),
            context_switch: Some(measured("context_switch.csv", tables.context_switch)),
            collective: Some(measured("collective.csv", tables.collective)),
            profile: Some(measured("profile.csv", rows)),
            runs: None,
            memory: Some(measured("memory.csv", tables.memory)),
            prior: None,
        };
        fit(&inputs, &settings)
    }
}

impl Subject for Mappings<'_> {
    type Predictions = Predictions;
    type Comparison = Comparison;

    const FILES: &'static [&'static str] =
        &[PARAMETERS[0], PARAMETERS[1], PREDICTIONS, VALIDATION, SPLIT, SUMMARY, TRACE];
    const RUNS: &'static str = "emulating all (m, p)";

    fn predict(&self, bench: &Workbench<'_>) -> Result<Predictions> {
        if let Some((given, _)) = self.given {
            let (parameters, refined) = (given.clone(), given.clone());
            return Ok(Predictions { parameters, refined, ranking: None, watched: None });
        }
        let FitResult { parameters, refined, warnings, .. } = self.measure_and_fit(bench)?;
        let refined = refined.expect("invariant: its counts were given");
        for (file, parameters) in PARAMETERS.into_iter().zip([&parameters, &refined]) {
            bench.write(file, parameters.to_toml())?;
        }
        let posterior = Posterior::of(&parameters)?;
        let mappings = candidates(&posterior, &Constraints::NONE, parameters.apus)?.mappings;
        let sampling = Sampling::new(Sampling::USUAL_DRAWS, bench.seed);
        let ranking = rank(&posterior, &mappings, sampling)?;
        let rows: Vec<Prediction> = ranking.configurations.iter().map(Prediction::from).collect();
        bench.write(PREDICTIONS, csv::write(&rows))?;
        bench.doubt(warnings.into_iter().chain(ranking.warnings.iter().cloned()));
        let watched = self.traced.map(|target| {
            let watch = Arc::new(middle(&parameters, &ranking.configurations[0]));
            (target.watched(&watch), watch)
        });
        Ok(Predictions { parameters, refined, ranking: Some(ranking), watched })
    }

    fn points(&self, _: &Predictions) -> Vec<Point> {
        Space::mappings(self.target.layout().apus).points
    }

    fn at_once(&self) -> usize {
        self.target.at_once()
    }

    fn run(&self, predictions: &Predictions, point: &Point) -> Result<Outcome> {
        let target: &ApplicationTarget = match &predictions.watched {
            Some((target, _)) => target,
            None => self.target,
        };
        Ok(target.run(self.app, point.mapping())?.into())
    }

    fn compare(
        &self,
        predictions: &Predictions,
        outcomes: &[Outcome],
        bench: &Workbench<'_>,
    ) -> Result<(Comparison, Summary)> {
        let comparison = compare(&predictions.refined, outcomes);
        bench.write(VALIDATION, csv::write(&comparison.rows))?;
        let splits: Vec<Split> = outcomes.iter().filter_map(|it| it.split.clone()).collect();
        bench.write(SPLIT, csv::write(&splits))?;
        bench.doubt(check_same_result(outcomes));
        if let (Some((target, watch)), Some(ranking)) = (&predictions.watched, &predictions.ranking)
        {
            let trace = match watch.take() {
                Some(trace) => trace,
                None => {
                    // The outcome of its run was kept, and what happened in it was not.
                    target.run(self.app, ranking.configurations[0].mapping)?;
                    watch.take().expect("invariant: it was run")
                }
            };
            bench.write(TRACE, trace)?;
        }
        let summary = comparison.summary.clone();
        Ok((comparison, summary))
    }

    fn parameters(&self, predictions: &Predictions) -> Option<String> {
        Some(self.given.map_or_else(|| predictions.parameters.to_toml(), |(_, text)| text.into()))
    }
}

/// How the program divides its work among host processes.
pub(super) fn decomposition(app: &dyn Application) -> Decomposition {
    match app.division() {
        Division::Tasks(tasks) => Decomposition::Task { tasks },
        _ => Decomposition::Data,
    }
}

fn measured<R>(file: &str, rows: Vec<R>) -> FileRows<R> {
    FileRows { file: file.into(), rows }
}

/// The middle of the run at a mapping that is predicted to take so long.
fn middle(parameters: &Parameters, best: &Configuration) -> Watch {
    let m = f64::from(best.mapping.m());
    let of_each = parameters.terms.offloads.value
        / match parameters.decomposition {
            Decomposition::Data => 1.0,
            Decomposition::Task { .. } => m,
        };
    let length = best.time * (OFFLOADS_SHOWN / of_each.max(OFFLOADS_SHOWN));
    let before = (of_each * m - OFFLOADS_SHOWN * m).max(0.0) / 2.0;
    Watch::new(best.mapping, before as u64, SimSpan::from_seconds(length))
}

/// What the refined model asks of a program on a target, as a user would know it: from their
/// descriptions, and from how often the profile says that functions were called.
pub fn counts(app: &dyn Application, layout: Layout, profile: &[Profile]) -> RefinedCounts {
    let hardware_contexts = Some(layout.hardware_contexts);
    let Some(description) = app.description() else {
        return RefinedCounts { hardware_contexts, ..RefinedCounts::default() };
    };
    let placement = match description.placement {
        mmgp_cell::Placement::OwnCell => Placement::ByProcess,
        mmgp_cell::Placement::Interleaved | mmgp_cell::Placement::BySpe => Placement::ByApu,
    };
    let once = || profile.iter().filter(|row| row.repetition == 1);
    let sum = |bytes: fn(&Traffic) -> u64| -> f64 {
        let of_row = |row: &Profile| {
            let of_function = description.traffic.iter().find(|it| it.function == row.phase);
            of_function.map_or(0.0, |it| row.offloads as f64 * bytes(it) as f64)
        };
        once().map(of_row).sum()
    };
    let offloads: u64 = once().map(|row| row.offloads).sum();
    let traffic = refined::Traffic {
        bytes: sum(|it| it.bytes),
        exposed_bytes: sum(|it| it.exposed_bytes) / offloads.max(1) as f64,
    };
    RefinedCounts {
        iterations: Some(description.iterations),
        hardware_contexts,
        traffic: (!description.traffic.is_empty()).then_some(traffic),
        memories: Some((layout.memories, placement)),
    }
}
