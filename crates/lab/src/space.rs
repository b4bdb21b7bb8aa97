//! What there is to choose: points of named dimensions.

use std::fmt;

use mmgp_base::Mapping;
use mmgp_model::decide::feasible;
use serde::{Deserialize, Serialize};

/// A whole number for each dimension of a [`Space`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Point(pub Vec<u32>);

impl Point {
    /// The processes and accelerators of a point of [`Space::mappings`].
    pub fn mapping(&self) -> Mapping {
        match self.0[..] {
            [m, p] => Mapping::of(m, p),
            _ => unreachable!("invariant: {self} is a point of (m, p)"),
        }
    }
}

impl From<Mapping> for Point {
    fn from(mapping: Mapping) -> Self {
        Self(vec![mapping.m(), mapping.p()])
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values: Vec<String> = self.0.iter().map(u32::to_string).collect();
        write!(f, "({})", values.join(", "))
    }
}

/// Names of dimensions, and the points of them that can run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Space {
    /// The names of the dimensions, as columns of files have them.
    pub dimensions: &'static [&'static str],
    /// The points.
    pub points: Vec<Point>,
}

impl Space {
    /// All (m, p) with m*p of at most so many accelerators, by m, then p.
    pub fn mappings(apus: u32) -> Self {
        Self { dimensions: &["m", "p"], points: feasible(apus).map(Point::from).collect() }
    }

    /// All points of these values that meet a condition; the last dimension varies fastest.
    pub fn of<const N: usize>(
        dimensions: &'static [&'static str; N],
        values: [&[u32]; N],
        condition: impl Fn([u32; N]) -> bool,
    ) -> Self {
        let mut all = vec![[0; N]];
        for (dimension, values) in values.iter().enumerate() {
            let with = |mut point: [u32; N]| {
                values.iter().map(move |&value| {
                    point[dimension] = value;
                    point
                })
            };
            all = all.into_iter().flat_map(with).collect();
        }
        let points = all.into_iter().filter(|&point| condition(point));
        Self { dimensions, points: points.map(|point| Point(point.to_vec())).collect() }
    }
}

/// 1, 2, 4 and so on up to `most`.
pub fn doublings(most: u32) -> Vec<u32> {
    let counts = std::iter::successors(Some(1_u32), |count| count.checked_mul(2));
    counts.take_while(|&count| count <= most).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mappings_are_a_space_like_any() {
        let counts = [1, 2, 3, 4, 5, 6];
        let plain = Space::of(&["m", "p"], [&counts, &counts], |[m, p]| m * p <= 6);
        assert_eq!(Space::mappings(6), plain);
        assert_eq!(plain.points[7].to_string(), "(2, 2)");
        assert_eq!(plain.points[7].mapping(), Mapping::of(2, 2));
    }
}
