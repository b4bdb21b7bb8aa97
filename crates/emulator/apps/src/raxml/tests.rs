//! The functions on the emulated machine, held against those on the host, and whole runs.

use std::rc::Rc;

use super::engine::{Engine, NewView, z_of};
use super::plain::PlainEngine;
use super::search::{Effort, Rates};
use super::*;
use crate::phylogeny::substitution::{Model, SiteRates, Substitution};
use crate::phylogeny::tests::{self, gtr, immediately};
use crate::phylogeny::{Stream, Tree, jukes_cantor, simulate};
use approx::assert_relative_eq;
use mmgp_cell::mfc::Hazards;
use mmgp_runtime::Edtlp;

pub(super) fn sim12() -> Rc<Patterns> {
    Rc::new(tests::sim12())
}

/// The first patterns of it.
fn few(count: usize) -> Rc<Patterns> {
    let mut patterns = (*sim12()).clone();
    patterns.weights.truncate(count);
    patterns.tips.iter_mut().for_each(|codes| codes.truncate(count));
    Rc::new(patterns)
}

/// Patterns for whole searches: enough for a group on each of 16 SPEs, or all of them where tests take all
/// of their seeds.
fn to_search() -> Rc<Patterns> {
    if testing::share() < 1.0 { few(64) } else { sim12() }
}

pub(super) fn random_tree(patterns: &Patterns) -> Tree {
    Tree::random(patterns.tips.len(), 0.1, &mut Stream::new(7, 0)).unwrap()
}

fn model(rates: SiteRates) -> Model {
    Model { substitution: gtr(), rates }
}

pub(super) fn gamma() -> Model {
    model(SiteRates::gamma(0.5).unwrap())
}

/// 25 categories, the most there may be, dealt to the patterns in turn.
pub(super) fn categories(patterns: &Patterns) -> Model {
    let rates = (1..=25).map(|index| f64::from(index) / 13.0).collect();
    let of_pattern = (0..patterns.len() as u32).map(|pattern| pattern * 7 % 25).collect();
    model(SiteRates::Categories { rates, of_pattern })
}

/// Everything that an engine computes, with all kinds of ends: log likelihoods seen from the three
/// branches of several inner nodes, those of the patterns, and lengths after steps of Newton's
/// method from good and bad ones.
pub(super) async fn exercise(engine: &mut impl Engine, tree: &Tree, model: &Model) -> Vec<f64> {
    engine.set_model(model).await;
    let mut found = Vec::new();
    for root in (tree.taxa()..tree.nodes()).step_by(3) {
        let mut tree = tree.clone();
        tree.rehang(root);
        let z = |node: usize| z_of(tree.branch_length(node));
        for node in tree.post_order().into_iter().filter(|&node| node >= tree.taxa()) {
            let below: Vec<usize> = tree.children(node).collect();
            if let [one, other] = below[..] {
                engine
                    .newview(NewView { node, children: [one, other], z: [one, other].map(z) })
                    .await;
            }
        }
        let around: Vec<usize> = tree.children(root).collect();
        for turn in 0..3 {
            let [one, other, third] = [0, 1, 2].map(|place| around[(turn + place) % 3]);
            engine
                .newview(NewView { node: root, children: [one, other], z: [one, other].map(z) })
                .await;
            found.push(engine.evaluate([root, third], z(third)).await);
            found.extend(engine.evaluate_patterns([third, root], z(third)).await);
            for (start, steps) in
                [(z(third), 1), (z(third), 10), (0.9, 10), (1e-9, 3), (0.999_99, 2)]
            {
                found.push(engine.makenewz([third, root], start, steps).await);
            }
        }
    }
    found
}

pub(super) fn on_host(
    patterns: &Patterns,
    (weights, columns): (&[u32], Columns),
    tree: &Tree,
    model: &Model,
) -> Vec<f64> {
    let mut engine = PlainEngine::new(patterns, model);
    immediately(async {
        engine.set_weights(weights, columns).await;
        exercise(&mut engine, tree, model).await
    })
}

fn on_spes(
    patterns: &Rc<Patterns>,
    (weights, columns): (&[u32], Columns),
    (p, port): (u32, Port),
    tree: &Tree,
    model: &Model,
) -> Vec<f64> {
    let (tree, model, weights) = (tree.clone(), model.clone(), weights.to_vec());
    let blade = crate::phylogeny::tests::qs20();
    let on = Runtime::new(blade, Box::new(Edtlp::default()));
    let life = async move |engine: &mut OffloadedEngine| {
        engine.set_weights(&weights, columns).await;
        exercise(engine, &tree, &model).await
    };
    run_alone(&on, (p, port), patterns, life).unwrap()
}

/// Holds p SPEs against the host, for both ways in which rates vary.
fn check(patterns: &Rc<Patterns>, weights: &[u32], how: (u32, Port)) {
    check_columns(patterns, (weights, Columns::default()), how);
}

fn check_columns(patterns: &Rc<Patterns>, weights: (&[u32], Columns), how: (u32, Port)) {
    let tree = random_tree(patterns);
    for model in [gamma(), categories(patterns)] {
        let expected = on_host(patterns, weights, &tree, &model);
        let found = on_spes(patterns, weights, how, &tree, &model);
        assert_alike(&found, &expected);
    }
}

/// What [`exercise`] has found is what it found elsewhere, but for rounding.
pub(super) fn assert_alike(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
        // Without weight a pattern has no log likelihood.
        if *expected != 0.0 && *found != 0.0 {
            assert_relative_eq!(found, expected, max_relative = 1e-9);
        }
        assert!(found.is_finite(), "number {index}");
    }
}

#[test]
fn the_likelihood_of_a_tree_under_jc69_is_that_of_the_plain_computation() {
    let patterns = sim12();
    let tree = random_tree(&patterns);
    let expected = jukes_cantor::log_likelihood(&tree, &patterns);
    let single = SiteRates::single(patterns.len());
    let model = Model { substitution: Substitution::jc69(), rates: single };
    let blade = crate::phylogeny::tests::qs20();
    let on = Runtime::new(blade, Box::new(Edtlp::default()));
    let life = async move |engine: &mut OffloadedEngine| {
        let view = super::engine::update(engine, &tree, &model).await;
        engine.evaluate(view.ends, view.z).await
    };
    let found = run_alone(&on, (1, Port::Tuned), &patterns, life).unwrap();
    assert_relative_eq!(found, expected, max_relative = 1e-12);
}

#[test]
fn one_spe_computes_what_the_host_computes() {
    let patterns = sim12();
    check(&patterns, &patterns.weights, (1, Port::Tuned));
}

#[test]
fn the_naive_port_computes_what_the_host_computes() {
    let patterns = few(40);
    for p in [1, 2, 5] {
        check(&patterns, &patterns.weights, (p, Port::Naive));
    }
}

#[test]
fn any_number_of_spes_computes_what_the_host_computes() {
    // Groups enough for 16 SPEs, but not as many for each.
    let patterns = few(4 * 18 - 1);
    for p in 2..=16 {
        check(&patterns, &patterns.weights, (p, Port::Tuned));
    }
}

#[test]
fn more_spes_than_groups_of_patterns_are_idle_but_right() {
    let patterns = few(9);
    check(&patterns, &patterns.weights, (7, Port::Tuned));
}

#[test]
fn patterns_without_weight_drop_out_or_count_for_nothing() {
    let patterns = sim12();
    let weight = |index: usize| (index * index % 7 % 3) as u32;
    let weights: Vec<u32> = (0..patterns.len()).map(weight).collect();
    assert!(weights.contains(&0));
    for columns in [Columns::All, Columns::Drawn] {
        // The naive kernels leave the terms of patterns without weight as they find them.
        for port in [Port::Tuned, Port::Unfused] {
            check_columns(&patterns, (&weights, columns), (3, port));
        }
    }
}

#[test]
fn sums_that_do_not_fit_the_local_store_stream_from_main_memory() {
    let tree = simulate::tree(8, 0.4, 1).unwrap();
    let alignment = simulate::alignment(&tree, &simulate::names(8), 4000, 1).unwrap();
    let mut patterns = Patterns::compress(&alignment);
    // As many as brown41 has, the largest of the alignments that RAxML is tried on.
    patterns.weights.truncate(1075);
    patterns.tips.iter_mut().for_each(|codes| codes.truncate(1075));
    assert_eq!(patterns.len(), 1075);
    let patterns = Rc::new(patterns);
    for p in [1, 2] {
        check(&patterns, &patterns.weights, (p, Port::Tuned));
    }
}

/// A short search with a task of each kind more than workers.
fn search(patterns: &Rc<Patterns>, mapping: (u32, u32), port: Port) -> (Run, Findings) {
    search_columns((patterns, Columns::default()), mapping, port)
}

fn search_columns(
    (patterns, columns): (&Rc<Patterns>, Columns),
    (m, p): (u32, u32),
    port: Port,
) -> (Run, Findings) {
    let effort = Effort { prunings: 3, ..Effort::SHORT };
    let settings = Settings { effort, columns, ..Settings::new(5, Rates::Gamma) };
    let tasks = Tasks { inferences: 1, bootstraps: 3 };
    let raxml = Raxml::new((**patterns).clone(), settings, tasks, port).unwrap();
    let blade = crate::phylogeny::tests::qs20();
    let on = Runtime::new(blade, Box::new(Edtlp::default()));
    raxml.emulate_on(&on, Mapping::of(m, p)).unwrap()
}

fn assert_same(found: &Findings, first: &Findings) {
    assert_eq!(found.found.len(), first.found.len());
    for (one, other) in found.found.iter().zip(&first.found) {
        assert_eq!(one.task, other.task);
        assert_relative_eq!(one.log_likelihood, other.log_likelihood, max_relative = 1e-9);
        assert_eq!(one.tree.splits(), other.tree.splits());
    }
    let supports = |findings: &Findings| findings.best.as_ref().map(|best| best.supports.clone());
    assert_eq!(supports(found), supports(first));
}

#[test]
fn every_configuration_finds_the_same_trees() {
    let patterns = to_search();
    let (run, first) = search(&patterns, (1, 1), Port::Tuned);
    let counts: Vec<u64> = run.functions.iter().map(|function| function.calls).collect();
    assert!(counts.iter().all(|&count| count > 0), "{counts:?}");
    for configuration in [(2, 1), (1, 5), (2, 8), (16, 1), (3, 5)] {
        let (run, found) = search(&patterns, configuration, Port::Tuned);
        assert_same(&found, &first);
        let calls = run.functions.iter().map(|function| function.calls);
        assert!(calls.eq(counts.iter().copied()), "{configuration:?}");
    }
}

#[test]
fn the_findings_are_those_of_the_host() {
    let patterns = sim12();
    let (_, found) = search(&patterns, (2, 2), Port::Tuned);
    let effort = Effort { prunings: 3, ..Effort::SHORT };
    let settings = Settings { effort, ..Settings::new(5, Rates::Gamma) };
    for FoundTree { task, log_likelihood, tree } in found.found {
        let mut engine = PlainEngine::new(&patterns, &gamma());
        let plain = immediately(search::run(&mut engine, &patterns, &settings, task));
        assert_relative_eq!(log_likelihood, plain.log_likelihood, max_relative = 1e-9);
        assert_eq!(tree.splits(), plain.tree.splits());
    }
}

#[test]
fn spes_share_loops_and_nothing_else() {
    let patterns = sim12();
    let times = |p| {
        let (run, _) = search(&patterns, (1, p), Port::Tuned);
        let parallel: f64 = run.functions.iter().map(|function| function.apu_parallel.0).sum();
        let serial: f64 = run.functions.iter().map(|function| function.apu_serial.0).sum();
        (parallel, serial, run.time.0)
    };
    let (one, four) = (times(1), times(4));
    // The loops of four SPEs take as long together; kernels are a little slower on small shares.
    assert!((0.99..1.1).contains(&(four.0 / one.0)), "{one:?}, {four:?}");
    // What depends on a branch alone each does for itself, and they wait for each other.
    assert!(four.1 / one.1 > 4.0, "{one:?}, {four:?}");
    assert!((2.0..4.0).contains(&(one.2 / four.2)), "{one:?}, {four:?}");
}

#[test]
fn a_module_for_each_function_costs_each_spe_its_code_and_changes_no_tree() {
    let patterns = few(64);
    let effort = Effort { prunings: 3, ..Effort::SHORT };
    let settings = Settings { effort, ..Settings::new(5, Rates::Gamma) };
    let tasks = Tasks { inferences: 0, bootstraps: 2 };
    let raxml = Raxml::new((*patterns).clone(), settings, tasks, Port::Unfused).unwrap();
    let on = || {
        let blade = crate::phylogeny::tests::qs20();
        blade.set_hazards(Hazards::Ignored);
        Runtime::new(blade, Box::new(Edtlp::default()))
    };
    let more = |p| {
        let mapping = Mapping::of(1, p);
        let (one, first) = raxml.emulate_on(&on(), mapping).unwrap();
        let apart = raxml.clone().in_modules(Modules::ByFunction);
        let ran = apart.run(&on(), mapping).unwrap();
        let (other, found) = apart.emulate_on(&on(), mapping).unwrap();
        assert_same(&found, &first);
        // What is known of the values, and of calls that are alike, leaves the modules to be fetched.
        let known = apart.knowing(&ran).unwrap().run(&on(), mapping).unwrap();
        assert_eq!(known.run.time, other.time);
        (other.time - one.time).0 / one.offloads() as f64
    };
    let (alone, eight) = (more(1), more(8));
    // 117 KB at the 23 GB/s of an SPE, where it does not hold them; the memory of a Cell has no more for eight.
    let whole = 117.0 * 1024.0 / 23e9;
    assert!((0.6..1.4).contains(&(alone / whole)), "{alone}");
    assert!((4.0..9.0).contains(&(eight / alone)), "{eight} against {alone}");
}

#[test]
fn a_bootstrap_finds_the_same_whether_or_not_it_computes_what_was_not_drawn() {
    let patterns = sim12();
    for port in [Port::Unfused, Port::Ppe] {
        let search = |columns| search_columns((&patterns, columns), (2, 1), port);
        let (all_run, all) = search(Columns::All);
        let (drawn_run, drawn) = search(Columns::Drawn);
        assert_same(&drawn, &all);
        assert!(all_run.time > drawn_run.time * 1.1, "{port:?}");
    }
}

#[test]
fn the_other_ports_find_the_same_and_take_longer() {
    let patterns = to_search();
    let (tuned_run, tuned) = search(&patterns, (2, 2), Port::Tuned);
    let (unfused_run, unfused) = search(&patterns, (2, 2), Port::Unfused);
    assert_same(&unfused, &tuned);
    assert!(unfused_run.time > tuned_run.time * 1.2);
    let (naive_run, naive) = search(&patterns, (2, 2), Port::Naive);
    assert_same(&naive, &tuned);
    assert!(naive_run.time > unfused_run.time * 1.2);
    let (host_run, host) = search(&patterns, (2, 2), Port::Ppe);
    assert_same(&host, &tuned);
    let calls = host_run.host_functions.iter().map(|function| function.calls);
    assert!(calls.eq(tuned_run.functions.iter().map(|function| function.calls)));
    assert_eq!(host_run.offloads(), 0);
}
