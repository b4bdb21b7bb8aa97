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
