//! What a hazard is reported with: both sides.

use std::ops::Range;

use super::{Origin, Space, Touch};
use crate::fault::Hazard;
use crate::mfc::Operation;
use mmgp_base::error::Error;
use mmgp_base::units::SimTime;

/// Who did something.
#[derive(Debug, Clone, Copy)]
pub(super) enum Who {
    /// An MFC.
    Command { spe: u32, origin: Origin, operation: Operation },
    /// A kernel, or the program outside its kernels.
    Program { spe: u32, what: What },
    /// A process of the host.
    Host,
}

/// What a program does.
#[derive(Debug, Clone, Copy)]
pub(super) enum What {
    /// It runs a kernel.
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
