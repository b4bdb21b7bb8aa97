//! The pictures of a comparison.

use std::path::Path;

use crate::error::Result;
use crate::measure::schedulers::Excerpts;
use crate::plot::{self, Format, Kind, Quantity, Window};
use crate::report::Picture;
use crate::table;
use crate::table::records::Scheduled;

/// The names of all pictures, without endings.
const NAMES: [&str; 4] = ["time", "slowdown", "idle", "gantt"];

/// Removes the pictures of earlier rows.
///
/// # Errors
/// [`Error::Write`](crate::error::Error::Write).
pub fn remove(folder: &Path) -> Result<()> {
    let mut files = NAMES.iter().flat_map(|name| Format::ALL.iter().map(move |it| file(name, *it)));
    files.try_for_each(|file| table::remove_file(&folder.join(file)))
}

fn file(name: &str, format: Format) -> String {
    format!("{name}.{}", format.ending())
}

/// Draws all pictures into the folder; those that a page shows, with what stands under them.
///
/// # Errors
/// The errors of drawing and writing.
pub fn write(
    folder: &Path,
    of: &str,
    rows: &[Scheduled],
    excerpts: &Excerpts,
) -> Result<Vec<Picture>> {
    let Excerpts { workers, tasks, window: [from, until], traces } = excerpts;
    let window = Window { from_s: Some(from.0), to_s: Some(until.0) };
    let same_part = format!(
        "The same part of each run with {workers} workers and {tasks} tasks, from the middle of the \
         fastest: host processes, hardware threads and SPEs over time"
    );
    let rows_as = |quantity| Kind::Schedulers { rows, quantity };
    let all = [
        ("time", rows_as(Quantity::Time), "Time from the start to the end of the last task"),
        (
            "time over that of the fastest",
            rows_as(Quantity::OverFastest),
            "Time over that of the fastest scheduler with as many workers and tasks",
        ),
        (
            "idle APUs",
            rows_as(Quantity::ApuIdle),
            "How long the workers' APUs did nothing, for each off-load",
        ),
        ("what happens when", Kind::Excerpts { traces, window }, same_part.as_str()),
    ];
    let mut pictures = Vec::with_capacity(all.len());
    for (name, (what, kind, caption)) in NAMES.into_iter().zip(all) {
        let title = format!("{of}: {what}");
        for &format in Format::ALL {
            let bytes = plot::draw(&plot::Picture { title: &title, kind }, format)?;
            table::write(&folder.join(file(name, format)), &bytes)?;
            if format == Format::Svg {
                let svg = String::from_utf8(bytes).expect("invariant: an SVG is text");
                pictures.push(Picture { title: caption.into(), svg });
            }
        }
    }
    Ok(pictures)
}
