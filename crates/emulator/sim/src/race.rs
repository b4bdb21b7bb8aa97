//! Waiting for whichever of two things comes first.

use std::future::Future;
use std::pin::pin;
use std::task::Poll;

/// Which of two came first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum First<A, B> {
    /// The one named first, also where both were there at once.
    Left(A),
    /// The other one.
    Right(B),
}

/// Waits for whichever comes first, and gives the other one up.
///
/// Good for sleeps and for waits upon a [`super::Watch`], which can be given up at any time; not
/// for a place in a queue or a job at a server.
pub async fn first_of<A: Future, B: Future>(left: A, right: B) -> First<A::Output, B::Output> {
    let (mut left, mut right) = (pin!(left), pin!(right));
    std::future::poll_fn(|context| {
        if let Poll::Ready(value) = left.as_mut().poll(context) {
            return Poll::Ready(First::Left(value));
        }
        right.as_mut().poll(context).map(First::Right)
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::super::{Sim, Watch};
    use super::*;
    use mmgp_base::units::SimSpan;

    /// A flag is set after 5 ticks; what comes first if the other thing is a sleep of `ticks`, and
    /// when a sleep of 100 ticks that follows is over.
    fn race(ticks: u64) -> (First<(), ()>, u64) {
        let sim = Sim::new();
        let flag = Watch::new(&sim, "the flag", 0);
        let (setter, own) = (flag.clone(), sim.clone());
        sim.spawn("setter", async move {
            for value in 1..=5 {
                own.sleep(SimSpan::from_ticks(1)).await;
                setter.update(|flag| *flag = value);
            }
        });
        let (own, seen) = (sim.clone(), std::rc::Rc::new(std::cell::Cell::new(None)));
        let outcome = std::rc::Rc::clone(&seen);
        sim.spawn("racer", async move {
            let sleep = own.sleep(SimSpan::from_ticks(ticks));
            let first = first_of(flag.wait_until(|&flag| flag == 5), sleep).await;
            own.sleep(SimSpan::from_ticks(100)).await;
            outcome.set(Some((first, own.now().ticks())));
        });
        sim.run().unwrap();
        seen.get().unwrap()
    }

    #[test]
    fn the_first_ends_the_wait_and_the_other_disturbs_nothing_later() {
        // The flag changes four times without being as wanted, which must not end the sleep.
        assert_eq!(race(7), (First::Left(()), 105));
        assert_eq!(race(3), (First::Right(()), 103));
    }
}
