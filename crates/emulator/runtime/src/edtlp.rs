//! Event-driven task-level parallelism (EDTLP, PPoPP 2007).

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::leases::BusyMap;
use crate::policy::{Completion, Decision, Departure, Moves, Pending, Policy, Request, Steps};
use mmgp_base::units::{SimSpan, SimTime};
use mmgp_cell::HostProcess;
use mmgp_cell::linux::Sharing;
use mmgp_machine::Machine;

/// A user-level scheduler gives the hardware thread of a process that waits to another one, in an
/// [order](Dispatch) of its own. Each process has SPEs of its own, by the mapping. A function that the
/// host can do is off-loaded only where that is faster.
#[derive(Default)]
pub struct Edtlp {
    order: Dispatch,
    granularity: Granularity,
}

/// Order in which EDTLP dispatches the processes that share a hardware thread.
///
/// PPoPP 2007 says that the thread of a process that off-loads goes to the next one, round robin, and
/// that a process continues when it holds a context and its result is present. What becomes of a
/// process whose turn comes before its result is left open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dispatch {
    /// The next whose off-load is done, in the order in which they became so; the scheduler polls
    /// while there is none.
    Ready,
    /// Strict turns: to the next, done or not, which polls with the thread until it is.
    #[default]
    RoundRobin,
    /// Turns by `sched_yield`: to the next, which loads the flag of its SPE and yields again where it
    /// is not done. As the run-time's code, `while (stop == 0) sched_yield()`.
    Yield,
}

impl Dispatch {
    /// All orders.
    pub const ALL: [Self; 3] = [Self::Ready, Self::RoundRobin, Self::Yield];

    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::RoundRobin => "round-robin",
            Self::Yield => "yield",
        }
    }

    /// What it does, in a few words.
    pub const fn summary(self) -> &'static str {
        match self {
            Self::Ready => "To the process whose off-load was done first",
            Self::RoundRobin => "In strict turns; a process that is not done polls",
            Self::Yield => "In turns; a process that is not done yields again",
        }
    }
}

impl Edtlp {
    /// The policy with that order of dispatch.
    pub fn with_order(order: Dispatch) -> Self {
        Self { order, granularity: Granularity::default() }
    }

    /// Whether a task is to run on the host.
    pub(crate) fn prefers_host(&self, request: &Request<'_>) -> bool {
        self.granularity.prefers_host(request)
    }
}

impl Policy for Edtlp {
    fn name(&self) -> &'static str {
        "edtlp"
    }

    fn summary(&self) -> &'static str {
        "Event-driven task-level parallelism: a process that waits gives its hardware thread away"
    }

    fn variants(&self) -> Vec<&'static str> {
        Dispatch::ALL.map(Dispatch::name).into()
    }

    fn variant(&self, name: &str) -> Option<Box<dyn Policy>> {
        let order = Dispatch::ALL.into_iter().find(|order| order.name() == name)?;
        Some(Box::new(Self::with_order(order)))
    }

    fn sharing(&self, machine: &Machine) -> Sharing {
        match self.order {
            Dispatch::Ready => Sharing::cooperative(machine),
            Dispatch::RoundRobin | Dispatch::Yield => Sharing::in_turn(machine),
        }
    }

    fn place(&self, request: &Request<'_>, spes: &BusyMap) -> Decision {
        if self.prefers_host(request) {
            return Decision::Host;
        }
        request.lease_own(spes)
    }

    fn leases_own_only(&self) -> bool {
        true
    }

    fn moves(&self) -> Moves {
        Moves::Nothing
    }

    fn completed(&self, completion: Completion) {
        self.granularity.completed(completion);
    }

    fn departs(&self, departure: &Departure) {
        self.granularity.departs(departure);
    }

    fn wait<'a>(&'a self, process: &'a HostProcess, pending: &'a Pending) -> Steps<'a> {
        Box::pin(async {
            match self.order {
                Dispatch::Ready => pending.stand_aside(process).await,
                Dispatch::RoundRobin => {
                    process.hand_over().await;
                    pending.spin(process).await;
                }
                Dispatch::Yield => {
                    process.sched_yield().await;
                    pending.yield_until_complete(process).await;
                }
            }
        })
    }

    /// Gives way without the kernel, as where it waits for what is there already.
    fn give_way<'a>(&'a self, process: &'a HostProcess) -> Steps<'a> {
        Box::pin(async {
            process.release();
            process.resume().await;
        })
    }
}

/// Off-loads a function only where `t_spe + t_code + 2 t_comm < t_ppe`.
///
/// The left side is the time from the decision to the moment at which the last SPE is done, with all
/// that has to be loaded for it; the right side is what the host took. The first call is off-loaded,
/// as in the paper. How t_ppe is learnt is not said there: here the second call runs on the host, if
/// it can. A function that fails then stays on the host.
#[derive(Debug, Default)]
pub(crate) struct Granularity {
    state: RefCell<State>,
}

#[derive(Debug, Default)]
struct State {
    functions: BTreeMap<u32, Times>,
    /// When the SPEs of each process were done last.
    completed: BTreeMap<u32, SimTime>,
}

/// The first times of a function.
#[derive(Debug, Clone, Copy, Default)]
struct Times {
    off_loaded: Option<SimSpan>,
    on_host: Option<SimSpan>,
}

impl Granularity {
    /// Whether the task is to run on the host.
    pub fn prefers_host(&self, request: &Request<'_>) -> bool {
        if !request.host_can {
            return false;
        }
        match self.state.borrow().functions.get(&request.function) {
            Some(Times { off_loaded: Some(_), on_host: None }) => true,
            Some(Times { off_loaded: Some(off_loaded), on_host: Some(on_host) }) => {
                off_loaded >= on_host
            }
            _ => false,
        }
    }

    /// An SPE is done.
    pub fn completed(&self, Completion { process, at, .. }: Completion) {
        self.state.borrow_mut().completed.insert(process, at);
    }

    /// A task is done.
    pub fn departs(&self, departure: &Departure) {
        let Departure { process, function, shares, placed, departed, .. } = *departure;
        let State { functions, completed } = &mut *self.state.borrow_mut();
        let times = functions.entry(function).or_default();
        let (time, end) = match shares {
            0 => (&mut times.on_host, Some(departed)),
            _ => (&mut times.off_loaded, completed.get(&process).copied()),
        };
        *time = time.or(end.map(|end| end.since(placed)));
    }
}
