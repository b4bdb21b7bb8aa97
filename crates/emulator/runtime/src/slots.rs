//! The structures in local stores through which host and SPEs tell each other of calls.

use std::cell::Cell;

use crate::call::{Call, Signalling, Teams};
use crate::course::Course;
use crate::leases::Lease;
use mmgp_cell::{Blade, Spe};
use mmgp_sim::{Sim, Watch};

/// The structures in the local stores through which host and SPEs talk.
pub(crate) struct Slots {
    /// Slots by number of the SPE.
    pub slots: Vec<Slot>,
    pub signalling: Cell<Signalling>,
    pub teams: Cell<Teams>,
}

/// What an SPE is told of a call.
#[derive(Clone)]
pub(crate) struct Told {
    /// Whose call it is.
    pub process: u32,
    pub call: Call,
    pub course: Course,
}

pub(crate) struct Slot {
    pub spe: Spe,
    /// How many calls there were, and the last of them.
    pub start: Watch<(u64, Option<Told>)>,
    /// How many have been served.
    pub stopped: Watch<u64>,
}

impl Slots {
    pub fn new(blade: &Blade) -> Self {
        let slots =
            (0..blade.machine.layout.spes()).map(|spe| Slot::new(&blade.sim, blade.spe(spe)));
        Self {
            slots: slots.collect(),
            signalling: Cell::new(Signalling::Memory),
            teams: Cell::default(),
        }
    }

    /// The SPE with that number.
    pub fn spe(&self, spe: u32) -> &Spe {
        &self.slots[spe as usize].spe
    }

    /// How many of so many SPEs the host talks with.
    pub fn told_by_host(&self, shares: usize) -> usize {
        match self.teams.get() {
            Teams::ByHost => shares,
            Teams::ByMaster => 1,
        }
    }

    /// Slots of the SPEs of a lease, each with what stands beside it.
    pub fn of<'a, T>(
        &'a self,
        lease: &Lease,
        beside: impl IntoIterator<Item = T>,
    ) -> impl Iterator<Item = (&'a Slot, T)> {
        lease.spes().iter().map(|&spe| &self.slots[spe as usize]).zip(beside)
    }
}

impl Slot {
    pub fn new(sim: &Sim, spe: &Spe) -> Self {
        let number = spe.index;
        Self {
            spe: spe.clone(),
            start: Watch::new(sim, &format!("the start flag of SPE {number}"), (0, None)),
            stopped: Watch::new(sim, &format!("the stop flag of SPE {number}"), 0),
        }
    }

    /// Tells the SPE of a call; the number of its calls so far.
    pub fn tell(&self, told: Told) -> u64 {
        self.start.update(|(count, start)| {
            *count += 1;
            *start = Some(told);
            *count
        })
    }
}
