//! The rows of list ranking by software-managed threads.

use super::Maybe;
use crate::error::Result;
use crate::table::csv::{Record, Row};

record! {
    /// A row of `threads.csv`: a run of list ranking by software-managed threads.
    ThreadRun by (heads: String, p: u32, sublists: u32, buffers: u32, nodes: u32, repetition: u32) {
        /// Where sublists begin: `even`, so that all are as long, or `random`.
        heads: String = word(),
        /// Accelerators.
        p: u32 = count(1),
        /// Sublists of all accelerators together.
        sublists: u32 = count(1),
        /// Lists of requests of each accelerator that are under way at once.
        buffers: u32 = count(1),
        /// Nodes of the list.
        nodes: u32 = count(1),
        /// Which repetition of the same run.
        repetition: u32 = count(1),
        /// Of the whole run \[s\].
        time_s: f64 = seconds(),
        /// Of the choice of heads \[s\].
        step_1_s: f64 = seconds(),
        /// Of the ranking of sublists \[s\].
        step_2_s: f64 = seconds(),
        /// Of the ranking of heads \[s\].
        step_3_s: f64 = seconds(),
        /// Of the last addition \[s\].
        step_4_s: f64 = seconds(),
        /// The most nodes that an accelerator ranked, over the mean.
        load_imbalance: f64 = number(),
    }
}

record! {
    /// A row of `predictions.csv` or `validation.csv` of a study of list ranking.
    ThreadChoice by (p: u32, sublists: u32, buffers: u32) {
        /// Place in the ranking, from 1.
        rank: u32 = count(1),
        /// Accelerators.
        p: u32 = count(1),
        /// Sublists of all accelerators together.
        sublists: u32 = count(1),
        /// Lists of requests of each accelerator that are under way at once.
        buffers: u32 = count(1),
        /// Predicted time \[s\].
        time_s: f64 = seconds(),
        /// Lower end of its 95 % interval \[s\].
        low_s: f64 = seconds(),
        /// Upper end of it \[s\].
        high_s: f64 = seconds(),
        /// The same by the formula that the model carries on \[s\].
        formula_s: f64 = seconds(),
        /// Measured time, where it was run \[s\].
        measured_s: Maybe = maybe_seconds(),
        /// `predicted/measured - 1`, where it was run \[%\].
        error_percent: Maybe = maybe_number(),
    }
}
