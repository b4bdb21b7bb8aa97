//! What the host tells the SPEs of a call, as it lies in main memory.

use mmgp_base::units::Bytes;
use mmgp_cell::EffectiveAddress;

/// The arguments of a call.
pub const ARGUMENTS_BYTES: Bytes = Bytes(64);

arguments! {
    /// The arguments of all three functions.
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
}

impl Arguments {
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
