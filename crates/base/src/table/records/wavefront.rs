//! The rows of what wavefronts are made of.

use crate::error::Result;
use crate::table::csv::{Record, Row};

record! {
    /// A row of `blocks.csv`: a block of a sweep, computed without messages.
    BlockRun by (cells: u32, lines: u32, angles: u32, repetition: u32) {
        /// Cells of the block: it jt mk.
        cells: u32 = count(1),
        /// Lines of cells along x: jt mk.
        lines: u32 = count(1),
        /// Angles of the block: mmi.
        angles: u32 = count(1),
        /// Which repetition of the same block.
        repetition: u32 = count(1),
        /// What it took \[s\].
        time_s: f64 = seconds(),
    }
}

record! {
    /// A row of `messages.csv`: what a synchronous message took.
    MessageRun by (link: String, way: String, bytes: u32, repetition: u32) {
        /// What lies between both ranks: `within-cell`, `between-cells`, `between-blades` or
        /// `between-nodes`.
        link: String = word(),
        /// What was timed: `early`, from the sender's readiness to the completion of a receiver that
        /// waits; `late`, from the receiver's posting to its completion where the message waits;
        /// `release`, from its completion until the sender goes on.
        way: String = word(),
        /// Size of the message.
        bytes: u32 = count(0),
        /// Which repetition of the same message.
        repetition: u32 = count(1),
        /// What it took \[s\].
        time_s: f64 = seconds(),
    }
}
