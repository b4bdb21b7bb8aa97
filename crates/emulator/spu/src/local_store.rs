//! The only memory that an SPU can address, and where the data of a kernel lie in it.

use crate::register::Quadword;
use mmgp_base::error::{Error, Result};
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

/// Whether a kernel writes a block of data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Only reads.
    Read,
    /// Writes.
    Write,
}

/// A block of a kernel's data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// The name of the kernel's field.
    pub name: &'static str,
    /// Address at which it begins.
    pub address: LocalAddress,
    /// Size.
    pub size: Bytes,
    /// What the kernel does with it.
    pub access: Access,
}

impl Block {
    /// A block of `count` times `each` that is only read.
    pub const fn input(name: &'static str, address: LocalAddress, count: u32, each: Bytes) -> Self {
        Self { name, address, size: Bytes(count as u64 * each.0), access: Access::Read }
    }

    /// A block of `count` times `each` that is written.
    pub const fn output(
        name: &'static str,
        address: LocalAddress,
        count: u32,
        each: Bytes,
    ) -> Self {
        Self { access: Access::Write, ..Self::input(name, address, count, each) }
    }
}

/// The data of a kernel that do not lie in local store as they must. Move or shrink the block.
#[derive(Debug, thiserror::Error)]
#[error("{kernel}: {block} at {address:#07x}, {bytes} bytes: {rule}")]
pub struct MisplacedBlock {
    /// The kernel.
    pub kernel: &'static str,
    /// The kernel's field.
    pub block: &'static str,
    /// Address at which it begins.
    pub address: u32,
    /// Size in bytes.
    pub bytes: u64,
    /// The rule that it breaks.
    pub rule: String,
}

/// Checks the blocks of `kernel`: each begins at a multiple of 16 bytes and lies inside the local
/// store, and none that is written overlaps another. Blocks that are only read may overlap.
///
/// # Errors
/// [`MisplacedBlock`] for the first block that breaks a rule.
pub fn check_blocks(kernel: &'static str, blocks: &[Block]) -> Result<()> {
    for (index, block) in blocks.iter().enumerate() {
        let broken = |rule: String| {
            let Block { name, address, size, .. } = *block;
            let (address, bytes) = (address.0, size.0);
            Err(Error::other(MisplacedBlock { kernel, block: name, address, bytes, rule }))
        };
        if block.address.0 % 16 != 0 {
            return broken("it must begin at a multiple of 16 bytes".into());
        }
        if end(block) > u64::from(LOCAL_STORE_BYTES) {
            return broken(format!(
                "it must end within the {LOCAL_STORE_BYTES} bytes of local store"
            ));
        }
        if let Some(other) = blocks[..index].iter().find(|other| collide(block, other)) {
            return broken(format!("it must not overlap {}", other.name));
        }
    }
    Ok(())
}

fn end(block: &Block) -> u64 {
    u64::from(block.address.0) + block.size.0
}

fn collide(one: &Block, other: &Block) -> bool {
    let written = one.access == Access::Write || other.access == Access::Write;
    let start = u64::from(one.address.0.max(other.address.0));
    written && start < end(one).min(end(other))
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

    fn check_error(blocks: [(&'static str, u32, u64, Access); 2], expected: Option<&str>) {
        let blocks = blocks.map(|(name, address, bytes, access)| Block {
            name,
            address: LocalAddress(address),
            size: Bytes(bytes),
            access,
        });
        let error = check_blocks("kernel", &blocks).err().map(|error| error.to_string());
        assert_eq!(error.as_deref(), expected);
    }

    #[test]
    fn blocks_that_touch_without_overlapping_are_right() {
        check_error([("in", 0, 128, Access::Read), ("out", 128, 262_016, Access::Write)], None);
    }

    #[test]
    fn what_is_only_read_may_be_read_twice() {
        check_error([("left", 0, 128, Access::Read), ("right", 64, 128, Access::Read)], None);
    }

    #[test]
    fn an_output_over_an_input_is_an_error() {
        check_error(
            [("in", 0, 128, Access::Read), ("out", 112, 128, Access::Write)],
            Some("kernel: out at 0x00070, 128 bytes: it must not overlap in"),
        );
    }

    #[test]
    fn a_block_at_an_odd_address_is_an_error() {
        check_error(
            [("in", 8, 128, Access::Read), ("out", 256, 128, Access::Write)],
            Some("kernel: in at 0x00008, 128 bytes: it must begin at a multiple of 16 bytes"),
        );
    }

    #[test]
    fn a_block_beyond_the_end_is_an_error() {
        check_error(
            [("in", 0, 128, Access::Read), ("out", 0x3FF90, 128, Access::Write)],
            Some(
                "kernel: out at 0x3ff90, 128 bytes: it must end within the 262144 bytes of local \
                 store",
            ),
        );
    }
}
