//! Alignments that evolved along a known tree.
//!
//! A seed fixes everything: the tree comes from the first stream of the seed, the sites from the
//! second, each by xoshiro256++. So a tree that was written to a file and read again gives, with the
//! same seed, the same sequences.
//! Random numbers come from a [`Stream`], by an algorithm that stays fixed.

use super::alignment::Alignment;
use super::jukes_cantor::transition_matrix;
use super::tree::Tree;
use crate::run::require;
use mmgp_base::error::Result;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Branch lengths of a simulated tree are multiples of this [expected substitutions per site] and
/// never zero: a tree file stays short, and no platform's logarithm shows in it.
const LENGTH_STEP: f64 = 1e-6;

/// Most taxa of a random tree: some hundred bytes each make half a GiB, and published alignments
/// have fewer.
pub const MOST_TAXA: usize = 1 << 20;

/// Most residues of an alignment, taxa times sites: with the states of inner nodes, the rows and
/// their text each takes four bytes, which makes 1 GiB.
pub const MOST_RESIDUES: usize = 1 << 28;

/// A random tree whose topologies are equally likely and whose branch lengths are exponential of
/// that mean, rounded to six decimals.
///
/// # Errors
/// `OutOfRange` for fewer than 3 taxa or more than [`MOST_TAXA`], or a mean that is not positive.
pub fn tree(taxa: usize, mean_branch_length: f64, seed: u64) -> Result<Tree> {
    require(
        taxa <= MOST_TAXA,
        "taxa",
        taxa,
        format!("at most {MOST_TAXA}, so that the tree fits memory"),
    )?;
    let mut tree = Tree::random(taxa, mean_branch_length, &mut Stream::new(seed, 0))?;
    let steps_per_unit = 1.0 / LENGTH_STEP;
    for node in 0..tree.nodes() {
        if node != tree.root() {
            let steps = (tree.branch_length(node) * steps_per_unit).round().max(1.0);
            tree.set_branch_length(node, steps / steps_per_unit)?;
        }
    }
    Ok(tree)
}

/// Names of equal length for so many taxa: `t01`, `t02`...
pub fn names(taxa: usize) -> Vec<String> {
    let width = taxa.to_string().len().max(2);
    (1..=taxa).map(|taxon| format!("t{taxon:0width$}")).collect()
}

/// Sequences of the tips of `tree`, called by `names`, under the model of Jukes and Cantor (1969):
/// sites are independent of each other, each begins with a random state at the root and changes
/// along every branch by that branch's transition probabilities.
///
/// # Errors
/// `OutOfRange` where there is no site, more than [`MOST_RESIDUES`], or not one name for each tip.
pub fn alignment(tree: &Tree, names: &[String], sites: usize, seed: u64) -> Result<Alignment> {
    require(sites > 0, "sites", "0", "at least 1")?;
    require(
        names.len() == tree.taxa(),
        "names",
        names.len(),
        format!("one for each of the {} tips", tree.taxa()),
    )?;
    let most_sites = MOST_RESIDUES / tree.taxa();
    let expected =
        format!("at most {most_sites} for {} taxa, so that the alignment fits memory", tree.taxa());
    require(sites <= most_sites, "sites", sites, expected)?;
    let mut stream = Stream::new(seed, 1);
    let mut states: Vec<Vec<u8>> = vec![Vec::new(); tree.nodes()];
    for node in tree.below(tree.root()) {
        states[node] = match tree.parent(node) {
            None => (0..sites).map(|_| stream.index(4) as u8).collect(),
            Some(parent) => {
                let change = transition_matrix(tree.branch_length(node))[1];
                states[parent].iter().map(|&state| evolve(state, change, &mut stream)).collect()
            }
        };
    }
    let code = |state: &u8| 1 << state;
    let rows = states[..tree.taxa()].iter().map(|row| row.iter().map(code).collect()).collect();
    Ok(Alignment { names: names.to_vec(), rows })
}

/// The state at the lower end of a branch along which each of the three changes has the
/// probability `change`.
fn evolve(state: u8, change: f64, stream: &mut Stream) -> u8 {
    // [0, 3 change) is cut into the three changes; a state is never changed into itself.
    let third = stream.uniform() / change;
    match third {
        third if third < 3.0 => (state + 1 + third as u8) % 4,
        _ => state,
    }
}

/// A stream of random numbers: xoshiro256++ (Blackman and Vigna 2021), its state filled from the
/// seed by SplitMix64.
///
/// How numbers are made of the 64 random bits of a draw is fixed here and not left to a library,
/// so that data simulated from a seed keep their bytes. A clone goes on with the same numbers as
/// the original: the processes of a chain draw the same proposals from clones of one stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stream {
    generator: Xoshiro256PlusPlus,
    draws: u64,
}

impl Stream {
    /// The stream of that number among the streams of a seed. They do not overlap: each begins
    /// 2^128 draws after the one before it.
    pub fn new(seed: u64, number: u32) -> Self {
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
        for _ in 0..number {
            generator.jump();
        }
        Self { generator, draws: 0 }
    }

    /// How many numbers were drawn so far.
    pub fn draws(&self) -> u64 {
        self.draws
    }

    fn next(&mut self) -> u64 {
        self.draws += 1;
        self.generator.next_u64()
    }

    /// Uniform on [0, 1), a multiple of 2^-53.
    pub fn uniform(&mut self) -> f64 {
        const UNIT: f64 = 1.0 / (1_u64 << 53) as f64;
        (self.next() >> 11) as f64 * UNIT
    }

    /// Uniform on 0..count, which must not be empty; no index is likelier than another by more
    /// than one part in 2^64 / count.
    pub fn index(&mut self, count: usize) -> usize {
        ((u128::from(self.next()) * count as u128) >> 64) as usize
    }

    /// Exponential of that mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        // 1 - u lies in (0, 1], where the logarithm is finite.
        -mean * (1.0 - self.uniform()).ln()
    }
}

#[cfg(test)]
mod tests {
    use super::super::newick;
    use super::super::tests::{SIM12, SIM24};
    use super::*;
    use mmgp_base::table::Source;

    #[test]
    fn two_tips_differ_as_often_as_their_distance_says() {
        // Tips a and b are 0.3 apart; by Jukes and Cantor they differ at
        // 3/4 (1 - exp(-4/3 0.3)) of the sites.
        let tree = Tree::from_branches(3, &[(3, 0, 0.1), (3, 1, 0.2), (3, 2, 3.0)], 3).unwrap();
        let sites = 100_000;
        let alignment = alignment(&tree, &names(3), sites, 7).unwrap();
        let mut differences = [[0_u32; 9]; 9];
        for (&a, &b) in alignment.rows[0].iter().zip(&alignment.rows[1]) {
            differences[usize::from(a)][usize::from(b)] += 1;
        }
        // Each of the 12 ordered pairs of different states is equally likely.
        let expected = 0.75 * (1.0 - (-4.0 / 3.0 * 0.3_f64).exp()) / 12.0;
        let standard_error = (expected * (1.0 - expected) / sites as f64).sqrt();
        for (a, b) in [(1, 2), (1, 4), (1, 8), (2, 4), (2, 8), (4, 8), (8, 1), (4, 1)] {
            let share = f64::from(differences[a][b]) / sites as f64;
            assert!((share - expected).abs() < 4.0 * standard_error, "{a} {b}: {share}");
        }
    }

    #[test]
    fn a_written_tree_gives_the_same_sequences_again() {
        let tree = tree(9, 0.1, 3).unwrap();
        let first = alignment(&tree, &names(9), 50, 3).unwrap();
        let text = newick::write(&tree, &first.names);
        let (again, order) = newick::read_named(&Source::new("x.nwk", &text)).unwrap();
        let second = alignment(&again, &order, 50, 3).unwrap();
        for (name, row) in second.names.iter().zip(&second.rows) {
            let taxon = first.names.iter().position(|known| known == name).unwrap();
            assert_eq!(&first.rows[taxon], row, "{name}");
        }
    }

    #[test]
    fn sizes_that_no_memory_holds_are_refused() {
        for taxa in [MOST_TAXA + 1, usize::MAX] {
            let message = format!(
                "taxa: found {taxa}, expected at most 1048576, so that the tree fits memory"
            );
            assert_eq!(tree(taxa, 0.1, 1).unwrap_err().to_string(), message);
        }
        let tree = tree(4, 0.1, 1).unwrap();
        for sites in [MOST_RESIDUES / 4 + 1, usize::MAX] {
            let message = format!(
                "sites: found {sites}, expected at most 67108864 for 4 taxa, so that the alignment \
                 fits memory"
            );
            assert_eq!(alignment(&tree, &names(4), sites, 1).unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn the_shipped_data_come_from_the_stated_seeds() {
        for (taxa, sites, seed, [phylip, newick]) in [(12, 600, 12, SIM12), (24, 1000, 24, SIM24)] {
            let tree = tree(taxa, 0.1, seed).unwrap();
            assert_eq!(newick::write(&tree, &names(taxa)), newick);
            let alignment = alignment(&tree, &names(taxa), sites, seed).unwrap();
            assert_eq!(alignment.to_phylip(), phylip);
        }
    }
}

#[cfg(test)]
mod stream_tests {
    use super::*;

    #[test]
    fn every_index_is_drawn_equally_often() {
        let mut stream = Stream::new(1, 0);
        let mut counts = [0_u32; 7];
        for _ in 0..70_000 {
            counts[stream.index(7)] += 1;
        }
        let standard_error = (70_000.0_f64 * (1.0 / 7.0) * (6.0 / 7.0)).sqrt();
        for count in counts {
            assert!((f64::from(count) - 10_000.0).abs() < 4.0 * standard_error, "{counts:?}");
        }
        assert_eq!(stream.draws(), 70_000);
    }

    #[test]
    fn exponential_draws_have_the_mean_asked_for() {
        let mut stream = Stream::new(2, 0);
        let mean = (0..10_000).map(|_| stream.exponential(0.1)).sum::<f64>() / 1e4;
        // The standard deviation of an exponential is its mean.
        assert!((mean - 0.1).abs() < 4.0 * 0.1 / 100.0, "{mean}");
    }

    #[test]
    fn the_streams_of_a_seed_differ() {
        assert_ne!(Stream::new(3, 0).next(), Stream::new(3, 1).next());
        assert_eq!(Stream::new(3, 1).next(), Stream::new(3, 1).next());
    }
}
