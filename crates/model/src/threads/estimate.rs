//! The terms from short runs.

use nalgebra::{DMatrix, DVector};

use super::terms::{OverP, ThreadTerms};
use crate::model::parameters::Estimate;
use mmgp_base::error::{Error, Result};
use mmgp_base::table::records::ThreadRun;

/// Lists of requests that are taken to hide the latency; checked afterwards.
const ENOUGH: u32 = 16;

/// Estimates all terms from runs on lists whose sublists are all as long: with one accelerator, runs of
/// one thread (which waits for every node), of [`ENOUGH`] threads on as many lists, and of many threads
/// on as many lists; with each other number of accelerators, runs of many threads. Each on lists of
/// several lengths, for their scatter about the model is what standard errors come from.
///
/// # Errors
/// [`Error::TooLittleData`] where terms cannot be told apart, and where 16 requests do not hide the
/// latency.
pub fn estimate(runs: &[ThreadRun], file: &str) -> Result<ThreadTerms> {
    let alone: Vec<&ThreadRun> = runs.iter().filter(|run| run.p == 1).collect();
    let missing = |found: &str, advice: &str| Error::TooLittleData {
        file: file.into(),
        found: found.into(),
        advice: advice.into(),
    };
    let hides = |run: &ThreadRun| run.sublists >= ENOUGH && run.buffers >= ENOUGH;
    let used = alone.iter().copied().filter(|run| hides(run) || run.sublists == 1);
    let ranking: Vec<(Vec<f64>, f64)> =
        used.map(|run| (turns(run, hides(run)), run.step_2_s)).collect();
    let [turn_s, list_turn_s, latency_s, thread_s] = fitted(&ranking)
        .ok_or_else(|| missing("runs of one accelerator that are too alike", LENGTHS))?;
    let node = turn_s.value + list_turn_s.value;
    if f64::from(ENOUGH) * node < latency_s.value + node {
        return Err(missing("a latency that 16 requests do not hide", "model more of them"));
    }
    let mut ps: Vec<u32> = runs.iter().map(|run| run.p).collect();
    ps.sort_unstable();
    ps.dedup();
    let rest: Vec<(Vec<f64>, f64)> = runs
        .iter()
        .map(|run| {
            let stream = |&p: &u32| if p == run.p { f64::from(run.nodes) } else { 0.0 };
            let fixed = [f64::from(run.sublists), 1.0];
            let row = fixed.into_iter().chain(ps.iter().map(stream)).collect();
            (row, run.time_s - run.step_2_s)
        })
        .collect();
    let streams =
        solve(&rest).ok_or_else(|| missing("runs that are too alike", LENGTHS))?;
    let mut stream_s = OverP::nothing(&ps);
    let mut gather_s = OverP::nothing(&ps);
    for (&p, stream) in ps.iter().zip(&streams[2..]) {
        stream_s.set(p, stream.clone());
        // Of many threads few are the last ones.
        let of_p = || runs.iter().filter(|run| run.p == p && hides(run));
        let most = of_p().map(|run| run.sublists).max();
        let gathers = of_p().filter(|run| Some(run.sublists) == most).map(|run| {
            let threads = f64::from(run.sublists.div_ceil(p));
            (run.step_2_s - threads * thread_s.value) / f64::from(run.nodes)
        });
        let gathers: Vec<f64> = gathers.collect();
        let gather = mean(&gathers).ok_or_else(|| missing("no run of many threads", LENGTHS))?;
        gather_s.set(p, gather);
    }
    let [sublist_s, start_s] = [0, 1].map(|place| streams[place].clone());
    Ok(ThreadTerms {
        turn_s,
        list_turn_s,
        latency_s,
        thread_s,
        sublist_s,
        start_s,
        gather_s,
        stream_s,
    })
}

/// What is to be run where there is too little.
const LENGTHS: &str = "run one, 16 and 512 sublists on lists of several lengths";

/// How often a run of one accelerator takes each of turn, list's turn, latency and thread.
fn turns(run: &ThreadRun, hides: bool) -> Vec<f64> {
    let (nodes, threads) = (f64::from(run.nodes), f64::from(run.sublists));
    let lists = run.sublists.min(run.buffers);
    let waits = if hides { 0.0 } else { nodes };
    vec![nodes, nodes / threads * f64::from(lists), waits, threads]
}

/// The same for a number of terms that is known.
fn fitted<const N: usize>(rows: &[(Vec<f64>, f64)]) -> Option<[Estimate; N]> {
    solve(rows)?.try_into().ok()
}

/// Weighted linear least squares, every error in proportion to what was measured; nothing where the
/// rows do not tell all unknowns apart. A value below zero becomes zero.
fn solve(rows: &[(Vec<f64>, f64)]) -> Option<Vec<Estimate>> {
    let unknowns = rows.first()?.0.len();
    let freedom = rows.len().checked_sub(unknowns)?;
    let relative = |row: usize, column: usize| rows[row].0[column] / rows[row].1;
    let mut matrix = DMatrix::from_fn(rows.len(), unknowns, relative);
    let scales: Vec<f64> = matrix.column_iter().map(|column| column.norm()).collect();
    for (mut column, &scale) in matrix.column_iter_mut().zip(&scales) {
        column /= scale;
    }
    let ones = DVector::from_element(rows.len(), 1.0);
    let products = (matrix.transpose() * &matrix).try_inverse()?;
    let solution = &products * (matrix.transpose() * &ones);
    let residual = (&matrix * &solution - &ones).norm_squared();
    // Unknowns that only rounding tells apart have no bounded error.
    let bounded = products.diagonal().iter().all(|variance| (0.0..1e10).contains(variance));
    let of = |place: usize| Estimate {
        std_error: (freedom > 0)
            .then(|| (residual / freedom as f64 * products[(place, place)]).sqrt() / scales[place]),
        degrees_of_freedom: (freedom > 0).then_some(freedom as f64),
        ..Estimate::exact((solution[place] / scales[place]).max(0.0))
    };
    bounded.then(|| (0..unknowns).map(of).collect())
}

/// The mean of what was measured, with its standard error where there is more than one.
fn mean(values: &[f64]) -> Option<Estimate> {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let spread = values.len() > 1;
    let estimate = Estimate {
        std_error: spread.then(|| (squares / (count - 1.0) / count).sqrt()),
        degrees_of_freedom: spread.then_some(count - 1.0),
        ..Estimate::exact(mean)
    };
    (!values.is_empty()).then_some(estimate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::time_model::TimeModel;
    use crate::threads::{Choice, Division, SoftwareThreads};
    use mmgp_base::Mapping;

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
        let run = |nodes, [p, sublists, buffers]: [u32; 3]| {
            let choice = Choice { sublists, buffers };
            let model = SoftwareThreads::new(truth(), nodes, Division::Even, choice);
            let parts = model.parts(Mapping::of(1, p));
            let step_2_s = parts[0].time.0 + parts[1].time.0;
            ThreadRun {
                p,
                sublists,
                buffers,
                nodes,
                repetition: 1,
                time_s: model.time(Mapping::of(1, p)).0,
                step_1_s: parts[4].time.0,
                step_2_s,
                step_3_s: parts[3].time.0,
                step_4_s: parts[2].time.0,
                load_imbalance: 1.0,
            }
        };
        let choices = [[1, 1, 1], [1, 16, 16], [1, 512, 16], [8, 512, 16]];
        let all = lengths.iter().flat_map(|&nodes| choices.map(|choice| run(nodes, choice)));
        all.collect()
    }

    #[test]
    fn what_the_model_has_made_is_found_again() {
        let found = estimate(&runs(&[50_000, 100_000, 200_000]), "threads.csv").unwrap();
        let truth = truth();
        for ((name, found), (_, truth)) in found.named().into_iter().zip(truth.named()) {
            // Memory serves one accelerator no slower than that asks, lists' turns included.
            let tolerance = if name == "gather_s(1)" { 0.05 } else { 1e-6 };
            let off = found.value / truth.value - 1.0;
            assert!(off.abs() < tolerance, "{name}: {} instead of {}", found.value, truth.value);
        }
    }

    #[test]
    fn runs_that_do_not_tell_terms_apart_are_refused() {
        let message = estimate(&runs(&[50_000]), "threads.csv").unwrap_err().to_string();
        assert!(message.starts_with("threads.csv: runs of one accelerator"), "{message}");
    }
}
