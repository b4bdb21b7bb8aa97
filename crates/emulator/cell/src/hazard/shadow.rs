//! Who touched which bytes of a memory last.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use super::Touch;
use super::clock::{Epoch, View};
use super::records::Number;

/// What somebody does to some bytes.
#[derive(Clone)]
pub(super) struct Access {
    pub epoch: Epoch,
    pub touch: Touch,
    /// By a lock-line command: those of a line come one after the other by themselves.
    pub atomic: bool,
    pub record: Number,
    /// What comes before it, where somebody may wait for what it does: to local store. Of main memory
    /// there is too much to keep it.
    pub view: Option<Rc<View>>,
}

impl Access {
    fn clashes(&self, later: &Self) -> bool {
        let writes = self.touch == Touch::Writes || later.touch == Touch::Writes;
        writes && !(self.atomic && later.atomic)
    }
}

/// Bytes of which all were touched by the same.
#[derive(Clone)]
struct Piece {
    end: u64,
    write: Option<Access>,
    /// The last read since, and others since that it is not ordered after.
    read: Option<Access>,
    other_reads: Vec<Access>,
}

impl Piece {
    /// Bytes that nobody has touched before.
    fn new(end: u64, access: &Access) -> Self {
        let (write, read) = match access.touch {
            Touch::Writes => (Some(access.clone()), None),
            Touch::Reads => (None, Some(access.clone())),
        };
        Self { end, write, read, other_reads: Vec::new() }
    }

    /// Notes an access to all of it; what that is not ordered after.
    fn access(&mut self, own: &Access, knows: impl Fn(Epoch) -> bool) -> Option<Access> {
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

    fn clash(&self, own: &Access, knows: impl Fn(Epoch) -> bool) -> Option<&Access> {
        let mut before = self.write.iter().chain(&self.read).chain(&self.other_reads);
        before.find(|other| other.clashes(own) && !knows(other.epoch))
    }

    fn read(&mut self, own: &Access, knows: impl Fn(Epoch) -> bool) {
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
        own: &Access,
        knows: impl Fn(Epoch) -> bool,
    ) -> Option<(Range<u64>, Access)> {
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

    /// To the records of all accesses that are kept.
    pub fn references(&mut self) -> impl Iterator<Item = &mut Number> {
        let accesses = self.pieces.values_mut().flat_map(|piece| {
            piece.write.iter_mut().chain(&mut piece.read).chain(&mut piece.other_reads)
        });
        accesses.map(|access| &mut access.record)
    }

    /// The last write of a byte.
    pub fn writer(&self, at: u64) -> Option<&Access> {
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
