//! The arrays of a rank's cells, line by line along i, in the memory of its Cell.

use mmgp_base::units::Bytes;
use mmgp_cell::EffectiveAddress;
use mmgp_kernels::sweep3d::{EXTERNAL_BYTES, MOMENTS_BYTES, TOTAL_BYTES};

/// One of the arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Array {
    /// The source of all moments.
    Source,
    /// The flux of all moments.
    Flux,
    /// The total cross-section.
    Total,
    /// The source that does not depend on the flux, and the scalar flux of the iteration before.
    External,
}

impl Array {
    const ALL: [Self; 4] = [Self::Source, Self::Flux, Self::Total, Self::External];

    /// Bytes of a line of so many cells.
    pub fn line_bytes(self, cells: u32) -> u64 {
        let Bytes(each) = match self {
            Self::Source | Self::Flux => MOMENTS_BYTES,
            Self::Total => TOTAL_BYTES,
            Self::External => EXTERNAL_BYTES,
        };
        each * u64::from(cells)
    }
}

/// Where the arrays of a tile lie.
#[derive(Debug, Clone, Copy)]
pub struct Cells {
    /// Cells along i, j and k.
    pub extents: [u32; 3],
    arrays: [EffectiveAddress; 4],
}

impl Cells {
    /// Room for the cells of a tile.
    pub fn allocate(extents: [u32; 3], allocate: impl Fn(Bytes) -> EffectiveAddress) -> Self {
        let [it, jt, kt] = extents;
        let lines = u64::from(jt) * u64::from(kt);
        let arrays = Array::ALL.map(|array| allocate(Bytes(lines * array.line_bytes(it))));
        Self { extents, arrays }
    }

    /// Where a line of an array begins; the lines of a plane follow one another.
    pub fn line(&self, array: Array, j: u32, k: u32) -> EffectiveAddress {
        let [it, jt, _] = self.extents;
        let number = u64::from(k) * u64::from(jt) + u64::from(j);
        self.start(array).offset(number * array.line_bytes(it))
    }

    /// Where an array begins.
    fn start(&self, array: Array) -> EffectiveAddress {
        self.arrays[array as usize]
    }
}
