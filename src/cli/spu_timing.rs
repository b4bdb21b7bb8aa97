//! `mmgp spu-timing`

mod report;

use std::path::PathBuf;

use clap::Args;

use super::Answer;
use super::files::Guard;
use super::input::MachineArguments;
use super::output::{self, Format, data, warn};
use crate::cell;
use crate::error::Result;
use crate::machine::Machine;
use crate::spu::assembly::Listing;
use crate::spu::instruction::Processor;
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

/// So many that no count of cycles overflows.
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
        Format::Table => report::table(&listing, &timeline),
        Format::Csv => report::csv(&listing, &timeline),
        Format::Json => output::json(&report::Json::new(&machine.name, &listing, &timeline)),
    };
    data(arguments.out.as_deref(), &text)?;
    Ok(Answer::Done)
}

/// The processor of a machine. The PowerXCell 8i is the Cell whose double precision is pipelined.
fn processor(machine: &Machine) -> Processor {
    if machine.spu.double_block.0 == 0 { Processor::PowerXCell8i } else { Processor::CellBe }
}
