//! Which shape the points ask for, and the term in that shape.

use nalgebra::DMatrix;

use super::formula::Formula;
use super::{PointScale, Points, Spread};
use super::{Reason, Selection, Shape, ShapeChoice, Trial};
use crate::models::parameters::Estimate;
use crate::models::sensitivity::StandardError;
use crate::statistics::Mean;
use mmgp_base::error::{Error, Result};

/// What is asked of the points, and how to call it.
pub(crate) struct Question<'a> {
    /// The term's name, for reports.
    pub term: String,
    pub file: &'a str,
    pub selection: Selection,
    /// The largest m that the term will be asked for.
    pub last_m: u32,
}

/// A shape with its errors when one point is left out.
pub(crate) struct ShapeCandidate {
    pub shape: Shape,
    /// `None` of a table.
    pub formula: Option<Formula>,
    /// What its standard errors are taken from.
    pub spread: Option<Spread>,
    /// Relative error at each point above m = 1 when that is left out of the fit.
    left_out: Option<Vec<f64>>,
}

/// A misfit below this is rounding.
const NEGLIGIBLE: f64 = 1e-9;

/// The chosen candidate and how it was chosen.
///
/// The error to expect of a shape is averaged over the m up to the last that will be asked for.
/// At an m that was measured a table errs by that measurement's own standard error e, anywhere
/// else as it does when it has to do without a point; a formula errs about as much at both. So
/// with the part q of all m measured, the squares to compare are, at each point, `r^2` for a
/// formula that misses it by r when it is left out, and `q*2*e^2 + (1 - q)*r^2` for a table: one
/// e^2 is what the point itself errs, which r holds too.
///
/// The simplest shape is taken whose mean square is above the least by no more than chance
/// explains.
pub(crate) fn choose(
    points: &Points,
    question: &Question<'_>,
) -> Result<(ShapeCandidate, ShapeChoice)> {
    let mut candidates: Vec<ShapeCandidate> = shapes(points.scale)
        .iter()
        .filter_map(|&shape| ShapeCandidate::new(shape, points))
        .collect();
    let (chosen, reason) = match question.selection {
        Selection::Fixed(shape) => (fixed(shape, &candidates, points, question)?, Reason::Asked),
        Selection::CrossValidated => compared(&candidates, points, question.last_m),
    };
    let choice = ShapeChoice {
        term: question.term.clone(),
        tried: candidates.iter().map(|each| each.trial(points, question.file)).collect(),
        chosen: candidates[chosen].shape,
        reason,
    };
    Ok((candidates.swap_remove(chosen), choice))
}

/// The shapes of such a term, the simplest first.
fn shapes(scale: PointScale) -> &'static [Shape] {
    match scale {
        PointScale::RelativeToOne => &[Shape::Constant, Shape::Linear, Shape::Curve, Shape::Table],
        PointScale::Absolute => &[Shape::Constant, Shape::Linear, Shape::Logarithmic, Shape::Table],
    }
}

fn fixed(
    shape: Shape,
    candidates: &[ShapeCandidate],
    points: &Points,
    question: &Question<'_>,
) -> Result<usize> {
    let allowed = shapes(points.scale);
    if !allowed.contains(&shape) {
        let names: Vec<&str> = allowed.iter().map(|shape| shape.name()).collect();
        return Err(Error::out_of_range(
            if points.scale == PointScale::Absolute {
                "shape of o_col_s"
            } else {
                "shape of alpha"
            },
            shape.name(),
            names.join(", "),
        ));
    }
    candidates.iter().position(|candidate| candidate.shape == shape).ok_or_else(|| {
        let m: Vec<String> = points.m.iter().map(u32::to_string).collect();
        Error::too_little(
            question.file,
            format!("{} at m = {}, which no {shape} fits", question.term, m.join(", ")),
            "measure more m, or let the shape be a table",
        )
    })
}

fn compared(candidates: &[ShapeCandidate], points: &Points, last_m: u32) -> (usize, Reason) {
    let table = candidates.len() - 1;
    let noise = noise(points, &candidates[table]);
    let known = points.above_one().filter(|&index| points.m[index] <= last_m).count() as f64;
    let measured = (known / f64::from(last_m.max(2) - 1)).min(1.0);
    let squares = |candidate: &ShapeCandidate| -> Option<Vec<f64>> {
        let left_out = candidate.left_out.as_ref()?;
        let at = |(index, error): (usize, &f64)| match (&noise, candidate.shape) {
            (Some(noise), Shape::Table) => {
                measured * 2.0 * noise[index] + (1.0 - measured) * error * error
            }
            _ => error * error,
        };
        Some(left_out.iter().enumerate().map(at).collect())
    };
    let all: Vec<(usize, Vec<f64>)> = candidates
        .iter()
        .enumerate()
        .filter_map(|(index, candidate)| Some((index, squares(candidate)?)))
        .collect();
    let mean = |squares: &[f64]| squares.iter().sum::<f64>() / squares.len() as f64;
    let best = all.iter().min_by(|one, other| mean(&one.1).total_cmp(&mean(&other.1)));
    let Some((best, least)) = best.filter(|_| all.len() >= 2) else {
        return (table, Reason::TooFew);
    };
    let close = |(_, squares): &&(usize, Vec<f64>)| {
        mean(squares) - mean(least) <= by_chance(squares, least, noise.as_deref())
    };
    // Of formulas with as many parameters the better one, so the simplest is not always first.
    let simplest = all.iter().filter(close).min_by(|one, other| {
        let parameters = |index: usize| candidates[index].parameters();
        parameters(one.0).cmp(&parameters(other.0)).then(mean(&one.1).total_cmp(&mean(&other.1)))
    });
    match simplest {
        Some((simplest, _)) if simplest != best => (*simplest, Reason::Simplest),
        _ if *best == table => (table, Reason::FormulasMiss),
        _ => (*best, Reason::LeastError),
    }
}

/// Difference of two mean squares that does not tell which shape is the better: at a known noise two
/// standard errors of a mean square, a square of a normal error having sqrt(2) times its mean as its
/// standard deviation; else the standard error of the mean difference.
fn by_chance(squares: &[f64], least: &[f64], noise: Option<&[f64]>) -> f64 {
    let count = squares.len() as f64;
    let by_chance = match noise {
        Some(noise) => 2.0 * (2.0 / count).sqrt() * noise.iter().sum::<f64>() / count,
        None => {
            let differences = squares.iter().zip(least).map(|(one, other)| one - other);
            Mean::of(&differences.collect::<Vec<_>>()).std_error.unwrap_or(f64::INFINITY)
        }
    };
    by_chance.max(NEGLIGIBLE.powi(2))
}

/// The squared relative standard error of each point above m = 1, where it is known; that of the
/// repetitions rather than of the kinds, because what a kind is off by at all m alike says nothing
/// of the shape.
fn noise(points: &Points, table: &ShapeCandidate) -> Option<Vec<f64>> {
    let of = |spread: &Spread| -> Option<Vec<f64>> {
        points
            .above_one()
            .map(|index| {
                let error = points.error(spread, &points.unit(index))?;
                Some((error.value / points.values[index]).powi(2))
            })
            .collect()
    };
    of(&Spread::Repetitions).or_else(|| of(table.spread.as_ref()?))
}

impl ShapeCandidate {
    /// `None` where the points cannot tell the parameters of the shape.
    fn new(shape: Shape, points: &Points) -> Option<Self> {
        let formula = match shape {
            Shape::Table => None,
            _ => Some(Formula::fit(shape, points)?),
        };
        let left_out = |index| left_out(formula.as_ref(), points, index);
        let left_out: Option<Vec<f64>> = points.above_one().map(left_out).collect();
        let left_out = left_out.filter(|errors| errors.len() >= 2);
        let Some(formula) = formula else {
            let units: Vec<Vec<f64>> = points.above_one().map(|index| points.unit(index)).collect();
            let spread = points.own_spread(&units);
            return Some(Self { shape, formula: None, spread, left_out });
        };
        let gradients: Vec<Vec<f64>> =
            points.above_one().map(|index| formula.term(points.m[index]).1).collect();
        let spread = spread(&formula, points, &gradients);
        Some(Self { shape, formula: Some(formula), spread, left_out })
    }

    /// How many numbers it has to tell.
    fn parameters(&self) -> usize {
        self.formula.as_ref().map_or(usize::MAX, |formula| formula.parameters().len())
    }

    fn trial(&self, points: &Points, file: &str) -> Trial {
        let estimate = |value, gradient: &[f64]| {
            let error = self.spread.as_ref().and_then(|spread| points.error(spread, gradient));
            measured(value, error, file)
        };
        let parameters = self.formula.iter().flat_map(Formula::parameters);
        let mean_square = |errors: &Vec<f64>| {
            errors.iter().map(|error| error * error).sum::<f64>() / errors.len() as f64
        };
        Trial {
            shape: self.shape,
            parameters: parameters
                .map(|(name, value, gradient)| (name, estimate(value, &gradient)))
                .collect(),
            error: self.left_out.as_ref().map(|errors| mean_square(errors).sqrt()),
        }
    }

    /// The term at m, also below 0.
    pub fn term(&self, m: u32, points: &Points) -> f64 {
        match &self.formula {
            Some(formula) => formula.term(m).0,
            None => {
                let index = points.m.iter().position(|&known| known == m);
                points.values[index.expect("invariant: a table is asked for its own m")]
            }
        }
    }

    /// The term at each of `m`, and how the errors go together, row by row, where they do.
    pub fn tabulated(
        &self,
        m: &[u32],
        points: &Points,
        file: &str,
    ) -> (Vec<Estimate>, Option<DMatrix<f64>>) {
        let at = |&m: &u32| match &self.formula {
            Some(formula) => formula.term(m),
            None => {
                let index = points.m.iter().position(|&known| known == m);
                let index = index.expect("invariant: a table is asked for its own m");
                (points.values[index], points.unit(index))
            }
        };
        let entries: Vec<(f64, Vec<f64>)> = m.iter().map(at).collect();
        let error = |gradient: &[f64]| points.error(self.spread.as_ref()?, gradient);
        let estimates = entries
            .iter()
            .map(|(value, gradient)| measured(value.max(0.0), error(gradient), file))
            .collect();
        // What few kinds have in common at so many m, they have by chance.
        let together = match (&self.formula, &self.spread) {
            (None, Some(Spread::Kinds)) | (_, None) => None,
            (_, Some(spread)) => {
                let gradients = DMatrix::from_fn(entries.len(), points.m.len(), |row, column| {
                    entries[row].1[column]
                });
                points.covariance(spread, &gradients)
            }
        };
        (estimates, together)
    }
}

/// What the points show by themselves, unless the formula misses them by more than that: then
/// more repetitions would not mend it, and the misfit counts.
fn spread(formula: &Formula, points: &Points, gradients: &[Vec<f64>]) -> Option<Spread> {
    let own = points.own_spread(gradients);
    let Some(variance) = formula.misfit.filter(|misfit| *misfit > NEGLIGIBLE.powi(2)) else {
        return own;
    };
    let misfit = Spread::Misfit { variance, degrees_of_freedom: formula.degrees_of_freedom };
    let Some(own) = own else { return Some(misfit) };
    let errors = |spread: &Spread| -> Option<(f64, f64)> {
        let all: Option<Vec<StandardError>> =
            gradients.iter().map(|gradient| points.error(spread, gradient)).collect();
        let all = all?;
        let count = all.len() as f64;
        let total = all.iter().map(|error| error.value.powi(2)).sum();
        let scarcity =
            all.iter().map(|error| error.degrees_of_freedom.map_or(0.0, f64::recip)).sum::<f64>();
        Some((total, scarcity / count))
    };
    let ((missed, scarcity), (chance, of_chance)) = (errors(&misfit)?, errors(&own)?);
    let beyond_chance = 1.0 + 3.0 * (2.0 * (scarcity + of_chance)).sqrt();
    Some(if missed > chance * beyond_chance { misfit } else { own })
}

/// The relative error at a point that the fit does not know; `None` where the rest does not
/// determine the shape. Without a formula, that of a table.
fn left_out(formula: Option<&Formula>, points: &Points, index: usize) -> Option<f64> {
    let rest = points.without(index);
    let value = points.values[index];
    let m = points.m[index];
    let predicted = match formula {
        None => interpolated(&rest, m)?,
        Some(formula) => formula.refitted(&rest)?.level(m),
    };
    (value > 0.0).then(|| (predicted - value) / value)
}

/// Interpolates as a table of the model does: linear between its m, from nothing at m = 1 where it starts
/// later, and held beyond its last.
fn interpolated(points: &Points, m: u32) -> Option<f64> {
    let after = points.m.partition_point(|&known| known < m);
    let Some(&above) = points.m.get(after) else { return points.values.last().copied() };
    let (below, value) = match after.checked_sub(1) {
        Some(before) => (points.m[before], points.values[before]),
        None => (1, 0.0),
    };
    let position = f64::from(m - below) / f64::from(above - below);
    Some(value + (points.values[after] - value) * position)
}

fn measured(value: f64, error: Option<StandardError>, file: &str) -> Estimate {
    Estimate {
        value,
        std_error: error.map(|error| error.value),
        degrees_of_freedom: error.and_then(|error| error.degrees_of_freedom),
        source: Some(file.to_string()),
        combined_with: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::ErrorSource;
    use super::*;

    const FILE: &str = "alpha.csv";

    /// Times of 2 s at each m, uncertain by 10 %, as four repetitions each show.
    fn points(scale: PointScale, m: &[u32]) -> Points {
        let part = |index| ErrorSource {
            variance: Some(0.04),
            degrees_of_freedom: 16.0,
            loadings: vec![(index, 1.0)],
        };
        Points {
            scale,
            m: m.to_vec(),
            values: vec![2.0; m.len()],
            counts: vec![4.0; m.len()],
            parts: (0..m.len()).map(part).collect(),
            kinds: Vec::new(),
        }
    }

    /// A shape that errs so where a point is left out.
    fn candidate(shape: Shape, left_out: &[f64]) -> ShapeCandidate {
        let rising = Points { values: vec![1.0, 1.5, 2.1, 2.5], ..times(&[1, 2, 3, 4]) };
        let formula = (shape != Shape::Table).then(|| Formula::fit(shape, &rising).unwrap());
        ShapeCandidate { shape, formula, spread: None, left_out: Some(left_out.to_vec()) }
    }

    fn times(m: &[u32]) -> Points {
        points(PointScale::RelativeToOne, m)
    }

    /// What is taken of such squares of errors where 2 of 10 m were measured.
    fn check(candidates: &[(Shape, f64)], expected: (usize, Reason)) {
        let of = |&(shape, square): &(Shape, f64)| candidate(shape, &[f64::sqrt(square); 2]);
        let candidates: Vec<ShapeCandidate> = candidates.iter().map(of).collect();
        assert_eq!(compared(&candidates, &times(&[1, 2, 4]), 11), expected);
    }

    #[test]
    fn a_table_errs_by_its_noise_at_the_m_that_were_measured_and_by_interpolation_elsewhere() {
        // A fifth of 2*0.01 and four fifths of 0.09 are 0.076; chance explains two standard errors of the
        // mean of two squares, 2*0.01*sqrt(2/2) = 0.02.
        let table = (Shape::Table, 0.09);
        check(&[(Shape::Linear, 0.0955), table], (0, Reason::Simplest));
        check(&[(Shape::Linear, 0.0965), table], (1, Reason::FormulasMiss));
        check(&[(Shape::Linear, 0.0755), table], (0, Reason::LeastError));
        check(&[table], (0, Reason::TooFew));
    }

    #[test]
    fn of_formulas_that_chance_alone_parts_the_one_with_fewer_numbers_is_taken() {
        let table = (Shape::Table, 1.0);
        check(&[(Shape::Linear, 0.06), (Shape::Curve, 0.05), table], (0, Reason::Simplest));
        check(&[(Shape::Linear, 0.08), (Shape::Curve, 0.05), table], (1, Reason::LeastError));
        // A constant and a line have one number each.
        check(&[(Shape::Constant, 0.06), (Shape::Linear, 0.05), table], (1, Reason::LeastError));
    }

    #[test]
    fn chance_explains_two_standard_errors_of_a_mean_square_or_one_of_the_differences() {
        // A square of mean 0.03 has a standard deviation of 0.03*sqrt(2): 2*0.03*sqrt(2/8).
        let noise = [0.02, 0.04, 0.02, 0.04, 0.02, 0.04, 0.02, 0.04];
        let known = by_chance(&[1.0; 8], &[1.0; 8], Some(&noise));
        approx::assert_relative_eq!(known, 0.03, max_relative = 1e-12);
        // Differences of 2 and 3.
        assert_eq!(by_chance(&[3.0, 5.0], &[1.0, 2.0], None), 0.5);
    }

    #[test]
    fn the_noise_is_that_of_the_repetitions_or_else_of_what_the_table_knows() {
        let repeated = times(&[1, 2, 4]);
        let table = ShapeCandidate::new(Shape::Table, &repeated).unwrap();
        for square in noise(&repeated, &table).unwrap() {
            approx::assert_relative_eq!(square, 0.01, max_relative = 1e-12);
        }
        // Two kinds 0.3 above and below, over two of them: a standard error of 0.3.
        let kinds = [0.15, -0.15].map(|each| vec![None, Some(each), Some(each)]);
        let once = Points { parts: Vec::new(), kinds: kinds.to_vec(), ..repeated };
        let table = ShapeCandidate::new(Shape::Table, &once).unwrap();
        for square in noise(&once, &table).unwrap() {
            approx::assert_relative_eq!(square, 0.0225, max_relative = 1e-12);
        }
    }

    #[test]
    fn the_error_of_a_shape_is_the_root_of_the_mean_square_of_its_errors() {
        let trial = candidate(Shape::Table, &[0.3, -0.1]).trial(&times(&[1, 2, 4]), FILE);
        approx::assert_relative_eq!(trial.error.unwrap(), 0.05_f64.sqrt(), max_relative = 1e-12);
    }

    #[test]
    fn a_term_is_what_the_formula_says_or_the_table_holds() {
        let points = Points { values: vec![1.0, 3.0, 7.0], ..times(&[1, 2, 4]) };
        let term = |shape, m| ShapeCandidate::new(shape, &points).unwrap().term(m, &points);
        assert_eq!([1, 2, 4].map(|m| term(Shape::Table, m)), points.values[..]);
        // 1 + 2*(m - 1)
        approx::assert_relative_eq!(term(Shape::Linear, 6), 11.0, max_relative = 1e-9);
    }

    #[test]
    fn a_table_is_interpolated_from_nothing_at_one_and_held_beyond_its_last_m() {
        let values = vec![3.0, 5.0, 6.0];
        let table = Points { values, ..points(PointScale::Absolute, &[4, 8, 10]) };
        let found = [2, 5, 9, 20].map(|m| interpolated(&table, m));
        assert_eq!(found, [1.0, 3.5, 5.5, 6.0].map(Some));
    }

    #[test]
    fn nothing_errs_in_proportion_to_a_value_of_nothing() {
        let values = vec![1.0, 0.0, 1.0];
        let points = Points { values, ..points(PointScale::Absolute, &[2, 4, 8]) };
        let table = ShapeCandidate::new(Shape::Table, &points).unwrap();
        assert_eq!(table.trial(&points, FILE).error, None);
    }

    /// Whether the misfit counts, a relative variance of one observation with 16 degrees of freedom.
    fn is_missed(misfit: f64, points: &Points) -> Option<bool> {
        let mut formula = Formula::fit(Shape::Constant, points).unwrap();
        (formula.misfit, formula.degrees_of_freedom) = (Some(misfit), 16.0);
        let gradients: Vec<Vec<f64>> = points.above_one().map(|index| points.unit(index)).collect();
        spread(&formula, points, &gradients).map(|it| matches!(it, Spread::Misfit { .. }))
    }

    #[test]
    fn a_formula_misses_its_points_where_their_own_errors_do_not_explain_it() {
        // Each point has a variance of 0.04 with 16 degrees of freedom; a misfit of v adds 2^2*v/4. The two
        // differ by chance up to a ratio of 1 + 3*sqrt(2*(1/16 + 1/16)) = 2.5.
        let repeated = points(PointScale::Absolute, &[2, 4]);
        assert_eq!(is_missed(0.04 * 2.45, &repeated), Some(false));
        assert_eq!(is_missed(0.04 * 2.55, &repeated), Some(true));
        // Where nothing was repeated, the misfit is all that tells, unless it is rounding.
        let once = Points { parts: Vec::new(), ..repeated };
        assert_eq!(is_missed(1e-6, &once), Some(true));
        assert_eq!(is_missed(1e-20, &once), None);
    }
}
