//! The exponential of two doubles at once, from instructions of the SPU.

use crate::spu::{LocalAddress, LocalStore};
use crate::units::Bytes;

/// Size of the table in local store.
pub const TABLE_BYTES: Bytes = Bytes(2048);

/// Puts the table at `address`, a multiple of 16 with [`TABLE_BYTES`] behind it.
pub fn write_table(store: &mut LocalStore, address: LocalAddress) {
    let _ = (store, address);
}
