//! Sums over the runs of each configuration, while they are read.

use std::collections::{BTreeMap, BTreeSet};

use super::steadiness::Steadiness;
use super::{Cell, Runs, Scatter, WarmUp};
use mmgp_base::error::Warning;
use mmgp_base::table::records::Run;

/// What is kept of single runs besides their sums.
pub(super) trait Keep: Default {
    /// Takes the next run of a cell; a new cell has the next index.
    fn insert(&mut self, cell: usize, run: &Run);

    /// Forgets the run of a cell that came after so many others.
    fn leave_out(&mut self, cell: usize, at: usize);

    /// What was kept, cell `order[0]` first.
    fn in_order(self, order: &[usize]) -> Self;
}

/// Nothing.
impl Keep for () {
    #[inline]
    fn insert(&mut self, _: usize, _: &Run) {}

    fn leave_out(&mut self, _: usize, _: usize) {}

    fn in_order(self, _: &[usize]) -> Self {}
}

/// Up to this m and p, a cell is found by its index alone.
const DIRECT: u32 = 64;

/// Marks a configuration that was not seen yet.
const UNSEEN: u32 = u32::MAX;

/// Adds up runs in the order in which they come, and keeps of each what `K` asks for.
pub(super) struct Collector<K> {
    cells: Vec<Sums>,
    kept: K,
    /// Where in `cells` the small (m, p) stand.
    direct: Vec<u32>,
    /// Where the others do.
    further: BTreeMap<(u32, u32), u32>,
}

impl<K: Keep> Collector<K> {
    pub fn new() -> Self {
        let direct = vec![UNSEEN; (DIRECT * DIRECT) as usize];
        Self { cells: Vec::new(), kept: K::default(), direct, further: BTreeMap::new() }
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
        let index = *index as usize;
        self.kept.insert(index, &run);
        self.cells[index].insert(&run)
    }

    /// The cells in increasing order, what was kept of them in the same order, and signs of a
    /// machine that was not in a steady state. Where it warmed up, the first repetitions are left
    /// out or kept.
    pub fn finish(mut self, file: &str, warm_up: WarmUp) -> (Runs, K, Vec<Warning>) {
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
        let warnings = found.into_iter().chain(steadiness.drift(file)).collect();
        let (runs, kept) = self.into_runs(file);
        (runs, kept, warnings)
    }

    /// Leaves out the first repetition of every configuration that has others; answers how many.
    fn leave_out_first(&mut self) -> u64 {
        let mut left_out = 0;
        let repeated = self.cells.iter_mut().enumerate().filter(|(_, sums)| sums.count > 1);
        for (index, sums) in repeated {
            self.kept.leave_out(index, sums.first_at as usize);
            sums.leave_out_first();
            left_out += 1;
        }
        left_out
    }

    fn into_runs(self, file: &str) -> (Runs, K) {
        let mut cells: Vec<(usize, Cell)> = self.cells.iter().map(Sums::cell).enumerate().collect();
        cells.sort_by_key(|(_, cell)| (cell.m, cell.p));
        let order: Vec<usize> = cells.iter().map(|(index, _)| *index).collect();
        let cells = cells.into_iter().map(|(_, cell)| cell).collect();
        (Runs { file: file.to_string(), cells }, self.kept.in_order(&order))
    }
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
    /// How many runs came before it.
    first_at: u64,
    /// The first times as they came, for the median.
    times: Vec<f64>,
    repetitions: Repetitions,
}

/// The median is that of so many times, an odd number, of the runs that count.
const MEDIAN_OF: usize = 63;

/// So many are kept: the first repetition may be left out.
const KEPT: usize = MEDIAN_OF + 1;

/// The median of the first [`MEDIAN_OF`] of `times`, of which there is at least one.
pub(super) fn median(times: &[f64]) -> f64 {
    let mut sorted = times[..times.len().min(MEDIAN_OF)].to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 {
        sorted[middle]
    } else {
        f64::midpoint(sorted[middle - 1], sorted[middle])
    }
}

/// How far the logarithm of a usual time is from that of the median, at most.
const USUAL: f64 = 0.5;

/// The scatter of the logarithms of those of the first [`MEDIAN_OF`] of `times` that are usual.
pub(super) fn usual_scatter(times: &[f64]) -> Scatter {
    let median = median(times).ln();
    let logs = times.iter().take(MEDIAN_OF).map(|time| time.ln());
    let usual: Vec<f64> = logs.filter(|log| (log - median).abs() < USUAL).collect();
    let mean = usual.iter().sum::<f64>() / usual.len().max(1) as f64;
    Scatter {
        squares: usual.iter().map(|log| (log - mean).powi(2)).sum(),
        degrees_of_freedom: usual.len().saturating_sub(1) as f64,
    }
}

/// Moments of the runs of one configuration without its first repetition.
pub(super) struct Later {
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
            first_at: 0,
            times: Vec::new(),
            repetitions: Repetitions::default(),
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
            self.first_at = self.count - 1;
        }
        if self.times.len() < KEPT {
            self.times.push(run.time_s);
        }
        self.repetitions.insert(run.repetition)
    }

    fn cell(&self) -> Cell {
        let mean = self.sum / self.count as f64;
        Cell {
            m: self.m,
            p: self.p,
            count: self.count,
            mean_s: self.origin_s + mean,
            median_s: median(&self.times),
            usual_scatter: usual_scatter(&self.times),
            squared_deviations_s2: (self.sum_of_squares - self.sum * mean).max(0.0),
        }
    }

    /// Subtracts the first repetition, of two or more.
    fn leave_out_first(&mut self) {
        let difference = self.first.1 - self.origin_s;
        self.count -= 1;
        self.sum -= difference;
        self.sum_of_squares -= difference * difference;
        if (self.first_at as usize) < self.times.len() {
            self.times.remove(self.first_at as usize);
        }
    }

    /// The runs after the first repetition; `None` where there are none.
    pub fn later(&self) -> Option<Later> {
        let count = (self.count > 1).then(|| (self.count - 1) as f64)?;
        let (repetition, first_s) = self.first;
        let (time, number) = (first_s - self.origin_s, f64::from(repetition) - self.origin);
        let (sum, numbers) = (self.sum - time, self.repetition_sum - number);
        let squares = self.sum_of_squares - time * time;
        let repetitions = self.repetition_squares - number * number;
        let products = self.product_sum - number * time;
        Some(Later {
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
struct Repetitions {
    /// One bit for each number from zero on.
    dense: Vec<u64>,
    /// Numbers that lay far beyond the dense ones when they came.
    sparse: BTreeSet<u32>,
    count: usize,
}

impl Repetitions {
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
        let mut repetitions = Repetitions::default();
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
        let mut collector = Collector::<()>::new();
        for &(m, p, repetition, time_s) in runs {
            assert!(collector.insert(Run { m, p, repetition, time_s }));
        }
        let (runs, (), warnings) = collector.finish("runs.csv", WarmUp::LeaveOut);
        (runs, warnings)
    }

    #[test]
    fn a_configuration_with_few_threads_and_many_apus_has_its_own_cell() {
        // One past the table of small ones, and two that would meet in it.
        let (runs, _) = finished(&[(64, 65, 1, 1.0), (1, 129, 1, 2.0), (2, 65, 1, 3.0)]);
        let cells: Vec<_> = runs.cells.iter().map(|cell| (cell.m, cell.p, cell.mean_s)).collect();
        assert_eq!(cells, [(1, 129, 2.0), (2, 65, 3.0), (64, 65, 1.0)]);
    }

    #[test]
    fn the_scatter_of_usual_times_leaves_a_wild_one_aside() {
        // Logarithms -0.2, 0 and 0.2 around ln 10, and one that is 3 above it.
        let times = [0.0_f64, 3.0, -0.2, 0.2].map(|log| 10.0 * log.exp());
        let Scatter { squares, degrees_of_freedom } = usual_scatter(&times);
        approx::assert_relative_eq!(squares, 0.08, max_relative = 1e-12);
        assert_eq!(degrees_of_freedom, 2.0);
    }

    #[test]
    fn a_first_repetition_beyond_the_times_that_are_kept_is_left_out_all_the_same() {
        let time = |repetition: u32| {
            if repetition == 1 { 2.0 } else { [1.0, 1.1][repetition as usize % 2] }
        };
        let order = (2..=65).chain([1]);
        let runs: Vec<_> = order.map(|repetition| (1, 1, repetition, time(repetition))).collect();
        let (runs, warnings) = finished(&runs);
        assert!(matches!(warnings[..], [Warning::WarmUp { left_out: 1, .. }]), "{warnings:?}");
        // 64 are left, half of them 1 s and half 1.1, and the first 63 begin and end with 1.
        let cell = &runs.cells[0];
        assert_eq!((cell.count, cell.median_s), (64, 1.0));
        approx::assert_relative_eq!(cell.mean_s, 1.05, max_relative = 1e-12);
    }

    #[test]
    fn repetitions_in_order_take_a_bit_each_and_far_ones_no_more_than_their_number() {
        let mut in_order = Repetitions::default();
        assert!((1..6000).all(|number| in_order.insert(number)));
        // 6000 bits are 94 words of 64, of which a power of two is held.
        assert_eq!((in_order.dense.len(), in_order.sparse.len()), (128, 0));
        let mut far = Repetitions::default();
        assert!((0..1000).all(|number| far.insert(640 * number)));
        assert!(far.dense.len() <= 2 * 1016, "{}", far.dense.len());
        assert!((0..1000).all(|number| !far.insert(640 * number)));
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
