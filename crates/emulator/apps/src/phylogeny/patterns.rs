//! Distinct columns of an alignment, with how often each occurs.

use std::collections::BTreeMap;

use super::alignment::{Alignment, UNDETERMINED};

/// The least empirical frequency of a state.
const LEAST_FREQUENCY: f64 = 1e-3;

/// The iteration of frequencies has converged where none changes by more than this.
const SETTLED: f64 = 1e-12;

/// The site patterns of an alignment. Sites evolve independently, so equal columns have equal
/// likelihoods, and a kernel computes one of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patterns {
    /// The code of each taxon's residue in every pattern, as in [`Alignment::rows`].
    pub tips: Vec<Vec<u8>>,
    /// The number of columns that show each pattern, at least 1.
    pub weights: Vec<u32>,
    /// The pattern of each column of the alignment; none for a column without any determined
    /// residue, whose likelihood is 1 whatever the tree.
    pub of_site: Vec<Option<usize>>,
}

impl Patterns {
    /// Compresses the columns, compared by their codes. Patterns come in the order of their first
    /// column; columns without any determined residue are dropped, so there may be none at all.
    pub fn compress(alignment: &Alignment) -> Self {
        let mut tips = vec![Vec::new(); alignment.taxa()];
        let mut weights = Vec::new();
        let mut index_of = BTreeMap::new();
        let mut of_site = Vec::with_capacity(alignment.sites());
        for site in 0..alignment.sites() {
            let column: Vec<u8> = alignment.rows.iter().map(|row| row[site]).collect();
            if column.iter().all(|&code| code == UNDETERMINED) {
                of_site.push(None);
                continue;
            }
            let next = weights.len();
            let index = *index_of.entry(column).or_insert_with_key(|column: &Vec<u8>| {
                for (tip, &code) in tips.iter_mut().zip(column) {
                    tip.push(code);
                }
                weights.push(0);
                next
            });
            weights[index] += 1;
            of_site.push(Some(index));
        }
        Self { tips, weights, of_site }
    }

    /// Empirical frequencies of A, C, G, T, of sum 1: every determined residue counts 1, an
    /// ambiguous one is shared among its states in the proportion of the frequencies, which is
    /// iterated until they converge; undetermined ones do not count. No frequency is below 0.001, so
    /// that a state that never occurs has a rate; without any determined residue all are equal.
    pub(crate) fn frequencies(&self) -> [f64; 4] {
        let mut counts = [0_u64; 16];
        for codes in &self.tips {
            for (&code, &weight) in codes.iter().zip(&self.weights) {
                counts[usize::from(code)] += u64::from(weight);
            }
        }
        counts[usize::from(UNDETERMINED)] = 0;
        let total: u64 = counts.iter().sum();
        let mut frequencies = [0.25; 4];
        if total == 0 {
            return frequencies;
        }
        loop {
            let mut shares = [0.0; 4];
            for (code, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
                let allowed = |state: &usize| code >> state & 1 == 1;
                let sum: f64 = (0..4).filter(allowed).map(|state| frequencies[state]).sum();
                for state in (0..4).filter(allowed) {
                    shares[state] += count as f64 * frequencies[state] / sum;
                }
            }
            let next = floored(shares.map(|share| share / total as f64));
            let moved = |(one, other): (&f64, &f64)| (one - other).abs() > SETTLED;
            if !next.iter().zip(&frequencies).any(moved) {
                return next;
            }
            frequencies = next;
        }
    }

    /// Number of distinct patterns.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Whether no column had a determined residue.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }
}

/// Frequencies of at least [`LEAST_FREQUENCY`] and of sum 1.
fn floored(frequencies: [f64; 4]) -> [f64; 4] {
    let lifted = frequencies.map(|frequency| frequency.max(LEAST_FREQUENCY));
    let sum: f64 = lifted.iter().sum();
    lifted.map(|frequency| frequency / sum)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use approx::assert_abs_diff_eq;

    use super::super::tests::{SIM12, SIM24, patterns, shared_data};
    use super::*;

    #[test]
    fn equal_columns_become_one_and_undetermined_ones_none() {
        let alignment = Alignment {
            names: vec!["a".into(), "b".into()],
            rows: vec![vec![8, 1, 15, 8, 1], vec![2, 15, 15, 2, 1]],
        };
        let patterns = Patterns::compress(&alignment);
        assert_eq!(patterns.tips, [[8, 1, 1], [2, 15, 1]]);
        assert_eq!(patterns.weights, [2, 1, 1]);
        assert_eq!(patterns.of_site, [Some(0), Some(1), None, Some(0), Some(2)]);
    }

    fn check_frequencies(rows: [Vec<u8>; 2], expected: [f64; 4]) {
        let names = vec!["a".into(), "b".into()];
        let alignment = Alignment { names, rows: rows.into() };
        let found = Patterns::compress(&alignment).frequencies();
        for (found, expected) in found.iter().zip(expected) {
            assert_abs_diff_eq!(*found, expected, epsilon = 1e-9);
        }
    }

    #[test]
    fn frequencies_share_what_is_ambiguous_in_their_own_proportion() {
        // A, A, A, C, G, T and gaps
        check_frequencies(
            [vec![1, 1, 1, 15], vec![2, 4, 8, 15]],
            [0.5, 1.0 / 6.0, 1.0 / 6.0, 1.0 / 6.0],
        );
        // A, A, C, G, T and one of A or C: a = (2 + a / (a + c)) / 6 and c = (1 + c / (a + c)) / 6,
        // so a = 2 c = 2 (1 + 1/3) / 6.
        check_frequencies(
            [vec![1, 1, 2], vec![4, 8, 3]],
            [4.0 / 9.0, 2.0 / 9.0, 1.0 / 6.0, 1.0 / 6.0],
        );
        check_frequencies([vec![15; 2], vec![15; 2]], [0.25; 4]);
        // A state that does not occur
        let sum = 1.001;
        check_frequencies(
            [vec![1, 2], vec![1, 4]],
            [0.5 / sum, 0.25 / sum, 0.25 / sum, 0.001 / sum],
        );
    }

    #[test]
    fn shipped_alignments_have_as_many_patterns_as_different_columns() {
        for [text, _] in [SIM12, SIM24] {
            // By lines of text: the name is one word, and no column is without a residue.
            let rows: Vec<&[u8]> = text
                .lines()
                .skip(1)
                .filter_map(|line| line.split_once(' '))
                .map(|(_, row)| row.trim().as_bytes())
                .collect();
            let columns: BTreeSet<Vec<u8>> =
                (0..rows[0].len()).map(|site| rows.iter().map(|row| row[site]).collect()).collect();
            assert_eq!(patterns(text).len(), columns.len());
        }
    }

    #[test]
    fn real_alignments_have_the_published_number_of_patterns() {
        for (name, taxa, sites, count) in [
            ("hypo42", 42, 1167, 228),
            ("brown41", 41, 1665, 1075),
            ("cognato44", 44, 1897, 800),
            ("devitt69", 69, 823, 78),
            ("dornburg40", 40, 5000, 1420),
            ("leache10_50k", 10, 50_000, 2594),
        ] {
            let Some(source) = shared_data(&format!("{name}.phy")) else { return };
            let alignment = Alignment::read(&source).unwrap();
            assert_eq!((alignment.taxa(), alignment.sites()), (taxa, sites), "{name}");
            assert_eq!(Patterns::compress(&alignment).len(), count, "{name}");
        }
    }
}
