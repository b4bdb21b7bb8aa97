//! A timed listing for people and for programs.

use serde::Serialize;

use crate::spu::Pipe;
use crate::spu::assembly::{Iterations, Listed, Listing, Origin, Row, Timeline};
use crate::spu::pipeline::{Single, Stall};
use crate::table::csv;

/// One instruction as the formats for programs have it.
#[derive(Serialize)]
struct Instruction<'t> {
    line: u64,
    mnemonic: &'static str,
    /// `even` or `odd`.
    pipe: &'static str,
    issue_cycle: u64,
    /// What it waited for longest.
    stall: Option<&'static str>,
    stall_cycles: u64,
    /// The register that was not ready, and the line that computes it.
    awaited_register: Option<String>,
    awaited_line: Option<u64>,
    /// Whether it shares its cycle with the instruction before it.
    dual: bool,
    /// Why it does not.
    single: Option<&'static str>,
    /// Whether it belongs to the loop.
    part: &'static str,
    text: &'t str,
}

impl<'t> Instruction<'t> {
    fn all(listing: &'t Listing<'_>, timeline: &'t Timeline) -> impl Iterator<Item = Self> {
        let first = timeline.iterations.map_or(usize::MAX, |iterations| iterations.first);
        let pairs = listing.instructions().iter().zip(&timeline.rows).enumerate();
        pairs.map(move |(index, (listed, row))| Self {
            line: listed.line,
            mnemonic: listed.mnemonic,
            pipe: pipe(listed),
            issue_cycle: row.cycle.0,
            stall: row.longest().map(Stall::name),
            stall_cycles: row.stall_cycles(),
            awaited_register: row.awaited.map(|awaited| awaited.register.to_string()),
            awaited_line: row.awaited.map(|awaited| awaited.line),
            dual: row.dual,
            single: row.single.map(Single::name),
            part: if index < first && first != usize::MAX { "before" } else { "body" },
            text: &listed.text,
        })
    }
}

fn pipe(listed: &Listed) -> &'static str {
    match listed.class.pipe() {
        Pipe::Even => "even",
        Pipe::Odd => "odd",
    }
}

/// A timed listing as one object.
#[derive(Serialize)]
pub struct Json<'t> {
    machine: &'t str,
    cycles: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cycles_per_iteration: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mean_cycles_per_iteration: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    iterations: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shown_iteration: Option<u64>,
    instructions_issued: u64,
    dual_issue_rate: f64,
    stall_cycles: u64,
    stalls: Vec<CauseJson>,
    instructions: Vec<Instruction<'t>>,
}

#[derive(Serialize)]
struct CauseJson {
    cause: &'static str,
    cycles: u64,
}

impl<'t> Json<'t> {
    pub fn new(machine: &'t str, listing: &'t Listing<'_>, timeline: &'t Timeline) -> Self {
        let iterations = timeline.iterations;
        Self {
            machine,
            cycles: timeline.cycles.0,
            cycles_per_iteration: iterations.map(|it| it.steady),
            mean_cycles_per_iteration: iterations.map(|it| it.mean),
            iterations: iterations.map(|it| it.count),
            shown_iteration: iterations.map(|it| it.shown),
            instructions_issued: timeline.instructions,
            dual_issue_rate: timeline.dual_issue_rate(),
            stall_cycles: timeline.stalls.total(),
            stalls: causes(timeline).map(|(cause, cycles)| CauseJson { cause, cycles }).collect(),
            instructions: Instruction::all(listing, timeline).collect(),
        }
    }
}

/// The causes of stalls with their cycles, as far as there are any.
fn causes(timeline: &Timeline) -> impl Iterator<Item = (&'static str, u64)> {
    let cycles = |cause: Stall| (cause.name(), timeline.stalls.of(cause));
    Stall::ALL.into_iter().map(cycles).filter(|(_, cycles)| *cycles > 0)
}

/// One line for each instruction, with its columns by name.
pub fn csv(listing: &Listing<'_>, timeline: &Timeline) -> String {
    let header = [
        "line",
        "mnemonic",
        "pipe",
        "issue_cycle",
        "stall",
        "stall_cycles",
        "awaited_register",
        "awaited_line",
        "dual",
        "single",
        "part",
        "text",
    ];
    let or_empty = |text: Option<&'static str>| text.unwrap_or_default().to_string();
    let fields = |it: Instruction<'_>| {
        vec![
            it.line.to_string(),
            it.mnemonic.to_string(),
            it.pipe.to_string(),
            it.issue_cycle.to_string(),
            or_empty(it.stall),
            it.stall_cycles.to_string(),
            it.awaited_register.unwrap_or_default(),
            it.awaited_line.map(|line| line.to_string()).unwrap_or_default(),
            it.dual.to_string(),
            or_empty(it.single),
            it.part.to_string(),
            it.text.to_string(),
        ]
    };
    csv::write_fields(&header, Instruction::all(listing, timeline).map(fields))
}

/// The listing for people, each instruction with what it waits for, and a summary below.
pub fn table(listing: &Listing<'_>, timeline: &Timeline) -> String {
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
