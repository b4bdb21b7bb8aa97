//! What an SPE's program has touched in its local store, and which commands may still move there.

use std::ops::Range;

use super::Touch;
use super::clock::{Actor, Epoch, View};
use super::report::What;
use super::shadow::Access;
use mmgp_base::units::SimTime;
use mmgp_spu::local_store::LOCAL_STORE_BYTES;

const QUADWORDS: usize = (LOCAL_STORE_BYTES / 16) as usize;

/// One local store.
pub(super) struct Store {
    spe: u32,
    /// By quadword, the last event of the program that read it.
    read: Vec<u32>,
    /// The same for writes.
    written: Vec<u32>,
    /// Whether anybody has written it.
    filled: Vec<u64>,
    /// What the events were.
    events: Vec<(u32, What, SimTime)>,
    /// What the program does not know to be complete.
    pub open: Vec<(Range<u64>, Access)>,
}

impl Store {
    pub fn new(spe: u32) -> Self {
        Self {
            spe,
            read: vec![0; QUADWORDS],
            written: vec![0; QUADWORDS],
            filled: vec![0; QUADWORDS / 64],
            events: Vec::new(),
            open: Vec::new(),
        }
    }

    /// Bytes are written by whomever.
    pub fn fill(&mut self, bytes: &Range<u64>) {
        for quadword in quadwords(bytes) {
            self.filled[quadword / 64] |= 1 << (quadword % 64);
        }
    }

    /// The same of the quadwords with a bit.
    pub fn fill_words(&mut self, words: &[u64]) {
        self.filled.iter_mut().zip(words).for_each(|(own, word)| *own |= word);
    }

    /// The words of the set that has a bit for each quadword that somebody has written.
    pub fn filled(&self) -> &[u64] {
        &self.filled
    }

    /// The program does something at its event `value`.
    pub fn event(&mut self, value: u64, what: What, at: SimTime) {
        self.events.push((value as u32, what, at));
    }

    pub fn touched(&mut self, bytes: &Range<u64>, touch: Touch, value: u64) {
        let of = match touch {
            Touch::Reads => &mut self.read,
            Touch::Writes => &mut self.written,
        };
        of[quadwords(bytes)].fill(value as u32);
    }

    /// The same of the quadwords with a bit.
    pub fn touched_by_kernel(&mut self, words: &[u64], touch: Touch, value: u64) {
        let of = match touch {
            Touch::Reads => &mut self.read,
            Touch::Writes => &mut self.written,
        };
        for (number, &word) in words.iter().enumerate() {
            if word == u64::MAX {
                of[64 * number..64 * (number + 1)].fill(value as u32);
                continue;
            }
            let mut rest = word;
            while rest != 0 {
                of[64 * number + rest.trailing_zeros() as usize] = value as u32;
                rest &= rest - 1;
            }
        }
    }

    /// What the program did to some of these bytes that somebody who touches them does not know.
    pub fn clash(
        &self,
        bytes: &Range<u64>,
        touch: Touch,
        view: &View,
    ) -> Option<(Range<u64>, Touch, What, SimTime)> {
        let actor = Actor::spu(self.spe);
        let unknown = |value: u32| value > 0 && !view.knows(Epoch { actor, value: value.into() });
        for quadword in quadwords(bytes) {
            let (read, written) = (self.read[quadword], self.written[quadword]);
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
                let of = match touch {
                    Touch::Reads => &self.read,
                    Touch::Writes => &self.written,
                };
                let rest = quadwords(bytes).end - quadword;
                let run = of[quadword..].iter().take(rest).take_while(|&&it| it == value).count();
                let (start, end) = (16 * quadword as u64, 16 * (quadword + run) as u64);
                let bytes = start.max(bytes.start)..end.min(bytes.end);
                return Some((bytes, touch, what, at));
            }
        }
        None
    }
}

fn quadwords(bytes: &Range<u64>) -> Range<usize> {
    (bytes.start / 16) as usize..(bytes.end.div_ceil(16) as usize).min(QUADWORDS)
}
