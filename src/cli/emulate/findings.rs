//! What RAxML found, as it is printed and written.

use std::path::Path;

use clap::ValueEnum;
use serde::Serialize;

use super::Once;
use super::report::{OwnReport, RunReport, together};
use crate::apps::phylogeny::{Tree, newick};
use crate::apps::raxml::search::Task;
use crate::apps::raxml::{Findings, Raxml};
use crate::apps::{Application, Ran};
use crate::cli::input::raxml::{RaxmlArguments, Search, Variation};
use crate::cli::input::{AppArguments, PortArgument};
use crate::error::Result;
use crate::table;

/// RAxML as it runs once.
pub struct RaxmlOnce {
    raxml: Raxml,
    /// Of the taxa.
    names: Vec<String>,
    model: Variation,
    port: PortArgument,
    search: Search,
}

impl RaxmlOnce {
    /// With the names of the taxa.
    pub fn new(raxml: Raxml, names: Vec<String>, arguments: &AppArguments) -> Self {
        let RaxmlArguments { model, search, .. } = arguments.raxml;
        Self { raxml, names, model, port: arguments.port, search }
    }
}

impl Once for RaxmlOnce {
    fn application(&self) -> &dyn Application {
        &self.raxml
    }

    fn report(&self, ran: &Ran) -> Box<dyn OwnReport> {
        let findings = ran.findings().expect("invariant: RAxML finds trees");
        Box::new(FindingsReport::new(self, findings))
    }
}

/// What RAxML has to say of a run.
#[derive(Serialize)]
struct FindingsReport {
    /// Of the best tree.
    log_likelihood: f64,
    model: String,
    port: String,
    search: String,
    inferences: usize,
    bootstraps: usize,
    /// The best tree, with supports where there are bootstraps (Newick).
    tree: String,
    tasks: Vec<TaskReport>,
}

/// What came of a task.
#[derive(Serialize)]
struct TaskReport {
    kind: &'static str,
    number: u32,
    log_likelihood: f64,
    tree: String,
}

impl FindingsReport {
    fn new(once: &RaxmlOnce, findings: &Findings) -> Self {
        let names = &once.names;
        let plain = |tree: &Tree| newick::write(tree, names).trim_end().to_string();
        let task = |found: &crate::apps::raxml::Found| {
            let (kind, number) = match found.task {
                Task::Inference(number) => ("inference", number),
                Task::Bootstrap(number) => ("bootstrap", number),
            };
            let log_likelihood = found.log_likelihood;
            TaskReport { kind, number, log_likelihood, tree: plain(&found.tree) }
        };
        let bootstraps = findings.bootstraps().count();
        let support =
            |node: usize| findings.supports[node].map(|share| format!("{:.0}", 100.0 * share));
        let tree = newick::write_labelled(&findings.best().tree, names, support);
        Self {
            log_likelihood: findings.best().log_likelihood,
            model: format!("GTR{}", argument(once.model).to_uppercase()),
            port: argument(once.port),
            search: argument(once.search),
            inferences: findings.found.len() - bootstraps,
            bootstraps,
            tree: tree.trim_end().to_string(),
            tasks: findings.found.iter().map(task).collect(),
        }
    }

    /// Writes the trees and the report into a folder.
    fn write(&self, folder: &Path, report: &str) -> Result<()> {
        table::create_folder(folder)?;
        let trees = |kind: &str| -> String {
            let tasks = self.tasks.iter().filter(|task| task.kind == kind);
            tasks.map(|task| format!("{}\n", task.tree)).collect()
        };
        let mut info = report.to_string();
        for TaskReport { kind, number, log_likelihood, .. } in &self.tasks {
            info += &format!("{kind} {number}: ln likelihood {log_likelihood}\n");
        }
        table::write(&folder.join("info.txt"), info)?;
        table::write(&folder.join("best_tree.nwk"), format!("{}\n", self.tree))?;
        for (kind, file) in [("inference", "inferences.nwk"), ("bootstrap", "bootstraps.nwk")] {
            let trees = trees(kind);
            if !trees.is_empty() {
                table::write(&folder.join(file), trees)?;
            }
        }
        Ok(())
    }
}

impl OwnReport for FindingsReport {
    fn figures(&self) -> Vec<(&'static str, String)> {
        vec![
            ("log_likelihood", self.log_likelihood.to_string()),
            ("model", self.model.clone()),
            ("port", self.port.clone()),
            ("search", self.search.clone()),
            ("inferences", self.inferences.to_string()),
            ("bootstraps", self.bootstraps.to_string()),
        ]
    }

    /// The best tree.
    fn text(&self) -> String {
        let supports = if self.bootstraps > 0 { ", supports in %" } else { "" };
        format!("\nbest tree (Newick{supports}):\n{}\n", self.tree)
    }

    fn json(&self, run: &RunReport) -> String {
        together(run, self)
    }

    fn write_folder(&self, folder: &Path, report: &str) -> Option<Result<()>> {
        Some(self.write(folder, report))
    }
}

/// An argument as it is written on the command line.
fn argument(value: impl ValueEnum) -> String {
    value.to_possible_value().map_or_else(String::new, |value| value.get_name().to_string())
}
