//! Metropolis coupling (Geyer 1991): chains at several temperatures, which exchange them now and
//! then, so that the states that a hot chain finds beyond a valley come to the cold one.
//!
//! The chain at place i of the ladder has the inverse temperature T_i = 1 / (1 + i * heating): it
//! samples the prior times the likelihood to the power of T_i. The chain at place 0, the *cold*
//! one, samples the posterior. Heating the likelihood alone keeps every chain proper, and what two
//! chains must know of each other is a log likelihood and a place.
//!
//! The processes form a grid (Feng, Buell, Rose and Waddell 2003): a row computes some of the
//! chains, a column a segment of the patterns.

use super::rank::block;
use crate::phylogeny::Stream;
use crate::run::require;
use mmgp_base::error::Result;

/// How chains are coupled, and on how many rows of processes they run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coupling {
    chains: u32,
    rows: u32,
    heating: f64,
    swap_every: u32,
}

impl Coupling {
    /// Generations between two attempts to swap where nothing else is asked for.
    pub const SWAP_EVERY: u32 = 5;
    /// The step of the ladder where nothing else is asked for.
    pub const HEATING: f64 = 0.1;
    /// One chain on one row.
    pub const SINGLE: Self =
        Self { chains: 1, rows: 1, heating: Self::HEATING, swap_every: Self::SWAP_EVERY };

    /// Coupling of so many chains, with the steps of their ladder and the generations between two attempts to
    /// swap.
    ///
    /// # Errors
    /// `OutOfRange` for no chain, a step that is negative or not finite, and an interval of 0.
    pub fn new(chains: u32, heating: f64, swap_every: u32) -> Result<Self> {
        require(chains > 0, "the number of chains", "0", "at least 1")?;
        require(
            heating.is_finite() && heating >= 0.0,
            "the step of the temperatures",
            heating,
            "a number of 0 or more",
        )?;
        require(swap_every > 0, "generations between two swaps", "0", "at least 1 generation")?;
        Ok(Self { chains, heating, swap_every, ..Self::SINGLE })
    }

    /// The same with the chains dealt to so many rows of processes.
    ///
    /// # Errors
    /// `OutOfRange` for no row, or more rows than chains, some of which would have nothing to do.
    pub fn on_rows(self, rows: u32) -> Result<Self> {
        let expected = format!("from 1 to the number of chains, {}", self.chains);
        require((1..=self.chains).contains(&rows), "rows of processes", rows, expected)?;
        Ok(Self { rows, ..self })
    }

    /// Chains.
    pub fn chains(&self) -> usize {
        self.chains as usize
    }

    /// Rows of the grid of processes.
    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// The inverse temperature of a place of the ladder, in (0, 1].
    pub(crate) fn temperature(&self, place: usize) -> f64 {
        // T_i = 1 / (1 + i * heating)
        1.0 / (1.0 + place as f64 * self.heating)
    }

    /// Whether a swap is tried after that generation, counted from 1.
    pub(super) fn swaps_after(&self, generation: u32) -> bool {
        self.chains > 1 && generation.is_multiple_of(self.swap_every)
    }

    /// The chains of a row: contiguous blocks, the first ones of one more where they do not come
    /// out even.
    pub(super) fn chains_of(&self, row: u32) -> std::ops::Range<usize> {
        block(self.chains(), row as usize, self.rows as usize)
    }

    /// The row that computes a chain.
    pub(super) fn row_of(&self, chain: usize) -> u32 {
        let computes = |row: &u32| self.chains_of(*row).contains(&chain);
        (0..self.rows).find(computes).expect("invariant: every chain is on a row")
    }
}

/// What others must know of a chain to swap with it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ChainState {
    pub log_likelihood: f64,
    /// The place of the chain on the ladder.
    pub place: usize,
}

/// An attempt to swap, as every process draws it from the one stream of the grid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Attempt {
    /// Two different chains.
    pub pair: [usize; 2],
    /// Uniform on [0, 1).
    pub threshold: f64,
}

impl Attempt {
    /// Random numbers of an attempt.
    pub const DRAWS: u64 = 3;

    /// Between two of at least two chains.
    pub fn draw(chains: usize, swaps: &mut Stream) -> Self {
        let first = swaps.index(chains);
        let other = swaps.index(chains - 1);
        let second = if other < first { other } else { other + 1 };
        Self { pair: [first, second], threshold: swaps.uniform() }
    }

    /// Whether the two chains of the pair exchange their temperatures.
    pub fn succeeds(&self, coupling: &Coupling, [one, other]: [ChainState; 2]) -> bool {
        let [t_one, t_other] = [one, other].map(|state| coupling.temperature(state.place));
        // L_j^(T_i) L_i^(T_j) / (L_i^(T_i) L_j^(T_j)) = exp((T_i - T_j) (ln L_j - ln L_i)); the
        // priors of both states are on both sides.
        let ln_ratio = (t_one - t_other) * (other.log_likelihood - one.log_likelihood);
        self.threshold <= ln_ratio.exp()
    }
}

/// The processes in rows and columns; ranks go along the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Grid {
    rows: u32,
    columns: u32,
}

impl Grid {
    /// The grid of `m` processes.
    ///
    /// # Errors
    /// `OutOfRange` where the rows would not be equally long.
    pub fn new(m: u32, rows: u32) -> Result<Self> {
        let expected = format!("a divisor of m = {m}, so that rows are equally long");
        require(rows > 0 && m.is_multiple_of(rows), "rows of processes", rows, expected)?;
        Ok(Self { rows, columns: m / rows })
    }

    /// Segments of the patterns.
    pub fn columns(&self) -> u32 {
        self.columns
    }

    /// Rows.
    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// Row and column of a rank.
    pub fn place(&self, rank: u32) -> (u32, u32) {
        (rank / self.columns, rank % self.columns)
    }

    /// The ranks of a row.
    pub fn row(&self, row: u32) -> Vec<u32> {
        (0..self.columns).map(|column| self.rank(row, column)).collect()
    }

    /// The rank at a row and a column.
    pub fn rank(&self, row: u32, column: u32) -> u32 {
        row * self.columns + column
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temperatures_fall_from_one_by_the_harmonic_ladder() {
        let coupling = Coupling::new(3, 0.5, 5).unwrap();
        assert_eq!([0, 1, 2].map(|place| coupling.temperature(place)), [1.0, 1.0 / 1.5, 0.5]);
    }

    #[test]
    fn chains_are_dealt_to_the_rows_in_blocks() {
        let coupling = Coupling::new(5, 0.1, 5).unwrap().on_rows(2).unwrap();
        assert_eq!([coupling.chains_of(0), coupling.chains_of(1)], [0..3, 3..5]);
        assert_eq!([0, 2, 3, 4].map(|chain| coupling.row_of(chain)), [0, 0, 1, 1]);
    }

    #[test]
    fn a_pair_is_two_different_chains_and_all_pairs_are_equally_likely() {
        let mut stream = Stream::new(1, 0);
        let mut counts = [[0_u32; 3]; 3];
        let attempts = 9000;
        for _ in 0..attempts {
            let [one, other] = Attempt::draw(3, &mut stream).pair;
            counts[one][other] += 1;
        }
        for (one, row) in counts.iter().enumerate() {
            for (other, &count) in row.iter().enumerate() {
                let expected = if one == other { 0.0 } else { f64::from(attempts) / 6.0 };
                // The standard error of a binomial count of probability 1/6 is 35.
                assert!((f64::from(count) - expected).abs() <= 4.0 * 35.4 * expected.signum());
            }
        }
    }

    #[test]
    fn attempts_draw_as_many_numbers_as_they_say() {
        let mut stream = Stream::new(1, 0);
        Attempt::draw(4, &mut stream);
        assert_eq!(stream.draws(), Attempt::DRAWS);
    }

    #[test]
    fn a_better_hot_state_always_comes_to_the_cold_chain_and_a_worse_one_by_the_ratio() {
        let coupling = Coupling::new(2, 1.0, 5).unwrap();
        let state = |log_likelihood, place| ChainState { log_likelihood, place };
        let succeeds = |threshold, states: [ChainState; 2]| {
            Attempt { pair: [0, 1], threshold }.succeeds(&coupling, states)
        };
        assert!(succeeds(0.999, [state(-10.0, 0), state(-9.0, 1)]));
        assert!(succeeds(0.999, [state(-9.0, 1), state(-10.0, 0)]));
        // T = 1 and 1/2, ln L worse by 1: exp(-1/2) = 0.6065.
        for (threshold, expected) in [(0.606, true), (0.607, false)] {
            assert_eq!(succeeds(threshold, [state(-9.0, 0), state(-10.0, 1)]), expected);
            assert_eq!(succeeds(threshold, [state(-10.0, 1), state(-9.0, 0)]), expected);
        }
    }

    #[test]
    fn rows_must_divide_the_processes_and_have_chains() {
        let error = Grid::new(4, 3).unwrap_err().to_string();
        assert_eq!(
            error,
            "rows of processes: found 3, expected a divisor of m = 4, so that rows are equally long"
        );
        let error = Coupling::SINGLE.on_rows(2).unwrap_err().to_string();
        assert_eq!(error, "rows of processes: found 2, expected from 1 to the number of chains, 1");
        assert!(Coupling::new(0, 0.1, 5).is_err());
        assert!(Coupling::new(2, -0.1, 5).is_err());
        assert!(Coupling::new(2, 0.1, 0).is_err());
    }

    #[test]
    fn ranks_go_along_the_rows() {
        let grid = Grid::new(6, 2).unwrap();
        assert_eq!((grid.rows(), grid.columns()), (2, 3));
        for rank in 0..6 {
            let (row, column) = grid.place(rank);
            assert_eq!((row, grid.rank(row, column)), (rank / 3, rank));
        }
    }
}
