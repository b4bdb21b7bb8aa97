//! The vectors of a tip from the codes of its residues.

use super::{CODE_BYTES_PER_GROUP, TIP_TABLE_BYTES, VECTOR_BYTES_PER_GROUP, Version, naive};
use mmgp_base::units::Bytes;
use mmgp_spu::local_store::Block;
use mmgp_spu::{Branches, LocalAddress, Quadword, Shape, Spu};

/// `out_j = 1` where the code of the pattern allows state j, else 0; the layout is described in the
/// [module](super). A tip is never scaled, so its counts are zeros that somebody else keeps.
///
/// Each vector is two quadwords of the table, copied. No double-precision instruction; a group
/// takes 36 cycles with list scheduling, 9 a pattern, of which the odd pipe is busy for 24. The rest
/// is the way of the first code to its vector, which nothing of the turn before overlaps.
///
/// The naive version takes 65 cycles a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TipVectors {
    /// How it is written; what stands above is the tuned version.
    pub version: Version,
    /// Groups of four patterns.
    pub groups: u32,
    /// Codes of the patterns, from a multiple of 4 bytes on: shares of the patterns begin with any
    /// group.
    pub codes: LocalAddress,
    /// The vectors of all codes, from [`tip_table`].
    pub tip_table: LocalAddress,
    /// Vectors of the tip, written.
    pub out: LocalAddress,
}

/// The vectors of the codes 0 to 15, one behind the other: the entry of state j is bit j of the
/// code.
pub fn tip_table() -> impl Iterator<Item = Quadword> {
    let pair = |code: u8, first: u32| {
        Quadword::from_doubles([first, first + 1].map(|state| f64::from(code >> state & 1)))
    };
    (0..16).flat_map(move |code| [pair(code, 0), pair(code, 2)])
}

/// Shuffles the code of a pattern, a byte of the preferred slot, to the low end of the slot.
const CODE_OF_PATTERN: [Quadword; 4] = [low_byte(0), low_byte(1), low_byte(2), low_byte(3)];

const fn low_byte(byte: u32) -> Quadword {
    Quadword::from_words([0x8080_8000 | byte; 4])
}

// No version branches on the codes.
kernel! {
    TipVectors -> (), |kernel, spu|
    shape: Shape {
        branches: Branches::OnShape,
        ..kernel.version.shape(named!(kernel, "tip vectors"), kernel.groups)
    };
    blocks: {
        each = [kernel.codes_loaded()];
        input tip_table[TIP_TABLE_BYTES; 1];
        output out[VECTOR_BYTES_PER_GROUP; kernel.groups];
    }
    versions: naive::tip_vectors, unfused and tuned;
}

impl TipVectors {
    /// The codes with what lies beside them: the SPU loads whole quadwords.
    fn codes_loaded(&self) -> Block {
        let begin = self.codes.0 / 16 * 16;
        let end = self.codes.0 + self.groups * CODE_BYTES_PER_GROUP.0 as u32;
        let bytes = Bytes(u64::from(end.next_multiple_of(16) - begin));
        Block::input("codes", LocalAddress(begin), 1, bytes)
    }
}

/// The registers of the loop that do not change.
#[derive(Clone, Copy)]
struct TipConstants<R> {
    code_of_pattern: [R; 4],
    /// The addresses of the first and the second halves of the vectors of all codes.
    table: [R; 2],
}

/// The tuned version.
#[inline(always)]
fn tuned<S: Spu>(spu: &mut S, kernel: &TipVectors) {
    let mut left = spu.ila(kernel.groups);
    if spu.brz(left) {
        return;
    }
    let constants = TipConstants {
        code_of_pattern: [
            spu.lqr(CODE_OF_PATTERN[0]),
            spu.lqr(CODE_OF_PATTERN[1]),
            spu.lqr(CODE_OF_PATTERN[2]),
            spu.lqr(CODE_OF_PATTERN[3]),
        ],
        table: [spu.ila(kernel.tip_table.0), spu.ila(kernel.tip_table.offset(Bytes(16)).0)],
    };
    let mut codes = spu.ila(kernel.codes.0);
    let mut out = spu.ila(kernel.out.0);
    loop {
        spu.label();
        spu.hbrr();
        let quadword = spu.lqd(0, codes);
        let group = spu.rotqby(quadword, codes);
        copy_vector(spu, &constants, 0, group, out);
        copy_vector(spu, &constants, 1, group, out);
        copy_vector(spu, &constants, 2, group, out);
        copy_vector(spu, &constants, 3, group, out);
        codes = spu.ai(codes, CODE_BYTES_PER_GROUP.0 as i16);
        out = spu.ai(out, VECTOR_BYTES_PER_GROUP.0 as i16);
        left = spu.ai(left, -1);
        if !spu.brnz(left) {
            break;
        }
    }
}

/// Stores the vector of one pattern of the group whose codes are the bytes of the preferred slot.
#[inline(always)]
fn copy_vector<S: Spu>(
    spu: &mut S,
    constants: &TipConstants<S::Register>,
    pattern: usize,
    group: S::Register,
    out: S::Register,
) {
    let code = spu.shufb(group, group, constants.code_of_pattern[pattern]);
    let offset = spu.shli(code, 5);
    let lower = spu.lqx(constants.table[0], offset);
    let upper = spu.lqx(constants.table[1], offset);
    let displacement = 32 * pattern as i32;
    spu.stqd(lower, displacement, out);
    spu.stqd(upper, displacement + 16, out);
}
