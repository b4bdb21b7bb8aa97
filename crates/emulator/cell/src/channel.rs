//! The channels of an SPU other than those of its MFC: what connects it with everybody else.
//!
//! Mailboxes are short queues of 32-bit words between an SPU and everybody else.
//!
//! The SPU waits where it reads an empty mailbox or writes a full one. Others never wait: their
//! access to a register of the SPE is done at once, so a write into a full inbound mailbox
//! overwrites its last entry, and a read of an empty outbound one yields nothing. The time of
//! such an access is that of a store to, or a load from, the SPE ([`HostProcess`](super::HostProcess)).

use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use crate::event::{ChannelAccess, Decrementer, EventFacility, Events, Timebase};
use crate::hazard::{Detector, Mail};
use mmgp_machine::Machine;
use mmgp_sim::{Reason, Sim, Watch};
use mmgp_spu::local_store::LocalAddress;

pub use crate::memory::Signal;

/// Mailboxes, signal notification, decrementer and events of one SPU, and what others have put into
/// its local store.
pub(super) struct Channels {
    pub inbound_mailbox: InboundMailbox,
    pub outbound_mailbox: OutboundMailbox,
    pub interrupt_mailbox: OutboundMailbox,
    pub signals: [SignalRegister; 2],
    pub decrementer: Decrementer,
    pub events: EventFacility,
    /// Transfers of other SPEs that have arrived in the local store.
    pub arrivals: Watch<Arrivals>,
}

/// How many transfers of other SPEs have arrived at each address of a local store since the SPE was
/// last told to forget them.
#[derive(Default)]
pub(super) struct Arrivals(BTreeMap<u32, u64>);

impl Arrivals {
    pub fn add(&mut self, at: LocalAddress) {
        *self.0.entry(at.0).or_default() += 1;
    }

    pub fn at(&self, at: LocalAddress) -> u64 {
        self.0.get(&at.0).copied().unwrap_or(0)
    }

    pub fn forget(&mut self) {
        self.0.clear();
    }
}

impl Channels {
    /// The channels of an SPE at rest.
    pub fn new(
        (sim, spe): (&Sim, u32),
        machine: &Machine,
        timebase: Timebase,
        detector: &Detector,
    ) -> Self {
        let access = &ChannelAccess::new(sim, machine.spu.channel.at(machine.clock));
        let sizes = &machine.mfc;
        let decrementer = Decrementer::new(timebase, access);
        let events = EventFacility::new(access, &decrementer);
        let outbound =
            |entries, kind| OutboundMailbox::new((access, spe), entries, kind, &events, detector);
        Self {
            inbound_mailbox: InboundMailbox::new(access, sizes.inbound_mailbox, &events, detector),
            outbound_mailbox: outbound(sizes.outbound_mailbox, Outbound::Polled),
            interrupt_mailbox: outbound(sizes.interrupt_mailbox, Outbound::Interrupt),
            signals: Signal::ALL
                .map(|signal| SignalRegister::new(access, signal, &events, detector)),
            decrementer,
            events,
            arrivals: Watch::new(sim, "a put of another SPE", Arrivals::default()),
        }
    }

    /// One of the two signal-notification registers.
    pub fn signal(&self, signal: Signal) -> &SignalRegister {
        match signal {
            Signal::One => &self.signals[0],
            Signal::Two => &self.signals[1],
        }
    }
}

/// Words on their way to an SPU; clones refer to the same.
#[derive(Clone)]
pub struct InboundMailbox {
    shared: Rc<Mailbox>,
}

/// Words on their way out of an SPU; clones refer to the same.
#[derive(Clone)]
pub struct OutboundMailbox {
    shared: Rc<Mailbox>,
    /// What others call the words that they wait for.
    arrival: Reason,
    available: Events,
}

struct Mailbox {
    access: ChannelAccess,
    entries: usize,
    words: Watch<VecDeque<u32>>,
    events: EventFacility,
    detector: Detector,
    mail: Mail,
}

impl Mailbox {
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
        let shared = Mailbox::new(access, entries, name, events, detector);
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
        let shared = Mailbox::new(access, entries, (&its, mail), events, detector);
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

/// What a write does to a value that has not been read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignalMode {
    /// Replaces it: for one sender.
    Overwrite,
    /// Adds its bits: for many senders, each with bits of its own.
    Or,
}

/// The event that a write to a register raises.
const fn event(signal: Signal) -> Events {
    match signal {
        Signal::One => Events::SIGNAL_1,
        Signal::Two => Events::SIGNAL_2,
    }
}

/// One signal-notification register; clones refer to the same.
#[derive(Clone)]
pub struct SignalRegister {
    shared: Rc<Register>,
}

struct Register {
    access: ChannelAccess,
    signal: Signal,
    mode: Cell<SignalMode>,
    /// What was written since the SPU last read it.
    value: Watch<Option<u32>>,
    events: EventFacility,
    detector: Detector,
}

impl SignalRegister {
    pub(super) fn new(
        access: &ChannelAccess,
        signal: Signal,
        events: &EventFacility,
        detector: &Detector,
    ) -> Self {
        let name = match signal {
            Signal::One => "its signal 1",
            Signal::Two => "its signal 2",
        };
        let shared = Register {
            access: access.clone(),
            signal,
            mode: Cell::new(SignalMode::Overwrite),
            value: Watch::new(&access.sim, name, None),
            events: events.clone(),
            detector: detector.clone(),
        };
        Self { shared: Rc::new(shared) }
    }

    /// Sets the mode, as the PPE does when it prepares the SPE; overwriting at first.
    pub fn set_mode(&self, mode: SignalMode) {
        self.shared.mode.set(mode);
    }

    /// The SPU's read: waits until the register has been written, and clears it.
    pub async fn read(&self) -> u32 {
        let own = &*self.shared;
        own.value.wait_until(Option::is_some).await;
        own.access.pass().await;
        own.detector.heard_signal(own.signal);
        own.value.update(Option::take).unwrap_or_default()
    }

    /// The SPU's count: 1 where a read would not wait.
    pub async fn count(&self) -> u32 {
        let own = &*self.shared;
        own.access.pass().await;
        own.value.read(|value| u32::from(value.is_some()))
    }

    /// A write from outside that has arrived.
    pub(crate) fn write(&self, value: u32) {
        let own = &*self.shared;
        own.value.update(|unread| {
            let kept = match own.mode.get() {
                SignalMode::Overwrite => 0,
                SignalMode::Or => unread.unwrap_or_default(),
            };
            *unread = Some(kept | value);
        });
        own.events.raise(event(own.signal));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EffectiveAddress;
    use crate::event::{Decrementer, Timebase};
    use mmgp_base::units::{Hertz, SimSpan};
    use mmgp_sim::Sim;

    const ACCESS: SimSpan = SimSpan::from_ticks(10);

    fn bench() -> (Sim, InboundMailbox, OutboundMailbox, EventFacility) {
        let sim = Sim::new();
        let access = &ChannelAccess::new(&sim, ACCESS);
        let decrementer = Decrementer::new(Timebase::new(Hertz(1e6), 0.0), access);
        let events = EventFacility::new(access, &decrementer);
        let stores: [_; 4] = std::array::from_fn(|_| Rc::default());
        let detector = super::super::hazard::Watchdog::new(&sim).blade(&stores).of(3);
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

    fn register(mode: SignalMode) -> (Sim, SignalRegister) {
        let sim = Sim::new();
        let access = &ChannelAccess::new(&sim, SimSpan::from_ticks(10));
        let decrementer = Decrementer::new(Timebase::new(Hertz(1e6), 0.0), access);
        let events = EventFacility::new(access, &decrementer);
        let stores: [_; 1] = std::array::from_fn(|_| Rc::default());
        let detector = crate::hazard::Watchdog::new(&sim).blade(&stores);
        let register = SignalRegister::new(access, Signal::One, &events, &detector);
        register.set_mode(mode);
        (sim, register)
    }

    /// What the SPU reads after two writes, and how many more reads would not wait.
    fn after_two_writes(mode: SignalMode) -> u32 {
        let (sim, register) = register(mode);
        register.write(0b0101);
        register.write(0b0011);
        let read = Rc::new(Cell::new(0));
        let found = Rc::clone(&read);
        sim.spawn("SPE 0", async move {
            assert_eq!(register.count().await, 1);
            found.set(register.read().await);
            assert_eq!(register.count().await, 0);
        });
        sim.run().unwrap();
        read.get()
    }

    #[test]
    fn an_unread_value_is_overwritten_or_gathers_bits() {
        assert_eq!(after_two_writes(SignalMode::Overwrite), 0b0011);
        assert_eq!(after_two_writes(SignalMode::Or), 0b0111);
    }

    #[test]
    fn a_read_waits_for_a_write() {
        let (sim, register) = register(SignalMode::Overwrite);
        let (own, written) = (sim.clone(), register.clone());
        sim.spawn("other", async move {
            own.sleep(SimSpan::from_ticks(100)).await;
            written.write(7);
        });
        sim.spawn("SPE 0", async move {
            assert_eq!(register.read().await, 7);
            register.read().await;
        });
        let error = sim.run().unwrap_err().to_string();
        assert!(error.ends_with("SPE 0 waits for its signal 1"), "{error}");
    }

    #[test]
    fn an_address_names_the_register_of_an_spe() {
        for signal in Signal::ALL {
            assert_eq!(Signal::at(signal.address(11)), Some((11, signal)));
        }
        assert_eq!(Signal::at(EffectiveAddress::problem_state(11, 0x4024)), None);
        assert_eq!(Signal::at(EffectiveAddress(0x1400C)), None);
    }
}
