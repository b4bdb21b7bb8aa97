//! The pipeline that the hardware threads of a PPE share.

use std::future::Future;

use mmgp_base::units::{Seconds, SimSpan};
use mmgp_sim::{First, Sim, Watch, first_of};

/// A pipeline on which one busy thread runs at full speed, and each of several at
/// `1 / slowdown` of it. A thread that waits for memory or the bus is not busy.
pub struct Pipeline {
    sim: Sim,
    busy: Watch<u32>,
    slowdown: f64,
}

impl Pipeline {
    /// An idle pipeline; `name` says whose in the report of a deadlock.
    pub fn new(sim: &Sim, name: &str, slowdown: f64) -> Self {
        Self { sim: sim.clone(), busy: Watch::new(sim, name, 0), slowdown }
    }

    /// Executes what takes so long on an undisturbed pipeline, until it is done or `stop` ends;
    /// what is left of it.
    pub async fn execute(&self, alone: Seconds, stop: impl Future<Output = ()>) -> Seconds {
        let mut stop = std::pin::pin!(stop);
        let mut left = alone.0;
        self.begin();
        while left > 0.0 {
            let busy = self.busy.read(|&busy| busy);
            let speed = if busy > 1 { 1.0 / self.slowdown } else { 1.0 };
            let begin = self.sim.now();
            let done = self.sim.sleep(SimSpan::from_seconds(Seconds(left / speed)));
            let changed = self.busy.wait_until(|&now| now != busy);
            let first = first_of(first_of(done, stop.as_mut()), changed).await;
            left -= self.sim.now().since(begin).seconds().0 * speed;
            match first {
                First::Left(First::Left(())) => left = 0.0,
                First::Left(First::Right(())) => break,
                First::Right(()) => {}
            }
        }
        self.end();
        Seconds(left.max(0.0))
    }

    /// A thread begins to be busy with something that lasts as long as it lasts, such as a loop that
    /// polls.
    pub fn begin(&self) {
        self.busy.update(|busy| *busy += 1);
    }

    /// A thread ends to be busy.
    pub fn end(&self) {
        self.busy.update(|busy| *busy -= 1);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use super::*;
    use approx::assert_relative_eq;

    #[test]
    fn threads_slow_each_other_down_while_both_are_busy() {
        // The first has 2 s of work from 0 on, the second 1 s from 1 on, at 1/1.25 when both are
        // busy. First: 1 done alone by 1; second: 1 s at 0.8 ends at 2.25, by which the first has
        // done its second 1 as well.
        let sim = Sim::new();
        let pipeline = Rc::new(Pipeline::new(&sim, "the pipeline", 1.25));
        let ends = Rc::new(RefCell::new(Vec::new()));
        for (begin, work) in [(0.0, 2.0), (1.0, 1.0), (4.0, 0.5)] {
            let (own, pipeline, ends) = (sim.clone(), Rc::clone(&pipeline), Rc::clone(&ends));
            sim.spawn(format!("thread at {begin}"), async move {
                own.sleep(SimSpan::from_seconds(Seconds(begin))).await;
                let left = pipeline.execute(Seconds(work), std::future::pending()).await;
                assert_eq!(left, Seconds(0.0));
                ends.borrow_mut().push(own.now().seconds().0);
            });
        }
        sim.run().unwrap();
        for (end, expected) in ends.borrow().iter().zip([2.25, 2.25, 4.5]) {
            assert_relative_eq!(*end, expected, max_relative = 1e-12);
        }
    }

    #[test]
    fn what_is_interrupted_has_the_rest_left_and_disturbs_nobody_any_more() {
        let sim = Sim::new();
        let pipeline = Rc::new(Pipeline::new(&sim, "the pipeline", 1.25));
        let (own, first) = (sim.clone(), Rc::clone(&pipeline));
        sim.spawn("interrupted", async move {
            let stop = own.sleep(SimSpan::from_seconds(Seconds(1.0)));
            let left = first.execute(Seconds(2.0), stop).await;
            // 1 s at 0.8.
            assert_relative_eq!(left.0, 1.2, max_relative = 1e-12);
        });
        sim.spawn("other", async move {
            let _ = pipeline.execute(Seconds(1.8), std::future::pending()).await;
        });
        // By 1 the other has done 0.8, and does the 1.0 that is left alone.
        assert_relative_eq!(sim.run().unwrap().seconds().0, 2.0, max_relative = 1e-12);
    }
}
