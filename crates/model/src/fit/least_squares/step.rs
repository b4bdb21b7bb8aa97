//! One step: the damped linear least squares within bounds, by Householder reflections.

use nalgebra::DMatrix;

/// The residuals near a point, `r + J*d`, as `Q*(c + R*z)`: z is d in units of the columns of J,
/// so that seconds and counts weigh alike.
pub(super) struct Linear {
    unknowns: usize,
    /// Length of each column of J; 1 for an empty one.
    pub norms: Vec<f64>,
    /// The columns of J over their lengths, then those of R.
    columns: Vec<f64>,
    /// `Q'*r`.
    rotated: Vec<f64>,
    rows: usize,
    work: Vec<f64>,
    rhs: Vec<f64>,
}

/// Between which z may lie, and how strongly each of its components is damped.
pub(super) struct Limits<'a> {
    /// Least z, at most 0.
    pub low: &'a [f64],
    /// Largest z, at least 0.
    pub high: &'a [f64],
    /// Factors w of the damping `lambda*|w*z|^2`.
    pub weights: &'a [f64],
    /// lambda, above 0.
    pub damping: f64,
}

impl Linear {
    pub fn new(unknowns: usize) -> Self {
        Self {
            unknowns,
            norms: vec![1.0; unknowns],
            columns: Vec::new(),
            rotated: Vec::new(),
            rows: 0,
            work: vec![0.0; 2 * unknowns * unknowns],
            rhs: vec![0.0; 2 * unknowns],
        }
    }

    /// Takes the residuals and their Jacobian at a new point.
    pub fn set(&mut self, jacobian: &DMatrix<f64>, residuals: &[f64]) {
        self.rows = residuals.len();
        self.columns.clear();
        self.columns.extend_from_slice(jacobian.as_slice());
        self.rotated.clear();
        self.rotated.extend_from_slice(residuals);
        if self.rows == 0 {
            self.norms.fill(1.0);
            return;
        }
        for (column, norm) in self.columns.chunks_exact_mut(self.rows).zip(&mut self.norms) {
            let length = dot(column, column).sqrt();
            // What underflows when squared has no effect on any sum of squares.
            let is_empty = length < f64::MIN_POSITIVE.sqrt();
            *norm = if is_empty { 1.0 } else { length };
            let inverse = if is_empty { 0.0 } else { 1.0 / length };
            column.iter_mut().for_each(|each| *each *= inverse);
        }
        triangularise(&mut self.columns, self.rows, &mut self.rotated);
    }

    /// Rows of R that may differ from zero.
    fn height(&self) -> usize {
        self.rows.min(self.unknowns)
    }

    /// Column of R, down to its diagonal.
    fn column(&self, index: usize) -> &[f64] {
        let height = (index + 1).min(self.rows);
        &self.columns[index * self.rows..index * self.rows + height]
    }

    /// Whether the residuals do not answer to an unknown at all.
    pub fn is_empty(&self, index: usize) -> bool {
        self.column(index).iter().all(|&each| each == 0.0)
    }

    /// `R*z`, in the first rows of `out`.
    fn product(&self, z: &[f64], out: &mut Vec<f64>) {
        out.clear();
        out.resize(self.height(), 0.0);
        for (index, z) in z.iter().enumerate() {
            for (out, r) in out.iter_mut().zip(self.column(index)) {
                *out += r * z;
            }
        }
    }

    /// The derivative of half the squared length by one component of z, from `c + R*z`.
    fn slope(&self, index: usize, ends: &[f64]) -> f64 {
        self.column(index).iter().zip(ends).map(|(r, end)| r * end).sum()
    }

    /// The slopes at z = 0, which are the cosines between residuals and columns times `|r|`.
    pub fn slope_at_start(&self, index: usize) -> f64 {
        self.slope(index, &self.rotated)
    }

    /// By how much half the squared length falls along z.
    pub fn predicted_fall(&self, z: &[f64]) -> f64 {
        let mut product = Vec::new();
        self.product(z, &mut product);
        -product.iter().zip(&self.rotated).map(|(p, c)| p * (c + 0.5 * p)).sum::<f64>()
    }

    /// Minimises `|c + R*z|^2 + lambda*|w*z|^2` over `low <= z <= high`; answers in `z`, and which
    /// components are held at a bound in `held`.
    ///
    /// From z = 0 it goes to the minimum over the free components as far as the bounds allow and
    /// holds what meets them; where the minimum lies inside, it releases the held component that
    /// would lower the sum most, until there is none.
    pub fn solve(&mut self, limits: &Limits<'_>, z: &mut [f64], held: &mut [bool]) {
        z.fill(0.0);
        for (index, held) in held.iter_mut().enumerate() {
            let slope = self.slope_at_start(index);
            let (low, high) = (limits.low[index], limits.high[index]);
            *held = (low == 0.0 && slope >= 0.0) || (high == 0.0 && slope <= 0.0);
        }
        let size = dot(&self.rotated[..self.height()], &self.rotated[..self.height()]).sqrt();
        let mut ends = Vec::with_capacity(self.unknowns);
        let mut free = Vec::with_capacity(self.unknowns);
        let mut goal = vec![0.0; self.unknowns];
        // Rounding may hold and release one component for ever; three times settle what they can.
        let mut releases = vec![0; self.unknowns];
        loop {
            free.clear();
            free.extend((0..self.unknowns).filter(|&each| !held[each]));
            goal.copy_from_slice(z);
            self.solve_free(limits, &free, &mut goal);
            if let Some(index) = advance(z, &goal, &free, limits) {
                held[index] = true;
                continue;
            }
            self.product(z, &mut ends);
            ends.iter_mut().zip(&self.rotated).for_each(|(end, c)| *end += c);
            let gain = |index: usize| {
                let damped = limits.damping * limits.weights[index].powi(2) * z[index];
                let slope = self.slope(index, &ends) + damped;
                if z[index] <= limits.low[index] && z[index] >= limits.high[index] {
                    0.0
                } else if z[index] <= limits.low[index] {
                    -slope
                } else {
                    slope
                }
            };
            let release = (0..self.unknowns)
                .filter(|&index| held[index] && releases[index] < 3)
                .filter(|&index| gain(index) > 1e-14 * size)
                .max_by(|&one, &other| gain(one).total_cmp(&gain(other)));
            match release {
                Some(index) => {
                    held[index] = false;
                    releases[index] += 1;
                }
                None => break,
            }
        }
    }

    /// The minimum over the free components, the others being as they are.
    fn solve_free(&mut self, limits: &Limits<'_>, free: &[usize], z: &mut [f64]) {
        let (height, count) = (self.height(), free.len());
        let rows = height + count;
        self.rhs.clear();
        self.rhs.extend_from_slice(&self.rotated[..height]);
        self.rhs.resize(rows, 0.0);
        for (index, &z) in z.iter().enumerate() {
            if z != 0.0 && !free.contains(&index) {
                let column = &self.columns[index * self.rows..][..(index + 1).min(self.rows)];
                self.rhs.iter_mut().zip(column).for_each(|(c, r)| *c += r * z);
            }
        }
        self.work.clear();
        self.work.resize(rows * count, 0.0);
        let root = limits.damping.sqrt();
        for (position, &index) in free.iter().enumerate() {
            let column = &self.columns[index * self.rows..][..(index + 1).min(self.rows)];
            let place = &mut self.work[position * rows..(position + 1) * rows];
            place[..column.len()].copy_from_slice(column);
            place[height + position] = root * limits.weights[index];
        }
        triangularise(&mut self.work, rows, &mut self.rhs);
        for position in (0..count).rev() {
            let column = &self.work[position * rows..];
            let value = -self.rhs[position] / column[position];
            z[free[position]] = value;
            for (c, r) in self.rhs[..position].iter_mut().zip(column) {
                *c += r * value;
            }
        }
    }
}

impl Linear {
    /// The free components of `-(R'*R + lambda*w^2)^-1 * slopes`, with the damping and the bounds
    /// of the last [`Self::solve`]; the held ones are zero.
    pub fn respond(&self, slopes: &[f64], held: &[bool]) -> Vec<f64> {
        let free: Vec<usize> = (0..self.unknowns).filter(|&each| !held[each]).collect();
        let rows = self.height() + free.len();
        let triangle = |row: usize, column: usize| self.work[column * rows + row];
        let mut values: Vec<f64> = free.iter().map(|&index| -slopes[index]).collect();
        for position in 0..free.len() {
            for above in 0..position {
                values[position] -= triangle(above, position) * values[above];
            }
            values[position] /= triangle(position, position);
        }
        for position in (0..free.len()).rev() {
            for right in position + 1..free.len() {
                values[position] -= triangle(position, right) * values[right];
            }
            values[position] /= triangle(position, position);
        }
        let mut response = vec![0.0; self.unknowns];
        free.iter().zip(values).for_each(|(&index, value)| response[index] = value);
        response
    }
}

/// Moves z towards its goal as far as the bounds allow; answers which component met one first.
fn advance(z: &mut [f64], goal: &[f64], free: &[usize], limits: &Limits<'_>) -> Option<usize> {
    let mut length = 1.0;
    let mut first = None;
    for &index in free {
        let bound = match goal[index] {
            goal if goal < limits.low[index] => limits.low[index],
            goal if goal > limits.high[index] => limits.high[index],
            _ => continue,
        };
        let reach = (bound - z[index]) / (goal[index] - z[index]);
        if reach < length || first.is_none() {
            (length, first) = (reach.min(length), Some((index, bound)));
        }
    }
    for &index in free {
        z[index] += length * (goal[index] - z[index]);
        z[index] = z[index].max(limits.low[index]).min(limits.high[index]);
    }
    first.map(|(index, bound)| {
        z[index] = bound;
        index
    })
}

/// Reflects the columns of a matrix, and a right-hand side with them, into an upper triangle
/// (Golub and Van Loan, Matrix Computations, algorithm 5.2.1). What is left below it is unused.
fn triangularise(columns: &mut [f64], rows: usize, rhs: &mut [f64]) {
    if rows == 0 {
        return;
    }
    let count = columns.len() / rows;
    for step in 0..count.min(rows) {
        let (before, after) = columns.split_at_mut((step + 1) * rows);
        let mirror = &mut before[step * rows + step..];
        let length = dot(mirror, mirror).sqrt();
        if length == 0.0 {
            continue;
        }
        let end = -length.copysign(mirror[0]);
        mirror[0] -= end;
        let factor = 1.0 / (end * mirror[0]);
        let reflect = |column: &mut [f64]| {
            let share = factor * dot(mirror, column);
            column.iter_mut().zip(mirror.iter()).for_each(|(each, mirror)| *each += share * mirror);
        };
        after.chunks_exact_mut(rows).for_each(|column| reflect(&mut column[step..]));
        reflect(&mut rhs[step..]);
        mirror[0] = end;
    }
}

/// The scalar product, in four sums that a processor adds side by side.
#[inline]
pub(crate) fn dot(one: &[f64], other: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (ones, others) = (one.chunks_exact(4), other.chunks_exact(4));
    let rest: f64 = ones.remainder().iter().zip(others.remainder()).map(|(a, b)| a * b).sum();
    for (one, other) in ones.zip(others) {
        for lane in 0..4 {
            sums[lane] += one[lane] * other[lane];
        }
    }
    (sums[0] + sums[2]) + (sums[1] + sums[3]) + rest
}

/// `(J'*J)^-1` over the unknowns that are not held, from the triangle of J; zero in the rows and
/// columns of the held ones. Infinite where the data cannot tell the unknowns apart.
pub(crate) fn inverse_normal(jacobian: &DMatrix<f64>, held: &[bool]) -> DMatrix<f64> {
    let free: Vec<usize> = (0..jacobian.ncols()).filter(|&each| !held[each]).collect();
    let mut inverse = DMatrix::zeros(jacobian.ncols(), jacobian.ncols());
    let mut linear = Linear::new(free.len());
    let rhs = vec![0.0; jacobian.nrows()];
    linear.set(&jacobian.select_columns(&free), &rhs);
    // The columns of R^-1, each by back substitution.
    let mut of_r = DMatrix::<f64>::zeros(free.len(), free.len());
    for target in 0..free.len() {
        of_r[(target, target)] = 1.0;
        for position in (0..=target).rev() {
            let diagonal = linear.column(position).get(position).copied().unwrap_or(0.0);
            let value = of_r[(position, target)] / diagonal;
            of_r[(position, target)] = value;
            for above in 0..position {
                of_r[(above, target)] -= linear.column(position)[above] * value;
            }
        }
    }
    let product = &of_r * of_r.transpose();
    for (i, &row) in free.iter().enumerate() {
        for (j, &column) in free.iter().enumerate() {
            inverse[(row, column)] = product[(i, j)] / (linear.norms[i] * linear.norms[j]);
        }
    }
    inverse
}

#[cfg(test)]
pub(crate) mod tests;
