//! The terms of further models from short runs: of [software-managed threads](crate::models::threads), and
//! of [wavefronts](crate::models::wavefront) from timed blocks and messages.

use nalgebra::DMatrix;

use crate::models::parameters::Estimate;
use crate::models::threads::{Division, OverP, SoftwareThreads, SublistChoice, ThreadTerms};
use crate::models::time_model::TimeModel as _;
use crate::models::wavefront::{Links, MessageLine, WAYS, WavefrontTerms};
use crate::statistics::{Design, Mean};
use mmgp_base::Mapping;
use mmgp_base::error::{Error, Result};
use mmgp_base::table::records::{BlockRun, MessageRun, ThreadRun};

/// Lists of requests that are taken to hide the latency; checked afterwards.
const ENOUGH: u32 = 16;

/// Scatter within which a node seems to take its part of the latency and of what it takes of the SPU, where
/// so many requests do not hide the latency.
const ALIKE: f64 = 0.02;

/// Estimates all terms. With one accelerator and sublists that are all as long: runs of one thread
/// (which waits for every node), of 16 threads on as many lists, and of many threads on as
/// many lists. With each number of accelerators: runs of many threads whose heads are chosen as
/// `division` says. Each on lists of several lengths, for their scatter about the model is what standard
/// errors come from.
///
/// # Errors
/// [`Error::TooLittleData`] where terms cannot be told apart, and where 16 requests do not hide the
/// latency.
pub fn estimate_threads(runs: &[ThreadRun], division: Division, file: &str) -> Result<ThreadTerms> {
    let missing = |found: &str, advice: &str| Error::too_little(file, found, advice);
    let too_alike = |found: &str| missing(found, "run 1, 16 and 128 sublists of several lists");
    let [turn_s, list_turn_s, latency_s, thread_s] =
        turns(runs).ok_or_else(|| too_alike("runs of one accelerator that are too alike"))?;
    let node = turn_s.value + list_turn_s.value;
    if f64::from(ENOUGH) * node < (1.0 + ALIKE) * (latency_s.value + node) {
        return Err(missing("a latency that 16 requests do not hide", "model more of them"));
    }
    let mut ps: Vec<u32> = runs.iter().map(|run| run.p).collect();
    ps.sort_unstable();
    ps.dedup();
    let rest = rest(runs, &ps).ok_or_else(|| too_alike("runs that are too alike"))?;
    let mut stream_s = OverP::nothing(&ps);
    ps.iter().zip(&rest[2..]).for_each(|(&p, stream)| stream_s.set(p, stream.clone()));
    let [sublist_s, start_s] = [0, 1].map(|place| rest[place].clone());
    let gather_s = OverP::nothing(&ps);
    let mut terms = ThreadTerms {
        turn_s,
        list_turn_s,
        latency_s,
        thread_s,
        sublist_s,
        start_s,
        gather_s,
        stream_s,
    };
    let round_trip = terms.latency_s.value;
    // Those of few accelerators count when of many some have ended.
    for &p in &ps {
        let of_p = runs.iter().filter(|run| run.p == p && run.heads == division.name());
        let many = of_p.filter(|run| run.sublists > ENOUGH && run.buffers >= ENOUGH);
        let gathers: Vec<f64> = many.map(|run| gather(&terms, division, run)).collect();
        let gather = mean(&gathers).ok_or_else(|| too_alike("no run of many threads"))?;
        if p == 1 {
            // A node that is a list of its own has its own way in its round trip.
            terms.latency_s.value = (round_trip - gather.value).max(0.0);
        }
        terms.gather_s.set(p, gather);
    }
    Ok(terms)
}

/// Turn, list's turn, latency and thread, from the ranking of sublists by one accelerator.
fn turns(runs: &[ThreadRun]) -> Option<[Estimate; 4]> {
    let hides = |run: &ThreadRun| run.sublists >= ENOUGH && run.buffers >= ENOUGH;
    let is_used = |run: &&ThreadRun| {
        let tells = hides(run) || run.sublists == 1;
        run.p == 1 && run.heads == Division::Even.name() && tells
    };
    let row = |run: &ThreadRun| {
        let (nodes, threads) = (f64::from(run.nodes), f64::from(run.sublists));
        let lists = run.sublists.min(run.buffers);
        let waits = if hides(run) { 0.0 } else { nodes };
        (vec![nodes, nodes / threads * f64::from(lists), waits, threads], run.step_2_s)
    };
    let rows: Vec<(Vec<f64>, f64)> = runs.iter().filter(is_used).map(row).collect();
    solve(&rows)?.try_into().ok()
}

/// Sublist, start, and the streams of each of these numbers of accelerators, from all but the ranking
/// of sublists.
fn rest(runs: &[ThreadRun], ps: &[u32]) -> Option<Vec<Estimate>> {
    let row = |run: &ThreadRun| {
        let stream = |&p: &u32| if p == run.p { f64::from(run.nodes) } else { 0.0 };
        let fixed = [f64::from(run.sublists), 1.0];
        let row = fixed.into_iter().chain(ps.iter().map(stream)).collect();
        (row, run.time_s - run.step_2_s)
    };
    let rows: Vec<(Vec<f64>, f64)> = runs.iter().map(row).collect();
    solve(&rows)
}

/// What memory takes for a node, so that the model takes as long as the run for the ranking of sublists;
/// the least that may be, where memory was not waited for.
fn gather(terms: &ThreadTerms, division: Division, run: &ThreadRun) -> f64 {
    let choice = SublistChoice { sublists: run.sublists, buffers: run.buffers };
    let time = |gather: f64| {
        let mut terms = terms.clone();
        terms.gather_s.set(run.p, Estimate::exact(gather));
        let model = SoftwareThreads::new(terms, run.nodes, division, choice);
        let [compute, memory, ..] = &model.parts(Mapping::of(1, run.p))[..] else { return 0.0 };
        compute.time.0 + memory.time.0
    };
    // It takes no less than nothing, and no more than all of the time.
    let (mut low, mut high) = (0.0, run.step_2_s / f64::from(run.nodes));
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if time(middle) < run.step_2_s { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// Halvings of an interval, to less than rounding leaves.
const HALVINGS: u32 = 60;

/// Weighted linear least squares, every error in proportion to what was measured; nothing where the
/// rows do not tell all unknowns apart. A value below zero becomes zero.
fn solve(rows: &[(Vec<f64>, f64)]) -> Option<Vec<Estimate>> {
    let unknowns = rows.first()?.0.len();
    let freedom = rows.len().checked_sub(unknowns)?;
    let matrix = DMatrix::from_fn(rows.len(), unknowns, |row, column| rows[row].0[column]);
    let times: Vec<f64> = rows.iter().map(|row| row.1).collect();
    let design = Design::new(matrix, times.iter().map(|time| time.powi(-2)))?;
    let (solution, unscaled) = (design.solve(&times), design.variances());
    let freedom = (freedom > 0).then_some(freedom as f64);
    let of = |(value, variance): (&f64, f64)| Estimate {
        std_error: freedom.map(|freedom| (solution.squares() / freedom * variance).sqrt()),
        degrees_of_freedom: freedom,
        ..Estimate::exact(value.max(0.0))
    };
    Some(solution.coefficients.iter().zip(unscaled).map(of).collect())
}

/// The mean of what was found several times.
fn mean(values: &[f64]) -> Option<Estimate> {
    let mean = (!values.is_empty()).then(|| Mean::of(values))?;
    let degrees_of_freedom = mean.std_error.map(|_| mean.degrees_of_freedom);
    Some(Estimate { std_error: mean.std_error, degrees_of_freedom, ..Estimate::exact(mean.value) })
}

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

    fn truth() -> ThreadTerms {
        let mut terms = ThreadTerms {
            turn_s: Estimate::exact(12e-9),
            list_turn_s: Estimate::exact(6e-9),
            latency_s: Estimate::exact(110e-9),
            thread_s: Estimate::exact(3e-7),
            sublist_s: Estimate::exact(8e-8),
            start_s: Estimate::exact(9e-6),
            ..ThreadTerms::nothing(&[1, 8])
        };
        for (p, gather, stream) in [(1, 12e-9, 3e-9), (8, 6e-9, 2e-9)] {
            terms.gather_s.set(p, Estimate::exact(gather));
            terms.stream_s.set(p, Estimate::exact(stream));
        }
        terms
    }

    /// Runs as the model has them.
    fn runs(lengths: &[u32]) -> Vec<ThreadRun> {
        runs_of(&truth(), lengths)
    }

    /// A run of so many nodes as the model has it.
    fn run(
        terms: &ThreadTerms,
        heads: Division,
        nodes: u32,
        [p, sublists, buffers]: [u32; 3],
    ) -> ThreadRun {
        let choice = SublistChoice { sublists, buffers };
        let model = SoftwareThreads::new(terms.clone(), nodes, heads, choice);
        let parts = model.parts(Mapping::of(1, p));
        ThreadRun {
            heads: heads.name().into(),
            p,
            sublists,
            buffers,
            nodes,
            repetition: 1,
            time_s: model.time(Mapping::of(1, p)).0,
            step_1_s: parts[4].time.0,
            step_2_s: parts[0].time.0 + parts[1].time.0,
            step_3_s: parts[3].time.0,
            step_4_s: parts[2].time.0,
            load_imbalance: 1.0,
        }
    }

    fn runs_of(terms: &ThreadTerms, lengths: &[u32]) -> Vec<ThreadRun> {
        // Many threads on a single list of requests wait for some of the latency.
        let choices = [[1, 1, 1], [1, 16, 16], [1, 512, 16], [8, 512, 16], [1, 512, 1]];
        let of = |&nodes: &u32| choices.map(|choice| run(terms, Division::Even, nodes, choice));
        lengths.iter().flat_map(of).collect()
    }

    #[test]
    fn what_the_model_has_made_is_found_again() {
        let found =
            estimate_threads(&runs(&[50_000, 100_000, 200_000]), Division::Even, "threads.csv")
                .unwrap();
        let truth = truth();
        for ((name, found), (_, truth)) in found.named().into_iter().zip(truth.named()) {
            // One accelerator never waits for memory here, so that its rate may be any that is fast
            // enough; what it is taken for, up to 12 ns, is no part of the latency of 110.
            let tolerance = match name.as_str() {
                "gather_s(1)" => 1.001,
                "latency_s" => 12.5 / 110.0,
                _ => 1e-6,
            };
            let off = found.value / truth.value - 1.0;
            assert!(off.abs() < tolerance, "{name}: {} instead of {}", found.value, truth.value);
        }
    }

    #[test]
    fn runs_that_do_not_tell_terms_apart_are_refused() {
        let message = estimate_threads(&runs(&[50_000]), Division::Even, "threads.csv")
            .unwrap_err()
            .to_string();
        assert!(message.starts_with("threads.csv: runs of one accelerator"), "{message}");
    }

    #[test]
    fn a_latency_that_16_requests_do_not_hide_is_refused() {
        let of_latency = |nodes: f64| {
            let terms = ThreadTerms { latency_s: Estimate::exact(nodes * 18e-9), ..truth() };
            estimate_threads(&runs_of(&terms, &[50_000, 100_000, 200_000]), Division::Even, "t.csv")
        };
        // A node takes 18 ns of the SPU, and what one accelerator waits for its rate up to 12 more are
        // taken for latency.
        assert!(of_latency(13.5).is_ok());
        let message = of_latency(15.5).unwrap_err().to_string();
        assert!(message.contains("a latency that 16 requests do not hide"), "{message}");
    }

    #[test]
    fn a_mean_of_gathers_has_the_standard_error_of_their_scatter() {
        let check = |values: &[f64], expected: Option<(f64, Option<f64>, Option<f64>)>| {
            let found = mean(values).map(|it| (it.value, it.std_error, it.degrees_of_freedom));
            assert_eq!(found, expected);
        };
        // Deviations -2, -1 and 3 from 3: a variance of 14/2, of the mean 7/3.
        check(&[1.0, 2.0, 6.0], Some((3.0, Some((7.0_f64 / 3.0).sqrt()), Some(2.0))));
        check(&[5.0], Some((5.0, None, None)));
        check(&[], None);
    }

    #[test]
    fn as_many_rows_as_unknowns_leave_no_standard_error() {
        let found = solve(&[(vec![2.0], 3.0)]).unwrap();
        assert_eq!(found, [Estimate::exact(1.5)]);
    }

    #[test]
    fn memory_takes_what_a_run_waits_for_it_and_nothing_where_none_does() {
        let check = |nodes_s: f64, expected: f64| {
            let mut terms = truth();
            terms.gather_s.set(1, Estimate::exact(nodes_s));
            let mut run = runs_of(&terms, &[1_000_000]).remove(2);
            assert_eq!((run.p, run.sublists, run.buffers), (1, 512, 16));
            run.nodes = 1_000_000;
            let found = gather(&truth(), Division::Even, &run);
            approx::assert_relative_eq!(found, expected, max_relative = 1e-12, epsilon = 1e-20);
        };
        // A node takes 12 ns of the SPU, and 6/32 more for its part of a list.
        check(25e-9, 25e-9);
        check(12e-9, 0.0);
    }

    #[test]
    fn memory_is_timed_by_many_threads_of_the_division_that_is_asked_for() {
        // Random heads are farther apart, so that memory takes 25 ns for a node of one accelerator where
        // even ones take 12. A lone thread waits for 110 + 12 ns, which then are 97 + 25.
        let mut far = ThreadTerms { latency_s: Estimate::exact(97e-9), ..truth() };
        far.gather_s.set(1, Estimate::exact(25e-9));
        let lengths = [50_000, 100_000, 200_000];
        let mut all = runs(&lengths);
        // Neither 16 threads nor a single list of requests wait for memory alone.
        let choices = [[1, 16, 16], [1, 512, 1], [1, 512, 16], [8, 512, 16]];
        for nodes in lengths {
            all.extend(choices.map(|choice| run(&far, Division::Random, nodes, choice)));
        }
        let found = estimate_threads(&all, Division::Random, "threads.csv").unwrap();
        let gathered = |p| found.gather_s.at(p).value;
        approx::assert_relative_eq!(gathered(1), 25e-9, max_relative = 1e-6);
        approx::assert_relative_eq!(gathered(8), 6e-9, max_relative = 1e-6);
        approx::assert_relative_eq!(found.latency_s.value, 97e-9, max_relative = 1e-6);
        assert_eq!(found.gather_s.at(1).degrees_of_freedom, Some(2.0));
    }

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
