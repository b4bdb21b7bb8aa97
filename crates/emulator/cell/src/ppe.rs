//! The host core: what its code costs, and the pipeline that its hardware threads share.
//!
//! There are two ways to say what host code takes. Control flow is not emulated instruction by
//! instruction: a program counts what a burst of its code does ([`Work`]), and each operation costs
//! its documented latency. Numerical functions are written over [`Arithmetic`] and executed with
//! [`Timed`], whose scoreboard issues every instruction in order. Either way two busy hardware
//! threads slow each other down, and the code goes through the caches with the lines that it
//! touches, finds those that are still there, and waits for the others.
//!
//! # Where things lie
//! All processes of a program share its code. Each has data of its own, in other pages but at the
//! same addresses within them, as processes of one program do: so the data of different processes
//! meet in the same sets of the first-level cache. Every burst touches code and data from the
//! start on, so a short one finds what a long one left.

mod arithmetic;
mod assembler;
mod core;
mod hierarchy;
mod scoreboard;
mod timed;

use std::cell::RefCell;
use std::future::Future;
use std::ops::{Add, AddAssign, Mul};

pub(super) use self::core::Pipeline;
pub use self::core::{Core, Steps, Stream};
pub use self::scoreboard::Step;
pub use arithmetic::{Arithmetic, Plain};
pub use assembler::{Assembler, HostCompiler, Place, exponential, logarithm};
pub use hierarchy::{Access, AccessKind, Stretch};
use hierarchy::{Hierarchy, Translations};
pub use scoreboard::Order;

pub use timed::{Register, Timed};

use mmgp_base::units::{Bytes, Cycles, Hertz, Seconds};
use mmgp_machine::Machine;
use mmgp_sim::Sim;

/// Operations that a burst of host code executes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Work {
    /// Integer operations and address arithmetic.
    pub integers: u64,
    /// Loads.
    pub loads: u64,
    /// Stores.
    pub stores: u64,
    /// Floating-point operations except divisions; a fused multiply-add is one.
    pub floats: u64,
    /// Floating-point divisions.
    pub divides: u64,
    /// Conditional branches.
    pub branches: u64,
    /// Bytes of code, 4 for each instruction that is not one of these again: further turns of a
    /// loop need no more code.
    pub code: u64,
}

impl Work {
    /// No operation.
    pub const NONE: Self =
        Self { integers: 0, loads: 0, stores: 0, floats: 0, divides: 0, branches: 0, code: 0 };

    /// The exponential or the logarithm of a double by the usual library: range reduction and a
    /// polynomial of degree 13 or so, evaluated in one chain.
    pub const TRANSCENDENTAL: Self =
        Self { integers: 8, loads: 16, stores: 1, floats: 20, divides: 0, branches: 4, code: 0 };

    /// Cycles when nobody shares the core and each operation waits for the one before.
    pub fn cycles(&self, ppe: &mmgp_machine::Ppe) -> Cycles {
        Cycles(
            self.integers * ppe.integer.0
                + self.loads * ppe.load.0
                + self.stores * ppe.store.0
                + self.floats * ppe.float.0
                + self.divides * ppe.divide.0
                + self.branches * ppe.branch.0,
        )
    }

    /// The same as time on that machine.
    pub fn alone(&self, machine: &Machine) -> Seconds {
        self.cycles(&machine.ppe).at(machine.clock).seconds()
    }

    /// The same burst, each of its operations an instruction of its own.
    pub const fn in_line(self) -> Self {
        let arithmetic = self.integers + self.floats + self.divides;
        Self { code: 4 * (arithmetic + self.loads + self.stores + self.branches), ..self }
    }

    /// What the burst touches at most: its data, each access 8 bytes further on, and its code;
    /// neither more than the first-level cache holds.
    fn footprint(&self, ppe: &mmgp_machine::Ppe) -> Footprint {
        Footprint {
            data: Bytes((8 * (self.loads + self.stores)).min(ppe.l1_data.0)),
            code: Bytes(self.code.min(ppe.l1_instruction.0)),
        }
    }
}

/// Declares what bursts of host code execute, an operation in line after the other:
/// `CALL: 16 integers, 20 loads;`.
#[macro_export]
macro_rules! work {
    ($($(#[$doc:meta])* $visibility:vis $name:ident: $($count:literal $operations:ident),+;)+) => {$(
        $(#[$doc])*
        $visibility const $name: $crate::ppe::Work = {
            let mut work = $crate::ppe::Work::NONE;
            $(work.$operations = $count;)+
            work.in_line()
        };
    )+};
}

/// What a burst touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Footprint {
    data: Bytes,
    code: Bytes,
}

/// Pages that a process has touched since its hardware thread last changed the address space.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Translated {
    data: u64,
    code: u64,
}

impl Add for Work {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            integers: self.integers + other.integers,
            loads: self.loads + other.loads,
            stores: self.stores + other.stores,
            floats: self.floats + other.floats,
            divides: self.divides + other.divides,
            branches: self.branches + other.branches,
            code: self.code + other.code,
        }
    }
}

impl AddAssign for Work {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Mul<u64> for Work {
    type Output = Self;
    fn mul(self, times: u64) -> Self {
        Self {
            integers: self.integers * times,
            loads: self.loads * times,
            stores: self.stores * times,
            floats: self.floats * times,
            divides: self.divides * times,
            branches: self.branches * times,
            code: self.code,
        }
    }
}

/// The PPE of one Cell.
pub struct Ppe {
    pub(super) pipeline: Pipeline,
    caches: RefCell<Hierarchy>,
    translations: RefCell<Translations>,
    description: mmgp_machine::Ppe,
    page: Bytes,
    translation: Cycles,
    clock: Hertz,
}

/// Address at which the data of the processes begin, and their distance: beyond any footprint, at the
/// same place within the first-level cache's ways and at different ones within the second's.
const DATA: u64 = 1 << 40;
const APART: u64 = (1 << 30) + (1 << 13);

/// Distance to the data that a process says it walks through, beyond what bursts touch.
const HEAP: u64 = 1 << 20;

impl Ppe {
    /// PPEs of all Cells of a machine.
    pub(super) fn of_all_cells(sim: &Sim, machine: &Machine) -> Vec<Self> {
        let slowdown = self::core::slowdown(machine);
        let ppe = |cell: u32| Self {
            pipeline: Pipeline::new(sim, &format!("the PPE of Cell {cell}"), slowdown),
            caches: RefCell::new(Hierarchy::new(machine)),
            translations: RefCell::new(Translations::new(machine)),
            description: machine.ppe,
            page: machine.cache.page,
            translation: machine.cache.translation,
            clock: machine.clock,
        };
        (0..machine.layout.cells).map(ppe).collect()
    }

    /// Executes a burst on the shared pipeline until it is done or `stop` ends, and says how much
    /// is left.
    pub(super) async fn execute(&self, alone: Seconds, stop: impl Future<Output = ()>) -> Seconds {
        self.pipeline.execute(alone, stop).await
    }

    /// What a burst takes on an undisturbed pipeline with everything in the first-level caches.
    pub(super) fn alone(&self, work: Work) -> Seconds {
        self.seconds(work.cycles(&self.description))
    }

    /// What a burst of process `rank` waits for the lines that it does not find in the first-level
    /// caches, and for the translation of pages.
    pub(super) fn stall(&self, rank: u32, work: Work, translated: &mut Translated) -> Seconds {
        let Footprint { data, code } = work.footprint(&self.description);
        let mut caches = self.caches.borrow_mut();
        let line = self.description.line.0 as usize;
        let own = DATA + u64::from(rank) * APART;
        let mut stall = Cycles(0);
        for offset in (0..data.0).step_by(line) {
            let level = caches.load(own + offset);
            stall += caches.stall(level);
        }
        for offset in (0..code.0).step_by(line) {
            let level = caches.fetch(offset);
            stall += caches.stall(level);
        }
        let mut translate = |bytes: Bytes, known: &mut u64| {
            let pages = bytes.0.div_ceil(self.page.0);
            stall += Cycles(self.translation.0 * pages.saturating_sub(*known));
            *known = pages.max(*known);
        };
        translate(data, &mut translated.data);
        translate(code, &mut translated.code);
        self.seconds(stall)
    }

    /// What process `rank` waits for lines while it walks through these stretches of its data.
    pub(super) fn walk(&self, rank: u32, stretches: &[Stretch]) -> Seconds {
        let heap = DATA + u64::from(rank) * APART + HEAP;
        self.seconds(hierarchy::stall(&mut self.caches.borrow_mut(), heap, stretches))
    }

    /// What process `rank` waits for lines and translations in accesses to its data of which each
    /// needs what the one before it has loaded.
    pub(super) fn follow(&self, rank: u32, accesses: impl Iterator<Item = Access>) -> Seconds {
        let heap = DATA + u64::from(rank) * APART + HEAP;
        let (mut caches, mut pages) = (self.caches.borrow_mut(), self.translations.borrow_mut());
        let stall = |sum: Cycles, access: Access| {
            let address = heap + access.address;
            let translation = pages.translate(&mut caches, address);
            let line = match access.kind {
                AccessKind::Load => {
                    let level = caches.load(address);
                    caches.stall(level)
                }
                AccessKind::Store => {
                    caches.store(address);
                    Cycles(0)
                }
            };
            Cycles(sum.0 + translation.0 + line.0)
        };
        self.seconds(accesses.fold(Cycles(0), stall))
    }

    fn seconds(&self, cycles: Cycles) -> Seconds {
        cycles.at(self.clock).seconds()
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
    fn a_burst_costs_the_latencies_of_what_it_counts() {
        let ppe = qs20().ppe;
        let work =
            Work { integers: 1, loads: 2, stores: 3, floats: 4, divides: 5, branches: 6, code: 0 };
        // 1*2 + 2*5 + 3*1 + 4*10 + 5*74 + 6*6
        assert_eq!(work.cycles(&ppe), Cycles(461));
        assert_eq!((work + work).cycles(&ppe), (work * 2).cycles(&ppe));
    }

    #[test]
    fn a_burst_touches_no_more_than_the_caches_hold_and_the_code_of_a_loop_once() {
        let ppe = qs20().ppe;
        let footprint = |work: Work| {
            let Footprint { data, code } = work.footprint(&ppe);
            (data.0, code.0)
        };
        let burst = Work { loads: 20, ..Work::default() }.in_line();
        assert_eq!(footprint(burst), (160, 80));
        assert_eq!(footprint(burst + burst), (320, 160));
        // Three turns of a loop, twice: six times the data, the code once.
        assert_eq!(footprint(burst * 3 * 2), (960, 80));
        assert_eq!(footprint(Work { loads: 1 << 40, ..Work::default() }.in_line()), (32768, 32768));
    }

    /// What a burst of 1600 loads by each of `ranks`, one after the other, waits when the first of
    /// them comes again \[cycles\].
    fn coming_back(ranks: u32) -> f64 {
        let sim = Sim::new();
        let ppe = &Ppe::of_all_cells(&sim, &qs20())[0];
        // 12,800 bytes of data, 100 lines on 4 pages, and 6,400 of code on 2 pages.
        let burst = Work { loads: 1600, ..Work::default() }.in_line();
        for rank in 0..ranks {
            ppe.stall(rank, burst, &mut Translated::default());
        }
        ppe.stall(0, burst, &mut Translated::default()).0 * 3.2e9
    }

    #[test]
    fn coming_back_costs_the_lines_that_others_displaced_and_the_pages() {
        // 6 pages at 60 cycles. Two processes have 200 lines, which fit the 256 of L1, and the code
        // is the same. But of 64 sets 36 get two lines of each process: for the third there are
        // four places, so that with three processes 72 lines of the first are gone, and with five
        // also the 28 in sets that get one line of each. They come from L2 at 31 cycles.
        assert_relative_eq!(coming_back(1), 360.0, max_relative = 1e-9);
        assert_relative_eq!(coming_back(2), 360.0, max_relative = 1e-9);
        assert_relative_eq!(coming_back(3), 360.0 + 72.0 * 31.0, max_relative = 1e-9);
        assert_relative_eq!(coming_back(5), 360.0 + 100.0 * 31.0, max_relative = 1e-9);
    }
}
