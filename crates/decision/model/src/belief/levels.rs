//! What levels, combinations of values of further factors, have in common.
//!
//! The logarithm of a time has three parts of its level, Gaussian processes over the levels: one that is the
//! same for every (m, p), a level being so much faster; slopes over log m and log p, a level gaining more from
//! processes or threads; and one that is as smooth over both as the misfit is. Levels are the more alike the more factors
//! have the same value in both: the likeness is a product over the factors, so that it has what each factor
//! does alone, and what several do together.

use mmgp_base::Site;
use nalgebra::DMatrix;

use super::scatter::{LENGTH, Node, log_product};
use crate::statistics::kernel;

/// How alike levels are.
#[derive(Debug, Clone, PartialEq)]
pub struct Levels {
    /// The likeness of each to each, row by row; 1 of each to itself.
    likeness: Vec<Vec<f64>>,
}

impl Levels {
    /// No further factors: one level.
    pub fn none() -> Self {
        Self { likeness: vec![vec![1.0]] }
    }

    /// Levels with these values of each factor, in the same order for all. Values of a factor that are all
    /// numbers above 0 are the more alike the smaller their ratio.
    pub fn of(levels: &[Vec<String>]) -> Self {
        if levels.len() < 2 {
            return Self::none();
        }
        let number =
            |text: &String| text.parse::<f64>().ok().filter(|it| *it > 0.0 && it.is_finite());
        let numbers: Vec<Vec<Option<f64>>> =
            levels.iter().map(|values| values.iter().map(number).collect()).collect();
        let is_numeric: Vec<bool> = (0..levels[0].len())
            .map(|factor| numbers.iter().all(|values| values[factor].is_some()))
            .collect();
        let likeness = |one: usize, other: usize| -> f64 {
            let of_factor = |factor: usize| {
                if levels[one][factor] == levels[other][factor] {
                    return 1.0;
                }
                let both = numbers[one][factor].zip(numbers[other][factor]);
                let near = both.filter(|_| is_numeric[factor]);
                let near =
                    near.map_or(0.0, |(a, b)| (-(a / b).ln().abs() / LENGTH_OF_NUMBERS).exp());
                OF_OTHERS + (1.0 - OF_OTHERS) * near
            };
            (0..levels[one].len()).map(of_factor).product()
        };
        let row = |one: usize| (0..levels.len()).map(|other| likeness(one, other)).collect();
        Self { likeness: (0..levels.len()).map(row).collect() }
    }

    /// Whether there is but one.
    pub fn is_one(&self) -> bool {
        self.likeness.len() < 2
    }

    /// How alike two are, at most 1.
    pub fn likeness(&self, one: u32, other: u32) -> f64 {
        self.likeness[one as usize][other as usize]
    }
}

/// The covariances, each over its variance, of what sites have in common beyond the mean.
pub(super) struct Kernels {
    /// Kernel of the misfit.
    mappings: DMatrix<f64>,
    /// How alike levels are, and the product of the places in (log m, log p); `None` where there is one level.
    levels: Option<(DMatrix<f64>, DMatrix<f64>)>,
}

impl Kernels {
    /// Kernels between some sites (rows) and others (columns).
    pub fn between(levels: &Levels, rows: &[Site], columns: &[Site]) -> Self {
        let between = |of: &dyn Fn(Site, Site) -> f64| {
            DMatrix::from_fn(rows.len(), columns.len(), |row, column| {
                of(rows[row], columns[column])
            })
        };
        Self {
            mappings: between(&|one, other| kernel(one.mapping, other.mapping, LENGTH)),
            levels: (!levels.is_one()).then(|| {
                let alike = between(&|one, other| levels.likeness(one.level, other.level));
                (alike, between(&|one, other| log_product(one.mapping, other.mapping)))
            }),
        }
    }

    /// The covariance by one node.
    pub fn of(&self, node: &Node) -> DMatrix<f64> {
        let of_mappings = node.size.powi(2);
        let Some((alike, product)) = &self.levels else { return &self.mappings * of_mappings };
        let [of_all, of_slopes, of_each] = node.apart.variances();
        let of_levels = product * of_slopes + &self.mappings * of_each;
        let of_levels = of_levels.add_scalar(of_all).component_mul(alike);
        &self.mappings * of_mappings + of_levels
    }
}

/// The likeness of two values of a factor that have nothing to do with each other: assumed, a factor alone
/// doing as much as with others.
const OF_OTHERS: f64 = 0.5;

/// Logarithm of a ratio at which numbers have little to do with each other any more: a factor of 4, assumed.
const LENGTH_OF_NUMBERS: f64 = 1.4;

#[cfg(test)]
mod tests {
    use super::super::scatter::Apart;
    use super::*;
    use mmgp_base::Mapping;

    fn levels(values: &[&[&str]]) -> Levels {
        let level = |values: &&[&str]| values.iter().map(|it| (*it).to_string()).collect();
        Levels::of(&values.iter().map(level).collect::<Vec<_>>())
    }

    #[test]
    fn levels_are_the_more_alike_the_more_values_they_share_and_the_nearer_numbers_are() {
        let of = levels(&[&["a", "32"], &["b", "32"], &["a", "64"], &["a", "256"], &["b", "256"]]);
        assert_eq!(of.likeness(3, 3), 1.0);
        assert_eq!(of.likeness(0, 1), 0.5);
        let (near, far) = (of.likeness(0, 2), of.likeness(0, 3));
        assert!(0.5 < far && far < near && near < 1.0, "{far} {near}");
        approx::assert_relative_eq!(of.likeness(0, 4), 0.5 * far, max_relative = 1e-12);
        // One word among the numbers, and they are words.
        let words = levels(&[&["32"], &["64"], &["auto"]]);
        assert_eq!((words.likeness(0, 1), words.likeness(0, 2)), (0.5, 0.5));
    }

    #[test]
    fn a_level_does_something_to_all_mappings_and_something_to_near_ones() {
        let of = levels(&[&["a"], &["b"]]);
        let sites = [(4, 0), (4, 1), (64, 1)].map(|(m, level)| Site::new(Mapping::of(m, 1), level));
        let node = Node {
            size: 0.2,
            own: 0.0,
            apart: Apart { all: 0.3, slopes: 0.0, each: 0.1 },
            noise: 0.0,
        };
        let found = Kernels::between(&of, &sites, &sites).of(&node);
        let near = kernel(sites[1].mapping, sites[2].mapping, LENGTH);
        approx::assert_relative_eq!(found[(1, 1)], 0.04 + 0.09 + 0.01, max_relative = 1e-12);
        approx::assert_relative_eq!(found[(0, 1)], 0.04 + 0.5 * 0.1, max_relative = 1e-12);
        approx::assert_relative_eq!(found[(1, 2)], 0.05 * near + 0.09, max_relative = 1e-12);
        let alone = Kernels::between(&Levels::none(), &sites[..1], &sites[..1]).of(&node);
        approx::assert_relative_eq!(alone[(0, 0)], 0.04, max_relative = 1e-12);
    }
}
