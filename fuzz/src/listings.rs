//! Assembly listings for the SPU: what is no listing is refused at its place, and what is one takes
//! a time that the pipeline allows.

use std::fmt::Write as _;

use mmgp::cell;
use mmgp::machine::Machine;
use mmgp::spu::assembly::{Listing, Timeline};
use mmgp::spu::instruction::{Immediate, Instruction, Operand, Pipe, Processor, instructions};
use mmgp::table::Source;

use crate::mutation::{Format, damaged};
use crate::target::{Input, Random, Seen, Target, Verdict, refused};

/// Listings that went wrong, and listings of random instructions, all of which an assembler takes.
pub fn targets() -> Vec<Target> {
    let damaged =
        |random: &mut Random| Input::of("listing.s", damaged(random, SEEDS, Format::Text, WORDS));
    let valid = |random: &mut Random| Input::of("listing.s", listing(random));
    vec![
        Target::new("damaged-listing", damaged, check_damaged),
        Target { least_taken: 1.0, ..Target::new("random-listing", valid, check_valid) },
    ]
}

const SEEDS: &[&str] = &[
    "# a loop\n.text\n.align 3\nloop:\n  lqd $3,0($4)\n  a $5,$5,$3\n  ai $4,$4,16\n  ai $6,$6,-1\n  brnz $6,loop\n",
    "f: il $3,5; ilhu $4,0x3f80\n fma $5,$3,$4,$5 // x\n stqd $5,32($sp)\n bi $lr\n",
    "  hbrr 1f,loop\n  lnop\nloop: nop $127\n  dfm $9,$9,$9\n  rdch $3,$ch27\n  shufb $3,$4,$5,$6\n1: brz $3,loop\n",
    "\t.section .data\n\t.byte 1,2,3\n\t.align 4\n.text\nx = 4*(3+1)\n il $3,x\n ila $4,x+2\n br .+8\n nop\n nop\n",
];

const WORDS: &str = "$3¦$127¦$128¦$sp¦$lr¦$ch28¦$sp1¦loop¦1f¦1b¦.+4¦.-4¦0x7fffffff¦-8192(¦lqd¦stqx¦brnz¦bisl¦\
    hbrr¦dfma¦shufb¦.align 3\n¦.align 30\n¦.org 0x40000\n¦.rept 3\n¦.macro x\n¦.equ x,1\n¦\
    .byte¦.space 100000000\n¦/*¦*/¦//¦((((((((¦1<<63¦1/0¦-¦~¦%¦x = x+1\n¦:¦loop:\n¦\"¦\
    .ascii \"a\\n\"\n¦.balign 3\n¦@ha¦$¦.p2align 3,,7\n¦.fill 5\n¦.skip 1\n¦.quad 1\n";

/// The machines, whose processors differ.
const MACHINES: [(&str, Processor); 2] =
    [("qs20", Processor::CellBe), ("qs22", Processor::PowerXCell8i)];

/// Refused at a place in the text, or timed as the pipeline allows.
fn check_damaged(input: &Input) -> Verdict {
    let source = input.first();
    let mut seen = Seen::Refused;
    for (machine, processor) in MACHINES {
        match Listing::read(source, processor) {
            Ok(listing) => {
                seen = Seen::Taken;
                timed(source, &listing, machine)?;
            }
            Err(error) => drop(refused(&error, source)?),
        }
    }
    Ok(seen.into())
}

/// Taken, as all that the table of instructions allows, and timed as the pipeline allows.
fn check_valid(input: &Input) -> Verdict {
    let source = input.first();
    match Listing::read(source, Processor::PowerXCell8i) {
        Ok(listing) => timed(source, &listing, "qs22").map(|()| Seen::Taken.into()),
        // What is left of one when its lines are left out may be none.
        Err(error) if error.to_string().contains("no instruction") => Ok(Seen::Refused.into()),
        Err(error) => Err(format!("refuses what the table of instructions allows: {error}")),
    }
}

/// Straight, and as a loop where it is one.
fn timed(source: &Source, listing: &Listing<'_>, machine: &str) -> Result<(), String> {
    let machine = Machine::named(machine).map_err(|error| error.to_string())?;
    let timing = cell::pipeline(&machine);
    let straight = listing.time(&timing);
    check(listing, &straight, listing.instructions().len() as u64)?;
    if straight != listing.time(&timing) {
        return Err("two times of the same listing differ".into());
    }
    for iterations in [1, 2, 37] {
        match listing.time_loop(iterations, &timing) {
            Ok(timeline) => {
                let Some(of) = &timeline.iterations else { return Err("a loop of none".into()) };
                let body = (listing.instructions().len() - of.first) as u64;
                check(listing, &timeline, of.first as u64 + iterations * body)?;
            }
            Err(error) => drop(refused(&error, source)?),
        }
    }
    Ok(())
}

/// The rules of the pipeline: at most two instructions in a cycle, in order, and two only where they
/// are the two words of a doubleword, the first for the even pipe and the second for the odd.
fn check(listing: &Listing<'_>, timeline: &Timeline, instructions: u64) -> Result<(), String> {
    let cycles = timeline.cycles.0;
    let wrong = |what: &str| {
        let Timeline { instructions, dual_issues, .. } = timeline;
        Err(format!("{what}: of {instructions} instructions, {dual_issues} pairs, {cycles} cycles"))
    };
    if timeline.instructions != instructions {
        return wrong("another number of instructions than is in the listing");
    }
    if cycles < instructions.div_ceil(2) {
        return wrong("more than two instructions in a cycle");
    }
    if 2 * timeline.dual_issues > instructions {
        return wrong("more pairs than instructions");
    }
    if !(0.0..=1.0).contains(&timeline.dual_issue_rate()) {
        return wrong("a share of pairs that is none");
    }
    if timeline.rows.len() != listing.instructions().len() {
        return wrong("another number of rows than of instructions");
    }
    // Cycles with an instruction are those of all instructions but the second of pairs; the others
    // are stalls.
    let with_one = instructions - timeline.dual_issues;
    if cycles < with_one {
        return wrong("more cycles with an instruction than cycles");
    }
    let first = timeline.iterations.as_ref().map_or(0, |it| it.first);
    let pairs = timeline.rows.windows(2).zip(listing.instructions().windows(2));
    for (index, (rows, two)) in pairs.enumerate() {
        // The first of a loop's body comes after what stands before it by another clock.
        if index + 1 == first {
            continue;
        }
        let (before, row) = (&rows[0], &rows[1]);
        if row.cycle < before.cycle || (row.cycle == before.cycle) != row.dual {
            return wrong("an order that is not that of the listing, or pairs that are none");
        }
        let pipes = [two[0].class.pipe(), two[1].class.pipe()];
        if row.dual && (pipes != [Pipe::Even, Pipe::Odd] || before.dual) {
            return wrong("a pair of instructions that cannot be one");
        }
    }
    Ok(())
}

/// A listing with every kind of statement.
fn listing(random: &mut Random) -> String {
    let all: Vec<&Instruction> = instructions().collect();
    let (count, labels) = (1 + random.below(40), 1 + random.below(4));
    // Few registers depend on each other often.
    let registers = random.pick(&[2, 5, 20, 128]);
    let mut text = String::new();
    let mut left: Vec<usize> = (0..labels).collect();
    for line in 0..count {
        if random.happens(0.15) || line + left.len() >= count {
            left.pop().into_iter().for_each(|label| {
                let _ = writeln!(text, "l{label}:");
            });
        }
        if random.happens(0.05) {
            text += random.pick(&[
                ".align 3\n",
                "# a comment\n",
                "\n",
                ".text\n",
                "/* a */ ",
                ".p2align 4\n",
            ]);
        }
        let instruction = all[random.below(all.len())];
        text += &statement(random, instruction, (registers, labels));
        text += random.pick(&["\n", "\n", "\n", " ; ", " // x\n"]);
    }
    for label in left {
        let _ = writeln!(text, "\nl{label}: nop");
    }
    // A loop, perhaps.
    let _ =
        writeln!(text, "\nbr{} l{}", random.pick(&["nz $3,", "z $3,", " "]), random.below(labels));
    text
}

fn statement(
    random: &mut Random,
    instruction: &Instruction,
    (registers, labels): (usize, usize),
) -> String {
    let mut operands = Vec::new();
    for operand in instruction.operands {
        let register = random.below(registers);
        let label = random.below(labels);
        operands.push(match operand {
            Operand::Target | Operand::Source | Operand::Accumulator | Operand::FalseTarget => {
                format!("${register}")
            }
            Operand::Immediate(kind) | Operand::OptionalImmediate(kind) => number(random, *kind),
            Operand::Displaced(kind) => format!("{}(${register})", number(random, *kind)),
            Operand::Label | Operand::Address => format!("l{label}"),
            Operand::Channel => format!("$ch{}", random.below(128)),
            Operand::SpecialRegister => format!("$sp{}", random.below(128)),
        });
    }
    format!("  {} {}", instruction.mnemonic, operands.join(","))
}

/// A number that an immediate may be.
fn number(random: &mut Random, kind: Immediate) -> String {
    let (range, step) = (kind.range(), kind.step());
    let (low, high) = (*range.start() / step, *range.end() / step);
    let edge = random.pick(&[low, high, 0_i32.clamp(low, high)]);
    let any = low + random.below((high - low) as usize + 1) as i32;
    (step * if random.happens(0.2) { edge } else { any }).to_string()
}
