//! Where the program keeps things in local store.

use super::super::arguments::{ARGUMENTS_BYTES, MOST_SHARES};
use super::super::memory::WORDS_BYTES;
use crate::layout::Room;
use mmgp_base::units::Bytes;
use mmgp_kernels::raxml::{
    DIAGONAL_BYTES, FACTOR_BYTES, MATRIX_BYTES, MAX_CATEGORIES, MODEL_BYTES, TABLES_BYTES,
    TIP_PRODUCT_BYTES, write_tables,
};
use mmgp_spu::local_store::LocalStore;
use mmgp_spu::{LocalAddress, Quadword};

/// Addresses in local store \[bytes\]; behind [`LocalMap::CODE`] and [`LocalMap::tables`] follow the
/// buffers, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LocalMap {
    /// For exponentials and logarithms.
    pub tables: LocalAddress,
    /// Of the call.
    pub arguments: LocalAddress,
    /// That of the arguments' version.
    pub model: LocalAddress,
    /// The version that is there.
    pub model_version: LocalAddress,
    /// Transition matrices of both branches.
    pub matrices: [LocalAddress; 2],
    /// What they make of each of the 16 codes.
    pub products: [LocalAddress; 2],
    /// The exponentials of a branch, for `evaluate`.
    pub diagonal: LocalAddress,
    /// The exponentials of a branch, for Newton's method.
    pub factors: LocalAddress,
    /// What kernels leave: a quadword.
    pub result: LocalAddress,
    /// What the master tells a worker: two quadwords.
    pub pass: LocalAddress,
    /// What goes to other SPEs: two quadwords.
    pub outgoing: LocalAddress,
    /// What comes from the first SPE: two quadwords.
    pub decision: LocalAddress,
    /// What comes from each of the others: two quadwords each.
    pub partial_sums: LocalAddress,
    /// Two sets of buffers of the blocks that flow through.
    pub streams: LocalAddress,
    /// What stays during a call.
    pub resident: LocalAddress,
    /// The first byte behind that.
    pub end: LocalAddress,
}

/// Room for the message of an SPE to another: two quadwords, one a sequence number.
pub(super) const MESSAGE_BYTES: Bytes = Bytes(32);

impl LocalMap {
    /// The module of all three functions: 117 KB (Blagojevic et al., PPoPP 2007).
    pub const CODE: Bytes = Bytes(117 * 1024);
    /// Room for the stack: calls are few and shallow.
    pub const STACK: Bytes = Bytes(2048);
    /// The vectors of a block.
    pub const BLOCK_BYTES: u32 = 8192;

    /// A local store of that size, filled.
    pub fn new(local_store: Bytes) -> Self {
        let mut room = Room::of_lines(Self::CODE.0 as u32);
        let mut take = |bytes| room.take(bytes);
        let categories = |each: Bytes| Bytes(u64::from(MAX_CATEGORIES) * each.0);
        let (quadword, message) = (Bytes(16), MESSAGE_BYTES);
        Self {
            tables: take(TABLES_BYTES),
            arguments: take(ARGUMENTS_BYTES),
            model: take(MODEL_BYTES),
            model_version: take(quadword),
            matrices: [take(categories(MATRIX_BYTES)), take(categories(MATRIX_BYTES))],
            products: [take(TIP_PRODUCT_BYTES), take(TIP_PRODUCT_BYTES)],
            diagonal: take(categories(DIAGONAL_BYTES)),
            factors: take(categories(FACTOR_BYTES)),
            result: take(quadword),
            pass: take(message),
            outgoing: take(message),
            decision: take(message),
            partial_sums: take(Bytes(MOST_SHARES as u64 * message.0)),
            streams: take(Bytes(u64::from(Self::stream_bytes()))),
            resident: take(Bytes(0)),
            end: LocalAddress(local_store.0 as u32 - Self::STACK.0 as u32),
        }
    }

    /// Two sets of buffers. `newview` with CAT has the most: two children and a result with their
    /// counts, and the categories; a group of counts or categories is an eighth of one of vectors.
    fn stream_bytes() -> u32 {
        let words = Self::BLOCK_BYTES / 128 * WORDS_BYTES as u32;
        2 * (3 * (Self::BLOCK_BYTES + words) + words)
    }

    /// What the buffers take, from the arguments to the stack.
    pub fn buffers(&self) -> Bytes {
        Bytes(u64::from(self.end.0 - self.arguments.0))
    }

    /// What is zero when the program begins: no model is held, and no message has come.
    pub fn zeros(&self) -> Vec<(LocalAddress, Bytes)> {
        vec![
            (self.model_version, Bytes(16)),
            (self.pass, MESSAGE_BYTES),
            (self.decision, MESSAGE_BYTES),
            (self.partial_sums, Bytes(MOST_SHARES as u64 * MESSAGE_BYTES.0)),
        ]
    }

    /// The data of the program.
    pub fn tables() -> Vec<Quadword> {
        let mut store = LocalStore::new();
        write_tables(&mut store, LocalAddress(0));
        let bytes = Bytes(TABLES_BYTES.0.next_multiple_of(128));
        store.slice(LocalAddress(0), bytes).to_vec()
    }
}
