//! Octants, and the directions in them.

use crate::quadrature::Angle;
use crate::{I, J, K, MOMENTS};

/// Which way a sweep goes along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// From the high face to the low one.
    Minus,
    /// From the low face to the high one.
    Plus,
}

impl Sign {
    /// -1 or 1.
    pub fn factor(self) -> f64 {
        match self {
            Self::Minus => -1.0,
            Self::Plus => 1.0,
        }
    }

    /// The other one.
    #[must_use]
    pub fn flipped(self) -> Self {
        match self {
            Self::Minus => Self::Plus,
            Self::Plus => Self::Minus,
        }
    }

    /// The number of the `visited`-th of `count` things along the axis, in the order of the sweep.
    pub fn nth(self, visited: usize, count: usize) -> usize {
        match self {
            Self::Minus => count - 1 - visited,
            Self::Plus => visited,
        }
    }
}

/// One of the eight octants of directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Octant {
    /// The way along each axis.
    pub signs: [Sign; 3],
}

impl Octant {
    /// How many there are.
    pub const COUNT: usize = 8;

    /// All, in the order of the sweep: signs of i, j and k, that of k changing fastest.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..Self::COUNT).map(|index| {
            let sign = |bit: usize| if index & bit == 0 { Sign::Minus } else { Sign::Plus };
            Self { signs: [sign(4), sign(2), sign(1)] }
        })
    }

    /// Its number in the order of the sweep, from 0.
    pub fn index(self) -> usize {
        self.signs.iter().fold(0, |index, &sign| 2 * index + usize::from(sign == Sign::Plus))
    }

    /// The octant with the other sign along `axis`.
    #[must_use]
    pub fn mirrored(mut self, axis: usize) -> Self {
        self.signs[axis] = self.signs[axis].flipped();
        self
    }

    /// The direction of `angle` in this octant, on cells so wide.
    pub fn direction(self, angle: &Angle, widths: [f64; 3]) -> Direction {
        let moment = |axis: usize| self.signs[axis].factor() * angle.cosines[axis];
        Direction {
            // c_x = 2 |cosine| / delta
            coefficients: [I, J, K].map(|axis| 2.0 * angle.cosines[axis] / widths[axis]),
            moments: [1.0, moment(I), moment(J), moment(K)],
            weight: angle.weight,
        }
    }
}

/// What the sweep of a cell needs to know of one direction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Direction {
    /// ci, cj and ck: twice the cosine over the width of a cell, all positive \[1/length\].
    pub coefficients: [f64; 3],
    /// pn: 1 and the signed cosines, by which moments make up a source along this direction.
    pub moments: [f64; MOMENTS],
    /// The weight of its angle.
    pub weight: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_octants_of_a_corner_follow_each_other() {
        let octants: Vec<Octant> = Octant::all().collect();
        for (index, octant) in octants.iter().enumerate() {
            assert_eq!(octant.index(), index);
            assert_eq!(octants[index ^ 1], octant.mirrored(K));
        }
        assert_eq!(octants[3].signs, [Sign::Minus, Sign::Plus, Sign::Plus]);
    }
}
