//! Who touched which bytes of a memory last.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use crate::fault::Hazard;
use crate::hazard::clock::{Actor, Epoch, View};
use crate::hazard::report::{RecordNumber, Side, Space, Touch, What, place};
use mmgp_base::error::{Error, Result};
use mmgp_base::units::SimTime;
use mmgp_spu::local_store::{LocalAddress, LocalStore, QUADWORDS};
use mmgp_spu::register::Quadword;
use mmgp_spu::{Accesses, LastRuns, quadwords};

/// What somebody does to some bytes.
#[derive(Clone)]
pub(super) struct ShadowAccess {
    pub epoch: Epoch,
    pub touch: Touch,
    /// Whether a lock-line command did it: those of a line come one after the other by themselves.
    pub atomic: bool,
    pub record: RecordNumber,
    /// What comes before it, where somebody may wait for what it does: to local store. Of main memory
    /// there is too much to keep it.
    pub view: Option<Rc<View>>,
}

impl ShadowAccess {
    fn clashes(&self, later: &Self) -> bool {
        let writes = self.touch == Touch::Writes || later.touch == Touch::Writes;
        writes && !(self.atomic && later.atomic)
    }
}

/// Bytes of which all were touched by the same.
#[derive(Clone)]
struct Piece {
    end: u64,
    write: Option<ShadowAccess>,
    /// The last read since, and others since that it is not ordered after.
    read: Option<ShadowAccess>,
    other_reads: Vec<ShadowAccess>,
}

impl Piece {
    /// Bytes that nobody has touched before.
    fn new(end: u64, access: &ShadowAccess) -> Self {
        let (write, read) = match access.touch {
            Touch::Writes => (Some(access.clone()), None),
            Touch::Reads => (None, Some(access.clone())),
        };
        Self { end, write, read, other_reads: Vec::new() }
    }

    /// Notes an access to all of it; what that is not ordered after.
    fn access(
        &mut self,
        own: &ShadowAccess,
        knows: impl Fn(Epoch) -> bool,
    ) -> Option<ShadowAccess> {
        if let Some(other) = self.clash(own, &knows) {
            return Some(other.clone());
        }
        match own.touch {
            Touch::Writes => {
                *self = Self::new(self.end, own);
            }
            Touch::Reads => self.read(own, &knows),
        }
        None
    }

    fn clash(&self, own: &ShadowAccess, knows: impl Fn(Epoch) -> bool) -> Option<&ShadowAccess> {
        let mut before = self.write.iter().chain(&self.read).chain(&self.other_reads);
        before.find(|other| other.clashes(own) && !knows(other.epoch))
    }

    fn read(&mut self, own: &ShadowAccess, knows: impl Fn(Epoch) -> bool) {
        // Who is ordered after this read is ordered after what it is ordered after.
        self.other_reads.retain(|read| !knows(read.epoch));
        let before = self.read.replace(own.clone());
        self.other_reads.extend(before.filter(|read| !knows(read.epoch)));
    }
}

/// The last write of each byte, and who has read it since.
#[derive(Default)]
pub(super) struct Shadow {
    pieces: BTreeMap<u64, Piece>,
}

impl Shadow {
    /// Notes an access by somebody who knows these events; what it is not ordered after, and where.
    pub fn access(
        &mut self,
        bytes: &Range<u64>,
        own: &ShadowAccess,
        knows: impl Fn(Epoch) -> bool,
    ) -> Option<(Range<u64>, ShadowAccess)> {
        if bytes.is_empty() {
            return None;
        }
        // A buffer is mostly touched as it was before.
        if let Some(piece) = self.pieces.get_mut(&bytes.start)
            && piece.end == bytes.end
        {
            return Some((bytes.clone(), piece.access(own, knows)?));
        }
        self.split(bytes.start);
        self.split(bytes.end);
        for (&start, piece) in self.pieces.range(bytes.clone()) {
            if let Some(other) = piece.clash(own, &knows) {
                return Some((start..piece.end, other.clone()));
            }
        }
        match own.touch {
            Touch::Writes => {
                let inside: Vec<u64> =
                    self.pieces.range(bytes.clone()).map(|(&start, _)| start).collect();
                for start in inside {
                    self.pieces.remove(&start);
                }
                self.pieces.insert(bytes.start, Piece::new(bytes.end, own));
            }
            Touch::Reads => {
                let mut next = bytes.start;
                let mut gaps = Vec::new();
                for (&start, piece) in self.pieces.range_mut(bytes.clone()) {
                    if next < start {
                        gaps.push(next..start);
                    }
                    next = piece.end;
                    piece.read(own, &knows);
                }
                if next < bytes.end {
                    gaps.push(next..bytes.end);
                }
                for Range { start, end } in gaps {
                    self.pieces.insert(start, Piece::new(end, own));
                }
            }
        }
        None
    }

    /// References to the records of all accesses that are kept.
    pub fn references(&mut self) -> impl Iterator<Item = &mut RecordNumber> {
        let accesses = self.pieces.values_mut().flat_map(|piece| {
            piece.write.iter_mut().chain(&mut piece.read).chain(&mut piece.other_reads)
        });
        accesses.map(|access| &mut access.record)
    }

    /// The last write of a byte.
    pub fn writer(&self, at: u64) -> Option<&ShadowAccess> {
        let (_, piece) = self.pieces.range(..=at).next_back()?;
        if at < piece.end { piece.write.as_ref() } else { None }
    }

    /// Has a piece begin at `at` where one goes across it.
    fn split(&mut self, at: u64) {
        let Some((_, piece)) = self.pieces.range_mut(..at).next_back() else { return };
        if piece.end > at {
            let rest = piece.clone();
            piece.end = at;
            self.pieces.insert(at, rest);
        }
    }
}

/// When there are so many events, only those are kept that were the last to touch something: at most one
/// that reads each quadword, and one that writes it.
const MOST_EVENTS: usize = 4 * QUADWORDS;

/// One local store.
pub(super) struct Store {
    spe: u32,
    /// Accesses by the program's events.
    pub accesses: Accesses,
    /// What the events were.
    events: Vec<(u32, What, SimTime)>,
    /// What the program does not know to be complete.
    pub open: Vec<(Range<u64>, ShadowAccess)>,
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

/// What the program of the SPE has read at its event `value`.
pub(super) fn unwritten_of_program(
    spe: u32,
    (store, contents): (&mut Store, &LocalStore),
    value: u64,
    later: &Side<'_>,
) -> Result<()> {
    let read = store.accesses.take_unwritten();
    // A store of less than a quadword loads the rest of it, and stores that again.
    let written = store.accesses.written().by_quadword();
    let alone = read.into_iter().filter(|&quadword| written[quadword] != value as u32);
    refuse(spe, alone.filter(|&quadword| is_zero(contents, quadword)).min(), later)
}

/// What a command reads there, or the host.
pub(super) fn unwritten_of_others(
    spe: u32,
    (store, contents): (&Store, &RefCell<LocalStore>),
    bytes: &Range<u64>,
    later: &Side<'_>,
) -> Result<()> {
    let mut read = store.accesses.unwritten(bytes);
    refuse(spe, read.find(|&quadword| is_zero(&contents.borrow(), quadword)), later)
}

fn refuse(spe: u32, quadword: Option<usize>, later: &Side<'_>) -> Result<()> {
    let Some(quadword) = quadword else { return Ok(()) };
    let start = 16 * quadword as u64;
    Err(Error::other(Hazard {
        place: place(Space::Store(spe), start..start + 16),
        later: later.text(),
        problem: "but",
        earlier: "nobody has written it before".into(),
    }))
}

/// Tells whether a quadword is zero; where it is not, somebody has written it without telling.
fn is_zero(contents: &LocalStore, quadword: usize) -> bool {
    contents.load(LocalAddress(16 * quadword as u32)) == Quadword::ZERO
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::hazard::clock::Clock;
    use mmgp_base::units::{Seconds, SimSpan};

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
