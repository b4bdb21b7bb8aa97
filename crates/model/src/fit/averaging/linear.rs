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
mod tests;
