//! The rows of what is asked of a sweep over many ranks.

use super::Maybe;
use crate::error::Result;
use crate::table::csv::{Record, Row};

record! {
    /// A row of `predictions.csv` or `validation.csv` of a study of a wavefront.
    WavefrontChoice by (it: u32, jt: u32, kt: u32, px: u32, py: u32, mk: u32, mmi: u32, tx: u32, ty: u32) {
        /// Place in the ranking, from 1.
        rank: u32 = count(1),
        /// Cells of the grid along i.
        it: u32 = count(1),
        /// Cells of the grid along j.
        jt: u32 = count(1),
        /// Cells of the grid along k.
        kt: u32 = count(1),
        /// Ranks along i.
        px: u32 = count(1),
        /// Ranks along j.
        py: u32 = count(1),
        /// Planes of a block.
        mk: u32 = count(1),
        /// Angles of a block.
        mmi: u32 = count(1),
        /// Ranks of a node along i.
        tx: u32 = count(1),
        /// Ranks of a node along j.
        ty: u32 = count(1),
        /// Predicted time of an iteration \[s\].
        time_s: f64 = seconds(),
        /// Lower end of its 95 % interval \[s\].
        low_s: f64 = seconds(),
        /// Upper end of it \[s\].
        high_s: f64 = seconds(),
        /// Emulated or simulated time \[s\].
        measured_s: Maybe = maybe_seconds(),
        /// `predicted/measured - 1` \[%\].
        error_percent: Maybe = maybe_number(),
    }
}

record! {
    /// A row of `scaling.csv`: an iteration on so many ranks.
    ScalingRow by (ranks: u32) {
        /// Ranks.
        ranks: u32 = count(1),
        /// Ranks along i.
        px: u32 = count(1),
        /// Ranks along j.
        py: u32 = count(1),
        /// Cells of the grid along i.
        it: u32 = count(1),
        /// Cells of the grid along j.
        jt: u32 = count(1),
        /// Cells of the grid along k.
        kt: u32 = count(1),
        /// A block on an emulated blade \[s\].
        block_s: f64 = seconds(),
        /// An iteration where messages take no time \[s\].
        ideal_s: f64 = seconds(),
        /// An iteration where no message is in another's way \[s\].
        recurrence_s: f64 = seconds(),
        /// An iteration where messages queue up \[s\].
        events_s: f64 = seconds(),
        /// The ideal time over that with queues.
        efficiency: f64 = number(),
    }
}
