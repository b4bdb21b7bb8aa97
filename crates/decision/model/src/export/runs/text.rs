//! Extra-P's text format.

use super::{REGION, points, refused};
use mmgp_base::error::Result;
use mmgp_base::table::records::Run;

/// Extra-P text: a comment, `PARAMETER m p`, all `POINTS`, and for the region `run` with the metric
/// `time` a line `DATA` for each point.
///
/// # Errors
/// [`crate::Error::OutOfRange`] for no runs, and where the (m, p) are not all as often repeated:
/// the text format is a full table, so such runs need JSON or JSON Lines.
pub fn extra_p(runs: &[Run]) -> Result<String> {
    let points = points(runs)?;
    let count = points.first_key_value().map_or(0, |(_, times)| times.len());
    if let Some(((m, p), times)) = points.iter().find(|(_, times)| times.len() != count) {
        return Err(refused(
            format!("{} repetitions of m = {m}, p = {p}, but {count} of the first", times.len()),
            "as many of each in Extra-P text; use extra-p-json or extra-p-jsonl",
        ));
    }
    let mut text = format!(
        "# Times of whole runs in seconds: m host threads, p APUs for each, {count} repetitions\n\
         PARAMETER m p\nPOINTS"
    );
    for (m, p) in points.keys() {
        text += &format!(" ({m} {p})");
    }
    text += &format!("\n\nREGION {REGION}\nMETRIC time\n");
    for times in points.values() {
        text += "DATA";
        for time in times {
            text += &format!(" {time:?}");
        }
        text.push('\n');
    }
    Ok(text)
}
