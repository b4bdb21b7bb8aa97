//! What ran on a machine, as counts: see [`Blade::counting`](crate::Blade::counting).

use std::collections::BTreeMap;

use crate::mfc::Direction;
use crate::ppe::Work;
use mmgp_base::units::{Bytes, Cycles, SimSpan};
use mmgp_spu::Executed;

/// What ran since the SPEs had their programs.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Counts {
    /// By number of the SPE, those that did nothing among them.
    pub spes: Vec<SpeCounts>,
    /// By number of the process.
    pub hosts: BTreeMap<u32, HostCounts>,
}

/// What one SPE did.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct SpeCounts {
    /// Runs of kernels.
    pub kernels: u64,
    /// What they executed, with DMA leaving the local store alone.
    pub executed: Executed,
    /// Cycles in which DMA took the port of the local store from a kernel.
    pub port_conflicts: Cycles,
    /// Cycles of the program around its kernels.
    pub outside: Cycles,
    /// Cycles of its channel commands to the MFC: enqueueing, and looking whether a tag group is
    /// complete.
    pub channels: Cycles,
    /// Time in which it waited for its MFC: for a tag group, a place in the queue, a list.
    pub waited: SimSpan,
    /// Its DMA.
    pub dma: DmaCounts,
}

impl SpeCounts {
    /// Cycles in which the SPU was at work, stalls of its pipeline among them.
    pub fn computed(&self) -> Cycles {
        let Self { executed, port_conflicts, outside, channels, .. } = self;
        Cycles(executed.cycles + port_conflicts.0 + outside.0 + channels.0)
    }
}

/// The DMA of one MFC. A request is a transfer, or an element of a list.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct DmaCounts {
    /// Commands, lists among them, and those that move nothing.
    pub commands: u64,
    /// Lists.
    pub lists: u64,
    /// Commands on lock lines.
    pub atomics: u64,
    /// Requests by direction and size.
    pub requests: BTreeMap<(Direction, Bytes), u64>,
    /// Lines of the main memory of each Cell that they touched, the first and the last of a request
    /// perhaps in part.
    pub memory_lines: Vec<u64>,
    /// The same of other local stores and of registers.
    pub other_lines: u64,
    /// Requests of those.
    pub other_requests: u64,
    /// The most requests that were under way at once. One of a list is from when the list was
    /// enqueued.
    pub most_outstanding: u64,
    /// The mean number while there was any.
    pub mean_outstanding: f64,
    /// Time in which there was any.
    pub busy: SimSpan,
    /// Cycles of the SPU between the enqueueing of a request and its arrival, summed over requests.
    pub computed_meanwhile: Cycles,
}

impl DmaCounts {
    /// All requests.
    pub fn all_requests(&self) -> u64 {
        self.requests.values().sum()
    }

    /// What they moved.
    pub fn bytes(&self) -> Bytes {
        Bytes(self.requests.iter().map(|((_, bytes), count)| bytes.0 * count).sum())
    }

    /// Cycles of the SPU between the enqueueing of a request and its arrival, as a mean; none
    /// without requests.
    pub fn mean_computed(&self) -> Option<f64> {
        let requests = self.all_requests();
        (requests > 0).then(|| self.computed_meanwhile.0 as f64 / requests as f64)
    }
}

/// What one process of the host did.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct HostCounts {
    /// Bursts of counted operations.
    pub bursts: u64,
    /// Those operations.
    pub work: Work,
    /// What they take alone and with everything in the first-level caches.
    pub work_cycles: Cycles,
    /// The same of code that is timed instruction by instruction.
    pub computed_cycles: Cycles,
    /// Words that it stored into local stores and registers of SPEs.
    pub spe_stores: u64,
    /// Words that it loaded from them.
    pub spe_loads: u64,
}

impl HostCounts {
    /// Cycles of all its code.
    pub fn cycles(&self) -> Cycles {
        Cycles(self.work_cycles.0 + self.computed_cycles.0)
    }
}
