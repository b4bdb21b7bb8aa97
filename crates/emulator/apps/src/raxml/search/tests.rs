//! Whole searches on an engine that computes on the host.

use super::*;
use crate::phylogeny::splits::SplitCounts;
use crate::phylogeny::tests::{SIM12, SIM24, immediately, shared_data};
use crate::phylogeny::{Alignment, newick};
use crate::raxml::plain::PlainEngine;
use mmgp_base::table::Source;

struct Data {
    patterns: Patterns,
    names: Vec<String>,
}

impl Data {
    fn read(source: &Source) -> Self {
        let alignment = Alignment::read(source).unwrap();
        Self { patterns: Patterns::compress(&alignment), names: alignment.names }
    }

    fn sim12() -> Self {
        Self::read(&Source::new("sim12.phy", SIM12[0]))
    }

    fn sim24() -> Self {
        Self::read(&Source::new("sim24.phy", SIM24[0]))
    }

    fn tree(&self, text: &str) -> Tree {
        newick::read(&Source::new("x.nwk", text), &self.names).unwrap()
    }

    fn engine(&self) -> PlainEngine {
        PlainEngine::new(&self.patterns, &self.model())
    }

    fn model(&self) -> Model {
        let rates = SiteRates::single(self.patterns.len());
        Model { substitution: Substitution::jc69(), rates }
    }

    fn run(&self, settings: &Settings, task: Task) -> Inference {
        immediately(run(&mut self.engine(), &self.patterns, settings, task))
    }

    /// A tree, smoothed, with the model fitted to it; nothing rearranged.
    fn fitted(&self, tree: Tree, rates: Rates) -> Inference {
        let effort = Effort { fast_cycles: 0, thorough_cycles: 0, ..Effort::WHOLE };
        let settings = Settings { start: Start::Given(tree), effort, ..Settings::new(1, rates) };
        self.run(&settings, Task::Inference(0))
    }
}

/// Settings with a fit that is less fine, for time.
fn quick(seed: u64, rates: Rates) -> Settings {
    let effort = Effort { last_fit: Fineness::ROUGH, ..Effort::WHOLE };
    Settings { effort, ..Settings::new(seed, rates) }
}

#[test]
fn a_search_finds_a_tree_as_likely_as_the_true_one_from_any_start() {
    let data = Data::sim24();
    let truth = data.tree(SIM24[1]);
    let expected = data.fitted(truth, Rates::Cat).log_likelihood;
    for (seed, start) in [(1, Start::Parsimony), (2, Start::Parsimony), (3, Start::Random)] {
        let settings = Settings { start, ..quick(seed, Rates::Cat) };
        let found = data.run(&settings, Task::Inference(0));
        assert!(found.log_likelihood > found.first_log_likelihood);
        // Under CAT every search has rates of its own.
        let fitted = data.fitted(found.tree, Rates::Cat).log_likelihood;
        assert!(fitted > expected - 0.01, "{fitted}, but the true tree has {expected}");
    }
}

#[test]
fn a_search_under_gamma_finds_the_true_tree_and_the_model_that_made_it() {
    let data = Data::sim12();
    let truth = data.tree(SIM12[1]);
    let expected = data.fitted(truth, Rates::Gamma).log_likelihood;
    for seed in 1..=3 {
        let settings = Settings { start: Start::Random, ..Settings::new(seed, Rates::Gamma) };
        let found = data.run(&settings, Task::Inference(0));
        assert!((found.log_likelihood - expected).abs() < 0.01 || found.log_likelihood > expected);
        // 600 sites under equal rates: each is known within some 20 %.
        for rate in found.model.substitution.exchangeabilities {
            assert!((rate - 1.0).abs() < 0.4, "{:?}", found.model);
        }
        let SiteRates::Gamma { alpha, .. } = found.model.rates else { panic!() };
        assert!(alpha > 5.0, "no variation over sites: {alpha}");
    }
}

fn climber<'e>(data: &Data, engine: &'e mut PlainEngine, seed: u64) -> Climber<'e, PlainEngine> {
    let stream = &mut Stream::new(seed, 0);
    let tree = random(data.patterns.tips.len(), stream, &mut HostTally::default());
    let weights = data.patterns.weights.clone();
    immediately(Climber::new(
        engine,
        tree,
        data.model(),
        (weights, Columns::All),
        HostTally::default(),
    ))
}

#[test]
fn smoothing_never_makes_a_tree_less_likely_and_ends() {
    let data = Data::sim24();
    for seed in 1..=5 {
        let mut engine = data.engine();
        let mut climber = climber(&data, &mut engine, seed);
        let mut before = immediately(climber.log_likelihood());
        for pass in 1..=PASSES {
            immediately(climber.smooth(1));
            let after = immediately(climber.log_likelihood());
            assert!(after > before - 1e-6, "seed {seed}, pass {pass}: {before} -> {after}");
            before = after;
        }
        let calls = climber.counts.makenewz;
        immediately(climber.smooth(PASSES));
        let passes = (climber.counts.makenewz - calls) / (2 * 24 - 3);
        assert!(passes <= 8, "the branches stand still: {passes}");
    }
}

/// The lengths that smoothing finds are where the likelihood has its maximum.
#[test]
fn no_branch_of_a_smoothed_tree_is_better_longer_or_shorter() {
    let data = Data::sim12();
    let mut engine = data.engine();
    let mut climber = climber(&data, &mut engine, 1);
    immediately(climber.smooth(100));
    let best = immediately(climber.log_likelihood());
    for (one, other) in climber.tree.branches() {
        let z = climber.tree.z(one, other);
        for changed in [z * 0.99, (z * 1.01).min(crate::raxml::engine::Z_MAX)] {
            climber.tree.set_z(one, other, changed);
            let log_likelihood = immediately(climber.log_likelihood());
            assert!(log_likelihood <= best + 1e-6, "{z} -> {changed}: {best}, {log_likelihood}");
        }
        climber.tree.set_z(one, other, z);
    }
}

#[test]
fn the_likelihood_of_an_insertion_is_that_of_the_tree_with_it() {
    let data = Data::sim12();
    for care in [Care::Fast, Care::Thorough] {
        let mut engine = data.engine();
        let mut climber = climber(&data, &mut engine, 2);
        let before = immediately(climber.log_likelihood());
        let branches = climber.tree.branches();
        let mut inner = branches.iter().filter(|(_, node)| !climber.tree.is_tip(*node));
        let (root, node) = *inner.nth(3).unwrap();
        let stump = climber.tree.prune(node, root);
        immediately(climber.look(root, node));
        let rest = climber.tree.branches_from(stump.ends[0], stump.ends[1]);
        for (one, other) in rest {
            let insertion = immediately(climber.try_insertion(&stump, [one, other], care));
            let pruned = climber.tree.clone();
            climber.tree.graft(node, insertion.ends, insertion.z);
            climber.tree.set_z(node, root, insertion.z_subtree);
            climber.tree.to_tree().expect("the tree is whole");
            climber.tree.forget_all();
            let whole = immediately(climber.log_likelihood());
            assert!((whole - insertion.log_likelihood).abs() < 1e-8, "{care:?} {insertion:?}");
            climber.set_tree(&pruned);
            immediately(climber.look(root, node));
        }
        climber.tree.graft(node, stump.ends, stump.z);
        let after = immediately(climber.log_likelihood());
        assert!((after - before).abs() < 1e-8, "put back as it was");
    }
}

#[test]
fn a_cycle_leaves_a_whole_tree_of_the_likelihood_that_it_says() {
    let data = Data::sim24();
    let mut engine = data.engine();
    let mut climber = climber(&data, &mut engine, 3);
    let mut before = immediately(climber.log_likelihood());
    let mut cut_off = CutOff::first(before);
    for care in [Care::Fast, Care::Thorough] {
        let bounds = Bounds { radius: 5, prunings: usize::MAX, kept_trees: 20, passes: PASSES };
        let after = immediately(climber.rearrange(before, care, bounds, &mut cut_off));
        assert!(after > before, "{care:?}: {before} -> {after}");
        climber.tree.to_tree().expect("the tree is whole");
        climber.tree.forget_all();
        let anew = immediately(climber.log_likelihood());
        assert!((anew - after).abs() < 1e-8, "{anew}, but {after} was said");
        before = after;
    }
}

#[test]
fn fitting_rates_of_patterns_helps_and_keeps_their_mean() {
    let data = Data::sim12();
    let mut engine = data.engine();
    let mut climber = climber(&data, &mut engine, 4);
    immediately(climber.smooth(PASSES));
    let before = immediately(climber.log_likelihood());
    let each_before = immediately(climber.log_likelihoods());
    let after = immediately(climber.fit_categories(4));
    // The rate of before is on the grid, and the branches grow by what the rates lose.
    let each_after = immediately(climber.log_likelihoods());
    for (before, after) in each_before.iter().zip(&each_after) {
        assert!(*after > before - 1e-3, "{before} -> {after}");
    }
    assert!(after > before + 10.0, "{before} -> {after}");
    let SiteRates::Categories { rates, of_pattern } = &climber.model.rates else { panic!() };
    assert!(rates.len() > 5 && rates.len() <= 25, "{rates:?}");
    let weights = &climber.weights;
    let sum: f64 =
        of_pattern.iter().zip(weights).map(|(&c, &w)| rates[c as usize] * f64::from(w)).sum();
    let mean = sum / f64::from(weights.iter().sum::<u32>());
    assert!((mean - 1.0).abs() < 1e-12, "{mean}");
}

#[test]
fn a_task_is_the_same_whoever_runs_it_and_after_whatever() {
    let data = Data::sim12();
    let settings = quick(7, Rates::Cat);
    let tasks = [Task::Bootstrap(0), Task::Inference(0), Task::Bootstrap(1)];
    let alone = tasks.map(|task| data.run(&settings, task));
    let mut engine = data.engine();
    for (task, alone) in tasks.iter().zip(&alone).rev() {
        let again = immediately(run(&mut engine, &data.patterns, &settings, *task));
        assert_eq!(again, *alone, "{task:?}");
    }
    assert_ne!(alone[0].log_likelihood, alone[2].log_likelihood, "other columns");
    let other = data.run(&quick(8, Rates::Cat), Task::Bootstrap(0));
    assert_ne!(other.log_likelihood, alone[0].log_likelihood, "another seed");
}

#[test]
fn every_call_is_counted_once() {
    let data = Data::sim12();
    let mut engine = data.engine();
    let settings = Settings { effort: Effort::SHORT, ..Settings::new(1, Rates::Cat) };
    let found = immediately(run(&mut engine, &data.patterns, &settings, Task::Bootstrap(0)));
    let (counts, calls) = (found.counts, engine.calls());
    let own = [counts.tip_tip, counts.tip_inner, counts.inner_inner];
    assert_eq!(own, calls.newview);
    assert_eq!((counts.makenewz, counts.evaluate), (calls.makenewz, calls.evaluate));
    assert_eq!(counts.evaluate_patterns, calls.evaluate_patterns);
    assert!(own.iter().all(|&count| count > 0) && counts.makenewz > 0);
}

/// An engine that lets a search run and adds up what its host did.
struct Listening {
    plain: PlainEngine,
    works: Vec<mmgp_cell::ppe::Work>,
}

impl Engine for Listening {
    async fn set_weights(&mut self, weights: &[u32], columns: Columns) {
        self.plain.set_weights(weights, columns).await;
    }

    async fn set_model(&mut self, model: &Model) {
        self.plain.set_model(model).await;
    }

    async fn newview(&mut self, call: crate::raxml::engine::NewView) {
        self.plain.newview(call).await;
    }

    // As if it added in another order.
    async fn evaluate(&mut self, ends: [usize; 2], z: f64) -> f64 {
        self.plain.evaluate(ends, z).await * (1.0 + 1e-14)
    }

    async fn evaluate_patterns(&mut self, ends: [usize; 2], z: f64) -> Vec<f64> {
        self.plain.evaluate_patterns(ends, z).await
    }

    async fn makenewz(&mut self, ends: [usize; 2], z: f64, steps: u32) -> f64 {
        self.plain.makenewz(ends, z, steps).await
    }

    async fn work(&mut self, work: mmgp_cell::ppe::Work) {
        self.works.push(work);
    }
}

#[test]
fn the_last_bits_of_likelihoods_decide_nothing_and_host_work_is_told() {
    let data = Data::sim12();
    let settings = quick(5, Rates::Gamma);
    let task = Task::Inference(0);
    let plain = data.run(&settings, task);
    let mut engine = Listening { plain: data.engine(), works: Vec::new() };
    let other = immediately(run(&mut engine, &data.patterns, &settings, task));
    assert_eq!(other.counts, plain.counts);
    assert_eq!(other.tree.splits(), plain.tree.splits());
    assert!((other.log_likelihood - plain.log_likelihood).abs() < 1e-7);
    let Counts { tip_tip, tip_inner, inner_inner, makenewz, evaluate, .. } = other.counts;
    let calls = tip_tip + tip_inner + inner_inner + makenewz + evaluate;
    assert!(engine.works.len() as u64 >= calls, "before every call");
    assert!(engine.works.iter().all(|work| work.integers < 1_000_000));
}

/// PhyML 3.3.20220408 (`-m GTR -f e -c 4 -a e -o tlr -s BEST`) ends at -4938.8603, IQ-TREE 2.0.7
/// (`-m GTR+G4+F`) at -4938.861.
#[test]
fn a_shipped_alignment_has_the_likelihood_that_other_programs_reach() {
    let found = Data::sim12().run(&Settings::new(1, Rates::Gamma), Task::Inference(0));
    assert!((found.log_likelihood + 4938.860).abs() < 0.05, "{}", found.log_likelihood);
}

/// RAxML 8, IQ-TREE 2 and PhyML 3.3 end between -3726.136 and -3726.113.
#[test]
fn a_real_alignment_has_the_likelihood_that_other_programs_reach() {
    let Some(source) = shared_data("hypo42.phy") else { return };
    let data = Data::read(&source);
    let found = data.run(&Settings::new(1, Rates::Gamma), Task::Inference(0));
    assert!((found.log_likelihood + 3726.113).abs() < 0.05, "{}", found.log_likelihood);
    let mut splits = SplitCounts::new(found.tree.taxa());
    for number in 0..4 {
        let bootstrap = data.run(&Settings::new(1, Rates::Cat), Task::Bootstrap(number));
        splits.add(&bootstrap.tree, 1.0);
    }
    let supports: Vec<f64> = splits.supports(&found.tree).into_iter().flatten().collect();
    assert_eq!(supports.len(), 42 - 3);
    assert!(supports.contains(&1.0) && supports.iter().any(|&s| s < 1.0));
}
