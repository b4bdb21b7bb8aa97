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

use crate::application::Fingerprint;
use crate::application::{Application, Division, Ran};
use crate::layout::InMemory as _;
use crate::phylogeny::simulate::Stream;
use crate::run::{Run, alone, require};
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
        alone(blade, async move {
            process.resume().await;
            process.run(Task::new(FUNCTION, mapping.p(), &|_| at)).await;
            process.finish(FUNCTION);
        })?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use mmgp_base::error::Error;
    use mmgp_cell::mfc::Hazards;
    use mmgp_cell::{Blade, KernelTiming};
    use mmgp_kernels::sgemm::FLOPS;
    use mmgp_machine::Machine;
    use mmgp_runtime::Edtlp;

    fn run(sgemm: &Sgemm, p: u32, hazards: Hazards) -> Ran {
        let blade = Blade::new(&Machine::named("qs20").unwrap(), KernelTiming::Cached, 0.0);
        blade.set_hazards(hazards);
        sgemm.run(&Runtime::new(blade, Box::new(Edtlp::default())), Mapping::of(1, p)).unwrap()
    }

    fn product(ran: &Ran) -> &Matrix {
        &ran.findings::<Findings>().unwrap().product
    }

    #[test]
    fn the_product_is_that_of_doubles_for_any_order_and_number_of_spes() {
        // Panels that stay whole, in pieces, and A in pieces, too.
        for (order, all) in [(64, &[1, 3][..]), (128, &[1, 16]), (320, &[3, 8]), (576, &[8])] {
            let sgemm = Sgemm::random(order, 1).unwrap();
            let runs: Vec<Ran> = all.iter().map(|&p| run(&sgemm, p, Hazards::Checked)).collect();
            for ran in &runs {
                let error = sgemm.largest_error(product(ran));
                // Truncation leaves an error of some order, and no more than is explained.
                let most = f64::from(order) / f64::from(1 << 23);
                assert!((1e-9..most).contains(&error), "{order}: {error}");
                assert_eq!(ran.fingerprint.differs_from(&runs[0].fingerprint), None);
            }
        }
    }

    #[test]
    fn the_product_of_whole_numbers_is_exact() {
        // Row i of A holds i + 1 at column i + 1, of which the last wraps: a shift of the rows of B.
        let order = 192;
        let shift =
            Matrix::new(
                order,
                |row, column| {
                    if column == (row + 1) % order { row as f32 + 1.0 } else { 0.0 }
                },
            );
        let b = Matrix::new(order, |row, column| (3 * row) as f32 - column as f32).unwrap();
        let sgemm = Sgemm::new(shift.unwrap(), b.clone()).unwrap();
        let by_hand =
            Matrix::new(order, |row, column| (row + 1) as f32 * b.entry((row + 1) % order, column));
        assert_eq!(product(&run(&sgemm, 2, Hazards::Ignored)), &by_hand.unwrap());
    }

    #[test]
    fn an_error_is_told_in_parts_of_the_terms_magnitudes() {
        let [one, two] = [1.0, 2.0].map(|value| Matrix::new(64, |_, _| value).unwrap());
        let sgemm = Sgemm::new(one, two).unwrap();
        let product = |at_corner| {
            let entry = |row, column| if (row, column) == (63, 63) { at_corner } else { 128.0 };
            Matrix::new(64, entry).unwrap()
        };
        assert_eq!(sgemm.largest_error(&product(128.0)), 0.0);
        assert_eq!(sgemm.largest_error(&product(96.0)), 0.25);
        assert_eq!(sgemm.largest_error(&product(f32::NAN)), f64::INFINITY);
    }

    #[test]
    fn requests_are_those_counted_by_hand() {
        let check = |order: u32, p: u32, of_rows: u64| {
            let sgemm = Sgemm::random(order, 1).unwrap();
            let commands = run(&sgemm, p, Hazards::Ignored).run.dma_commands;
            // Each of 16 SPEs fetches the program, each of p the arguments.
            assert_eq!(commands, 16 + u64::from(p) + of_rows, "{order}, {p}");
        };
        // Two rows: a panel of A, and for each of two blocks of C a panel of B and a put.
        check(128, 1, 2 * (1 + 2 * (1 + 1)));
        // More SPEs than rows: the others fetch their arguments and have no row.
        check(128, 16, 2 * (1 + 2 * (1 + 1)));
        // The largest panels that come whole, and the smallest that come in two pieces.
        check(256, 4, 4 * (1 + 4 * (1 + 1)));
        check(320, 2, 5 * (1 + 5 * (2 + 1)));
        // A and B in three pieces each.
        check(576, 8, 9 * 9 * (3 + 3 + 1));
    }

    #[test]
    fn products_take_nearly_all_the_time_and_rows_share_it() {
        let time =
            |order: u32, p| run(&Sgemm::random(order, 1).unwrap(), p, Hazards::Ignored).run.time.0;
        let [one, two, four] = [1, 2, 4].map(|p| time(512, p));
        // One SPE reaches 99.90 % of its peak of 25.6 GFLOP/s in the kernel; what is around it takes a
        // few per cent more, above all the first panels of each row.
        let kernel = 512.0 * FLOPS as f64 / 25.6e9;
        assert!((0.93..0.999).contains(&(kernel / one)), "{}", kernel / one);
        assert!((1.9..=2.0).contains(&(one / two)), "{}", one / two);
        assert!((3.7..=4.0).contains(&(one / four)), "{}", one / four);
        // Four rows keep no more than four SPEs busy.
        let [four, sixteen] = [4, 16].map(|p| time(256, p));
        assert!((0.9..=1.01).contains(&(four / sixteen)), "{}", four / sixteen);
    }

    #[test]
    fn orders_and_processes_that_it_cannot_do_are_refused() {
        let check = |error: Error, message: &str| assert_eq!(error.to_string(), message);
        for order in [0, 100, 4160] {
            let message = format!(
                "order of the matrices: found {order}, expected a multiple of 64 from 64 to 4096"
            );
            check(Sgemm::random(order, 1).unwrap_err(), &message);
        }
        let on = |mapping| {
            let blade = Blade::new(&Machine::named("ps3").unwrap(), KernelTiming::Cached, 0.0);
            let on = Runtime::new(blade, Box::new(Edtlp::default()));
            Sgemm::random(64, 1).unwrap().run(&on, mapping).unwrap_err()
        };
        check(
            on(Mapping::of(2, 1)),
            "processes of the product: found 2, expected 1, which starts all SPEs: p is how many",
        );
        check(on(Mapping::of(1, 7)), "m = 1, p = 7 needs 7 APUs, but there are 6");
    }
}
