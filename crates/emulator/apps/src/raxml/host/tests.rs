//! The host engine: the numbers of the plain one, and times within bounds that were found otherwise.

use std::cell::RefCell;
use std::rc::Rc;

use approx::assert_relative_eq;

use super::super::plain::PlainEngine;
use super::*;
use crate::phylogeny::tests::{gtr, immediately, random_patterns};
use crate::phylogeny::{Stream, Tree};
use mmgp_base::units::Seconds;
use mmgp_cell::Blade;
use mmgp_machine::Machine;

const TAXA: usize = 12;

impl HostFunctions {
    /// The same with its code in that order.
    fn ordered(self, order: Order) -> Self {
        Self { order, ..self }
    }

    /// The same with the scoreboard asked so often.
    fn timed(self, timing: KernelTiming) -> Self {
        Self { timing, ..self }
    }
}

fn qs20() -> Machine {
    Machine::named("qs20").unwrap()
}

fn gamma() -> SiteRates {
    SiteRates::gamma(0.5).unwrap()
}

fn categories(count: usize) -> SiteRates {
    let of_pattern = (0..count as u32).map(|pattern| pattern % 3).collect();
    SiteRates::Categories { rates: vec![0.2, 1.0, 2.2], of_pattern }
}

fn model(rates: SiteRates) -> Model {
    Model { substitution: gtr(), rates }
}

/// All vectors towards the root of a random tree, then both other functions at one of its branches.
async fn all_functions(engine: &mut impl Engine, taxa: usize, mean: f64) -> [f64; 2] {
    let tree = Tree::random(taxa, mean, &mut Stream::new(4, 0)).unwrap();
    let z = |node: usize| (-tree.branch_length(node)).exp();
    for node in tree.post_order() {
        let children: Vec<usize> = tree.children(node).collect();
        if let [.., one, other] = children[..] {
            let call = NewView { node, children: [one, other], z: [z(one), z(other)] };
            engine.newview(call).await;
        }
    }
    let first = tree.children(tree.root()).next().unwrap();
    let ends = [first, tree.root()];
    [engine.evaluate(ends, z(first)).await, engine.makenewz(ends, 0.9, 10).await]
}

/// Runs `life` on so many processes of an idle machine, all with their engine; when the last ends,
/// and what each came to.
fn run<T: 'static>(
    processes: &[u32],
    engine: impl Fn(HostProcess) -> HostEngine,
    life: impl AsyncFn(&mut HostEngine) -> T + Clone + 'static,
) -> (Seconds, Vec<T>) {
    let blade = Blade::new(&qs20(), KernelTiming::Cached, 0.0);
    let results = Rc::new(RefCell::new(Vec::new()));
    for &rank in processes {
        let mut engine = engine(blade.host_process(rank));
        let (life, results) = (life.clone(), Rc::clone(&results));
        blade.sim.spawn(format!("rank {rank}"), async move {
            engine.process.resume().await;
            let result = life(&mut engine).await;
            engine.process.release();
            results.borrow_mut().push(result);
        });
    }
    let end = blade.run().unwrap().seconds();
    (end, Rc::into_inner(results).expect("invariant: all have ended").into_inner())
}

#[test]
fn the_numbers_are_those_of_the_plain_engine_bit_for_bit() {
    let patterns = random_patterns(TAXA, 30);
    for rates in [gamma(), categories(30)] {
        let model = model(rates);
        let mut plain = PlainEngine::new(&patterns, &model);
        let expected = immediately(all_functions(&mut plain, TAXA, 0.3));
        for timing in [KernelTiming::Cached, KernelTiming::Exact] {
            let (own, patterns) = (model.clone(), patterns.clone());
            let (_, found) = run(
                &[0],
                |process| HostEngine::new(process, HostFunctions::new(&patterns).timed(timing)),
                async move |engine: &mut HostEngine| {
                    engine.set_model(&own).await;
                    all_functions(engine, TAXA, 0.3).await
                },
            );
            assert_eq!(found, [expected]);
        }
    }
}

/// Time of the functions on a tree most of whose patterns are scaled.
fn time_of_all(timing: KernelTiming, order: Order, rates: &SiteRates) -> [(u64, SimSpan); 3] {
    let (taxa, model) = (400, model(rates.clone()));
    let patterns = random_patterns(taxa, 12);
    let (_, times) = run(
        &[0],
        |process| {
            HostEngine::new(process, HostFunctions::new(&patterns).timed(timing).ordered(order))
        },
        async move |engine: &mut HostEngine| {
            engine.set_model(&model).await;
            all_functions(engine, taxa, 0.5).await;
            engine.totals()
        },
    );
    times[0]
}

#[test]
fn times_asked_for_once_for_each_shape_are_those_asked_for_always() {
    for rates in [gamma(), categories(12)] {
        for order in [Order::Expressions, Order::Written, Order::Scheduled, Order::Pipelined] {
            let [once, always] = [KernelTiming::Cached, KernelTiming::Exact]
                .map(|timing| time_of_all(timing, order, &rates));
            for ((_, once), (_, always)) in once.into_iter().zip(always) {
                assert_relative_eq!(once.seconds().0, always.seconds().0, max_relative = 2e-3);
            }
        }
    }
}

/// Cycles that one more pattern costs in a task.
fn per_pattern(
    order: Order,
    rates: fn(usize) -> SiteRates,
    task: fn(&mut Likelihoods, &mut Timed),
) -> f64 {
    let cycles = [40, 80].map(|count| {
        let mut likelihoods = Likelihoods::new(&random_patterns(TAXA, count), &model(rates(count)));
        for (node, children) in [(12, [0, 1]), (13, [2, 3])] {
            likelihoods.newview(&mut Plain, NewView { node, children, z: [0.8, 0.7] });
        }
        let mut timed = Timed::new(&qs20(), order);
        task(&mut likelihoods, &mut timed);
        timed.cycles().0 as f64
    });
    (cycles[1] - cycles[0]) / 40.0
}

/// Between what the busiest unit and what no overlap would take \[cycles\].
fn check(
    bounds: (f64, f64),
    rates: fn(usize) -> SiteRates,
    task: fn(&mut Likelihoods, &mut Timed),
) {
    let orders = [Order::Pipelined, Order::Scheduled, Order::Written, Order::Expressions];
    let cycles = orders.map(|order| per_pattern(order, rates, task));
    assert!(cycles.is_sorted(), "{cycles:?}");
    assert!(bounds.0 <= cycles[0] && cycles[3] < bounds.1, "{cycles:?} {bounds:?}");
}

#[test]
fn a_pattern_takes_longer_than_its_busiest_unit_and_less_than_one_operation_after_the_other() {
    // Between two inner nodes, for each of 4 categories: 8 entries and 48 factors loaded and 4
    // stored; 88 operations, 36 of them fused with another. The others come one after the other.
    let loads = 4.0 * 56.0 + 4.0;
    check(
        (loads, loads + 4.0 * 4.0 + 4.0 * 52.0 * 10.0),
        |_| gamma(),
        |likelihoods, timed| {
            likelihoods.newview(timed, NewView { node: 14, children: [12, 13], z: [0.9, 0.9] });
        },
    );
    // A tip's product is loaded: 4 entries instead of 20, and 16 operations less.
    check(
        (4.0 * 40.0, 4.0 * 44.0 + 4.0 * 36.0 * 10.0 + 100.0),
        |_| gamma(),
        |likelihoods, timed| {
            likelihoods.newview(timed, NewView { node: 14, children: [0, 13], z: [0.9, 0.9] });
        },
    );
    // CAT: one category.
    check((60.0, 60.0 + 52.0 * 10.0 + 100.0), categories, |likelihoods, timed| {
        likelihoods.newview(timed, NewView { node: 14, children: [12, 13], z: [0.9, 0.9] });
    });
    // Products of two ends, 16 of them: 32 loads and 16 stores; five turns of loops.
    check(
        (48.0, 48.0 + 160.0 + 50.0),
        |_| gamma(),
        |likelihoods, timed| {
            likelihoods.fill_sum_table(timed, [12, 13]);
        },
    );
    // Three sums of 16 products, 64 loads; a division of 74 cycles, with nothing beside it.
    check(
        (48.0 + 74.0, 64.0 + 48.0 * 10.0 + 9.0 * 10.0 + 74.0 + 100.0),
        |_| gamma(),
        |likelihoods, timed| {
            likelihoods.fill_sum_table(&mut Plain, [12, 13]);
            likelihoods.derivatives(timed, 0.9);
        },
    );
}

#[test]
fn newview_beside_itself_is_slowed_down_by_the_issue_of_instructions_where_it_leaves_no_gaps() {
    let slowdown = |compiler: HostCompiler| {
        let core = Timed::recording(&qs20(), compiler.order());
        let own = mmgp_cell::ppe::Stream::of(core, |timed| {
            let mut likelihoods = Likelihoods::new(&random_patterns(TAXA, 40), &model(gamma()));
            for (node, children) in [(12, [0, 1]), (13, [2, 3])] {
                likelihoods.newview(&mut Plain, NewView { node, children, z: [0.8, 0.7] });
            }
            likelihoods.newview(timed, NewView { node: 14, children: [12, 13], z: [0.9, 0.9] });
        });
        own.slowdown_beside(&qs20(), &own)
    };
    let [gcc, xlc, ideal] = HostCompiler::ALL.map(slowdown);
    // Chains of ten cycles one after the other hold up the other thread's now and then; a busy memory
    // unit leaves nothing.
    assert!(gcc < 1.6 && gcc < ideal && ideal < xlc && xlc <= 2.01, "{gcc} {xlc} {ideal}");
}

#[test]
fn two_engines_on_the_threads_of_one_core_slow_each_other_down() {
    let patterns = random_patterns(TAXA, 8);
    let model = model(gamma());
    let time = |processes: &[u32]| {
        let model = model.clone();
        let engine = |process| HostEngine::new(process, HostFunctions::new(&patterns));
        let life = async move |engine: &mut HostEngine| {
            engine.set_model(&model).await;
            for _ in 0..50 {
                all_functions(engine, TAXA, 0.3).await;
            }
        };
        run(processes, engine, life).0.0
    };
    // Processes are dealt to the two Cells first: 0 and 2 share one.
    let [alone, apart, together] = [&[0][..], &[0, 1], &[0, 1, 2]].map(time);
    assert_relative_eq!(apart, alone, max_relative = 0.02);
    // As host code whose instructions are counted; see `ppe_issue.threads`.
    assert_relative_eq!(together / alone, 1.31, max_relative = 0.02);
}

#[test]
fn vectors_that_no_cache_holds_are_waited_for() {
    // 228 patterns of 128 bytes: 29 KB a vector. Two of them again and again come from the second
    // level; forty, 1.2 MB, from memory: at least 456 lines of 495 cycles more for each call.
    let patterns = random_patterns(42, 228);
    let model = model(gamma());
    let time = |nodes: usize| {
        let model = model.clone();
        let engine = |process| HostEngine::new(process, HostFunctions::new(&patterns));
        let life = async move |engine: &mut HostEngine| {
            engine.set_model(&model).await;
            for turn in 0..80 {
                let node = |which: usize| 42 + (3 * turn + which) % nodes;
                let call = NewView { node: node(0), children: [node(1), node(2)], z: [0.9, 0.9] };
                engine.newview(call).await;
            }
            engine.totals()[0].1.seconds().0 / 80.0
        };
        run(&[0], engine, life).1[0]
    };
    let [few, many] = [3, 40].map(time);
    let lines = 456.0 * (495.0 - 31.0) / 3.2e9;
    assert!(many - few > 0.7 * lines && many - few < 1.1 * lines, "{few} {many} {lines}");
}
