//! Rows of messages among accelerators, of list ranking and of sweeps, and the tables of all micro-benchmarks.

use super::{Alpha, Collective, ContextSwitch, Maybe, MemoryStream, Offload};
use crate::error::Result;
use crate::table::csv::{Record, Row};

record! {
    /// A row of `messages.csv`: what a message of a size costs over a kind of link.
    MessageTime by (link: String, bytes: u64) {
        /// The kind of link: `within-cell`, `between-cells`, `between-blades`, `between-nodes` or
        /// `between-units`.
        link: String = word(),
        /// The size of the message.
        bytes: u64 = large_count(0),
        /// Time from the sender's call to the receiver's completion, where the receiver has waited \[s\].
        early_s: f64 = seconds(),
        /// Time from the receiver's call to its completion, where the sender has waited \[s\].
        late_s: f64 = seconds(),
        /// Time from the receiver's completion to the sender's; less than 0 where the sender is first
        /// \[s\].
        release_s: f64 = number(),
        /// Half of the time of a message and one back \[s\].
        half_round_trip_s: f64 = seconds(),
        /// Rate of messages that follow one another \[byte/s\]; none of those without bytes.
        rate_bytes_per_s: Maybe = maybe_number(),
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
        /// The same iteration on the hosts of these nodes alone; none of a part of a node, and where the machine's file
        /// has no hosts \[s\].
        hosts_s: Maybe = maybe_seconds(),
    }
}

record! {
    /// A row of `threads.csv`: a run of list ranking by software-managed threads.
    ThreadRun by (heads: String, p: u32, sublists: u32, buffers: u32, nodes: u32, repetition: u32) {
        /// Places at which sublists begin: `even`, so that all are as long, or `random`.
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
        /// Time of the whole run \[s\].
        time_s: f64 = seconds(),
        /// Time of the choice of heads \[s\].
        step_1_s: f64 = seconds(),
        /// Time of the ranking of sublists \[s\].
        step_2_s: f64 = seconds(),
        /// Time of the ranking of heads \[s\].
        step_3_s: f64 = seconds(),
        /// Time of the last addition \[s\].
        step_4_s: f64 = seconds(),
        /// The most nodes that an accelerator ranked, over the mean.
        load_imbalance: f64 = number(),
    }
}

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

/// The tables of all micro-benchmarks; those that were not made are empty.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MicroBenchmarks {
    /// Concurrent matrix products.
    pub alpha: Vec<Alpha>,
    /// Messages between host and accelerator.
    pub offload: Vec<Offload>,
    /// Repeated yield.
    pub context_switch: Vec<ContextSwitch>,
    /// Collectives among the host processes.
    pub collective: Vec<Collective>,
    /// Accelerators that stream through one memory, which only the refined model asks for.
    pub memory: Vec<MemoryStream>,
}
