//! Square matrices of floats, row by row here and in blocks in the memory of the machine.

use super::LARGEST_ORDER;
use mmgp_base::error::{Error, Result};
use mmgp_base::units::Bytes;
use mmgp_cell::EffectiveAddress;
use mmgp_cell::memory::Memory;
use mmgp_kernels::sgemm::SIZE;
use mmgp_spu::Quadword;

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
    /// [`Error::OutOfRange`] where the order is no multiple of 64, 0 or more than
    /// [`LARGEST_ORDER`].
    pub fn new(order: u32, mut entry: impl FnMut(u32, u32) -> f32) -> Result<Self> {
        if !order.is_multiple_of(SIZE) || !(1..=LARGEST_ORDER).contains(&order) {
            return Err(Error::out_of_range(
                "order of the matrices",
                order.to_string(),
                format!("a multiple of {SIZE} from {SIZE} to {LARGEST_ORDER}"),
            ));
        }
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
    pub(super) fn bytes(&self) -> Bytes {
        Bytes(4 * self.entries.len() as u64)
    }

    /// All entries with the other sign.
    pub(super) fn negated(&self) -> Self {
        Self { order: self.order, entries: self.entries.iter().map(|entry| -entry).collect() }
    }

    /// Writes it into memory block by block: those of the first 64 rows first, each row by row.
    pub(super) fn write(&self, memory: &Memory, at: EffectiveAddress) {
        let quadword = |place: usize| {
            Quadword::from_words(std::array::from_fn(|lane| self.entries[place + lane].to_bits()))
        };
        memory.write(at, self.in_blocks().map(quadword));
    }

    /// Reads one that lies in memory in blocks.
    pub(super) fn read(order: u32, memory: &Memory, at: EffectiveAddress) -> Self {
        let mut matrix = Self { order, entries: vec![0.0; (order * order) as usize] };
        let places: Vec<usize> = matrix.in_blocks().collect();
        for (place, number) in places.into_iter().zip(0..) {
            let words = memory.read(at.offset(16 * number)).words();
            matrix.entries[place..place + 4].copy_from_slice(&words.map(f32::from_bits));
        }
        matrix
    }

    /// Where the quadwords stand among the entries, in the order in which they lie in memory.
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
    pub(super) fn checksum(&self) -> u64 {
        const BASIS: u64 = 0xCBF2_9CE4_8422_2325;
        const PRIME: u64 = 0x100_0000_01B3;
        let mix = |sum: u64, entry: &f32| (sum ^ u64::from(entry.to_bits())).wrapping_mul(PRIME);
        self.entries.iter().fold(BASIS, mix) >> 12
    }
}

/// The largest error of an entry of a product of `a` and `b`, in parts of the sum of the magnitudes
/// of its terms; of an entry all of whose terms are zero, its own magnitude.
pub(super) fn largest_error(a: &Matrix, b: &Matrix, product: &Matrix) -> f64 {
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
