//! Lock lines: 128 bytes that an SPE loads with a reservation and stores only if it still has it.
//!
//! The atomic unit of an MFC keeps copies of lines. A line comes from the unit that has a copy, or
//! from memory. A store first invalidates all other copies; any write, by a lock-line command, a
//! transfer or the host, ends every reservation of the line and every other copy.
//!
//! Left out: that an atomic unit holds only a few lines, and that other transfers look into it.

use std::array;

use super::super::memory::{EffectiveAddress, LockLines, Supplier};
use super::Mfc;
use super::shared::Controller;
use crate::command::LockLine;
use crate::hazard::Touch;
use mmgp_base::error::Result;
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
    /// [`BusError`](crate::BusError) and [`Hazard`](crate::Hazard),
    /// as for [`Mfc::enqueue`].
    pub async fn getllar(&self, line: LockLine) -> Result<()> {
        let own = &*self.shared;
        own.begin_atomic("Getllar", &line, Touch::Writes).await?;
        // What is loaded is what the line holds when the request is seen by all, before it moves:
        // a store that comes meanwhile ends the reservation.
        let memory = own.eib.memory();
        let data: [Quadword; LINE_QUADWORDS] =
            array::from_fn(|number| memory.read(line.effective.offset(16 * number as u64)));
        own.reserve(line).await;
        let store = EffectiveAddress::local_store(own.spe, line.local);
        memory.write(store, data);
        own.detector.atomic("Getllar", line.effective, Touch::Reads)?;
        own.channel(own.access).await;
        Ok(())
    }

    /// `putllc`: puts a lock line if it is still reserved; ends the reservation.
    ///
    /// # Errors
    /// As [`Mfc::getllar`].
    pub async fn putllc(&self, line: LockLine) -> Result<AtomicStatus> {
        let own = &*self.shared;
        own.begin_atomic("Putllc", &line, Touch::Reads).await?;
        let status = own.claim_reserved(line).await;
        if status == AtomicStatus::Stored {
            own.detector.atomic("Putllc", line.effective, Touch::Writes)?;
            own.store_line(line);
        }
        own.channel(own.access).await;
        Ok(status)
    }

    /// Changes a line that several units change, where what it holds is its caller's to know: `getllar`
    /// until `may_change` says so of the line as it was loaded, then `putllc`; all again where the
    /// reservation was lost. `changed` hears of it when the line is stored. No data are moved.
    ///
    /// # Errors
    /// As [`Mfc::getllar`].
    pub async fn change_line(
        &self,
        at: EffectiveAddress,
        mut may_change: impl FnMut() -> bool,
        changed: impl FnOnce(),
    ) -> Result<()> {
        let own = &*self.shared;
        let line = LockLine { local: LocalAddress(0), effective: at };
        own.rules().lock_line("Getllar", &line, 0)?;
        own.meter.atomic();
        loop {
            own.channel(own.issue).await;
            let may_change = may_change();
            own.reserve(line).await;
            own.channel(own.access).await;
            if !may_change {
                continue;
            }
            own.channel(own.issue).await;
            let status = own.claim_reserved(line).await;
            if status == AtomicStatus::Stored {
                own.lines().written(at, LockLine::BYTES);
                own.lines().keep(own.spe, at);
                own.detector.changed_line(at);
                changed();
                break;
            }
            own.channel(own.access).await;
        }
        own.channel(own.access).await;
        Ok(())
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
        own.detector.atomic("Putlluc", line.effective, Touch::Writes)?;
        own.store_line(line);
        own.channel(own.access).await;
        Ok(())
    }
}

impl Controller {
    fn lines(&self) -> &LockLines {
        self.eib.memory().lock_lines()
    }

    async fn begin_atomic(&self, name: &'static str, line: &LockLine, touch: Touch) -> Result<()> {
        self.rules().lock_line(name, line, 0)?;
        self.detector.program(name, touch, (line.local, LockLine::BYTES), &self.store)?;
        self.meter.atomic();
        self.channel(self.issue).await;
        Ok(())
    }

    /// Reserves a line and brings it from where it is.
    async fn reserve(&self, line: LockLine) {
        let supplier = self.lines().supplier(self.spe, line.effective);
        self.lines().reserve(self.spe, line.effective);
        match supplier {
            Supplier::Own => self.sim.sleep(self.atomic).await,
            Supplier::Other(spe) => {
                self.fetch(EffectiveAddress::local_store(spe, LocalAddress(0)), line).await;
            }
            Supplier::Memory => self.fetch(line.effective, line).await,
        }
    }

    /// Claims a line if it is still reserved, and ends the reservation; whether it is to be stored.
    async fn claim_reserved(&self, line: LockLine) -> AtomicStatus {
        if self.lines().is_reserved(self.spe, line.effective) {
            self.claim(line).await;
        } else {
            self.sim.sleep(self.atomic).await;
        }
        // Another may have had the line first while this one was claiming it.
        let is_reserved = self.lines().is_reserved(self.spe, line.effective);
        self.lines().release(self.spe);
        if is_reserved { AtomicStatus::Stored } else { AtomicStatus::ReservationLost }
    }

    /// Brings a line from where it is into the atomic unit.
    async fn fetch(&self, from: EffectiveAddress, line: LockLine) {
        let to = EffectiveAddress::local_store(self.spe, line.local);
        let transfer = self.transfer(from, to, LockLine::BYTES);
        self.count_lines(from, LockLine::BYTES);
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
