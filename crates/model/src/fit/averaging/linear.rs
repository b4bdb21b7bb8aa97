//! A shape with its fit as a linear problem in its unknowns and in a random walk beside it.

use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

use super::super::bounds;
use super::super::estimate::Data;
use super::super::least_squares::Residuals;
use super::super::likelihood::Likelihood;
use super::super::shape::Shape;
use super::super::unknowns::{Kind, Unknowns};
use crate::model::Parameters;
use crate::model::parameters::OverM;
use crate::model::sensitivity::Entry;
use mmgp_base::Mapping;

/// A shape with its fit as a linear problem: in its unknowns, and in the sines of a walk.
pub(super) struct Linear {
    /// Derivatives of the logarithms of the times, a row for each point, then of what files say,
    /// in their standard errors.
    pub slopes: DMatrix<f64>,
    /// What the fit misses these by, measured less predicted.
    pub missed: DVector<f64>,
    /// What is asked for: entries and, in place of alpha, the growth; and its derivatives.
    pub values: DVector<f64>,
    pub derivatives: DMatrix<f64>,
    /// How many unknowns the fit has; sines follow.
    pub unknowns: usize,
}

/// How far all rows scatter.
pub(super) struct Scatter {
    /// Of each row, in a unit that is common to all.
    pub variances: Vec<f64>,
    /// Squares of the repetitions in that unit, and their degrees of freedom.
    pub repetitions: (f64, f64),
}

/// The likeliest unknowns and sines of a component.
pub(super) struct Solved {
    /// The logarithm of the likelihood of the runs, but for a constant.
    pub log_evidence: f64,
    /// Of the inverse of their covariance, in the unit of the variances.
    pub factor: Cholesky<f64, Dyn>,
    /// From the fit of the shape to them.
    pub step: DVector<f64>,
    /// The unit of the variances.
    pub variance: f64,
}

/// The mean variance of the least walk, in that of the noise: one that no run shows.
const LEAST: f64 = 0.1;

/// From one size of the walk to the next, its variance grows by so much.
const STEP: f64 = 10.0;

/// Sines of the walk (Karhunen and Loeve): they have 99 % of its variance.
const SINES: usize = 16;

/// How a shape with one number grows; `None` of others.
pub(super) fn w(shape: Shape) -> Option<fn(u32) -> f64> {
    match shape {
        Shape::Linear => Some(|m| f64::from(m) - 1.0),
        Shape::Constant => Some(|m| if m > 1 { 1.0 } else { 0.0 }),
        Shape::Logarithmic => Some(|m| f64::from(m).log2()),
        Shape::Curve | Shape::Table => None,
    }
}

/// What is asked of every shape in place of an entry.
pub(super) struct Asked {
    entry: Entry,
    /// For alpha: the m whose growth is asked for.
    m: Option<u32>,
    pub least: f64,
}

impl Asked {
    pub fn of(entry: Entry, at: &Parameters, last: u32) -> Self {
        let m = match (entry, &at.terms.alpha) {
            (Entry::Alpha(index), OverM::Table(table)) => Some(table.m[index]),
            (Entry::Alpha(_), OverM::Constant(_)) => Some(last),
            _ => None,
        };
        // The growth is that of a slowdown of 1 or more.
        let least = if m.is_some() { 0.0 } else { bounds::least(entry) };
        Self { entry, m, least }
    }

    pub fn value(&self, at: &Parameters) -> f64 {
        let value = at.terms.estimate(self.entry).map_or(0.0, |estimate| estimate.value);
        match self.m {
            Some(_) => (value - 1.0) * at.terms.t_hpu_s.value,
            None => value,
        }
    }
}

/// Entries by what is asked for: `alpha = 1 + growth/T_HPU`, all others are themselves.
pub(super) fn to_entries(asked: &[Asked], at: &Parameters) -> DMatrix<f64> {
    let t_hpu = at.terms.t_hpu_s.value;
    DMatrix::from_fn(asked.len(), asked.len(), |row, column| {
        match (asked[row].m, asked[column].entry) {
            (None, _) => f64::from(u8::from(row == column)),
            (Some(_), _) if row == column => 1.0 / t_hpu,
            (Some(_), Entry::HpuTime) => -asked[row].value(at) / t_hpu.powi(2),
            _ => 0.0,
        }
    })
}

/// The sines of the walk at this m, with the roots of their variances:
/// `B(u) = sum over j of sqrt(2)*sin(k_j*u)/k_j * z_j`, `k_j = (j - 1/2)*pi`, u from 0 at m = 1 to 1
/// at the last.
fn sines(m: u32, last: u32) -> impl Iterator<Item = f64> {
    let u = f64::from(m).ln() / f64::from(last).ln();
    (0..SINES).map(move |j| {
        let k = (j as f64 + 0.5) * std::f64::consts::PI;
        2.0_f64.sqrt() * (k * u).sin() / k
    })
}

impl Linear {
    pub fn of(
        w: fn(u32) -> f64,
        (unknowns, x): (&Unknowns, &DVector<f64>),
        data: &Data,
        asked: &[Asked],
        last: u32,
    ) -> Self {
        let points = &data.points;
        let ones = vec![1.0; points.len()];
        let likelihood = Likelihood { unknowns, points, variances: &ones };
        let count = unknowns.list.len();
        let mut slopes = likelihood.jacobian(x).resize_horizontally(count + SINES, 0.0);
        let parameters = unknowns.parameters(x.as_slice());
        let (entries, of_entries) = unknowns.entries(x.as_slice());
        for (row, point) in points.iter().enumerate() {
            let mapping = Mapping::of(point.m, point.p);
            let of_alpha = parameters.gradient(mapping).into_iter();
            let of_alpha = of_alpha.filter(|(entry, _)| matches!(entry, Entry::Alpha(_)));
            // What a second of growth is of the time.
            let of_growth = of_alpha.map(|(_, slope)| slope).sum::<f64>()
                / (parameters.terms.t_hpu_s.value * parameters.time(mapping).0);
            for (column, sine) in sines(point.m, last).enumerate() {
                slopes[(row, count + column)] = of_growth * sine;
            }
        }
        let mut derivatives = DMatrix::zeros(asked.len(), count + SINES);
        let mut values = DVector::zeros(asked.len());
        let is_growth = |index: &usize| matches!(unknowns.list[*index].kind, Kind::Growth(_));
        let grows = (0..count).find(is_growth);
        for (row, asked) in asked.iter().enumerate() {
            if let Some(m) = asked.m {
                for (column, sine) in sines(m, last).enumerate() {
                    derivatives[(row, count + column)] = sine;
                }
                if let Some(column) = grows {
                    derivatives[(row, column)] = w(m);
                    values[row] = x[column] * w(m);
                }
                continue;
            }
            values[row] = asked.value(&parameters);
            if let Some(known) = entries.iter().position(|entry| *entry == asked.entry) {
                derivatives.view_mut((row, 0), (1, count)).copy_from(&of_entries.row(known));
            }
        }
        // In this unit, every shape adds as much at the last m, and is as likely beforehand.
        if let Some(column) = grows {
            slopes.column_mut(column).unscale_mut(w(last));
            derivatives.column_mut(column).unscale_mut(w(last));
        }
        let missed = -likelihood.residuals(x);
        Self { slopes, missed, values, derivatives, unknowns: count }
    }

    /// Derivatives by the unknowns, and by the sines of a walk of that size.
    pub fn with_walk_of(&self, size: f64, derivatives: &DMatrix<f64>) -> DMatrix<f64> {
        if size == 0.0 {
            return derivatives.columns(0, self.unknowns).into_owned();
        }
        let mut derivatives = derivatives.clone();
        derivatives.columns_mut(self.unknowns, SINES).scale_mut(size);
        derivatives
    }

    /// The sizes of walks, up to one that changes times by all of themselves.
    pub fn sizes(&self, scatter: &Scatter, points: usize) -> Vec<f64> {
        let of_walk = self.slopes.columns(self.unknowns, SINES);
        let squares = |row: usize| of_walk.row(row).norm_squared();
        let mean = |of: &dyn Fn(usize) -> f64| (0..points).map(of).sum::<f64>() / points as f64;
        let in_noise = mean(&|row| squares(row) / scatter.variances[row]);
        let in_times = mean(&squares);
        let mut variance = LEAST / in_noise;
        let mut sizes = vec![variance.sqrt()];
        while variance * STEP * in_times < 1.0 {
            variance *= STEP;
            sizes.push(variance.sqrt());
        }
        sizes
    }

    /// The weighted rows as few that say the same: the triangle of their orthogonal decomposition,
    /// what they miss in its last column.
    pub fn reduced(&self, scatter: &Scatter) -> DMatrix<f64> {
        let mut rows = self.slopes.clone().insert_column(self.slopes.ncols(), 0.0);
        rows.column_mut(self.slopes.ncols()).copy_from(&self.missed);
        for (mut row, variance) in rows.row_iter_mut().zip(&scatter.variances) {
            row.unscale_mut(variance.sqrt());
        }
        rows.qr().r()
    }

    /// The likelihood of the runs with a walk of that size, the unknowns and the unit of the
    /// variances integrated over; `None` where they are not determined.
    pub fn solved(&self, reduced: &DMatrix<f64>, size: f64, scatter: &Scatter) -> Option<Solved> {
        let slopes = self.with_walk_of(size, &reduced.columns(0, self.slopes.ncols()).into_owned());
        let missed = reduced.column(self.slopes.ncols());
        let mut normal = slopes.transpose() * &slopes;
        for sine in self.unknowns..normal.nrows() {
            normal[(sine, sine)] += 1.0;
        }
        let factor = normal.cholesky()?;
        let step = factor.solve(&(slopes.transpose() * missed));
        let left = (missed - slopes * &step).norm_squared();
        let sines = step.rows(self.unknowns, step.len() - self.unknowns).norm_squared();
        let (repeated, repetitions) = scatter.repetitions;
        let freedom = (scatter.variances.len() - self.unknowns) as f64 + repetitions;
        let squares = (left + sines + repeated).max(f64::MIN_POSITIVE);
        let log_root: f64 = factor.l_dirty().diagonal().iter().map(|pivot| pivot.ln()).sum();
        let log_evidence = -log_root - 0.5 * freedom * squares.ln();
        Some(Solved { log_evidence, factor, step, variance: squares / freedom })
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::likelihood::Point;
    use super::super::super::noise::Repetitions;
    use super::super::super::trials::truth;
    use super::super::super::unknowns::Unknown;
    use super::*;
    use crate::model::parameters::{Decomposition, Estimate, Interpolation, Table};
    use crate::model::terms::Term;

    #[test]
    fn the_sines_make_up_a_random_walk_over_the_logarithm_of_m() {
        // min(ln m, ln n)/ln 16; of the variance of a walk that ends there, 16 sines leave out 1.3 %.
        for (m, n, expected) in [(16, 16, 1.0), (4, 16, 0.5), (2, 4, 0.25), (1, 7, 0.0)] {
            let covariance: f64 = sines(m, 16).zip(sines(n, 16)).map(|(a, b)| a * b).sum();
            approx::assert_abs_diff_eq!(covariance, expected, epsilon = 0.015);
        }
    }

    /// Ten rows of two unknowns and the sines of m = 1, 2, 3 and so on.
    fn linear() -> (Linear, Scatter) {
        let last = 10;
        let slope = |row: usize, column: usize| match column {
            0 => 1.0,
            1 => (row as f64).sin(),
            column => 0.1 * sines(row as u32 + 1, last).nth(column - 2).unwrap(),
        };
        let linear = Linear {
            slopes: DMatrix::from_fn(10, 2 + SINES, slope),
            missed: DVector::from_fn(10, |row, _| 0.01 * ((row * row) as f64).cos()),
            values: DVector::zeros(0),
            derivatives: DMatrix::zeros(0, 2 + SINES),
            unknowns: 2,
        };
        let variances = (0..10).map(|row| 1e-4 / f64::from(row % 3 + 1)).collect();
        (linear, Scatter { variances, repetitions: (3.0, 5.0) })
    }

    #[test]
    fn the_likelihood_is_that_of_a_covariance_over_all_runs() {
        let (linear, scatter) = linear();
        let reduced = linear.reduced(&scatter);
        let x = linear.slopes.columns(0, 2).into_owned();
        // V = noise + size^2*Z*Z'; -(ln|V| + ln|X'*V^-1*X| + (n - 2 + 5)*ln(r'*V^-1*r + 3))/2.
        let direct = |size: f64| {
            let z = linear.slopes.columns(2, SINES) * size;
            let noise = DMatrix::from_diagonal(&DVector::from_vec(scatter.variances.clone()));
            let inverse = (&noise + &z * z.transpose()).try_inverse().unwrap();
            let information = x.transpose() * &inverse * &x;
            let unknowns = information.clone().try_inverse().unwrap()
                * (x.transpose() * &inverse * &linear.missed);
            let left = &linear.missed - &x * &unknowns;
            let squares = (left.transpose() * &inverse * &left)[(0, 0)] + 3.0;
            let logs = -inverse.determinant().ln() + information.determinant().ln();
            (-0.5 * (logs + 13.0 * squares.ln()), unknowns, squares / 13.0)
        };
        let solved = |size: f64| linear.solved(&reduced, size, &scatter).unwrap();
        for size in [0.03, 0.5, 20.0] {
            let (found, expected) = (solved(size), direct(size));
            let gain = found.log_evidence - solved(0.0).log_evidence;
            approx::assert_relative_eq!(gain, expected.0 - direct(0.0).0, max_relative = 1e-8);
            approx::assert_relative_eq!(found.variance, expected.2, max_relative = 1e-8);
            for index in 0..2 {
                approx::assert_relative_eq!(
                    found.step[index],
                    expected.1[index],
                    max_relative = 1e-6
                );
            }
        }
    }

    #[test]
    fn walks_go_from_what_noise_hides_to_whole_times() {
        let (linear, scatter) = linear();
        let sizes = linear.sizes(&scatter, 10);
        let of_walk = linear.slopes.columns(2, SINES);
        let mean = |size: f64, in_noise: bool| {
            let of = |row: usize| {
                let unit = if in_noise { scatter.variances[row] } else { 1.0 };
                (of_walk.row(row) * size).norm_squared() / unit
            };
            (0..10).map(of).sum::<f64>() / 10.0
        };
        approx::assert_relative_eq!(mean(sizes[0], true), 0.1, max_relative = 1e-12);
        assert!((0.1..1.0).contains(&mean(sizes[sizes.len() - 1], false)));
        assert!(sizes.windows(2).all(|pair| (pair[1] / pair[0] - 10.0_f64.sqrt()).abs() < 1e-12));
    }

    #[test]
    fn shapes_with_one_number_grow_from_nothing_at_one_thread() {
        let grown = |shape| w(shape).map(|w| [1, 2, 8].map(w));
        assert_eq!(grown(Shape::Linear), Some([0.0, 1.0, 7.0]));
        assert_eq!(grown(Shape::Constant), Some([0.0, 1.0, 1.0]));
        assert_eq!(grown(Shape::Logarithmic), Some([0.0, 1.0, 3.0]));
        assert_eq!([Shape::Curve, Shape::Table].map(grown), [None, None]);
    }

    /// T = alpha*8 + 120/(m*p) s, where each further thread adds 0.8 s up to m = 4.
    fn growing() -> (Unknowns, DVector<f64>) {
        let terms = [8.0, 120.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        let mut base = truth(Decomposition::Data, 0.0, terms);
        base.terms.alpha = OverM::Table(Table {
            interpolation: Interpolation::Line,
            ..Table::new(vec![1, 4], vec![Estimate::exact(1.0); 2])
        });
        let unknown = |kind| Unknown { term: Term::HpuTime, kind, prior: None, lower: 0.0 };
        let kinds = [Kind::Growth(vec![0.0, 3.0]), Kind::Entry(Entry::HpuTime)];
        (Unknowns::new(&base, kinds.map(unknown).into()), DVector::from_vec(vec![0.8, 8.0]))
    }

    #[test]
    fn in_place_of_alpha_its_growth_is_asked_for() {
        let (unknowns, x) = growing();
        let mut at = unknowns.parameters(x.as_slice());
        let asked = [Entry::Alpha(1), Entry::HpuTime].map(|entry| Asked::of(entry, &at, 16));
        assert_eq!(asked.each_ref().map(|it| (it.m, it.least)), [(Some(4), 0.0), (None, 0.0)]);
        for (asked, expected) in asked.iter().zip([2.4, 8.0]) {
            approx::assert_relative_eq!(asked.value(&at), expected, max_relative = 1e-12);
        }
        // alpha = 1 + growth/T_HPU: 1/8 by the growth, -2.4/8^2 by T_HPU.
        let expected = DMatrix::from_row_slice(2, 2, &[0.125, -0.0375, 0.0, 1.0]);
        approx::assert_relative_eq!(to_entries(&asked, &at), expected, max_relative = 1e-12);
        let others = [Entry::Alpha(0), Entry::Alpha(1)].map(|entry| Asked::of(entry, &at, 16));
        let apart = DMatrix::from_diagonal_element(2, 2, 0.125);
        approx::assert_relative_eq!(to_entries(&others, &at), apart, max_relative = 1e-12);
        // One number for all m is asked for at the last.
        at.terms.alpha = OverM::Constant(Estimate::exact(1.5));
        let constant = Asked::of(Entry::Alpha(0), &at, 16);
        assert_eq!((constant.m, constant.value(&at)), (Some(16), 4.0));
    }

    #[test]
    fn a_shape_and_its_walk_move_the_logarithms_of_times_as_seconds_of_growth_do() {
        let (unknowns, x) = growing();
        let times = [(1, 1, 128.0), (2, 1, 68.8), (4, 2, 25.4_f64)];
        let point = |(m, p, time): (u32, u32, f64)| Point {
            m,
            p,
            log_time: time.ln() + 0.01 * f64::from(m),
            count: 1.0,
        };
        let repetitions = Repetitions { squares: 0.0, degrees_of_freedom: 0.0 };
        let data = Data { points: times.map(point).into(), repetitions };
        let at = unknowns.parameters(x.as_slice());
        let asked = [Entry::Alpha(1), Entry::HpuTime, Entry::ApuTime];
        let asked = asked.map(|entry| Asked::of(entry, &at, 4));
        let linear = Linear::of(w(Shape::Linear).unwrap(), (&unknowns, &x), &data, &asked, 4);
        let close = |found: f64, expected: f64| {
            approx::assert_relative_eq!(found, expected, max_relative = 1e-10, epsilon = 1e-15);
        };
        for (row, (m, _, time)) in times.into_iter().enumerate() {
            close(linear.missed[row], 0.01 * f64::from(m));
            // A third of what the line adds at m = 4 for each thread, a second of T_HPU for each.
            close(linear.slopes[(row, 0)], (f64::from(m) - 1.0) / 3.0 / time);
            close(linear.slopes[(row, 1)], 1.0 / time);
            for (column, sine) in sines(m, 4).enumerate() {
                close(linear.slopes[(row, 2 + column)], sine / time);
            }
        }
        for (row, (value, by_growth, by_host)) in
            [(2.4, 1.0, 0.0), (8.0, 0.0, 1.0), (120.0, 0.0, 0.0)].into_iter().enumerate()
        {
            close(linear.values[row], value);
            close(linear.derivatives[(row, 0)], by_growth);
            close(linear.derivatives[(row, 1)], by_host);
            for (column, sine) in sines(4, 4).enumerate() {
                let expected = if row == 0 { sine } else { 0.0 };
                close(linear.derivatives[(row, 2 + column)], expected);
            }
        }
    }
}
