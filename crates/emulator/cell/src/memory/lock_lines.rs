//! Which atomic units have copies of which lock lines, and which SPE has reserved one.
//!
//! Memory banks: consecutive lines belong to consecutive banks, and a bank is busy for a while with
//! each line.
//!
//! A transfer of as many lines as there are banks asks all of them alike and is limited by the
//! controller alone; a shorter one waits for its own banks. So a list whose elements are a multiple
//! of all banks apart gets one line in a bank's cycle, and neighbours overlap.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::event::{EventFacility, Events};
use crate::memory::address::{EffectiveAddress, LINE};
use mmgp_base::units::{Bytes, SimSpan, SimTime};

/// Who has copies of which lock lines, and who has reserved one.
#[derive(Default)]
pub(crate) struct LockLines {
    state: RefCell<LineState>,
    /// Event facilities that hear of the loss of reservations, by number of the SPE.
    listeners: RefCell<Vec<EventFacility>>,
}

#[derive(Default)]
struct LineState {
    /// The line that each SPE has reserved.
    reserved: BTreeMap<u32, u64>,
    /// The SPEs whose atomic units have a line, the one that supplies it first.
    copies: BTreeMap<u64, Vec<u32>>,
}

/// Unit from which a lock line comes.
pub(crate) enum Supplier {
    /// The atomic unit that asks has it.
    Own,
    /// Atomic unit of another SPE.
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

/// The banks of one Cell's memory.
#[derive(Clone)]
pub(crate) struct Banks {
    /// When each of them has done its last access.
    free: Vec<SimTime>,
    cycle: SimSpan,
}

impl Banks {
    /// Banks at rest.
    pub fn new(machine: &mmgp_machine::Banks) -> Self {
        let free = vec![SimTime::ZERO; machine.count as usize];
        Self { free, cycle: SimSpan::from_seconds(machine.cycle) }
    }

    /// When all of them have done their last access.
    pub fn all_free(&self) -> SimTime {
        self.free.iter().copied().max().unwrap_or(SimTime::ZERO)
    }

    /// Enters an access to `lines` lines from the one numbered `first` on, each of which keeps its bank
    /// busy for a cycle, and tells when the last of its banks can begin with it.
    pub fn occupy(&mut self, first: u64, lines: u64, now: SimTime) -> SimTime {
        let banks = self.free.len() as u64;
        if lines >= banks {
            return now;
        }
        let mut begins = now;
        // The lines' banks follow one another, and after the last comes the first.
        let (before, from) = self.free.split_at_mut((first % banks) as usize);
        for free in from.iter_mut().chain(before).take(lines as usize) {
            let begin = (*free).max(now);
            *free = begin + self.cycle;
            begins = begins.max(begin);
        }
        begins
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mmgp_base::units::Seconds;

    fn at(nanoseconds: u64) -> SimTime {
        SimTime::ZERO + SimSpan::from_ticks(1_000_000 * nanoseconds)
    }

    #[test]
    fn an_access_waits_for_its_own_banks_only() {
        let mut banks = Banks::new(&mmgp_machine::Banks { count: 4, cycle: Seconds(50e-9) });
        assert_eq!(banks.occupy(0, 1, at(0)), at(0));
        assert_eq!(banks.occupy(1, 1, at(0)), at(0));
        // Bank 0 again: its cycle of 50 ns; and once more.
        assert_eq!(banks.occupy(4, 1, at(10)), at(50));
        assert_eq!(banks.occupy(8, 1, at(10)), at(100));
        // Banks 3 and 0: the later one decides.
        assert_eq!(banks.occupy(3, 2, at(20)), at(150));
        assert_eq!(banks.occupy(7, 1, at(20)), at(70));
        // All banks: nobody waits.
        assert_eq!(banks.occupy(0, 4, at(20)), at(20));
    }
}
