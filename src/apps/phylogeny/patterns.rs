//! Distinct columns of an alignment, with how often each occurs.

use std::collections::BTreeMap;

use super::alignment::{Alignment, UNDETERMINED};

/// The site patterns of an alignment. Sites evolve independently, so equal columns have equal
/// likelihoods, and a kernel computes one of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patterns {
    /// For each taxon the code of its residue in every pattern, as in [`Alignment::rows`].
    pub tips: Vec<Vec<u8>>,
    /// For each pattern the number of columns that show it, at least 1.
    pub weights: Vec<u32>,
    /// For each column of the alignment its pattern; none for a column without any determined
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

    /// Number of distinct patterns.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Whether no column had a determined residue.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::apps::phylogeny::tests::shared_data;

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
