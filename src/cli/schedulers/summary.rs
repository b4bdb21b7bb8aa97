//! What a comparison found, for people.

use std::path::Path;

use crate::answer::Table;
use crate::report::schedulers::{Place, findings, places};
use crate::table::records::Scheduled;

/// Places of which each has a line; of more, the findings say what there is to say.
const MOST_LINES: usize = 40;

/// The number of slower schedulers that are named beside the slowest.
const NAMED: usize = 3;

/// The summary; so many of the rows stood in the folder before, in which a file is worth opening.
pub fn text(rows: &[Scheduled], there: usize, (folder, file): (&Path, &str)) -> String {
    let places = places(rows);
    let mut text = findings(rows).join("\n") + "\n";
    if places.len() <= MOST_LINES {
        text = format!("{}\n{text}", table(&places));
    }
    let folder = folder.display();
    let before = match there {
        0 => String::new(),
        count if count == rows.len() => " All rows were there before.".into(),
        count => format!(" Of its {} rows, {count} were there before.", rows.len()),
    };
    text + &format!("\nEverything is in {folder}; open {folder}/{file} to look at it.{before}\n")
}

/// A line for each number of workers and tasks.
fn table(places: &[Place<'_>]) -> String {
    Table::of(places)
        .people("workers", |place| place.workers.to_string())
        .people("tasks", |place| place.tasks.to_string())
        .people("time [ms]", |place| format!("{:.2}", 1e3 * place.runs[0].time_s))
        .people("fastest", |place| place.fastest())
        .people("the others", others)
        .left()
        .text()
}

/// The next and the last, and how far they are from the fastest.
fn others(place: &&Place<'_>) -> String {
    let slower = place.slower();
    let told = |(name, ratio): &(&str, f64)| format!("{name} {}", Place::distance(*ratio));
    let named: Vec<String> = slower.iter().take(NAMED).map(told).collect();
    match slower.get(NAMED..) {
        Some([between @ .., last]) => {
            let dots = if between.is_empty() { "" } else { "... " };
            format!("{}, {dots}{}", named.join(", "), told(last))
        }
        _ => named.join(", "),
    }
}
