//! What RAxML and PBPI say of a run, and the files that they leave.

use std::cell::RefCell;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::{Once, ProgramReport};
use crate::Mapping;
use crate::answer::{Object, Style, Table};
use crate::apps::pbpi::{Inference, Pbpi, Sample, SampleSink, Samples, Tally, Trace};
use crate::apps::phylogeny::splits::{Branch, Consensus, Split};
use crate::apps::phylogeny::{Tree, newick};
use crate::apps::raxml::search::{Effort, Rates, Task};
use crate::apps::raxml::{Best, Findings, FoundTree, Raxml};
use crate::apps::{Application, Port, Ran};
use crate::cli::choice::name_of;
use crate::cli::input::PORTS;
use crate::cli::input::programs::phylogeny::{EFFORTS, RATES, RaxmlArguments, SamplingArguments};
use crate::error::{Error, Result};
use crate::runtime::Runtime;
use crate::table::StreamedFile;

/// What RAxML leaves in a folder.
pub const RAXML_FILES: [&str; 4] =
    ["info.txt", "best_tree.nwk", "inferences.nwk", "bootstraps.nwk"];

/// RAxML as it runs once.
pub struct RaxmlOnce {
    raxml: Raxml,
    /// The names of the taxa.
    names: Vec<String>,
    model: Rates,
    port: Port,
    search: Effort,
}

impl RaxmlOnce {
    /// The program with the names of the taxa.
    pub fn new(raxml: Raxml, names: Vec<String>, arguments: &RaxmlArguments) -> Self {
        let &RaxmlArguments { model, search, .. } = arguments;
        Self { raxml, names, model, port: arguments.usual_port(), search }
    }
}

/// What came of a task of RAxML.
struct TaskReport {
    kind: &'static str,
    number: u32,
    log_likelihood: f64,
    tree: String,
}

impl TaskReport {
    fn new(found: &FoundTree, names: &[String]) -> Self {
        let (kind, number) = match found.task {
            Task::Inference(number) => ("inference", number),
            Task::Bootstrap(number) => ("bootstrap", number),
        };
        let plain = |tree: &Tree| newick::write(tree, names).trim_end().to_string();
        Self { kind, number, log_likelihood: found.log_likelihood, tree: plain(&found.tree) }
    }
}

impl Once for RaxmlOnce {
    fn application(&self) -> &dyn Application {
        &self.raxml
    }

    fn report(&self, ran: &Ran) -> ProgramReport {
        let findings: &Findings = ran.findings().expect("invariant: RAxML finds trees");
        let best = |Best { found, supports }: &Best| {
            let support = |node: usize| supports[node].map(|share| format!("{:.0}", 100.0 * share));
            newick::write_labelled(&found.tree, &self.names, support).trim_end().to_string()
        };
        let tree = findings.best.as_ref().map(best);
        let bootstraps = findings.bootstraps().count();
        let tasks: Vec<TaskReport> =
            findings.found.iter().map(|found| TaskReport::new(found, &self.names)).collect();
        let text = match &tree {
            None => {
                "\nno best tree: bootstraps are of resampled columns, and there is no inference\n"
                    .into()
            }
            Some(tree) => {
                let supports = if bootstraps > 0 { ", supports in %" } else { "" };
                format!("\nbest tree (Newick{supports}):\n{tree}\n")
            }
        };
        let folder = files(tree.as_deref(), &tasks);
        let tasks = Table::of(&tasks)
            .column("kind", Style::Plain, |it| it.kind)
            .column("number", Style::Plain, |it| it.number)
            .column("log_likelihood", Style::Plain, |it| it.log_likelihood)
            .column("tree", Style::Plain, |it| &it.tree);
        let values = Object::new()
            .with("log_likelihood", findings.best.as_ref().map(|best| best.found.log_likelihood))
            .with("model", format!("GTR{}", name_of(&RATES, &self.model).to_uppercase()))
            .with("port", name_of(&PORTS, &self.port))
            .with("search", name_of(&EFFORTS, &self.search))
            .with("inferences", findings.found.len() - bootstraps)
            .with("bootstraps", bootstraps)
            .json("tree", tree)
            .with("tasks", &tasks);
        ProgramReport { values, text, files: Vec::new(), folder }
    }
}

/// The files of a folder: likelihoods, and the trees that there are.
fn files(best: Option<&str>, tasks: &[TaskReport]) -> Vec<(&'static str, String)> {
    let line = |TaskReport { kind, number, log_likelihood, .. }: &TaskReport| {
        format!("{kind} {number}: ln likelihood {log_likelihood}\n")
    };
    let trees = |kind: &str| -> String {
        let tasks = tasks.iter().filter(|task| task.kind == kind);
        tasks.map(|task| format!("{}\n", task.tree)).collect()
    };
    let [info, best_file, inferences, bootstraps] = RAXML_FILES;
    let mut files = vec![(info, tasks.iter().map(line).collect())];
    files.extend(best.map(|tree| (best_file, format!("{tree}\n"))));
    let trees = [(inferences, trees("inference")), (bootstraps, trees("bootstrap"))];
    files.extend(trees.into_iter().filter(|(_, trees)| !trees.is_empty()));
    files
}

/// PBPI as it runs once.
pub struct PbpiOnce {
    pbpi: Pbpi,
    /// The names of the taxa.
    names: Vec<String>,
    samples: Option<Rc<RefCell<SampleFile>>>,
    /// The file of the consensus.
    consensus: Option<PathBuf>,
}

impl PbpiOnce {
    /// The program with the names of the taxa. Opens the file of the samples at once, so that a path that
    /// cannot be written shows before the run.
    pub fn new(pbpi: Pbpi, names: Vec<String>, sampling: &SamplingArguments) -> Result<Self> {
        let pbpi = sampling.apply(pbpi)?;
        let samples = sampling.samples.as_deref().map(SampleFile::create).transpose()?;
        Ok(Self { pbpi, names, samples, consensus: sampling.consensus.clone() })
    }
}

impl Once for PbpiOnce {
    fn application(&self) -> &dyn Application {
        &self.pbpi
    }

    fn run(&self, on: &Runtime, mapping: Mapping) -> Result<Ran> {
        let sink = self.samples.as_ref().map(|file| Rc::clone(file) as SampleSink);
        self.pbpi.run_sampled(on, mapping, sink)
    }

    fn end(&self, ran: Result<Ran>) -> Result<Ran> {
        match &self.samples {
            Some(file) => file.borrow_mut().end(ran),
            None => ran,
        }
    }

    fn report(&self, ran: &Ran) -> ProgramReport {
        let inference: &Inference = ran.findings().expect("invariant: PBPI makes an inference");
        let proposals = inference.proposals().map(|(kind, count)| (kind.name(), count));
        let proposals = Table::of(proposals)
            .headed("name", "proposal", Style::Plain, |it| it.0)
            .column("tried", Style::Plain, |it| it.1.tried)
            .column("accepted", Style::Plain, |it| it.1.accepted)
            .people("share", |it: &(_, Tally)| {
                let share = it.1.accepted as f64 / it.1.tried.max(1) as f64;
                format!("{:.1} %", 100.0 * share)
            });
        let consensus = inference.consensus();
        let tree = consensus.as_ref().map(|tree| tree.write(&self.names).trim_end().to_string());
        let text = tree.as_ref().map_or_else(String::new, |tree| {
            format!("\nconsensus (Newick, posterior probabilities):\n{tree}\n")
        });
        let text = format!("\n{}{text}", proposals.text());
        let file = |path: &PathBuf| (path.clone(), format!("{}\n", tree.as_deref().unwrap_or("")));
        let files = self.consensus.iter().map(file).collect();
        let consensus = consensus.zip(tree.as_ref()).map(|(consensus, tree)| {
            Object::new()
                .with("samples", inference.splits.weight())
                .with("tree", tree)
                .with("splits", splits(&consensus, &self.names))
        });
        let chain = |chain: &Trace| {
            Object::new()
                .with("place", chain.place)
                .with("log_likelihood", chain.log_likelihood())
                .with("accepted", chain.accepted())
        };
        let Tally { tried, accepted } = inference.swaps;
        let swaps =
            Object::new().with("name", "swaps").with("tried", tried).with("accepted", accepted);
        let values = Object::new()
            .with("log_likelihood", inference.log_likelihood())
            .with("accepted", inference.accepted())
            .with("chains", inference.chains.iter().map(chain).collect::<Vec<_>>())
            .with("proposals", &proposals)
            .with("swaps", swaps);
        // A single chain swaps with none.
        let values = match inference.chains.len() {
            0..=1 => values,
            chains => values
                .flat("chains", chains)
                .flat("swaps_tried", tried)
                .flat("swaps_accepted", accepted),
        };
        let values = values
            .with_some("samples", (inference.samples > 0).then_some(inference.samples))
            .with_some("consensus", consensus);
        ProgramReport { values, text, files, folder: Vec::new() }
    }
}

/// The inner branches of a consensus, each with the taxa on the side without the first one.
fn splits(consensus: &Consensus, names: &[String]) -> Vec<Object> {
    let report = |(split, branch): &(Split, Branch)| {
        let taxa: Vec<&String> = split.taxa().map(|taxon| &names[taxon]).collect();
        Object::new()
            .with("taxa", taxa)
            .with("probability", branch.share)
            .with("length", branch.length)
    };
    consensus.branches().iter().map(report).collect()
}

/// The file of the samples, written while they come.
struct SampleFile {
    path: PathBuf,
    file: StreamedFile,
    /// What went wrong first.
    error: Option<io::Error>,
}

impl SampleFile {
    fn create(path: &Path) -> Result<Rc<RefCell<Self>>> {
        let mut file = StreamedFile::create(path)?;
        let error = writeln!(file, "generation,log_likelihood,tree").err();
        Ok(Rc::new(RefCell::new(Self { path: path.into(), file, error })))
    }

    /// Puts the file in its place, or leaves none where the run has failed. Nothing does so by
    /// itself: a machine whose program failed may still hold it.
    fn end<T>(&mut self, ran: Result<T>) -> Result<T> {
        match ran {
            Ok(ran) => self.commit().map(|()| ran),
            Err(error) => {
                self.file.discard();
                Err(error)
            }
        }
    }

    fn commit(&mut self) -> Result<()> {
        match self.error.take() {
            None => self.file.commit(),
            Some(source) => {
                self.file.discard();
                Err(Error::Write { file: self.path.clone(), source })
            }
        }
    }
}

impl Samples for SampleFile {
    fn take(&mut self, sample: &Sample<'_>) {
        if self.error.is_some() {
            return;
        }
        let tree = newick::write(sample.tree, sample.names);
        // A tree has commas, and its names may have quotes.
        let tree = tree.trim_end().replace('"', "\"\"");
        let (generation, log_likelihood) = (sample.generation, sample.log_likelihood);
        let written = writeln!(self.file, "{generation},{log_likelihood},\"{tree}\"");
        self.error = written.err();
    }
}
