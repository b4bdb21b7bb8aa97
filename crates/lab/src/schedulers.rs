//! Every scheduler by its name: those of the papers, and the one that follows the model.
//!
//! The only place beside `validate` and the command line that knows both a model and a machine. The
//! emulated machine is told what a scheduler decides, and never what the model expects of a time.

use std::cell::RefCell;

use mmgp_base::error::Result;
use mmgp_cell::HostProcess;
use mmgp_cell::linux::Sharing;
use mmgp_machine::Machine;
use mmgp_model::guided::{self, Answer, Guide, GuideExplanation};
use mmgp_runtime as runtime;
use mmgp_runtime::{
    BusyMap, Decision, Departure, Dispatch, Edtlp, Pending, Policy, Request, Steps, policy_among,
};

/// The schedulers that there are, the first of which is used where none is named.
pub fn policies() -> Vec<Box<dyn Policy>> {
    let mut all = runtime::policies();
    all.push(Box::new(Guided::default()));
    all
}

/// The scheduler of that name, or `name:variant`; see [`runtime::policy_named`].
///
/// # Errors
/// [`UnknownName`](mmgp_base::Error::UnknownName) with the names that there are.
pub fn policy_named(name: &str) -> Result<Box<dyn Policy>> {
    policy_among(policies(), name)
}

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

    /// Begins the guide, which knows from here on how many SPEs and hardware threads there are.
    fn sharing(&self, machine: &Machine) -> Sharing {
        let layout = machine.layout;
        let guide = Guide::new(layout.spes(), layout.cells * layout.threads_per_ppe);
        *self.guide.borrow_mut() = Some(guide.expect("invariant: no machine is as large"));
        self.edtlp.sharing(machine)
    }

    fn leases_own_only(&self) -> bool {
        false
    }

    fn place(&self, request: &Request<'_>, spes: &BusyMap) -> Decision {
        let asks = guided::Request {
            function: request.function,
            most_shares: request.most_shares,
            idle: spes.idle().len() as u32,
        };
        let answer = self.with(|guide| guide.arrives(request.at.seconds(), request.process, asks));
        match answer {
            Some(Answer::Go(shares)) => {
                let lease = spes.lease_near((request.cell, request.own), shares..=shares);
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
        self.with(|guide| guide.completes(departure.departed.seconds(), departure.process));
    }

    fn leaves(&self, process: u32) {
        self.with(|guide| guide.leaves(process));
    }

    fn account(&self) -> Option<String> {
        self.with(|guide| account(guide))
    }
}

/// When it settled, how often it began anew, and what it tried since.
fn account(guide: &Guide) -> String {
    let GuideExplanation { settled_after, changes, tried, .. } = guide.explain();
    let settled = match settled_after {
        Some(offloads) => format!("settled after {offloads} of {} off-loads", guide.offloads()),
        None => format!("did not settle in {} off-loads", guide.offloads()),
    };
    let changed = match changes {
        0 => String::new(),
        1 => ", and saw the workload change once".into(),
        times => format!(", and saw the workload change {times} times"),
    };
    let mut text = format!("mmgp-guided {settled}{changed}. It tried:\n");
    for one in tried {
        let (offloads, each_us) = (one.offloads, 1e6 * one.time.0);
        text +=
            &format!("  {}: {each_us:.2} us for each of {offloads:.0} off-loads\n", one.mapping);
    }
    text
}

#[cfg(test)]
mod tests {
    use mmgp_apps::Application as _;
    use mmgp_apps::synthetic::{Burst, Durations, Synthetic};
    use mmgp_base::Mapping;
    use mmgp_base::units::Seconds;
    use mmgp_cell::{Blade, KernelTiming};
    use mmgp_runtime::Runtime;

    use super::*;

    /// The time of six streams on one Cell, a part of whose off-loads can be shared, and what the
    /// scheduler has learnt.
    fn time(policy: Box<dyn Policy>, (m, p): (u32, u32), part: f64) -> (f64, Option<String>) {
        let each = Burst { host: Seconds(11e-6), offload: Seconds(96e-6) };
        let synthetic = Synthetic::new(6, 1000, Durations::constant(each).unwrap(), 1).unwrap();
        let machine = Machine::named("qs20-cell").unwrap();
        let on = Runtime::new(Blade::new(&machine, KernelTiming::Cached, 0.0), policy);
        let ran = synthetic.sharing(part).unwrap().run(&on, Mapping::of(m, p)).unwrap();
        (ran.run.time.0, on.account())
    }

    /// How much longer it takes than the fastest of all (m, p), which it does not know.
    fn over_best(part: f64) -> f64 {
        let feasible = (1..=8).flat_map(|m| (1..=8 / m).map(move |p| (m, p)));
        let edtlp = |mapping| time(Box::new(Edtlp::with_order(Dispatch::Ready)), mapping, part).0;
        let best = feasible.map(edtlp).fold(f64::INFINITY, f64::min);
        let (guided, account) = time(Box::new(Guided::default()), (8, 1), part);
        assert!(account.unwrap().starts_with("mmgp-guided settled after "), "{part}");
        guided / best
    }

    #[test]
    fn it_is_near_the_best_fixed_choice_whether_sharing_pays_or_not() {
        for part in [0.0, 0.5, 0.9] {
            let over = over_best(part);
            assert!(over < 1.02, "{part}: {over}");
        }
    }
}
