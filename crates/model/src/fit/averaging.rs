//! What is not known of terms because the shape of alpha is not: an average over shapes.
//!
//! Runs tell what further threads add to the host's time, its growth over m, up to their noise. A
//! shape that they do not contradict may be off by as much, and every other term takes up a part of
//! that: the standard errors of one shape alone are too small. So the growth is taken as
//!
//! `growth(m) = S*w(m) + tau*B(ln m)`,
//!
//! *w* being one of the shapes with one number, and *B* a random walk over the logarithm of m (a
//! Brownian motion, as kinked as times are) that begins at m = 1, where there is no growth. It is
//! averaged over all shapes and over sizes tau of the walk, from what noise hides to a whole run,
//! half of the weight being on none, each weighed by how likely it makes the runs (Hoeting,
//! Madigan, Raftery and Volinsky, Bayesian model averaging: a tutorial, Statistical Science 14,
//! 1999). The variance about the estimate of the shape that was chosen is, as of Buckland, Burnham
//! and Augustin (Model selection: an integral part of inference, Biometrics 53, 1997), that within
//! each of them plus the square of its distance:
//!
//! `variance = sum of weight_k*(variance_k + (value_k - value)^2)`.

mod linear;

use nalgebra::{DMatrix, DVector};

use super::conflict::stretched;
use super::estimate::{Data, Estimated, Spread};
use super::joint_fit::Trial;
use super::likelihood::NEGLIGIBLE;
use super::noise::Noise;
use super::shape::Shape;
use crate::model::sensitivity::Entry;
use linear::{Asked, Linear, Scatter, Solved, to_entries, w};

/// The probability that a shape is right, before any run: that of a mean of [`crate::posterior`].
const EXACT: f64 = 0.5;

/// Parts of the weight below this move no digit of an error.
const FAINT: f64 = 1e-6;

/// One shape with one size of the walk, and the logarithm of its share.
struct Component {
    shape: usize,
    size: f64,
    log_weight: f64,
    solved: Solved,
}

/// The errors of `estimated`, with what its shape may be off by; its own where there are no shapes
/// to average over. How well they are known is taken to be as before.
pub(crate) fn spread(estimated: &Estimated, shapes: &[(Shape, &Trial)], data: &Data) -> Spread {
    let spread = estimated.spread();
    match covariance(estimated, &spread.entries, shapes, data) {
        Some(covariance) => Spread { covariance, ..spread },
        None => spread,
    }
}

fn covariance(
    estimated: &Estimated,
    entries: &[Entry],
    shapes: &[(Shape, &Trial)],
    data: &Data,
) -> Option<DMatrix<f64>> {
    let last = data.points.iter().map(|point| point.m).max().filter(|&last| last > 1)?;
    let at = estimated.unknowns.parameters(estimated.minimum.solution.x.as_slice());
    let asked: Vec<Asked> = entries.iter().map(|&entry| Asked::of(entry, &at, last)).collect();
    let stretch = estimated.conflict.as_ref().map_or(1.0, |conflict| conflict.stretch);
    let linear = |&(shape, trial): &(Shape, &Trial)| {
        let unknowns = stretched(&trial.within.unknowns, stretch);
        let x = &trial.within.estimated.minimum.solution.x;
        Some(Linear::of(w(shape)?, (&unknowns, x), data, &asked, last))
    };
    let shapes: Vec<Linear> = shapes.iter().filter_map(linear).collect();
    let components = components(&shapes, data)?;
    let here = DVector::from_iterator(asked.len(), asked.iter().map(|asked| asked.value(&at)));
    let mut about = DMatrix::zeros(asked.len(), asked.len());
    for it in &components {
        let shape = &shapes[it.shape];
        let derivatives = shape.with_walk_of(it.size, &shape.derivatives);
        let half = it.solved.factor.l().solve_lower_triangular(&derivatives.transpose())?;
        let mut distance = &shape.values + &derivatives * &it.solved.step;
        for (value, asked) in distance.iter_mut().zip(&asked) {
            *value = value.max(asked.least);
        }
        distance -= &here;
        let own = half.transpose() * half * it.solved.variance + &distance * distance.transpose();
        about += own * it.log_weight.exp();
    }
    let to_entries = to_entries(&asked, &at);
    let covariance = &to_entries * about * to_entries.transpose();
    covariance.iter().all(|each| each.is_finite()).then_some(covariance)
}

/// All shapes with walks of all sizes, by their weights; `None` where the runs leave nothing over to
/// weigh them by.
fn components(shapes: &[Linear], data: &Data) -> Option<Vec<Component>> {
    let before = Noise::before(data.repetitions);
    let unit = before.run.max(NEGLIGIBLE).powi(2);
    let squares = data.repetitions.squares / unit;
    let scatter = Scatter {
        variances: variances(shapes, data, |count| unit / count)?,
        repetitions: (squares, data.repetitions.degrees_of_freedom),
    };
    let found = weighed(shapes, &scatter, data)?;
    // What no shape and no walk explains is the model's, as for the estimate itself.
    let likeliest = found.iter().max_by(|a, b| a.log_weight.total_cmp(&b.log_weight))?;
    let noise = noise_beside(likeliest, shapes, &scatter, data);
    if !noise.misses() {
        return Some(found);
    }
    let variances = variances(shapes, data, |count| noise.variance(count))?;
    weighed(shapes, &Scatter { variances, repetitions: (0.0, 0.0) }, data)
}

/// Of every row: the points, then what files say, in standard errors already.
fn variances(shapes: &[Linear], data: &Data, of: impl Fn(f64) -> f64) -> Option<Vec<f64>> {
    let rows = shapes.first()?.missed.len();
    let mut variances: Vec<f64> = data.points.iter().map(|point| of(point.count)).collect();
    variances.resize(rows, 1.0);
    // Where a shape holds a value of a file that another does not, nothing compares them.
    let can_be_weighed = |it: &Linear| it.missed.len() == rows && it.unknowns < rows;
    shapes.iter().all(can_be_weighed).then_some(variances)
}

/// The noise that the likeliest component leaves.
fn noise_beside(component: &Component, shapes: &[Linear], scatter: &Scatter, data: &Data) -> Noise {
    let (shape, solved) = (&shapes[component.shape], &component.solved);
    let slopes = shape.with_walk_of(component.size, &shape.slopes);
    let left = &shape.missed - &slopes * &solved.step;
    let points = data.points.len();
    let leverages = (0..points).map(|row| {
        let root = solved.factor.l_dirty().solve_lower_triangular(&slopes.row(row).transpose());
        root.map_or(1.0, |root| root.norm_squared() / scatter.variances[row])
    });
    let degrees_of_freedom = points as f64 - leverages.sum::<f64>();
    Noise::new(data.repetitions, &data.points, &left.as_slice()[..points], degrees_of_freedom)
}

/// The components with the logarithms of their shares.
fn weighed(shapes: &[Linear], scatter: &Scatter, data: &Data) -> Option<Vec<Component>> {
    let mut all = Vec::new();
    for (index, shape) in shapes.iter().enumerate() {
        let sizes = shape.sizes(scatter, data.points.len());
        let of_each = (1.0 - EXACT) / sizes.len() as f64;
        let sizes = sizes.into_iter().map(|size| (size, of_each));
        let reduced = shape.reduced(scatter);
        for (size, share) in [(0.0, EXACT)].into_iter().chain(sizes) {
            let Some(solved) = shape.solved(&reduced, size, scatter) else { continue };
            let log_weight = solved.log_evidence + share.ln();
            all.push(Component { shape: index, size, log_weight, solved });
        }
    }
    let largest = all.iter().map(|it| it.log_weight).reduce(f64::max)?;
    all.retain(|it| it.log_weight - largest > FAINT.ln());
    if all.is_empty() {
        return None;
    }
    let total: f64 = all.iter().map(|it| (it.log_weight - largest).exp()).sum();
    all.iter_mut().for_each(|it| it.log_weight -= largest + total.ln());
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::super::data;
    use super::super::growth;
    use super::super::noise::Repetitions;
    use super::super::runs::{Cell, Runs};
    use super::super::trials::truth;
    use super::super::unknowns::{Kind, Unknown, Unknowns};
    use super::*;
    use crate::model::parameters::Decomposition;
    use crate::model::terms::Term;

    /// T = 8 + growth(m) + 120/(m*p) s.
    fn time(growth: fn(u32) -> f64, (m, p): (u32, u32)) -> f64 {
        8.0 + growth(m) + 120.0 / f64::from(m * p)
    }

    /// 2 + place runs of each configuration, so far off what they should take and scattered by so much.
    fn runs_of(
        growth: fn(u32) -> f64,
        configurations: &[(u32, u32)],
        (off, scatter): (f64, f64),
    ) -> Runs {
        let cell = |(place, &at): (usize, &(u32, u32))| {
            // As much above as below, in an order that has nothing to do with m or p.
            let sign = if place % 3 == 0 { -1.0 } else { 0.5 };
            let mean = time(growth, at) * (1.0 + off * sign);
            let half = if place % 2 == 0 { 1 } else { 6 };
            Cell::of(at, &[mean * (1.0 - scatter), mean * (1.0 + scatter)].repeat(half))
        };
        let cells = configurations.iter().enumerate().map(cell).collect();
        Runs { file: "runs.csv".into(), cells }
    }

    /// The fit with a shape of alpha, T_HPU and T_APU.
    fn fitted(shape: Shape, runs: &Runs) -> Trial {
        let terms = [8.0, 120.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        let mut base = truth(Decomposition::Data, 0.0, terms);
        let (alpha, weights) = growth::alpha(shape, runs).unwrap();
        base.terms.alpha = alpha;
        let kinds = [
            Kind::Growth(weights[0].clone()),
            Kind::Entry(Entry::HpuTime),
            Kind::Entry(Entry::ApuTime),
        ];
        let unknown = |kind| Unknown { term: Term::HpuTime, kind, prior: None, lower: 1e-3 };
        let unknowns = Unknowns::new(&base, kinds.map(unknown).into());
        let start = DVector::from_vec(vec![0.5, 8.0, 120.0]);
        Trial::of(base, &unknowns, &data::plain(runs), &start).unwrap()
    }

    /// Threads and APUs of every configuration that 16 APUs allow at these m.
    fn at(m: &[u32]) -> Vec<(u32, u32)> {
        m.iter().flat_map(|&m| [1, 2, 3, 4, 6, 8].map(|p| (m, p))).collect()
    }

    /// The errors are those of the shape alone, but for so small a part.
    fn check_alone(off: f64, is_missed: bool, part: f64) {
        let runs = runs_of(|m| f64::from(m - 1), &at(&[1, 2]), (off, 0.01));
        let trial = fitted(Shape::Linear, &runs);
        let estimated = &trial.within.estimated;
        assert_eq!(estimated.noise.misses(), is_missed);
        let shapes = [(Shape::Linear, &trial)];
        let entries = estimated.spread().entries;
        let found = covariance(estimated, &entries, &shapes, &data::plain(&runs)).unwrap();
        let expected = estimated.spread().covariance;
        approx::assert_relative_eq!(found, expected, max_relative = part, epsilon = 1e-15);
    }

    #[test]
    fn a_walk_over_one_further_m_is_the_growth_itself_and_changes_no_error() {
        check_alone(0.001, false, 1e-6);
        // The noise that the model leaves is found with the runs weighed a little otherwise.
        check_alone(0.02, true, 5e-3);
    }

    #[test]
    fn an_error_holds_how_far_the_shape_is_from_a_truth_that_the_runs_show() {
        // What further threads add is nearly the same for all m, and much as no line.
        let truth = |m: u32| [0.0, 2.5, 0.0, 3.0, 0.0, 0.0, 0.0, 3.2][m as usize - 1];
        let runs = runs_of(truth, &at(&[1, 2, 4, 8]), (0.0, 1e-5));
        let (line, constant) = (fitted(Shape::Linear, &runs), fitted(Shape::Constant, &runs));
        let estimated = &line.within.estimated;
        let shapes = [(Shape::Linear, &line), (Shape::Constant, &constant)];
        let spread = spread(estimated, &shapes, &data::plain(&runs));
        let t_apu = spread.entries.iter().position(|&entry| entry == Entry::ApuTime).unwrap();
        let found = estimated.unknowns.parameters(estimated.minimum.solution.x.as_slice());
        let distance = (found.terms.t_apu_s.value - 120.0).abs();
        assert!(distance > 1.0, "{distance}");
        let error = spread.covariance[(t_apu, t_apu)].sqrt();
        approx::assert_relative_eq!(error, distance, max_relative = 0.01);
        // Where nothing is averaged over, the errors are the shape's own.
        let alone = super::spread(estimated, &[], &data::plain(&runs));
        assert_eq!(alone.covariance, estimated.spread().covariance);
    }

    #[test]
    fn a_walk_explains_what_a_shape_misses() {
        let growth = |m: u32| [0.0, 2.5, 0.0, 3.0, 0.0, 0.0, 0.0, 3.2][m as usize - 1];
        let runs = runs_of(growth, &at(&[1, 2, 4, 8]), (0.0, 3e-3));
        let line = fitted(Shape::Linear, &runs);
        assert!(line.within.estimated.noise.misses());
        let data = data::plain(&runs);
        let x = &line.within.estimated.minimum.solution.x;
        let growing = w(Shape::Linear).unwrap();
        let shapes = [Linear::of(growing, (&line.within.unknowns, x), &data, &[], 8)];
        let unit = Noise::before(data.repetitions).run.powi(2);
        let variances = variances(&shapes, &data, |count| unit / count).unwrap();
        let Repetitions { squares, degrees_of_freedom } = data.repetitions;
        let scatter = Scatter { variances, repetitions: (squares / unit, degrees_of_freedom) };
        let noise = |component: &Component| noise_beside(component, &shapes, &scatter, &data);
        let all = weighed(&shapes, &scatter, &data).unwrap();
        let likeliest = all.iter().max_by(|a, b| a.log_weight.total_cmp(&b.log_weight)).unwrap();
        assert!(likeliest.size > 0.0 && !noise(likeliest).misses());
    }

    #[test]
    fn half_of_the_weight_is_on_no_walk_beside_how_likely_each_makes_the_runs() {
        let runs = runs_of(|m| f64::from(m - 1), &at(&[1, 2, 4, 8]), (0.001, 0.01));
        let (line, constant) = (fitted(Shape::Linear, &runs), fitted(Shape::Constant, &runs));
        let data = data::plain(&runs);
        let linear = |shape, trial: &Trial| {
            let x = &trial.within.estimated.minimum.solution.x;
            Linear::of(w(shape).unwrap(), (&trial.within.unknowns, x), &data, &[], 8)
        };
        let shapes = [linear(Shape::Linear, &line), linear(Shape::Constant, &constant)];
        let found = components(&shapes, &data).unwrap();
        let total: f64 = found.iter().map(|it| it.log_weight.exp()).sum();
        approx::assert_relative_eq!(total, 1.0, max_relative = 1e-12);
        // Runs along a line are next to impossible with a constant and no walk.
        assert!(found.iter().all(|it| it.shape == 0 || it.size > 0.0));
        let prior = |it: &Component| it.log_weight - it.solved.log_evidence;
        let of_line: Vec<&Component> = found.iter().filter(|it| it.shape == 0).collect();
        assert_eq!(of_line[0].size, 0.0);
        let variances =
            variances(&shapes, &data, |count| Noise::before(data.repetitions).run.powi(2) / count);
        let scatter = Scatter { variances: variances.unwrap(), repetitions: (0.0, 0.0) };
        let sizes = shapes[0].sizes(&scatter, data.points.len()).len() as f64;
        for walk in &of_line[1..] {
            let ratio = (prior(of_line[0]) - prior(walk)).exp();
            approx::assert_relative_eq!(ratio, sizes, max_relative = 1e-9);
        }
        assert!(of_line.len() > 1);
    }

    #[test]
    fn shapes_are_weighed_by_the_same_rows_and_by_more_of_them_than_unknowns() {
        let runs = runs_of(|m| f64::from(m - 1), &[(1, 1), (2, 1), (4, 1)], (0.0, 0.01));
        let linear = |rows: usize, unknowns: usize| Linear {
            slopes: DMatrix::zeros(rows, unknowns),
            missed: DVector::zeros(rows),
            values: DVector::zeros(0),
            derivatives: DMatrix::zeros(0, unknowns),
            unknowns,
        };
        let of = |shapes: &[Linear]| variances(shapes, &data::plain(&runs), |count| 8.0 / count);
        // Runs, of two or twelve times, and what a file says, in its standard error.
        let expected = Some(vec![4.0, 8.0 / 12.0, 4.0, 1.0]);
        assert_eq!(of(&[linear(4, 3), linear(4, 2)]), expected);
        assert_eq!(of(&[linear(4, 3), linear(3, 2)]), None);
        assert_eq!(of(&[linear(4, 3), linear(4, 4)]), None);
        assert_eq!(of(&[]), None);
    }
}
