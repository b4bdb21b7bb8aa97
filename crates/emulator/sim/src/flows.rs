//! Flows over shared capacities: a network seen from far enough that its packets are a fluid.

mod share;

use std::cell::RefCell;
use std::future::Future;
use std::rc::Rc;
use std::task::Poll;

use super::Sim;
use super::schedule::{Due, ProcessId, Reason, Timer};
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
    /// When the first flow ends.
    timer: Timer,
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
        let (sim, reason, timer) = (sim.clone(), sim.reason(name), sim.timer());
        Self { shared: Rc::new(Shared { sim, reason, timer, state: RefCell::default() }) }
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
        let process = |flow: usize| progress[flow].process;
        let before = state.first.map(|(flow, _)| process(flow));
        let due = first.map(|(flow, at)| Due { at, process: process(flow) });
        self.sim.set_timer(self.timer, before, due);
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

#[cfg(test)]
mod tests {
    //! Rates by hand and by the definition of fairness; what one capacity does that all share stands
    //! in `queueing.rs`.

    use std::cell::RefCell;
    use std::rc::Rc;

    use approx::assert_relative_eq;
    use rand::{Rng, RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::super::Sim;
    use super::share::Network;
    use super::{Capacity, Flows};
    use mmgp_base::units::{Seconds, SimSpan};

    const NO_CAP: f64 = 1e9;

    /// A flow: when it begins \[s\], the numbers of the capacities it passes, its cap, its work.
    type Flow<'a> = (f64, &'a [usize], f64, f64);

    /// When each flow ends \[s\].
    fn ends(limits: &[f64], flows: &[Flow<'_>]) -> Vec<f64> {
        let sim = Sim::new();
        let network = Flows::new(&sim, "the network");
        let capacities: Vec<Capacity> = limits.iter().map(|&limit| network.add(limit)).collect();
        let ends = Rc::new(RefCell::new(vec![0.0; flows.len()]));
        for (index, &(begin, path, cap, work)) in flows.iter().enumerate() {
            let path: Vec<Capacity> = path.iter().map(|&number| capacities[number]).collect();
            let (own, network, ends) = (sim.clone(), network.clone(), Rc::clone(&ends));
            sim.spawn(format!("flow {index}"), async move {
                own.sleep(SimSpan::from_seconds(Seconds(begin))).await;
                network.send(&path, cap, work).await;
                ends.borrow_mut()[index] = own.now().seconds().0;
            });
        }
        sim.run().unwrap();
        ends.take()
    }

    fn check(limits: &[f64], flows: &[Flow<'_>], by_hand: &[f64]) {
        for (end, by_hand) in ends(limits, flows).into_iter().zip(by_hand) {
            assert_relative_eq!(end, *by_hand, max_relative = 1e-12);
        }
    }

    #[test]
    fn a_flow_alone_runs_at_its_cap_or_at_the_narrowest_place() {
        check(&[4.0, 2.0], &[(1.0, &[0, 1], 0.5, 3.0)], &[7.0]);
        check(&[4.0, 2.0], &[(1.0, &[0, 1], NO_CAP, 3.0)], &[2.5]);
    }

    #[test]
    fn a_long_path_gets_as_much_as_the_short_ones_where_it_is_narrow() {
        // Capacities 1 and 2; one flow over both, one over each. The narrow one gives a half to each of
        // its two, and the flow that has the wide one besides gets the other 1.5. Each has work for
        // exactly one second.
        let flows: [Flow<'_>; 3] =
            [(0.0, &[0, 1], NO_CAP, 0.5), (0.0, &[0], NO_CAP, 0.5), (0.0, &[1], NO_CAP, 1.5)];
        check(&[1.0, 2.0], &flows, &[1.0, 1.0, 1.0]);
    }

    #[test]
    fn what_a_cap_leaves_goes_to_the_others() {
        // As before, but the second flow takes 0.2 at most: 0.8 for the first, and 1.2 for the third.
        let flows: [Flow<'_>; 3] =
            [(0.0, &[0, 1], NO_CAP, 0.8), (0.0, &[0], 0.2, 0.2), (0.0, &[1], NO_CAP, 1.2)];
        check(&[1.0, 2.0], &flows, &[1.0, 1.0, 1.0]);
    }

    #[test]
    fn rates_change_when_a_flow_comes_and_when_it_goes() {
        // Capacity 2, caps 1.5. The first alone: 1.5 until 1. Two: 1 each until the second has its 1,
        // at 2. Then the first has 2.5 of its 4 and needs another second at 1.5.
        check(&[2.0], &[(0.0, &[0], 1.5, 4.0), (1.0, &[0], 1.5, 1.0)], &[3.0, 2.0]);
    }

    #[test]
    fn relief_reaches_flows_that_do_not_meet_the_one_that_goes() {
        // A line of two capacities of 3. A on the first, B on both, C on the second, C with cap 1.
        // At first B gets 1.5 (the first is shared with A), C its 1. When A, with work for 1.5, is done
        // at 1, B rises to 2, which the second leaves it: it has 1.5 of 3.5 and is done at 2.
        let flows: [Flow<'_>; 3] =
            [(0.0, &[0], NO_CAP, 1.5), (0.0, &[0, 1], NO_CAP, 3.5), (0.0, &[1], 1.0, 5.0)];
        check(&[3.0, 3.0], &flows, &[1.0, 2.0, 5.0]);
        // Without a cap C loses to B what A gave up: 1.5 until 1, then half of 3 for both. It has 5,
        // all the while at 1.5; B's 3.5 take 3.5/1.5, and from then on C has 3.
        let flows: [Flow<'_>; 3] =
            [(0.0, &[0], NO_CAP, 1.5), (0.0, &[0, 1], NO_CAP, 3.5), (0.0, &[1], NO_CAP, 5.0)];
        let b = 3.5 / 1.5;
        check(&[3.0, 3.0], &flows, &[1.0, b, b + 1.5 / 3.0]);
    }

    #[test]
    fn flows_end_in_the_order_of_their_beginning_when_they_end_together() {
        check(&[1.0], &[(0.0, &[0], NO_CAP, 1.0), (0.0, &[0], NO_CAP, 1.0)], &[2.0, 2.0]);
        // The second arrives at the very instant at which the first is done.
        check(&[1.0], &[(0.0, &[0], NO_CAP, 1.0), (1.0, &[0], NO_CAP, 1.0)], &[1.0, 2.0]);
    }

    #[test]
    fn a_new_cap_holds_from_now_on_and_what_it_leaves_goes_to_the_others() {
        // Capacity 2: 1 each until 1. Then the first is held to 0.5 until 3, so the second has 1.5; it has
        // its 4 at 3, and the first, which has 2 of its 4, gets its own cap of 2 back.
        let sim = Sim::new();
        let network = Flows::new(&sim, "the network");
        let capacity = [network.add(2.0)];
        let ends = Rc::new(RefCell::new(Vec::new()));
        let first = Rc::new(RefCell::new(None));
        for _ in 0..2 {
            let (own, network) = (sim.clone(), network.clone());
            let (ends, first) = (Rc::clone(&ends), Rc::clone(&first));
            sim.spawn("flow", async move {
                let flow = network.begin(&capacity, 2.0, 4.0);
                first.borrow_mut().get_or_insert(flow);
                network.end(flow).await;
                ends.borrow_mut().push(own.now().seconds().0);
            });
        }
        let (own, shared) = (sim.clone(), network.clone());
        sim.spawn("judge", async move {
            let flow = *first.borrow();
            for (cap, rate, seconds) in [(2.0, 1.0, 1.0), (0.5, 0.5, 2.0), (2.0, 2.0, 0.0)] {
                shared.limit(&[(flow.unwrap(), cap)]);
                own.sleep(SimSpan::from_seconds(Seconds(seconds / 2.0))).await;
                assert_relative_eq!(shared.rate(flow.unwrap()), rate, max_relative = 1e-12);
                own.sleep(SimSpan::from_seconds(Seconds(seconds / 2.0))).await;
            }
        });
        sim.run().unwrap();
        assert_relative_eq!(ends.borrow()[..], [3.0, 4.0], max_relative = 1e-12);
    }

    /// Flows come and go at random; some get other caps; after each change the rates are max-min fair by definition.
    #[test]
    fn the_rates_are_fair_by_the_definition_of_fairness() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(11);
        let mut network = Network::default();
        let limits: Vec<f64> = (0..8).map(|_| 1.0 + 9.0 * random.random::<f64>()).collect();
        let capacities: Vec<Capacity> = limits.iter().map(|&limit| network.add(limit)).collect();
        let mut present: Vec<(usize, Vec<Capacity>, f64)> = Vec::new();
        let mut rates = vec![0.0; 200];
        for _ in 0..5000 {
            if present.len() < 2 || (present.len() < 100 && random.random::<f64>() < 0.5) {
                let path = random_path(&capacities, &mut random);
                let cap = 0.1 + 3.0 * random.random::<f64>();
                let flow = network.insert(&path, cap);
                rates[flow] = cap;
                present.push((flow, path, cap));
            } else if random.random::<f64>() < 0.5 {
                let chosen = [0; 2].map(|_| random.random_range(0..present.len()));
                for index in chosen {
                    present[index].2 = 0.1 + 3.0 * random.random::<f64>();
                }
                network.limit(chosen.iter().map(|&index| (present[index].0, present[index].2)));
                network.share(|flow, rate| rates[flow] = rate);
                check_fair(&limits, &present, &rates);
                continue;
            } else {
                let (flow, ..) = present.swap_remove(random.random_range(0..present.len()));
                network.remove(flow);
            }
            if network.is_disturbed() {
                network.share(|flow, rate| rates[flow] = rate);
            }
            check_fair(&limits, &present, &rates);
        }
    }

    fn random_path(capacities: &[Capacity], random: &mut impl Rng) -> Vec<Capacity> {
        let chosen = 1 + random.random_range(0..(1 << capacities.len()) - 1);
        capacities.iter().filter(|capacity| chosen >> capacity.index() & 1 == 1).copied().collect()
    }

    fn check_fair(limits: &[f64], present: &[(usize, Vec<Capacity>, f64)], rates: &[f64]) {
        const CLOSE: f64 = 1e-6;
        let passing = |index: usize| {
            let here =
                present.iter().filter(move |(_, path, _)| path.iter().any(|c| c.index() == index));
            here.map(|&(flow, ..)| rates[flow])
        };
        let sums: Vec<f64> = (0..limits.len()).map(|index| passing(index).sum()).collect();
        let most: Vec<f64> =
            (0..limits.len()).map(|index| passing(index).fold(0.0, f64::max)).collect();
        for (sum, limit) in sums.iter().zip(limits) {
            assert!(*sum <= limit + CLOSE, "{sum} of {limit}");
        }
        for (flow, path, cap) in present {
            let rate = rates[*flow];
            let is_bottleneck = |c: &Capacity| {
                sums[c.index()] >= limits[c.index()] - CLOSE && rate >= most[c.index()] - CLOSE
            };
            assert!(rate > 0.0 && rate <= cap + CLOSE, "{rate}");
            assert!(rate >= cap - CLOSE || path.iter().any(is_bottleneck), "{rate} of {cap}");
        }
    }
}
