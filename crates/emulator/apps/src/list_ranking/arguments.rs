//! What the host tells the SPEs of a call, as it lies in main memory.

use mmgp_base::units::Bytes;
use mmgp_cell::EffectiveAddress;
use mmgp_spu::Quadword;

/// The arguments of a call.
pub const ARGUMENTS_BYTES: Bytes = Bytes(64);

/// The arguments of all three functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arguments {
    /// The nodes.
    pub nodes: EffectiveAddress,
    /// By sublist: the states of their threads at first; afterwards what comes before each.
    pub sublists: EffectiveAddress,
    /// By sublist, the outcome of it.
    pub outcomes: EffectiveAddress,
    /// What each SPE has to say at its end, a line for each.
    pub reports: EffectiveAddress,
    /// Where the records of the first SPE go.
    pub areas: EffectiveAddress,
    /// From one SPE's area to that of the next.
    pub area_bytes: u64,
    /// How many nodes there are.
    pub node_count: u32,
    /// How many sublists there are.
    pub sublist_count: u32,
    /// DMA lists under way at once.
    pub buffers: u32,
    /// SPEs that have ranked sublists.
    pub areas_count: u32,
}

impl Arguments {
    /// As quadwords.
    pub fn quadwords(&self) -> [Quadword; 4] {
        let pair = |one: u32, other: u32| u64::from(one) << 32 | u64::from(other);
        [
            Quadword([self.nodes.0, self.sublists.0]),
            Quadword([self.outcomes.0, self.reports.0]),
            Quadword([self.areas.0, self.area_bytes]),
            Quadword([
                pair(self.node_count, self.sublist_count),
                pair(self.buffers, self.areas_count),
            ]),
        ]
    }

    /// From quadwords.
    pub fn from_quadwords(quadwords: &[Quadword]) -> Self {
        let &[
            Quadword([nodes, sublists]),
            Quadword([outcomes, reports]),
            Quadword([areas, area_bytes]),
            counts,
        ] = quadwords
        else {
            unreachable!("invariant: arguments are four quadwords");
        };
        let [node_count, sublist_count, buffers, areas_count] = counts.words();
        Self {
            nodes: EffectiveAddress(nodes),
            sublists: EffectiveAddress(sublists),
            outcomes: EffectiveAddress(outcomes),
            reports: EffectiveAddress(reports),
            areas: EffectiveAddress(areas),
            area_bytes,
            node_count,
            sublist_count,
            buffers,
            areas_count,
        }
    }

    /// Where the records of an SPE go.
    pub fn area(&self, share: u32) -> EffectiveAddress {
        self.areas.offset(u64::from(share) * self.area_bytes)
    }

    /// Where an SPE reports.
    pub fn report(&self, share: u32) -> EffectiveAddress {
        self.reports.offset(REPORT_BYTES * u64::from(share))
    }
}

/// From one SPE's report to the next: a line.
pub const REPORT_BYTES: u64 = 128;
