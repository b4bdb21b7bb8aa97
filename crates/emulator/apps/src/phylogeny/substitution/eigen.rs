//! The eigendecomposition of the rate matrix.

use super::{EigenSystem, Exchangeabilities};
use nalgebra::{Matrix3, Matrix4, Vector4};

/// Below this, a component of a unit vector does not decide its sign.
const NEGLIGIBLE: f64 = 1e-6;

impl EigenSystem {
    /// The eigen system of the model with these exchangeabilities and frequencies, all positive, the
    /// frequencies of sum 1.
    ///
    /// The rates Q_jk = r_jk f_k are similar to the symmetric A_jk = r_jk sqrt(f_j f_k), whose null
    /// vector is known: sqrt(f_j). A reflection that turns it into the first axis leaves three rows
    /// and columns to diagonalise, so the zero and its vector are exact, and equal eigenvalues do
    /// no harm.
    pub(super) fn of(exchangeabilities: &Exchangeabilities, frequencies: &[f64; 4]) -> Self {
        let root = Vector4::from(frequencies.map(f64::sqrt)).normalize();
        let a = symmetric_rates(exchangeabilities, &root);
        let normal = (root + Vector4::x()).normalize();
        let reflection = Matrix4::identity() - 2.0 * normal * normal.transpose();
        let reflected = reflection * a * reflection;
        let block: Matrix3<f64> = reflected.fixed_view::<3, 3>(1, 1).into_owned();
        // Whatever rounding left of asymmetry is shared by both halves.
        let decomposed = ((block + block.transpose()) / 2.0).symmetric_eigen();
        let mut pairs: Vec<(f64, Vector4<f64>)> = (0..3)
            .map(|index| {
                let x = decomposed.eigenvectors.column(index);
                let u = reflection * Vector4::new(0.0, x[0], x[1], x[2]);
                let decisive = u.iter().find(|component| component.abs() > NEGLIGIBLE);
                let sign = decisive.map_or(1.0, |component| component.signum());
                ((-decomposed.eigenvalues[index]).max(0.0), sign * u)
            })
            .collect();
        pairs.sort_by(|one, other| one.0.total_cmp(&other.0));
        // V_jl = sqrt(f_j) u_jl, EI_jl = V_jl / V_j0 = u_jl / sqrt(f_j)
        let mut system = Self { values: [0.0; 4], v: [[0.0; 4]; 4], ei: [[1.0; 4]; 4] };
        for j in 0..4 {
            system.v[j][0] = frequencies[j];
            for (l, (_, u)) in (1..).zip(&pairs) {
                system.v[j][l] = root[j] * u[j];
                system.ei[j][l] = u[j] / root[j];
            }
        }
        for (value, (lambda, _)) in system.values[1..].iter_mut().zip(&pairs) {
            *value = *lambda;
        }
        system
    }
}

/// A_jk = r_jk sqrt(f_j f_k), A_jj = -sum_k r_jk f_k, divided by the mean rate -sum_j f_j A_jj;
/// `root` holds sqrt(f_j).
fn symmetric_rates(exchangeabilities: &Exchangeabilities, root: &Vector4<f64>) -> Matrix4<f64> {
    // Only ratios matter; with a largest of 1 nothing overflows.
    let largest = exchangeabilities.iter().copied().fold(0.0, f64::max);
    let mut a = Matrix4::zeros();
    let pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
    for ((j, k), exchangeability) in pairs.into_iter().zip(exchangeabilities) {
        let r = exchangeability / largest;
        a[(j, k)] = r * root[j] * root[k];
        a[(k, j)] = a[(j, k)];
        a[(j, j)] -= r * root[k] * root[k];
        a[(k, k)] -= r * root[j] * root[j];
    }
    let mean: f64 = -(0..4).map(|j| root[j] * root[j] * a[(j, j)]).sum::<f64>();
    a / mean
}

#[cfg(test)]
mod tests {
    use approx::assert_abs_diff_eq;

    use super::super::Substitution;
    use super::*;

    #[allow(clippy::needless_range_loop)] // The indices are those of the formulas.
    fn check(exchangeabilities: Exchangeabilities, frequencies: [f64; 4]) -> EigenSystem {
        let model = Substitution::gtr(exchangeabilities, frequencies).unwrap();
        let EigenSystem { values, v, ei } = model.eigen;
        assert_eq!(values[0].to_bits(), 0.0_f64.to_bits(), "the zero comes first and is exact");
        assert!(values.is_sorted() && values[1] > 0.0, "{values:?}");
        let first = v.map(|row| row[0]);
        assert_eq!(first, model.frequencies, "the first column holds the frequencies");
        for j in 0..4 {
            for k in 0..4 {
                // sum_j EI_jk V_jl = delta_kl, and sum_l EI_jl V_kl = delta_jk
                let columns: f64 = (0..4).map(|i| ei[i][j] * v[i][k]).sum();
                let rows: f64 = (0..4).map(|l| ei[j][l] * v[k][l]).sum();
                let expected = f64::from(u8::from(j == k));
                assert_abs_diff_eq!(columns, expected, epsilon = 1e-12);
                assert_abs_diff_eq!(rows, expected, epsilon = 1e-12);
            }
        }
        EigenSystem { values, v, ei }
    }

    #[test]
    fn any_model_comes_apart_into_orthogonal_parts() {
        check([1.2, 3.5, 0.8, 0.9, 4.1, 1.0], [0.30, 0.22, 0.18, 0.30]);
        check([1.0, 2.5, 1.0, 1.0, 2.5, 1.0], [0.30, 0.22, 0.18, 0.30]);
        check([1e-4, 1e4, 1.0, 3.0, 1e-4, 50.0], [0.97, 0.01, 0.01, 0.01]);
        check([1e-300, 1e300, 1.0, 1.0, 1e300, 1.0], [0.25; 4]);
    }

    #[test]
    fn equal_rates_have_three_equal_eigenvalues() {
        let system = check([1.0; 6], [0.25; 4]);
        for value in &system.values[1..] {
            assert_abs_diff_eq!(*value, 4.0 / 3.0, epsilon = 1e-15);
        }
    }

    #[test]
    fn the_first_component_that_counts_is_positive() {
        for l in 1..4 {
            let system = check([1.2, 3.5, 0.8, 0.9, 4.1, 1.0], [0.30, 0.22, 0.18, 0.30]);
            assert!(system.v[0][l] > 0.0, "{system:?}");
        }
    }
}
