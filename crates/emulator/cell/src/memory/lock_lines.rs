//! Which atomic units have copies of which lock lines, and which SPE has reserved one.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::address::{EffectiveAddress, LINE};
use crate::event::{EventFacility, Events};
use mmgp_base::units::Bytes;

/// Who has copies of which lock lines, and who has reserved one.
#[derive(Default)]
pub(crate) struct LockLines {
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
pub(crate) enum Supplier {
    /// The atomic unit that asks has it.
    Own,
    /// That of another SPE has it.
    Other(u32),
    /// Nobody has it.
    Memory,
}

impl LockLines {
    /// The loss of a reservation is an event for the SPE that had it.
    pub fn listen(&self, events: impl IntoIterator<Item = EventFacility>) {
        self.listeners.borrow_mut().extend(events);
    }

    /// Main memory or a local store was written.
    pub fn written(&self, at: EffectiveAddress, bytes: Bytes) {
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

    pub fn supplier(&self, spe: u32, at: EffectiveAddress) -> Supplier {
        match self.state.borrow().copies.get(&line_of(at)).map(Vec::as_slice) {
            Some(holders) if holders.contains(&spe) => Supplier::Own,
            Some([first, ..]) => Supplier::Other(*first),
            _ => Supplier::Memory,
        }
    }

    /// The SPE has a copy of the line and reserves it.
    pub fn reserve(&self, spe: u32, at: EffectiveAddress) {
        let mut state = self.state.borrow_mut();
        state.reserved.insert(spe, line_of(at));
        let holders = state.copies.entry(line_of(at)).or_default();
        if !holders.contains(&spe) {
            holders.push(spe);
        }
    }

    pub fn is_reserved(&self, spe: u32, at: EffectiveAddress) -> bool {
        self.state.borrow().reserved.get(&spe) == Some(&line_of(at))
    }

    /// The SPE gives its reservation up.
    pub fn release(&self, spe: u32) {
        self.state.borrow_mut().reserved.remove(&spe);
    }

    pub fn has_alone(&self, spe: u32, at: EffectiveAddress) -> bool {
        self.state.borrow().copies.get(&line_of(at)).is_some_and(|holders| holders == &[spe])
    }

    /// The SPE has written the line, which took it away from all others.
    pub fn keep(&self, spe: u32, at: EffectiveAddress) {
        self.state.borrow_mut().copies.insert(line_of(at), vec![spe]);
    }
}

/// The address of the line that a byte lies in.
const fn line_of(at: EffectiveAddress) -> u64 {
    at.0 / LINE * LINE
}
