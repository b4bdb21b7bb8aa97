//! Checks where the data of a kernel lie in local store.

use super::local_store::{LOCAL_STORE_BYTES, LocalAddress};
use mmgp_base::error::{Error, Result};
use mmgp_base::units::Bytes;

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
pub fn check(kernel: &'static str, blocks: &[Block]) -> Result<()> {
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

    fn check_error(blocks: [(&'static str, u32, u64, Access); 2], expected: Option<&str>) {
        let blocks = blocks.map(|(name, address, bytes, access)| Block {
            name,
            address: LocalAddress(address),
            size: Bytes(bytes),
            access,
        });
        let error = check("kernel", &blocks).err().map(|error| error.to_string());
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
