//! A server that everybody present shares: processor sharing.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::future::Future;
use std::rc::Rc;
use std::task::Poll;

use super::schedule::ProcessId;
use super::{Reason, Sim};
use mmgp_base::units::{Seconds, SimSpan, SimTime};

/// A resource that serves all jobs present at once, each at a rate that depends on their number:
/// the pipeline of a multithreaded core, the bandwidth of a memory. Clones refer to the same.
///
/// All jobs present are served equally, so one number, the work that a job present from the start
/// would have received, tells of each job when it is done: a change costs O(log jobs).
#[derive(Clone)]
pub struct ProcessorSharing {
    shared: Rc<Shared>,
}

struct Shared {
    sim: Sim,
    reason: Reason,
    rate: Box<dyn Fn(usize) -> f64>,
    state: RefCell<State>,
}

struct State {
    /// Work that each job present has received since the beginning.
    received: f64,
    as_of: SimTime,
    jobs: BinaryHeap<Reverse<Job>>,
    arrivals: u64,
}

struct Job {
    /// The job is done when `received` is this.
    done_at: f64,
    arrival: u64,
    process: ProcessId,
}

impl PartialEq for Job {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Job {}

impl PartialOrd for Job {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Job {
    fn cmp(&self, other: &Self) -> Ordering {
        self.done_at.total_cmp(&other.done_at).then(self.arrival.cmp(&other.arrival))
    }
}

impl ProcessorSharing {
    /// A shared server; `rate(n)` is the work per second that each of n jobs receives, positive.
    pub fn new(sim: &Sim, name: &str, rate: impl Fn(usize) -> f64 + 'static) -> Self {
        let state =
            State { received: 0.0, as_of: SimTime::ZERO, jobs: BinaryHeap::new(), arrivals: 0 };
        let (sim, reason) = (sim.clone(), sim.reason(name));
        let (rate, state) = (Box::new(rate), RefCell::new(state));
        Self { shared: Rc::new(Shared { sim, reason, rate, state }) }
    }

    /// Has so much work done, in the unit of the rate; none is done at once.
    pub fn serve(&self, work: f64) -> impl Future<Output = ()> {
        let server = &*self.shared;
        let mut job = None;
        std::future::poll_fn(move |_| {
            if work <= 0.0 {
                return Poll::Ready(());
            }
            match job {
                None => job = Some(server.arrive(work)),
                Some(arrival) if server.depart(arrival) => return Poll::Ready(()),
                Some(_) => {}
            }
            server.sim.waits_for(server.reason);
            Poll::Pending
        })
    }
}

impl Shared {
    fn arrive(&self, work: f64) -> u64 {
        let mut state = self.state.borrow_mut();
        self.catch_up(&mut state);
        if let Some(Reverse(first)) = state.jobs.peek() {
            self.sim.cancel(first.process);
        }
        let arrival = state.arrivals;
        state.arrivals += 1;
        let done_at = state.received + work;
        let process = self.sim.current();
        state.jobs.push(Reverse(Job { done_at, arrival, process }));
        self.appoint_first(&state);
        arrival
    }

    /// Ends the job if it is the first to be done; it was woken because it is.
    fn depart(&self, arrival: u64) -> bool {
        let mut state = self.state.borrow_mut();
        match state.jobs.peek() {
            Some(Reverse(first)) if first.arrival == arrival => {}
            _ => return false,
        }
        // The appointment was made for the tick in which the job ends: what rounding left over is
        // dropped by setting the account to the job's own end.
        if let Some(Reverse(job)) = state.jobs.pop() {
            state.received = job.done_at;
            state.as_of = self.sim.now();
        }
        if state.jobs.is_empty() {
            state.received = 0.0;
        }
        self.appoint_first(&state);
        true
    }

    /// Brings the account of received work up to the present instant.
    fn catch_up(&self, state: &mut State) {
        let now = self.sim.now();
        if !state.jobs.is_empty() {
            let elapsed = now.since(state.as_of).seconds().0;
            state.received += elapsed * (self.rate)(state.jobs.len());
        }
        state.as_of = now;
    }

    /// Appoints the job that will be done first, at the rate of the jobs present now.
    fn appoint_first(&self, state: &State) {
        if let Some(Reverse(first)) = state.jobs.peek() {
            let left = (first.done_at - state.received).max(0.0);
            let span = SimSpan::from_seconds(Seconds(left / (self.rate)(state.jobs.len())));
            self.sim.appoint(first.process, self.sim.now() + span);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    /// Jobs as (arrival \[s\], work) on a server; their departures \[s\].
    fn departures(rate: impl Fn(usize) -> f64 + 'static, jobs: &[(f64, f64)]) -> Vec<f64> {
        let sim = Sim::new();
        let server = ProcessorSharing::new(&sim, "server", rate);
        let ends = Rc::new(RefCell::new(vec![0.0; jobs.len()]));
        for (index, &(arrival, work)) in jobs.iter().enumerate() {
            let (own, server, ends) = (sim.clone(), server.clone(), Rc::clone(&ends));
            sim.spawn(format!("job {index}"), async move {
                own.sleep(SimSpan::from_seconds(Seconds(arrival))).await;
                server.serve(work).await;
                ends.borrow_mut()[index] = own.now().seconds().0;
            });
        }
        sim.run().unwrap();
        ends.take()
    }

    #[test]
    fn jobs_share_the_server_equally() {
        // Alone until 1 (1 done), then halves: the second gets 1 by 3 and leaves; the first has 2
        // of its 3 by then and needs 1 more alone.
        let ends = departures(|jobs| 1.0 / jobs as f64, &[(0.0, 3.0), (1.0, 1.0)]);
        assert_relative_eq!(ends[0], 4.0, max_relative = 1e-12);
        assert_relative_eq!(ends[1], 3.0, max_relative = 1e-12);
    }

    #[test]
    fn a_rate_that_falls_less_than_the_jobs_grow_gains_throughput() {
        // Two threads of a core, each at 1/1.28 of its speed alone: 1 s of work each takes 1.28 s.
        let ends = departures(|jobs| if jobs == 1 { 1.0 } else { 1.0 / 1.28 }, &[(0.0, 1.0); 2]);
        assert_relative_eq!(ends[0], 1.28, max_relative = 1e-12);
        assert_relative_eq!(ends[1], 1.28, max_relative = 1e-12);
    }

    #[test]
    fn a_short_job_that_comes_late_leaves_first() {
        let ends = departures(|jobs| 1.0 / jobs as f64, &[(0.0, 10.0), (1.0, 0.5), (1.5, 0.25)]);
        // 1.0-1.5: two present, the second has 0.25 left. 1.5-2.25: three present, it ends at
        // 2.25 together with the third, which came with 0.25. The first has 1.5 by then.
        assert_relative_eq!(ends[1], 2.25, max_relative = 1e-12);
        assert_relative_eq!(ends[2], 2.25, max_relative = 1e-12);
        assert_relative_eq!(ends[0], 2.25 + 8.5, max_relative = 1e-12);
    }

    #[test]
    fn work_is_conserved_under_many_arrivals() {
        let jobs: Vec<(f64, f64)> =
            (0..200).map(|i| (f64::from(i % 17) * 0.01, f64::from(1 + i % 7))).collect();
        let total: f64 = jobs.iter().map(|job| job.1).sum();
        let last = departures(|jobs| 1.0 / jobs as f64, &jobs).into_iter().fold(0.0, f64::max);
        assert_relative_eq!(last, total, max_relative = 1e-9);
    }

    #[test]
    fn a_job_that_is_due_when_another_arrives_is_woken_only_once() {
        // The second job arrives at the very instant at which the first is done; were the first
        // woken twice, the second waking would end its sleep early.
        let sim = Sim::new();
        let server = ProcessorSharing::new(&sim, "server", |jobs| 1.0 / jobs as f64);
        let (own, first) = (sim.clone(), server.clone());
        let second = |seconds| SimSpan::from_seconds(Seconds(seconds));
        sim.spawn("late", {
            let own = sim.clone();
            async move {
                own.sleep(second(1.0)).await;
                server.serve(1.0).await;
            }
        });
        sim.spawn("early", async move {
            first.serve(1.0).await;
            own.sleep(second(5.0)).await;
            assert_eq!(own.now().seconds(), Seconds(6.0));
        });
        assert_eq!(sim.run().unwrap().seconds(), Seconds(6.0));
    }
}
