//! The angles of an octant and their weights.

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
    /// Its weight; those of all eight octants are 1 together, or .99999999 for S6.
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
