//! The kernels as first ported: scalar double precision, for which a compiler schedules each
//! basic block and no more ([`Compiler::NAIVE`](mmgp_spu::Compiler::NAIVE)).
//!
//! They are what a compiler of the time makes of loops over patterns, categories and states, for
//! which [`scalar`](crate::scalar) has the pieces. The loops over the four states are
//! unrolled, those over patterns, categories and the entries of a scaling test are not; data are
//! reached through pointers and loaded where a formula names them, so that a matrix is loaded again
//! for every pattern; logarithm, exponential and division are calls. A test that decides at the
//! first entry goes no further. Nothing is tabulated but what the formulas name: the exponentials of
//! a branch and, with GAMMA, the products of tips. That of lambda_0 = 0 is 1 without a call.
//!
//! On the Cell BE, in cycles a pattern, with random data of which in the two kinds with a test every
//! third pattern (inner/inner) or none (tip/inner) is scaled, beside the tuned kernels:
//!
//! | kernel | GAMMA | tuned | CAT | tuned |
//! |---|---|---|---|---|
//! | newview, inner/inner | 2739 | 827 | 719 | 225 |
//! | newview, tip/inner | 1608 | 567 | 604 | 227 |
//! | newview, tip/tip | 952 | 319 | 538 | 225 |
//! | evaluate with terms, inner/inner | 925 | 181 | 592 | 89 |
//! | sum table, inner/inner | 351 | 84 | 91 | 21 |
//! | derivatives | 1060 | 227 | 632 | 102 |
//!
//! *Deviations* from the tuned kernels, beside rounding: a denormal is scaled like any other number;
//! a pattern of weight 0 is left out by a branch, so that its term is 0.

mod evaluate;
mod new_view;
mod newton;

pub(super) use evaluate::evaluate;
pub(super) use new_view::new_view;
pub(super) use newton::{derivatives, newton_step, sum_table};

use super::{
    Diagonal, EI_OFFSET, EIGENVALUES_OFFSET, End, NewtonFactors, PATTERNS_PER_GROUP, RATES_OFFSET,
    Rates, TIP_VECTORS_OFFSET, TipProducts, Transition,
};
use crate::scalar::{
    constant, copy, exponential, load, load_vector, load_word, logarithm, matrix_times_vector,
    store, store_vector,
};
use mmgp_base::units::Bytes;
use mmgp_spu::{LocalAddress, Spu};

/// A register with an address.
#[inline(always)]
fn pointer<S: Spu>(spu: &mut S, address: LocalAddress) -> S::Register {
    spu.ila(address.0)
}

/// The bytes of a pattern's vector.
const fn vector_bytes(rates: Rates) -> i16 {
    8 * rates.entries() as i16
}

/// The word at `index`, shifted left, added to a base: the address of an element of a table.
#[inline(always)]
fn element<S: Spu>(
    spu: &mut S,
    base: LocalAddress,
    index: S::Register,
    log_2_bytes: i16,
) -> S::Register {
    let base = pointer(spu, base);
    let offset = spu.shli(index, log_2_bytes);
    spu.a(base, offset)
}

/// Walks along the vectors or codes of an end of a branch.
#[derive(Clone, Copy)]
struct PatternWalk<R> {
    data: R,
    counts: R,
}

impl<R: Copy> PatternWalk<R> {
    #[inline(always)]
    fn begin<S: Spu<Register = R>>(spu: &mut S, end: End) -> Self {
        match end {
            End::Tip { codes } => {
                let codes = pointer(spu, codes);
                Self { data: codes, counts: codes }
            }
            End::Inner { vectors, counts } => {
                Self { data: pointer(spu, vectors), counts: pointer(spu, counts) }
            }
        }
    }

    /// The same at the next pattern.
    #[inline(always)]
    fn next<S: Spu<Register = R>>(self, spu: &mut S, end: End, rates: Rates) -> Self {
        match end {
            End::Tip { .. } => Self { data: spu.ai(self.data, 4), ..self },
            End::Inner { .. } => {
                let data = advance(spu, self.data, vector_bytes(rates));
                Self { data, counts: spu.ai(self.counts, 4) }
            }
        }
    }

    /// The address of the vector of the pattern: a tip's is looked up in the model block.
    #[inline(always)]
    fn vector<S: Spu<Register = R>>(self, spu: &mut S, end: End, model: LocalAddress) -> R {
        match end {
            End::Tip { .. } => {
                let code = load_word(spu, self.data, 0);
                element(spu, model.offset(TIP_VECTORS_OFFSET), code, 5)
            }
            End::Inner { .. } => self.data,
        }
    }
}

#[inline(always)]
fn advance<S: Spu>(spu: &mut S, pointer: S::Register, bytes: i16) -> S::Register {
    spu.ai(pointer, bytes)
}

/// A register that counts the patterns of so many groups.
#[inline(always)]
fn patterns<S: Spu>(spu: &mut S, groups: u32) -> S::Register {
    spu.ila(PATTERNS_PER_GROUP * groups)
}

/// Walks through categories and the eigenvalues but the first, which is 0.
#[derive(Clone, Copy)]
struct Exponents<R> {
    /// ln z.
    u: R,
    rate: R,
    eigenvalue: R,
}

impl<R: Copy> Exponents<R> {
    /// The walk at the second eigenvalue, with the logarithm of the z at `branch + displacement`.
    #[inline(always)]
    fn begin<S: Spu<Register = R>>(
        spu: &mut S,
        model: LocalAddress,
        branch: LocalAddress,
        displacement: i32,
    ) -> Self {
        let branch = pointer(spu, branch);
        let z = load(spu, branch, displacement);
        let u = logarithm(spu, z);
        let rate = pointer(spu, model.offset(RATES_OFFSET));
        let eigenvalue = first_eigenvalue(spu, model);
        Self { u, rate, eigenvalue }
    }

    /// rho lambda and exp(rho lambda u).
    #[inline(always)]
    fn factor_and_power<S: Spu<Register = R>>(self, spu: &mut S) -> [R; 2] {
        let rate = load(spu, self.rate, 0);
        let eigenvalue = load(spu, self.eigenvalue, 0);
        let factor = spu.dfm(rate, eigenvalue);
        let exponent = spu.dfm(factor, self.u);
        [factor, exponential(spu, exponent)]
    }

    #[inline(always)]
    fn next_eigenvalue<S: Spu<Register = R>>(self, spu: &mut S) -> Self {
        Self { eigenvalue: spu.ai(self.eigenvalue, 8), ..self }
    }

    #[inline(always)]
    fn next_category<S: Spu<Register = R>>(self, spu: &mut S, model: LocalAddress) -> Self {
        let rate = spu.ai(self.rate, 8);
        Self { rate, eigenvalue: first_eigenvalue(spu, model), ..self }
    }
}

/// The address of the first eigenvalue that is not 0.
#[inline(always)]
fn first_eigenvalue<S: Spu>(spu: &mut S, model: LocalAddress) -> S::Register {
    pointer(spu, model.offset(EIGENVALUES_OFFSET).offset(Bytes(8)))
}

/// [`Transition`]: one branch after the other.
#[inline(always)]
pub(super) fn transition<S: Spu>(spu: &mut S, kernel: &Transition) {
    for (displacement, out) in [(0, kernel.left), (8, kernel.right)] {
        matrices(spu, kernel, displacement, out);
    }
}

#[inline(always)]
fn matrices<S: Spu>(spu: &mut S, kernel: &Transition, displacement: i32, out: LocalAddress) {
    let model = kernel.model;
    let mut exponents = Exponents::begin(spu, model, kernel.branches, displacement);
    let mut out = pointer(spu, out);
    let mut categories = spu.ila(kernel.category_count);
    loop {
        spu.label();
        let mut ei = pointer(spu, model.offset(EI_OFFSET));
        let column = load_vector(spu, ei);
        store_vector(spu, column, out);
        let mut eigenvalues = spu.il(3);
        loop {
            spu.label();
            ei = spu.ai(ei, 32);
            out = spu.ai(out, 32);
            let [_, power] = exponents.factor_and_power(spu);
            scaled_column(spu, ei, power, out);
            exponents = exponents.next_eigenvalue(spu);
            eigenvalues = spu.ai(eigenvalues, -1);
            if !spu.brnz(eigenvalues) {
                break;
            }
        }
        out = spu.ai(out, 32);
        exponents = exponents.next_category(spu, model);
        categories = spu.ai(categories, -1);
        if !spu.brnz(categories) {
            return;
        }
    }
}

/// A column of EI times a number.
#[inline(always)]
fn scaled_column<S: Spu>(spu: &mut S, ei: S::Register, factor: S::Register, out: S::Register) {
    let column = load_vector(spu, ei);
    let scaled = [
        spu.dfm(column[0], factor),
        spu.dfm(column[1], factor),
        spu.dfm(column[2], factor),
        spu.dfm(column[3], factor),
    ];
    store_vector(spu, scaled, out);
}

/// [`TipProducts`]: a matrix times a vector for each code and category.
#[inline(always)]
pub(super) fn tip_products<S: Spu>(spu: &mut S, kernel: &TipProducts) {
    let mut vector = pointer(spu, kernel.model.offset(TIP_VECTORS_OFFSET));
    let mut out = pointer(spu, kernel.out);
    let mut codes = spu.il(16);
    loop {
        spu.label();
        let mut matrix = pointer(spu, kernel.matrices);
        let mut categories = spu.il(4);
        loop {
            spu.label();
            let x = load_vector(spu, vector);
            let products = matrix_times_vector(spu, matrix, x);
            store_vector(spu, products, out);
            matrix = spu.ai(matrix, 128);
            out = spu.ai(out, 32);
            categories = spu.ai(categories, -1);
            if !spu.brnz(categories) {
                break;
            }
        }
        vector = spu.ai(vector, 32);
        codes = spu.ai(codes, -1);
        if !spu.brnz(codes) {
            return;
        }
    }
}

/// [`Diagonal`].
#[inline(always)]
pub(super) fn diagonal<S: Spu>(spu: &mut S, kernel: &Diagonal) {
    let mut exponents = Exponents::begin(spu, kernel.model, kernel.branch, 0);
    let mut out = pointer(spu, kernel.out);
    let mut categories = spu.ila(kernel.category_count);
    loop {
        spu.label();
        let one = constant(spu, 1.0);
        store(spu, one, out, 0);
        let mut eigenvalues = spu.il(3);
        loop {
            spu.label();
            out = spu.ai(out, 8);
            let [_, power] = exponents.factor_and_power(spu);
            store(spu, power, out, 0);
            exponents = exponents.next_eigenvalue(spu);
            eigenvalues = spu.ai(eigenvalues, -1);
            if !spu.brnz(eigenvalues) {
                break;
            }
        }
        out = spu.ai(out, 8);
        exponents = exponents.next_category(spu, kernel.model);
        categories = spu.ai(categories, -1);
        if !spu.brnz(categories) {
            return;
        }
    }
}

/// [`NewtonFactors`]: three planes of `[category][l]`.
#[inline(always)]
pub(super) fn newton_factors<S: Spu>(spu: &mut S, kernel: &NewtonFactors) {
    let mut exponents = Exponents::begin(spu, kernel.model, kernel.branch, 0);
    let plane = spu.ila(32 * kernel.category_count);
    let mut out = pointer(spu, kernel.out);
    let mut categories = spu.ila(kernel.category_count);
    loop {
        spu.label();
        let (one, zero) = (constant(spu, 1.0), spu.il(0));
        store_in_planes(spu, [one, zero, zero], out, plane);
        let mut eigenvalues = spu.il(3);
        loop {
            spu.label();
            out = spu.ai(out, 8);
            let [factor, power] = exponents.factor_and_power(spu);
            let first = spu.dfm(factor, power);
            let second = spu.dfm(factor, first);
            store_in_planes(spu, [power, first, second], out, plane);
            exponents = exponents.next_eigenvalue(spu);
            eigenvalues = spu.ai(eigenvalues, -1);
            if !spu.brnz(eigenvalues) {
                break;
            }
        }
        out = spu.ai(out, 8);
        exponents = exponents.next_category(spu, kernel.model);
        categories = spu.ai(categories, -1);
        if !spu.brnz(categories) {
            return;
        }
    }
}

#[inline(always)]
fn store_in_planes<S: Spu>(
    spu: &mut S,
    values: [S::Register; 3],
    out: S::Register,
    plane: S::Register,
) {
    let mut at = copy(spu, out);
    store(spu, values[0], at, 0);
    at = spu.a(at, plane);
    store(spu, values[1], at, 0);
    at = spu.a(at, plane);
    store(spu, values[2], at, 0);
}
