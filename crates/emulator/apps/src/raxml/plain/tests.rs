//! The functions, held against the plain computation of JC69, values of other programs, and
//! differences.

use super::Likelihoods;
use super::branch::{BranchStep, newton_step};
use crate::phylogeny::alignment::Alignment;
use crate::phylogeny::substitution::{Model, SiteRates, Substitution};
use crate::phylogeny::tests::{SIM12, gtr, immediately, shared_data, sim12};
use crate::phylogeny::{self, Patterns, Stream, Tree, jukes_cantor, newick};
use crate::raxml::engine::{Columns, Engine, NewView, Z_MAX, Z_MIN};
use approx::{assert_abs_diff_eq, assert_relative_eq};
use mmgp_base::table::Source;
use mmgp_cell::ppe::{Plain, Work};

fn model(substitution: Substitution, rates: SiteRates) -> Model {
    Model { substitution, rates }
}

/// Patterns dealt to five rates.
fn categories(patterns: &Patterns) -> SiteRates {
    let of_pattern = (0..patterns.len() as u32).map(|pattern| pattern % 5).collect();
    SiteRates::Categories { rates: vec![0.1, 0.4, 1.0, 1.7, 3.0], of_pattern }
}

/// The neighbours of each node, with the branches towards them.
fn neighbours(tree: &Tree) -> Vec<Vec<(usize, f64)>> {
    let mut neighbours = vec![Vec::new(); tree.nodes()];
    for node in tree.branches() {
        let parent = tree.parent(node).unwrap();
        let z = (-tree.branch_length(node)).exp();
        neighbours[node].push((parent, z));
        neighbours[parent].push((node, z));
    }
    neighbours
}

/// Computes the vector of `node` seen from `from`, and all that it needs.
fn look(engine: &mut PlainEngine, tree: &[Vec<(usize, f64)>], node: usize, from: usize) {
    let below: Vec<_> = tree[node].iter().filter(|(other, _)| *other != from).collect();
    if let [&(one, z), &(other, other_z)] = below[..] {
        look(engine, tree, one, node);
        look(engine, tree, other, node);
        immediately(engine.newview(NewView { node, children: [one, other], z: [z, other_z] }));
    }
}

/// All branches of a tree, with z.
fn branches(tree: &Tree) -> Vec<([usize; 2], f64)> {
    let branch = |node| ([node, tree.parent(node).unwrap()], (-tree.branch_length(node)).exp());
    tree.branches().map(branch).collect()
}

/// An engine that looks at a branch from both sides.
fn at_branch(
    patterns: &Patterns,
    model: &Model,
    tree: &Tree,
    [one, other]: [usize; 2],
) -> PlainEngine {
    let mut engine = PlainEngine::new(patterns, model);
    let tree = neighbours(tree);
    look(&mut engine, &tree, one, other);
    look(&mut engine, &tree, other, one);
    engine
}

/// ln likelihoods of the patterns, seen from a branch.
fn terms(patterns: &Patterns, model: &Model, tree: &Tree, branch: ([usize; 2], f64)) -> Vec<f64> {
    let mut engine = at_branch(patterns, model, tree, branch.0);
    immediately(engine.evaluate_patterns(branch.0, branch.1))
}

#[test]
fn every_branch_sees_the_likelihoods_of_the_plain_computation() {
    let patterns = sim12();
    for (seed, mean) in [(1, 0.1), (2, 1.0), (3, 30.0)] {
        let tree = Tree::random(12, mean, &mut Stream::new(seed, 0)).unwrap();
        let expected = jukes_cantor::pattern_log_likelihoods(&tree, &patterns);
        let rates =
            [SiteRates::single(patterns.len()), SiteRates::Gamma { alpha: 1e4, rates: [1.0; 4] }];
        for rates in rates {
            let model = model(Substitution::jc69(), rates);
            for branch in branches(&tree) {
                let found = terms(&patterns, &model, &tree, branch);
                for (found, expected) in found.iter().zip(&expected) {
                    assert_relative_eq!(found, expected, max_relative = 1e-12);
                }
            }
        }
    }
}

#[test]
fn a_tree_whose_likelihood_is_far_below_the_smallest_double_is_scaled() {
    // 2000 tips that share no state with their neighbours: about 4^-2000.
    let taxa = 2000;
    let patterns = Patterns {
        tips: (0..taxa).map(|tip| vec![1 << (tip % 4), 1 << (tip % 3), 15]).collect(),
        weights: vec![3, 1, 2],
        of_site: Vec::new(),
    };
    for mean in [0.5, 1e6] {
        let tree = Tree::random(taxa, mean, &mut Stream::new(1, 0)).unwrap();
        let expected = jukes_cantor::pattern_log_likelihoods(&tree, &patterns);
        assert!(expected[0] < -1800.0, "{}", expected[0]);
        let rates = [SiteRates::single(3), SiteRates::Gamma { alpha: 1e4, rates: [1.0; 4] }];
        for rates in rates {
            let model = model(Substitution::jc69(), rates);
            let found = terms(&patterns, &model, &tree, branches(&tree)[taxa + 7]);
            for (found, expected) in found.iter().zip(&expected) {
                assert_abs_diff_eq!(found, expected, epsilon = 1e-10 * expected.abs() + 1e-11);
            }
        }
    }
}

#[test]
fn gamma_is_the_mean_of_the_likelihoods_at_its_four_rates() {
    let patterns = sim12();
    let tree = Tree::random(12, 0.3, &mut Stream::new(5, 0)).unwrap();
    let gamma = SiteRates::gamma(0.4).unwrap();
    let SiteRates::Gamma { rates, .. } = gamma else { panic!("it is gamma") };
    let branch = branches(&tree)[14];
    let each = rates.map(|rate| {
        let of_pattern = vec![0; patterns.len()];
        let single = SiteRates::Categories { rates: vec![rate], of_pattern };
        terms(&patterns, &model(gtr(), single), &tree, branch)
    });
    let found = terms(&patterns, &model(gtr(), gamma), &tree, branch);
    for (pattern, found) in found.iter().enumerate() {
        let mean: f64 = each.iter().map(|terms| terms[pattern].exp() / 4.0).sum();
        assert_relative_eq!(*found, mean.ln(), max_relative = 1e-12);
    }
}

#[test]
fn each_pattern_has_the_likelihood_of_its_category() {
    let patterns = sim12();
    let tree = Tree::random(12, 0.3, &mut Stream::new(6, 0)).unwrap();
    let mixed = categories(&patterns);
    let SiteRates::Categories { rates, of_pattern } = &mixed else { panic!("it is CAT") };
    let branch = branches(&tree)[3];
    let found = terms(&patterns, &model(gtr(), mixed.clone()), &tree, branch);
    for (category, &rate) in rates.iter().enumerate() {
        let single =
            SiteRates::Categories { rates: vec![rate], of_pattern: vec![0; patterns.len()] };
        let alone = terms(&patterns, &model(gtr(), single), &tree, branch);
        for (pattern, found) in found.iter().enumerate() {
            if of_pattern[pattern] as usize == category {
                assert_relative_eq!(found, &alone[pattern], max_relative = 1e-13);
            }
        }
    }
}

#[test]
fn weights_multiply_the_terms_and_patterns_without_any_drop_out() {
    let patterns = sim12();
    let tree = Tree::random(12, 0.2, &mut Stream::new(8, 0)).unwrap();
    let weights: Vec<u32> = (0..patterns.len() as u32).map(|index| index * 7 % 4).collect();
    for rates in [SiteRates::gamma(0.7).unwrap(), categories(&patterns)] {
        let model = model(gtr(), rates);
        let (ends, z) = branches(&tree)[2];
        let all = terms(&patterns, &model, &tree, (ends, z));
        let expected: f64 =
            all.iter().zip(&weights).map(|(term, &weight)| term * f64::from(weight)).sum();
        let mut engine = PlainEngine::new(&patterns, &model);
        immediately(engine.set_weights(&weights, Columns::Drawn));
        let neighbours = neighbours(&tree);
        look(&mut engine, &neighbours, ends[0], ends[1]);
        look(&mut engine, &neighbours, ends[1], ends[0]);
        let found = immediately(engine.evaluate(ends, z));
        assert_relative_eq!(found, expected, max_relative = 1e-13);
        for (pattern, term) in immediately(engine.evaluate_patterns(ends, z)).iter().enumerate() {
            let expected = if weights[pattern] == 0 { 0.0 } else { all[pattern] };
            assert_eq!(*term, expected);
        }
    }
}

/// A branch at its best length: z at which lnL has no slope, between two that are lower.
fn check_best_branch(patterns: &Patterns, model: &Model, tree: &Tree, branch: ([usize; 2], f64)) {
    let (ends, _) = branch;
    let mut engine = at_branch(patterns, model, tree, ends);
    for start in [0.9, 0.3, 1e-6, Z_MAX, Z_MIN] {
        let z = immediately(engine.makenewz(ends, start, 100));
        let [shorter, best, longer] =
            [z.powf(0.99), z, z.powf(1.01)].map(|z| immediately(engine.evaluate(ends, z)));
        let is_best = best >= shorter && best >= longer;
        assert!(is_best || z == Z_MAX || z < 1e-6, "{ends:?} from {start}: {z}");
    }
}

#[test]
fn the_best_length_of_each_branch_is_found_from_anywhere() {
    let patterns = sim12();
    let tree = Tree::random(12, 0.2, &mut Stream::new(9, 0)).unwrap();
    for rates in [SiteRates::gamma(0.7).unwrap(), categories(&patterns)] {
        let model = model(gtr(), rates);
        for branch in branches(&tree) {
            check_best_branch(&patterns, &model, &tree, branch);
        }
    }
}

#[test]
fn derivatives_are_those_of_differences() {
    let patterns = sim12();
    let tree = Tree::random(12, 0.2, &mut Stream::new(10, 0)).unwrap();
    for rates in [SiteRates::gamma(0.7).unwrap(), categories(&patterns)] {
        let model = model(gtr(), rates);
        for (ends, z) in branches(&tree) {
            let mut engine = at_branch(&patterns, &model, &tree, ends);
            let (u, step) = (z.ln(), 1e-4 * z.ln().abs());
            let [below, here, above] = [-step, 0.0, step]
                .map(|shift| immediately(engine.evaluate(ends, (u + shift).exp())));
            engine.likelihoods.fill_sum_table(&mut Plain, ends);
            let [g, h] = engine.likelihoods.derivatives(&mut Plain, z);
            let scale = here.abs() / u.abs();
            assert_abs_diff_eq!(g, (above - below) / (2.0 * step), epsilon = 1e-6 * scale);
            let curvature = (above - 2.0 * here + below) / (step * step);
            assert_abs_diff_eq!(h, curvature, epsilon = 1e-4 * scale / u.abs());
        }
    }
}

#[test]
fn newtons_method_steps_as_it_is_described() {
    assert_eq!(newton_step(0.5, 1.0, 2.0), BranchStep::Shorten(0.37 * 0.5 + 0.63));
    assert_eq!(newton_step(Z_MAX, 1.0, 2.0), BranchStep::Stay(Z_MAX));
    // t = 0.1 and t = -0.7
    assert_eq!(newton_step(0.5, 1.0, -10.0), BranchStep::Go(0.5 * 0.1_f64.exp()));
    assert_eq!(newton_step(0.5, -7.0, -10.0), BranchStep::Go(0.5 * (-0.7_f64).exp()));
    // No further than three quarters of the way to 1, no longer than the longest branch.
    assert_eq!(newton_step(0.5, 2.0, -1.0), BranchStep::Go(0.875));
    assert_eq!(newton_step(0.5, 1e3, -1.0), BranchStep::Go(0.875));
    assert_eq!(newton_step(0.5, -1e3, -1.0), BranchStep::Go(Z_MIN));
    assert_eq!(newton_step(0.5, 1e-7, -1.0), BranchStep::Stay(0.5 * 1e-7_f64.exp()));
}

#[test]
fn calls_are_counted() {
    let patterns = sim12();
    let tree = Tree::random(12, 0.2, &mut Stream::new(11, 0)).unwrap();
    let model = model(gtr(), SiteRates::gamma(1.0).unwrap());
    let (ends, z) = branches(&tree)[0];
    let mut engine = at_branch(&patterns, &model, &tree, ends);
    immediately(engine.evaluate(ends, z));
    immediately(engine.makenewz(ends, z, 1));
    let calls = engine.calls();
    // Each of the 10 inner nodes once, and each tip as a child, unless it is an end of the branch.
    assert_eq!(calls.newview.iter().sum::<u64>(), 10);
    let tips = 12 - ends.iter().filter(|&&end| end < 12).count() as u64;
    assert_eq!(2 * calls.newview[0] + calls.newview[1], tips);
    assert_eq!((calls.evaluate, calls.evaluate_patterns, calls.makenewz), (1, 0, 1));
    assert!(calls.newton_steps >= 1);
}

/// Holds the likelihoods under [`gtr`], without and with mean-Gamma rates of shape 0.5, at a branch
/// of the root against expected ones.
fn check_likelihoods(alignment: &Source, tree: &Source, expected: [f64; 2]) {
    let alignment = Alignment::read(alignment).unwrap();
    let tree = newick::read(tree, &alignment.names).unwrap();
    let patterns = Patterns::compress(&alignment);
    let (ends, z) =
        branches(&tree).into_iter().find(|(ends, _)| ends.contains(&tree.root())).unwrap();
    let rates = [SiteRates::single(patterns.len()), SiteRates::gamma(0.5).unwrap()];
    for (rates, expected) in rates.into_iter().zip(expected) {
        let mut engine = at_branch(&patterns, &model(gtr(), rates), &tree, ends);
        assert_relative_eq!(immediately(engine.evaluate(ends, z)), expected, max_relative = 1e-10);
    }
}

/// Values of data/reference_lnl.csv.
#[test]
fn shipped_data_have_the_likelihoods_that_phyml_computed() {
    let [alignment, tree] = SIM12.map(|text| Source::new("sim12", text));
    check_likelihoods(&alignment, &tree, [-5173.1004216122, -5328.6665628978]);
}

/// Values of reference_lnl.csv.
#[test]
fn real_data_have_the_likelihoods_that_libpll_computed() {
    let Some(alignment) = shared_data("hypo42.phy") else { return };
    let tree = shared_data("trees/hypo42.nwk").expect("the tree is beside the alignment");
    check_likelihoods(&alignment, &tree, [-3836.5036587901, -3761.2711788222]);
}

/// How often the functions were called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Calls {
    /// `newview` with both children tips, with one, and with none.
    pub newview: [u64; 3],
    /// `evaluate`, for one sum.
    pub evaluate: u64,
    /// `evaluate`, for each pattern.
    pub evaluate_patterns: u64,
    /// `makenewz`.
    pub makenewz: u64,
    /// Sums of derivatives in `makenewz`, one for each z that it tried.
    pub newton_steps: u64,
}

/// Computes on whatever computer runs the program, in no virtual time.
#[derive(Debug, Clone)]
pub struct PlainEngine {
    pub(super) likelihoods: Likelihoods,
    calls: Calls,
}

impl PlainEngine {
    /// An engine for an alignment whose patterns keep their weights at first. Vectors hold nothing.
    pub fn new(patterns: &phylogeny::Patterns, model: &Model) -> Self {
        Self { likelihoods: Likelihoods::new(patterns, model), calls: Calls::default() }
    }

    /// How often its functions were called.
    pub fn calls(&self) -> Calls {
        self.calls
    }
}

impl Engine for PlainEngine {
    async fn set_weights(&mut self, weights: &[u32], columns: Columns) {
        self.likelihoods.set_weights(weights, columns);
    }

    async fn set_model(&mut self, model: &Model) {
        self.likelihoods.set_model(model);
    }

    async fn newview(&mut self, call: NewView) {
        self.calls.newview[self.likelihoods.inner_ends(call.children)] += 1;
        self.likelihoods.newview(&mut Plain, call);
    }

    async fn evaluate(&mut self, ends: [usize; 2], z: f64) -> f64 {
        self.calls.evaluate += 1;
        self.likelihoods.evaluate(&mut Plain, ends, z)
    }

    async fn evaluate_patterns(&mut self, ends: [usize; 2], z: f64) -> Vec<f64> {
        self.calls.evaluate_patterns += 1;
        self.likelihoods.evaluate_patterns(ends, z)
    }

    async fn makenewz(&mut self, ends: [usize; 2], z: f64, steps: u32) -> f64 {
        let newton = self.likelihoods.makenewz(ends, z, steps);
        self.calls.makenewz += 1;
        self.calls.newton_steps += newton.tried.len() as u64;
        newton.z
    }

    async fn work(&mut self, _: Work) {}
}
