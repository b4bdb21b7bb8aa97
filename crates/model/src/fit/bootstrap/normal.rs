//! The normal equations of a small problem within bounds, in room that is used again.

use crate::fit::least_squares::dot;

/// `minimise 1/2*z'*H*z + g'*z` with the columns of the Jacobian at length 1; z is a step in units
/// of their lengths.
pub(super) struct Normal {
    unknowns: usize,
    /// Length of each column; 1 for an empty one.
    pub norms: Vec<f64>,
    /// J'*J, both triangles.
    matrix: Vec<f64>,
    slopes: Vec<f64>,
    triangle: Vec<f64>,
    pub z: Vec<f64>,
    goal: Vec<f64>,
    held: Vec<bool>,
}

/// Keeps the matrix of unknowns that the data cannot tell apart from being singular.
const RIDGE: f64 = 1e-13;

impl Normal {
    pub fn new(unknowns: usize) -> Self {
        Self {
            unknowns,
            norms: vec![1.0; unknowns],
            matrix: vec![0.0; unknowns * unknowns],
            slopes: vec![0.0; unknowns],
            triangle: vec![0.0; unknowns * unknowns],
            z: vec![0.0; unknowns],
            goal: vec![0.0; unknowns],
            held: vec![false; unknowns],
        }
    }

    /// Takes a Jacobian, column by column, and its residuals.
    pub fn set(&mut self, jacobian: &[f64], residuals: &[f64]) {
        let (rows, unknowns) = (residuals.len(), self.unknowns);
        let column = |index: usize| &jacobian[index * rows..(index + 1) * rows];
        for i in 0..unknowns {
            for j in 0..=i {
                self.matrix[i * unknowns + j] = dot(column(i), column(j));
            }
            let length = self.matrix[i * unknowns + i].sqrt();
            self.norms[i] = if length > 0.0 { length } else { 1.0 };
            self.slopes[i] = dot(column(i), residuals) / self.norms[i];
        }
        for i in 0..unknowns {
            for j in 0..=i {
                let cosine = self.matrix[i * unknowns + j] / (self.norms[i] * self.norms[j]);
                self.matrix[i * unknowns + j] = cosine;
                self.matrix[j * unknowns + i] = cosine;
            }
            self.matrix[i * unknowns + i] += RIDGE;
        }
    }

    /// The step within `low <= z <= high`, which hold 0, by the active set of
    /// `least_squares/step.rs`; answers whether there is one.
    pub fn solve(&mut self, low: &[f64], high: &[f64]) -> bool {
        let unknowns = self.unknowns;
        self.z.fill(0.0);
        for index in 0..unknowns {
            let slope = self.slopes[index];
            self.held[index] =
                (low[index] >= 0.0 && slope >= 0.0) || (high[index] <= 0.0 && slope <= 0.0);
        }
        for _ in 0..4 * unknowns + 16 {
            if !self.solve_free() {
                return false;
            }
            if let Some(index) = self.advance(low, high) {
                self.held[index] = true;
                continue;
            }
            let gain = |index: usize| {
                let row = &self.matrix[index * unknowns..(index + 1) * unknowns];
                let slope = self.slopes[index] + dot(row, &self.z);
                if low[index] >= high[index] {
                    0.0
                } else if self.z[index] <= low[index] {
                    -slope
                } else {
                    slope
                }
            };
            let release = (0..unknowns)
                .filter(|&index| self.held[index] && gain(index) > 1e-9)
                .max_by(|&one, &other| gain(one).total_cmp(&gain(other)));
            match release {
                Some(index) => self.held[index] = false,
                None => return self.z.iter().all(|z| z.is_finite()),
            }
        }
        false
    }

    /// Moves z towards the goal as far as the bounds allow; answers which component met one.
    fn advance(&mut self, low: &[f64], high: &[f64]) -> Option<usize> {
        let (mut length, mut first) = (1.0, None);
        for index in 0..self.unknowns {
            let (goal, z) = (self.goal[index], self.z[index]);
            let bound = if goal < low[index] {
                low[index]
            } else if goal > high[index] {
                high[index]
            } else {
                continue;
            };
            let reach = (bound - z) / (goal - z);
            if reach < length || first.is_none() {
                (length, first) = (reach.min(length), Some((index, bound)));
            }
        }
        for (z, goal) in self.z.iter_mut().zip(&self.goal) {
            *z += length * (goal - *z);
        }
        let (index, bound) = first?;
        self.z[index] = bound;
        Some(index)
    }

    /// The minimum over the components that are not held, in `goal`; held ones stay.
    fn solve_free(&mut self) -> bool {
        let unknowns = self.unknowns;
        self.goal.copy_from_slice(&self.z);
        // A held component has a row of the unit matrix, so that the triangle keeps its shape.
        for i in 0..unknowns {
            let mut right = -self.slopes[i];
            for j in 0..unknowns {
                if self.held[j] {
                    right -= self.matrix[i * unknowns + j] * self.z[j];
                }
            }
            if !self.held[i] {
                self.goal[i] = right;
            }
        }
        if !self.factor() {
            return false;
        }
        self.substitute();
        true
    }

    /// Cholesky's factor of the free rows and columns.
    fn factor(&mut self) -> bool {
        let unknowns = self.unknowns;
        for i in 0..unknowns {
            for j in 0..=i {
                let free = !(self.held[i] || self.held[j]);
                let mut sum = if free { self.matrix[i * unknowns + j] } else { 0.0 };
                for k in 0..j {
                    sum -= self.triangle[i * unknowns + k] * self.triangle[j * unknowns + k];
                }
                if i == j {
                    let pivot = if self.held[i] { 1.0 } else { sum };
                    if pivot.is_nan() || pivot <= 0.0 {
                        return false;
                    }
                    self.triangle[i * unknowns + i] = pivot.sqrt();
                } else {
                    self.triangle[i * unknowns + j] = sum / self.triangle[j * unknowns + j];
                }
            }
        }
        true
    }

    /// Solves for the free components of `goal`: the triangle mixes no held one with another.
    fn substitute(&mut self) {
        let unknowns = self.unknowns;
        for i in 0..unknowns {
            for j in 0..i {
                self.goal[i] -= self.triangle[i * unknowns + j] * self.goal[j];
            }
            self.goal[i] /= self.triangle[i * unknowns + i];
        }
        for i in (0..unknowns).rev() {
            for j in i + 1..unknowns {
                self.goal[i] -= self.triangle[j * unknowns + i] * self.goal[j];
            }
            self.goal[i] /= self.triangle[i * unknowns + i];
        }
    }

    /// `-H^-1*slopes` in the units of the unknowns, for slopes in theirs and the free components
    /// of the last step.
    pub fn respond(&mut self, slopes: &[f64], out: &mut [f64]) {
        self.z.fill(0.0);
        self.slopes.iter_mut().zip(slopes).zip(&self.norms).for_each(|((own, slope), norm)| {
            *own = slope / norm;
        });
        if self.solve_free() {
            for (index, out) in out.iter_mut().enumerate() {
                *out = self.goal[index] / self.norms[index];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::least_squares::step_problem;

    #[test]
    fn a_step_is_the_best_of_all_ways_to_hold_unknowns() {
        for seed in 0..500 {
            let (a, r, [low, high], expected) = step_problem(seed);
            let mut normal = Normal::new(4);
            normal.set(a.as_slice(), r.as_slice());
            let norms = normal.norms.clone();
            let in_units = |bounds: [f64; 4]| {
                bounds.iter().zip(&norms).map(|(bound, norm)| bound * norm).collect::<Vec<f64>>()
            };
            let (low, high) = (in_units(low), in_units(high));
            assert!(normal.solve(&low, &high));
            for index in 0..4 {
                let found = normal.z[index] / norms[index];
                approx::assert_abs_diff_eq!(found, expected[index], epsilon = 1e-7);
                // What a bound holds lies exactly on it.
                let z = normal.z[index];
                assert!(!normal.held[index] || z == low[index] || z == high[index]);
            }
        }
    }

    #[test]
    fn columns_are_taken_at_length_1() {
        let mut normal = Normal::new(3);
        normal.set(&[3.0, 4.0, 0.0, 2.0, 0.0, 0.0], &[1.0, 1.0]);
        assert_eq!(normal.norms, [5.0, 2.0, 1.0]);
        // The cosine of (3, 4) and (0, 1).
        approx::assert_relative_eq!(normal.matrix[1], 0.8, max_relative = 1e-12);
        assert_eq!(normal.matrix[1], normal.matrix[3]);
        for (index, expected) in [1.0 + RIDGE, 1.0 + RIDGE, RIDGE].into_iter().enumerate() {
            assert_eq!(normal.matrix[4 * index], expected);
        }
    }

    #[test]
    fn unknowns_that_the_data_cannot_tell_apart_have_a_step() {
        let mut normal = Normal::new(2);
        normal.set(&[0.6, 0.8, 0.6, 0.8], &[-0.6, -0.8]);
        assert!(normal.solve(&[-9.0; 2], &[9.0; 2]));
        approx::assert_abs_diff_eq!(normal.z[0] + normal.z[1], 1.0, epsilon = 1e-2);
    }

    #[test]
    fn a_step_ends_at_the_first_bound_on_its_way() {
        let check = |goal: [f64; 3], end: [f64; 3], first: Option<usize>| {
            let mut normal = Normal::new(3);
            normal.z = vec![0.5, 0.0, 0.0];
            normal.goal = goal.to_vec();
            assert_eq!(normal.advance(&[-1.0; 3], &[1.0; 3]), first);
            assert_eq!(normal.z, end);
        };
        check([0.75, -0.5, 0.25], [0.75, -0.5, 0.25], None);
        // Half of the way to 1.5, a quarter of that to -4, all of that to 1.
        check([1.5, -4.0, 1.0], [0.75, -1.0, 0.25], Some(1));
        check([1.5, -1.0, 0.5], [1.0, -0.5, 0.25], Some(0));
        check([0.5, -1.25, 2.0], [0.5, -0.625, 1.0], Some(2));
    }
}
