//! What runs on the SPEs: rows of blocks of the product, one block after the other.

use std::rc::Rc;

use crate::layout::InMemory as _;
use mmgp_base::error::Result;
use mmgp_base::units::{Bytes, Cycles};
use mmgp_cell::context::SpeImage;
use mmgp_cell::mfc::{
    AfterElement, Command, Direction, ListCommand, ListElement, Order, write_list,
};
use mmgp_cell::{EffectiveAddress, Progress, Spe};
use mmgp_kernels::sgemm::{ClearMatrix, MATRIX_BYTES, Retarget, Sgemm, TILES_BYTES};
use mmgp_runtime::{Call, Loop, Runtime, Signalling, SpeProgram};
use mmgp_spu::local_store::LocalStore;
use mmgp_spu::{LocalAddress, Quadword};

/// What its function is called.
pub const FUNCTIONS: [&str; 1] = ["product"];
/// The number of the function.
pub const FUNCTION: u32 = 0;

/// Bytes of the arguments.
pub const ARGUMENTS_BYTES: Bytes = Bytes(32);

/// Tags: of what comes into the two slots of A and of B, of what goes out of the two of C, and of the
/// arguments.
const A_TAG: u8 = 0;
const B_TAG: u8 = 2;
const C_TAG: u8 = 4;
const ARGUMENTS_TAG: u8 = 6;

arguments! {
    /// The matrices in main memory, in blocks, and how many blocks a row of them has.
    pub struct Operands {
        /// -A.
        pub a: EffectiveAddress,
        /// B.
        pub b: EffectiveAddress,
        /// C.
        pub c: EffectiveAddress,
        /// Blocks of a row.
        pub blocks: u32,
    }
}

impl Operands {
    /// The block of a row and a column of a matrix that begins at `matrix`.
    fn block(&self, matrix: EffectiveAddress, row: u32, column: u32) -> EffectiveAddress {
        matrix.offset(u64::from(row * self.blocks + column) * MATRIX_BYTES.0)
    }
}

/// The program.
pub struct SgemmProgram {
    /// The time of one address computed and inserted into the quadword that it is stored in.
    address: Cycles,
    progress: Progress,
}

/// What an SPE multiplies next: a piece of the panels of a block of C.
#[derive(Debug, Clone, Copy)]
struct PieceStep {
    /// The row of the block of C.
    row: u32,
    column: u32,
    piece: u32,
    /// Into which its blocks come.
    slot: u32,
}

/// A call at work.
struct Product<'a> {
    program: &'a SgemmProgram,
    spe: &'a Spe,
    call: Call,
    operands: Operands,
    panels: Panels,
}

impl SgemmProgram {
    /// Has the program loaded into the local store of every SPE, for matrices of so many blocks a row.
    ///
    /// # Errors
    /// [`LocalStoreFull`](mmgp_spu::LocalStoreFull) where it does not fit.
    pub fn load(on: &Runtime, blocks: u32) -> Result<()> {
        let blade = on.blade();
        let spu = &blade.machine.spu;
        let before = u64::from(BLOCKS.0 - TILES.0) - TILES_BYTES.0;
        blade.create_contexts(&SpeImage {
            name: "SGEMM",
            code: CODE,
            data: tiles(blocks),
            buffers: Bytes(before + u64::from(ROOM) * MATRIX_BYTES.0),
            zeros: Vec::new(),
            stack: STACK,
        })?;
        let address = Cycles(spu.simple_fixed.0 + spu.shuffle.0);
        let program = Self { address, progress: blade.progress.clone() };
        on.load(&Rc::new(program), Signalling::Memory);
        Ok(())
    }
}

/// The list of tiles of the first product, with which the program is loaded.
fn tiles(blocks: u32) -> Vec<Quadword> {
    let panels = Panels::new(blocks);
    let mut store = LocalStore::new();
    kernel(panels, 0, 0, 0).place_tiles(&mut store);
    store.slice(TILES, TILES_BYTES).to_vec()
}

/// The product of block `number` of both panels, whose pieces are in `slot`, for a block of C.
fn kernel(panels: Panels, slot: u32, number: u32, of_c: u32) -> Sgemm {
    let [a, b] = [Operand::A, Operand::B].map(|operand| panels.block(operand, slot, number));
    Sgemm { a, b, c: Panels::of_c(of_c), tiles: TILES }
}

impl Product<'_> {
    /// How many rows of blocks are this SPE's: every one whose number, counted in turns of the SPEs
    /// that share the product, is its own.
    fn rows(&self) -> u32 {
        let Call { share, shares, .. } = self.call;
        self.operands.blocks.saturating_sub(share).div_ceil(shares)
    }

    fn steps(&self) -> u32 {
        self.rows() * self.operands.blocks * self.panels.pieces()
    }

    /// The step with that number: pieces within blocks, blocks within rows.
    fn step(&self, number: u32) -> PieceStep {
        let (pieces, blocks) = (self.panels.pieces(), self.operands.blocks);
        let block = number / pieces;
        let row = self.call.share + block / blocks * self.call.shares;
        PieceStep { row, column: block % blocks, piece: number % pieces, slot: number % 2 }
    }

    /// Begins to fetch blocks of a panel by one list.
    async fn fetch(
        &self,
        operand: Operand,
        slot: u32,
        numbers: std::ops::Range<u32>,
        block: impl Fn(u32) -> EffectiveAddress,
    ) -> Result<()> {
        let list = Panels::list(operand, slot);
        let local = self.panels.block(operand, slot, numbers.start);
        let (elements, high) = (numbers.len() as u32, block(numbers.start));
        let element =
            |number| ListElement::new(block(number), MATRIX_BYTES, AfterElement::Continue);
        let written: Vec<ListElement> = numbers.map(element).collect();
        write_list(&mut self.spe.store.borrow_mut(), list, &written);
        self.spe.spend(Cycles(u64::from(elements) * self.program.address.0)).await;
        let tag = if operand == Operand::A { A_TAG } else { B_TAG } + slot as u8;
        let (direction, order) = (Direction::Get, Order::Free);
        let command = ListCommand { direction, local, list, elements, high, tag, order };
        self.spe.mfc.enqueue_list(command).await
    }

    /// Begins to fetch the panel of A that stays for a row of blocks.
    async fn fetch_row(&self, row: u32) -> Result<()> {
        let Operands { a, blocks, .. } = self.operands;
        self.fetch(Operand::A, 0, 0..blocks, |number| self.operands.block(a, row, number)).await
    }

    /// Begins to fetch the pieces that a step needs.
    async fn fetch_pieces(&self, step: PieceStep) -> Result<()> {
        let PieceStep { row, column, piece, slot } = step;
        let (operands, numbers) = (&self.operands, self.panels.of_piece(piece));
        if !self.panels.keeps_a {
            let block = |number| operands.block(operands.a, row, number);
            self.fetch(Operand::A, slot, numbers.clone(), block).await?;
        }
        let block = |number| operands.block(operands.b, number, column);
        self.fetch(Operand::B, slot, numbers, block).await
    }

    /// Waits for the pieces of a step.
    async fn wait_for_pieces(&self, step: PieceStep) {
        let PieceStep { column, piece, slot, .. } = step;
        let slot = slot as u8;
        let of_a = match (self.panels.keeps_a, column, piece) {
            (true, 0, 0) => 1 << A_TAG,
            (true, _, _) => 0,
            (false, _, _) => 1 << (A_TAG + slot),
        };
        self.spe.mfc.wait_for_all(of_a | 1 << (B_TAG + slot)).await;
    }

    /// Adds the products of the blocks of a step to a block of C.
    async fn multiply(&self, step: PieceStep, of_c: u32) -> Result<()> {
        for number in self.panels.of_piece(step.piece) {
            let kernel = kernel(self.panels, step.slot, number, of_c);
            self.spe.write(FIRST_TILE, &[kernel.first_tile()])?;
            self.spe.spend(Cycles(3 * self.program.address.0)).await;
            self.spe.compute(&Retarget { first: FIRST_TILE, tiles: TILES }).await;
            self.spe.compute(&kernel).await;
        }
        Ok(())
    }

    async fn run(&self) -> Result<()> {
        let (steps, mut done) = (self.steps(), 0);
        for number in 0..steps {
            let step = self.step(number);
            if self.panels.keeps_a && (step.column, step.piece) == (0, 0) {
                self.fetch_row(step.row).await?;
            }
            if number == 0 {
                self.fetch_pieces(step).await?;
            }
            if number + 1 < steps {
                self.fetch_pieces(self.step(number + 1)).await?;
            }
            let of_c = done % 2;
            let (tag, at) = (C_TAG + of_c as u8, Panels::of_c(of_c));
            if step.piece == 0 {
                self.spe.mfc.wait_for(tag).await;
                self.spe.compute(&ClearMatrix { out: at }).await;
            }
            self.wait_for_pieces(step).await;
            self.multiply(step, of_c).await?;
            if step.piece + 1 == self.panels.pieces() {
                let to = self.operands.block(self.operands.c, step.row, step.column);
                let put = Command::new(Direction::Put, at, to, MATRIX_BYTES, tag);
                self.spe.mfc.enqueue(put).await?;
                self.program.progress.step();
                done += 1;
            }
        }
        self.spe.mfc.wait_for_all(0b11 << C_TAG).await;
        Ok(())
    }
}

/// Fetches the arguments of a call.
async fn arguments(spe: &Spe, at: EffectiveAddress) -> Result<Operands> {
    let get = Command::new(Direction::Get, ARGUMENTS, at, ARGUMENTS_BYTES, ARGUMENTS_TAG);
    spe.mfc.enqueue(get).await?;
    spe.mfc.wait_for(ARGUMENTS_TAG).await;
    Ok(Operands::from_quadwords(&spe.read(ARGUMENTS, ARGUMENTS_BYTES)?))
}

impl SpeProgram for SgemmProgram {
    const FUNCTIONS: &'static [&'static str] = &FUNCTIONS;

    async fn call(&self, spe: &Spe, call: Call) -> Result<Vec<Loop>> {
        let operands = arguments(spe, call.arguments).await?;
        let start = spe.sim.now();
        let panels = Panels::new(operands.blocks);
        Product { program: self, spe, call, operands, panels }.run().await?;
        Ok(vec![Loop { start, end: spe.sim.now() }])
    }
}

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
/// The beginning of the blocks.
pub const BLOCKS: LocalAddress = LocalAddress(16_384);

/// Blocks of 16 KB that lie in local store, between its first 16 KB and the stack.
pub const ROOM: u32 = 14;
/// Blocks of C: one is computed while the one before it is stored.
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
    /// The way of panels of so many blocks.
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

    /// The address of block `number` of a panel that has come into that slot, or has stayed.
    pub fn block(self, operand: Operand, slot: u32, number: u32) -> LocalAddress {
        let within = number % self.piece;
        let of_a = OF_C + 2 * self.piece;
        place(match operand {
            Operand::B => OF_C + slot * self.piece + within,
            Operand::A if self.keeps_a => of_a + number,
            Operand::A => of_a + slot * self.piece + within,
        })
    }

    /// The address of the list by which blocks come into that slot.
    pub fn list(operand: Operand, slot: u32) -> LocalAddress {
        let number = slot + if operand == Operand::A { 0 } else { 2 };
        LISTS.offset(Bytes(u64::from(number) * LIST_BYTES.0))
    }

    /// The address of a block of C.
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
