//! Master and workers: independent tasks are dealt on request over messages.
//!
//! Ranks 0 to m - 1 are the workers, each with its engine. Rank m is the master: it runs on the
//! hardware thread that it is dealt like any other process, but executes only when a message comes,
//! for one receive and one send a task, and waits otherwise without the thread. What a task comes to
//! depends on its number alone, not on who runs it. What all of them found are the [`Findings`] of a run.

use std::sync::Arc;

use super::Tasks;
use super::engine::Engine;
use super::search::Task;
use crate::application::{Fingerprint, ORDER_OF_ADDITIONS};
use crate::phylogeny::Tree;
use crate::phylogeny::splits::SplitCounts;
use crate::phylogeny::tree::Edge;
use mmgp_cell::HostProcess;
use mmgp_cell::element::Values;
use mmgp_cell::mpi::{Address, Communicator, Data, Pattern};

/// What a worker asks for its first task with.
const READY: u32 = 0;
/// What a worker sends when a task is done, which asks for the next one.
const RESULT: u32 = 1;
/// What the master answers.
const TASK: u32 = 2;
/// The number of no task: go home.
const NONE: i64 = -1;

work! {
    /// Keeping a result, and finding the next task.
    BOOK: 20 integers, 20 loads, 20 stores, 2 floats, 8 branches;
}

/// What one task found.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundTree {
    /// Which task.
    pub task: Task,
    /// ln likelihood of its tree, of the columns that the task had.
    pub log_likelihood: f64,
    /// The tree of the task.
    pub tree: Tree,
}

impl FoundTree {
    /// The result of the task with that number as a message: number, ln likelihood, root, and three numbers for
    /// each branch.
    fn to_message(&self, task: i64) -> Data {
        let branch = |node: usize| {
            let parent = self.tree.parent(node).expect("invariant: a branch has an upper end");
            [node as f64, parent as f64, self.tree.branch_length(node)]
        };
        let branches = self.tree.branches().flat_map(branch);
        let head = [task as f64, self.log_likelihood, self.tree.root() as f64];
        Data::Doubles(head.into_iter().chain(branches).collect())
    }

    fn from_message(data: &Data, (tasks, taxa): (Tasks, usize)) -> Option<Self> {
        let Data::Doubles(values) = data else { return None };
        let [task, log_likelihood, root, rest @ ..] = &values[..] else { return None };
        let branch = |three: &[f64]| -> Edge { (three[0] as usize, three[1] as usize, three[2]) };
        let branches: Vec<Edge> = rest.chunks_exact(3).map(branch).collect();
        let tree = Tree::from_branches(taxa, &branches, *root as usize).ok()?;
        Some(Self { task: tasks.get(*task as u32), log_likelihood: *log_likelihood, tree })
    }
}

/// The life of the master: deals `tasks` to the workers of `world`, and collects what they find, by
/// the number of the task.
pub async fn master(
    process: HostProcess,
    world: Communicator,
    tasks: Tasks,
    taxa: usize,
) -> Vec<FoundTree> {
    process.resume().await;
    let (mut next, mut at_work) = (0, world.size() - 1);
    let mut finished = Vec::with_capacity(tasks.count() as usize);
    while at_work > 0 {
        let message = world.recv(&process, Pattern::ANY).await;
        process.work(BOOK).await;
        if message.tag == RESULT {
            let result = FoundTree::from_message(&message.data, (tasks, taxa));
            finished.push(result.expect("invariant: a worker sends the tree that it found"));
        }
        let task = if next < tasks.count() { i64::from(next) } else { NONE };
        let to = Address { rank: message.source, tag: TASK };
        world.send(&process, to, Data::Integers(vec![task])).await;
        if task == NONE {
            at_work -= 1;
        } else {
            next += 1;
        }
    }
    process.release();
    finished.sort_by_key(|result| result.task);
    finished
}

/// An engine of a process of the emulated host.
pub trait Hosted: Engine {
    /// Whose engine it is.
    fn process(&self) -> &HostProcess;

    /// The task with that number begins.
    fn begin(&mut self, _: usize) {}
}

/// The life of a worker: asks the master for tasks until there are no more.
pub async fn work<E: Hosted>(
    engine: &mut E,
    world: &Communicator,
    perform: impl AsyncFn(&mut E, usize) -> FoundTree,
) {
    let master = |tag| Address { rank: world.size() - 1, tag };
    let wanted = Pattern { source: Some(world.size() - 1), tag: Some(TASK) };
    world.send(engine.process(), master(READY), Data::Integers(Vec::new())).await;
    loop {
        let message = world.recv(engine.process(), wanted).await;
        let Data::Integers(task) = message.data else { return };
        if task[0] == NONE {
            return;
        }
        engine.begin(task[0] as usize);
        let result = perform(engine, task[0] as usize).await;
        world.send(engine.process(), master(RESULT), result.to_message(task[0])).await;
    }
}

/// The likeliest tree of the alignment as it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Best {
    /// The inference that found it.
    pub found: FoundTree,
    /// The share in \[0, 1\], for each of its nodes, of the bootstraps' trees that have the branch
    /// above it; none at the root and at tips, and none at all without bootstraps.
    pub supports: Vec<Option<f64>>,
}

/// What all tasks found, in their order, at least one.
#[derive(Debug, Clone, PartialEq)]
pub struct Findings {
    /// Inferences before bootstraps.
    pub found: Vec<FoundTree>,
    /// The best of the inferences, if there was one: the likelihood of a bootstrap is that of other
    /// columns, and says nothing of the alignment.
    pub best: Option<Best>,
    /// What the SPEs answered.
    pub(super) answers: Arc<Answers>,
}

impl Findings {
    pub(super) fn new(found: Vec<FoundTree>) -> Self {
        let mut findings = Self { found, best: None, answers: Arc::default() };
        findings.best = findings
            .likeliest()
            .map(|found| Best { found: found.clone(), supports: findings.supports(&found.tree) });
        findings
    }

    /// The same, with what the SPEs answered.
    pub(super) fn answered(self, answers: Answers) -> Self {
        Self { answers: Arc::new(answers), ..self }
    }

    /// The inference of the highest ln likelihood, the first of equal ones.
    fn likeliest(&self) -> Option<&FoundTree> {
        let inferences = self.found.iter().filter(|found| matches!(found.task, Task::Inference(_)));
        inferences.reduce(
            |best, next| if next.log_likelihood > best.log_likelihood { next } else { best },
        )
    }

    fn supports(&self, tree: &Tree) -> Vec<Option<f64>> {
        let mut splits = SplitCounts::new(tree.taxa());
        self.bootstraps().for_each(|found| splits.add(&found.tree, 1.0));
        match self.bootstraps().next() {
            Some(_) => splits.supports(tree),
            None => vec![None; tree.nodes()],
        }
    }

    /// The ln likelihood of each task's tree, which differ by the order of additions alone.
    pub fn fingerprint(&self) -> Fingerprint {
        self.found.iter().fold(Fingerprint::default(), |sum, found| {
            sum.within(ORDER_OF_ADDITIONS, "ln likelihood", found.log_likelihood)
        })
    }

    /// What the bootstraps found.
    pub fn bootstraps(&self) -> impl Iterator<Item = &FoundTree> {
        self.found.iter().filter(|found| matches!(found.task, Task::Bootstrap(_)))
    }
}

/// What came of an off-load that the host waits for.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// The ln likelihood of a tree.
    Likelihood(f64),
    /// The ln likelihoods of the patterns of a tree.
    Patterns(Vec<f64>),
    /// The length of a branch as z, and after how many steps it stayed.
    Branch {
        /// exp(-t).
        z: f64,
        /// Steps of Newton's method, those included that shortened the branch.
        steps: u32,
    },
}

/// The answers of all tasks of a run: by task, in the order in which each asked.
pub type Answers = Vec<Vec<Answer>>;

/// The source of an engine's answers.
#[derive(Debug, Clone)]
pub(super) enum Book {
    /// Answers of its SPEs; they are noted, by task.
    Noted(Vec<(usize, Vec<Answer>)>),
    /// Answers of another run: the task that it is at, and how many of its answers have been read.
    Known { answers: Arc<Answers>, task: usize, read: usize },
}

impl Book {
    /// A book of known answers, or one in which answers are noted.
    pub fn new(known: Option<&Arc<Answers>>) -> Self {
        match known {
            None => Self::Noted(vec![(0, Vec::new())]),
            Some(answers) => Self::Known { answers: Arc::clone(answers), task: 0, read: 0 },
        }
    }

    pub const fn values(&self) -> Values {
        match self {
            Self::Noted(_) => Values::Computed,
            Self::Known { .. } => Values::Known,
        }
    }

    /// A task begins.
    pub fn begin(&mut self, begun: usize) {
        match self {
            Self::Noted(tasks) => tasks.push((begun, Vec::new())),
            Self::Known { task, read, .. } => (*task, *read) = (begun, 0),
        }
    }

    /// The next answer, where it is known.
    pub fn known(&self) -> Option<&Answer> {
        match self {
            Self::Noted(_) => None,
            Self::Known { answers, task, read } => Some(&answers[*task][*read]),
        }
    }

    /// The answer that was computed, or the next one that is known.
    pub fn answer(&mut self, computed: impl FnOnce() -> Answer) -> Answer {
        match self {
            Self::Noted(tasks) => {
                let answer = computed();
                if let Some((_, answers)) = tasks.last_mut() {
                    answers.push(answer.clone());
                }
                answer
            }
            Self::Known { answers, task, read } => {
                *read += 1;
                answers[*task][*read - 1].clone()
            }
        }
    }

    /// What was noted.
    pub fn into_noted(self) -> Vec<(usize, Vec<Answer>)> {
        match self {
            Self::Noted(tasks) => tasks,
            Self::Known { .. } => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phylogeny::newick;
    use mmgp_base::table::Source;

    const TREE: &str = "((a:1,b:1):1,(c:1,d:1):1,e:1);";
    const OTHER: &str = "((a:1,b:1):1,(c:1,e:1):1,d:1);";

    /// Findings of so many inferences, the rest bootstraps, with the likelihood and the tree of each.
    fn findings(inferences: u32, found: &[(f64, &str)]) -> Findings {
        let names = ["a", "b", "c", "d", "e"].map(String::from);
        let tasks = Tasks { inferences, bootstraps: found.len() as u32 - inferences };
        let finished = |(task, &(log_likelihood, tree)): (u32, &(f64, &str))| FoundTree {
            task: tasks.get(task),
            log_likelihood,
            tree: newick::read(&Source::new("x.nwk", tree), &names).unwrap(),
        };
        Findings::new((0..).zip(found).map(finished).collect())
    }

    #[test]
    fn the_best_tree_is_the_first_of_the_likeliest_inferences_however_likely_a_bootstrap_is() {
        let inferences = [(-11.0, OTHER), (-10.0, TREE), (-10.0, OTHER)];
        let bootstraps = [(-1.0, OTHER), (-1.0, TREE), (-1.0, TREE)];
        let best = findings(3, &[inferences, bootstraps].concat()).best.unwrap();
        assert_eq!(best.found.task, Task::Inference(1));
        // The branch above a and b is in all three trees, that above c and d in two.
        let shares: Vec<f64> = best.supports.into_iter().flatten().collect();
        assert_eq!(shares, [1.0, 2.0 / 3.0]);
    }

    #[test]
    fn without_an_inference_there_is_no_best_tree() {
        let found = findings(0, &[(-1.0, TREE), (-2.0, OTHER)]);
        assert_eq!((found.best.as_ref(), found.bootstraps().count()), (None, 2));
    }

    #[test]
    fn without_a_bootstrap_there_are_no_supports() {
        let best = findings(1, &[(-1.0, TREE)]).best.unwrap();
        assert_eq!(best.supports, vec![None; best.found.tree.nodes()]);
    }
}
