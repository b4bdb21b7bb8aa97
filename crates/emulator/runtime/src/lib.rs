//! Between programs and the emulated machine: who gets which SPEs, and how a process waits.
//!
//! Read on at [`Policy`], which decides who runs where.
//!
//! A program asks for a [`Task`]: a function of the program that is loaded on the SPEs, its
//! arguments, the most shares that it can be cut into, and perhaps how to do it on the host. A
//! [`Policy`] decides where it runs and leases the SPEs from the [`BusyMap`]; the off-load itself
//! ([`Signalling`]) is the same under every policy.
//!
//! ```text
//!   program: Process::run(Task)
//!       |  place: how many SPEs, and which?  ------ Policy -- BusyMap
//!       |  start each SPE                              |
//!       |  wait: give the thread away, spin, sleep? ---+
//!       |  completed: an SPE is done ------------------+
//!       v  collect each SPE, give the lease back
//! ```
//!
//! # How SPEs are found for each process
//! Each process has SPEs of its own by the mapping (m, p), consecutive ones and on its own Cell where
//! enough are left ([`Runtime::assign`]). Some of [`policies`] lease a process these and no others, some
//! any that are idle ([`Policy::leases_own_only`]).
//!
//! # A policy of one's own
//! A policy says how it is called, how the processes of the host share its hardware threads, which
//! SPEs a task gets, and how a process waits: [`Policy`]. `examples/toy_policy.rs` of the repository is a whole
//! one, which leases whatever is idle and yields until its task is done. [`policies`] lists all that there are,
//! and [`policy_named`] finds one.

#[macro_use]
extern crate mmgp_cell;

mod course;
mod edtlp;
mod kernel;
mod leases;
mod leasing;
mod offload;
mod policy;
mod process;
mod ready;
mod sled;
mod unbalancing;

/// The toy of CONTRIBUTING.md, compiled and tested with the tests.
#[cfg(test)]
#[path = "../../../../examples/toy_policy.rs"]
mod toy_policy;

use std::rc::Rc;

use mmgp_base::Mapping;
use mmgp_base::error::Result;
use mmgp_cell::Blade;

pub use edtlp::{Dispatch, Edtlp};
pub use kernel::{Callback, Linux, Mbox, Ynr};
pub use leases::{BusyMap, Lease};
pub use mmgp_cell::record::Loop;
pub use offload::{Call, Signalling, SpeProgram, Teams, Writing};
pub use policy::{
    Completion, Continuation, Decision, Departure, Images, Moves, Pending, Policy, Request, Steps,
    policy_among, policy_named,
};
pub use process::{Process, Task};
pub use sled::{Sled, WorkStealing};

use course::Courses;
use leasing::{AllSpes, Leasing, Mgps, Oracle, Static};
use process::{Shared, Slots};
use unbalancing::Unbalancing;

/// All policies, the first of which is used where none is named. A further one is a file of this crate, a line
/// `mod` and a line here.
pub fn policies() -> Vec<Box<dyn Policy>> {
    vec![
        Box::new(Edtlp::default()),
        Box::new(Leasing::new(AllSpes)),
        Box::new(Leasing::new(Static::default())),
        Box::new(Leasing::new(Oracle)),
        Box::new(Leasing::new(Mgps::default())),
        Box::new(Linux),
        Box::new(Ynr),
        Box::new(Sled::default()),
        Box::new(WorkStealing::default()),
        Box::new(Mbox),
        Box::new(Callback),
    ]
}

/// A machine at rest whose SPEs are leased and whose processes wait as a policy says.
pub struct Runtime {
    blade: Rc<Blade>,
    shared: Rc<Shared>,
}

impl Runtime {
    /// Puts `blade`, a machine at rest of which no process has been made, under a policy.
    pub fn new(blade: Blade, policy: Box<dyn Policy>) -> Self {
        let sharing = policy.sharing(&blade.machine);
        let blade = blade.under(&sharing);
        let busy = BusyMap::new(&blade.sim, blade.machine.layout);
        let slots = Slots::new(&blade);
        let same = policy.moves() != Moves::Whatever;
        let keeps = policy.leases_own_only() && same && !blade.is_traced() && !blade.is_counting();
        let courses = Courses::new(&blade.sim, &blade.traffic, keeps);
        let unbalancing = policy.unbalances().then(Unbalancing::default);
        let fault = blade.fault();
        let arena = std::cell::Cell::default();
        let shared = Shared { policy, busy, slots, courses, unbalancing, fault, arena };
        Self { blade: Rc::new(blade), shared: Rc::new(shared) }
    }

    /// The machine.
    pub fn blade(&self) -> &Blade {
        &self.blade
    }

    /// The machine, where further blades are to stand beside it.
    pub fn shared_blade(&self) -> &Rc<Blade> {
        &self.blade
    }

    /// The numbers of the p SPEs of each of m processes.
    ///
    /// Each process takes the first free SPEs of its own Cell; one that does not find enough there
    /// goes on with the next Cell.
    ///
    /// # Errors
    /// [`Infeasible`](mmgp_base::error::Error::Infeasible) where the machine has fewer than m * p.
    pub fn assign(&self, mapping: Mapping) -> Result<Vec<Vec<u32>>> {
        leases::assign(&self.blade, mapping)
    }

    /// How many SPEs the tasks of m processes with p of their own may be given.
    pub fn spes_of(&self, mapping: Mapping) -> u64 {
        if self.shared.policy.leases_own_only() {
            mapping.apus()
        } else {
            u64::from(self.blade.machine.layout.spes())
        }
    }

    /// A process of the host, pinned to its hardware thread, that has those SPEs of its own.
    pub fn process(&self, rank: u32, own: Vec<u32>) -> Process {
        let (blade, layout) = (&self.blade, self.blade.machine.layout);
        let of_spes = own.iter().map(|spe| spe / layout.spes_per_cell);
        let told = (self.shared.policy.moves() == Moves::Tellings).then_some(0);
        let cells = of_spes.chain([blade.cell_of(rank)]).chain(told);
        cells.for_each(|cell| blade.traffic.uses(rank, cell));
        let host = (blade.host_process(rank), blade.cell_of(rank));
        Process::new(host, own, Rc::clone(&self.shared))
    }

    /// What its policy has learnt of the program, in lines for people.
    pub fn account(&self) -> Option<String> {
        self.shared.policy.account()
    }

    /// Loads a program on every SPE, which then serves calls for ever; host and SPEs tell each other
    /// of them by `signalling`.
    pub fn load<P: SpeProgram>(&self, program: &Rc<P>, signalling: Signalling) {
        offload::load(&self.blade, &self.shared, program, signalling);
    }
}
