//! The time of a listing, instruction by instruction.

use crate::assembly::operand::RegisterName;
use crate::pipeline::{Single, Stall, Stalls};
use mmgp_base::error::Warning;
use mmgp_base::units::Cycles;

/// The time of a listing.
#[derive(Debug, Clone, PartialEq)]
pub struct Timeline {
    /// From the issue of the first instruction until another one could issue after the last.
    pub cycles: Cycles,
    /// Instructions that issued, those that fill alignments among them.
    pub instructions: u64,
    /// Cycles in which two issued.
    pub dual_issues: u64,
    /// Cycles in which none issued.
    pub stalls: Stalls,
    /// One for each instruction of the listing; those of a loop as they were in the iteration
    /// [`Iterations::shown`].
    pub rows: Vec<Row>,
    /// How the loop went, where one was timed.
    pub iterations: Option<Iterations>,
    /// What is timed otherwise than it may run.
    pub warnings: Vec<Warning>,
}

impl Timeline {
    /// The share of the instructions that share their cycle with another one, from 0 to 1.
    pub fn dual_issue_rate(&self) -> f64 {
        2.0 * self.dual_issues as f64 / self.instructions as f64
    }
}

/// An instruction, when it issued.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The cycle in which it issued, within a loop counted from the beginning of the iteration.
    pub cycle: Cycles,
    /// Whether it shares its cycle with the instruction before it.
    pub dual: bool,
    /// Why it does not; none where it does.
    pub single: Option<Single>,
    /// What it waited for and for how many cycles, in the order of [`Stall::ALL`]; for a branch
    /// also the penalty after it.
    pub stalls: Vec<(Stall, u64)>,
    /// The register that it waited for, or that was not ready for it to join the one before.
    pub awaited: Option<Awaited>,
}

impl Row {
    /// Cycles in which it kept everything waiting.
    pub fn stall_cycles(&self) -> u64 {
        self.stalls.iter().map(|(_, cycles)| cycles).sum()
    }

    /// What cost it the most cycles.
    pub fn longest(&self) -> Option<Stall> {
        // Of several that are as long, the first.
        self.stalls.iter().rev().max_by_key(|(_, cycles)| cycles).map(|&(cause, _)| cause)
    }
}

/// A register that is computed too late for its reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Awaited {
    /// The register.
    pub register: RegisterName,
    /// The line that computes it.
    pub line: u64,
}

/// How a loop went.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Iterations {
    /// How often it ran.
    pub count: u64,
    /// The index of its first instruction in the listing.
    pub first: usize,
    /// The iteration that the rows show, counted from 1: the last that led to another one.
    pub shown: u64,
    /// When that one began.
    pub shown_begins: Cycles,
    /// Cycles of an iteration in the steady state, in which what is computed before an iteration is
    /// ready after as many cycles as before an earlier one. Where the loop ends before it comes to
    /// that, those of the iteration shown.
    pub steady: f64,
    /// How many iterations it takes until everything repeats itself; none where the loop ended
    /// before.
    pub period: Option<u64>,
    /// All cycles of the loop by the number of its iterations, the first and the last included.
    pub mean: f64,
}
