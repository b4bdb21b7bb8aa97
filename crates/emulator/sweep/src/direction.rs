//! Octants, and the directions in them.

use crate::{I, J, K, MOMENTS};

/// Which way a sweep goes along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// Way from the high face to the low one.
    Minus,
    /// Way from the low face to the high one.
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

    /// Number in the order of the sweep, from 0.
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

/// The level-symmetric sets of angles, with the eight digits that the benchmark has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quadrature {
    /// Three angles an octant.
    S4,
    /// Six angles an octant.
    S6,
}

/// One angle of an octant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Angle {
    /// The cosines of the angles to the axes, mu, eta and xi, all positive.
    pub cosines: [f64; 3],
    /// Weight; those of all eight octants are 1 together, or .99999999 for S6.
    pub weight: f64,
}

impl Angle {
    /// What an outflow counts in what flows over a face across an axis: its cosine times the weight.
    pub fn current(&self, axis: usize) -> f64 {
        self.cosines[axis] * self.weight
    }
}

const S4: [f64; 2] = [0.301_638_78, 0.904_449_05];
const A: f64 = 0.230_091_94;
const B: f64 = 0.945_576_76;
const C: f64 = 0.688_134_32;
const S6: [([f64; 2], f64); 6] = [
    ([A, B], 0.169_446_56),
    ([C, C], 0.163_886_77),
    ([A, C], 0.163_886_77),
    ([B, A], 0.169_446_56),
    ([C, A], 0.163_886_77),
    ([A, A], 0.169_446_56),
];

impl Quadrature {
    /// The one with so many angles an octant: 3 or 6.
    pub fn with_angles(angles: usize) -> Option<Self> {
        match angles {
            3 => Some(Self::S4),
            6 => Some(Self::S6),
            _ => None,
        }
    }

    /// The angles of an octant, in the benchmark's order.
    pub fn angles(self) -> Vec<Angle> {
        let angle = |[mu, eta]: [f64; 2], weight: f64| Angle {
            // xi = sqrt(1 - mu^2 - eta^2)
            cosines: [mu, eta, (1.0 - mu * mu - eta * eta).sqrt()],
            weight,
        };
        match self {
            Self::S4 => {
                let [near, far] = S4;
                let pairs = [[near, far], [far, near], [near, near]];
                pairs.map(|pair| angle(pair, 1.0 / 24.0)).to_vec()
            }
            Self::S6 => S6.map(|(pair, weight)| angle(pair, weight / 8.0)).to_vec(),
        }
    }

    /// Angles of an octant.
    pub fn count(self) -> usize {
        match self {
            Self::S4 => 3,
            Self::S6 => 6,
        }
    }
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

    #[test]
    fn the_weights_are_one_together_and_the_cosines_of_length_one() {
        for (quadrature, sum) in [(Quadrature::S4, 1.0), (Quadrature::S6, 0.999_999_99)] {
            let angles = quadrature.angles();
            assert_eq!(angles.len(), quadrature.count());
            assert_eq!(Quadrature::with_angles(angles.len()), Some(quadrature));
            let weights: f64 = angles.iter().map(|angle| 8.0 * angle.weight).sum();
            assert!((weights - sum).abs() < 1e-15, "{weights}");
            for Angle { cosines, .. } in angles {
                let length: f64 = cosines.iter().map(|cosine| cosine * cosine).sum();
                assert!((length - 1.0).abs() < 1e-15);
                assert!(cosines.iter().all(|&cosine| cosine > 0.2));
            }
        }
        assert_eq!(Quadrature::with_angles(4), None);
    }
}
