//! Whether the machine was in a steady state: warm-up and drift, over all configurations; and which
//! repetitions are wild.
//!
//! How far repetitions usually lie from the median of their configuration is known from all of them
//! together. Of three or more, those much farther are left out; of two that disagree nothing tells which
//! is wrong, but interference only lengthens: the shorter counts, and for little.

use std::collections::BTreeMap;

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::collector::Sums;
use super::{Bin, Cell, Runs, median};
use mmgp_base::error::Warning;
use mmgp_base::units::Seconds;

/// Smaller effects are not worth a word.
const LEAST: f64 = 0.005;

/// How rarely a steady machine is doubted, for each of the two signs.
const BY_CHANCE: f64 = 1e-3;

/// Number of configurations that tell their own scatter.
const ENOUGH_CELLS: f64 = 8.0;

/// A mean of one number for each configuration, with its weight.
#[derive(Default)]
struct PooledScatter {
    cells: f64,
    weights: f64,
    sum: f64,
    squares: f64,
}

impl PooledScatter {
    fn add(&mut self, value: f64, weight: f64) {
        self.cells += 1.0;
        self.weights += weight;
        self.sum += weight * value;
        self.squares += weight * value * value;
    }

    fn mean(&self) -> f64 {
        self.sum / self.weights
    }

    /// The mean's deviation from zero in standard errors, if chance does not explain it: the
    /// standard error is the larger of what the scatter of runs within configurations (`variance`
    /// of a value of weight 1, and its degrees of freedom) and the scatter between them give, because
    /// a single outlier scatters between them alone. Of few configurations the latter is too
    /// uncertain, and an outlier may be taken for a sign.
    fn certain(&self, variance: f64, degrees_of_freedom: f64) -> Option<f64> {
        let within =
            (degrees_of_freedom > 0.0).then(|| (variance / self.weights, degrees_of_freedom));
        let scatter = (self.squares - self.sum * self.mean()).max(0.0);
        let between = (self.cells >= ENOUGH_CELLS)
            .then(|| (scatter / ((self.cells - 1.0) * self.weights), self.cells - 1.0));
        let larger = within.into_iter().chain(between).max_by(|a, b| a.0.total_cmp(&b.0));
        let (square, degrees_of_freedom) = larger.filter(|(square, _)| *square > 0.0)?;
        let deviations = self.mean() / square.sqrt();
        let student = StudentsT::new(0.0, 1.0, degrees_of_freedom).ok()?;
        let limit = student.inverse_cdf(1.0 - BY_CHANCE / 2.0);
        (deviations.abs() > limit).then_some(deviations)
    }
}

/// Sums over configurations, all relative to the mean of each.
#[derive(Default)]
pub(super) struct Steadiness {
    /// The first repetition against the mean of the others.
    warm_up: PooledScatter,
    /// Change with each further repetition.
    drift: PooledScatter,
    /// Squared deviations of the later runs, and their degrees of freedom.
    squares: f64,
    degrees_of_freedom: f64,
    /// Squared deviations of the later runs that have a slope, and how many they are.
    sloped_squares: f64,
    sloped: f64,
    sloped_cells: f64,
}

impl Steadiness {
    pub fn add(&mut self, sums: &Sums) {
        let Some(later) = sums.later().filter(|later| later.mean_s > 0.0) else { return };
        let difference = later.first_s / later.mean_s - 1.0;
        self.warm_up.add(difference, later.count / (later.count + 1.0));
        let squares = later.times / later.mean_s.powi(2);
        self.squares += squares;
        self.degrees_of_freedom += later.count - 1.0;
        if later.repetitions > 0.0 {
            let slope = later.products / later.mean_s / later.repetitions;
            self.drift.add(slope, later.repetitions);
            self.sloped_squares += squares;
            self.sloped += later.count;
            self.sloped_cells += 1.0;
        }
    }

    /// How many of the first repetitions are left out is for whoever does so to say.
    pub fn warm_up(&self, file: &str) -> Option<Warning> {
        let size = self.warm_up.mean();
        let deviations = self
            .warm_up
            .certain(self.squares / self.degrees_of_freedom, self.degrees_of_freedom)?;
        (size.abs() > LEAST).then(|| Warning::WarmUp {
            file: file.to_string(),
            percent: 100.0 * size,
            deviations: deviations.abs(),
            left_out: 0,
        })
    }

    /// The change over the repetitions: as many as numbers that scatter alike would span, if they
    /// lay side by side.
    pub fn drift(&self, file: &str) -> Option<Warning> {
        let degrees_of_freedom = self.sloped - self.sloped_cells - 1.0;
        let slope = self.drift.mean();
        let left = (self.sloped_squares - slope.powi(2) * self.drift.weights).max(0.0);
        let deviations = self.drift.certain(left / degrees_of_freedom, degrees_of_freedom)?;
        let size = slope * (12.0 * self.drift.weights / self.sloped).sqrt();
        (size.abs() > LEAST).then(|| Warning::Drift {
            file: file.to_string(),
            percent: 100.0 * size,
            deviations: deviations.abs(),
        })
    }
}

/// Number of standard deviations from which on a time is told from usual scatter.
const FAR: f64 = 5.0;

/// Least distance, in the logarithm, from which on it is told.
const LEAST_SCATTER: f64 = 0.05;

/// Two that disagree are farther apart by this factor.
const APART: f64 = 1.5;

/// Number of deviations below which nothing is told.
const ENOUGH: u64 = 4;

/// The standard deviation of a normal quantity over its median absolute deviation.
const NORMAL: f64 = 1.4826;

/// What is usual for repetitions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct UsualScatter {
    /// Standard deviation of the logarithm of a time.
    pub deviation: f64,
}

/// What is left of the times of one configuration.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct KeptRuns {
    /// The bins that count.
    pub bins: Vec<usize>,
    /// How many times were left out.
    pub wild: u64,
    /// The variance that the logarithm of what is left has beside the noise.
    pub doubt: f64,
}

impl UsualScatter {
    /// UsualScatter scatter by the repetitions of all configurations, each the bins of its times; `None` of too
    /// few.
    pub fn of<'a>(all: impl Iterator<Item = &'a [Bin]>) -> Option<Self> {
        let mut deviations: Vec<(f64, u64)> = Vec::new();
        for bins in all {
            let count: u64 = bins.iter().map(|bin| bin.count).sum();
            if count < 2 {
                continue;
            }
            let (middle, scale) = (median(bins), (count as f64 / (count as f64 - 1.0)).sqrt());
            let of = |bin: &Bin| ((bin.mean() - middle).abs() * scale, bin.count);
            let mut own: Vec<(f64, u64)> = bins.iter().map(of).collect();
            own.sort_by(|one, other| one.0.total_cmp(&other.0));
            if count % 2 == 1 {
                // The median itself.
                own[0].1 -= 1;
            }
            deviations.extend(own);
        }
        let count: u64 = deviations.iter().map(|(_, count)| count).sum();
        if count < ENOUGH {
            return None;
        }
        deviations.sort_by(|one, other| one.0.total_cmp(&other.0));
        let mut before = 0;
        let middle = deviations.iter().find(|(_, own)| {
            before += own;
            2 * before >= count
        });
        Some(Self { deviation: NORMAL * middle?.0 })
    }

    /// What is left of a configuration with these times.
    pub fn left(&self, bins: &[Bin]) -> KeptRuns {
        let far = LEAST_SCATTER.max(FAR * self.deviation);
        let count: u64 = bins.iter().map(|bin| bin.count).sum();
        let all = || KeptRuns { bins: (0..bins.len()).collect(), wild: 0, doubt: 0.0 };
        if count == 2 && bins.len() == 2 {
            let apart = bins[1].mean() - bins[0].mean();
            let doubt = 0.25 * apart * apart;
            return match apart > APART * far {
                true => KeptRuns { bins: vec![0], wild: 1, doubt },
                false => all(),
            };
        }
        if count < 3 {
            return all();
        }
        let middle = median(bins);
        let near: Vec<usize> =
            (0..bins.len()).filter(|&place| (bins[place].mean() - middle).abs() <= far).collect();
        let kept: u64 = near.iter().map(|&place| bins[place].count).sum();
        // The median of an even number may be near none of them.
        if kept == 0 { all() } else { KeptRuns { bins: near, wild: count - kept, doubt: 0.0 } }
    }
}

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
    use rand::SeedableRng;
    use rand_distr::{Distribution, Normal};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::super::{Runs, Times};
    use super::*;
    use mmgp_base::quantity::Quantity;
    use mmgp_base::table::records::Run;

    /// Warnings about `cells` configurations of `repetitions` runs with 2 % of noise, times the
    /// `effect` of the repetition.
    fn warnings(
        cells: u32,
        repetitions: u32,
        seed: u64,
        effect: impl Fn(u32) -> f64,
    ) -> Vec<Warning> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let noise = Normal::new(1.0, 0.02).unwrap();
        let mut rows = Vec::new();
        for repetition in (1..=repetitions).rev() {
            for m in 1..=cells {
                let time_s = f64::from(m) * effect(repetition) * noise.sample(&mut random);
                rows.push(Run { m, p: 1, repetition, time_s });
            }
        }
        Runs::from_rows("runs.csv", &rows).unwrap().1
    }

    #[test]
    fn a_slow_first_repetition_is_warm_up_and_no_drift() {
        let slow = |repetition| if repetition == 1 { 1.05 } else { 1.0 };
        for (cells, repetitions) in [(50, 2), (50, 5), (12, 5), (3, 200)] {
            let warnings = warnings(cells, repetitions, 7, slow);
            let [Warning::WarmUp { percent, deviations, .. }] = warnings[..] else {
                panic!("{warnings:?} of {cells} x {repetitions}")
            };
            // The standard error of the mean of `cells` first runs, each at 2 %.
            let error = 2.0 * (1.0 + 1.0 / f64::from(repetitions - 1)).sqrt();
            let error = error / f64::from(cells).sqrt();
            assert!((percent - 5.0).abs() < 3.0 * error, "{percent}");
            assert!(deviations > 3.3);
        }
    }

    #[test]
    fn times_that_grow_are_drift_and_no_warm_up() {
        for (cells, repetitions) in [(50, 10), (12, 30), (1, 500)] {
            let growing = |each| 1.0 + 0.06 * f64::from(each) / f64::from(repetitions);
            // The first repetition comes before the others, and drifts with them.
            let warnings = warnings(cells, repetitions, 3, growing);
            let drift = warnings.iter().find_map(|warning| match warning {
                Warning::Drift { percent, .. } => Some(*percent),
                _ => None,
            });
            let runs = f64::from(cells * (repetitions - 1));
            let error = 2.0 * (12.0 / runs).sqrt();
            assert!((drift.unwrap() - 6.0).abs() < 0.7 + 3.0 * error, "{drift:?}");
        }
    }

    #[test]
    fn a_steady_machine_is_doubted_once_in_a_thousand_times() {
        // Not a run that is wild by chance.
        let fired = |cells, repetitions, seeds| -> usize {
            let of = |seed| warnings(cells, repetitions, seed, |_| 1.0);
            (0..seeds).flat_map(of).filter(|it| !matches!(it, Warning::Note(_))).count()
        };
        let fired_of_many = fired(12, 5, 4000);
        // At most 4 warm-ups and 4 drifts are expected, and the larger of two errors makes them
        // fewer; sqrt(8) is one standard deviation.
        assert!(fired_of_many <= 16, "{fired_of_many}");
        let single = fired(1, 200, 2000);
        assert!(single <= 10, "{single}");
    }

    #[test]
    fn small_effects_and_single_outliers_are_passed_over() {
        let little = |each| if each == 1 { 1.003 } else { 1.0 };
        assert_eq!(warnings(50, 2000, 1, little), []);
        let mut rows: Vec<Run> = (1..=40)
            .flat_map(|m| [1, 2, 3, 4].map(|repetition| (m, repetition)))
            .map(|(m, repetition)| Run {
                m,
                p: 1,
                repetition,
                time_s: 1.0 + 1e-3 * f64::from((m * 7 + repetition * 5) % 11),
            })
            .collect();
        rows[0].time_s *= 3.0;
        let found = Runs::from_rows("runs.csv", &rows).unwrap().1;
        let [Warning::Note(note)] = &found[..] else { panic!("{found:?}") };
        assert!(note.starts_with("runs.csv: 1 wild runs were left out"), "{note}");
    }

    /// Nine configurations of weight 2, half of them `spread` above 4, half below, one at 4.
    fn pooled(spread: f64) -> PooledScatter {
        let mut pooled = PooledScatter::default();
        for sign in [1.0, -1.0].repeat(4).into_iter().chain([0.0]) {
            pooled.add(4.0 + spread * sign, 2.0);
        }
        pooled
    }

    #[test]
    fn a_mean_is_certain_by_the_larger_of_two_scatters() {
        let check = |spread, variance, degrees_of_freedom, expected: Option<f64>| {
            let found = pooled(spread).certain(variance, degrees_of_freedom);
            match expected {
                Some(expected) => {
                    approx::assert_relative_eq!(found.unwrap(), expected, max_relative = 1e-9);
                }
                None => assert_eq!(found, None),
            }
        };
        // Between: 2*8*1/(8*18) = 1/9. Within: a sixteenth, a quarter, of 18 weights.
        check(1.0, 18.0 / 16.0, 100.0, Some(12.0));
        check(1.0, 18.0 / 4.0, 100.0, Some(8.0));
        // A third of a deviation of spread: 4/(2.36/3) = 5.085 and 4/(2.44/3) = 4.918, between which lies
        // the 99.95 % point of Student's distribution with 8 degrees of freedom, 5.041.
        check(2.36, 0.0, 100.0, Some(12.0 / 2.36));
        check(2.44, 0.0, 100.0, None);
        // Where no configuration has two later runs, they say nothing.
        check(1.0, f64::NAN, 0.0, Some(12.0));
        // Without any scatter there is no standard error to count by.
        check(0.0, 0.0, 100.0, None);
    }

    /// The times of the repetitions of one configuration after another.
    fn warnings_of(times: &[Vec<f64>]) -> Vec<Warning> {
        let rows = (1..).zip(times).flat_map(|(m, times)| {
            let row = move |(repetition, &time_s)| Run { m, p: 1, repetition, time_s };
            (1..).zip(times).map(row)
        });
        Runs::from_rows("runs.csv", &rows.collect::<Vec<_>>()).unwrap().1
    }

    fn check_warm_up(times: &[Vec<f64>], percent: f64, deviations: f64) {
        let found = warnings_of(times);
        let [Warning::WarmUp { percent: off, deviations: far, .. }] = found[..] else {
            panic!("{found:?}")
        };
        approx::assert_relative_eq!(off, percent, max_relative = 1e-9);
        approx::assert_relative_eq!(far, deviations, max_relative = 1e-9);
    }

    #[test]
    fn a_warm_up_by_hand() {
        // By 10 % against one later run, of weight 1/2, and by 11 % against three, of 3/4: in the mean
        // (8*0.5*10 + 8*0.75*11)/10 % = 10.6 %. They scatter by 4*0.6^2 + 6*0.4^2 = 2.4 around it, of which
        // the mean has the variance 2.4/(15*10), in squares of a per cent.
        let mut times = vec![vec![1.1, 1.0]; 8];
        times.extend(vec![vec![1.11, 1.0, 1.0, 1.0]; 8]);
        check_warm_up(&times, 10.6, 10.6 / 0.016_f64.sqrt());
        // A configuration that takes no time says nothing.
        times.push(vec![0.0, 0.0, 0.0]);
        check_warm_up(&times, 10.6, 10.6 / 0.016_f64.sqrt());
        // Four configurations do not tell their own scatter. Within each it is 6e-4 of two degrees of
        // freedom, so that the mean of weight 4*3/4 has the variance 3e-4/3.
        let times = vec![vec![1.2, 1.01, 0.98, 1.01]; 4];
        check_warm_up(&times, 20.0, 0.2 / 0.01);
    }

    #[test]
    fn a_drift_by_hand() {
        // 1 % more with each of five later runs, and 0.05 % times 2, -1, -2, -1, 2, which has no slope:
        // twice 14*0.0005^2 of 2*5 - 2 - 1 degrees of freedom are left over squares of 2*10. Ten numbers
        // side by side that scatter alike would span sqrt(12*20/10) steps.
        let bent = |each: u32| 0.0005 * [2.0, -1.0, -2.0, -1.0, 2.0][each as usize];
        let later = |each: u32| 1.0 + 0.01 * (f64::from(each) - 2.0) + bent(each);
        let times: Vec<f64> = [1.0].into_iter().chain((0..5).map(later)).collect();
        // One later run has no slope.
        let found = warnings_of(&[times.clone(), times, vec![3.0, 3.0]]);
        let [Warning::Drift { percent, deviations, .. }] = found[..] else { panic!("{found:?}") };
        approx::assert_relative_eq!(percent, 24.0_f64.sqrt(), max_relative = 1e-9);
        let error = (2.0 * 14.0 * 0.0005_f64.powi(2) / 7.0 / 20.0).sqrt();
        approx::assert_relative_eq!(deviations, 0.01 / error, max_relative = 1e-9);
    }

    fn bins(logs: &[f64]) -> Vec<Bin> {
        let mut times = Times::Few(Vec::new());
        logs.iter().for_each(|log| times.insert(*log));
        times.bins()
    }

    #[test]
    fn what_is_usual_is_known_from_all_configurations() {
        let three = bins(&[0.0, 0.01, -0.02]);
        assert_eq!(UsualScatter::of([&three[..]].into_iter()), None);
        // Deviations of 0.01 and 0.02 times sqrt(3/2), and of 0.03 twice times sqrt(2).
        let two = bins(&[0.0, 0.06]);
        let found = UsualScatter::of([&three[..], &two[..]].into_iter()).unwrap().deviation;
        approx::assert_relative_eq!(found, 1.4826 * 0.02 * 1.5_f64.sqrt(), max_relative = 1e-9);
    }

    #[test]
    fn of_three_the_far_one_is_left_out_and_of_two_the_shorter_counts_for_little() {
        let usual = UsualScatter { deviation: 0.02 };
        let left = |logs: &[f64]| {
            let KeptRuns { bins, wild, doubt } = usual.left(&bins(logs));
            (bins, wild, (1e9 * doubt).round() / 1e9)
        };
        assert_eq!(left(&[0.0, 0.09, -0.09]), (vec![0, 1, 2], 0, 0.0));
        assert_eq!(left(&[0.0, 0.01, 1.0]), (vec![0, 1], 1, 0.0));
        assert_eq!(left(&[0.0, 0.14]), (vec![0, 1], 0, 0.0));
        assert_eq!(left(&[0.4, 0.0]), (vec![0], 1, 0.04));
        assert_eq!(left(&[0.3]), (vec![0], 0, 0.0));
        // Two and two: nobody is near the middle.
        assert_eq!(left(&[0.0, 0.0, 1.0, 1.0]).1, 0);
        // Where times hardly scatter, what is within 5 % is no wild run.
        let exact = UsualScatter { deviation: 0.0 };
        assert_eq!(exact.left(&bins(&[0.0, 0.0, 0.04])).wild, 0);
    }

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
