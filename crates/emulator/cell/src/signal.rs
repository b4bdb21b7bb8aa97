//! Signal notification: two 32-bit registers of each SPE that others write and its SPU reads.

use std::cell::Cell;
use std::rc::Rc;

use super::decrementer::ChannelAccess;
use super::event::{EventFacility, Events};
use super::hazard::Detector;
use super::memory::{EffectiveAddress, Place};
use mmgp_sim::Watch;

/// Which of the two registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// Signal notification 1.
    One,
    /// Signal notification 2.
    Two,
}

impl Signal {
    /// Both.
    pub const ALL: [Self; 2] = [Self::One, Self::Two];

    /// Where the register lies in the problem state of an SPE, by the Cell Broadband Engine
    /// Architecture.
    const fn offset(self) -> u32 {
        match self {
            Self::One => 0x1400C,
            Self::Two => 0x1C00C,
        }
    }

    /// The effective address of this register of an SPE.
    pub const fn address(self, spe: u32) -> EffectiveAddress {
        EffectiveAddress::problem_state(spe, self.offset())
    }

    /// The SPE and the register at an address, if it is one.
    pub(super) fn at(address: EffectiveAddress) -> Option<(u32, Self)> {
        let Some(Place::ProblemState { spe, offset }) = address.place() else { return None };
        Self::ALL.into_iter().find(|signal| signal.offset() == offset).map(|signal| (spe, signal))
    }

    const fn event(self) -> Events {
        match self {
            Self::One => Events::SIGNAL_1,
            Self::Two => Events::SIGNAL_2,
        }
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

/// One signal-notification register; clones refer to the same.
#[derive(Clone)]
pub struct SignalRegister {
    shared: Rc<Shared>,
}

struct Shared {
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
        let shared = Shared {
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
        own.events.raise(own.signal.event());
    }
}

#[cfg(test)]
mod tests {
    use super::super::decrementer::{Decrementer, Timebase};
    use super::*;
    use mmgp_base::units::{Hertz, SimSpan};
    use mmgp_sim::Sim;

    fn register(mode: SignalMode) -> (Sim, SignalRegister) {
        let sim = Sim::new();
        let access = &ChannelAccess::new(&sim, SimSpan::from_ticks(10));
        let decrementer = Decrementer::new(Timebase::new(Hertz(1e6), 0.0), access);
        let events = EventFacility::new(access, &decrementer);
        let stores: [_; 1] = std::array::from_fn(|_| Rc::default());
        let detector = super::super::hazard::Core::new(&sim).blade(&stores);
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
