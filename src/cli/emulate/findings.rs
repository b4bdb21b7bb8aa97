//! What RAxML found, as it is printed and written.

use std::path::Path;

use clap::ValueEnum;
use serde::Serialize;

use crate::apps::phylogeny::{Tree, newick};
use crate::apps::raxml::search::Task;
use crate::apps::raxml::{Best, Findings, Found};
use crate::cli::input::raxml::RaxmlArguments;
use crate::error::Result;
use crate::table;

/// What RAxML has to say of a run.
#[derive(Serialize)]
pub(super) struct FindingsReport {
    model: String,
    port: String,
    search: String,
    inferences: usize,
    bootstraps: usize,
    /// The best tree, with supports where there are bootstraps (Newick); none without an inference.
    tree: Option<String>,
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
    /// What [`Self::write`] writes.
    pub const FILES: [&str; 4] = ["info.txt", "best_tree.nwk", "inferences.nwk", "bootstraps.nwk"];

    pub fn new(arguments: &RaxmlArguments, findings: &Findings, names: &[String]) -> Self {
        let plain = |tree: &Tree| newick::write(tree, names).trim_end().to_string();
        let task = |found: &Found| {
            let (kind, number) = match found.task {
                Task::Inference(number) => ("inference", number),
                Task::Bootstrap(number) => ("bootstrap", number),
            };
            let log_likelihood = found.log_likelihood;
            TaskReport { kind, number, log_likelihood, tree: plain(&found.tree) }
        };
        let bootstraps = findings.bootstraps().count();
        let best = |Best { found, supports }: &Best| {
            let support = |node: usize| supports[node].map(|share| format!("{:.0}", 100.0 * share));
            newick::write_labelled(&found.tree, names, support).trim_end().to_string()
        };
        Self {
            model: format!("GTR{}", argument(arguments.model).to_uppercase()),
            port: argument(arguments.port),
            search: argument(arguments.search),
            inferences: findings.found.len() - bootstraps,
            bootstraps,
            tree: findings.best.as_ref().map(best),
            tasks: findings.found.iter().map(task).collect(),
        }
    }

    /// Name and value of each figure.
    pub fn figures(&self) -> Vec<(&'static str, String)> {
        vec![
            ("model", self.model.clone()),
            ("port", self.port.clone()),
            ("search", self.search.clone()),
            ("inferences", self.inferences.to_string()),
            ("bootstraps", self.bootstraps.to_string()),
        ]
    }

    /// The best tree, for people.
    pub fn text(&self) -> String {
        let Some(tree) = &self.tree else {
            return "\nno best tree: bootstraps are of resampled columns, and there is no inference\n"
                .into();
        };
        let supports = if self.bootstraps > 0 { ", supports in %" } else { "" };
        format!("\nbest tree (Newick{supports}):\n{tree}\n")
    }

    /// Writes the trees that there are and the report into a folder.
    pub fn write(&self, folder: &Path, report: &str) -> Result<()> {
        table::create_folder(folder)?;
        let trees = |kind: &str| -> String {
            let tasks = self.tasks.iter().filter(|task| task.kind == kind);
            tasks.map(|task| format!("{}\n", task.tree)).collect()
        };
        let mut info = report.to_string();
        for TaskReport { kind, number, log_likelihood, .. } in &self.tasks {
            info += &format!("{kind} {number}: ln likelihood {log_likelihood}\n");
        }
        let [info_file, best, inferences, bootstraps] = Self::FILES;
        table::write(&folder.join(info_file), info)?;
        if let Some(tree) = &self.tree {
            table::write(&folder.join(best), format!("{tree}\n"))?;
        }
        for (kind, file) in [("inference", inferences), ("bootstrap", bootstraps)] {
            let trees = trees(kind);
            if !trees.is_empty() {
                table::write(&folder.join(file), trees)?;
            }
        }
        Ok(())
    }
}

/// An argument as it is written on the command line.
fn argument(value: impl ValueEnum) -> String {
    value.to_possible_value().map_or_else(String::new, |value| value.get_name().to_string())
}
