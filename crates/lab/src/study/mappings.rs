//! Processes and accelerators of any program: which (m, p)?

use std::sync::Arc;

use mmgp_apps::application::Traffic;
use mmgp_apps::{Application, Division};
use mmgp_base::table::csv;
use mmgp_base::table::records::{Prediction, Profile, Split, Validation};
use mmgp_base::units::SimSpan;
use mmgp_base::{Mapping, Result};
use mmgp_model::belief::Posterior;
use mmgp_model::decide::{Configuration, Constraints, Ranking, Sampling, candidates, rank};
use mmgp_model::fit::refined::{self, RefinedCounts};
use mmgp_model::fit::{FileRows, FitResult, Inputs, Options, Settings, fit};
use mmgp_model::models::Parameters;
use mmgp_model::models::parameters::Decomposition;
use mmgp_model::models::refined::Placement;

use super::choices::{PREDICTIONS, VALIDATION};
use super::{SUMMARY, Subject, Workbench};
use crate::measure::{self, ApplicationTarget, Emulated, Layout, Target as _, Watch};
use crate::space::{Point, Space};
use crate::validate::{Comparison, Outcome, Said, Summary, check_same_result, compare};

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
        measure::write(&bench.folder, &tables, &[])?;
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
            terms: None,
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
        let mut summary = comparison.summary.clone();
        let ranking = predictions.ranking.as_ref();
        summary.said = ranking.and_then(|ranking| kept(ranking, &comparison.rows));
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

/// What a ranking said of rows, and what came of it; `None` where its choice did not run.
fn kept(ranking: &Ranking, rows: &[Validation]) -> Option<Said> {
    let measured = |mapping: Mapping| {
        let row = rows.iter().find(|row| Mapping::of(row.m, row.p) == mapping);
        row.map(|row| row.measured_s)
    };
    let chosen = ranking.chosen()?;
    let runs = ranking.configurations.iter().filter_map(|it| Some((it, measured(it.mapping)?)));
    let runs: Vec<_> = runs.collect();
    let least = rows.iter().map(|row| row.measured_s).fold(f64::INFINITY, f64::min);
    let is_inside = |(it, time): &&(&Configuration, f64)| (it.low.0..=it.high.0).contains(time);
    Some(Said {
        within_intervals: runs.iter().filter(is_inside).count(),
        intervals: runs.len(),
        at_most_percent: 100.0 * ranking.choice.costs_at_most?,
        cost_percent: 100.0 * (measured(chosen.mapping)? / least - 1.0),
    })
}
