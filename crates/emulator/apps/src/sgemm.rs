//! The product of two matrices, C = A B in single precision: the worked example of the complexity
//! model of Bader, Agarwal and Madduri (IPDPS 2007).
//!
//! Each of p SPEs computes the rows of C that belong to every p-th row of blocks of A, for which it
//! needs all of B. Matrices lie in memory in blocks of 64 x 64, each 16 KB in a row: one DMA *list*
//! brings a panel, the blocks of 64 rows of A or of 64 columns of B. Where panels fit the local store
//! as a whole (up to n = 256), an SPE asks for n/(64 p) panels of A and n/64 as many of B: its requests
//! grow as n^2/(p b^2). For larger n panels come in pieces of as many blocks as fit, and the requests
//! grow as n^3/(p b^3). While an SPE computes with a panel of B, or a piece of one, the next one comes;
//! the panel of A stays for a whole row of blocks of C where it fits beside it (up to n = 512).
//!
//! The kernel computes C - A B. So that no SPE has to change a sign, the matrix in memory is -A: the
//! sign is changed with the layout, and both before the run begins. Block after block of C begins with
//! zeros and is stored once.
//!
//! One process of the host starts the SPEs once and waits. It has nothing else to do, so m = 1.

mod program;
#[cfg(test)]
mod tests;

use crate::application::{Application, Division, Ran};
use crate::fingerprint::Fingerprint;
use crate::layout::InMemory as _;
use crate::phylogeny::stream::Stream;
use crate::run::Run;
use crate::run::require;
use mmgp_base::Mapping;
use mmgp_base::error::Result;
use mmgp_base::units::Bytes;
use mmgp_cell::memory::Memory;
use mmgp_cell::{EffectiveAddress, Placement};
use mmgp_kernels::sgemm::SIZE;
use mmgp_runtime::{Runtime, Task};
use mmgp_spu::Quadword;
use program::{ARGUMENTS_BYTES, FUNCTION, FUNCTIONS, Operands, SgemmProgram};

/// The name of the program.
pub const NAME: &str = "sgemm";

/// Rows and columns of the largest matrices: all three of them take 192 MB of the 512 MB of a QS20's
/// Cell.
pub const LARGEST_ORDER: u32 = 4096;

/// Two matrices to be multiplied.
#[derive(Debug, Clone)]
pub struct Sgemm {
    a: Matrix,
    b: Matrix,
    placement: Placement,
}

/// What came of it.
#[derive(Debug, Clone)]
pub struct Findings {
    /// The product.
    pub product: Matrix,
}

impl Sgemm {
    /// Random matrices of that order, whose entries are uniform on [-1, 1).
    ///
    /// # Errors
    /// [`Error::OutOfRange`](mmgp_base::Error::OutOfRange) where it is no multiple of 64, 0 or more than [`LARGEST_ORDER`].
    pub fn random(order: u32, seed: u64) -> Result<Self> {
        let [a, b] = [0, 1].map(|number| {
            let mut stream = Stream::new(seed, number);
            Matrix::new(order, |_, _| (2.0 * stream.uniform() - 1.0) as f32)
        });
        Self::new(a?, b?)
    }

    /// The product of these two.
    ///
    /// # Errors
    /// [`Error::OutOfRange`](mmgp_base::Error::OutOfRange) where they are not as large as each other.
    pub fn new(a: Matrix, b: Matrix) -> Result<Self> {
        require(
            a.order() == b.order(),
            "order of the second matrix",
            b.order(),
            format!("{} as that of the first", a.order()),
        )?;
        Ok(Self { a, b, placement: Placement::default() })
    }

    /// The same with its matrices placed otherwise on a machine of several Cells.
    pub fn placed(self, placement: Placement) -> Self {
        Self { placement, ..self }
    }

    /// Rows, and columns, of each matrix.
    pub fn order(&self) -> u32 {
        self.a.order()
    }

    /// Floating-point operations: a multiplication and an addition for each term.
    pub fn flops(&self) -> f64 {
        2.0 * f64::from(self.order()).powi(3)
    }

    /// The largest error of an entry of a product against sums of doubles, in parts of the sum of the
    /// magnitudes of the entry's terms.
    ///
    /// Each of n steps truncates a sum that is no larger than these by less than one part in 2^23, so
    /// of a right product it is less than n / 2^23.
    pub fn largest_error(&self, product: &Matrix) -> f64 {
        largest_error(&self.a, &self.b, product)
    }
}

impl Application for Sgemm {
    fn name(&self) -> &'static str {
        NAME
    }

    fn division(&self) -> Division {
        Division::Data
    }

    fn steps(&self) -> u64 {
        u64::from(self.order() / SIZE).pow(2)
    }

    fn run(&self, on: &Runtime, mapping: Mapping) -> Result<Ran> {
        require(
            mapping.m() == 1,
            "processes of the product",
            mapping.m(),
            "1, which starts all SPEs: p is how many",
        )?;
        let blade = on.blade();
        let own = on.assign(mapping)?.remove(0);
        let homes = blade.homes(self.placement, 0, &own);
        let (memory, blocks) = (&blade.memory, self.order() / SIZE);
        let [a, b, c] = [(); 3].map(|()| homes.allocate(self.a.bytes()));
        self.a.negated().write(memory, a);
        self.b.write(memory, b);
        let at = homes.allocate_own(ARGUMENTS_BYTES);
        memory.write(at, Operands { a, b, c, blocks }.quadwords(ARGUMENTS_BYTES));
        SgemmProgram::load(on, blocks)?;
        let process = on.process(0, own);
        blade.sim.spawn("rank 0", async move {
            process.resume().await;
            process.run(Task::new(FUNCTION, mapping.p(), &|_| at)).await;
            process.finish(FUNCTION);
        });
        blade.run()?;
        let product = Matrix::read(self.order(), memory, c);
        let fingerprint = Fingerprint::default().counting("checksum of C", product.checksum());
        let run = Run::collect(on, mapping, &FUNCTIONS);
        Ok(Ran::new(run, fingerprint, Findings { product }))
    }
}

/// A square matrix of a multiple of 64 rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    order: u32,
    /// Row by row.
    entries: Vec<f32>,
}

impl Matrix {
    /// The matrix of these entries by row and column, which are asked for in their order.
    ///
    /// # Errors
    /// [`Error::OutOfRange`](mmgp_base::Error::OutOfRange) where the order is no multiple of 64, 0 or more than
    /// [`LARGEST_ORDER`].
    pub fn new(order: u32, mut entry: impl FnMut(u32, u32) -> f32) -> Result<Self> {
        require(
            order.is_multiple_of(SIZE) && (1..=LARGEST_ORDER).contains(&order),
            "order of the matrices",
            order,
            format!("a multiple of {SIZE} from {SIZE} to {LARGEST_ORDER}"),
        )?;
        let places = (0..order).flat_map(|row| (0..order).map(move |column| (row, column)));
        Ok(Self { order, entries: places.map(|(row, column)| entry(row, column)).collect() })
    }

    /// Rows, and columns.
    pub fn order(&self) -> u32 {
        self.order
    }

    /// The entry of a row and a column.
    #[cfg(test)]
    pub fn entry(&self, row: u32, column: u32) -> f32 {
        self.entries[self.place(row, column)]
    }

    /// Room for it.
    fn bytes(&self) -> Bytes {
        Bytes(4 * self.entries.len() as u64)
    }

    /// All entries with the other sign.
    fn negated(&self) -> Self {
        Self { order: self.order, entries: self.entries.iter().map(|entry| -entry).collect() }
    }

    /// Writes it into memory block by block: those of the first 64 rows first, each row by row.
    fn write(&self, memory: &Memory, at: EffectiveAddress) {
        let quadword = |place: usize| {
            Quadword::from_words(std::array::from_fn(|lane| self.entries[place + lane].to_bits()))
        };
        memory.write(at, self.in_blocks().map(quadword));
    }

    /// Reads one that lies in memory in blocks.
    fn read(order: u32, memory: &Memory, at: EffectiveAddress) -> Self {
        let mut matrix = Self { order, entries: vec![0.0; (order * order) as usize] };
        let places: Vec<usize> = matrix.in_blocks().collect();
        for (place, number) in places.into_iter().zip(0..) {
            let words = memory.read(at.offset(16 * number)).words();
            matrix.entries[place..place + 4].copy_from_slice(&words.map(f32::from_bits));
        }
        matrix
    }

    /// The places of the quadwords among the entries, in the order in which they lie in memory.
    fn in_blocks(&self) -> impl Iterator<Item = usize> {
        let (blocks, rows, columns) = (0..self.order / SIZE, 0..SIZE, (0..SIZE).step_by(4));
        blocks.clone().flat_map(move |block_row| {
            let (rows, columns) = (rows.clone(), columns.clone());
            blocks.clone().flat_map(move |block_column| {
                let columns = columns.clone();
                rows.clone().flat_map(move |row| {
                    columns.clone().map(move |column| {
                        self.place(block_row * SIZE + row, block_column * SIZE + column)
                    })
                })
            })
        })
    }

    fn place(&self, row: u32, column: u32) -> usize {
        (row * self.order + column) as usize
    }

    /// A number of 52 bits that any changed bit of an entry, and any entry that stands elsewhere,
    /// changes (FNV-1a over words).
    fn checksum(&self) -> u64 {
        const BASIS: u64 = 0xCBF2_9CE4_8422_2325;
        const PRIME: u64 = 0x100_0000_01B3;
        let mix = |sum: u64, entry: &f32| (sum ^ u64::from(entry.to_bits())).wrapping_mul(PRIME);
        self.entries.iter().fold(BASIS, mix) >> 12
    }
}

/// The largest error of an entry of a product of `a` and `b`, in parts of the sum of the magnitudes
/// of its terms; of an entry all of whose terms are zero, its own magnitude.
fn largest_error(a: &Matrix, b: &Matrix, product: &Matrix) -> f64 {
    let order = a.order as usize;
    let mut largest = 0.0_f64;
    let (mut sums, mut magnitudes) = (vec![0.0; order], vec![0.0; order]);
    for (row, found) in a.entries.chunks(order).zip(product.entries.chunks(order)) {
        sums.fill(0.0);
        magnitudes.fill(0.0);
        for (&factor, row) in row.iter().zip(b.entries.chunks(order)) {
            let sums = sums.iter_mut().zip(&mut magnitudes);
            for (&entry, (sum, magnitude)) in row.iter().zip(sums) {
                // Exact: the product of two floats fits a double.
                let term = f64::from(factor) * f64::from(entry);
                *sum += term;
                *magnitude += term.abs();
            }
        }
        for ((found, sum), magnitude) in found.iter().zip(&sums).zip(&magnitudes) {
            let error = (f64::from(*found) - sum).abs();
            let part = if *magnitude > 0.0 { error / magnitude } else { error };
            largest = if part.is_nan() { f64::INFINITY } else { largest.max(part) };
        }
    }
    largest
}
