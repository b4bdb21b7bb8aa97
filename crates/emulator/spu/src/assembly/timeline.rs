//! When each instruction of a listing issues, and what it waits for.
//!
//! ```text
//!   a straight line                      a loop, `iterations` times
//!
//!   first instruction  cycle 0           what stands before the loop, once   cycle 0
//!     |  every branch falls through        |
//!     v                                    v
//!   last instruction                     label:  <-----------+  taken, but for the last time,
//!                                          ...               |  when a conditional one falls
//!                                        last instruction ---+  through
//! ```
//!
//! A branch that is taken and was not hinted, or not to where it goes, and one that was hinted and
//! falls through, costs the branch penalty. There is one hint buffer: a hint takes the place of the
//! one before it and, as on the emulated SPU, is spent when its branch runs. (Whether the hardware
//! keeps it for the next iterations was not found, so a hint before its loop is warned of.) Nothing
//! is charged for a branch that is always taken but leads elsewhere than around the loop: what it
//! leads to is not here.
//!
//! Registers are the only thing that is waited for: writes happen in the order of the program, so
//! neither a second write to a register nor a write after a read waits; loads and stores reach local
//! store in the order in which they issue. Channels never block, and no DMA has the port of the local
//! store; the fetch of the listing's own instructions has it where loads and stores leave it.

mod run;

use std::collections::BTreeMap;

use crate::assembly::Listing;
use crate::assembly::bind::{Control, When};
use crate::assembly::expression::Value;
use crate::pipeline::Timing;
use mmgp_base::error::Result;
use mmgp_base::units::Cycles;
use run::{Run, State, Totals, Way};

pub use run::{Awaited, Iterations, Row, Timeline};

impl Listing<'_> {
    /// Times the listing as a straight line, in which no branch is taken.
    pub fn time(&self, timing: &Timing) -> Timeline {
        let instructions = self.instructions();
        let mut run = Run::new(instructions, timing);
        let last = instructions.len() - 1;
        let mut rows: Vec<Row> = (0..last).map(|index| run.pass(index)).collect();
        rows.push(run.issue(last));
        Timeline { warnings: self.warnings(None), ..run.timeline(rows, None) }
    }

    /// Times `count` iterations, at least one, of the loop that the last instruction closes, and
    /// what stands before it once.
    ///
    /// # Errors
    /// [`Error::Input`](mmgp_base::error::Error::Input) where the last instruction is not a branch to a label
    /// of the listing further up.
    pub fn time_loop(&self, count: u64, timing: &Timing) -> Result<Timeline> {
        let first = self.first_of_loop()?;
        let instructions = self.instructions();
        let mut run = Run::new(instructions, timing);
        let mut rows: Vec<Row> = (0..first).map(|index| run.pass(index)).collect();
        let looped = Loop::new(first, count.max(1)).run(&mut run);
        rows.extend(looped.rows);
        let warnings = self.warnings(Some(&looped.iterations));
        Ok(Timeline { warnings, ..run.timeline(rows, Some(looped.iterations)) })
    }

    /// The index of the instruction to which the last one branches back.
    fn first_of_loop(&self) -> Result<usize> {
        let last = self.instructions.last().expect("invariant: a listing has an instruction");
        let refuse = |what: &str| {
            let found = format!("`{}`{what} at the end of the listing", last.text);
            let expected = "a branch to a label further up, which closes the loop";
            Err(self.mistake(last, found, expected.to_string()))
        };
        let (When::Always | When::Conditional, target) = (match last.control {
            Control::Branch { when, target } => (when, target),
            _ => return refuse(""),
        }) else {
            return refuse(", a call,");
        };
        let place = match target {
            Some(Value::Place(section, address)) => (section, address),
            Some(Value::Unknown) => return refuse(", whose label is not defined here,"),
            _ => return refuse(""),
        };
        let first = self.instructions.iter().position(|it| it.place() == place);
        first.map_or_else(|| refuse(", which leads elsewhere,"), Ok)
    }
}

/// A loop on its way through its iterations.
struct Loop {
    first: usize,
    count: u64,
    /// Iterations by the state that they began with: which, when, and what was counted until then.
    seen: BTreeMap<State, (u64, u64, Totals)>,
    /// Cycles and iterations after which everything repeats itself.
    steady: Option<(u64, u64)>,
}

/// What came of a loop.
struct Looped {
    rows: Vec<Row>,
    iterations: Iterations,
}

impl Loop {
    const fn new(first: usize, count: u64) -> Self {
        Self { first, count, seen: BTreeMap::new(), steady: None }
    }

    fn run(mut self, run: &mut Run<'_, '_>) -> Looped {
        let shown = self.count.saturating_sub(1).max(1);
        let mut began = None;
        let mut rows = Vec::new();
        let (mut shown_begins, mut shown_cycles) = (0, 0);
        let mut iteration = 1;
        while iteration <= self.count {
            if iteration > 1 && self.steady.is_none() {
                iteration += self.skip(iteration, run);
            }
            let (begins, of_iteration) = self.iterate(iteration, run);
            began.get_or_insert(begins);
            if iteration == shown {
                rows = of_iteration;
                shown_begins = begins + run.totals.skipped;
                shown_cycles = run.pipeline.earliest() - begins;
            }
            iteration += 1;
        }
        let cycles = run.pipeline.earliest() + run.totals.skipped - began.unwrap_or(0);
        let steady = self.steady.unwrap_or((shown_cycles, 1));
        let iterations = Iterations {
            count: self.count,
            first: self.first,
            shown,
            shown_begins: Cycles(shown_begins),
            steady: steady.0 as f64 / steady.1 as f64,
            period: self.steady.map(|(_, period)| period),
            mean: cycles as f64 / self.count as f64,
        };
        Looped { rows, iterations }
    }

    /// Goes once through the loop; gives the cycle in which it began and the rows, counted from it.
    fn iterate(&self, iteration: u64, run: &mut Run<'_, '_>) -> (u64, Vec<Row>) {
        let begins = run.pipeline.earliest();
        let last = run.instructions.len() - 1;
        let mut rows: Vec<Row> = (self.first..last).map(|index| run.pass(index)).collect();
        let mut closing = run.issue(last);
        let is_conditional = matches!(
            run.instructions[last].control,
            Control::Branch { when: When::Conditional, .. }
        );
        let ends = iteration == self.count && is_conditional;
        run.leave(last, if ends { Way::FallsThrough } else { Way::Taken }, &mut closing);
        rows.push(closing);
        // The first instruction may share the cycle of the one before the loop.
        let begins = begins.min(rows[0].cycle.0);
        rows.iter_mut().for_each(|row| row.cycle = Cycles(row.cycle.0 - begins));
        (begins, rows)
    }

    /// Skips iterations: where one begins as an earlier one did, all that follows is known; says how many
    /// iterations need not be gone through, and counts them. The last two always are.
    fn skip(&mut self, iteration: u64, run: &mut Run<'_, '_>) -> u64 {
        let now = run.pipeline.earliest();
        let totals = run.totals;
        let Some((earlier, then, before)) = self.seen.get(&run.state()) else {
            self.seen.insert(run.state(), (iteration, now, totals));
            return 0;
        };
        let (cycles, period) = (now - then, iteration - earlier);
        self.steady = Some((cycles, period));
        let periods = (self.count + 1 - iteration).saturating_sub(2) / period;
        run.totals.skipped += periods * cycles;
        run.totals.instructions += periods * (totals.instructions - before.instructions);
        run.totals.dual_issues += periods * (totals.dual_issues - before.dual_issues);
        run.totals.stalls += (totals.stalls - before.stalls) * periods;
        periods * period
    }
}

#[cfg(test)]
mod tests {
    //! Hand calculations on the Cell BE: simple fixed point 2 cycles, loads 6, shuffles 4, single
    //! precision 6, double precision 13 and a block of 6.

    use rand::RngExt as _;
    use rand::SeedableRng as _;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::instruction::Processor;
    use crate::pipeline::tests::CELL_BE;
    use crate::pipeline::{ClassTiming, Single, Stall};
    use crate::{Compiler, Kernel, LocalStore, Shape, Spu};
    use mmgp_base::table::Source;

    /// PowerXCell 8i: double precision takes 9 cycles and is pipelined.
    const POWERXCELL: Timing =
        Timing { double_precision: ClassTiming { latency: 9, issue_block: 0 }, ..CELL_BE };

    fn timeline(text: &str, timing: &Timing) -> Timeline {
        let source = Source::new("toy.s", text);
        Listing::read(&source, Processor::CellBe).expect("it is well-formed").time(timing)
    }

    fn looped(text: &str, iterations: u64) -> Timeline {
        let source = Source::new("toy.s", text);
        let listing = Listing::read(&source, Processor::CellBe).expect("it is well-formed");
        listing.time_loop(iterations, &CELL_BE).expect("its last instruction closes a loop")
    }

    fn cycles(timeline: &Timeline) -> Vec<u64> {
        timeline.rows.iter().map(|row| row.cycle.0).collect()
    }

    /// The cycle of each instruction.
    fn check(text: &str, expected: &[u64]) {
        assert_eq!(cycles(&timeline(text, &CELL_BE)), expected, "{text}");
    }

    /// What the last instruction of a straight line waits for.
    fn check_stalls(text: &str, expected: &[(Stall, u64)], awaited: Option<(u8, u64)>) {
        let timeline = timeline(text, &CELL_BE);
        let last = timeline.rows.last().expect("it has instructions");
        assert_eq!(last.stalls, expected, "{text}");
        let found = last.awaited.map(|it| (it.register.0, it.line));
        assert_eq!(found, awaited, "{text}");
    }

    #[test]
    fn an_even_then_an_odd_instruction_of_one_doubleword_share_a_cycle() {
        check("a $3,$4,$5\nlqd $6,0($7)\na $8,$4,$5\nshufb $9,$4,$5,$7", &[0, 0, 1, 1]);
        check("lqd $6,0($7)\na $3,$4,$5\nlqd $8,0($7)", &[0, 1, 2]);
        check("a $3,$4,$5\na $8,$4,$5\nlqd $6,0($7)", &[0, 1, 2]);
    }

    #[test]
    fn alignment_and_data_decide_which_instructions_stand_together() {
        // The word before the load puts it into an odd word, so that what follows begins a doubleword.
        check(".word 0\nlqd $6,0($7)\na $3,$4,$5\nlqd $8,0($7)", &[0, 1, 1]);
        // `.align 3` fills the odd word with `lnop`, which shares the cycle.
        let aligned = timeline("a $3,$4,$5\n.align 3\nlqd $6,0($7)", &CELL_BE);
        assert_eq!(cycles(&aligned), [0, 0, 1]);
        assert_eq!((aligned.instructions, aligned.dual_issues, aligned.cycles.0), (3, 1, 2));
    }

    #[test]
    fn an_instruction_waits_for_the_register_that_is_ready_last() {
        // The load can be read in cycle 6, the sum of line 2 in 0 + 2.
        let text = "lqd $3,0($7)\na $4,$7,$7\na $5,$3,$4";
        check(text, &[0, 1, 6]);
        check_stalls(text, &[(Stall::Operand, 4)], Some((3, 1)));
        // A second write is what counts: $3 is ready in 1 + 2, whatever the load brings in 6.
        check("lqd $3,0($7)\na $3,$7,$7\na $5,$3,$3", &[0, 1, 3]);
        // What is only written is not waited for, and what is accumulated is.
        check("lqd $3,0($7)\na $3,$7,$7", &[0, 1]);
        check("lqd $3,0($7)\niohl $3,1", &[0, 6]);
        // A store reads what it stores; a load behind it waits for nothing.
        check("lqd $3,0($7)\nstqd $3,16($7)\nlqd $4,16($7)", &[0, 6, 7]);
    }

    #[test]
    fn what_is_not_ready_for_its_cycle_does_not_join() {
        let late = timeline("a $3,$4,$5\nlqd $6,0($3)", &CELL_BE);
        assert_eq!(cycles(&late), [0, 2]);
        let last = &late.rows[1];
        assert_eq!((last.single, last.stall_cycles()), (Some(Single::NotReady), 1));
    }

    #[test]
    fn double_precision_blocks_on_the_cell_be_and_does_not_on_the_powerxcell() {
        let text = "dfa $3,$4,$5\nlqd $6,0($7)\ndfa $8,$4,$5\ndfa $9,$3,$3";
        // The load waits for the block, 1 to 6; two chains hide the latency: $3 is ready in 13.
        assert_eq!(cycles(&timeline(text, &CELL_BE)), [0, 7, 8, 15]);
        assert_eq!(timeline(text, &CELL_BE).cycles.0, 15 + 7);
        assert_eq!(cycles(&timeline(text, &POWERXCELL)), [0, 0, 1, 9]);
        assert_eq!(timeline(text, &POWERXCELL).cycles.0, 10);
        check_stalls("dfa $3,$4,$5\nlqd $6,0($7)", &[(Stall::IssueBlock, 6)], None);
        let both = [(Stall::IssueBlock, 6), (Stall::Operand, 6)];
        check_stalls("dfa $3,$4,$5\ndfa $8,$3,$3", &both, Some((3, 1)));
    }

    #[test]
    fn a_pair_of_dfma_and_lnop_takes_8_cycles() {
        // Measured by cellmark: 1 + 6 of block, and then the `lnop` alone.
        let text = "dfma $3,$4,$5\nlnop\ndfma $6,$4,$5\nlnop";
        check(text, &[0, 7, 8, 15]);
        assert_eq!(timeline(text, &CELL_BE).cycles.0, 16);
    }

    #[test]
    fn loads_keep_the_next_instructions_from_being_fetched() {
        // A line of 32 loads, one a cycle: the next line gets cycle 32 of the port and is there after
        // 12. An `hbrp` in cycle 1 gives it that cycle.
        let loads = "lqd $3,0($4)\n".repeat(33);
        check_stalls(&loads, &[(Stall::Fetch, 12)], None);
        check_stalls(&loads.replacen("\nlqd $3,0($4)", "\nhbrp", 1), &[], None);
    }

    /// Cellmark's loop: a hint or a shuffle, the count, nine shuffles, the branch.
    fn loop_of_12(before: &str, first: &str) -> String {
        let shuffles = "shufb $10,$11,$12,$13\n".repeat(9);
        format!("{before}\nloop: {first}\nai $3,$3,-1\n{shuffles}end: brnz $3,loop\nother:")
    }

    const NO_HINT: &str = "fsmbi $9,0";

    /// Cycles per iteration of that loop, in all of 9 iterations, and what its branch waits for.
    fn check_loop(before: &str, first: &str, steady: f64, all: u64, stalls: &[(Stall, u64)]) {
        let timeline = looped(&loop_of_12(before, first), 9);
        let iterations = timeline.iterations.expect("a loop was timed");
        assert_eq!(iterations.steady, steady, "{before} {first}");
        assert_eq!(timeline.cycles.0, all, "{before} {first}");
        assert_eq!(timeline.rows.last().expect("a branch").stalls, stalls, "{before} {first}");
    }

    #[test]
    fn a_loop_of_12_instructions_takes_30_cycles_unhinted_and_17_hinted() {
        // Measured by cellmark. One instruction a cycle: the branch issues in cycle 11; 12 + 18 = 30,
        // and at last it falls through as it should.
        check_loop("", NO_HINT, 30.0, 8 * 30 + 12, &[(Stall::BranchPenalty, 18)]);
        // The hint issues in cycle 0 and its branch in 16, 5 later than it could; at last it is wrong.
        check_loop("", "hbrr end,loop", 17.0, 9 * 17 + 18, &[(Stall::HintDistance, 5)]);
        check_loop("", "hbr end,$5", 17.0, 9 * 17 + 18, &[(Stall::HintDistance, 5)]);
        check_loop("", "hbra end,loop", 17.0, 9 * 17 + 18, &[(Stall::HintDistance, 5)]);
    }

    #[test]
    fn a_hint_is_for_one_run_of_its_branch_to_its_target() {
        let penalty = (Stall::BranchPenalty, 18);
        // Hint 0, lnop 1, loop from 2: its branch would issue in 13 and waits until 16, and the hint is
        // spent; then 7 times 30, and at last 12.
        check_loop("hbrr end,loop; lnop", NO_HINT, 30.0, 17 + 7 * 30 + 12, &[penalty]);
        // To elsewhere: a penalty each time that the branch is taken, and at last as well.
        check_loop("hbrr end,other; lnop", NO_HINT, 30.0, 17 + 18 + 7 * 30 + 12, &[penalty]);
        let both = [(Stall::HintDistance, 5), penalty];
        check_loop("", "hbrr end,other", 35.0, 9 * 35, &both);
        // The hint in the loop takes the place of that before it, and names another instruction.
        check_loop("hbrr end,loop; lnop", "hbrr loop,loop", 30.0, 2 + 8 * 30 + 12, &[penalty]);
    }

    #[test]
    fn a_branch_that_was_hinted_and_falls_through_costs_the_penalty() {
        let line = |branch: &str| {
            format!("hbrr here,there\n{}here: brz {branch}\nnop\nthere: nop", "lnop\n".repeat(19))
        };
        // The branch issues in 20.
        assert_eq!(timeline(&line("$3,there"), &CELL_BE).cycles.0, 21 + 18 + 2);
        let elsewhere = line("$3,there").replace("hbrr here", "hbrr there");
        assert_eq!(timeline(&elsewhere, &CELL_BE).cycles.0, 21 + 2);
    }

    /// A chain of four sums, the first of which waits for the last of the iteration before it.
    const CHAIN: &str = "loop: hbrr end,loop
    fa $3,$6,$8
    fa $4,$3,$8
    fa $5,$4,$8
    fa $6,$5,$8
    end: brnz $7,loop";

    #[test]
    fn what_an_iteration_computes_delays_the_next() {
        // Iteration 1: hint 0, sums 1, 7, 13, 19, and the branch, hinted long enough before, shares 19.
        // Iteration 2 from 20: hint 20, and $6 is ready in 19 + 6 = 25: sums 25, 31, 37, 43, the branch
        // 43. From then on 24 cycles each; the last branch falls through, though it was hinted.
        let timeline = looped(CHAIN, 1000);
        let iterations = timeline.iterations.expect("a loop was timed");
        assert_eq!((iterations.steady, iterations.period), (24.0, Some(1)));
        assert_eq!(timeline.cycles.0, 20 + 999 * 24 + 18);
        assert_eq!(iterations.mean, (20 + 999 * 24 + 18) as f64 / 1000.0);
        assert_eq!((iterations.shown, iterations.shown_begins.0), (999, 20 + 997 * 24));
        assert_eq!(cycles(&timeline), [0, 5, 11, 17, 23, 23]);
        assert_eq!(timeline.rows[1].stalls, [(Stall::Operand, 4)]);
        assert_eq!(timeline.rows[1].awaited.map(|it| (it.register.0, it.line)), Some((6, 5)));
        assert_eq!((timeline.instructions, timeline.dual_issues), (6000, 1000));
    }

    #[test]
    fn one_iteration_is_the_straight_line_and_what_its_branch_costs() {
        let once = looped(CHAIN, 1);
        assert_eq!(once.cycles.0, 20 + 18);
        let iterations = once.iterations.expect("a loop was timed");
        assert_eq!((iterations.steady, iterations.period), (38.0, None));
        assert_eq!(timeline(CHAIN, &CELL_BE).cycles.0, 20);
    }

    /// A loop of random instructions on few registers, so that they wait for one another.
    fn random_loop(random: &mut Xoshiro256PlusPlus) -> String {
        let mut text = String::from("nop\n");
        let count = random.random_range(0..12);
        let label = random.random_range(0..=count);
        for index in 0..=count {
            if index == label {
                text += "loop: ";
            }
            let mut register = || random.random_range(2..8);
            let [to, from, other] = [register(), register(), register()];
            text += &match random.random_range(0..8) {
                0 => format!("a ${to},${from},${other}\n"),
                1 => format!("fma ${to},${from},${other},${to}\n"),
                2 => format!("dfma ${to},${from},${other}\n"),
                3 => format!("lqx ${to},${from},${other}\n"),
                4 => format!("stqd ${to},16(${from})\n"),
                5 => "hbrr end,loop\n".to_string(),
                6 => ".align 3\n".to_string(),
                _ => format!("shufb ${to},${from},${other},${to}\n"),
            };
        }
        text + "end: brnz $2,loop"
    }

    #[test]
    fn skipping_what_repeats_itself_changes_nothing() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        for _ in 0..300 {
            let text = random_loop(&mut random);
            let source = Source::new("random.s", &text);
            let listing = Listing::read(&source, Processor::CellBe).expect("it is well-formed");
            let first = listing.first_of_loop().expect("it is a loop");
            for count in [1, 2, 3, 50] {
                let mut run = Run::new(listing.instructions(), &CELL_BE);
                (0..first).for_each(|index| drop(run.pass(index)));
                let one_by_one = Loop::new(first, count);
                (1..=count).for_each(|iteration| drop(one_by_one.iterate(iteration, &mut run)));
                let expected = run.timeline(Vec::new(), None);
                let found = listing.time_loop(count, &CELL_BE).expect("it is a loop");
                assert_eq!(found.cycles, expected.cycles, "{text}");
                assert_eq!(found.instructions, expected.instructions, "{text}");
                assert_eq!(found.dual_issues, expected.dual_issues, "{text}");
                assert_eq!(found.stalls, expected.stalls, "{text}");
            }
        }
    }

    #[test]
    fn every_cycle_is_one_of_issue_or_of_a_stall() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(4);
        for _ in 0..300 {
            let text = random_loop(&mut random);
            let timeline = looped(&text, 20);
            let issuing = timeline.instructions - timeline.dual_issues;
            assert_eq!(timeline.cycles.0, issuing + timeline.stalls.total(), "{text}");
        }
    }

    /// The error of `--iterations` for a listing.
    fn check_no_loop(text: &str, expected: &str) {
        let source = Source::new("toy.s", text);
        let listing = Listing::read(&source, Processor::CellBe).expect("it is well-formed");
        let error = listing.time_loop(2, &CELL_BE).expect_err("it is no loop");
        let closes = "at the end of the listing, expected a branch to a label further up, which closes \
                      the loop";
        assert_eq!(error.to_string(), format!("toy.s:{expected} {closes}"));
    }

    #[test]
    fn a_loop_ends_with_a_branch_back_to_a_label_of_the_listing() {
        check_no_loop("loop: a $3,$3,$3\n", "1:7: found `a $3,$3,$3`");
        check_no_loop(
            "loop: nop\n  brnz $3, lop",
            "2:3: found `brnz $3, lop`, whose label is not defined here,",
        );
        check_no_loop("brnz $3,loop\nloop:", "1:1: found `brnz $3,loop`, which leads elsewhere,");
        check_no_loop("f: nop\nbrsl $lr,f", "2:1: found `brsl $lr,f`, a call,");
        check_no_loop("f: nop\nbi $lr", "2:1: found `bi $lr`");
    }

    #[test]
    fn what_runs_otherwise_than_it_is_timed_is_told() {
        let warnings = |text: &str| -> Vec<String> {
            timeline(text, &CELL_BE).warnings.iter().map(ToString::to_string).collect()
        };
        assert_eq!(warnings("x: brz $3,y\nnop\ny: bi $lr"), [] as [&str; 0]);
        assert_eq!(
            warnings("x: brnz $3,x\nbrsl $lr,f\nbr y\ny: brasl $lr,g\nbrz $3,x"),
            [
                "toy.s:2: a call is timed as if what it calls took no time (and lines 4)",
                "toy.s:3: what follows this branch is timed as if it came there without it",
                "toy.s:1: the loop that this branch closes is timed as if it ran once",
                "toy.s:5: the loop that this branch closes is timed once; `--iterations N` runs it N \
                 times",
            ]
        );
        let hoisted = looped(&loop_of_12("hbrr end,loop; lnop", NO_HINT), 2);
        assert_eq!(
            hoisted.warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
            [
                "toy.s:1: this hint is spent when its branch runs for the first time; whether the SPU \
              keeps it for the next iterations is not known"
            ]
        );
        assert_eq!(looped(CHAIN, 2).warnings, []);
    }

    /// Products, sums and copies along an array, 50 times.
    struct Along;

    impl Kernel for Along {
        type Output = ();

        fn shape(&self) -> Shape {
            Shape::new("along", 0)
        }

        #[inline(always)]
        fn run<S: Spu>(&self, spu: &mut S) {
            let mut at = spu.ila(0x1000);
            let mut count = spu.il(50);
            let mut sum = spu.il(0);
            let mut other = spu.il(0);
            loop {
                spu.label();
                spu.hbrr();
                let one = spu.lqd(0, at);
                let two = spu.lqd(16, at);
                sum = spu.dfma(one, two, sum);
                other = spu.fma(one, two, other);
                spu.stqd(other, 32, at);
                let shuffled = spu.shufb(one, two, other);
                spu.lnop();
                let product = spu.dfm(one, sum);
                spu.stqx(shuffled, at, count);
                at = spu.ai(at, 16);
                count = spu.ai(count, -1);
                spu.stqd(product, 64, at);
                if !spu.brnz(count) {
                    break;
                }
            }
        }
    }

    /// The same in assembly: $3 the place, $4 the count, $5 and $6 the sums.
    const ALONG: &str = "
        ila   $3,0x1000
        il    $4,50
        il    $5,0
        il    $6,0
    loop:
        hbrr  end,loop
        lqd   $7,0($3)
        lqd   $8,16($3)
        dfma  $5,$7,$8
        fma   $6,$7,$8,$6
        stqd  $6,32($3)
        shufb $9,$7,$8,$6
        lnop
        dfm   $10,$7,$5
        stqx  $9,$3,$4
        ai    $3,$3,16
        ai    $4,$4,-1
        stqd  $10,64($3)
    end:
        brnz  $4,loop
    ";

    #[test]
    fn a_listing_takes_as_long_as_the_same_program_on_the_emulated_spu() {
        for timing in [CELL_BE, POWERXCELL] {
            let mut store = LocalStore::new();
            let ((), profile) = crate::time(&Along, &mut store, &timing, Compiler::PROGRAM_ORDER);
            let source = Source::new("along.s", ALONG);
            let listing = Listing::read(&source, Processor::CellBe).expect("it is well-formed");
            let timeline = listing.time_loop(50, &timing).expect("it is a loop");
            assert_eq!(timeline.cycles, profile.cycles);
            assert_eq!(timeline.instructions, profile.instructions());
        }
    }
}
