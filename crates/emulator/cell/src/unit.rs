//! The ends of a transfer on the buses.

/// A unit that can be the source or the destination of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    /// The local store, or the registers, of an SPE.
    Spe {
        /// Its number, counted through all Cells.
        spe: u32,
    },
    /// The memory of a Cell.
    Memory {
        /// Which Cell.
        cell: u32,
    },
}
