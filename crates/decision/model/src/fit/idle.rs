//! Whether more processes, or more APUs of each, do anything at all, and whether a run did all of its work.
//!
//! Processes that each do the whole job, and threads that share one core, look like a program that does not
//! scale; what is to be changed is then how it is started.

use std::collections::BTreeMap;

use mmgp_base::error::Warning;
use mmgp_base::units::Seconds;

use super::runs::{Cell, Runs};

/// Times this close to each other are the same, where they scatter less.
const SAME: f64 = 0.03;

/// Number of standard deviations of a mean within which times are the same.
const DEVIATIONS: f64 = 4.0;

/// Repetitions scatter less, relative to their mean.
const FAR_APART: f64 = 0.3;

/// No run gains this much by more cores.
const TOO_FAST: f64 = 5.0;

/// Factor by which more APUs make a program faster where they do something.
const HELPS: f64 = 1.2;

impl Runs {
    /// What is to be doubted of runs before anything is believed of them: factors that do nothing, one that
    /// is far below all others, repetitions that are none.
    pub fn doubts(&self) -> Vec<Warning> {
        warnings(self)
    }
}

fn warnings(runs: &Runs) -> Vec<Warning> {
    let same = 1.0 + SAME.max(DEVIATIONS * deviation(runs));
    let by_m = groups(runs, |cell| (cell.m, cell.p));
    let by_p = groups(runs, |cell| (cell.p, cell.m));
    let is_idle = |times: &Vec<f64>| spread(times) < same;
    let note = |text: String| Warning::Note(format!("{}: {text}", runs.file));
    // An amount may well be the same on any number of cores, or less on more.
    let is_amount = !runs.quantity.is_speed();
    let mut all: Vec<Warning> =
        too_fast(runs).map(note).filter(|_| !is_amount).into_iter().collect();
    if deviation_of_run(runs) > FAR_APART {
        all.push(note(
            "runs of one configuration differ as those of different programs or inputs do: are they \
             repetitions? If a column tells them apart, each of its values is a program"
                .into(),
        ));
    }
    if is_amount {
        return all;
    }
    if !by_p.is_empty() && by_p.values().all(is_idle) {
        all.push(note(
            "more processes change nothing at any p: does each do the whole job? Then m counts copies, \
             which are not worth their cores"
                .into(),
        ));
    }
    let idle: Vec<u32> = by_m.iter().filter(|(_, times)| is_idle(times)).map(|it| *it.0).collect();
    let helped = by_m.iter().find(|(_, times)| times[0] > HELPS * times[times.len() - 1]);
    match (idle.last(), helped) {
        (Some(_), None) if idle.len() == by_m.len() => all.push(note(
            "more APUs of a process change nothing at any m: are there any beside the first, and may \
             the program use them?"
                .into(),
        )),
        (Some(last), Some((first, _))) if last < first => all.push(note(format!(
            "more APUs of a process change nothing at m = {}, and help from m = {first} on: do the \
             threads of a process share one core? Its launcher may bind them (mpirun --bind-to none, \
             --map-by slot:pe=P)",
            idle.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
        ))),
        _ => {}
    }
    all
}

/// A configuration that takes much less core time than any that uses no more cores.
fn too_fast(runs: &Runs) -> Option<String> {
    let cores = |cell: &Cell| u64::from(cell.m) * u64::from(cell.p);
    let cost = |cell: &Cell| cell.mean_s * cores(cell) as f64;
    let is_too_fast = |one: &&Cell| {
        let mut others = runs.cells.iter().filter(|it| it != one && cores(it) <= cores(one));
        others.clone().count() >= 2 && others.all(|other| cost(other) > TOO_FAST * cost(one))
    };
    let one = runs.cells.iter().find(is_too_fast)?;
    Some(format!(
        "({}, {}) {} {}, less than a fifth of the core time of any smaller configuration: did it fail? Then \
         leave it out",
        one.m,
        one.p,
        runs.quantity.past_verb(),
        runs.quantity.shown(Seconds(one.mean_s))
    ))
}

/// The mean times over one number of the configurations, for each of the other where there are two or more.
fn groups(runs: &Runs, key: impl Fn(&Cell) -> (u32, u32)) -> BTreeMap<u32, Vec<f64>> {
    let mut groups = BTreeMap::<u32, BTreeMap<u32, f64>>::new();
    for cell in &runs.cells {
        let (group, place) = key(cell);
        groups.entry(group).or_default().insert(place, cell.mean_s);
    }
    let several = groups.into_iter().filter(|(_, times)| times.len() > 1);
    several.map(|(group, times)| (group, times.into_values().collect())).collect()
}

fn spread(times: &[f64]) -> f64 {
    let (least, most) =
        times.iter().fold((f64::INFINITY, 0.0_f64), |(a, b), &it| (a.min(it), b.max(it)));
    most / least
}

/// The relative standard deviation of a mean, pooled over all configurations.
fn deviation(runs: &Runs) -> f64 {
    deviation_of_run(runs) / (runs.count() as f64 / runs.cells.len() as f64).sqrt()
}

/// The relative standard deviation of a run, pooled over all configurations; 0 where none was repeated.
fn deviation_of_run(runs: &Runs) -> f64 {
    let degrees: u64 = runs.cells.iter().map(|cell| cell.count - 1).sum();
    let squares: f64 = runs.cells.iter().map(|cell| cell.log_squares).sum();
    if degrees == 0 { 0.0 } else { (squares / degrees as f64).sqrt() }
}

#[cfg(test)]
mod tests {
    use mmgp_base::quantity::Quantity;

    use super::*;

    fn said(time: impl Fn(u32, u32) -> f64) -> Vec<String> {
        of(time).doubts().iter().map(Warning::to_string).collect()
    }

    fn of(time: impl Fn(u32, u32) -> f64) -> Runs {
        let cells = [(1, 1), (1, 4), (2, 1), (2, 4), (4, 1), (4, 4)];
        let cell = |(m, p): (u32, u32)| {
            let time = time(m, p);
            Cell::of((m, p), &[time, 1.004 * time])
        };
        Runs::new("runs.csv", cells.map(cell).into())
    }

    #[test]
    fn a_factor_that_does_nothing_is_named_and_no_other() {
        let work = |m: u32, p: u32| 1.0 + 10.0 / f64::from(m * p);
        assert!(said(work).is_empty());
        let mut joules = of(|_, p| work(1, p));
        joules.quantity = Quantity::Amount("J".into());
        assert!(joules.doubts().is_empty());
        let copies = said(|_, p| work(1, p));
        assert!(
            copies.len() == 1 && copies[0].contains("more processes change nothing"),
            "{copies:?}"
        );
        let alone = said(|m, _| work(m, 1));
        assert!(alone.len() == 1 && alone[0].contains("nothing at any m"), "{alone:?}");
        let bound = said(|m, p| work(m, if m > 2 { p } else { 1 }));
        assert!(
            bound.len() == 1 && bound[0].contains("at m = 1, 2, and help from m = 4"),
            "{bound:?}"
        );
        let failed = said(|m, p| if (m, p) == (4, 4) { 0.05 } else { work(m, p) });
        assert!(
            failed[0].contains("(4, 4) took 50.10 ms") && failed[0].contains("did it fail?"),
            "{failed:?}"
        );
        // What is left of a large m is the host's.
        assert!(said(|m, p| if m == 4 { 3.0 } else { work(m, p) }).is_empty());
    }
}
