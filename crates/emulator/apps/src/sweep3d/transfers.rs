//! Transfers of whatever length.

use mmgp_base::error::Result;
use mmgp_base::units::Bytes;
use mmgp_cell::mfc::{Command, Direction};
use mmgp_cell::{EffectiveAddress, Spe};
use mmgp_spu::LocalAddress;

/// The largest transfer of one command.
pub const LARGEST: u64 = 16_384;

/// Begins to move so many bytes, by as many commands as it takes.
///
/// # Errors
/// What a command may run into.
pub async fn transfer(
    spe: &Spe,
    direction: Direction,
    (local, effective): (LocalAddress, EffectiveAddress),
    bytes: u64,
    tag: u8,
) -> Result<()> {
    for start in (0..bytes).step_by(LARGEST as usize) {
        let length = Bytes(LARGEST.min(bytes - start));
        let (local, effective) = (local.offset(Bytes(start)), effective.offset(start));
        spe.mfc.enqueue(Command::new(direction, local, effective, length, tag)).await?;
    }
    Ok(())
}
