//! Master and workers: independent tasks are dealt on request over messages.
//!
//! Ranks 0 to m - 1 are the workers, each with its engine. Rank m is the master: it runs on the
//! hardware thread that it is dealt like any other process, but executes only when a message comes,
//! for one receive and one send a task, and waits otherwise without the thread. What a task comes to
//! depends on its number alone, not on who runs it.

use super::engine::Engine;
use crate::phylogeny::Tree;
use crate::phylogeny::tree::Edge;
use mmgp_cell::HostProcess;
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

/// What a task came to.
#[derive(Debug, Clone, PartialEq)]
pub struct FinishedTask {
    /// The number of the task.
    pub task: usize,
    /// ln likelihood of its tree.
    pub log_likelihood: f64,
    /// The best tree that it found.
    pub tree: Tree,
}

impl FinishedTask {
    /// The result as a message: number, ln likelihood, root, and three numbers for each branch.
    fn to_message(&self) -> Data {
        let branch = |node: usize| {
            let parent = self.tree.parent(node).expect("invariant: a branch has an upper end");
            [node as f64, parent as f64, self.tree.branch_length(node)]
        };
        let branches = self.tree.branches().flat_map(branch);
        let head = [self.task as f64, self.log_likelihood, self.tree.root() as f64];
        Data::Doubles(head.into_iter().chain(branches).collect())
    }

    fn from_message(data: &Data, taxa: usize) -> Option<Self> {
        let Data::Doubles(values) = data else { return None };
        let [task, log_likelihood, root, rest @ ..] = &values[..] else { return None };
        let branch = |three: &[f64]| -> Edge { (three[0] as usize, three[1] as usize, three[2]) };
        let branches: Vec<Edge> = rest.chunks_exact(3).map(branch).collect();
        let tree = Tree::from_branches(taxa, &branches, *root as usize).ok()?;
        Some(Self { task: *task as usize, log_likelihood: *log_likelihood, tree })
    }
}

/// The life of the master: deals `tasks` to the workers of `world`, and collects what they find, by
/// the number of the task.
pub async fn master(
    process: HostProcess,
    world: Communicator,
    tasks: usize,
    taxa: usize,
) -> Vec<FinishedTask> {
    process.resume().await;
    let (mut next, mut at_work) = (0, world.size() - 1);
    let mut finished = Vec::with_capacity(tasks);
    while at_work > 0 {
        let message = world.recv(&process, Pattern::ANY).await;
        process.work(BOOK).await;
        if message.tag == RESULT {
            let result = FinishedTask::from_message(&message.data, taxa);
            finished.push(result.expect("invariant: a worker sends the tree that it found"));
        }
        let task = if next < tasks { next as i64 } else { NONE };
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
    perform: impl AsyncFn(&mut E, usize) -> FinishedTask,
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
        world.send(engine.process(), master(RESULT), result.to_message()).await;
    }
}
