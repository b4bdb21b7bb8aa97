//! What the micro-benchmarks found, a table each.

use super::records::{Alpha, Collective, ContextSwitch, MemoryStream, Offload};

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
