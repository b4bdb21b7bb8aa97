//! What RAxML found, as it is printed and written.

use std::path::Path;

use clap::ValueEnum;
use serde::Serialize;

use super::Once;
use super::report::{OwnReport, RunReport, together};
use crate::apps::phylogeny::{Tree, newick};
use crate::apps::raxml::search::Task;
use crate::apps::raxml::{Best, Findings, Found, Raxml};
use crate::apps::{Application, Ran};
use crate::cli::input::PortArgument;
use crate::cli::input::raxml::{RaxmlArguments, Search, Variation};
use crate::error::Result;
use crate::table;

/// What RAxML leaves in a folder.
pub const RAXML_FILES: [&str; 4] =
    ["info.txt", "best_tree.nwk", "inferences.nwk", "bootstraps.nwk"];

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
    pub fn new(raxml: Raxml, names: Vec<String>, arguments: &RaxmlArguments) -> Self {
        let &RaxmlArguments { model, search, .. } = arguments;
        Self { raxml, names, model, port: arguments.usual_port(), search }
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
    /// Of the best tree, of the alignment; none where there is no inference.
    log_likelihood: Option<f64>,
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
    fn new(once: &RaxmlOnce, findings: &Findings) -> Self {
        let names = &once.names;
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
            log_likelihood: findings.best.as_ref().map(|best| best.found.log_likelihood),
            model: format!("GTR{}", argument(once.model).to_uppercase()),
            port: argument(once.port),
            search: argument(once.search),
            inferences: findings.found.len() - bootstraps,
            bootstraps,
            tree: findings.best.as_ref().map(best),
            tasks: findings.found.iter().map(task).collect(),
        }
    }

    /// Writes the trees that there are and the report into a folder.
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
        let [info_file, best, inferences, bootstraps] = RAXML_FILES;
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

impl OwnReport for FindingsReport {
    fn values(&self) -> Vec<(&'static str, String)> {
        vec![
            ("log_likelihood", self.log_likelihood.map_or_else(String::new, |it| it.to_string())),
            ("model", self.model.clone()),
            ("port", self.port.clone()),
            ("search", self.search.clone()),
            ("inferences", self.inferences.to_string()),
            ("bootstraps", self.bootstraps.to_string()),
        ]
    }

    /// The best tree.
    fn text(&self) -> String {
        let Some(tree) = &self.tree else {
            return "\nno best tree: bootstraps are of resampled columns, and there is no inference\n"
                .into();
        };
        let supports = if self.bootstraps > 0 { ", supports in %" } else { "" };
        format!("\nbest tree (Newick{supports}):\n{tree}\n")
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
