//! The minimum of a function of one variable within bounds, by the method of Brent (Algorithms for
//! Minimization without Derivatives, 1973, chapter 5).
//!
//! It works by reverse communication, asking its caller for values: each takes calls of an engine,
//! which are asynchronous, so that a solver that calls a function (argmin's) cannot be used here.

/// (3 - sqrt 5) / 2, the golden section.
const GOLDEN: f64 = 0.381_966_011_250_105_1;

/// A point and the function there.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Point {
    x: f64,
    f: f64,
}

/// A search for a minimum under way.
#[derive(Debug, Clone, PartialEq)]
pub struct Brent {
    /// The minimum lies between.
    bounds: [f64; 2],
    tolerance: f64,
    /// The least, the second and the third least value so far.
    least: [Point; 3],
    /// The last step, and the one before or, after a step by the golden section, the part of the
    /// bounds that it cut.
    step: f64,
    before: f64,
}

impl Brent {
    /// Begins at `x`, where the function is `f`, within bounds around it, to end when the minimum
    /// is known to about `tolerance`.
    pub fn new(bounds: [f64; 2], (x, f): (f64, f64), tolerance: f64) -> Self {
        Self { bounds, tolerance, least: [Point { x, f }; 3], step: 0.0, before: 0.0 }
    }

    /// The place where the least value was found, and that value.
    pub fn least(&self) -> (f64, f64) {
        (self.least[0].x, self.least[0].f)
    }

    /// The place where the function is to be computed next; none at the end.
    pub fn next(&mut self) -> Option<f64> {
        let [a, b] = self.bounds;
        let (x, tolerance) = (self.least[0].x, self.tolerance);
        let middle = 0.5 * (a + b);
        if (x - middle).abs() <= 2.0 * tolerance - 0.5 * (b - a) {
            return None;
        }
        let before_last = std::mem::replace(&mut self.before, self.step);
        let parabolic = if before_last.abs() > tolerance { self.to_vertex() } else { None };
        self.step = match parabolic.filter(|step| step.abs() < (0.5 * before_last).abs()) {
            Some(step) => {
                let (left, right) = (x + step - a, b - (x + step));
                let near_bound = left < 2.0 * tolerance || right < 2.0 * tolerance;
                if near_bound { tolerance.copysign(middle - x) } else { step }
            }
            None => {
                self.before = if x < middle { b - x } else { a - x };
                GOLDEN * self.before
            }
        };
        let step = self.step;
        Some(x + if step.abs() >= tolerance { step } else { tolerance.copysign(step) })
    }

    /// Takes the value at the point that [`Brent::next`] gave.
    pub fn tell(&mut self, x: f64, f: f64) {
        let [least, second, third] = &mut self.least;
        let point = Point { x, f };
        let is_left = x < least.x;
        if f <= least.f {
            self.bounds[usize::from(is_left)] = least.x;
            (*third, *second, *least) = (*second, *least, point);
            return;
        }
        self.bounds[usize::from(!is_left)] = x;
        if f <= second.f || second.x == least.x {
            (*third, *second) = (*second, point);
        } else if f <= third.f || third.x == least.x || third.x == second.x {
            *third = point;
        }
    }

    /// The step from the least point to the vertex of the parabola through the three, if that lies
    /// within the bounds.
    fn to_vertex(&self) -> Option<f64> {
        let [least, second, third] = self.least;
        let r = (least.x - second.x) * (least.f - third.f);
        let q = (least.x - third.x) * (least.f - second.f);
        let p = (least.x - third.x) * q - (least.x - second.x) * r;
        // p / 2 (q - r), subtracted from the least point
        let step = -p / (2.0 * (q - r));
        let [a, b] = self.bounds;
        let is_inside = step > a - least.x && step < b - least.x;
        (step.is_finite() && is_inside).then_some(step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn minimum(bounds: [f64; 2], start: f64, f: impl Fn(f64) -> f64) -> (f64, u32) {
        let mut brent = Brent::new(bounds, (start, f(start)), 1e-7);
        let mut calls = 0;
        while let Some(x) = brent.next() {
            assert!(x >= bounds[0] && x <= bounds[1], "{x}");
            brent.tell(x, f(x));
            calls += 1;
            assert!(calls < 200, "it ends");
        }
        assert_eq!(brent.least().1, f(brent.least().0));
        (brent.least().0, calls)
    }

    #[test]
    fn minima_are_found_inside_and_at_the_bounds() {
        let (x, calls) = minimum([-3.0, 5.0], 4.0, |x| (x - 1.25).powi(2));
        assert!((x - 1.25).abs() < 1e-6, "{x}");
        assert!(calls < 10, "a parabola is seen to be one: {calls}");
        let (x, calls) = minimum([0.0, 4.0], 0.5, |x: f64| -(-(x - 2.5).powi(2)).exp());
        assert!((x - 2.5).abs() < 1e-6, "{x}");
        // Without parabolas: ln(4 / 1e-7) / -ln(1 - 0.382) = 36 steps.
        assert!(calls < 20, "{calls}");
        let (x, _) = minimum([1.0, 3.0], 2.0, |x| x);
        assert!((x - 1.0).abs() < 1e-6, "{x}");
        let (x, _) = minimum([1.0, 3.0], 2.0, |x| -x);
        assert!((x - 3.0).abs() < 1e-6, "{x}");
        let (x, _) = minimum([0.0, 3.0], 2.0, |x| (x - 1.0_f64).abs());
        assert!((x - 1.0).abs() < 1e-6, "{x}");
    }
}
