//! `mmgp spu-timing`

use std::path::PathBuf;

use clap::Args;

use super::Answer;
use super::files::Guard;
use super::input::MachineArguments;
use super::output::{self, Format, data, warn};
use crate::answer::{Object, Table};
use crate::cell;
use crate::error::Result;
use crate::machine::Machine;
use crate::spu::Pipe;
use crate::spu::assembly::{Iterations, Listed, Listing, Origin, Row, Timeline};
use crate::spu::instruction::Processor;
use crate::spu::pipeline::{Single, Stall};
use crate::table::Source;

/// Time an SPU assembly listing: when each instruction issues, and why not before
#[derive(Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    /// Listing
    #[arg(value_name = "FILE.s")]
    file: PathBuf,
    /// Times to run the loop that the last instruction closes; without it, a straight line
    #[arg(long, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=MOST_ITERATIONS))]
    iterations: Option<u64>,
    #[command(flatten)]
    machine: MachineArguments,
    /// How to print
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    /// File to write; without it, standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

const HELP: &str = "\
Examples:
  mmgp spu-timing kernel.s
  mmgp spu-timing loop.s --iterations 1000 --machine qs22 --format json

The listing is what GNU assemblers read: labels, $0 to $127, $lr and $sp, constant expressions, \
`offset($register)`, comments after # and // and in /* */, `;` between statements. Alignments \
and data decide which instructions stand in one doubleword and are obeyed (`.align` fills code \
with nop and lnop), all other directives are skipped.

Without --iterations the listing is a straight line from its first instruction to its last: no \
branch is taken. With it, the last instruction is a branch back to a label; what stands before \
the label runs once, what is between N times, and at last a conditional branch falls through. \
The cycles shown of the loop are those of the last iteration that is followed by another, \
counted from its beginning.

  cycles         until another instruction could issue after the last
  per iteration  in the steady state; the mean over all where that differs
  dual issue     the share of instructions that share their cycle with another

Channels, DMA's use of the local store, and what a branch elsewhere or a call costs are not \
timed.";

/// The most iterations: no count of cycles overflows.
const MOST_ITERATIONS: u64 = 1_000_000_000_000;

pub fn run(arguments: &Arguments) -> Result<Answer> {
    let guard = Guard::default().reads("FILE.s", Some(&arguments.file));
    arguments.machine.guarded(guard).writes("--out", arguments.out.as_deref()).check()?;
    let machine = arguments.machine.read()?;
    let source = Source::read(&arguments.file)?;
    let listing = Listing::read(&source, processor(&machine))?;
    let timing = cell::pipeline(&machine);
    let timeline = match arguments.iterations {
        Some(iterations) => listing.time_loop(iterations, &timing)?,
        None => listing.time(&timing),
    };
    warn(&timeline.warnings);
    let text = match arguments.format {
        Format::Table => table(&listing, &timeline),
        Format::Csv => instructions(&listing, &timeline).csv(),
        Format::Json => output::json(&object(&machine.name, &listing, &timeline)),
    };
    data(arguments.out.as_deref(), &text)?;
    Ok(Answer::Done)
}

/// The processor of a machine. The PowerXCell 8i is the Cell whose double precision is pipelined.
fn processor(machine: &Machine) -> Processor {
    if machine.spu.double_block.0 == 0 { Processor::PowerXCell8i } else { Processor::CellBe }
}

/// The instructions for programs: what each waited for longest, the register that was not ready and the line that
/// computes it, whether it shares its cycle with the instruction before it or why not, and whether it belongs to
/// the loop.
fn instructions<'t>(
    listing: &'t Listing<'_>,
    timeline: &'t Timeline,
) -> Table<(usize, (&'t Listed, &'t Row))> {
    let first = timeline.iterations.map_or(0, |iterations| iterations.first);
    Table::of(listing.instructions().iter().zip(&timeline.rows).enumerate())
        .programs("line", |(_, (listed, _))| listed.line)
        .programs("mnemonic", |(_, (listed, _))| listed.mnemonic)
        .programs("pipe", |(_, (listed, _))| pipe(listed))
        .programs("issue_cycle", |(_, (_, row))| row.cycle.0)
        .programs("stall", |(_, (_, row))| row.longest().map(Stall::name))
        .programs("stall_cycles", |(_, (_, row))| row.stall_cycles())
        .programs("awaited_register", |(_, (_, row))| row.awaited.map(|it| it.register.to_string()))
        .programs("awaited_line", |(_, (_, row))| row.awaited.map(|it| it.line))
        .programs("dual", |(_, (_, row))| row.dual)
        .programs("single", |(_, (_, row))| row.single.map(Single::name))
        .programs("part", |(index, _)| if *index < first { "before" } else { "body" })
        .programs("text", |(_, (listed, _))| &listed.text)
}

fn pipe(listed: &Listed) -> &'static str {
    match listed.class.pipe() {
        Pipe::Even => "even",
        Pipe::Odd => "odd",
    }
}

/// A timed listing as one object.
fn object(machine: &str, listing: &Listing<'_>, timeline: &Timeline) -> Object {
    let iterations = timeline.iterations;
    let cause = |(cause, cycles)| Object::new().with("cause", cause).with("cycles", cycles);
    Object::new()
        .with("machine", machine)
        .with("cycles", timeline.cycles.0)
        .with_some("cycles_per_iteration", iterations.map(|it| it.steady))
        .with_some("mean_cycles_per_iteration", iterations.map(|it| it.mean))
        .with_some("iterations", iterations.map(|it| it.count))
        .with_some("shown_iteration", iterations.map(|it| it.shown))
        .with("instructions_issued", timeline.instructions)
        .with("dual_issue_rate", timeline.dual_issue_rate())
        .with("stall_cycles", timeline.stalls.total())
        .with("stalls", causes(timeline).map(cause).collect::<Vec<Object>>())
        .with("instructions", &instructions(listing, timeline))
}

/// The causes of stalls with their cycles, as far as there are any.
fn causes(timeline: &Timeline) -> impl Iterator<Item = (&'static str, u64)> {
    let cycles = |cause: Stall| (cause.name(), timeline.stalls.of(cause));
    Stall::ALL.into_iter().map(cycles).filter(|(_, cycles)| *cycles > 0)
}

/// The listing for people, each instruction with what it waits for, and a summary below.
fn table(listing: &Listing<'_>, timeline: &Timeline) -> String {
    let instructions = listing.instructions();
    let first = timeline.iterations.map_or(0, |iterations| iterations.first);
    let widths = Widths::new(instructions, timeline);
    let mut text = widths.header();
    for (index, (listed, row)) in instructions.iter().zip(&timeline.rows).enumerate() {
        if let Some(iterations) = timeline.iterations
            && index == first
        {
            text += &heading(&iterations);
        }
        let is_joined = timeline.rows.get(index + 1).is_some_and(|next| next.dual);
        text += &widths.line(listed, row, is_joined && index + 1 != first);
    }
    text + "\n" + &summary(timeline)
}

fn heading(iterations: &Iterations) -> String {
    let Iterations { count, shown, shown_begins, .. } = iterations;
    format!("-- iteration {shown} of {count}, from cycle {} on\n", shown_begins.0)
}

/// How wide the columns are.
struct Widths {
    line: usize,
    text: usize,
    cycle: usize,
}

/// The widest instruction to which the columns behind it are aligned.
const WIDEST_TEXT: usize = 40;
/// The longest stall that is drawn cycle by cycle.
const LONGEST_BAR: u64 = 20;

impl Widths {
    fn new(instructions: &[Listed], timeline: &Timeline) -> Self {
        let digits = |number: u64| number.to_string().len();
        let of = |width: fn(&Listed) -> usize| instructions.iter().map(width).max().unwrap_or(0);
        let cycle = timeline.rows.iter().map(|row| digits(row.cycle.0)).max().unwrap_or(0);
        Self {
            line: of(|listed| listed.line.to_string().len()).max("line".len()),
            text: of(|listed| listed.text.chars().count()).clamp("instruction".len(), WIDEST_TEXT),
            cycle: cycle.max("cycle".len()),
        }
    }

    fn header(&self) -> String {
        let Self { line, text, cycle } = *self;
        format!("{:>line$}  {:<text$}  {:>cycle$}  pipe    stall\n", "line", "instruction", "cycle")
    }

    /// `is_joined` where the next instruction shares its cycle.
    fn line(&self, listed: &Listed, row: &Row, is_joined: bool) -> String {
        let Self { line, text, cycle } = *self;
        // Two that share a cycle are bracketed.
        let bracket = match (is_joined, row.dual) {
            (true, _) => '\\',
            (false, true) => '/',
            (false, false) => ' ',
        };
        let mut printed = format!(
            "{:>line$}  {:<text$}  {:>cycle$}  {:<4} {bracket}",
            listed.line,
            listed.text,
            row.cycle.0,
            pipe(listed),
        );
        let stall = stall(row);
        if !stall.is_empty() {
            printed += &format!(" {stall}");
        }
        if listed.origin == Origin::Alignment {
            printed += "  (alignment)";
        }
        printed.trim_end().to_string() + "\n"
    }
}

/// ` 5 *****  operand $4 of line 3`
fn stall(row: &Row) -> String {
    let cycles = row.stall_cycles();
    if cycles == 0 {
        return String::new();
    }
    let bar = "*".repeat(cycles.min(LONGEST_BAR) as usize);
    let rest = if cycles > LONGEST_BAR { "..." } else { "" };
    let several = row.stalls.len() > 1;
    let cause = |&(cause, cycles): &(Stall, u64)| {
        let awaited = row.awaited.filter(|_| cause == Stall::Operand);
        let of = awaited.map(|it| format!(" {} of line {}", it.register, it.line));
        let count = if several { format!("{cycles} ") } else { String::new() };
        format!("{count}{}{}", cause.name(), of.unwrap_or_default())
    };
    let causes: Vec<String> = row.stalls.iter().map(cause).collect();
    format!("{cycles:>3} {bar}{rest} {}", causes.join(", "))
}

fn summary(timeline: &Timeline) -> String {
    let Timeline { cycles, instructions, dual_issues, .. } = timeline;
    let mut text = String::new();
    let mut say = |name: &str, what: String| text += &format!("{name:<15} {what}\n");
    say("cycles", cycles.0.to_string());
    if let Some(iterations) = &timeline.iterations {
        say("per iteration", per_iteration(iterations));
    }
    let per_instruction = cycles.0 as f64 / *instructions as f64;
    say("instructions", format!("{instructions}, {per_instruction:.2} cycles each"));
    let rate = 100.0 * timeline.dual_issue_rate();
    let pairs = if *dual_issues == 1 { "pair" } else { "pairs" };
    say("dual issue", format!("{rate:.1} % of the instructions, in {dual_issues} {pairs}"));
    let causes: Vec<String> =
        causes(timeline).map(|(cause, cycles)| format!("{cycles} {cause}")).collect();
    let total = timeline.stalls.total();
    let share = 100.0 * total as f64 / cycles.0 as f64;
    let causes = if causes.is_empty() { String::new() } else { format!(": {}", causes.join(", ")) };
    say("stall cycles", format!("{total}, {share:.1} % of the cycles{causes}"));
    text
}

fn per_iteration(iterations: &Iterations) -> String {
    let Iterations { steady, mean, count, period, .. } = *iterations;
    let state = match period {
        None => ", the last that was followed by another; no steady state was reached".to_string(),
        Some(1) => " in the steady state".to_string(),
        Some(period) => format!(" in the steady state, which repeats every {period} iterations"),
    };
    let mean = if (mean - steady).abs() < 1e-9 {
        String::new()
    } else {
        format!("; mean of all {count}: {mean:.2}")
    };
    format!("{steady}{state}{mean}")
}
