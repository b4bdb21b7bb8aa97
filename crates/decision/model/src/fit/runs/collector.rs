//! Sums over the runs of each configuration, while they are read.

use std::collections::{BTreeMap, BTreeSet};

use super::steadiness::{KeptRuns, Steadiness, UsualScatter};
use super::{Bin, Cell, Moments, Runs, Times, WarmUp, ln_1p};
use mmgp_base::error::Warning;
use mmgp_base::table::records::Run;
use mmgp_intake::Entry;

/// Largest m and p of a cell that is found by its index alone.
const DIRECT: u32 = 64;

/// Number of runs beyond which a mean is known no better.
const MOST_OF_A_MEAN: u32 = 1000;

/// No run is said to be less than this part of the mean that it belongs to.
const LEAST_OF_A_MEAN: f64 = 0.01;

/// Marks a configuration that was not seen yet.
const UNSEEN: u32 = u32::MAX;

/// Adds up runs in the order in which they come.
pub(super) struct Collector {
    cells: Vec<Sums>,
    /// Places in `cells` of small (m, p).
    direct: Vec<u32>,
    /// Places in `cells` of the others.
    further: BTreeMap<(u32, u32), u32>,
}

impl Collector {
    pub fn new() -> Self {
        let direct = vec![UNSEEN; (DIRECT * DIRECT) as usize];
        Self { cells: Vec::new(), direct, further: BTreeMap::new() }
    }

    /// Adds a run, or the runs that a row is the mean of.
    #[inline]
    pub fn insert_entry(&mut self, Entry { run, mean_of }: Entry) -> bool {
        match mean_of {
            None => self.insert(run),
            Some((count, deviation_s)) => self.insert_mean(&run, count, deviation_s),
        }
    }

    /// Adds so many runs with that mean and that standard deviation: half of them as far below the mean as
    /// the others are above it, and one between them where they are an odd number.
    fn insert_mean(&mut self, mean: &Run, count: u32, deviation_s: f64) -> bool {
        let count = count.min(MOST_OF_A_MEAN);
        let pairs = count / 2 * 2;
        let off = deviation_s * (f64::from(count - 1) / f64::from(pairs.max(1))).sqrt();
        // Which of them comes first must not look like a warm-up.
        let first = if (mean.m ^ mean.p).is_multiple_of(2) { off } else { -off };
        let mut is_new = true;
        for index in 0..count {
            let off = match (index < pairs, index % 2) {
                (true, 0) => first,
                (true, _) => -first,
                (false, _) => 0.0,
            };
            let time_s = (mean.time_s + off).max(mean.time_s * LEAST_OF_A_MEAN);
            let before = mean.repetition.saturating_sub(1).saturating_mul(count);
            let repetition = before.saturating_add(index + 1);
            is_new &= self.insert(Run { repetition, time_s, ..*mean });
        }
        is_new
    }

    /// Adds a run; answers whether it is the first with its configuration and repetition.
    #[inline]
    pub fn insert(&mut self, run: Run) -> bool {
        let index = if run.m <= DIRECT && run.p <= DIRECT {
            &mut self.direct[((run.m - 1) * DIRECT + run.p - 1) as usize]
        } else {
            self.further.entry((run.m, run.p)).or_insert(UNSEEN)
        };
        if *index == UNSEEN {
            *index = u32::try_from(self.cells.len()).expect("invariant: fewer than 2^32 cells");
            self.cells.push(Sums::new(&run));
        }
        self.cells[*index as usize].insert(&run)
    }

    /// The cells in increasing order, and signs of a machine that was not in a steady state. Where it
    /// warmed up, the first repetitions are left out or kept; wild ones are left out.
    pub fn finish(mut self, file: &str, warm_up: WarmUp) -> (Runs, Vec<Warning>) {
        let mut steadiness = Steadiness::default();
        for sums in &self.cells {
            steadiness.add(sums);
        }
        let mut found = steadiness.warm_up(file);
        if let (Some(Warning::WarmUp { percent, left_out, .. }), WarmUp::LeaveOut) =
            (&mut found, warm_up)
            && *percent > 0.0
        {
            *left_out = self.leave_out_first();
        }
        let found_left_out = match &found {
            Some(Warning::WarmUp { left_out, .. }) => Some(*left_out),
            _ => None,
        };
        let warnings = found.into_iter().chain(steadiness.drift(file));
        let mut warnings: Vec<Warning> = warnings.collect();
        let bins: Vec<Vec<Bin>> = self.cells.iter().map(|sums| sums.times.bins()).collect();
        // Where first repetitions differ throughout and count all the same, none of them is wild.
        let differ = matches!(found_left_out, Some(0));
        let usual = if differ { None } else { UsualScatter::of(bins.iter().map(Vec::as_slice)) };
        let cell = |(sums, bins): (&Sums, &Vec<Bin>)| sums.cell(bins, usual);
        let mut cells: Vec<Cell> = self.cells.iter().zip(&bins).map(cell).collect();
        cells.sort_by_key(|cell| (cell.m, cell.p));
        warnings.extend(wild(file, &cells));
        (Runs::new(file.to_string(), cells), warnings)
    }

    /// Leaves out the first repetition of every configuration that has others; answers how many.
    fn leave_out_first(&mut self) -> u64 {
        let repeated = self.cells.iter_mut().filter(|sums| sums.count > 1);
        repeated.map(Sums::leave_out_first).count() as u64
    }
}

/// Wild runs of so many configurations are told one by one.
const TOLD: usize = 3;

/// A warning where wild runs were left out.
fn wild(file: &str, cells: &[Cell]) -> Option<Warning> {
    let wild: Vec<&Cell> = cells.iter().filter(|cell| cell.wild > 0).collect();
    if wild.is_empty() {
        return None;
    }
    let one = |cell: &&Cell| {
        let Cell { m, p, wild, count, .. } = cell;
        match cell.doubt > 0.0 {
            true => format!("the longer of two at ({m}, {p})"),
            false => format!("{wild} of {} at ({m}, {p})", wild + count),
        }
    };
    let mut told: Vec<String> = wild.iter().take(TOLD).map(one).collect();
    if wild.len() > TOLD {
        told.push(format!("some of {} other configurations", wild.len() - TOLD));
    }
    let all: u64 = wild.iter().map(|cell| cell.wild).sum();
    Some(Warning::Note(format!(
        "{file}: {all} wild runs were left out, much farther from the others of their configuration \
         than runs usually are: {}",
        told.join(", ")
    )))
}

/// Sums over the runs of one configuration. Times are counted from the first one, repetitions
/// from the first row's: sums of such differences lose no digits, however many rows follow.
pub(super) struct Sums {
    m: u32,
    p: u32,
    origin_s: f64,
    origin: f64,
    count: u64,
    sum: f64,
    sum_of_squares: f64,
    repetition_sum: f64,
    repetition_squares: f64,
    product_sum: f64,
    /// The least repetition and its time.
    first: (u32, f64),
    /// The first time above nothing; 0 before there is one.
    unit_s: f64,
    /// The times as logarithms of their ratios to that, and how many have none.
    times: Times,
    nothings: u64,
    repetitions: RepetitionNumbers,
}

/// Moments of the runs of one configuration without its first repetition.
pub(super) struct LaterRuns {
    pub count: f64,
    pub mean_s: f64,
    /// Sum of squared deviations of the times.
    pub times: f64,
    /// Sum of squared deviations of the repetitions.
    pub repetitions: f64,
    /// Sum of the products of both.
    pub products: f64,
    /// Time of the first repetition.
    pub first_s: f64,
}

impl Sums {
    fn new(first: &Run) -> Self {
        Self {
            m: first.m,
            p: first.p,
            origin_s: first.time_s,
            origin: f64::from(first.repetition),
            count: 0,
            sum: 0.0,
            sum_of_squares: 0.0,
            repetition_sum: 0.0,
            repetition_squares: 0.0,
            product_sum: 0.0,
            first: (first.repetition, first.time_s),
            unit_s: 0.0,
            times: Times::Few(Vec::new()),
            nothings: 0,
            repetitions: RepetitionNumbers::default(),
        }
    }

    #[inline]
    fn insert(&mut self, run: &Run) -> bool {
        let difference = run.time_s - self.origin_s;
        let repetition = f64::from(run.repetition) - self.origin;
        self.count += 1;
        self.sum += difference;
        self.sum_of_squares += difference * difference;
        self.repetition_sum += repetition;
        self.repetition_squares += repetition * repetition;
        self.product_sum += repetition * difference;
        if run.repetition < self.first.0 {
            self.first = (run.repetition, run.time_s);
        }
        if run.time_s > 0.0 {
            if self.unit_s == 0.0 {
                self.unit_s = run.time_s;
            }
            self.times.insert(self.log(run.time_s));
        } else {
            self.nothings += 1;
        }
        self.repetitions.insert(run.repetition)
    }

    /// The logarithm of a time over the unit, to the last digit of their difference.
    fn log(&self, time_s: f64) -> f64 {
        ln_1p((time_s - self.unit_s) / self.unit_s)
    }

    /// What is left of the times, in these bins, where that is usual.
    fn cell(&self, bins: &[Bin], usual: Option<UsualScatter>) -> Cell {
        let mean = self.sum / self.count as f64;
        let (m, p) = (self.m, self.p);
        let all = Cell {
            m,
            p,
            count: self.count,
            mean_s: self.origin_s + mean,
            log_time: f64::NEG_INFINITY,
            log_squares: 0.0,
            wild: 0,
            doubt: 0.0,
        };
        if 2 * self.nothings >= self.count {
            return all;
        }
        let left = match usual {
            Some(usual) => usual.left(bins),
            None => KeptRuns { bins: (0..bins.len()).collect(), wild: 0, doubt: 0.0 },
        };
        let Moments { count, mean, squares } = Moments::of(left.bins.iter().map(|&it| &bins[it]));
        let log_time = self.unit_s.ln() + mean;
        let told = Cell { log_time, log_squares: squares, ..all };
        if left.wild == 0 {
            return told;
        }
        Cell { count, mean_s: log_time.exp(), wild: left.wild, doubt: left.doubt, ..told }
    }

    /// Subtracts the first repetition, of two or more.
    fn leave_out_first(&mut self) {
        let difference = self.first.1 - self.origin_s;
        self.count -= 1;
        self.sum -= difference;
        self.sum_of_squares -= difference * difference;
        if self.first.1 > 0.0 {
            let log = self.log(self.first.1);
            self.times.remove(log);
        } else {
            self.nothings -= 1;
        }
    }

    /// The runs after the first repetition; `None` where there are none.
    pub fn later(&self) -> Option<LaterRuns> {
        let count = (self.count > 1).then(|| (self.count - 1) as f64)?;
        let (repetition, first_s) = self.first;
        let (time, number) = (first_s - self.origin_s, f64::from(repetition) - self.origin);
        let (sum, numbers) = (self.sum - time, self.repetition_sum - number);
        let squares = self.sum_of_squares - time * time;
        let repetitions = self.repetition_squares - number * number;
        let products = self.product_sum - number * time;
        Some(LaterRuns {
            count,
            mean_s: self.origin_s + sum / count,
            times: (squares - sum * sum / count).max(0.0),
            repetitions: (repetitions - numbers * numbers / count).max(0.0),
            products: products - numbers * sum / count,
            first_s,
        })
    }
}

/// The repetitions that a configuration has, exactly: usually 1, 2, 3..., but any are allowed.
#[derive(Default)]
struct RepetitionNumbers {
    /// Bits, one for each number from zero on.
    dense: Vec<u64>,
    /// Numbers that lay far beyond the dense ones when they came.
    sparse: BTreeSet<u32>,
    count: usize,
}

impl RepetitionNumbers {
    /// Adds a number; answers whether it is new.
    #[inline]
    fn insert(&mut self, repetition: u32) -> bool {
        let (word, bit) = ((repetition / 64) as usize, 1_u64 << (repetition % 64));
        self.count += 1;
        if word >= self.dense.len() {
            // Up to a word for every number seen, memory stays in proportion to the file.
            if word > self.count + 16 {
                return self.sparse.insert(repetition);
            }
            self.dense.resize((word + 1).next_power_of_two(), 0);
        }
        let is_new = self.dense[word] & bit == 0;
        self.dense[word] |= bit;
        is_new && (self.sparse.is_empty() || !self.sparse.contains(&repetition))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repetition_is_seen_again_wherever_it_lies() {
        let mut repetitions = RepetitionNumbers::default();
        let mut seen = BTreeSet::new();
        // Far numbers first, then a dense range that grows over them, then all again.
        let far = [5000, u32::MAX, 0, 100_000, 63, 64];
        let dense = (0..6000).map(|each| each * 7 % 6000);
        for number in far.into_iter().chain(dense).chain(far) {
            assert_eq!(repetitions.insert(number), seen.insert(number), "{number}");
        }
        assert!(repetitions.sparse.contains(&u32::MAX));
        assert!(repetitions.dense.len() < 16_384);
    }

    fn finished(runs: &[(u32, u32, u32, f64)]) -> (Runs, Vec<Warning>) {
        let mut collector = Collector::new();
        for &(m, p, repetition, time_s) in runs {
            assert!(collector.insert(Run { m, p, repetition, time_s }));
        }
        collector.finish("runs.csv", WarmUp::LeaveOut)
    }

    #[test]
    fn a_configuration_with_few_threads_and_many_apus_has_its_own_cell() {
        // One past the table of small ones, and two that would meet in it.
        let (runs, _) = finished(&[(64, 65, 1, 1.0), (1, 129, 1, 2.0), (2, 65, 1, 3.0)]);
        let cells: Vec<_> = runs.cells.iter().map(|cell| (cell.m, cell.p, cell.mean_s)).collect();
        assert_eq!(cells, [(1, 129, 2.0), (2, 65, 3.0), (64, 65, 1.0)]);
    }

    #[test]
    fn a_first_repetition_that_comes_last_of_many_is_left_out_all_the_same() {
        let time = |repetition: u32| {
            if repetition == 1 { 2.0 } else { [1.0, 1.1][repetition as usize % 2] }
        };
        let order = (2..=65).chain([1]);
        let runs: Vec<_> = order.map(|repetition| (1, 1, repetition, time(repetition))).collect();
        let (runs, warnings) = finished(&runs);
        assert!(matches!(warnings[..], [Warning::WarmUp { left_out: 1, .. }]), "{warnings:?}");
        // 64 are left, half of them 1 s and half 1.1.
        let cell = &runs.cells[0];
        assert_eq!(cell.count, 64);
        approx::assert_relative_eq!(cell.mean_s, 1.05, max_relative = 1e-12);
        approx::assert_relative_eq!(cell.log_time, 0.5 * 1.1_f64.ln(), max_relative = 1e-9);
    }

    #[test]
    fn repetitions_in_order_take_a_bit_each_and_far_ones_no_more_than_their_number() {
        let mut in_order = RepetitionNumbers::default();
        assert!((1..6000).all(|number| in_order.insert(number)));
        // 6000 bits are 94 words of 64, of which a power of two is held.
        assert_eq!((in_order.dense.len(), in_order.sparse.len()), (128, 0));
        let mut far = RepetitionNumbers::default();
        assert!((0..1000).all(|number| far.insert(640 * number)));
        assert!(far.dense.len() <= 2 * 1016, "{}", far.dense.len());
        assert!((0..1000).all(|number| !far.insert(640 * number)));
    }

    #[test]
    fn wild_runs_are_left_out_and_told() {
        let mut runs = Vec::new();
        for (m, wild) in [(1, 1.0), (2, 3.0), (4, 1.0 / 3.0)] {
            let times = [10.0, 10.1, 9.9, 10.05, 10.0 * wild];
            runs.extend((1..).zip(times).map(|(repetition, time)| (m, 1, repetition, time)));
        }
        runs.extend([(8, 1, 1, 10.0), (8, 1, 2, 13.0)]);
        let (runs, warnings) = finished(&runs);
        let kept: Vec<_> = runs.cells.iter().map(|cell| (cell.count, cell.wild)).collect();
        assert_eq!(kept, [(5, 0), (4, 1), (4, 1), (1, 1)]);
        for cell in &runs.cells[1..] {
            assert!((cell.mean_s / 10.0 - 1.0).abs() < 0.01, "{cell:?}");
            approx::assert_relative_eq!(cell.log_time.exp(), cell.mean_s, max_relative = 1e-12);
        }
        approx::assert_relative_eq!(
            runs.cells[3].doubt.sqrt(),
            0.5 * 1.3_f64.ln(),
            epsilon = 1e-12
        );
        let [Warning::Note(note)] = &warnings[..] else { panic!("{warnings:?}") };
        let expected = "runs.csv: 3 wild runs were left out, much farther from the others of their \
                        configuration than runs usually are: 1 of 5 at (2, 1), 1 of 5 at (4, 1), the \
                        longer of two at (8, 1)";
        assert_eq!(note, expected);
    }

    #[test]
    fn a_configuration_that_mostly_took_no_time_has_no_logarithm() {
        let (runs, _) = finished(&[
            (1, 1, 1, 0.0),
            (1, 1, 2, 2.0),
            (2, 1, 1, 0.0),
            (2, 1, 2, 1.0),
            (2, 1, 3, 1.0),
        ]);
        let logs: Vec<f64> = runs.cells.iter().map(|cell| cell.log_time).collect();
        assert_eq!(logs, [f64::NEG_INFINITY, 0.0]);
    }

    #[test]
    fn a_single_run_has_no_later_ones() {
        let run = Run { m: 1, p: 1, repetition: 3, time_s: 2.0 };
        let mut sums = Sums::new(&run);
        sums.insert(&run);
        assert!(sums.later().is_none());
        sums.insert(&Run { repetition: 4, time_s: 2.5, ..run });
        let later = sums.later().unwrap();
        assert_eq!((later.count, later.mean_s, later.first_s), (1.0, 2.5, 2.0));
    }
}
