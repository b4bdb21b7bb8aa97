//! Memory banks: consecutive lines belong to consecutive banks, and a bank is busy for a while with
//! each line.
//!
//! A transfer of as many lines as there are banks asks all of them alike and is limited by the
//! controller alone; a shorter one waits for its own banks. So a list whose elements are a multiple
//! of all banks apart gets one line in a bank's cycle, and neighbours overlap.

use mmgp_base::units::{SimSpan, SimTime};

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
