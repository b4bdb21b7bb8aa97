//! What an SPE's program has touched in its local store, and which commands may still move there.

use std::ops::Range;

use super::Touch;
use super::clock::{Actor, Epoch, View};
use super::report::What;
use super::shadow::Access;
use mmgp_base::units::SimTime;
use mmgp_spu::local_store::QUADWORDS;
use mmgp_spu::{Accesses, LastRuns, quadwords};

/// When there are so many events, only those are kept that were the last to touch something: at most one
/// that reads each quadword, and one that writes it.
const MOST_EVENTS: usize = 4 * QUADWORDS;

/// One local store.
pub(super) struct Store {
    spe: u32,
    /// By the program's events.
    pub accesses: Accesses,
    /// What the events were.
    events: Vec<(u32, What, SimTime)>,
    /// What the program does not know to be complete.
    pub open: Vec<(Range<u64>, Access)>,
}

impl Store {
    pub fn new(spe: u32) -> Self {
        Self { spe, accesses: Accesses::default(), events: Vec::new(), open: Vec::new() }
    }

    /// The program does something at its event `value`.
    pub fn event(&mut self, value: u64, what: What, at: SimTime) {
        if self.events.len() == MOST_EVENTS {
            let last = [self.accesses.read(), self.accesses.written()].map(LastRuns::by_quadword);
            let mut last = last.concat();
            last.sort_unstable();
            self.events.retain(|event| last.binary_search(&event.0).is_ok());
        }
        self.events.push((value as u32, what, at));
    }

    /// The program touches bytes outside its kernels.
    pub fn touched(&mut self, bytes: &Range<u64>, touch: Touch, value: u64) {
        match touch {
            Touch::Reads => self.accesses.note_read(bytes, value as u32),
            Touch::Writes => self.accesses.note_written(bytes, value as u32),
        }
    }

    /// Which of the program's events was the last to do that.
    pub fn of(&self, touch: Touch) -> &LastRuns {
        match touch {
            Touch::Reads => self.accesses.read(),
            Touch::Writes => self.accesses.written(),
        }
    }

    /// What the program did to some of these bytes that somebody who touches them does not know.
    pub fn clash(
        &self,
        bytes: &Range<u64>,
        touch: Touch,
        view: &View,
    ) -> Option<(Range<u64>, Touch, What, SimTime)> {
        let (actor, start) = (Actor::spu(self.spe), bytes.start);
        let unknown = |value: u32| value > 0 && !view.knows(Epoch { actor, value: value.into() });
        let [reads, writes] = [Touch::Reads, Touch::Writes].map(|it| self.of(it).by_quadword());
        for quadword in quadwords(bytes) {
            let (read, written) = (reads[quadword], writes[quadword]);
            let found = if unknown(written) {
                Some((written, Touch::Writes))
            } else if touch == Touch::Writes && unknown(read) {
                Some((read, Touch::Reads))
            } else {
                None
            };
            if let Some((value, touch)) = found {
                let index = self.events.partition_point(|event| event.0 < value);
                let (_, what, at) = self.events[index.min(self.events.len() - 1)];
                let rest = 16 * quadword as u64..bytes.end;
                let bytes = self.of(touch).first_bytes(value, &rest).unwrap_or(rest);
                let bytes = bytes.start.max(start)..bytes.end;
                return Some((bytes, touch, what, at));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hazard::clock::Clock;
    use mmgp_base::units::{Seconds, SimSpan};
    use std::rc::Rc;

    #[test]
    fn who_touched_a_quadword_last_is_known_however_much_happened_since() {
        let mut store = Store::new(3);
        let instant = |value: u64| SimTime::ZERO + SimSpan::from_seconds(Seconds(value as f64));
        let mut touch = |value: u64, quadword: u64, touch| {
            let name = if quadword < 2 { "first" } else { "later" };
            store.event(value, What::Kernel(name), instant(value));
            store.touched(&(16 * quadword..16 * quadword + 16), touch, value);
        };
        touch(1, 0, Touch::Reads);
        touch(2, 1, Touch::Writes);
        for value in 3..2 * MOST_EVENTS as u64 {
            touch(value, 2 + value % 7, Touch::Writes);
        }
        assert!(store.events.len() < MOST_EVENTS + 2);
        let view = View {
            base: Rc::new(Clock::default()),
            own: Epoch { actor: Actor::HOST, value: 1 },
            more: Vec::new(),
            single: None,
        };
        for (quadword, touch, value) in [(0, Touch::Reads, 1), (1, Touch::Writes, 2)] {
            let bytes = 16 * quadword..16 * quadword + 16;
            let (found, how, what, at) = store.clash(&bytes, Touch::Writes, &view).unwrap();
            assert_eq!((found, how, at), (bytes, touch, instant(value)));
            assert!(matches!(what, What::Kernel("first")));
        }
    }
}
