//! What `mmgp emulate sweep3d` says of a run, on the emulated machine and computed plainly.

use serde::Serialize;

use super::Once;
use super::native::NativeReport;
use super::report::{OwnReport, RunReport, together};
use crate::apps::sweep3d::{Findings, NAME, Sweep3d};
use crate::apps::{Application, Ran};
use crate::cli::output::{aligned, json};
use crate::sweep::{Outcome, Problem};

/// The program, to be run once.
pub struct Sweep3dOnce(pub Sweep3d);

impl Once for Sweep3dOnce {
    fn application(&self) -> &dyn Application {
        &self.0
    }

    fn report(&self, ran: &Ran) -> Box<dyn OwnReport> {
        let found: &Findings = ran.findings().expect("invariant: a sweep has findings");
        let problem = self.0.problem();
        let solution = Solution {
            cells: problem.cells(),
            processes: found.processes.map(|it| it as usize),
            mk: problem.planes_of_block(),
            mmi: problem.angles_of_block(),
            iterations: found.errors.len(),
            errors: found.errors.clone(),
            fixups: found.fix_ups.clone(),
            source: found.source,
            absorption: found.absorption,
            leakage: found.leakage,
        };
        Box::new(SweepReport {
            programming: self.0.programming().name(),
            iteration_s: found.iterations.iter().map(|it| it.0).collect(),
            sweep_s: found.sweeps.iter().map(|it| it.0).collect(),
            compute_s: found.compute.0,
            block_s: found.block.0,
            message_s: found.messages.0,
            solution,
        })
    }
}

/// What came of the problem.
#[derive(Serialize)]
struct Solution {
    /// Along i, j and k.
    cells: [usize; 3],
    /// Along i and j.
    processes: [usize; 2],
    mk: usize,
    mmi: usize,
    iterations: usize,
    /// By iteration.
    errors: Vec<f64>,
    /// By iteration.
    fixups: Vec<u64>,
    source: f64,
    absorption: f64,
    /// Over the low and the high face of i, of j and of k.
    leakage: [[f64; 2]; 3],
}

impl Solution {
    fn values(&self) -> Vec<(&'static str, String)> {
        let by = |numbers: &[usize]| {
            numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join("x")
        };
        let last = |errors: &[f64]| errors.last().map_or_else(String::new, ToString::to_string);
        let [[i_low, i_high], [j_low, j_high], [k_low, k_high]] =
            self.leakage.map(|faces| faces.map(|face| face.to_string()));
        vec![
            ("cells", by(&self.cells)),
            ("processes", by(&self.processes)),
            ("mk", self.mk.to_string()),
            ("mmi", self.mmi.to_string()),
            ("iterations", self.iterations.to_string()),
            ("error", last(&self.errors)),
            ("fixups", self.fixups.iter().sum::<u64>().to_string()),
            ("source", self.source.to_string()),
            ("absorption", self.absorption.to_string()),
            ("leakage_i_low", i_low),
            ("leakage_i_high", i_high),
            ("leakage_j_low", j_low),
            ("leakage_j_high", j_high),
            ("leakage_k_low", k_low),
            ("leakage_k_high", k_high),
        ]
    }

    /// Errors and fix-ups, an iteration a line; with its time, where there is one.
    fn iterations(&self, times: &[f64]) -> String {
        let row = |(number, (error, fixed)): (usize, (&f64, &u64))| {
            let mut cells = vec![number.to_string(), error.to_string(), fixed.to_string()];
            cells.extend(times.get(number - 1).map(ToString::to_string));
            cells
        };
        let both = self.errors.iter().zip(&self.fixups);
        let rows: Vec<Vec<String>> = (1..).zip(both).map(row).collect();
        let columns = if times.is_empty() { 3 } else { 4 };
        aligned(&["iteration", "error", "fixups", "time_s"][..columns], &rows)
    }
}

/// What came of the problem on the emulated machine.
#[derive(Serialize)]
struct SweepReport {
    programming: &'static str,
    #[serde(flatten)]
    solution: Solution,
    /// By iteration, as the first rank sees it.
    iteration_s: Vec<f64>,
    /// Of it the sweep, from the first rank's beginning to the last one's end.
    sweep_s: Vec<f64>,
    /// Mean over the SPEs of the time in kernels.
    compute_s: f64,
    /// Mean time of a block, without messages; none in the accelerator model.
    block_s: f64,
    /// Mean over the ranks of the time in messages; none in the accelerator model.
    message_s: f64,
}

impl OwnReport for SweepReport {
    fn values(&self) -> Vec<(&'static str, String)> {
        let mut values = vec![("programming", self.programming.to_string())];
        values.extend(self.solution.values());
        values.push(("compute_s", self.compute_s.to_string()));
        values.push(("block_s", self.block_s.to_string()));
        values.push(("message_s", self.message_s.to_string()));
        values
    }

    fn text(&self) -> String {
        format!("\n{}", self.solution.iterations(&self.iteration_s))
    }

    fn json(&self, run: &RunReport) -> String {
        together(run, self)
    }
}

/// What came of it computed plainly.
#[derive(Serialize)]
pub struct PlainSweep {
    app: &'static str,
    timing: &'static str,
    #[serde(flatten)]
    solution: Solution,
    /// Whether the error that was asked for was reached.
    converged: bool,
}

impl PlainSweep {
    pub fn new(problem: &Problem, processes: [usize; 2], outcome: Outcome) -> Self {
        let solution = Solution {
            cells: problem.cells(),
            processes,
            mk: problem.planes_of_block(),
            mmi: problem.angles_of_block(),
            iterations: outcome.errors.len(),
            errors: outcome.errors,
            fixups: outcome.fix_ups,
            source: outcome.source,
            absorption: outcome.absorption,
            leakage: outcome.leakage,
        };
        Self { app: NAME, timing: "none", solution, converged: outcome.has_converged }
    }
}

impl NativeReport for PlainSweep {
    fn values(&self) -> Vec<(&'static str, String)> {
        let mut values = vec![("app", self.app.to_string()), ("timing", self.timing.to_string())];
        values.extend(self.solution.values());
        values
    }

    fn text(&self) -> String {
        format!("\n{}", self.solution.iterations(&[]))
    }

    fn json(&self) -> String {
        json(self)
    }
}
