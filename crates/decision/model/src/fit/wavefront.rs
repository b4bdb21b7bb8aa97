//! The terms of [wavefronts](crate::models::wavefront) from timed blocks and messages.

use super::threads::solve;
use crate::models::parameters::Estimate;
use crate::models::wavefront::{Links, MessageLine, WAYS, WavefrontTerms};
use mmgp_base::error::{Error, Result};
use mmgp_base::table::records::{BlockRun, MessageRun};

/// Estimates all terms by least squares of relative errors; standard errors come from the scatter about the
/// straight lines, that of repetitions and that of times that are on no line. Of blocks: `W_0`, a time for each
/// line along x and one for each cell and angle. Of messages: a latency and a time for each byte, for each kind of
/// link and each way that was timed. A link that was not timed costs nothing, and so does `release`
/// where it was not; without `late`, it is what `early` is, the cost c from the later of both.
///
/// Times of messages are no straight lines over many sizes: time those that will be sent.
///
/// # Errors
/// [`Error::TooLittleData`] where terms cannot be told apart, [`Error::OutOfRange`] for a link or a way
/// that there is not.
pub fn estimate_wavefront(
    (blocks, blocks_file): (&[BlockRun], &str),
    (messages, messages_file): (&[MessageRun], &str),
) -> Result<WavefrontTerms> {
    let missing = |file: &str, found: String, advice: &str| Error::too_little(file, found, advice);
    let row = |run: &BlockRun| {
        let updates = f64::from(run.cells) * f64::from(run.angles);
        (vec![1.0, f64::from(run.lines), updates], run.time_s)
    };
    let rows: Vec<(Vec<f64>, f64)> = blocks.iter().map(row).collect();
    let found = solve(&rows).and_then(|found| <[Estimate; 3]>::try_from(found).ok());
    let [block_s, line_s, cell_s] = found.ok_or_else(|| {
        let found = "blocks that are too alike";
        missing(
            blocks_file,
            found.into(),
            "time blocks with other lines, and with other cells a line",
        )
    })?;
    let mut terms = WavefrontTerms { block_s, line_s, cell_s, ..WavefrontTerms::nothing() };
    for run in messages {
        check_name("link", &run.link, &Links::NAMES)?;
        check_name("way", &run.way, &WAYS)?;
    }
    for (link, link_name) in Links::NAMES.into_iter().enumerate() {
        for (way, way_name) in WAYS.into_iter().enumerate() {
            let timed = messages.iter().filter(|run| run.link == link_name && run.way == way_name);
            let timed: Vec<&MessageRun> = timed.collect();
            if timed.is_empty() {
                continue;
            }
            let line = line(&timed).ok_or_else(|| {
                let found = format!("{way_name} messages {link_name} that are too alike");
                missing(messages_file, found, "time messages of two sizes or more")
            })?;
            terms.set_line(link, way, line);
        }
        let has_late = messages.iter().any(|run| run.link == link_name && run.way == WAYS[1]);
        if !has_late {
            let early = terms.links.0[link].early.clone();
            terms.set_line(link, 1, early);
        }
    }
    Ok(terms)
}

fn check_name(name: &'static str, found: &str, known: &[&str]) -> Result<()> {
    if known.contains(&found) {
        return Ok(());
    }
    Err(Error::out_of_range(name, found, format!("one of {}", known.join(", "))))
}

/// Latency, and time for a byte. Where no message took any time, nothing.
fn line(timed: &[&MessageRun]) -> Option<MessageLine> {
    if timed.iter().all(|run| run.time_s == 0.0) {
        return Some(MessageLine::nothing());
    }
    let row = |run: &&MessageRun| (vec![1.0, f64::from(run.bytes)], run.time_s);
    let rows: Vec<(Vec<f64>, f64)> = timed.iter().map(row).collect();
    let [latency_s, byte_s] = solve(&rows)?.try_into().ok()?;
    Some(MessageLine { latency_s, byte_s })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(cells: u32, lines: u32, off: f64) -> BlockRun {
        let time = 2e-6 + 50e-9 * f64::from(lines) + 11e-9 * f64::from(3 * cells);
        BlockRun { cells, lines, angles: 3, repetition: 1, time_s: time * (1.0 + off) }
    }

    fn message(link: &str, way: &str, (bytes, time_s): (u32, f64)) -> MessageRun {
        MessageRun { link: link.into(), way: way.into(), bytes, repetition: 1, time_s }
    }

    /// Blocks of each size twice, off to either side.
    fn blocks(off: f64) -> Vec<BlockRun> {
        let sizes = [(100, 20), (100, 50), (500, 50), (500, 100), (2000, 100), (2000, 400)];
        let twice = |(cells, lines)| [block(cells, lines, off), block(cells, lines, -off)];
        sizes.into_iter().flat_map(twice).collect()
    }

    /// 12 us and half a nanosecond a byte.
    fn messages() -> Vec<MessageRun> {
        let time = |bytes: u32| (bytes, 12e-6 + 0.5e-9 * f64::from(bytes));
        [800, 2400, 9600].map(|bytes| message("between-nodes", "early", time(bytes))).to_vec()
    }

    fn check(found: &Estimate, expected: f64) {
        assert!((found.value / expected - 1.0).abs() < 1e-9, "{} {expected}", found.value);
    }

    #[test]
    fn what_made_the_times_is_found_again() {
        let terms = estimate_wavefront((&blocks(0.0), "b"), (&messages(), "m")).unwrap();
        check(&terms.block_s, 2e-6);
        check(&terms.line_s, 50e-9);
        check(&terms.cell_s, 11e-9);
        let [.., nodes] = &terms.links.0;
        check(&nodes.early.latency_s, 12e-6);
        check(&nodes.early.byte_s, 0.5e-9);
        assert_eq!((&nodes.late, &nodes.release), (&nodes.early, &MessageLine::nothing()));
    }

    #[test]
    fn scatter_becomes_standard_errors_that_hold_the_truth() {
        let terms = estimate_wavefront((&blocks(0.01), "b"), (&messages(), "m")).unwrap();
        for (found, truth) in
            [(&terms.block_s, 2e-6), (&terms.line_s, 50e-9), (&terms.cell_s, 11e-9)]
        {
            let error = found.std_error.unwrap() / truth;
            // One of 12 times is off by 1 %; a term is known no better than their mean.
            assert!(error > 0.01 / 12f64.sqrt() && error < 0.1, "{found:?}");
            assert!((found.value / truth - 1.0).abs() < error, "{found:?}");
            assert_eq!(found.degrees_of_freedom, Some(9.0));
        }
    }

    #[test]
    fn times_that_do_not_tell_terms_apart_are_refused() {
        let error = |blocks: &[BlockRun], messages: &[MessageRun]| {
            estimate_wavefront((blocks, "blocks.csv"), (messages, "messages.csv"))
                .unwrap_err()
                .to_string()
        };
        let alike = vec![block(100, 10, 0.0), block(100, 10, 0.1), block(200, 20, 0.0)];
        assert_eq!(
            error(&alike, &[]),
            "blocks.csv: blocks that are too alike; time blocks with other lines, and with other cells a \
             line"
        );
        let one = [message("within-cell", "late", (16, 1e-6))];
        assert_eq!(
            error(&blocks(0.0), &one),
            "messages.csv: late messages within-cell that are too alike; time messages of two sizes or more"
        );
        let other = [message("between-cities", "late", (16, 1e-6))];
        assert!(error(&blocks(0.0), &other).starts_with("link: found between-cities"));
    }

    #[test]
    fn messages_that_come_late_are_those_of_their_own_link() {
        let timed = |link, way, latency: f64| {
            [800, 2400, 9600]
                .map(|bytes| message(link, way, (bytes, latency + 1e-9 * f64::from(bytes))))
        };
        let messages = [
            timed("between-nodes", "early", 12e-6),
            timed("within-cell", "early", 1e-6),
            timed("within-cell", "late", 3e-6),
        ];
        let terms = estimate_wavefront((&blocks(0.0), "b"), (&messages.concat(), "m")).unwrap();
        let [cell, .., nodes] = &terms.links.0;
        check(&cell.early.latency_s, 1e-6);
        check(&cell.late.latency_s, 3e-6);
        // Where none was timed, one that comes early stands for it.
        check(&nodes.late.latency_s, 12e-6);
    }
}
