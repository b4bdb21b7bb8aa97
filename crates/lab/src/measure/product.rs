//! The product of two square matrices of doubles, as three nested loops write it: `c[i][j]` is the
//! sum over k of `a[i][k] * b[k][j]`.
//!
//! Its instructions are issued one by one with the real addresses of their accesses, so a row takes
//! what the issue of both threads, the caches' contents and the loads under way make of it. A walk
//! down a column of `b` touches a line for each element. Whether these lines are still there for the
//! next column, and all of `b` for the next row, is what makes the time depend on the size and on
//! who else uses the caches.

use mmgp_base::units::{Hertz, Seconds};
use mmgp_cell::HostProcess;
use mmgp_cell::ppe::{Access, AccessKind, Assembler, Core, Place, Step, Steps};
use mmgp_machine::Machine;
use std::cell::Cell;
use std::ops::Range;

/// Columns of a row that are issued instruction by instruction: the elements of two whole lines, for
/// one column in so many comes with its lines from further away.
const TIMED: u64 = 32;
/// Columns that are issued before these in the steady state, so that the threads have fallen into
/// whatever step they fall into.
const SETTLING: u64 = 16;
/// Places at which the other product is in its row when these begin: their mean is taken, for no two
/// go in step for long, and it depends on the place which of their lines meet.
const PHASES: u64 = 4;
/// Rows of which only the accesses happen, in the caches alone, before each of these.
const WARMING: u64 = 2;

/// Bytes between the matrices of two processes in memory: each has pages of its own.
const APART: u64 = 1 << 32;

/// An element of a product in memory.
const DOUBLE: u64 = 8;

/// What the rows of a product take on a PPE of a machine \[cycles\].
///
/// Sampled are 32 columns of a row in the steady state, with the other product at four places, and 32
/// of the first row; the others are alike.
/// Left out: translation, although a column of a large matrix touches more pages than an ERAT holds.
pub struct Product {
    size: u64,
    clock: Hertz,
    /// Steady state, with nobody on the other thread and with another product there.
    warm: [f64; 2],
    /// The first row after a product of another process had the thread.
    cold: [f64; 2],
    /// Products that run now, for each Cell.
    running: Vec<Cell<usize>>,
}

impl Product {
    /// Times the rows of a product of that size.
    pub fn new(machine: &Machine, size: u32) -> Self {
        let size = u64::from(size);
        let threads = machine.layout.threads_per_ppe.min(2) as usize;
        let [mut warm, mut cold] = [[0.0; 2]; 2];
        for others in 0..threads {
            [cold[others], warm[others]] = sample(machine, size, others);
        }
        if threads == 1 {
            (warm[1], cold[1]) = (warm[0], cold[0]);
        }
        let running = (0..machine.layout.cells).map(|_| Cell::new(0)).collect();
        Self { size, clock: machine.clock, warm, cold, running }
    }

    /// Computes a product as one of the machine's processes on a Cell. The time of each row depends
    /// on whether the other hardware thread has a product too when it begins.
    pub async fn compute(&self, process: &HostProcess, cell: u32) {
        let running = &self.running[cell as usize];
        running.set(running.get() + 1);
        for row in 0..self.size {
            let others = (running.get() - 1).min(1);
            let cycles = if row == 0 { self.cold[others] } else { self.warm[others] };
            process.spend(Seconds(cycles / self.clock.0)).await;
        }
        running.set(running.get() - 1);
    }
}

/// Cycles of a row right after another process's rows, and in the steady state, with so many others
/// on the other thread.
fn sample(machine: &Machine, size: u64, others: usize) -> [f64; 2] {
    let assembler = Assembler::new(machine);
    // What is on the threads when a process is at that column and the other one so much further.
    let at = |process: u64, column: u64, phase: u64| {
        let both = [(process, column), (1, column + size * phase / PHASES)];
        let threads = both.into_iter().take(1 + others);
        threads.map(|(process, column)| (Loops { assembler, process, size }, column))
    };
    let warm_up = |core: &mut Core, process, columns: Range<u64>, phase| {
        columns.for_each(|column| {
            core.touch(accesses(&at(process, column, phase).collect::<Vec<_>>()));
        });
    };
    let (timed, steps) = (TIMED.min(size), Loops::INNER * size + Loops::OUTER);
    let time = |core: &mut Core, column, phase, settling| {
        core.switch(at(0, column, phase).map(|(loops, column)| loops.columns(column)).collect());
        core.run(settling * steps);
        core.run(timed * steps).0 as f64 * size as f64 / timed as f64
    };
    let mut core = Core::new(machine, Vec::new());
    warm_up(&mut core, 2, 0..size, 0);
    let cold = time(&mut core, 0, 0, 0);
    let phases = if others == 0 { 1 } else { PHASES };
    let warm = (0..phases).map(|phase| {
        let end = WARMING * (phase + 1) * size;
        warm_up(&mut core, 0, end - WARMING * size..end, phase);
        time(&mut core, end, phase, SETTLING)
    });
    [cold, warm.sum::<f64>() / phases as f64]
}

/// The accesses of a column by each of the threads, by turns.
fn accesses(threads: &[(Loops, u64)]) -> impl Iterator<Item = Access> {
    let size = threads[0].0.size;
    let load = |address| Access { address, kind: AccessKind::Load };
    let inner = (0..size).flat_map(move |k| {
        threads.iter().flat_map(move |(loops, column)| {
            let [i, j] = loops.place(*column);
            [load(loops.element(0, i, k)), load(loops.element(1, k, j))]
        })
    });
    inner.chain(threads.iter().map(|(loops, column)| {
        let [i, j] = loops.place(*column);
        Access { address: loops.element(2, i, j), kind: AccessKind::Store }
    }))
}

/// The registers that the loops use.
const A: Place = Place(0);
const B: Place = Place(1);
const SUM: Place = Place(2);
const A_ADDRESS: Place = Place(3);
const B_ADDRESS: Place = Place(4);
const C_ADDRESS: Place = Place(5);
const A_ROW: Place = Place(6);
const B_COLUMN: Place = Place(7);

/// The loops as gcc -O2 compiles them: the sum stays in a register, two addresses advance, and a
/// counter ends the innermost loop. Each result is computed right before its use.
#[derive(Clone, Copy)]
struct Loops {
    assembler: Assembler,
    process: u64,
    size: u64,
}

impl Loops {
    /// Instructions of a turn of the innermost loop, and what the middle one has beside it.
    const INNER: u64 = 6;
    const OUTER: u64 = 5;

    /// The instructions of the product from that column on, counted from the first row's first one
    /// and without end.
    fn columns(self, first: u64) -> Steps<'static> {
        Box::new((first..).flat_map(move |column| {
            let [i, j] = self.place(column);
            (0..self.size).flat_map(move |k| self.inner(i, j, k)).chain(self.outer(i, j))
        }))
    }

    /// The row and the column within it.
    fn place(self, column: u64) -> [u64; 2] {
        [column / self.size % self.size, column % self.size]
    }

    fn inner(self, i: u64, j: u64, k: u64) -> [Step; Self::INNER as usize] {
        let ppe = self.assembler;
        [
            ppe.load_double(A, A_ADDRESS, self.element(0, i, k)),
            ppe.load_double(B, B_ADDRESS, self.element(1, k, j)),
            ppe.multiply_add(SUM, A, B, (k > 0).then_some(SUM)),
            ppe.integer(A_ADDRESS, A_ADDRESS),
            ppe.integer(B_ADDRESS, B_ADDRESS),
            ppe.branch(),
        ]
    }

    fn outer(self, i: u64, j: u64) -> [Step; Self::OUTER as usize] {
        let ppe = self.assembler;
        [
            ppe.store_double(SUM, C_ADDRESS, self.element(2, i, j)),
            ppe.integer(C_ADDRESS, C_ADDRESS),
            ppe.integer(A_ADDRESS, A_ROW),
            ppe.integer(B_ADDRESS, B_COLUMN),
            ppe.branch(),
        ]
    }

    fn element(self, matrix: u64, row: u64, column: u64) -> u64 {
        let elements = self.size * self.size;
        self.process * APART + (matrix * elements + row * self.size + column) * DOUBLE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    fn qs20() -> Machine {
        Machine::named("qs20").unwrap()
    }

    /// Cycles of an element's turn of the innermost loop, alone and beside another product.
    fn turns(size: u32) -> [f64; 2] {
        Product::new(&qs20(), size).warm.map(|row| row / f64::from(size * size))
    }

    #[test]
    fn a_row_of_a_small_product_is_the_issue_of_its_instructions() {
        // 20 x 20: a turn waits ten cycles for its sum. A column of the row: 19 such turns, then the
        // store ten cycles after the last one, two more addresses, and five cycles on the second of
        // b's column, whose load issues a cycle after a's: 19 * 10 + 10 + 2 + 5 + 1 = 208.
        let product = Product::new(&qs20(), 20);
        assert!(product.warm[0] >= 20.0 * 208.0 && product.warm[0] <= 20.0 * 208.0 + 2.0 * 495.0);
        assert!(product.cold[0] > product.warm[0]);
    }

    #[test]
    fn a_column_that_does_not_fit_the_first_level_comes_from_the_second() {
        // 400 rows of 3200 bytes: a column has 400 lines, L1 256, so every element of b misses it.
        // b has 1.28 MB, so one of the 16 columns that a line belongs to brings it from memory, the
        // others find it in L2. The load of b issues six cycles after the sum and has it 32 or 496
        // cycles later: (15 * 38 + 502) / 16 = 67.
        assert_relative_eq!(turns(400)[0], 67.0, max_relative = 0.06);
    }

    #[test]
    fn two_products_that_only_fit_the_second_level_alone_slow_each_other_down() {
        // b has 320 KB: one fits the 512 KB, two do not. Those of 1.28 MB wait for memory, alone or not.
        let [alone, together] = turns(200);
        assert!(together / alone > 1.5, "{alone} {together}");
        let [alone, together] = turns(400);
        assert!(together / alone < 1.05, "{alone} {together}");
    }
}
