//! Lock lines: 128 bytes that an SPE loads with a reservation and stores only if it still has it.
//!
//! The atomic unit of an MFC keeps copies of lines. A line comes from whoever has it; whoever stores
//! into it first takes it away from all others, and whatever writes to it, be it a lock-line
//! command, a transfer or the host, ends every reservation of it and every other copy.
//!
//! Left out: that an atomic unit holds only a few lines, and that other transfers look into it.

use std::array;
use std::cell::RefCell;
use std::collections::BTreeMap;

use super::super::event::{EventFacility, Events};
use super::super::memory::EffectiveAddress;
use super::command::LockLine;
use super::hazard::Touch;
use super::{Mfc, Shared};
use mmgp_base::error::Result;
use mmgp_base::units::Bytes;
use mmgp_spu::local_store::LocalAddress;
use mmgp_spu::register::Quadword;

const LINE_QUADWORDS: usize = (LockLine::BYTES.0 / 16) as usize;

/// What an atomic command reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtomicStatus {
    /// The line was stored.
    Stored,
    /// The reservation had been lost, and nothing was stored.
    ReservationLost,
}

impl Mfc {
    /// `getllar`: gets a lock line and reserves it, in place of the line reserved before; returns
    /// when the atomic status has been read.
    ///
    /// # Errors
    /// [`Error::Dma`](mmgp_base::error::Error::Dma) and [`Error::Hazard`](mmgp_base::error::Error::Hazard),
    /// as for [`Mfc::enqueue`].
    pub async fn getllar(&self, line: LockLine) -> Result<()> {
        let own = &*self.shared;
        own.begin_atomic("Getllar", &line, Touch::Writes).await?;
        let supplier = own.lines().supplier(own.spe, line.effective);
        // What is loaded is what the line holds when the request is seen by all, before it moves:
        // a store that comes meanwhile ends the reservation.
        let memory = own.eib.memory();
        let data: [Quadword; LINE_QUADWORDS] =
            array::from_fn(|number| memory.read(line.effective.offset(16 * number as u64)));
        own.lines().reserve(own.spe, line.effective);
        match supplier {
            Supplier::Own => own.sim.sleep(own.atomic).await,
            Supplier::Other(spe) => {
                own.fetch(EffectiveAddress::local_store(spe, LocalAddress(0)), line).await;
            }
            Supplier::Memory => own.fetch(line.effective, line).await,
        }
        let store = EffectiveAddress::local_store(own.spe, line.local);
        memory.write(store, data);
        own.sim.sleep(own.access).await;
        Ok(())
    }

    /// `putllc`: puts a lock line if it is still reserved; ends the reservation.
    ///
    /// # Errors
    /// As [`Mfc::getllar`].
    pub async fn putllc(&self, line: LockLine) -> Result<AtomicStatus> {
        let own = &*self.shared;
        own.begin_atomic("Putllc", &line, Touch::Reads).await?;
        if own.lines().is_reserved(own.spe, line.effective) {
            own.claim(line).await;
        } else {
            own.sim.sleep(own.atomic).await;
        }
        // Another may have had the line first while this one was claiming it.
        let is_reserved = own.lines().is_reserved(own.spe, line.effective);
        own.lines().release(own.spe);
        let status = if is_reserved {
            own.store_line(line);
            AtomicStatus::Stored
        } else {
            AtomicStatus::ReservationLost
        };
        own.sim.sleep(own.access).await;
        Ok(status)
    }

    /// `putlluc`: puts a lock line whether it is reserved or not; ends the reservation.
    ///
    /// # Errors
    /// As [`Mfc::getllar`].
    pub async fn putlluc(&self, line: LockLine) -> Result<()> {
        let own = &*self.shared;
        own.begin_atomic("Putlluc", &line, Touch::Reads).await?;
        own.claim(line).await;
        own.lines().release(own.spe);
        own.store_line(line);
        own.sim.sleep(own.access).await;
        Ok(())
    }
}

impl Shared {
    fn lines(&self) -> &LockLines {
        self.eib.memory().lock_lines()
    }

    async fn begin_atomic(&self, name: &'static str, line: &LockLine, touch: Touch) -> Result<()> {
        self.rules().lock_line(name, line, 0)?;
        self.detector.program(name, touch, line.local, LockLine::BYTES)?;
        self.sim.sleep(self.issue).await;
        Ok(())
    }

    /// Brings a line from where it is into the atomic unit.
    async fn fetch(&self, from: EffectiveAddress, line: LockLine) {
        let to = EffectiveAddress::local_store(self.spe, line.local);
        let transfer = self.transfer(from, to, LockLine::BYTES);
        self.sim.sleep(self.latency(&transfer)).await;
        self.eib.carry(&transfer).await;
    }

    /// Makes the atomic unit the only one that has the line.
    pub(super) async fn claim(&self, line: LockLine) {
        let alone = self.lines().has_alone(self.spe, line.effective);
        self.sim.sleep(if alone { self.atomic } else { self.claim }).await;
    }

    /// Stores a line that has been claimed.
    pub(super) fn store_line(&self, line: LockLine) {
        let store = EffectiveAddress::local_store(self.spe, line.local);
        self.eib.memory().copy(store, line.effective, LockLine::BYTES);
        self.lines().keep(self.spe, line.effective);
    }
}

/// Who has copies of which lock lines, and who has reserved one.
#[derive(Default)]
pub struct LockLines {
    state: RefCell<State>,
    /// Where each SPE hears of the loss of its reservation, by its number.
    listeners: RefCell<Vec<EventFacility>>,
}

#[derive(Default)]
struct State {
    /// The line that each SPE has reserved.
    reserved: BTreeMap<u32, u64>,
    /// The SPEs whose atomic units have a line, the one that supplies it first.
    copies: BTreeMap<u64, Vec<u32>>,
}

/// Where a lock line comes from.
enum Supplier {
    /// The atomic unit that asks has it.
    Own,
    /// That of another SPE has it.
    Other(u32),
    /// Nobody has it.
    Memory,
}

impl LockLines {
    /// The loss of a reservation is an event for the SPE that had it.
    pub(in super::super) fn listen(&self, events: impl IntoIterator<Item = EventFacility>) {
        self.listeners.borrow_mut().extend(events);
    }

    /// Main memory or a local store was written.
    pub(in super::super) fn written(&self, at: EffectiveAddress, bytes: Bytes) {
        let mut state = self.state.borrow_mut();
        if state.copies.is_empty() || bytes.0 == 0 {
            // Whoever has a reservation has a copy.
            return;
        }
        let lines = line_of(at)..=line_of(at.offset(bytes.0 - 1));
        while let Some((&line, _)) = state.copies.range(lines.clone()).next() {
            state.copies.remove(&line);
        }
        let lost: Vec<u32> = state
            .reserved
            .iter()
            .filter(|(_, line)| lines.contains(line))
            .map(|(&spe, _)| spe)
            .collect();
        for spe in lost {
            state.reserved.remove(&spe);
            if let Some(events) = self.listeners.borrow().get(spe as usize) {
                events.raise(Events::RESERVATION_LOST);
            }
        }
    }

    fn supplier(&self, spe: u32, at: EffectiveAddress) -> Supplier {
        match self.state.borrow().copies.get(&line_of(at)).map(Vec::as_slice) {
            Some(holders) if holders.contains(&spe) => Supplier::Own,
            Some([first, ..]) => Supplier::Other(*first),
            _ => Supplier::Memory,
        }
    }

    /// The SPE has a copy of the line and reserves it.
    fn reserve(&self, spe: u32, at: EffectiveAddress) {
        let mut state = self.state.borrow_mut();
        state.reserved.insert(spe, line_of(at));
        let holders = state.copies.entry(line_of(at)).or_default();
        if !holders.contains(&spe) {
            holders.push(spe);
        }
    }

    fn is_reserved(&self, spe: u32, at: EffectiveAddress) -> bool {
        self.state.borrow().reserved.get(&spe) == Some(&line_of(at))
    }

    /// The SPE gives its reservation up.
    fn release(&self, spe: u32) {
        self.state.borrow_mut().reserved.remove(&spe);
    }

    fn has_alone(&self, spe: u32, at: EffectiveAddress) -> bool {
        self.state.borrow().copies.get(&line_of(at)).is_some_and(|holders| holders == &[spe])
    }

    /// The SPE has written the line, which took it away from all others.
    fn keep(&self, spe: u32, at: EffectiveAddress) {
        self.state.borrow_mut().copies.insert(line_of(at), vec![spe]);
    }
}

/// The address of the line that a byte lies in.
const fn line_of(at: EffectiveAddress) -> u64 {
    at.0 / LockLine::BYTES.0 * LockLine::BYTES.0
}
