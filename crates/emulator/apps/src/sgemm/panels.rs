//! How panels go through local store: in which pieces, and where these lie.

use mmgp_base::units::Bytes;
use mmgp_kernels::sgemm::{MATRIX_BYTES, TILES_BYTES};
use mmgp_spu::LocalAddress;

/// Room for the code: the loop of the product takes less than 8 KB, as the kernel's test says; what is
/// around it is taken to need no more than two thirds as much.
pub const CODE: Bytes = Bytes(13_312);
/// Room for the stack: calls are few and shallow.
pub const STACK: Bytes = Bytes(2048);

/// The list of tiles of the kernel, which comes with the program.
pub const TILES: LocalAddress = LocalAddress(CODE.0 as u32);
/// What its first entry is to be.
pub const FIRST_TILE: LocalAddress = TILES.offset(TILES_BYTES);
/// The arguments of the call: two quadwords.
pub const ARGUMENTS: LocalAddress = FIRST_TILE.offset(Bytes(16));
/// DMA lists: two of A and two of B.
const LISTS: LocalAddress = ARGUMENTS.offset(Bytes(32));
/// Room for one of them: eight elements.
const LIST_BYTES: Bytes = Bytes(8 * LONGEST as u64);
/// Where blocks begin.
pub const BLOCKS: LocalAddress = LocalAddress(16_384);

/// Blocks of 16 KB that lie in local store, between its first 16 KB and the stack.
pub const ROOM: u32 = 14;
/// Those of C: one is computed while the one before it is stored.
const OF_C: u32 = 2;

/// The most blocks that one list brings: a panel of A that stays.
const LONGEST: u32 = 8;
/// The fewest blocks of B in a piece beside a panel of A that stays. Where less than these fit, it is
/// better to fetch A again in larger pieces: an entry of C then takes fewer requests.
const FEWEST: u32 = 2;

/// One of the two input matrices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operand {
    A,
    B,
}

/// How panels of so many blocks come.
///
/// ```text
/// blocks of a panel    1   2   3   4   5   6   7   8   9 ...
/// A stays              1   2   3   4   5   6   7   8   -
/// A in pieces, twice   -   -   -   -   -   -   -   -   3
/// B in pieces, twice   1   2   3   4   3   3   2   2   3
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Panels {
    /// Blocks of a panel, which are the order of the matrices over 64.
    pub blocks: u32,
    /// Blocks of a piece but the last.
    pub piece: u32,
    /// Whether the panel of A stays for a row of blocks of C.
    pub keeps_a: bool,
}

impl Panels {
    /// Of panels of so many blocks.
    pub fn new(blocks: u32) -> Self {
        let beside = (ROOM - OF_C).saturating_sub(blocks) / 2;
        let keeps_a = beside >= FEWEST.min(blocks);
        let piece = if keeps_a { beside.min(blocks) } else { (ROOM - OF_C) / 4 };
        Self { blocks, piece, keeps_a }
    }

    /// Pieces of a panel of B.
    pub fn pieces(self) -> u32 {
        self.blocks.div_ceil(self.piece)
    }

    /// The blocks of a piece, counted within their panel.
    pub fn of_piece(self, piece: u32) -> std::ops::Range<u32> {
        let first = piece * self.piece;
        first..self.blocks.min(first + self.piece)
    }

    /// Where block `number` of a panel lies that has come into that slot, or has stayed.
    pub fn block(self, operand: Operand, slot: u32, number: u32) -> LocalAddress {
        let within = number % self.piece;
        let of_a = OF_C + 2 * self.piece;
        place(match operand {
            Operand::B => OF_C + slot * self.piece + within,
            Operand::A if self.keeps_a => of_a + number,
            Operand::A => of_a + slot * self.piece + within,
        })
    }

    /// Where the list lies by which blocks come into that slot.
    pub fn list(operand: Operand, slot: u32) -> LocalAddress {
        let number = slot + if operand == Operand::A { 0 } else { 2 };
        LISTS.offset(Bytes(u64::from(number) * LIST_BYTES.0))
    }

    /// Where a block of C lies.
    pub fn of_c(slot: u32) -> LocalAddress {
        place(slot)
    }
}

/// The block of local store with that number.
fn place(number: u32) -> LocalAddress {
    BLOCKS.offset(Bytes(u64::from(number) * MATRIX_BYTES.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mmgp_spu::LOCAL_STORE_BYTES;

    #[test]
    fn whatever_is_in_local_store_at_once_has_a_place_of_its_own() {
        for blocks in 1..=64 {
            let panels = Panels::new(blocks);
            let mut places: Vec<u32> = (0..2).map(|slot| Panels::of_c(slot).0).collect();
            for slot in 0..2 {
                let piece = panels.of_piece(0);
                places.extend(piece.clone().map(|it| panels.block(Operand::B, slot, it).0));
                let of_a = match (panels.keeps_a, slot) {
                    (true, 0) => 0..blocks,
                    (true, _) => 0..0,
                    (false, _) => piece,
                };
                assert!(of_a.len() <= LONGEST as usize);
                places.extend(of_a.map(|it| panels.block(Operand::A, slot, it).0));
            }
            places.sort_unstable();
            assert!(places.windows(2).all(|pair| pair[1] - pair[0] >= 16_384), "{panels:?}");
            let end = places[places.len() - 1] + 16_384;
            assert!(end <= LOCAL_STORE_BYTES - STACK.0 as u32, "{panels:?}");
        }
        let lists = [(Operand::A, 0), (Operand::A, 1), (Operand::B, 0), (Operand::B, 1)];
        let lists = lists.map(|(operand, slot)| Panels::list(operand, slot).0);
        assert!(lists.windows(2).all(|pair| pair[1] - pair[0] >= 8 * LONGEST));
        assert!(lists[3] + 8 * LONGEST <= BLOCKS.0);
    }

    #[test]
    fn panels_stay_whole_as_long_as_they_fit() {
        let check = |blocks, piece, keeps_a| {
            assert_eq!(Panels::new(blocks), Panels { blocks, piece, keeps_a });
        };
        check(1, 1, true);
        check(2, 2, true);
        check(3, 3, true);
        check(4, 4, true);
        check(5, 3, true);
        check(8, 2, true);
        check(9, 3, false);
        check(64, 3, false);
        assert_eq!(Panels::new(5).of_piece(1), 3..5);
    }

    /// Lists of an SPE alone for a row of blocks of C.
    fn lists(panels: Panels) -> u32 {
        let of_b = panels.blocks * panels.pieces();
        of_b + if panels.keeps_a { 1 } else { of_b }
    }

    #[test]
    fn the_other_way_would_take_more_requests() {
        for blocks in 1..=10 {
            let panels = Panels::new(blocks);
            let beside = ((ROOM - OF_C).saturating_sub(blocks) / 2).clamp(1, blocks);
            let other = match panels.keeps_a {
                true => Panels { blocks, piece: 3, keeps_a: false },
                false => Panels { blocks, piece: beside, keeps_a: true },
            };
            assert!(lists(panels) <= lists(other), "{panels:?} {other:?}");
        }
    }
}
