//! Flows over shared capacities: a network seen from far enough that its packets are a fluid.

mod share;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::future::Future;
use std::rc::Rc;
use std::task::Poll;

use super::Sim;
use super::schedule::{ProcessId, Reason};
use mmgp_base::units::{Seconds, SimSpan, SimTime};
pub use share::Capacity;
use share::Network;

/// A network of capacities that flows pass through, each over a path of its own; clones refer to
/// the same.
///
/// The rates are *max-min fair*: a flow's rate is its own cap, or it passes a capacity that is used
/// up and of which nobody gets more than it does (Bertsekas and Gallager, Data Networks, 1992,
/// section 6.5.2). They hold until a flow begins or ends; then the rates change of those flows that
/// share a used-up capacity with it, directly or through others, and of no others. A flow that
/// finds room for its cap everywhere costs a look at each capacity of its path.
///
/// Work, rates and capacities are in whatever unit the user chooses, per second.
#[derive(Clone)]
pub struct Flows {
    shared: Rc<Shared>,
}

struct Shared {
    sim: Sim,
    reason: Reason,
    state: RefCell<State>,
}

#[derive(Default)]
struct State {
    network: Network,
    /// Progress by the flow's place in the network.
    progress: Vec<Progress>,
    begun: u64,
    /// The flow that ends first and has the only appointment, with its end.
    first: Option<(usize, SimTime)>,
}

/// A flow that has begun and not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flow(usize);

/// How far a flow is.
#[derive(Clone, Copy)]
struct Progress {
    rate: f64,
    /// What was left at `as_of`.
    left: f64,
    as_of: SimTime,
    end: SimTime,
    /// Which flow it is, counted from the beginning: earlier ones come first at equal ends.
    number: u64,
    process: ProcessId,
}

impl Flows {
    /// A network without capacities; `name` says what it is in the report of a deadlock.
    pub fn new(sim: &Sim, name: &str) -> Self {
        let (sim, reason) = (sim.clone(), sim.reason(name));
        Self { shared: Rc::new(Shared { sim, reason, state: RefCell::default() }) }
    }

    /// Adds a capacity: work per second that may pass, positive.
    pub fn add(&self, limit: f64) -> Capacity {
        self.shared.state.borrow_mut().network.add(limit)
    }

    /// Lets `work` pass over `path` at no more than `cap` per second; none passes at once. The path
    /// names each capacity once.
    pub async fn send(&self, path: &[Capacity], cap: f64, work: f64) {
        if work > 0.0 {
            let flow = self.begin(path, cap, work);
            self.end(flow).await;
        }
    }

    /// Lets `work`, more than none, begin to pass over `path`; the process that runs now is the one
    /// that waits for its [`end`](Self::end).
    pub fn begin(&self, path: &[Capacity], cap: f64, work: f64) -> Flow {
        Flow(self.shared.begin(path, cap, work))
    }

    /// Waits until all the work of a flow has passed.
    pub fn end(&self, flow: Flow) -> impl Future<Output = ()> {
        let own = &*self.shared;
        std::future::poll_fn(move |_| {
            if own.end(flow.0) {
                return Poll::Ready(());
            }
            own.sim.waits_for(own.reason);
            Poll::Pending
        })
    }

    /// What passes of a flow per second now.
    pub fn rate(&self, flow: Flow) -> f64 {
        self.shared.state.borrow().progress[flow.0].rate
    }

    /// Gives flows that are under way other caps from now on, all at once.
    pub fn limit(&self, caps: &[(Flow, f64)]) {
        self.shared.limit(caps);
    }
}

impl Shared {
    fn begin(&self, path: &[Capacity], cap: f64, work: f64) -> usize {
        let (now, mut state) = (self.sim.now(), self.state.borrow_mut());
        let state = &mut *state;
        let flow = state.network.insert(path, cap);
        let (number, process) = (state.begun, self.sim.current());
        state.begun += 1;
        let new = Progress { rate: 0.0, left: work, as_of: now, end: now, number, process };
        match state.progress.get_mut(flow) {
            Some(place) => *place = new,
            None => state.progress.push(new),
        }
        if state.network.is_disturbed() {
            state.reshare(now);
        } else {
            state.progress[flow].change_rate(cap, now);
        }
        self.appoint_first(state);
        flow
    }

    /// Ends the flow if it is the one that was woken because it ends now.
    fn end(&self, flow: usize) -> bool {
        let (now, mut state) = (self.sim.now(), self.state.borrow_mut());
        let state = &mut *state;
        if state.first != Some((flow, now)) {
            return false;
        }
        state.first = None;
        state.network.remove(flow);
        if state.network.is_disturbed() {
            state.reshare(now);
        }
        self.appoint_first(state);
        true
    }

    fn limit(&self, caps: &[(Flow, f64)]) {
        let (now, mut state) = (self.sim.now(), self.state.borrow_mut());
        let state = &mut *state;
        state.network.limit(caps.iter().map(|&(flow, cap)| (flow.0, cap)));
        state.reshare(now);
        self.appoint_first(state);
    }

    /// Sees to it that the flow that ends first, and no other, has an appointment for its end.
    fn appoint_first(&self, state: &mut State) {
        let progress = &state.progress;
        let key = |&flow: &usize| (progress[flow].end, progress[flow].number);
        let first = state.network.flows().min_by_key(key);
        let first = first.map(|flow| (flow, progress[flow].end));
        if first == state.first {
            return;
        }
        if let Some((before, _)) = state.first {
            self.sim.cancel(progress[before].process);
        }
        if let Some((flow, end)) = first {
            self.sim.appoint(progress[flow].process, end);
        }
        state.first = first;
    }
}

impl State {
    /// Finds the rates of all flows that the last change of the network concerns.
    fn reshare(&mut self, now: SimTime) {
        let progress = &mut self.progress;
        self.network.share(|flow, rate| progress[flow].change_rate(rate, now));
    }
}

impl Progress {
    fn change_rate(&mut self, rate: f64, now: SimTime) {
        // Exactly the same: then its end stays the same to the tick.
        if rate == self.rate {
            return;
        }
        self.left = (self.left - self.rate * now.since(self.as_of).seconds().0).max(0.0);
        (self.rate, self.as_of) = (rate, now);
        self.end = now + SimSpan::from_seconds(Seconds(self.left / rate));
    }
}
