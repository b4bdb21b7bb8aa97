//! The decrementer of an SPU, and its event facility: which events are pending, which are enabled, and waiting for them.
//!
//! An event stays pending until it is acknowledged, whether it is enabled or not; reading the
//! status waits until an enabled one is pending. The names and bits are those of the Cell
//! Broadband Engine Architecture, chapter on the SPU event facility.

use std::cell::Cell;
use std::ops::BitOr;
use std::rc::Rc;

use mmgp_base::units::{Hertz, Seconds, SimSpan, SimTime};
use mmgp_sim::{Sim, Watch, first_of};

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

    /// Time of so many ticks.
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
    shared: Rc<Countdown>,
}

struct Countdown {
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
        Self { shared: Rc::new(Countdown { timebase, access: access.clone(), started }) }
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

/// A set of events, as the bits of the event status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Events(pub u32);

impl Events {
    /// No event.
    pub const NONE: Self = Self(0);
    /// A tag group of the SPU's queue has become complete.
    pub const TAG_STATUS: Self = Self(0x1);
    /// A list stalls and asks to be acknowledged.
    pub const LIST_STALL: Self = Self(0x2);
    /// The full command queue has a free entry.
    pub const QUEUE_AVAILABLE: Self = Self(0x8);
    /// The inbound mailbox is no longer empty.
    pub const INBOUND_MAILBOX: Self = Self(0x10);
    /// The decrementer has gone below zero.
    pub const DECREMENTER: Self = Self(0x20);
    /// The outbound interrupt mailbox is no longer full.
    pub const INTERRUPT_MAILBOX_AVAILABLE: Self = Self(0x40);
    /// The outbound mailbox is no longer full.
    pub const OUTBOUND_MAILBOX_AVAILABLE: Self = Self(0x80);
    /// The second signal-notification register has been written.
    pub const SIGNAL_2: Self = Self(0x100);
    /// The first signal-notification register has been written.
    pub const SIGNAL_1: Self = Self(0x200);
    /// The reservation of a lock line was lost to another's write.
    pub const RESERVATION_LOST: Self = Self(0x400);

    /// Whether all of `events` are among these.
    pub(crate) const fn contains(self, events: Self) -> bool {
        self.0 & events.0 == events.0
    }

    const fn both(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

impl BitOr for Events {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// The event facility of one SPU; clones refer to the same.
#[derive(Clone)]
pub struct EventFacility {
    access: ChannelAccess,
    state: Watch<EventState>,
    decrementer: Decrementer,
}

#[derive(Default)]
struct EventState {
    pending: Events,
    enabled: Events,
}

impl EventFacility {
    /// No event is pending or enabled; `access` is the time of a channel access.
    pub(super) fn new(access: &ChannelAccess, decrementer: &Decrementer) -> Self {
        let state = Watch::new(&access.sim, "an enabled event", EventState::default());
        Self { access: access.clone(), state, decrementer: decrementer.clone() }
    }

    /// Chooses the events that [`EventFacility::wait`] waits for.
    pub async fn enable(&self, events: Events) {
        self.access.pass().await;
        self.state.update(|state| state.enabled = events);
    }

    /// Waits until an enabled event is pending; all that are.
    pub async fn wait(&self) -> Events {
        loop {
            let enabled = self.state.read(|state| state.enabled);
            let wanted = |state: &EventState| state.pending.both(state.enabled) != Events::NONE;
            let due = self.decrementer.event_due();
            let happened = self.state.wait_until(wanted);
            match due.filter(|_| enabled.contains(Events::DECREMENTER)) {
                Some(due) => {
                    first_of(happened, self.access.sim.sleep_until(due)).await;
                }
                None => happened.await,
            }
            self.note_decrementer();
            let found = self.state.read(|state| state.pending.both(state.enabled));
            if found != Events::NONE {
                self.access.pass().await;
                return found;
            }
        }
    }

    /// The enabled events that are pending, without waiting: the channel's count, and its value
    /// where that is not zero.
    pub async fn poll(&self) -> Events {
        self.access.pass().await;
        self.note_decrementer();
        self.state.read(|state| state.pending.both(state.enabled))
    }

    /// Ends the pending of `events`.
    pub async fn acknowledge(&self, events: Events) {
        self.access.pass().await;
        // A decrementer that went below zero before now must not be found again.
        self.note_decrementer();
        self.state.update(|state| state.pending = state.pending.without(events));
    }

    /// Something has happened.
    pub(super) fn raise(&self, events: Events) {
        // Nobody needs to look again at what is pending already.
        if !self.state.read(|state| state.pending.contains(events)) {
            self.state.update(|state| state.pending = state.pending | events);
        }
    }

    /// The decrementer's event is noted when the program looks: it comes by the clock alone, and a
    /// simulation should not last until an event that no program waits for.
    fn note_decrementer(&self) {
        if self.decrementer.take_event() {
            self.raise(Events::DECREMENTER);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mmgp_base::units::{Hertz, SimSpan, SimTime};
    use mmgp_sim::Sim;

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

    /// A facility whose channel accesses take 10 ticks, with a decrementer at a tick in a microsecond.
    fn facility() -> (Sim, EventFacility, Decrementer) {
        let sim = Sim::new();
        let access = &ChannelAccess::new(&sim, SimSpan::from_ticks(10));
        let timebase = Timebase::new(Hertz(1e6), 0.0);
        let decrementer = Decrementer::new(timebase, access);
        (sim.clone(), EventFacility::new(access, &decrementer), decrementer)
    }

    #[test]
    fn only_enabled_events_end_the_wait_and_only_acknowledging_ends_an_event() {
        let (sim, events, _) = facility();
        let raised = events.clone();
        let clock = sim.clone();
        sim.spawn("SPE 0", async move {
            events.enable(Events::SIGNAL_1 | Events::INBOUND_MAILBOX).await;
            assert_eq!(events.wait().await, Events::INBOUND_MAILBOX);
            // Raised at 200, and read by one channel access.
            assert_eq!(clock.now().ticks(), 210);
            assert_eq!(events.wait().await, Events::INBOUND_MAILBOX);
            events.acknowledge(Events::INBOUND_MAILBOX).await;
            assert_eq!(events.poll().await, Events::NONE);
            events.enable(Events::SIGNAL_2).await;
            assert_eq!(events.wait().await, Events::SIGNAL_2);
        });
        let own = sim.clone();
        sim.spawn("others", async move {
            own.sleep(SimSpan::from_ticks(100)).await;
            raised.raise(Events::SIGNAL_2);
            own.sleep(SimSpan::from_ticks(100)).await;
            raised.raise(Events::INBOUND_MAILBOX);
        });
        sim.run().unwrap();
    }

    #[test]
    fn the_decrementer_wakes_who_waits_for_it_and_does_not_prolong_the_run_of_who_does_not() {
        let wait = |enabled: Events| {
            let (sim, events, decrementer) = facility();
            sim.spawn("SPE 0", async move {
                decrementer.write(3).await;
                events.enable(enabled).await;
                if enabled != Events::NONE {
                    assert_eq!(events.wait().await, Events::DECREMENTER);
                    events.acknowledge(Events::DECREMENTER).await;
                    assert_eq!(events.poll().await, Events::NONE);
                }
            });
            sim.run().unwrap().since(SimTime::ZERO).seconds().0
        };
        assert!(wait(Events::NONE) < 1e-12);
        // 3, 2, 1, 0, then below zero with the fourth tick of 1 us.
        assert!((wait(Events::DECREMENTER) - 4e-6).abs() < 1e-12);
    }

    #[test]
    fn who_waits_for_an_event_that_nobody_raises_is_named() {
        let (sim, events, _) = facility();
        sim.spawn("SPE 5", async move {
            events.enable(Events::SIGNAL_1).await;
            events.wait().await;
        });
        let error = sim.run().unwrap_err().to_string();
        assert!(error.ends_with("SPE 5 waits for an enabled event"), "{error}");
    }
}
