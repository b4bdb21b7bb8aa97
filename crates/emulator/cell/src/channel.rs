//! The channels of an SPU other than those of its MFC: what connects it with everybody else.

use std::collections::BTreeMap;

use super::decrementer::{ChannelAccess, Decrementer, Timebase};
use super::event::EventFacility;
use super::hazard::Detector;
use super::mailbox::{InboundMailbox, Outbound, OutboundMailbox};
use super::signal::{Signal, SignalRegister};
use mmgp_machine::Machine;
use mmgp_sim::{Sim, Watch};
use mmgp_spu::local_store::LocalAddress;

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
