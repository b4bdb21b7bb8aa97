//! The scheduler that follows the model, on the emulated machine.

use std::cell::RefCell;

use crate::cell::HostProcess;
use crate::cell::linux::Sharing;
use crate::guided::{self, Answer, Guide};
use crate::machine::Machine;
use crate::runtime::{
    BusyMap, Decision, Departure, Dispatch, Edtlp, Pending, Policy, Request, Steps,
};
use crate::units::{Seconds, SimTime};

/// How many processes off-load at once, and on how many SPEs each, is what a [`Guide`] finds best
/// while the program runs. It is told when tasks arrive and when their processes have the result, which
/// a user-level run-time system knows; not what the program is, nor what the machine.
///
/// A hardware thread goes to whoever is [ready](Dispatch::Ready) first. One program on the SPEs does
/// tasks alone and shared ones, as where (m, p) is fixed.
///
/// Left out: the time of its own decisions, less than a microsecond each on a machine of today.
pub struct Guided {
    edtlp: Edtlp,
    guide: RefCell<Option<Guide>>,
}

impl Default for Guided {
    fn default() -> Self {
        Self { edtlp: Edtlp::with_order(Dispatch::Ready), guide: RefCell::new(None) }
    }
}

fn seconds(instant: SimTime) -> Seconds {
    instant.seconds()
}

impl Guided {
    fn with<T>(&self, ask: impl FnOnce(&mut Guide) -> T) -> Option<T> {
        self.guide.borrow_mut().as_mut().map(ask)
    }
}

impl Policy for Guided {
    fn name(&self) -> &'static str {
        "mmgp-guided"
    }

    fn summary(&self) -> &'static str {
        "Fits the model while the program runs, and chooses how many processes go with how many SPEs"
    }

    /// From here on it knows how many SPEs and hardware threads there are.
    fn sharing(&self, machine: &Machine) -> Sharing {
        let layout = machine.layout;
        let guide = Guide::new(layout.spes(), layout.cells * layout.threads_per_ppe);
        *self.guide.borrow_mut() = Some(guide.expect("invariant: no machine is as large"));
        self.edtlp.sharing(machine)
    }

    fn place(&self, request: &Request<'_>, spes: &BusyMap) -> Decision {
        let asks = guided::Request {
            function: request.function,
            most_shares: request.most_shares,
            idle: spes.idle().len() as u32,
        };
        let answer = self.with(|guide| guide.arrives(seconds(request.at), request.process, asks));
        match answer {
            Some(Answer::Go(shares)) => {
                let lease = spes.lease_near(request, shares);
                Decision::Spes(lease.expect("invariant: it leases no more than are idle"))
            }
            Some(Answer::Hold) | None => Decision::Wait,
        }
    }

    fn wait<'a>(&'a self, process: &'a HostProcess, pending: &'a Pending) -> Steps<'a> {
        self.edtlp.wait(process, pending)
    }

    fn give_way<'a>(&'a self, process: &'a HostProcess) -> Steps<'a> {
        self.edtlp.give_way(process)
    }

    fn enters(&self, process: u32) {
        self.with(|guide| guide.enters(process).expect("invariant: no machine has as many"));
    }

    fn departs(&self, departure: &Departure) {
        self.with(|guide| guide.completes(seconds(departure.departed), departure.process));
    }

    fn leaves(&self, process: u32) {
        self.with(|guide| guide.leaves(process));
    }
}
