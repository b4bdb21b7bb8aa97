use super::*;

pub(super) fn transition(version: Version, category_count: u32) -> Transition {
    let [left, right] = MATRICES;
    Transition {
        version,
        category_count,
        model: MODEL,
        branches: BRANCHES,
        left,
        right,
        tables: TABLES,
    }
}

pub(super) fn diagonal(version: Version, category_count: u32) -> Diagonal {
    Diagonal {
        version,
        category_count,
        model: MODEL,
        branch: BRANCHES,
        out: DIAGONAL,
        tables: TABLES,
    }
}

pub(super) fn newton_factors(version: Version, category_count: u32) -> NewtonFactors {
    NewtonFactors {
        version,
        category_count,
        model: MODEL,
        branch: BRANCHES,
        out: FACTORS,
        tables: TABLES,
    }
}

pub(super) fn tip_products(version: Version, side: usize) -> TipProducts {
    TipProducts { version, matrices: MATRICES[side], model: MODEL, out: PRODUCTS[side] }
}

/// rho_c lambda_l as the model block has them.
fn speed(store: &LocalStore, category: u32, l: u32) -> f64 {
    double(store, MODEL, 40 + category) * double(store, MODEL, 32 + l)
}

/// Branches from the shortest to the longest.
const Z: [f64; 6] = [Z_MAX, 0.9, 0.5, 0.01, 1e-9, Z_MIN];

/// The error of e^x grows with that of its exponent, which is right to 1e-14 relatively.
fn tolerance(exponent: f64) -> f64 {
    2e-14 * (1.0 + exponent.abs())
}

#[test]
fn transition_matrices_are_those_of_the_formula() {
    for (rates, z) in [(Rates::Gamma, Z), (Rates::Cat, Z)] {
        for (z, other) in z.into_iter().zip(Z.into_iter().rev()) {
            let mut store = random_store(rates, 1);
            put(&mut store, BRANCHES, &[z, other]);
            let kernel = transition(Version::Tuned, category_count(rates));
            kernel.validate().expect("the data of the test lie right");
            execute(&kernel, &mut store);
            for (matrices, z) in MATRICES.into_iter().zip([z, other]) {
                for index in 0..16 * category_count(rates) {
                    let [category, l] = [index / 16, index % 16 / 4];
                    let exponent = speed(&store, category, l) * z.ln();
                    let expected = double(&store, MODEL, index % 16) * exponent.exp();
                    let got = double(&store, matrices, index);
                    assert_close(got, expected, tolerance(exponent), expected.abs());
                }
            }
        }
    }
}

#[test]
fn the_host_writes_the_model_block_where_the_kernels_read_it() {
    let ei = std::array::from_fn(|j| std::array::from_fn(|l| (10 * j + l) as f64));
    let v = std::array::from_fn(|j| std::array::from_fn(|l| (100 * j + l) as f64));
    let rates: Vec<f64> = (0..25).map(|c| 0.5 + f64::from(c)).collect();
    let block = ModelBlock { ei, v, eigenvalues: [0.0, 1.0, 2.0, 3.0], rates: &rates };
    let doubles: Vec<f64> = block.quadwords().iter().flat_map(|it| it.doubles()).collect();
    assert_eq!(8 * doubles.len() as u64, MODEL_BYTES.0);
    assert_eq!(doubles[..5], [0.0, 10.0, 20.0, 30.0, 1.0], "EI_j0, then EI_01");
    assert_eq!(doubles[16..21], [0.0, 1.0, 2.0, 3.0, 100.0], "V_0l, then V_10");
    assert_eq!(doubles[32..40], [0.0, 1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(doubles[40..66], [&rates[..], &[0.0]].concat());
    assert_eq!(doubles[66..84], [0.0; 18], "up to the code 0");
    // A or T: rows 0 and 3.
    assert_eq!(doubles[80 + 4 * 9..][..4], [300.0, 302.0, 304.0, 306.0]);
}

#[test]
fn diagonals_and_factors_are_those_of_the_formula() {
    for rates in RATES {
        for z in Z {
            let mut store = random_store(rates, 1);
            put(&mut store, BRANCHES, &[z, 0.5]);
            let count = category_count(rates);
            execute(&diagonal(Version::Tuned, count), &mut store);
            execute(&newton_factors(Version::Tuned, count), &mut store);
            for index in 0..4 * count {
                let speed = speed(&store, index / 4, index % 4);
                let exponent = speed * z.ln();
                let power = exponent.exp();
                let check = |address, index, expected: f64| {
                    let got = double(&store, address, index);
                    assert_close(got, expected, tolerance(exponent), expected.abs());
                };
                check(DIAGONAL, index, power);
                check(FACTORS, index, power);
                check(FACTORS, index + 4 * count, speed * power);
                check(FACTORS, index + 8 * count, speed * speed * power);
            }
        }
    }
}

#[test]
fn nothing_is_written_behind_the_last_category() {
    let count = 3;
    let inputs = random_store(Rates::Cat, 1);
    let mut store = inputs.clone();
    execute(&transition(Version::Tuned, count), &mut store);
    execute(&diagonal(Version::Tuned, count), &mut store);
    execute(&newton_factors(Version::Tuned, count), &mut store);
    for (address, size) in [(MATRICES[0], 128), (MATRICES[1], 128), (DIAGONAL, 32), (FACTORS, 96)] {
        let end = LocalAddress(address.0 + size * count);
        assert_eq!(store.load(end), inputs.load(end), "{address:?}");
        let last = LocalAddress(end.0 - 16);
        assert!(store.load(last) != inputs.load(last), "{address:?}");
    }
}

#[test]
fn products_of_tips_are_matrix_times_vector() {
    let mut store = random_store(Rates::Gamma, 1);
    let kernel = tip_products(Version::Tuned, 1);
    kernel.validate().expect("the data of the test lie right");
    let end = PRODUCTS[1].offset(TIP_PRODUCT_BYTES);
    let behind = store.load(end);
    execute(&kernel, &mut store);
    assert_eq!(store.load(end), behind, "behind the table");
    for index in 0..16 * 16 {
        let [code, category, j] = [index / 16, index % 16 / 4, index % 4];
        let [mut sum, mut size] = [0.0; 2];
        for [l, state] in (0..16).map(|it| [it / 4, it % 4]) {
            if code >> state & 1 == 1 {
                let matrix = double(&store, MATRICES[1], 16 * category + 4 * l + j);
                let term = matrix * double(&store, MODEL, 16 + 4 * state + l);
                sum += term;
                size += term.abs();
            }
        }
        assert_close(double(&store, PRODUCTS[1], index), sum, 2e-15, size);
    }
}
