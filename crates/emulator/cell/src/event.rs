//! The SPU's event facility: which events are pending, which are enabled, and waiting for them.
//!
//! An event stays pending until it is acknowledged, whether it is enabled or not; reading the
//! status waits until an enabled one is pending. The names and bits are those of the Cell
//! Broadband Engine Architecture, chapter on the SPU event facility.

use std::ops::BitOr;

use super::decrementer::{ChannelAccess, Decrementer};
use mmgp_sim::{Watch, first_of};

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
    state: Watch<State>,
    decrementer: Decrementer,
}

#[derive(Default)]
struct State {
    pending: Events,
    enabled: Events,
}

impl EventFacility {
    /// No event is pending or enabled; `access` is the time of a channel access.
    pub(super) fn new(access: &ChannelAccess, decrementer: &Decrementer) -> Self {
        let state = Watch::new(&access.sim, "an enabled event", State::default());
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
            let wanted = |state: &State| state.pending.both(state.enabled) != Events::NONE;
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
    use super::super::decrementer::Timebase;
    use super::*;
    use mmgp_base::units::{Hertz, SimSpan, SimTime};
    use mmgp_sim::Sim;

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
