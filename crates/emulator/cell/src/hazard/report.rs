//! What a hazard is reported with: both sides.

use std::ops::Range;

use crate::command::MfcOperation;
use crate::fault::Hazard;
use mmgp_base::error::Error;
use mmgp_base::units::SimTime;

/// Who gave a command to an MFC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Origin {
    /// The SPU, through channels.
    Spu,
    /// The PPE, through the proxy queue.
    Proxy,
}

/// What is done to some bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Touch {
    Reads,
    Writes,
}

impl Touch {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Reads => "reads",
            Self::Writes => "writes",
        }
    }
}

/// A memory: the local store of an SPE, or the main memory of a blade.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Space {
    Store(u32),
    Main(u32),
}

/// Mailbox in which words wait on their way to somebody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mail {
    Inbound,
    Outbound,
    Interrupt,
}

/// Who did something.
#[derive(Debug, Clone, Copy)]
pub(super) enum Who {
    /// An MFC.
    Command { spe: u32, origin: Origin, operation: MfcOperation },
    /// A kernel, or the program outside its kernels.
    Program { spe: u32, what: What },
    /// A process of the host.
    Host,
}

/// What a program does.
#[derive(Debug, Clone, Copy)]
pub(super) enum What {
    /// Run of a kernel.
    Kernel(&'static str),
    /// Something outside its kernels.
    Outside(&'static str),
}

impl What {
    fn text(self) -> String {
        match self {
            Self::Kernel(name) => format!("kernel {name}"),
            Self::Outside(name) => name.to_string(),
        }
    }
}

impl Who {
    pub fn text(&self, at: SimTime) -> String {
        let at = format!("{:.4} us", at.seconds().0 * 1e6);
        match self {
            Self::Command { spe, origin: Origin::Spu, operation } => {
                format!("SPE {spe}, {operation}, given at {at}")
            }
            Self::Command { spe, origin: Origin::Proxy, operation } => {
                format!("the host by proxy of SPE {spe}, {operation}, given at {at}")
            }
            Self::Program { spe, what } => format!("SPE {spe}, {}, at {at}", what.text()),
            Self::Host => format!("the host, at {at}"),
        }
    }
}

/// One side of a hazard.
pub(super) struct Side<'a> {
    pub who: &'a Who,
    pub at: SimTime,
    pub touch: Touch,
}

impl Side<'_> {
    pub fn text(&self) -> String {
        format!("{}, {} it", self.who.text(self.at), self.touch.word())
    }
}

pub(super) fn hazard(
    space: Space,
    bytes: Range<u64>,
    later: &Side<'_>,
    earlier: &Side<'_>,
) -> Error {
    Error::other(Hazard {
        place: place(space, bytes),
        later: later.text(),
        problem: "unordered with",
        earlier: earlier.text(),
    })
}

pub(super) fn place(space: Space, bytes: Range<u64>) -> String {
    let (first, last) = (bytes.start, bytes.end - 1);
    match space {
        Space::Store(spe) => format!("local store {first:#x} to {last:#x} of SPE {spe}"),
        Space::Main(_) => format!("effective address {first:#x} to {last:#x}"),
    }
}

/// Who did something, and when.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record {
    pub who: Who,
    pub at: SimTime,
}

impl Record {
    pub fn text(&self) -> String {
        self.who.text(self.at)
    }
}

/// Which of the records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RecordNumber(u32);

/// Records in the order in which they came. What nobody refers to any more goes when there are as many
/// again as there were after it went last.
pub(super) struct Records {
    all: Vec<Record>,
    most: usize,
}

impl Default for Records {
    fn default() -> Self {
        Self { all: Vec::new(), most: FIRST_MOST }
    }
}

/// Below so many, nothing goes.
const FIRST_MOST: usize = if cfg!(test) { 16 } else { 1 << 16 };

impl Records {
    pub fn add(&mut self, who: Who, at: SimTime) -> RecordNumber {
        self.all.push(Record { who, at });
        RecordNumber(self.all.len() as u32 - 1)
    }

    pub fn get(&self, number: RecordNumber) -> &Record {
        &self.all[number.0 as usize]
    }

    /// Whether it is time to keep only what is referred to.
    pub fn are_many(&self) -> bool {
        self.all.len() >= self.most
    }

    /// Keeps what these refer to, and numbers it anew.
    pub fn keep<'a>(&mut self, references: impl Iterator<Item = &'a mut RecordNumber>) {
        let mut kept = Vec::new();
        let mut new = vec![None; self.all.len()];
        for number in references {
            let old = number.0 as usize;
            *number = *new[old].get_or_insert_with(|| {
                kept.push(self.all[old]);
                RecordNumber(kept.len() as u32 - 1)
            });
        }
        self.most = FIRST_MOST.max(2 * kept.len());
        self.all = kept;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mmgp_base::units::{Seconds, SimSpan};

    #[test]
    fn what_is_referred_to_stays_and_the_rest_goes() {
        let mut records = Records::default();
        let instant = |number: u64| SimTime::ZERO + SimSpan::from_seconds(Seconds(number as f64));
        let mut all: Vec<RecordNumber> = Vec::new();
        while !records.are_many() {
            all.push(records.add(Who::Host, instant(all.len() as u64)));
        }
        assert_eq!(all.len(), FIRST_MOST);
        // Twice the third, and the last.
        let mut kept = [all[3], all[FIRST_MOST - 1], all[3]];
        records.keep(kept.iter_mut());
        assert_eq!(kept.map(|number| records.get(number).at), [3, 15, 3].map(instant));
        assert_eq!((kept[0], records.all.len()), (kept[2], 2));
        assert!(!records.are_many());
    }

    #[test]
    fn they_are_many_again_when_there_are_twice_as_many() {
        let mut records = Records::default();
        let mut all: Vec<RecordNumber> = Vec::new();
        for _ in 0..FIRST_MOST {
            all.push(records.add(Who::Host, SimTime::ZERO));
        }
        records.keep(all.iter_mut());
        for _ in 0..FIRST_MOST {
            assert!(!records.are_many());
            records.add(Who::Host, SimTime::ZERO);
        }
        assert!(records.are_many());
    }
}
