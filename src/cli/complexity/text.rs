//! What is printed for people.

use super::report::{Report, Row};
use crate::cli::output::{aligned, wrapped};
use crate::complexity::Triplet;
use crate::complexity::growth::{GrowthTerm, short};
use crate::complexity::{BoundPart, Constants, Counts, Growth, GrowthForm, QUANTITIES};

/// Columns of a line of text.
const WIDTH: usize = 96;

/// More forms that cannot be told apart are only counted.
const SHOWN: usize = 3;

/// The whole answer.
pub fn of(report: &Report) -> String {
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

/// A table of the counts of those parts of the triplet.
fn counts(report: &Report, parts: &[Triplet]) -> String {
    let quantities = || QUANTITIES.iter().filter(|quantity| parts.contains(&quantity.of));
    let names = report.names().into_iter().chain(quantities().map(|it| it.name));
    let row = |row: &Row| {
        let counts = row.counts.as_ref()?;
        let counts = quantities().map(|quantity| short(round((quantity.count)(counts))));
        Some(row.sizes.iter().map(|(_, size)| size.to_string()).chain(counts).collect())
    };
    let rows: Vec<Vec<String>> = report.rows.iter().filter_map(row).collect();
    aligned(&names.collect::<Vec<_>>(), &rows)
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
fn bounds(report: &Report) -> String {
    let Constants { latency, memory, accelerator, penalty, .. } = report.constants;
    let line = format!(
        "T >= max(issue + branches, latency, bandwidth) + host, where a request takes {latency}, the \
         memory delivers {:.1} GB/s, {:.1} to one SPE, and a wrong branch costs {penalty} cycles:",
        memory.0 / 1e9,
        accelerator.0 / 1e9,
    );
    let is_run = report.rows.iter().any(|row| row.ratio().is_some());
    let measured = if is_run { &["emulated", "bound/time"][..] } else { &[] };
    let names = report.names().into_iter().chain(BoundPart::ALL.map(BoundPart::name));
    let header: Vec<&str> =
        names.chain(["bound"]).chain(measured.iter().copied()).chain(["binds"]).collect();
    let row = |row: &Row| {
        let (part, factor) = row.bound.binding();
        let mut cells: Vec<String> = row.sizes.iter().map(|(_, size)| size.to_string()).collect();
        cells.extend(BoundPart::ALL.map(|part| row.bound.part(part).to_string()));
        cells.push(row.bound.time().to_string());
        if let Some(time) = row.counts.as_ref().and_then(|counts| counts.time) {
            cells.push(time.to_string());
            cells.push(row.ratio().map_or_else(String::new, |ratio| format!("{ratio:.3}")));
        }
        cells.push(match row.bound.dominating() {
            Some(_) => format!("{} x{}", part.name(), short(factor)),
            None => format!("none ({} x{})", part.name(), short(factor)),
        });
        cells
    };
    let rows: Vec<Vec<String>> = report.rows.iter().map(row).collect();
    let summary = wrapped(&summary(report), WIDTH);
    format!("\n{}\n{}\n{summary}\n", wrapped(&line, WIDTH), aligned(&header, &rows))
}

/// Which part binds where.
fn summary(report: &Report) -> String {
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
    let ratios = || report.rows.iter().filter_map(Row::ratio);
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
fn apart(report: &Report) -> String {
    let Some(Row { counts: Some(counts), sizes, .. }) = report.rows.last() else {
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
