//! The decrementer of an SPU: a 32-bit register that counts down at the rate of the timebase.

use std::cell::Cell;
use std::rc::Rc;

use mmgp_base::units::{Hertz, Seconds, SimSpan, SimTime};
use mmgp_sim::Sim;

/// The time that a channel command takes of an SPU.
#[derive(Clone)]
pub(super) struct ChannelAccess {
    pub sim: Sim,
    span: SimSpan,
}

impl ChannelAccess {
    /// Channel commands of that length.
    pub fn new(sim: &Sim, span: SimSpan) -> Self {
        Self { sim: sim.clone(), span }
    }

    /// Lets the time of a command go by.
    pub async fn pass(&self) {
        self.sim.sleep(self.span).await;
    }
}

/// The clock by which programs take the time: a count of ticks at a fixed rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timebase {
    rate: Hertz,
    phase: f64,
}

impl Timebase {
    /// Ticks at `rate`; `phase` in [0, 1) is how far it is into a tick at the start.
    pub const fn new(rate: Hertz, phase: f64) -> Self {
        Self { rate, phase }
    }

    /// What the register shows at an instant.
    pub fn at(self, instant: SimTime) -> u64 {
        (instant.seconds().0 * self.rate.0 + self.phase) as u64
    }

    /// So many ticks as time.
    pub fn ticks(self, ticks: u64) -> Seconds {
        Seconds(ticks as f64 / self.rate.0)
    }

    /// The first instant at which the register shows `count`.
    fn reaches(self, count: u64) -> SimTime {
        let seconds = (count as f64 - self.phase) / self.rate.0;
        let about = SimTime::ZERO + SimSpan::from_seconds(Seconds(seconds));
        // Rounding to a tick of virtual time may have gone the wrong way.
        let later = (0..).map(|more| about + SimSpan::from_ticks(more));
        later.into_iter().find(|&instant| self.at(instant) >= count).unwrap_or(about)
    }
}

/// The decrementer of one SPU; clones refer to the same.
///
/// It stands still until it is first written. Its event comes when it goes from zero to the
/// largest number, which is minus one.
#[derive(Clone)]
pub struct Decrementer {
    shared: Rc<Shared>,
}

struct Shared {
    timebase: Timebase,
    access: ChannelAccess,
    started: Cell<Option<Start>>,
}

#[derive(Clone, Copy)]
struct Start {
    value: u32,
    /// What the timebase showed.
    at: u64,
    /// Whether the event of this round is still to come.
    event: Option<SimTime>,
}

impl Decrementer {
    /// A decrementer that stands still; `access` is the time of a channel access.
    pub(super) fn new(timebase: Timebase, access: &ChannelAccess) -> Self {
        let started = Cell::default();
        Self { shared: Rc::new(Shared { timebase, access: access.clone(), started }) }
    }

    /// Starts it from `value`.
    pub async fn write(&self, value: u32) {
        let own = &*self.shared;
        own.access.pass().await;
        let at = own.timebase.at(own.access.sim.now());
        // A value that is negative already goes from zero to minus one only after going all the
        // way down.
        let event = Some(own.timebase.reaches(at + u64::from(value) + 1));
        own.started.set(Some(Start { value, at, event }));
    }

    /// What it shows; zero before it was first written.
    pub async fn read(&self) -> u32 {
        let own = &*self.shared;
        own.access.pass().await;
        own.started.get().map_or(0, |start| {
            let elapsed = own.timebase.at(own.access.sim.now()) - start.at;
            start.value.wrapping_sub(elapsed as u32)
        })
    }

    /// When its next event comes, if that has not been taken.
    pub(super) fn event_due(&self) -> Option<SimTime> {
        self.shared.started.get().and_then(|start| start.event)
    }

    /// Whether an event has come since the last call. Once round, which takes 54 s or more, it
    /// would come again: that is left out.
    pub(super) fn take_event(&self) -> bool {
        let own = &*self.shared;
        let Some(start) = own.started.get() else { return false };
        let has_come = start.event.is_some_and(|due| due <= own.access.sim.now());
        if has_come {
            own.started.set(Some(Start { event: None, ..start }));
        }
        has_come
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_counts_at_the_rate_of_the_timebase_and_goes_below_zero() {
        let sim = Sim::new();
        // A tick in 100 ns; a channel access takes no time.
        let timebase = Timebase::new(Hertz(1e7), 0.0);
        let decrementer = Decrementer::new(timebase, &ChannelAccess::new(&sim, SimSpan::ZERO));
        let clock = sim.clone();
        sim.spawn("SPE 0", async move {
            assert_eq!(decrementer.read().await, 0);
            decrementer.write(5).await;
            for (nanoseconds, shown) in [(0, 5), (99, 5), (100, 4), (550, 0), (650, u32::MAX)] {
                let instant = SimTime::ZERO + SimSpan::from_ticks(nanoseconds * 1_000_000);
                clock.sleep_until(instant).await;
                assert_eq!(decrementer.read().await, shown, "at {nanoseconds} ns");
                assert_eq!(decrementer.take_event(), nanoseconds == 650);
            }
        });
        sim.run().unwrap();
    }

    #[test]
    fn the_instant_of_a_count_is_the_first_that_shows_it() {
        // 14.318 MHz: no tick falls on a whole femtosecond.
        let timebase = Timebase::new(Hertz(14.318e6), 0.3);
        for count in [1, 2, 1000, 123_456_789] {
            let instant = timebase.reaches(count);
            let before = SimTime::ZERO + SimSpan::from_ticks(instant.ticks().saturating_sub(2_000));
            assert_eq!(timebase.at(instant), count);
            assert_eq!(timebase.at(before), count - 1);
        }
    }
}
