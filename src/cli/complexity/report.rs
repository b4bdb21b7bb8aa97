//! The report of `mmgp complexity`: for programs, and for people in tables and sentences.

use crate::answer::{self, Object, Table, Value};
use crate::cli::output::{json as pretty, wrapped};
use crate::complexity::growth::{GrowthTerm, short};
use crate::complexity::{
    Bound, BoundPart, Constants, CountedRuns, Counts, Demand, Facts, Growth, GrowthForm,
    QUANTITIES, Quantity, Sizes, Triplet,
};

/// Columns of a line of text.
const WIDTH: usize = 96;

/// More forms that cannot be told apart are only counted.
const SHOWN: usize = 3;

/// What runs or formulas say.
pub struct ComplexityReport {
    /// The program or algorithm.
    title: String,
    /// Lines about it.
    about: Vec<String>,
    machine: String,
    /// Host processes; none of formulas.
    m: Option<u32>,
    constants: Constants,
    rows: Vec<RunRow>,
    /// The growth of each of [`QUANTITIES`], where there are several runs.
    growths: Option<Vec<Growth>>,
    /// Sizes that took one value.
    fixed: Vec<String>,
    /// The four steps.
    steps: [String; 4],
}

/// A run, or a point of formulas.
struct RunRow {
    sizes: Sizes,
    bound: Bound,
    /// What a run counted.
    counts: Option<Counts>,
}

impl RunRow {
    /// The bound over the time that the run took.
    fn ratio(&self) -> Option<f64> {
        let time = self.counts.as_ref()?.time?;
        Some(self.bound.time().0 / time.0)
    }
}

impl ComplexityReport {
    /// The report of runs or points of formulas, with their bounds.
    pub fn new(
        (title, about): (&str, Vec<String>),
        (machine, constants): (&str, Constants),
        facts: Facts,
        rows: Vec<(Sizes, Demand, Option<Counts>)>,
    ) -> Self {
        let row = |(sizes, demand, counts): (Sizes, Demand, Option<Counts>)| RunRow {
            sizes,
            bound: Bound::of(&demand, &constants),
            counts,
        };
        Self {
            title: title.into(),
            about,
            machine: machine.into(),
            m: None,
            constants,
            rows: rows.into_iter().map(row).collect(),
            growths: None,
            fixed: Vec::new(),
            steps: facts.steps(&constants),
        }
    }

    /// Adds how the counts of runs of so many processes grow.
    pub fn growing(self, runs: &CountedRuns, m: u32) -> Self {
        let fixed = runs.fixed().into_iter().map(String::from).collect();
        Self { growths: runs.growths().map(<[Growth]>::to_vec), fixed, m: Some(m), ..self }
    }

    /// The names of the sizes.
    fn names(&self) -> Vec<&str> {
        self.rows.first().map_or_else(Vec::new, |row| row.sizes.names().collect())
    }

    /// Each part that dominates some of the rows, with their number; the rest last, without a name.
    fn dominating(&self) -> Vec<(Option<BoundPart>, usize)> {
        let count = |part| self.rows.iter().filter(|row| row.bound.dominating() == part).count();
        let parts = BoundPart::ALL.into_iter().map(Some).chain([None]);
        parts.map(|part| (part, count(part))).filter(|(_, count)| *count > 0).collect()
    }

    /// The report as one object.
    pub fn json(&self) -> String {
        let Constants { latency, memory, accelerator, line, penalty, double_block, clock } =
            self.constants;
        let constants = Object::new()
            .with("clock_hz", clock.0)
            .with("latency_s", latency)
            .with("memory_bytes_per_s", memory.0)
            .with("spe_bytes_per_s", accelerator.0)
            .with("line_bytes", line)
            .with("branch_penalty_cycles", penalty)
            .with("double_block_cycles", double_block);
        let growths = self.growths.iter().flatten().zip(&QUANTITIES);
        let growths = growths.map(|(growth, quantity)| {
            let rivals: Vec<Value> = growth.rivals.iter().map(|forms| texts(forms)).collect();
            Object::new()
                .with("name", quantity.name)
                .with("of", quantity.of.name())
                .with("growth", growth.to_string())
                .with("terms", growth.terms.iter().map(term).collect::<Vec<_>>())
                .with("relative_error", growth.error)
                .with("poor", growth.is_poor())
                .with("rivals", rivals)
        });
        let object = Object::new()
            .with("program", &self.title)
            .with("machine", &self.machine)
            .with("m", self.m)
            .with("constants", constants)
            .with("runs", self.objects())
            .with("growths", growths.collect::<Vec<_>>())
            .with("steps", self.steps.clone());
        pretty(&object)
    }

    /// A row for each run.
    pub fn csv(&self) -> String {
        answer::csv(&self.objects())
    }

    /// The runs for programs: sizes, counts, bounds, and what binds.
    fn objects(&self) -> Vec<Object> {
        let row = |RunRow { sizes, bound, counts }: &RunRow| {
            let object = Object::new()
                .flat("program", &self.title)
                .flat("machine", &self.machine)
                .flat("m", self.m)
                .followed_by(sizes.iter().collect());
            let object = match counts {
                Some(counts) => object.followed_by(counted(counts)),
                None => object,
            };
            let bounds =
                BoundPart::ALL.map(|part| (format!("{}_s", part.name()), bound.part(part)));
            let object =
                object.followed_by(bounds.into_iter().collect()).with("bound_s", bound.time());
            let object = match counts {
                Some(counts) => object.with("time_s", counts.time),
                None => object.flat("time_s", Value::Missing),
            };
            let (part, factor) = bound.binding();
            let dominates = bound.dominating().map(BoundPart::name);
            object
                .with("binds", part.name())
                .with("by_factor", factor)
                .json("dominates", dominates)
                .flat("dominates", dominates.unwrap_or("none"))
        };
        self.rows.iter().map(row).collect()
    }

    /// The report for people.
    pub fn text(&self) -> String {
        let report = self;
        let mut text = format!("{} on {}\n", report.title, report.machine);
        for line in &report.about {
            text += &(wrapped(line, WIDTH) + "\n");
        }
        if report.rows.iter().any(|row| row.counts.is_some()) {
            text += "\nThe SPE that does most, and host cycles:\n";
            text += &counts(report, &[Triplet::Computation]);
            text += "\n";
            text += &counts(report, &[Triplet::Requests, Triplet::Branches]);
        }
        match &report.growths {
            Some(growths) => text += &growing(growths, &report.fixed),
            None if report.rows.iter().all(|row| row.counts.is_some()) => {
                text += "\nHow counts grow takes three sizes of n: --n.\n";
            }
            None => {}
        }
        text += "\n";
        for (number, step) in (1..).zip(&report.steps) {
            text += &(wrapped(&format!("{number}. {step}"), WIDTH) + "\n");
        }
        text + &bounds(report) + &apart(report)
    }
}

/// What a run counted, for programs.
fn counted(counts: &Counts) -> Object {
    let quantities = QUANTITIES.iter().map(|it| (it.name, (it.count)(counts)));
    let requests = counts.by_size.iter().map(|it| {
        Object::new()
            .with("direction", it.direction)
            .with("bytes", it.bytes)
            .with("requests", it.count)
    });
    Object::from_iter(quantities)
        .with("transfers", requests.collect::<Vec<_>>())
        .json("dma_commands", counts.commands)
        .json("dma_lists", counts.lists)
        .json("most_outstanding", counts.most_outstanding)
        .json("mean_outstanding", counts.mean_outstanding)
        .json("taken", counts.taken)
        .json("host_bursts", counts.bursts)
        .json("waited_cycles", counts.waited)
        .with("stalls_cycles", Object::from_iter(counts.stalls.iter().copied()))
}

fn texts(forms: &[GrowthForm]) -> Value {
    forms.iter().map(GrowthForm::to_string).collect::<Vec<_>>().into()
}

fn term(GrowthTerm { form, coefficient, std_error, alike }: &GrowthTerm) -> Object {
    Object::new()
        .with("form", form.to_string())
        .with("coefficient", *coefficient)
        .with("std_error", *std_error)
        .with("cannot_be_told_from", texts(alike))
}

/// The sizes of the runs, as the first columns of a table of some of them.
fn with_sizes<'a>(
    report: &ComplexityReport,
    rows: impl Iterator<Item = &'a RunRow>,
) -> Table<&'a RunRow> {
    let size = |table: Table<&'a RunRow>, (index, name): (usize, &str)| {
        table.people(name, |row| {
            row.sizes.iter().nth(index).map_or_else(String::new, |(_, size)| size.to_string())
        })
    };
    report.names().into_iter().enumerate().fold(Table::of(rows), size)
}

/// A table of the counts of those parts of the triplet.
fn counts(report: &ComplexityReport, parts: &[Triplet]) -> String {
    let counted = report.rows.iter().filter(|row| row.counts.is_some());
    let quantities = QUANTITIES.iter().filter(|quantity| parts.contains(&quantity.of));
    let quantity = |table: Table<_>, quantity: &Quantity| {
        table.people(quantity.name, |row: &&RunRow| {
            let count = row.counts.as_ref().map(|counts| short(round((quantity.count)(counts))));
            count.unwrap_or_default()
        })
    };
    quantities.fold(with_sizes(report, counted), quantity).text()
}

/// Counts are whole; means keep what is behind the point where they are small.
fn round(count: f64) -> f64 {
    if count >= 100.0 { count.round() } else { count }
}

/// How each count grows.
fn growing(growths: &[Growth], fixed: &[String]) -> String {
    let mut text = "\nGrowth, and its error at runs that were left out:\n".to_string();
    let widest = growths.iter().map(|growth| growth.to_string().chars().count()).max();
    for (quantity, growth) in QUANTITIES.iter().zip(growths) {
        let shown = growth.to_string();
        let line = format!(
            "  {:4} {:13} {shown:width$}  {:>6}  {}",
            quantity.of.name(),
            quantity.name,
            format!("{:.1} %", 100.0 * growth.error),
            quantity.meaning,
            width = widest.unwrap_or(0)
        );
        text += &format!("{}{}\n", line.trim_end(), doubts(growth, fixed));
    }
    if !fixed.is_empty() {
        let line = format!(
            "{} took one value, so how counts grow with it cannot be told: n may stand for n/p.",
            fixed.join(" and ")
        );
        text += &(wrapped(&line, WIDTH) + "\n");
    }
    text
}

/// Forms that the runs cannot tell from those of a growth, where the sizes all vary.
fn doubts(growth: &Growth, fixed: &[String]) -> String {
    let alike = growth.terms.iter().filter(|term| !term.alike.is_empty() && fixed.is_empty());
    let alike: Vec<String> = alike.map(doubt).collect();
    let rivals = growth
        .rivals
        .iter()
        .take(SHOWN)
        .map(|forms| forms.iter().map(GrowthForm::to_string).collect::<Vec<_>>().join(" + "));
    let rivals: Vec<String> = rivals.collect();
    let mut text = String::new();
    if !alike.is_empty() {
        text += &format!("; {}", alike.join("; "));
    }
    if growth.is_poor() {
        text += "; no form fits well";
    } else if !rivals.is_empty() && growth.error > NOTHING {
        text += &format!("; as well: {}", rivals.join(", "));
    }
    text
}

/// Errors below this are those of rounding.
const NOTHING: f64 = 1e-6;

fn doubt(term: &GrowthTerm) -> String {
    let shown: Vec<String> = term.alike.iter().take(SHOWN).map(GrowthForm::to_string).collect();
    let more = term.alike.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{} cannot be told from {}{more}", term.form, shown.join(", "))
}

/// The least times, and what binds.
fn bounds(report: &ComplexityReport) -> String {
    let Constants { latency, memory, accelerator, penalty, .. } = report.constants;
    let line = format!(
        "T >= max(issue + branches, latency, bandwidth) + host, where a request takes {latency}, the \
         memory delivers {:.1} GB/s, {:.1} to one SPE, and a wrong branch costs {penalty} cycles:",
        memory.0 / 1e9,
        accelerator.0 / 1e9,
    );
    let mut table = with_sizes(report, report.rows.iter());
    for part in BoundPart::ALL {
        table = table.people(part.name(), |row| row.bound.part(part).to_string());
    }
    table = table.people("bound", |row| row.bound.time().to_string());
    if report.rows.iter().any(|row| row.ratio().is_some()) {
        table = table
            .people("emulated", |row| {
                let time = row.counts.as_ref().and_then(|counts| counts.time);
                time.map_or_else(String::new, |time| time.to_string())
            })
            .people("bound/time", |row| {
                row.ratio().map_or_else(String::new, |ratio| format!("{ratio:.3}"))
            });
    }
    let table = table.people("binds", |row| {
        let (part, factor) = row.bound.binding();
        match row.bound.dominating() {
            Some(_) => format!("{} x{}", part.name(), short(factor)),
            None => format!("none ({} x{})", part.name(), short(factor)),
        }
    });
    let summary = wrapped(&summary(report), WIDTH);
    format!("\n{}\n{}\n{summary}\n", wrapped(&line, WIDTH), table.text())
}

/// Which part binds where.
fn summary(report: &ComplexityReport) -> String {
    let all = report.rows.len();
    let part = |(part, count): (Option<BoundPart>, usize)| {
        let name = part.map_or("nothing", BoundPart::name);
        let runs = if report.rows[0].counts.is_some() { "runs" } else { "points" };
        match count == all {
            true => format!("{name} dominates everywhere"),
            false => format!("{name} dominates {count} of {all} {runs}"),
        }
    };
    let parts: Vec<String> = report.dominating().into_iter().map(part).collect();
    let ratios = || report.rows.iter().filter_map(RunRow::ratio);
    let range = match (ratios().reduce(f64::min), ratios().reduce(f64::max)) {
        (Some(least), Some(most)) => format!("; the bound is {least:.3} to {most:.3} of the time"),
        _ => String::new(),
    };
    let mut text = format!("{}{range}.", parts.join(", "));
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    text + " A part dominates where it exceeds the next by more than 20 %; xF is by how much."
}

/// What the bound leaves out, of the largest run.
fn apart(report: &ComplexityReport) -> String {
    let Some(RunRow { counts: Some(counts), sizes, .. }) = report.rows.last() else {
        return String::new();
    };
    let Counts { stalls, waited, time: Some(time), .. } = counts else { return String::new() };
    let part = |cycles: f64| 100.0 * cycles / (time.0 * report.constants.clock.0);
    // The bound has what blocks the issue, and branches.
    let own = stalls.iter().filter(|(cause, cycles)| {
        *cycles > 0.0 && !["issue block", "branch penalty"].contains(cause)
    });
    let mut parts: Vec<String> =
        own.map(|(cause, cycles)| format!("{cause} {:.1} %", part(*cycles))).collect();
    parts.push(format!("waiting for DMA {:.1} %", part(*waited)));
    if counts.mean_outstanding > 0.0 {
        let latency = report.constants.latency_cycles();
        let requests = counts.requests - counts.other_requests;
        parts.push(format!(
            "latency at the mean number of requests under way {:.1} %",
            part(latency * requests / counts.mean_outstanding)
        ));
    }
    let line = format!("Beside the bound, of the time at {sizes}: {}.", parts.join(", "));
    wrapped(&line, WIDTH) + "\n"
}
