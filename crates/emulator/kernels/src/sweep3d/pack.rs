//! Arrays of doubles as the quadwords of the kernels, and back.

use mmgp_spu::Quadword;
use mmgp_sweep::{Direction, MOMENTS, Moments};

use super::COEFFICIENTS;

/// The moments of cells, two quadwords each.
pub fn pack_moments(cells: &[Moments]) -> Vec<Quadword> {
    let doubles = cells.as_flattened().as_chunks::<2>().0;
    doubles.iter().map(|&pair| Quadword::from_doubles(pair)).collect()
}

/// The moments of cells from two quadwords each.
pub fn unpack_moments(quadwords: &[Quadword]) -> Vec<Moments> {
    let (records, _) = quadwords.as_chunks::<{ MOMENTS / 2 }>();
    let record = |[one, other]: &[Quadword; 2]| {
        let ([a, b], [c, d]) = (one.doubles(), other.doubles());
        [a, b, c, d]
    };
    records.iter().map(record).collect()
}

/// Total cross-sections, each as its half twice.
pub fn pack_total(cells: &[f64]) -> Vec<Quadword> {
    cells.iter().map(|total| Quadword::from_doubles([total / 2.0; 2])).collect()
}

/// External sources and the fluxes phi_0 of the iteration before.
pub fn pack_external(external: &[f64], old: &[f64]) -> Vec<Quadword> {
    external.iter().zip(old).map(|(&s, &old)| Quadword::from_doubles([s, old])).collect()
}

/// External sources and the fluxes phi_0 of the iteration before.
pub fn unpack_external(quadwords: &[Quadword]) -> (Vec<f64>, Vec<f64>) {
    quadwords.iter().map(|quadword| quadword.doubles().into()).unzip()
}

/// A face, whose elements have so many angles one after the other.
///
/// # Panics
/// For no angles.
pub fn pack_face(face: &[f64], angles: usize) -> Vec<Quadword> {
    face.chunks_exact(angles).flat_map(pairs).collect()
}

/// A face from its quadwords.
///
/// # Panics
/// For no angles.
pub fn unpack_face(quadwords: &[Quadword], angles: usize) -> Vec<f64> {
    let element = |pairs: &[Quadword]| -> Vec<f64> {
        pairs.iter().flat_map(|pair| pair.doubles()).take(angles).collect()
    };
    quadwords.chunks_exact(angles.div_ceil(2)).flat_map(element).collect()
}

/// What [`Line`](super::Line) needs of the directions of a block.
pub fn coefficients(directions: &[Direction]) -> Vec<Quadword> {
    let of_pair = |pair: &[Direction]| {
        let both = |of: &dyn Fn(&Direction) -> f64, padding: f64| {
            let other = pair.get(1).map_or(padding, of);
            Quadword::from_doubles([of(&pair[0]), other])
        };
        let mut block = [Quadword::ZERO; COEFFICIENTS];
        for axis in 0..3 {
            block[axis] = both(&|it| it.coefficients[axis], 0.0);
            block[4 + axis] = both(&|it| it.moments[1 + axis], 0.0);
        }
        // Beside an odd angle stands a denominator of which there is a reciprocal.
        block[3] = both(&|it| it.coefficients.iter().sum::<f64>() / 2.0, 1.0);
        for moment in 0..MOMENTS {
            block[7 + moment] = both(&|it| it.moments[moment] * it.weight / 2.0, 0.0);
        }
        block
    };
    directions.chunks(2).flat_map(of_pair).collect()
}

/// What [`Leakage`](super::Leakage) needs: for each angle its cosine to an axis times its weight.
pub fn leakage_weights(weights: &[f64]) -> Vec<Quadword> {
    pairs(weights).collect()
}

/// Two and two in a quadword, and zero beside the last of an odd number.
fn pairs(values: &[f64]) -> impl Iterator<Item = Quadword> {
    let pair =
        |pair: &[f64]| Quadword::from_doubles([pair[0], pair.get(1).copied().unwrap_or(0.0)]);
    values.chunks(2).map(pair)
}
