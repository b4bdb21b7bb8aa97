//! The times of single runs, where a robust loss must see them again.

use super::collector::Keep;
use mmgp_base::table::records::Run;

/// The logarithms of all times, configuration by configuration.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LogTimes {
    /// In the order of [`super::Runs::cells`].
    pub cells: Vec<CellTimes>,
}

/// The logarithms of the times of one configuration, in the order of the file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CellTimes {
    logs: Vec<f64>,
    /// Empty as long as the runs are 1, 2, 3..., after as many as were left out.
    repetitions: Vec<u32>,
    left_out: u32,
}

impl CellTimes {
    /// `ln(time/s)` of each run; minus infinity for a time of zero.
    pub fn logs(&self) -> &[f64] {
        &self.logs
    }

    /// Which repetition a run is, by its index.
    pub fn repetition(&self, index: usize) -> u32 {
        self.repetitions.get(index).copied().unwrap_or(index as u32 + 1 + self.left_out)
    }

    fn insert(&mut self, run: &Run) {
        let next = self.logs.len() as u32 + 1;
        if self.repetitions.is_empty() && run.repetition != next {
            self.repetitions.extend(1..next);
        }
        self.logs.push(run.time_s.ln());
        if !self.repetitions.is_empty() || run.repetition != next {
            self.repetitions.push(run.repetition);
        }
    }
}

impl Keep for LogTimes {
    fn insert(&mut self, cell: usize, run: &Run) {
        if cell == self.cells.len() {
            self.cells.push(CellTimes::default());
        }
        self.cells[cell].insert(run);
    }

    fn leave_out(&mut self, cell: usize, at: usize) {
        let CellTimes { logs, repetitions, left_out } = &mut self.cells[cell];
        logs.remove(at);
        if repetitions.is_empty() {
            // They are 1, 2, 3... and the first is the one that goes.
            *left_out = 1;
        } else {
            repetitions.remove(at);
        }
    }

    fn in_order(mut self, order: &[usize]) -> Self {
        Self { cells: order.iter().map(|&cell| std::mem::take(&mut self.cells[cell])).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(repetitions: &[u32]) -> CellTimes {
        let mut times = CellTimes::default();
        for &repetition in repetitions {
            times.insert(&Run { m: 1, p: 1, repetition, time_s: 1.0 });
        }
        times
    }

    #[test]
    fn repetitions_are_written_down_only_where_they_do_not_count_up() {
        assert!(times(&[1, 2, 3]).repetitions.is_empty());
        let gap = times(&[1, 2, 4]);
        assert_eq!(gap.repetitions, [1, 2, 4]);
        assert_eq!([0, 1, 2].map(|index| gap.repetition(index)), [1, 2, 4]);
        assert_eq!(times(&[2, 3]).repetitions, [2, 3]);
    }
}
