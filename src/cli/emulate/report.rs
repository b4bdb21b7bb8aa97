//! What is printed of a run.

use std::path::Path;

use serde::Serialize;

use super::Arguments;
use super::findings::FindingsReport;
use super::inference::InferenceReport;
use crate::apps::{App, Outcome, run};
use crate::cli::output::aligned;
use crate::error::Result;
use crate::machine::Machine;

/// A run, by the names of the columns of the project's tables.
#[derive(Serialize)]
pub(super) struct Report {
    app: &'static str,
    machine: String,
    m: u32,
    p: u32,
    scheduler: String,
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
    /// Of the alignment; none where RAxML made no inference.
    log_likelihood: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    accepted: Option<usize>,
    #[serde(flatten)]
    pub findings: Option<FindingsReport>,
    #[serde(flatten)]
    pub inference: Option<InferenceReport>,
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
    pub fn new(
        app: &App,
        machine: &Machine,
        arguments: &Arguments,
        outcome: &Outcome,
        names: &[String],
    ) -> Self {
        let findings = outcome.findings.as_ref();
        let inference = outcome.inference.as_ref();
        let run = &outcome.run;
        let function = |function: &run::Function| FunctionReport {
            name: function.name,
            calls: function.calls,
            apu_time_s: function.apu().0,
            share_percent: 100.0 * function.apu().0 / run.apu_busy().0.max(f64::MIN_POSITIVE),
            apu_mean_us: 1e6 * function.apu().0 / (function.calls.max(1) * u64::from(run.p)) as f64,
        };
        Self {
            app: app.name(),
            machine: machine.name.clone(),
            m: run.m,
            p: run.p,
            scheduler: arguments.scheduler.name.clone(),
            seed: arguments.app.seed,
            time_s: run.time.0,
            hpu_busy_s: run.hpu_busy.0,
            apu_busy_s: run.apu_busy().0,
            offloads: run.offloads(),
            offload_mean_us: 1e6 * run.mean_offload().0,
            hpu_gap_mean_us: 1e6 * run.mean_host_gap().0,
            context_switches: run.context_switches,
            functions: run.functions.iter().map(function).collect(),
            host_functions: HostFunctionReport::all(&run.host_functions),
            log_likelihood: outcome.log_likelihood,
            accepted: outcome.accepted,
            findings: findings.map(|found| FindingsReport::new(&arguments.app.raxml, found, names)),
            inference: inference.map(|inference| InferenceReport::new(inference, names)),
        }
    }

    /// Name and value of each figure; a value that there is not is empty.
    fn figures(&self) -> Vec<(&'static str, String)> {
        let mut figures = vec![
            ("app", self.app.to_string()),
            ("machine", self.machine.clone()),
            ("m", self.m.to_string()),
            ("p", self.p.to_string()),
            ("scheduler", self.scheduler.clone()),
            ("seed", self.seed.to_string()),
            ("time_s", self.time_s.to_string()),
            ("hpu_busy_s", self.hpu_busy_s.to_string()),
            ("apu_busy_s", self.apu_busy_s.to_string()),
            ("offloads", self.offloads.to_string()),
            ("offload_mean_us", self.offload_mean_us.to_string()),
            ("hpu_gap_mean_us", self.hpu_gap_mean_us.to_string()),
            ("context_switches", self.context_switches.to_string()),
            ("log_likelihood", self.log_likelihood.map_or_else(String::new, |it| it.to_string())),
        ];
        figures.extend(self.accepted.map(|count| ("accepted", count.to_string())));
        figures.extend(self.findings.iter().flat_map(FindingsReport::figures));
        figures.extend(self.inference.iter().flat_map(InferenceReport::figures));
        figures
    }

    /// Writes the consensus of the samples where a file is asked for.
    pub fn write_consensus(&self, path: Option<&Path>) -> Result<()> {
        match (path, &self.inference) {
            (Some(path), Some(inference)) => inference.write_consensus(path),
            _ => Ok(()),
        }
    }

    pub fn csv(&self) -> String {
        let (names, values): (Vec<_>, Vec<_>) = self.figures().into_iter().unzip();
        format!("{}\n{}\n", names.join(","), values.join(","))
    }

    pub fn table(&self) -> String {
        let mut text = String::new();
        for (name, value) in self.figures().into_iter().filter(|(_, value)| !value.is_empty()) {
            text += &format!("{name:<17} {value}\n");
        }
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
        let trees = self.findings.as_ref().map_or_else(String::new, FindingsReport::text);
        let chains = self.inference.as_ref().map_or_else(String::new, InferenceReport::text);
        text + "\n" + &aligned(&header, &rows) + &trees + &chains
    }
}
