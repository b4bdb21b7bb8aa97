//! Timed runs, as the few numbers of each configuration that a fit needs.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::{Result, Warning};
use crate::table::records::Run;
use crate::table::{Source, runs};

/// All timed runs of a program, summed up for each configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Runs {
    /// The file they came from.
    pub file: String,
    /// One cell for each (m, p) that was run, in increasing order.
    pub cells: Vec<Cell>,
}

/// The runs of one configuration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cell {
    /// Host threads.
    pub m: u32,
    /// APUs for each of them.
    pub p: u32,
    /// How often the configuration was run, at least once.
    pub count: u64,
    /// Mean time of these runs \[s\].
    pub mean_s: f64,
    /// Sum of the squared deviations from that mean [s^2].
    pub squared_deviations_s2: f64,
}

impl Runs {
    /// Reads `runs.csv` without holding its rows.
    pub fn read(source: &Source) -> Result<(Self, Vec<Warning>)> {
        let (collector, warnings) = runs::collect(source, Collector::new, Collector::insert)?;
        Ok((collector.finish(&source.name), warnings))
    }

    /// Number of runs.
    pub fn count(&self) -> u64 {
        self.cells.iter().map(|cell| cell.count).sum()
    }

    /// The largest number of APUs that any of the runs used.
    pub fn apus_used(&self) -> u32 {
        self.cells.iter().map(|cell| cell.m.saturating_mul(cell.p)).max().unwrap_or(0)
    }
}

/// Up to this m and p, a cell is found by its index alone.
const DIRECT: u32 = 64;

/// Marks a configuration that was not seen yet.
const UNSEEN: u32 = u32::MAX;

/// Adds up runs in the order in which they come.
struct Collector {
    cells: Vec<Sums>,
    /// Where in `cells` the small (m, p) stand.
    direct: Vec<u32>,
    /// Where the others do.
    further: BTreeMap<(u32, u32), u32>,
}

impl Collector {
    fn new() -> Self {
        let direct = vec![UNSEEN; (DIRECT * DIRECT) as usize];
        Self { cells: Vec::new(), direct, further: BTreeMap::new() }
    }

    /// Adds a run; answers whether it is the first with its configuration and repetition.
    #[inline]
    fn insert(&mut self, run: Run) -> bool {
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

    fn finish(self, file: &str) -> Runs {
        let mut cells: Vec<Cell> = self.cells.iter().map(Sums::cell).collect();
        cells.sort_by_key(|cell| (cell.m, cell.p));
        Runs { file: file.to_string(), cells }
    }
}

/// Sums over the runs of one configuration.
struct Sums {
    m: u32,
    p: u32,
    /// The first time \[s\]. Sums of differences from it lose no digits, however many rows follow.
    origin_s: f64,
    count: u64,
    sum: f64,
    sum_of_squares: f64,
    repetitions: Repetitions,
}

impl Sums {
    fn new(first: &Run) -> Self {
        Self {
            m: first.m,
            p: first.p,
            origin_s: first.time_s,
            count: 0,
            sum: 0.0,
            sum_of_squares: 0.0,
            repetitions: Repetitions::default(),
        }
    }

    #[inline]
    fn insert(&mut self, run: &Run) -> bool {
        let difference = run.time_s - self.origin_s;
        self.count += 1;
        self.sum += difference;
        self.sum_of_squares += difference * difference;
        self.repetitions.insert(run.repetition)
    }

    fn cell(&self) -> Cell {
        let mean = self.sum / self.count as f64;
        Cell {
            m: self.m,
            p: self.p,
            count: self.count,
            mean_s: self.origin_s + mean,
            squared_deviations_s2: (self.sum_of_squares - self.sum * mean).max(0.0),
        }
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

    fn read(text: &str) -> Result<Runs> {
        Runs::read(&Source::new("runs.csv", text)).map(|(runs, _)| runs)
    }

    #[test]
    fn a_cell_holds_mean_and_scatter_of_its_runs() {
        let runs = read("m,p,repetition,time_s\n2,1,1,8\n1,1,1,5\n2,1,2,10\n2,1,3,12\n").unwrap();
        // Around 10: (-2)^2 + 0 + 2^2.
        let two = Cell { m: 2, p: 1, count: 3, mean_s: 10.0, squared_deviations_s2: 8.0 };
        let one = Cell { m: 1, p: 1, count: 1, mean_s: 5.0, squared_deviations_s2: 0.0 };
        assert_eq!(runs.cells, [one, two]);
        assert_eq!((runs.count(), runs.apus_used()), (4, 2));
    }

    #[test]
    fn small_scatter_around_a_large_time_is_not_lost() {
        // Deviations -1, 0, 1 us around 10^6 s, in steps of the last digit.
        let text =
            "m,p,repetition,time_s\n1,1,1,999999.999999\n1,1,2,1000000\n1,1,3,1000000.000001\n";
        let squares = read(text).unwrap().cells[0].squared_deviations_s2;
        approx::assert_relative_eq!(squares, 2e-12, max_relative = 1e-3);
    }

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

    #[test]
    fn large_and_small_configurations_have_cells_of_their_own() {
        let text =
            "m,p,repetition,time_s\n65,1,1,1\n1,65,1,2\n64,64,1,3\n65,1,2,1\n4294967295,1,1,4\n";
        let cells: Vec<_> =
            read(text).unwrap().cells.iter().map(|cell| (cell.m, cell.p, cell.count)).collect();
        assert_eq!(cells, [(1, 65, 1), (64, 64, 1), (65, 1, 2), (u32::MAX, 1, 1)]);
    }
}
