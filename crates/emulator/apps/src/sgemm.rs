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

mod matrix;
mod panels;
mod program;
#[cfg(test)]
mod tests;

use crate::application::{Application, Division, Ran};
use crate::fingerprint::Fingerprint;
use crate::layout::InMemory as _;
use crate::phylogeny::stream::Stream;
use crate::run::Run;
use mmgp_base::Mapping;
use mmgp_base::error::{Error, Result};
use mmgp_cell::Placement;
use mmgp_kernels::sgemm::SIZE;
use mmgp_runtime::{Runtime, Task};

pub use matrix::Matrix;
use program::{ARGUMENTS_BYTES, FUNCTION, FUNCTIONS, Operands, SgemmProgram};

/// Its name.
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
    /// [`Error::OutOfRange`] where it is no multiple of 64, 0 or more than [`LARGEST_ORDER`].
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
    /// [`Error::OutOfRange`] where they are not as large as each other.
    pub fn new(a: Matrix, b: Matrix) -> Result<Self> {
        if a.order() != b.order() {
            return Err(Error::out_of_range(
                "order of the second matrix",
                b.order().to_string(),
                format!("{} as that of the first", a.order()),
            ));
        }
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
        matrix::largest_error(&self.a, &self.b, product)
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
        if mapping.m() > 1 {
            return Err(Error::out_of_range(
                "processes of the product",
                mapping.m().to_string(),
                "1, which starts all SPEs: p is how many",
            ));
        }
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
