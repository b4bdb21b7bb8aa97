//! What came of it.

use mmgp_base::units::Seconds;
use mmgp_lists::{checksum, imbalance};

/// Times of several runs, and what they computed.
#[derive(Debug, Clone)]
pub struct Measured {
    /// Of each run the times of its four steps: heads, sublists, sublists' totals, adding.
    pub steps: Vec<[Seconds; 4]>,
    /// Of each run of one thread that follows the list from its head.
    pub sequential: Vec<Seconds>,
    /// The prefix of each node.
    pub prefixes: Vec<u32>,
    /// Prefixes that are missing, or differ from those of another sequential program.
    pub wrong: usize,
    /// Nodes that each thread ranked.
    pub loads: Vec<u64>,
    /// As there were: no more than nodes.
    pub sublists: u32,
}

/// The middle of several times, and their limits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Half of the times are no longer, half no shorter.
    pub median: Seconds,
    /// The shortest.
    pub least: Seconds,
    /// The longest.
    pub most: Seconds,
}

impl Spread {
    /// Of these times, at least one.
    fn of(times: impl Iterator<Item = Seconds>) -> Self {
        let mut times: Vec<f64> = times.map(|time| time.0).collect();
        times.sort_by(f64::total_cmp);
        let (last, middle) = (times.len() - 1, times.len() / 2);
        let median = 0.5 * (times[last / 2] + times[middle]);
        Self { median: Seconds(median), least: Seconds(times[0]), most: Seconds(times[last]) }
    }
}

impl Measured {
    /// The most nodes of a thread over the mean.
    pub fn imbalance(&self) -> f64 {
        imbalance(&self.loads)
    }

    /// Of all prefixes, in the order of the nodes, as that of the emulated program.
    pub fn checksum(&self) -> u32 {
        checksum(&self.prefixes)
    }

    /// The time of all steps.
    pub fn time(&self) -> Spread {
        Spread::of(self.steps.iter().map(|steps| steps.iter().copied().sum()))
    }

    /// The times of the four steps.
    pub fn of_steps(&self) -> [Spread; 4] {
        [0, 1, 2, 3].map(|step| Spread::of(self.steps.iter().map(|steps| steps[step])))
    }

    /// The time of one thread that follows the list from its head.
    pub fn of_sequential(&self) -> Spread {
        Spread::of(self.sequential.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_of_times_lies_between_two_of_them() {
        let check = |times: &[f64], [median, least, most]: [f64; 3]| {
            let [median, least, most] = [median, least, most].map(Seconds);
            let found = Spread::of(times.iter().map(|&time| Seconds(time)));
            assert_eq!(found, Spread { median, least, most });
        };
        check(&[3.0], [3.0, 3.0, 3.0]);
        check(&[5.0, 1.0], [3.0, 1.0, 5.0]);
        check(&[5.0, 1.0, 2.0], [2.0, 1.0, 5.0]);
        check(&[5.0, 1.0, 2.0, 4.0], [3.0, 1.0, 5.0]);
    }

    #[test]
    fn the_time_of_a_run_is_that_of_its_steps() {
        let steps = vec![[1.0, 2.0, 3.0, 4.0].map(Seconds), [0.0, 9.0, 0.0, 5.0].map(Seconds)];
        let (sequential, prefixes, loads) = (vec![Seconds(1.0)], Vec::new(), Vec::new());
        let measured = Measured { steps, sequential, prefixes, wrong: 0, loads, sublists: 1 };
        assert_eq!(measured.time().median, Seconds(12.0));
        assert_eq!(measured.of_steps().map(|step| step.median.0), [0.5, 5.5, 1.5, 4.5]);
    }
}
