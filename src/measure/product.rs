//! The product of two square matrices of doubles, as three nested loops write it: `c[i][j]` is the
//! sum over k of `a[i][k] * b[k][j]`.
//!
//! A walk down a column of `b` touches a line for each element. Whether these lines are still there
//! for the next column, and all of `b` for the next row, is what makes the time depend on the size
//! and on who else uses the caches.

use crate::cell::HostProcess;
use crate::cell::ppe::{Access, AccessKind, Core, Work};
use crate::machine::Machine;
use crate::units::{Cycles, Hertz, Seconds};
use std::cell::Cell;

/// Rows whose time is taken, after as many that lead to the steady state.
const SAMPLED_ROWS: u64 = 1;

/// Bytes between the matrices of two processes in memory: each has pages of its own.
const APART: u64 = 1 << 32;

/// An element of a product in memory.
const DOUBLE: u64 = 8;

/// What the rows of a product take on a PPE of a machine \[cycles\].
///
/// The caches are emulated for a few rows with their real addresses; the others are alike. Left
/// out: translation, although a column of a large matrix touches more pages than an ERAT holds.
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
    let mut core = Core::new(machine);
    let steps = Steps::new(machine);
    let rows = |process: u64, first: u64, count: u64| steps.rows(process, size, first, count);
    // The other one is half a row further, for no two processes go in step for long.
    let mut other = rows(1, 0, u64::MAX / size.pow(2).max(1)).skip((size * size) as usize);
    let mut run = |mut own: Box<dyn Iterator<Item = Access>>| {
        let streams: &mut [&mut dyn Iterator<Item = Access>] = &mut [&mut own, &mut other];
        core.run(&mut streams[..1 + others])
    };
    run(Box::new(rows(2, 0, SAMPLED_ROWS)));
    let cold = run(Box::new(rows(0, 0, 1)));
    run(Box::new(rows(0, 1, SAMPLED_ROWS)));
    let warm = run(Box::new(rows(0, 1 + SAMPLED_ROWS, SAMPLED_ROWS)));
    [cold, warm / SAMPLED_ROWS as f64]
}

/// What the steps of the loops take with everything in the first-level cache.
#[derive(Clone, Copy)]
struct Steps {
    load: Cycles,
    multiply_add: Cycles,
    store: Cycles,
}

impl Steps {
    /// The innermost loop has two loads, a multiply-add and an addition to the addresses; the middle
    /// one a store, two more additions and a branch.
    fn new(machine: &Machine) -> Self {
        let work = Work::default();
        let of = |work: Work| work.cycles(&machine.ppe);
        Self {
            load: of(Work { loads: 1, ..work }),
            multiply_add: of(Work { loads: 1, floats: 1, integers: 1, ..work }),
            store: of(Work { stores: 1, integers: 2, branches: 1, ..work }),
        }
    }

    /// The accesses of `count` rows of a process's product, from row `first` on.
    fn rows(
        self,
        process: u64,
        size: u64,
        first: u64,
        count: u64,
    ) -> impl Iterator<Item = Access> + 'static {
        let matrix = size * size * DOUBLE;
        let base = process * APART;
        let element = move |which: u64, row: u64, column: u64| {
            base + which * matrix + (row % size * size + column) * DOUBLE
        };
        let at = |address, kind, cycles| Access { address, kind, cycles };
        (first..first.saturating_add(count)).flat_map(move |i| {
            (0..size).flat_map(move |j| {
                let products = (0..size).flat_map(move |k| {
                    [
                        at(element(0, i, k), AccessKind::Load, self.load),
                        at(element(1, k, j), AccessKind::Load, self.multiply_add),
                    ]
                });
                products.chain([at(element(2, i, j), AccessKind::Store, self.store)])
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    fn qs20() -> Machine {
        Machine::named("qs20").unwrap()
    }

    #[test]
    fn a_row_of_a_small_product_costs_its_operations() {
        // 20 x 20: 400 inner steps of 5 + 5 + 10 + 2 cycles, 20 stores of 1 + 4 + 6; a line of a and
        // what else is new comes from memory: 160 bytes of a, 2 lines at most.
        let product = Product::new(&qs20(), 20);
        let by_hand = 400.0 * 22.0 + 20.0 * 11.0;
        assert!(product.warm[0] >= by_hand && product.warm[0] <= by_hand + 2.0 * 495.0);
        assert_relative_eq!(product.warm[1] / product.warm[0], 1.28, max_relative = 0.1);
    }

    #[test]
    fn a_column_that_does_not_fit_the_first_level_comes_from_the_second() {
        // 400 rows of 3200 bytes: a column has 400 lines, L1 256, so every element of b misses it.
        // b has 1.28 MB, so one of the 16 columns that a line belongs to brings it from memory, the
        // others find it in L2: (15 * 31 + 495) / 16 = 60 cycles on top of 22. The row of a, 25
        // lines, is lost once or twice for each column at most.
        let product = Product::new(&qs20(), 400);
        let elements = 400.0 * 400.0;
        assert_relative_eq!(product.warm[0] / elements, 82.0, max_relative = 0.06);
        // 100 rows: a column fits, and 80 KB fit L2: a line from there for 16 elements, and the
        // middle loop.
        let product = Product::new(&qs20(), 100);
        let by_hand = 22.0 + 31.0 / 16.0 + 11.0 / 100.0;
        assert_relative_eq!(product.warm[0] / 1e4, by_hand, max_relative = 0.02);
    }

    #[test]
    fn two_products_that_only_fit_the_second_level_alone_slow_each_other_down() {
        // b has 320 KB: one fits the 512 KB, two do not.
        let product = Product::new(&qs20(), 200);
        let alpha = product.warm[1] / product.warm[0];
        assert!(alpha > 1.5, "{alpha}");
    }
}
