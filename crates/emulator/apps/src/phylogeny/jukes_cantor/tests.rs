//! The likelihood of a tree under the model, computed plainly: what kernels are held against.

use approx::assert_relative_eq;

use super::transition_matrix;
use crate::phylogeny::tests::shared_data;
use crate::phylogeny::{Alignment, Patterns, Stream, Tree, newick};

/// Below this, 2^-256, a pattern's conditional likelihoods are scaled up.
const SCALE_THRESHOLD: f64 = 1.0 / SCALE_FACTOR;

/// The factor by which they are scaled: 2^256.
const SCALE_FACTOR: f64 =
    (1_u128 << 64) as f64 * (1_u128 << 64) as f64 * (1_u128 << 64) as f64 * (1_u128 << 64) as f64;

/// The natural logarithm of the likelihood of `tree` under the model, all states equally likely
/// and all sites at one rate: the sum of [`pattern_log_likelihoods`] times the weights.
///
/// # Panics
/// The errors of [`pattern_log_likelihoods`].
pub fn log_likelihood(tree: &Tree, patterns: &Patterns) -> f64 {
    let terms = pattern_log_likelihoods(tree, patterns);
    terms.iter().zip(&patterns.weights).map(|(term, &weight)| f64::from(weight) * term).sum()
}

/// The natural logarithm of each pattern's likelihood, by Felsenstein's (1981) pruning algorithm
/// in double precision. Underflow is kept off by scaling each pattern at each node.
///
/// # Panics
/// Panics where tree and patterns do not have the same number of taxa.
pub fn pattern_log_likelihoods(tree: &Tree, patterns: &Patterns) -> Vec<f64> {
    assert_eq!(tree.taxa(), patterns.tips.len(), "tree and alignment have the same taxa");
    let mut vectors: Vec<Option<Vec<[f64; 4]>>> = vec![None; tree.nodes()];
    let mut scalings = vec![0_u32; patterns.len()];
    for node in tree.post_order().into_iter().filter(|&node| node >= tree.taxa()) {
        let mut product = vec![[1.0; 4]; patterns.len()];
        for child in tree.children(node) {
            let matrix = transition_matrix(tree.branch_length(child));
            match vectors[child].take() {
                None => multiply_by_tip(&mut product, &matrix, &patterns.tips[child]),
                Some(vector) => multiply_by_inner(&mut product, &matrix, &vector),
            }
        }
        for (entries, scaling) in product.iter_mut().zip(&mut scalings) {
            if entries.iter().all(|&entry| entry < SCALE_THRESHOLD) {
                entries.iter_mut().for_each(|entry| *entry *= SCALE_FACTOR);
                *scaling += 1;
            }
        }
        vectors[node] = Some(product);
    }
    let root = vectors[tree.root()].take().expect("invariant: the root comes last");
    // ln L = ln sum_j f_j x_j + e ln 2^-256
    let term = |(entries, &scaling): (&[f64; 4], &u32)| {
        (0.25 * entries.iter().sum::<f64>()).ln() + f64::from(scaling) * SCALE_THRESHOLD.ln()
    };
    root.iter().zip(&scalings).map(term).collect()
}

/// Multiplies each pattern's entries j by sum_k P_jk x_k.
fn multiply_by_inner(product: &mut [[f64; 4]], matrix: &[f64; 16], vector: &[[f64; 4]]) {
    for (entries, x) in product.iter_mut().zip(vector) {
        for (j, entry) in entries.iter_mut().enumerate() {
            *entry *= (0..4).map(|k| matrix[4 * k + j] * x[k]).sum::<f64>();
        }
    }
}

/// The same for a tip, whose x_k is 1 for the states in its code and 0 for the others.
fn multiply_by_tip(product: &mut [[f64; 4]], matrix: &[f64; 16], codes: &[u8]) {
    let mut sums = [[0.0; 4]; 16];
    for (code, sum) in sums.iter_mut().enumerate() {
        for (j, entry) in sum.iter_mut().enumerate() {
            *entry = (0..4).filter(|k| code >> k & 1 == 1).map(|k| matrix[4 * k + j]).sum();
        }
    }
    for (entries, &code) in product.iter_mut().zip(codes) {
        for (entry, sum) in entries.iter_mut().zip(sums[usize::from(code)]) {
            *entry *= sum;
        }
    }
}

#[test]
fn three_tips_have_the_likelihood_of_the_closed_form() {
    // A site whose three tips are equal, all branches t: 1/4 (p^3 + 3 q^3) with p, q the
    // probabilities of no change and of one certain change.
    let tree = Tree::from_branches(3, &[(3, 0, 0.2), (3, 1, 0.2), (3, 2, 0.2)], 3).unwrap();
    let alignment = Alignment {
        names: vec!["a".into(), "b".into(), "c".into()],
        rows: vec![vec![1, 1, 15], vec![1, 2, 15], vec![1, 4, 2]],
    };
    let decay = (-4.0 * 0.2 / 3.0_f64).exp();
    let (p, q) = (0.25 + 0.75 * decay, 0.25 - 0.25 * decay);
    let terms = pattern_log_likelihoods(&tree, &Patterns::compress(&alignment));
    let equal = 0.25 * (p * p * p + 3.0 * q * q * q);
    let different = 0.25 * (3.0 * p * q * q + q * q * q);
    for (term, likelihood) in terms.into_iter().zip([equal, different, 0.25]) {
        assert_relative_eq!(term, f64::ln(likelihood), max_relative = 1e-14);
    }
}

#[test]
fn a_star_like_tree_of_many_random_tips_is_scaled_to_the_likelihood_of_independent_tips() {
    // Along branches as long as 1000 every state is as likely as any other, so each tip
    // contributes a factor 1/4: 4^-2000 is far below the smallest double.
    let taxa = 2000;
    let tree = Tree::random(taxa, 1e6, &mut Stream::new(1, 0)).unwrap();
    let patterns = Patterns {
        tips: (0..taxa).map(|tip| vec![1 << (tip % 4)]).collect(),
        weights: vec![1],
        of_site: vec![Some(0)],
    };
    let expected = taxa as f64 * 0.25_f64.ln();
    assert_relative_eq!(log_likelihood(&tree, &patterns), expected, max_relative = 1e-3);
}

#[test]
fn the_place_that_a_tree_hangs_from_does_not_matter() {
    let mut tree = Tree::random(20, 0.2, &mut Stream::new(4, 0)).unwrap();
    let patterns = Patterns {
        tips: (0..20).map(|tip| vec![1 << (tip % 4), 1 << (tip % 3), 1 + tip % 15]).collect(),
        weights: vec![3, 1, 2],
        of_site: Vec::new(),
    };
    let expected = log_likelihood(&tree, &patterns);
    for root in 20..38 {
        tree.rehang(root);
        tree.check().unwrap();
        assert_relative_eq!(log_likelihood(&tree, &patterns), expected, max_relative = 1e-13);
    }
}

#[test]
fn real_data_have_the_likelihoods_that_libpll_and_phyml_computed() {
    let Some(table) = shared_data("reference_lnl.csv") else { return };
    let mut compared = 0;
    for name in ["hypo42", "brown41", "cognato44", "devitt69", "dornburg40", "leache10_50k"] {
        let alignment = Alignment::read(&shared_data(&format!("{name}.phy")).unwrap()).unwrap();
        let source = shared_data(&format!("trees/{name}.nwk")).unwrap();
        let tree = newick::read(&source, &alignment.names).unwrap();
        let computed = log_likelihood(&tree, &Patterns::compress(&alignment));
        for line in table.text.lines().filter(|line| line.starts_with(&format!("{name},"))) {
            let fields: Vec<&str> = line.split(',').rev().collect();
            let (value, program, alpha) = (fields[1], fields[2], fields[3]);
            let prints_enough_digits =
                program.starts_with("libpll") || program.starts_with("PhyML");
            if line.contains("\"JC69 ") && alpha == "0" && prints_enough_digits {
                let reference: f64 = value.parse().unwrap();
                assert_relative_eq!(computed, reference, max_relative = 1e-9);
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 18, "libpll twice and PhyML once for each of six alignments");
}

#[test]
fn a_transition_matrix_has_the_closed_form_and_its_columns_sum_to_one() {
    for t in [0.0, 2e-6, 0.1, 1.0, 50.0_f64] {
        let matrix = transition_matrix(t);
        let decay = (-4.0 * t / 3.0).exp();
        assert_relative_eq!(matrix[0], 0.25 + 0.75 * decay, max_relative = 1e-15);
        assert_relative_eq!(matrix[6], 0.25 - 0.25 * decay, epsilon = 1e-16);
        for column in matrix.chunks(4) {
            assert_relative_eq!(column.iter().sum::<f64>(), 1.0, max_relative = 1e-15);
        }
    }
}
