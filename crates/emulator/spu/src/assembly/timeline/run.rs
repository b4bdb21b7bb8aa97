//! The instructions of a listing through the pipeline, one after the other.

use crate::assembly::Listed;
use crate::assembly::bind::{Control, When};
use crate::assembly::expression::{Section, Value};
use crate::assembly::operand::{REGISTERS, RegisterName};
use crate::pipeline::{Pipeline, Ready, Single, Stall, Stalls, Timing, Word};
use mmgp_base::error::Warning;
use mmgp_base::units::Cycles;

/// A listing on its way through the pipeline.
pub(super) struct Run<'l, 't> {
    pub(super) instructions: &'l [Listed],
    timing: &'t Timing,
    pub(super) pipeline: Pipeline<'t>,
    /// Cycles from which on each register can be read, and which instruction computes it.
    ready: [(u64, usize); REGISTERS],
    hint: Option<Hint>,
    /// The place behind the last instruction, unless it branched.
    next: Option<(Section, i64)>,
    pub(super) totals: Totals,
}

impl<'l, 't> Run<'l, 't> {
    pub(super) fn new(instructions: &'l [Listed], timing: &'t Timing) -> Self {
        Self {
            instructions,
            timing,
            pipeline: Pipeline::new(timing),
            ready: [(0, 0); REGISTERS],
            hint: None,
            next: None,
            totals: Totals::default(),
        }
    }

    /// Issues an instruction, and if it is a branch, goes on behind it.
    pub(super) fn pass(&mut self, index: usize) -> Row {
        let mut row = self.issue(index);
        match self.instructions[index].control {
            Control::Branch { when: When::Conditional, .. } => {
                self.leave(index, Way::FallsThrough, &mut row);
            }
            Control::Branch { .. } => self.leave(index, Way::Elsewhere, &mut row),
            Control::Next | Control::Hint { .. } => {}
        }
        row
    }

    /// Issues an instruction.
    pub(super) fn issue(&mut self, index: usize) -> Row {
        let listed = &self.instructions[index];
        let (section, address) = listed.place();
        if self.next != Some((section, address)) {
            self.pipeline.go_to(listed.word());
        }
        self.next = Some((section, address + 4));
        let last = listed.operands.reads.iter().max_by_key(|register| self.at(**register).0);
        let (operands, source) = last.map_or((0, 0), |register| self.at(*register));
        let hint = self.hint_of(listed).map_or(0, |hint| hint.ready);
        let ready = Ready { operands, hint, ..Ready::default() };
        let issue = match listed.mnemonic {
            "hbrp" => self.pipeline.prefetch(),
            _ => self.pipeline.issue(listed.class, ready),
        };
        if let Some(written) = listed.operands.writes {
            self.ready[usize::from(written.0)] = (issue.ready, index);
        }
        if let Control::Hint { branch, target } = listed.control {
            let ready = issue.cycle + u64::from(self.timing.hint_distance);
            self.hint = Some(Hint { branch, target, ready });
        }
        self.totals.instructions += 1;
        self.totals.dual_issues += u64::from(issue.dual);
        self.totals.stalls += issue.stalls;
        let stalls = waits(&issue.stalls);
        let is_late = stalls.iter().any(|(cause, _)| *cause == Stall::Operand)
            || (issue.single == Some(Single::NotReady) && ready.hint <= operands);
        let awaited = last.filter(|_| is_late && operands > 0);
        let line = self.instructions[source].line;
        Row {
            cycle: Cycles(issue.cycle),
            dual: issue.dual,
            single: issue.single,
            stalls,
            awaited: awaited.map(|&register| Awaited { register, line }),
        }
    }

    fn at(&self, register: RegisterName) -> (u64, usize) {
        self.ready[usize::from(register.0)]
    }

    /// The hint that names the instruction.
    fn hint_of(&self, listed: &Listed) -> Option<Hint> {
        let (section, address) = listed.place();
        self.hint.filter(|hint| hint.branch == Value::Place(section, address))
    }

    /// Ends a branch, and charges it where it goes another way than was hinted.
    pub(super) fn leave(&mut self, index: usize, way: Way, row: &mut Row) {
        let listed = &self.instructions[index];
        let hint = self.hint_of(listed);
        let Control::Branch { target, .. } = listed.control else { return };
        let is_right = match way {
            Way::Taken => hint.is_some_and(|it| it.target.is_none() || it.target == target),
            Way::FallsThrough => hint.is_none(),
            Way::Elsewhere => true,
        };
        if !is_right {
            let before = self.pipeline.earliest();
            self.pipeline.mispredict();
            row.stalls.push((Stall::BranchPenalty, self.pipeline.earliest() - before));
        }
        if hint.is_some() {
            self.hint = None;
        }
        if way == Way::Taken {
            self.next = None;
        }
    }

    /// The state on which the time of everything that follows depends, counted from now on.
    pub(super) fn state(&self) -> State {
        let now = self.pipeline.earliest();
        let pending = self.ready.iter().enumerate().filter(|(_, (ready, _))| *ready > now);
        State {
            held: self.pipeline.trailing_stalls().total(),
            pending: pending.map(|(register, (ready, _))| (register, ready - now)).collect(),
            hint: self.hint.map(|hint| Hint { ready: hint.ready.saturating_sub(now), ..hint }),
        }
    }

    pub(super) fn timeline(self, rows: Vec<Row>, iterations: Option<Iterations>) -> Timeline {
        let Totals { instructions, dual_issues, stalls, skipped } = self.totals;
        Timeline {
            cycles: Cycles(self.pipeline.earliest() + skipped),
            instructions,
            dual_issues,
            stalls: stalls + self.pipeline.trailing_stalls(),
            rows,
            iterations,
            warnings: Vec::new(),
        }
    }
}

/// What is in the hint buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Hint {
    branch: Value,
    /// None where a register says it.
    target: Option<Value>,
    /// The first cycle in which the branch may issue.
    ready: u64,
}

/// Which way a branch goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Taken,
    FallsThrough,
    /// A place of which nothing is known of what it costs.
    Elsewhere,
}

/// What was counted.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Totals {
    pub(super) instructions: u64,
    pub(super) dual_issues: u64,
    pub(super) stalls: Stalls,
    /// Cycles and iterations that were not gone through one by one.
    pub(super) skipped: u64,
}

impl Listed {
    pub(super) fn place(&self) -> (Section, i64) {
        (self.at.section, self.at.address)
    }

    /// The word of a doubleword in which it stands.
    const fn word(&self) -> Word {
        if self.at.address % 8 == 0 { Word::Even } else { Word::Odd }
    }
}

/// What was waited for; the penalty of a branch is the branch's.
fn waits(stalls: &Stalls) -> Vec<(Stall, u64)> {
    Stall::ALL
        .into_iter()
        .filter(|&cause| cause != Stall::BranchPenalty && stalls.of(cause) > 0)
        .map(|cause| (cause, stalls.of(cause)))
        .collect()
}

/// What an iteration finds when it begins; cycles count from then.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct State {
    held: u64,
    /// The registers that are not ready, and how long not.
    pending: Vec<(usize, u64)>,
    hint: Option<Hint>,
}

/// The time of a listing.
#[derive(Debug, Clone, PartialEq)]
pub struct Timeline {
    /// Time from the issue of the first instruction until another one could issue after the last.
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
