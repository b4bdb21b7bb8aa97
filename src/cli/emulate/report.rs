//! A report of a run: what every program says, and what those without files of their own add.

use std::path::{Path, PathBuf};

use super::{Arguments, Format, Once, output};
use crate::answer::{Object, Style, Table};
use crate::apps::list_ranking::{self, ListRanking};
use crate::apps::sgemm::{self, Sgemm};
use crate::apps::sweep3d::{self, Sweep3d};
use crate::apps::synthetic::Synthetic;
use crate::apps::{Application, Ran, run};
use crate::cell::ppe::HostCompiler;
use crate::cli::choice::name_of;
use crate::cli::input::HOST_COMPILERS;
use crate::error::Result;
use crate::lists::{Order, rank_sequentially};
use crate::machine::Machine;
use crate::sweep::{Outcome, Problem};
use crate::table;
use crate::units::Seconds;

#[cfg(unix)]
use crate::cli::input::HOST;
#[cfg(unix)]
use crate::native::list_ranking::{RankingTimes, Settings};

/// What a program says of a run.
#[derive(Default)]
pub struct ProgramReport {
    /// Named values, which follow those of the run.
    pub values: Object,
    /// Stands below the table, for people.
    pub text: String,
    /// Files that the program was asked for, with what is in them.
    pub files: Vec<(PathBuf, String)>,
    /// Files of the folder of the run, where there is one; the report stands above the text of the first.
    pub folder: Vec<(&'static str, String)>,
}

impl ProgramReport {
    /// The report of a program that says these values alone.
    pub fn of(values: Object) -> Self {
        Self { values, ..Self::default() }
    }

    /// The report in a format.
    pub fn print(&self, format: Format) -> String {
        match format {
            Format::Json => output::json(&self.values),
            Format::Csv => self.values.csv(),
            Format::Table => self.values.lines() + &self.text,
        }
    }
}

/// A run, by the names of the columns of the project's tables, and what the program says of it.
pub(super) struct RunReport {
    all: ProgramReport,
    for_people: String,
}

impl RunReport {
    /// The report of a run, with what the scheduler has learnt.
    pub fn new(
        (arguments, machine): (&Arguments, &Machine),
        (program, ran): (&dyn Once, &Ran),
        account: Option<String>,
    ) -> Self {
        let run = &ran.run;
        let own = program.report(ran);
        let calls = |calls: u64, apus: u32| (calls.max(1) * u64::from(apus)) as f64;
        let on_spes = run.functions.iter().map(|it| {
            (it.name, it.calls, it.apu(), 1e6 * it.apu().0 / calls(it.calls, run.mapping.p()))
        });
        let on_host = run.host_functions.iter().map(|it: &run::HostFunction| {
            (it.name, it.calls, it.time, 1e6 * it.time.0 / calls(it.calls, 1))
        });
        let on_spes = functions("apu", on_spes.collect(), run.apu_busy());
        let host_total = run.host_functions.iter().map(|it| it.time).sum();
        let on_host = functions("hpu", on_host.collect(), host_total);
        let compiler = arguments.app.port().map_or(HostCompiler::Gcc, |it| it.host_compiler);
        let values = Object::new()
            .with("app", program.application().name())
            .with("machine", &machine.name)
            .with("m", run.mapping.m())
            .with("p", run.mapping.p())
            .with("scheduler", arguments.scheduler.name())
            .with("collectives", arguments.scheduler.collectives())
            .with("host_compiler", name_of(&HOST_COMPILERS, &compiler))
            .with("seed", arguments.app.seed())
            .with("time_s", run.time)
            .with("hpu_busy_s", run.hpu_busy)
            .with("apu_busy_s", run.apu_busy())
            .with("offloads", run.offloads())
            .with("offload_mean_us", 1e6 * run.mean_offload().0)
            .with("hpu_gap_mean_us", 1e6 * run.mean_host_gap().0)
            .with("context_switches", run.context_switches)
            .with("functions", &on_spes)
            .with_some("host_functions", (!on_host.is_empty()).then_some(&on_host))
            .followed_by(own.values);
        let functions = if on_host.is_empty() { on_spes } else { on_host };
        let account = account.map_or_else(String::new, |account| format!("\n{account}"));
        let text = format!("{account}\n{}{}", functions.text(), own.text);
        let for_people = values.lines() + &text;
        Self { all: ProgramReport { values, text, ..own }, for_people }
    }

    /// The report in a format.
    pub fn print(&self, format: Format) -> String {
        self.all.print(format)
    }

    /// Writes the files that the program was asked for.
    pub fn write_files(&self) -> Result<()> {
        self.all.files.iter().try_for_each(|(path, text)| table::write(path, text))
    }

    /// Writes the files of a folder, where the program leaves more there than a report; whether it does.
    pub fn write_folder(&self, folder: &Path) -> Result<bool> {
        let mut above = self.for_people.as_str();
        if self.all.folder.is_empty() {
            return Ok(false);
        }
        table::create_folder(folder)?;
        for (name, text) in &self.all.folder {
            table::write(&folder.join(name), format!("{above}{text}"))?;
            above = "";
        }
        Ok(true)
    }
}

/// The functions of a kind of processor, each with its calls, its time and its mean time \[us\].
fn functions(
    processor: &str,
    functions: Vec<(&'static str, u64, Seconds, f64)>,
    total: Seconds,
) -> Table<(&'static str, u64, Seconds, f64)> {
    Table::of(functions)
        .headed("name", "function", Style::Plain, |it| it.0)
        .column("calls", Style::Plain, |it| it.1)
        .column(&format!("{processor}_time_s"), Style::Digits(6), |it| it.2)
        .headed("share_percent", "share", Style::InPercent(1), |it| {
            100.0 * it.2.0 / total.0.max(f64::MIN_POSITIVE)
        })
        .column(&format!("{processor}_mean_us"), Style::Digits(2), |it| it.3)
}

/// List ranking as it runs once.
pub struct ListRankingOnce {
    pub ranking: ListRanking,
    pub order: Order,
    pub buffers: u32,
}

impl Once for ListRankingOnce {
    fn application(&self) -> &dyn Application {
        &self.ranking
    }

    fn report(&self, ran: &Ran) -> ProgramReport {
        let found: &list_ranking::Findings =
            ran.findings().expect("invariant: list ranking finds prefixes");
        let ranking = &self.ranking;
        let expected = rank_sequentially(ranking.list(), ranking.operation());
        let wrong = expected.iter().zip(&found.prefixes).filter(|(one, other)| one != other);
        let values = Object::new()
            .with("nodes", ranking.list().nodes())
            .with("order", self.order.name())
            .with("operation", ranking.operation().name())
            .with("sublists", found.sublists)
            .with("buffers", self.buffers)
            .json("buffer_records", found.records);
        ProgramReport::of(
            steps(values, found.steps.map(|step| step.0))
                .with("load", found.loads.clone())
                .with("load_imbalance", found.imbalance())
                .with("checksum", found.checksum())
                .with("wrong", wrong.count()),
        )
    }
}

/// The times of the four steps \[s\]: choosing heads, ranking sublists, ranking heads, adding.
fn steps(object: Object, steps_s: [f64; 4]) -> Object {
    let with =
        |object: Object, (number, step): (u32, f64)| object.flat(format!("step_{number}_s"), step);
    (1..).zip(steps_s).fold(object.with("steps_s", steps_s), with)
}

/// What came of a list on this computer: medians, and the limits of all repetitions.
#[cfg(unix)]
pub fn host_ranking(
    app: &'static str,
    settings: &Settings,
    measured: &RankingTimes,
) -> ProgramReport {
    let (time, sequential) = (measured.time(), measured.of_sequential());
    let values = Object::new()
        .with("app", app)
        .with("machine", HOST)
        .with("m", 1_u32)
        .with("p", settings.threads)
        .with("seed", settings.seed)
        .with("nodes", measured.prefixes.len())
        .with("order", settings.order.name())
        .with("operation", settings.operation.name())
        .with("sublists", measured.sublists)
        .with("buffers", settings.in_flight)
        .with("repetitions", measured.steps.len())
        .with("time_s", time.median)
        .with("time_least_s", time.least)
        .with("time_most_s", time.most);
    ProgramReport::of(
        steps(values, measured.of_steps().map(|step| step.median.0))
            .with("sequential_s", sequential.median)
            .with("sequential_least_s", sequential.least)
            .with("sequential_most_s", sequential.most)
            .with("speed_up", sequential.median.0 / time.median.0)
            .with("load", measured.loads.clone())
            .with("load_imbalance", measured.imbalance())
            .with("checksum", measured.checksum())
            .with("wrong", measured.wrong),
    )
}

impl Once for Sweep3d {
    fn application(&self) -> &dyn Application {
        self
    }

    fn report(&self, ran: &Ran) -> ProgramReport {
        let found: &sweep3d::Findings = ran.findings().expect("invariant: a sweep has findings");
        let solution = Solution {
            problem: self.problem(),
            processes: found.processes.map(|it| it as usize),
            errors: &found.errors,
            fix_ups: &found.fix_ups,
            balance: [found.source, found.absorption],
            leakage: found.leakage,
        };
        let seconds = |spans: &[Seconds]| -> Vec<f64> { spans.iter().map(|it| it.0).collect() };
        let times = seconds(&found.iterations);
        let values = Object::new()
            .with("programming", self.programming().name())
            .followed_by(solution.values())
            .with("iteration_s", times.clone())
            .with("sweep_s", seconds(&found.sweeps))
            .with("compute_s", found.compute)
            .with("block_s", found.block)
            .with("message_s", found.messages);
        ProgramReport { text: solution.iterations(&times), ..ProgramReport::of(values) }
    }
}

/// What came of a sweep that was computed plainly.
pub fn plain_sweep(problem: &Problem, processes: [usize; 2], outcome: &Outcome) -> ProgramReport {
    let solution = Solution {
        problem,
        processes,
        errors: &outcome.errors,
        fix_ups: &outcome.fix_ups,
        balance: [outcome.source, outcome.absorption],
        leakage: outcome.leakage,
    };
    let values = Object::new()
        .with("app", sweep3d::NAME)
        .with("timing", "none")
        .followed_by(solution.values())
        .json("converged", outcome.has_converged);
    ProgramReport { text: solution.iterations(&[]), ..ProgramReport::of(values) }
}

/// What came of a problem of Sweep3D.
struct Solution<'a> {
    problem: &'a Problem,
    /// Ranks along i and j.
    processes: [usize; 2],
    /// The error after each iteration.
    errors: &'a [f64],
    /// The fix-ups of each iteration.
    fix_ups: &'a [u64],
    /// Source and absorption.
    balance: [f64; 2],
    /// What leaves over the low and the high face of i, of j and of k.
    leakage: [[f64; 2]; 3],
}

impl Solution<'_> {
    fn values(&self) -> Object {
        let Self { problem, processes, errors, fix_ups, balance: [source, absorption], .. } = self;
        let by = |numbers: &[usize]| {
            numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join("x")
        };
        let faces = ["i", "j", "k"].into_iter().zip(self.leakage);
        let values = Object::new()
            .with("cells", problem.cells())
            .flat("cells", by(&problem.cells()))
            .with("processes", *processes)
            .flat("processes", by(processes))
            .with("mk", problem.planes_of_block())
            .with("mmi", problem.angles_of_block())
            .with("iterations", errors.len())
            .with("errors", *errors)
            .flat("error", errors.last().copied())
            .with("fixups", *fix_ups)
            .flat("fixups", fix_ups.iter().sum::<u64>())
            .with("source", *source)
            .with("absorption", *absorption)
            .with("leakage", self.leakage);
        faces.fold(values, |values, (axis, [low, high])| {
            values
                .flat(format!("leakage_{axis}_low"), low)
                .flat(format!("leakage_{axis}_high"), high)
        })
    }

    /// Errors and fix-ups, an iteration a line; with its time, where there is one.
    fn iterations(&self, times: &[f64]) -> String {
        let table = Table::of(self.errors.iter().zip(self.fix_ups).enumerate())
            .column("iteration", Style::Plain, |(index, _)| index + 1)
            .column("error", Style::Plain, |(_, (error, _))| **error)
            .column("fixups", Style::Plain, |(_, (_, fix_ups))| **fix_ups);
        let table = match times.is_empty() {
            true => table,
            false => table.column("time_s", Style::Plain, |(index, _)| times[*index]),
        };
        format!("\n{}", table.text())
    }
}

impl Once for Synthetic {
    fn application(&self) -> &dyn Application {
        self
    }

    /// The time of all m p APUs together in which none of them computed, for each off-load.
    fn report(&self, ran: &Ran) -> ProgramReport {
        let idle_us = 1e6 * ran.run.mean_apu_idle().0;
        ProgramReport::of(Object::new().with("apu_idle_per_offload_us", idle_us))
    }
}

impl Once for Sgemm {
    fn application(&self) -> &dyn Application {
        self
    }

    /// How fast it was (a multiplication and an addition for each term, in the time of the run), and how right
    /// it is: an entry against sums of doubles, in parts of the sum of the magnitudes of its terms.
    fn report(&self, ran: &Ran) -> ProgramReport {
        let sgemm::Findings { product } =
            ran.findings().expect("invariant: a product was computed");
        ProgramReport::of(
            Object::new()
                .with("order", self.order())
                .with("gflops", 1e-9 * self.flops() / ran.run.time.0)
                .with("largest_error", self.largest_error(product)),
        )
    }
}
