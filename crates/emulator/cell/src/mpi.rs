//! MPI among the host processes of a machine, on one Cell or on several.
//!
//! # Messages
//! Messages go through memory that the ranks share, as with the device `ch_shmem` of MPICH 1.2.7: each
//! side executes the instructions of the library, the data are copied, and the lists of packets and the
//! receiver's queue are locked by semaphores. Up to the eager threshold the sender
//! copies the data into a buffer and goes on; the receiver copies them out. Above it the sender first
//! asks (rendezvous), waits until the receiver has a matching receive, and then copies the data once,
//! straight to where they belong:
//!
//! ```text
//!   eager       sender    |library|copy|lock|
//!               receiver                    ~latency~|library|lock|copy|
//!   rendezvous  sender    |library|lock|   waits    |library|copy|lock|
//!               receiver               ~~~|library|lock|  waits        ~~~|library|lock|
//! ```
//!
//! `MPI_Sendrecv`, of which recursive doubling is made, is a send and a receive that do not block and a wait for both, and so
//! has a request object for each; those that block have none, or one on the stack.
//!
//! The latency (`~`) is paid between different Cells only, and a copy from one Cell to another has a
//! rate of its own. Messages from one rank to another do not overtake each other; among messages of
//! several ranks the one that arrived first is taken.
//!
//! A rank that waits does what the processes of the machine [do](super::linux::Waiting): it stands
//! aside until its message is there, or it counts down, looks, and yields, again and again, so that
//! others on its hardware thread wait for its turns and it for theirs.
//!
//! # Collectives
//! `allreduce` and `barrier` are recursive doubling, `broadcast`, `reduce` and `gather` binomial trees
//! of such messages; `allreduce` is a reduction and a broadcast where the machine says so
//! ([`Collectives::ReduceAndBroadcast`]): what they take for so many ranks is a result. Where the machine says so
//! ([`Collectives::Table`](mmgp_machine::Collectives)), the first two instead release all ranks when
//! the last one has come and the cost in its table has passed: an input, taken to be that of one
//! double; longer contributions are copied along a binomial tree, up and down, in addition.
//!
//! A reduction combines the contributions in the order of ranks, whatever the tree, so its result
//! does not depend on the root or on the number of Cells.
//!
//! ```
#![doc = include_str!("../examples/mpi.rs")]
//! ```
//!
//! # Errors
//! As is MPI's default, errors are fatal: a rank that names a rank which does not exist, or whose
//! contribution to a collective does not fit those of the others, never comes back, and the run
//! ends with [`MpiError`].
//!
//! # What is left out
//! Limits of the buffer for eager messages, processes that meet at a semaphore, the collective by which
//! ranks form a communicator of some of them, derived data types, and non-blocking operations.

mod collective;
mod inbox;
mod ledger;
#[cfg(test)]
mod tests;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

pub use inbox::{Address, Data, Message, Pattern, Reduction};

use inbox::{Channel, Expected, Inbox, Outgoing, Payload};
use ledger::{Ledger, Locks, Meeting, Packets};

use super::host::HostProcess;
use super::ppe::Work;
use super::trace::Category;
use super::{Blade, Fault};
use crate::fault::MpiError;
use mmgp_base::error::Error;
use mmgp_base::units::{Seconds, SimSpan};
use mmgp_machine::Collectives;
use mmgp_sim::{Reason, Sim, Watch};

/// All ranks of a program, or some of them; clones refer to the same.
///
/// Every operation is called by the process of one rank, and comes back when MPI says that it does.
/// Ranks are numbered within the communicator, and messages stay within it.
#[derive(Clone)]
pub struct Communicator {
    shared: Rc<World>,
}

struct World {
    sim: Sim,
    fault: Fault,
    size: u32,
    /// The number of each rank's host process.
    members: Vec<u32>,
    costs: mmgp_machine::Mpi,
    /// What a collective of all ranks takes, where that is taken from the machine's table.
    collective: Option<SimSpan>,
    /// The Cell of each rank.
    cells: Vec<u32>,
    inboxes: Vec<Watch<Inbox>>,
    meeting: Watch<Meeting>,
    ledger: RefCell<Ledger>,
    packets: RefCell<Packets>,
    /// Rendezvous so far.
    rendezvous: Cell<u64>,
    /// What ranks have waited for, by its name.
    reasons: RefCell<BTreeMap<String, Reason>>,
}

impl Communicator {
    /// A communicator of the first `size` host processes of `blade`.
    pub fn new(blade: &Blade, size: u32) -> Self {
        Self::group(blade, (0..size).collect())
    }

    /// A communicator of the host processes of `blade` with these numbers, in the order of its
    /// ranks: what `MPI_Comm_split` makes. A collective costs what it does for so many ranks.
    pub fn group(blade: &Blade, members: Vec<u32>) -> Self {
        let sim = &blade.sim;
        let size = members.len() as u32;
        let inbox =
            |rank| Watch::new(sim, &format!("MPI messages to rank {rank}"), Inbox::default());
        let shared = World {
            sim: sim.clone(),
            fault: blade.fault.clone(),
            size,
            costs: blade.machine.mpi.clone(),
            collective: (blade.machine.mpi.collectives == Collectives::Table)
                .then(|| SimSpan::from_seconds(blade.machine.mpi.collective_cost(size))),
            cells: members.iter().map(|&process| blade.cell_of(process)).collect(),
            inboxes: (0..size).map(inbox).collect(),
            members,
            meeting: Watch::new(sim, "the other ranks", Meeting::new(size)),
            ledger: RefCell::new(Ledger::new(size)),
            packets: RefCell::new(Packets::new(blade.machine.mpi.packets, size)),
            rendezvous: Cell::new(0),
            reasons: RefCell::default(),
        };
        Self { shared: Rc::new(shared) }
    }

    /// Ranks.
    pub fn size(&self) -> u32 {
        self.shared.size
    }

    /// The rank of a process, if it has one here.
    fn rank_of(&self, process: &HostProcess) -> Option<u32> {
        let place = self.shared.members.iter().position(|&member| member == process.rank);
        place.map(|rank| rank as u32)
    }

    /// The rank of a process that [`Self::check_rank`] has let pass.
    fn own_rank(&self, process: &HostProcess) -> u32 {
        self.rank_of(process).expect("invariant: operations check the rank first")
    }

    /// `MPI_Send`: comes back when the data are copied, or with a long message received.
    pub async fn send(&self, process: &HostProcess, to: Address, data: Data) {
        let _span = operation(process, "MPI_Send").with("to", to.rank.into());
        let what = || format!("MPI_Send {to}");
        self.check_rank(process, to.rank, what).await;
        let (channel, payload) = (Channel::User(to.tag), Payload::of(data));
        let outgoing = self.post(process, to.rank, channel, payload, Mode::Alone).await;
        self.progress(process, outgoing, None, &what).await;
    }

    /// `MPI_Recv`: the first message that arrived of those that are wanted.
    pub async fn recv(&self, process: &HostProcess, wanted: Pattern) -> Message {
        let _span = operation(process, "MPI_Recv");
        let what = || format!("MPI_Recv {wanted}");
        self.check_rank(process, wanted.source.unwrap_or(0), what).await;
        let expected = Some(Expected::User(wanted));
        self.progress(process, None, expected, &what)
            .await
            .expect("invariant: one was expected")
            .into()
    }

    /// `MPI_Sendrecv`: both at once, so that ranks that exchange long messages do not wait for each
    /// other for ever.
    pub async fn sendrecv(
        &self,
        process: &HostProcess,
        to: Address,
        data: Data,
        wanted: Pattern,
    ) -> Message {
        let _span = operation(process, "MPI_Sendrecv").with("to", to.rank.into());
        let what = || format!("MPI_Sendrecv {to}, {wanted}");
        self.check_rank(process, to.rank, what).await;
        self.check_rank(process, wanted.source.unwrap_or(0), what).await;
        let (channel, payload) = (Channel::User(to.tag), Payload::of(data));
        let outgoing = self.post(process, to.rank, channel, payload, Mode::WithReceive).await;
        let expected = Some(Expected::User(wanted));
        let received = self.progress(process, outgoing, expected, &what).await;
        received.expect("invariant: one was expected").into()
    }

    /// Begins to send: the whole of a short message, or the question whether a long one may come.
    async fn post(
        &self,
        process: &HostProcess,
        to: u32,
        channel: Channel,
        payload: Payload,
        mode: Mode,
    ) -> Option<Outgoing> {
        let own = &self.shared;
        let source = self.own_rank(process);
        let eager = payload.bytes <= own.costs.eager;
        let requests = match mode {
            Mode::Alone => 0,
            Mode::WithReceive => 2 * own.costs.request,
        };
        // The buffer lies in the memory of the sender.
        process.work_as("MPI send", library(own.costs.send + requests)).await;
        if eager {
            process.execute_for("MPI copy", own.costs.copy_time(payload.bytes)).await;
        }
        self.lock(process, |packets| packets.send(source, to)).await;
        if eager {
            own.deliver(source, to, move |inbox| inbox.message(source, channel, payload));
            return None;
        }
        let id = own.rendezvous.replace(own.rendezvous.get() + 1);
        own.deliver(source, to, move |inbox| inbox.question(source, channel, id));
        Some(Outgoing { to, id, payload })
    }

    /// Goes on with a rendezvous and with a receive until both are done, whichever can.
    async fn progress(
        &self,
        process: &HostProcess,
        mut outgoing: Option<Outgoing>,
        mut expected: Option<Expected>,
        what: &dyn Fn() -> String,
    ) -> Option<inbox::Received> {
        let own = &self.shared;
        let rank = self.own_rank(process);
        let inbox = &own.inboxes[rank as usize];
        let mut received = None;
        while outgoing.is_some() || expected.is_some() {
            let step = inbox.update(|inbox| inbox.next(outgoing.as_ref(), expected.as_ref()));
            match step {
                inbox::ReceiveStep::Copy => {
                    if let Some(Outgoing { to, id, payload }) = outgoing.take() {
                        let copied = own.copy_time(rank, to, payload.bytes);
                        process.work_as("MPI send", library(own.costs.send)).await;
                        process.execute_for("MPI copy", copied).await;
                        self.lock(process, |it| it.receive(rank, to) + it.send(rank, to)).await;
                        own.deliver(rank, to, move |inbox| inbox.data(id, payload));
                    }
                }
                inbox::ReceiveStep::Answer { source, channel, id } => {
                    process.work_as("MPI answer", library(own.costs.receive)).await;
                    let locks = |it: &mut Packets| it.receive(rank, source) + it.send(rank, source);
                    self.lock(process, locks).await;
                    expected = Some(Expected::Rendezvous { source, channel, id });
                    own.deliver(rank, source, move |inbox| inbox.answer(id));
                }
                inbox::ReceiveStep::Receive { message, copies } => {
                    let bytes = message.payload.bytes;
                    let copied = match copies {
                        inbox::Copies::FromBuffer => own.copy_time(message.source, rank, bytes),
                        inbox::Copies::Done => Seconds(0.0),
                    };
                    let source = message.source;
                    process.work_as("MPI receive", library(own.costs.receive)).await;
                    self.lock(process, |packets| packets.receive(rank, source)).await;
                    process.execute_for("MPI copy", copied).await;
                    expected = None;
                    received = Some(message);
                }
                inbox::ReceiveStep::Wait => {
                    let ready =
                        |inbox: &Inbox| inbox.can_go_on(outgoing.as_ref(), expected.as_ref());
                    if self.lock(process, |packets| packets.give_back(rank)).await == 0 {
                        let _span = process.trace.span(process.track(), Category::Wait, "MPI");
                        process.wait_for_message(inbox, own.reason(&what()), ready).await;
                    }
                }
            }
        }
        received
    }

    /// Takes and releases locks, as often as the packets say; how often.
    async fn lock(
        &self,
        process: &HostProcess,
        locks: impl FnOnce(&mut Packets) -> Locks,
    ) -> Locks {
        let locks = locks(&mut self.shared.packets.borrow_mut());
        // A system call each to take and to release it.
        let time = process.machine.linux.services.semaphore * f64::from(2 * locks);
        process.execute_for("MPI lock", time).await;
        locks
    }

    /// A rank that does not exist is fatal, and so is a process that has none here.
    async fn check_rank(&self, process: &HostProcess, rank: u32, what: impl Fn() -> String) {
        let size = self.shared.size;
        if self.rank_of(process).is_none() {
            let rule = format!("it is none of the processes {:?}", self.shared.members);
            self.fatal(process, what(), rule).await;
        }
        if rank >= size {
            let rule = format!("there is no rank {rank} among {size}");
            self.fatal(process, what(), rule).await;
        }
    }

    /// Ends the program, as MPI does by default; never comes back.
    async fn fatal(&self, process: &HostProcess, operation: String, rule: String) {
        self.shared.fault.raise(Error::other(MpiError { rank: process.rank, operation, rule }));
        std::future::pending().await
    }
}

/// How a send begins.
#[derive(Clone, Copy)]
enum Mode {
    /// It blocks.
    Alone,
    /// Neither it nor a receive blocks, and both are waited for: each has a request object, whose whole cost is paid
    /// here, also that of giving it back.
    WithReceive,
}

impl World {
    /// Changes a rank's inbox when the message has arrived from another rank.
    fn deliver(&self, from: u32, to: u32, change: impl FnOnce(&mut Inbox) + 'static) {
        let inbox = &self.inboxes[to as usize];
        if self.cells[from as usize] == self.cells[to as usize] {
            inbox.update(change);
            return;
        }
        let (sim, inbox) = (self.sim.clone(), inbox.clone());
        let latency = SimSpan::from_seconds(self.costs.remote_latency);
        self.sim.spawn(format!("a message from rank {from} to rank {to}"), async move {
            sim.sleep(latency).await;
            inbox.update(change);
        });
    }

    /// Time to copy data of one rank to where another can use them.
    fn copy_time(&self, from: u32, to: u32, bytes: mmgp_base::units::Bytes) -> Seconds {
        if self.cells[from as usize] == self.cells[to as usize] {
            self.costs.copy_time(bytes)
        } else {
            Seconds(bytes.0 as f64 / self.costs.remote_copy.0)
        }
    }

    /// What a rank waits for, as a report of a deadlock calls it.
    fn reason(&self, what: &str) -> Reason {
        let known = self.reasons.borrow().get(what).copied();
        known.unwrap_or_else(|| {
            let reason = self.sim.reason(what);
            self.reasons.borrow_mut().insert(what.to_string(), reason);
            reason
        })
    }
}

/// Work of so many instructions of the library, of the usual mix of integer code: a quarter loads, an eighth
/// stores, three sixteenths branches.
fn library(instructions: u64) -> Work {
    let (loads, stores, branches) = (instructions / 4, instructions / 8, instructions * 3 / 16);
    let integers = instructions - loads - stores - branches;
    Work { integers, loads, stores, branches, ..Work::default() }.in_line()
}

/// The span of an operation, on the time line of the process.
fn operation(process: &HostProcess, name: &'static str) -> super::trace::Span {
    process.trace.span(process.track(), Category::Mpi, name)
}
