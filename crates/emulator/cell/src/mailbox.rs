//! Mailboxes: short queues of 32-bit words between an SPU and everybody else.
//!
//! The SPU waits where it reads an empty mailbox or writes a full one. Others never wait: their
//! access to a register of the SPE is done at once, so a write into a full inbound mailbox
//! overwrites its last entry, and a read of an empty outbound one yields nothing. The time of
//! such an access is that of a store to, or a load from, the SPE ([`HostProcess`](super::HostProcess)).

use std::collections::VecDeque;
use std::rc::Rc;

use super::decrementer::ChannelAccess;
use super::event::{EventFacility, Events};
use super::hazard::{Detector, Mail};
use mmgp_sim::{Reason, Watch};

/// Words on their way to an SPU; clones refer to the same.
#[derive(Clone)]
pub struct InboundMailbox {
    shared: Rc<Shared>,
}

/// Words on their way out of an SPU; clones refer to the same.
#[derive(Clone)]
pub struct OutboundMailbox {
    shared: Rc<Shared>,
    /// What others call the words that they wait for.
    arrival: Reason,
    available: Events,
}

struct Shared {
    access: ChannelAccess,
    entries: usize,
    words: Watch<VecDeque<u32>>,
    events: EventFacility,
    detector: Detector,
    mail: Mail,
}

impl Shared {
    fn new(
        access: &ChannelAccess,
        entries: u32,
        (name, mail): (&str, Mail),
        events: &EventFacility,
        detector: &Detector,
    ) -> Self {
        Self {
            access: access.clone(),
            entries: entries as usize,
            words: Watch::new(&access.sim, name, VecDeque::new()),
            events: events.clone(),
            detector: detector.clone(),
            mail,
        }
    }
}

impl InboundMailbox {
    pub(super) fn new(
        access: &ChannelAccess,
        entries: u32,
        events: &EventFacility,
        detector: &Detector,
    ) -> Self {
        let name = ("its inbound mailbox", Mail::Inbound);
        let shared = Shared::new(access, entries, name, events, detector);
        Self { shared: Rc::new(shared) }
    }

    /// The SPU's read: waits for a word.
    pub async fn read(&self) -> u32 {
        let own = &*self.shared;
        loop {
            own.words.wait_until(|words| !words.is_empty()).await;
            own.access.pass().await;
            if let Some(word) = own.words.update(VecDeque::pop_front) {
                own.detector.fetched(own.mail);
                return word;
            }
        }
    }

    /// The SPU's count: words that can be read without waiting.
    pub async fn count(&self) -> u32 {
        self.shared.access.pass().await;
        self.shared.words.read(|words| words.len() as u32)
    }

    /// A word from outside that has arrived. Where the mailbox is full it takes the place of the
    /// last one, which is lost.
    pub(crate) fn write(&self, word: u32) {
        let own = &*self.shared;
        let is_full = own.words.read(|words| words.len() == own.entries);
        own.detector.posted(own.mail, is_full);
        own.words.update(|words| {
            if is_full {
                words.pop_back();
            }
            words.push_back(word);
        });
        own.events.raise(Events::INBOUND_MAILBOX);
    }
}

/// Which of the two outbound mailboxes.
#[derive(Clone, Copy)]
pub(super) enum Outbound {
    /// The one that others poll.
    Polled,
    /// The one whose words raise an interrupt.
    Interrupt,
}

impl OutboundMailbox {
    pub(super) fn new(
        (access, spe): (&ChannelAccess, u32),
        entries: u32,
        kind: Outbound,
        events: &EventFacility,
        detector: &Detector,
    ) -> Self {
        let (name, mail, available) = match kind {
            Outbound::Polled => {
                ("outbound mailbox", Mail::Outbound, Events::OUTBOUND_MAILBOX_AVAILABLE)
            }
            Outbound::Interrupt => {
                let available = Events::INTERRUPT_MAILBOX_AVAILABLE;
                ("outbound interrupt mailbox", Mail::Interrupt, available)
            }
        };
        let its = format!("its {name}");
        let shared = Shared::new(access, entries, (&its, mail), events, detector);
        let arrival = access.sim.reason(&format!("the {name} of SPE {spe}"));
        Self { shared: Rc::new(shared), arrival, available }
    }

    /// The SPU's write: waits for a free entry.
    pub async fn write(&self, word: u32) {
        let own = &*self.shared;
        own.words.wait_until(|words| words.len() < own.entries).await;
        own.access.pass().await;
        own.detector.posted(own.mail, false);
        own.words.update(|words| words.push_back(word));
    }

    /// Takes a word from outside, if there is one.
    pub(crate) fn take(&self) -> Option<u32> {
        let word = self.shared.words.update(VecDeque::pop_front)?;
        self.shared.detector.fetched(self.shared.mail);
        self.shared.events.raise(self.available);
        Some(word)
    }

    /// Waits from outside until there is a word: what the interrupt of an interrupt mailbox stands
    /// for, or a program that polls. What the polling or the interrupt costs is the caller's.
    pub async fn arrival(&self) {
        self.shared.words.wait_for(self.arrival, |words| !words.is_empty()).await;
    }
}

#[cfg(test)]
mod tests {
    use super::super::decrementer::{Decrementer, Timebase};
    use super::*;
    use mmgp_base::units::{Hertz, SimSpan};
    use mmgp_sim::Sim;

    const ACCESS: SimSpan = SimSpan::from_ticks(10);

    fn bench() -> (Sim, InboundMailbox, OutboundMailbox, EventFacility) {
        let sim = Sim::new();
        let access = &ChannelAccess::new(&sim, ACCESS);
        let decrementer = Decrementer::new(Timebase::new(Hertz(1e6), 0.0), access);
        let events = EventFacility::new(access, &decrementer);
        let stores: [_; 4] = std::array::from_fn(|_| Rc::default());
        let detector = super::super::hazard::Core::new(&sim).blade(&stores).of(3);
        let inbound = InboundMailbox::new(access, 4, &events, &detector);
        let outbound = OutboundMailbox::new((access, 3), 1, Outbound::Polled, &events, &detector);
        (sim, inbound, outbound, events)
    }

    #[test]
    fn the_fifth_unread_word_overwrites_the_fourth() {
        let (sim, inbound, ..) = bench();
        (1..=5).for_each(|word| inbound.write(word));
        sim.spawn("SPE 3", async move {
            for word in [1, 2, 3, 5] {
                assert_eq!(inbound.read().await, word);
            }
            assert_eq!(inbound.count().await, 0);
        });
        // Five accesses of 10 ticks.
        assert_eq!(sim.run().unwrap().ticks(), 50);
    }

    #[test]
    fn the_spu_waits_while_its_outbound_mailbox_is_full() {
        let (sim, _, outbound, events) = bench();
        let (own, reader) = (sim.clone(), outbound.clone());
        sim.spawn("rank 0", async move {
            reader.arrival().await;
            own.sleep(SimSpan::from_ticks(100)).await;
            assert_eq!((reader.take(), reader.take()), (Some(1), None));
            reader.arrival().await;
            assert_eq!(reader.take(), Some(2));
        });
        let clock = sim.clone();
        sim.spawn("SPE 3", async move {
            outbound.write(1).await;
            outbound.write(2).await;
            // Written at 10, taken at 110, written again one access later.
            assert_eq!(clock.now().ticks(), 120);
            events.enable(Events::OUTBOUND_MAILBOX_AVAILABLE).await;
            assert_eq!(events.poll().await, Events::OUTBOUND_MAILBOX_AVAILABLE);
        });
        sim.run().unwrap();
    }

    #[test]
    fn a_deadlock_says_whose_mailbox_is_waited_for() {
        let (sim, inbound, outbound, _) = bench();
        sim.spawn("SPE 3", async move {
            inbound.read().await;
        });
        sim.spawn("rank 0", async move { outbound.arrival().await });
        assert_eq!(
            sim.run().unwrap_err().to_string(),
            "deadlock at 0.000 s: SPE 3 waits for its inbound mailbox; \
             rank 0 waits for the outbound mailbox of SPE 3"
        );
    }
}
