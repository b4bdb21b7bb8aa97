//! What is printed of a run.

use std::path::Path;

use serde::Serialize;

use super::{Arguments, Once};
use crate::apps::{Ran, run};
use crate::cli::output::{aligned, json};
use crate::error::Result;
use crate::machine::Machine;

/// What is printed of a run.
pub(super) struct Report {
    run: RunReport,
    /// What the program says of its findings.
    pub own: Box<dyn OwnReport>,
    /// What the scheduler has learnt of the program.
    account: Option<String>,
}

/// What a program says of its findings.
pub trait OwnReport {
    /// Names and values for a table; a value that there is not is empty.
    fn values(&self) -> Vec<(&'static str, String)>;

    /// What stands below the table, for people.
    fn text(&self) -> String;

    /// The run and the findings as one object: [`together`].
    fn json(&self, run: &RunReport) -> String;

    /// Writes what the program was given files for.
    fn write_files(&self) -> Result<()> {
        Ok(())
    }

    /// Writes the findings and the report of the run into a folder, where the program leaves more
    /// than a report; none where it does not.
    fn write_folder(&self, _folder: &Path, _report: &str) -> Option<Result<()>> {
        None
    }
}

/// Run and findings as one JSON object.
pub(super) fn together(run: &RunReport, own: &impl Serialize) -> String {
    #[derive(Serialize)]
    struct Together<'a, O> {
        #[serde(flatten)]
        run: &'a RunReport,
        #[serde(flatten)]
        own: &'a O,
    }
    json(&Together { run, own })
}

/// Names and values as a header and a row.
pub(super) fn as_csv(values: Vec<(&'static str, String)>) -> String {
    let (names, values): (Vec<_>, Vec<_>) = values.into_iter().unzip();
    format!("{}\n{}\n", names.join(","), values.join(","))
}

/// Names and values, a line each.
pub(super) fn as_table(values: &[(&'static str, String)]) -> String {
    let width = values.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    values.iter().map(|(name, value)| format!("{name:<width$}  {value}\n")).collect()
}

/// A run, by the names of the columns of the project's tables.
#[derive(Serialize)]
pub struct RunReport {
    app: &'static str,
    machine: String,
    m: u32,
    p: u32,
    scheduler: String,
    collectives: &'static str,
    host_compiler: String,
    seed: u64,
    time_s: f64,
    hpu_busy_s: f64,
    apu_busy_s: f64,
    offloads: u64,
    offload_mean_us: f64,
    hpu_gap_mean_us: f64,
    context_switches: u64,
    functions: Vec<FunctionReport>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    host_functions: Vec<HostFunctionReport>,
}

/// An off-loaded function.
#[derive(Serialize)]
struct FunctionReport {
    name: &'static str,
    calls: u64,
    apu_time_s: f64,
    /// Of the time of all APUs.
    share_percent: f64,
    /// Of each APU for each call.
    apu_mean_us: f64,
}

/// A function that ran on the host.
#[derive(Serialize)]
struct HostFunctionReport {
    name: &'static str,
    calls: u64,
    hpu_time_s: f64,
    /// Of the time of all of them.
    share_percent: f64,
    hpu_mean_us: f64,
}

impl HostFunctionReport {
    fn all(functions: &[run::HostFunction]) -> Vec<Self> {
        let total: f64 = functions.iter().map(|function| function.time.0).sum();
        let report = |function: &run::HostFunction| Self {
            name: function.name,
            calls: function.calls,
            hpu_time_s: function.time.0,
            share_percent: 100.0 * function.time.0 / total.max(f64::MIN_POSITIVE),
            hpu_mean_us: 1e6 * function.time.0 / function.calls.max(1) as f64,
        };
        functions.iter().map(report).collect()
    }
}

impl Report {
    pub fn new(arguments: &Arguments, machine: &Machine, ran: &Ran, program: &dyn Once) -> Self {
        let name = program.application().name();
        let run = RunReport::new(arguments, machine, &ran.run, name);
        Self { run, own: program.report(ran), account: None }
    }

    /// With what the scheduler has learnt.
    pub fn with_account(self, account: Option<String>) -> Self {
        Self { account, ..self }
    }

    /// Names with their values; a value that there is not is empty.
    fn values(&self) -> Vec<(&'static str, String)> {
        [self.run.values(), self.own.values()].concat()
    }

    pub fn json(&self) -> String {
        self.own.json(&self.run)
    }

    pub fn csv(&self) -> String {
        as_csv(self.values())
    }

    pub fn table(&self) -> String {
        let mut values = self.values();
        values.retain(|(_, value)| !value.is_empty());
        let mut text = as_table(&values);
        if let Some(account) = &self.account {
            text += &format!("\n{account}");
        }
        text + "\n" + &self.run.functions() + &self.own.text()
    }
}

impl RunReport {
    fn new(arguments: &Arguments, machine: &Machine, run: &run::Run, app: &'static str) -> Self {
        let function = |function: &run::Function| FunctionReport {
            name: function.name,
            calls: function.calls,
            apu_time_s: function.apu().0,
            share_percent: 100.0 * function.apu().0 / run.apu_busy().0.max(f64::MIN_POSITIVE),
            apu_mean_us: 1e6 * function.apu().0
                / (function.calls.max(1) * u64::from(run.mapping.p())) as f64,
        };
        Self {
            app,
            machine: machine.name.clone(),
            m: run.mapping.m(),
            p: run.mapping.p(),
            scheduler: arguments.scheduler.name(),
            collectives: arguments.scheduler.collectives(),
            host_compiler: arguments.app.host_compiler().name(),
            seed: arguments.app.seed(),
            time_s: run.time.0,
            hpu_busy_s: run.hpu_busy.0,
            apu_busy_s: run.apu_busy().0,
            offloads: run.offloads(),
            offload_mean_us: 1e6 * run.mean_offload().0,
            hpu_gap_mean_us: 1e6 * run.mean_host_gap().0,
            context_switches: run.context_switches,
            functions: run.functions.iter().map(function).collect(),
            host_functions: HostFunctionReport::all(&run.host_functions),
        }
    }

    fn values(&self) -> Vec<(&'static str, String)> {
        vec![
            ("app", self.app.to_string()),
            ("machine", self.machine.clone()),
            ("m", self.m.to_string()),
            ("p", self.p.to_string()),
            ("scheduler", self.scheduler.clone()),
            ("collectives", self.collectives.to_string()),
            ("host_compiler", self.host_compiler.clone()),
            ("seed", self.seed.to_string()),
            ("time_s", self.time_s.to_string()),
            ("hpu_busy_s", self.hpu_busy_s.to_string()),
            ("apu_busy_s", self.apu_busy_s.to_string()),
            ("offloads", self.offloads.to_string()),
            ("offload_mean_us", self.offload_mean_us.to_string()),
            ("hpu_gap_mean_us", self.hpu_gap_mean_us.to_string()),
            ("context_switches", self.context_switches.to_string()),
        ]
    }

    /// A table of the functions.
    fn functions(&self) -> String {
        let row = |name: &str, calls: u64, [time, share, mean]: [f64; 3]| {
            let (time, share) = (format!("{time:.6}"), format!("{share:.1} %"));
            vec![name.to_string(), calls.to_string(), time, share, format!("{mean:.2}")]
        };
        let on_spes = self.functions.iter().map(|own| {
            row(own.name, own.calls, [own.apu_time_s, own.share_percent, own.apu_mean_us])
        });
        let on_host = self.host_functions.iter().map(|own| {
            row(own.name, own.calls, [own.hpu_time_s, own.share_percent, own.hpu_mean_us])
        });
        let (rows, processor) = if self.host_functions.is_empty() {
            (on_spes.collect::<Vec<_>>(), "apu")
        } else {
            (on_host.collect(), "hpu")
        };
        let (time, mean) = (format!("{processor}_time_s"), format!("{processor}_mean_us"));
        let header = ["function", "calls", &time, "share", &mean];
        aligned(&header, &rows)
    }
}
