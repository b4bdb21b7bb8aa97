//! The only memory that an SPU can address.

use super::register::Quadword;
use mmgp_base::units::Bytes;

/// Size of the local store \[bytes\].
pub const LOCAL_STORE_BYTES: u32 = 256 * 1024;

/// How many quadwords it has.
pub const QUADWORDS: usize = (LOCAL_STORE_BYTES / 16) as usize;

/// A byte address in local store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct LocalAddress(pub u32);

impl LocalAddress {
    /// The address so many bytes further on; not wrapped.
    pub const fn offset(self, by: Bytes) -> Self {
        Self(self.0 + by.0 as u32)
    }
}

/// 256 KiB of memory without cache or protection.
///
/// Loads and stores move 16 aligned bytes: the hardware drops the low four bits of an address and
/// wraps what lies beyond the end, and so does this.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalStore {
    quadwords: Box<[Quadword; QUADWORDS]>,
}

impl LocalStore {
    /// A local store full of zeros.
    pub fn new() -> Self {
        // Zeros that the system hands out when they are touched: most stores of a machine never are.
        let quadwords: Vec<Quadword> = vec![[0; 2]; QUADWORDS].into_iter().map(Quadword).collect();
        let quadwords = quadwords.into_boxed_slice();
        Self { quadwords: quadwords.try_into().expect("invariant: the slice has that length") }
    }

    /// The quadword that holds the byte at `address`.
    #[inline(always)]
    pub fn load(&self, address: LocalAddress) -> Quadword {
        self.quadwords[quadword_index(address)]
    }

    /// Replaces the quadword that holds the byte at `address`.
    #[inline(always)]
    pub fn store(&mut self, address: LocalAddress, value: Quadword) {
        self.quadwords[quadword_index(address)] = value;
    }

    /// The quadwords that a transfer of `bytes` from `address` on touches; both are rounded
    /// outwards to multiples of 16.
    ///
    /// # Panics
    /// Where the range reaches beyond the local store: whoever starts a transfer checks it first.
    pub fn slice(&self, address: LocalAddress, bytes: Bytes) -> &[Quadword] {
        &self.quadwords[quadword_range(address, bytes)]
    }

    /// Slice as of [`LocalStore::slice`], to write.
    ///
    /// # Panics
    /// As [`LocalStore::slice`].
    pub fn slice_mut(&mut self, address: LocalAddress, bytes: Bytes) -> &mut [Quadword] {
        &mut self.quadwords[quadword_range(address, bytes)]
    }
}

/// What an SPU's loads and stores go to.
pub(super) trait QuadwordMemory {
    /// The quadword that holds the byte at `address`.
    fn load(&mut self, address: LocalAddress) -> Quadword;

    /// Replaces the quadword that holds the byte at `address`.
    fn store(&mut self, address: LocalAddress, value: Quadword);
}

impl QuadwordMemory for &mut LocalStore {
    #[inline(always)]
    fn load(&mut self, address: LocalAddress) -> Quadword {
        LocalStore::load(self, address)
    }

    #[inline(always)]
    fn store(&mut self, address: LocalAddress, value: Quadword) {
        LocalStore::store(self, address, value);
    }
}

impl Default for LocalStore {
    fn default() -> Self {
        Self::new()
    }
}

/// Index of the quadword at `address`, wrapped as the hardware does: `address & 0x3FFF0`.
#[inline(always)]
pub(super) const fn quadword_index(address: LocalAddress) -> usize {
    (address.0 / 16) as usize % QUADWORDS
}

fn quadword_range(address: LocalAddress, bytes: Bytes) -> std::ops::Range<usize> {
    let end = u64::from(address.0) + bytes.0;
    (address.0 / 16) as usize..end.div_ceil(16) as usize
}

/// Code and data that a program needs at once and that do not fit a local store.
#[derive(Debug, thiserror::Error)]
#[error("the local store has {available} bytes, but {what} needs {needed}")]
pub struct LocalStoreFull {
    /// What does not fit, with its parts.
    pub what: String,
    /// Bytes it needs, code included.
    pub needed: u64,
    /// Bytes there are.
    pub available: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_low_four_bits_of_an_address_are_dropped_and_the_end_wraps() {
        let mut store = LocalStore::new();
        let value = Quadword::splat(7);
        store.store(LocalAddress(0x3FFFF), value);
        assert_eq!(store.load(LocalAddress(0x3FFF0)), value);
        assert_eq!(store.load(LocalAddress(0x7FFF4)), value);
        assert_eq!(store.load(LocalAddress(0x3FFE0)), Quadword::ZERO);
    }

    #[test]
    fn a_slice_covers_every_quadword_that_its_bytes_touch() {
        let mut store = LocalStore::new();
        store.slice_mut(LocalAddress(32), Bytes(32)).fill(Quadword::splat(1));
        assert_eq!(store.load(LocalAddress(16)), Quadword::ZERO);
        assert_eq!(store.load(LocalAddress(48)), Quadword::splat(1));
        assert_eq!(store.load(LocalAddress(64)), Quadword::ZERO);
        assert_eq!(store.slice(LocalAddress(32), Bytes(4)).len(), 1);
        assert_eq!(store.slice(LocalAddress(0), Bytes(u64::from(LOCAL_STORE_BYTES))).len(), 16384);
    }
}
