//! The product of matrices that an SPE computes at nearly the peak of single precision.

use crate::kernel::store_turns;
use mmgp_base::units::Bytes;
use mmgp_spu::{LocalAddress, LocalStore, Quadword, Shape, Spu};

/// Rows and columns of each matrix.
pub const SIZE: u32 = 64;

/// Floating-point operations of a product: a multiplication and a subtraction for each of the
/// `SIZE^3` terms.
pub const FLOPS: u64 = 2 * (SIZE as u64).pow(3);

/// A matrix of floats.
pub const MATRIX_BYTES: Bytes = Bytes(4 * (SIZE as u64).pow(2));

/// The list of tiles that [`Sgemm::place_tiles`] makes.
pub const TILES_BYTES: Bytes = Bytes(16 * (TILES as u64 + 1));

/// Bytes from one row of a matrix to the next.
const ROW: i32 = 4 * SIZE as i32;

/// A tile is four rows of four quadwords, and takes all 64 terms of its sums before the next.
const TILE_ROWS: u32 = 4;
const TILE_COLUMNS: u32 = 16;
const TILES: u32 = (SIZE / TILE_ROWS) * (SIZE / TILE_COLUMNS);

/// The displacement of a load reaches 8 KiB each way, and so the whole of B from its middle.
const MIDDLE: i32 = MATRIX_BYTES.0 as i32 / 2;

/// Shuffles one word of a register into all four.
const SPLAT: [Quadword; 4] = [
    Quadword::splat(0x0001_0203),
    Quadword::splat(0x0405_0607),
    Quadword::splat(0x0809_0A0B),
    Quadword::splat(0x0C0D_0E0F),
];

/// `C = C - A B` for matrices of 64 x 64 floats, row by row; what Alvaro, Kurzak and Dongarra
/// (2008, 2009) bring to 25.55 GFLOP/s, 99.80 % of an SPE's peak.
///
/// Order of the operations: each entry of C takes its 64 terms in the order of k, each by one
/// `fnms`, which truncates once.
///
/// ```text
/// cycle of a step k   0 .. 3        4 .. 7             8 .. 15
/// even pipe           16 fnms: the 4 x 4 quadwords of the tile take term k
/// odd pipe            B of k + 1    splat A of k + 1   A four steps ahead; C of the tile before
///                                                      and of the one after; pointers; hint
/// ```
///
/// Software pipelining is written out: what a step needs was loaded in the one before, a tile's C
/// was loaded in the tile before and is stored in the one after. Instructions stand in the order in
/// which they issue, each `fnms` in an even word with what goes beside it, so it is timed in program
/// order: a list scheduler that knows no registers would pull all loads to the front and hold
/// more values than there are registers.
///
/// The even pipe does nothing but arithmetic: pointers come from a list of tiles in local store,
/// which ends the loop too. 65,536 `fnms` take 65,536 cycles, the first loads and the last stores
/// 65 more, whatever the data are.
///
/// Registers: the tile's sums go into the registers of the loaded C during steps 0 to 2, while those
/// of the tile before are stored, and from step 3 on into the latter; so every value of one turn of
/// the loop can have the register that it had in the turn before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sgemm {
    /// A, read.
    pub a: LocalAddress,
    /// B, read.
    pub b: LocalAddress,
    /// C, read and written.
    pub c: LocalAddress,
    /// The list of tiles, written by [`Sgemm::place_tiles`] once and only read then.
    pub tiles: LocalAddress,
}

impl Sgemm {
    /// Writes the list of tiles: for each where its rows of A, its columns of B (in the middle row)
    /// and its part of C begin, and where the list goes on. One more entry, the first tile again,
    /// ends the list: its data are loaded and not used.
    pub fn place_tiles(&self, store: &mut LocalStore) {
        for index in 0..=TILES {
            store.store(LocalAddress(self.tiles.0 + 16 * index), self.tile(index));
        }
    }

    /// The first entry of that list, by which [`Retarget`] makes it of another product's.
    pub fn first_tile(&self) -> Quadword {
        self.tile(0)
    }

    fn tile(&self, index: u32) -> Quadword {
        let tile = index % TILES;
        let (row, column) = (tile % (SIZE / TILE_ROWS), tile / (SIZE / TILE_ROWS));
        let rows = row * TILE_ROWS * ROW as u32;
        let columns = 4 * TILE_COLUMNS * column;
        let next = if index == TILES { 0 } else { self.tiles.0 + 16 * (index + 1) };
        Quadword::from_words([
            self.a.0 + rows,
            self.b.0 + MIDDLE as u32 + columns,
            self.c.0 + rows + columns,
            next,
        ])
    }
}

kernel! {
    Sgemm -> (), |kernel, spu|
    shape: Shape::new("sgemm", 0);
    blocks: {
        input a[MATRIX_BYTES; 1];
        input b[MATRIX_BYTES; 1];
        output c[MATRIX_BYTES; 1];
        input tiles[TILES_BYTES; 1];
    }
    run: kernel.instructions(spu);
}

impl Sgemm {
    #[inline(always)]
    fn instructions<S: Spu>(&self, spu: &mut S) {
        let mut registers = Registers::load(spu, self.tiles);
        loop {
            spu.label();
            for k in 0..SIZE as i32 {
                registers.step(spu, k);
            }
            // The branch belongs to the last pair of the last step.
            if !spu.brnz(registers.next) {
                break;
            }
            registers.turn();
        }
        for (place, sum) in registers.sums.into_iter().enumerate() {
            spu.stqd(sum, displacement(place), registers.store_at);
        }
    }
}

/// The offset of the quadword of that number in a tile of C.
const fn displacement(place: usize) -> i32 {
    (place / 4) as i32 * ROW + (place % 4) as i32 * 16
}

/// What the loop carries in registers.
#[derive(Clone, Copy)]
struct Registers<R> {
    splat: [R; 4],
    /// The tile at work, the one before it, and the one after.
    sums: [R; 16],
    finished: [R; 16],
    coming: [R; 16],
    /// Four terms of each row of A, and the four terms after them.
    a: [R; 4],
    a_coming: [R; 4],
    /// One term of each row of A in all four words, and the term after it.
    factors: [R; 4],
    factors_coming: [R; 4],
    /// One row of B, and the row after it.
    b: [R; 4],
    b_coming: [R; 4],
    /// Entry of the list of tiles, whose first word is the pointer to A; the pointers to B and to
    /// the C that is loaded, the next entry, and the C that will be stored.
    entry: R,
    b_at: R,
    load_at: R,
    next: R,
    store_at: R,
}

impl<R: Copy> Registers<R> {
    /// Everything that the first step of the first tile needs. No tile is before it, so what will
    /// be stored as such are its own values.
    #[inline(always)]
    fn load<S: Spu<Register = R>>(spu: &mut S, tiles: LocalAddress) -> Self {
        let entry = spu.lqa(tiles);
        let splat = [spu.lqr(SPLAT[0]), spu.lqr(SPLAT[1]), spu.lqr(SPLAT[2]), spu.lqr(SPLAT[3])];
        let b_at = spu.rotqbyi(entry, 4);
        let load_at = spu.rotqbyi(entry, 8);
        let next = spu.rotqbyi(entry, 12);
        let (mut a, mut b, mut factors) = ([entry; 4], [entry; 4], [entry; 4]);
        for row in 0..4 {
            a[row] = spu.lqd(row as i32 * ROW, entry);
            b[row] = spu.lqd(16 * row as i32 - MIDDLE, b_at);
        }
        let (mut sums, mut finished) = ([entry; 16], [entry; 16]);
        for place in 0..16 {
            sums[place] = spu.lqd(displacement(place), load_at);
            finished[place] = spu.lqd(displacement(place), load_at);
        }
        for row in 0..4 {
            factors[row] = spu.shufb(a[row], a[row], splat[0]);
        }
        Self {
            splat,
            sums,
            finished,
            coming: sums,
            a,
            a_coming: a,
            factors,
            factors_coming: factors,
            b,
            b_coming: b,
            entry,
            b_at,
            load_at,
            next,
            store_at: load_at,
        }
    }

    /// Term `k` of all sums, and beside it what later steps need.
    #[inline(always)]
    fn step<S: Spu<Register = R>>(&mut self, spu: &mut S, k: i32) {
        for slot in 0..16 {
            let (row, column) = (slot / 4, slot % 4);
            self.sums[slot] = spu.fnms(self.factors[row], self.b[column], self.sums[slot]);
            match slot {
                0..4 => {
                    let following = (k + 1) % SIZE as i32;
                    let at = following * ROW + 16 * column as i32 - MIDDLE;
                    self.b_coming[column] = spu.lqd(at, self.b_at);
                }
                4..8 => {
                    let place = (k + 1) as usize % 4;
                    let quadword = if place == 0 { self.a_coming[column] } else { self.a[column] };
                    self.factors_coming[column] = spu.shufb(quadword, quadword, self.splat[place]);
                }
                _ => self.beside(spu, k, slot - 8),
            }
        }
        self.b = self.b_coming;
        self.factors = self.factors_coming;
        if k % 4 == 3 {
            self.a = self.a_coming;
        }
    }

    /// What the odd pipe does in the second half of a step, in `slot` 0 to 7. A slot without an
    /// instruction has a neighbour without one, so that the two `fnms` fill a doubleword.
    #[inline(always)]
    fn beside<S: Spu<Register = R>>(&mut self, spu: &mut S, k: i32, slot: usize) {
        match (k, slot) {
            // The tile before.
            (0, _) => spu.stqd(self.finished[slot], displacement(slot), self.store_at),
            (2, _) => spu.stqd(self.finished[slot + 8], displacement(slot + 8), self.store_at),
            (4, 0) => self.store_at = spu.rotqbyi(self.entry, 8),
            // The list of tiles; A needs its pointer for the last time in step 57.
            (58, 0) => self.entry = spu.lqd(0, self.next),
            (59, 0) => self.next = spu.rotqbyi(self.entry, 12),
            (59, 1) => self.load_at = spu.rotqbyi(self.entry, 8),
            (59, 2) => spu.hbrr(),
            (62, 0) => self.b_at = spu.rotqbyi(self.entry, 4),
            // The tile after.
            (60, _) => self.coming[slot] = spu.lqd(displacement(slot), self.load_at),
            (61, 4..8) => self.coming[slot + 4] = spu.lqd(displacement(slot + 4), self.load_at),
            (62, 1..5) => self.coming[slot + 11] = spu.lqd(displacement(slot + 11), self.load_at),
            // The next four terms of A.
            (_, 0..4) if k % 4 == 1 => {
                let following = (k / 4 + 1) % (SIZE as i32 / 4);
                let at = slot as i32 * ROW + 16 * following;
                self.a_coming[slot] = spu.lqd(at, self.entry);
            }
            (4 | 58, 1) | (59, 3) | (62, 5) | (63, 6) => spu.lnop(),
            _ => {}
        }
    }

    /// Goes on to the next tile.
    #[inline(always)]
    fn turn(&mut self) {
        self.finished = self.sums;
        self.sums = self.coming;
    }
}

/// Sets a matrix to zero, as C is before the first product that is added to it.
///
/// Sixteen quadwords a turn: the odd pipe stores one a cycle, the even pipe counts beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClearMatrix {
    /// The matrix, written.
    pub out: LocalAddress,
}

/// Quadwords that a turn of [`ClearMatrix`] stores.
const STORES: u32 = 16;

kernel! {
    ClearMatrix -> (), |kernel, spu|
    shape: Shape::new("clear", 0);
    blocks: { output out[MATRIX_BYTES; 1]; }
    run: {
        let zero = spu.il(0);
        let at = spu.ila(kernel.out.0);
        let left = spu.ila(MATRIX_BYTES.0 as u32 / (16 * STORES));
        store_turns::<S, STORES>(spu, zero, at, left);
    };
}

/// Makes the list of tiles of one product that of another, whose matrices lie elsewhere: to each
/// entry is added how far they have moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retarget {
    /// What the first entry is to be, [`Sgemm::first_tile`](Sgemm::first_tile); read.
    pub first: LocalAddress,
    /// The list of tiles, read and written.
    pub tiles: LocalAddress,
}

kernel! {
    Retarget -> (), |kernel, spu|
    shape: Shape::new("sgemm tiles", 0);
    blocks: {
        input first[Bytes(16); 1];
        output tiles[TILES_BYTES; 1];
    }
    run: kernel.instructions(spu);
}

impl Retarget {
    #[inline(always)]
    fn instructions<S: Spu>(&self, spu: &mut S) {
        let wanted = spu.lqa(self.first);
        let found = spu.lqa(self.tiles);
        let by = spu.sf(found, wanted);
        for entry in 0..=TILES {
            let at = LocalAddress(self.tiles.0 + 16 * entry);
            let before = spu.lqa(at);
            let after = spu.a(before, by);
            spu.stqa(after, at);
        }
    }
}
