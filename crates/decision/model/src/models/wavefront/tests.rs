//! The models beside closed forms.

use super::*;
use crate::models::parameters::Estimate;
use crate::models::time_model::TimeModel;
use mmgp_base::Mapping;

/// A block of 7 us and messages of 2 us everywhere.
fn equal() -> WavefrontTerms {
    WavefrontTerms {
        block_s: Estimate::exact(7e-6),
        links: LinkTerms::symmetric(&Estimate::exact(2e-6)).everywhere(),
        ..WavefrontTerms::nothing()
    }
}

/// Every term something else.
fn different() -> WavefrontTerms {
    let line = |us: f64, ns: f64| Line {
        latency_s: Estimate::exact(us * 1e-6),
        byte_s: Estimate::exact(ns * 1e-9),
    };
    let link = |us: f64, ns: f64| LinkTerms {
        early: line(us, ns),
        late: line(0.6 * us, 0.4 * ns),
        release: line(0.2 * us, 0.1 * ns),
    };
    WavefrontTerms {
        block_s: Estimate::exact(2e-6),
        line_s: Estimate::exact(60e-9),
        cell_s: Estimate::exact(11e-9),
        links: Links([link(0.3, 0.05), link(0.5, 0.16), link(10.0, 2.0), link(12.0, 3.0)]),
    }
}

const PROBLEM: Problem = Problem { it: 90, jt: 70, kt: 50, angles: 6 };

fn one_rank_a_node([px, py]: [u32; 2]) -> Choice {
    let tiling = Tiling { node: [1, 1], blade: [1, 1], cell: [1, 1] };
    Choice { px, py, planes: 10, angles: 3, tiling }
}

fn check(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 1e-12, "{found} instead of {expected}");
}

#[track_caller]
fn check_formula(grid @ [px, py]: [u32; 2], less: f64) {
    let choice = one_rank_a_node(grid);
    let found = Flat::new(equal(), PROBLEM, vec![choice]).time_of(&choice).0;
    let (s, f) = (80.0, f64::from(2 * (px - 1) + 4 * (py - 1)));
    check(found, 7e-6 * (s + f) + 2e-6 * (4.0 * s + 2.0 * f - 10.0 - less));
}

#[test]
fn equal_costs_give_the_closed_form() {
    for grid in [[3, 2], [4, 3], [9, 11], [30, 2], [5, 40]] {
        check_formula(grid, 0.0);
    }
    check_formula([2, 2], 2.0);
    check_formula([2, 17], 2.0);
}

#[test]
fn a_row_of_two_by_hand() {
    // Two ranks, early 3, late 1, release 2 and blocks of 10 us: 15 a step, as a sender that is never waited for
    // goes on 5 after its block; two sweeps of 4 steps, each with a message on its way: 2 (3 x 15 + 10 + 13).
    let line = |us: f64| Line { latency_s: Estimate::exact(us * 1e-6), ..Line::nothing() };
    let links = LinkTerms { early: line(3.0), late: line(1.0), release: line(2.0) }.everywhere();
    let terms =
        WavefrontTerms { block_s: Estimate::exact(10e-6), links, ..WavefrontTerms::nothing() };
    let choice = Choice { planes: 50, angles: 6, ..one_rank_a_node([2, 1]) };
    check(Flat::new(terms, PROBLEM, vec![choice]).time_of(&choice).0, 136e-6);
}

#[test]
fn a_rank_alone_computes_all_blocks() {
    let choice = one_rank_a_node([1, 1]);
    // 2 us, 700 lines of 60 ns and 63,000 cells and 3 angles of 11 ns.
    let block = 2e-6 + 700.0 * 60e-9 + 189_000.0 * 11e-9;
    check(Flat::new(different(), PROBLEM, vec![choice]).time_of(&choice).0, 80.0 * block);
}

#[test]
fn all_choices_of_a_mapping_tile_its_grid() {
    let all = choices(&PROBLEM, Mapping::of(6, 32), [2, 2]);
    assert!(all.len() > 100);
    for choice in &all {
        let [tx, ty] = choice.tiling.node;
        assert!(choice.px.is_multiple_of(tx) && choice.py.is_multiple_of(ty), "{choice:?}");
        assert_eq!(choice.mapping(), Some(Mapping::of(6, 32)));
        assert!(choice.px <= PROBLEM.it && choice.py <= PROBLEM.jt);
        assert!(PROBLEM.angles.is_multiple_of(choice.angles));
    }
    // No two of them are the same.
    let mut sorted = all.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(sorted.len(), all.len());
    assert_eq!(Tiling::cut([2, 16], 2, 2).unwrap().cell, [2, 4]);
    assert_eq!(Tiling::cut([3, 5], 2, 2), None);
}

#[test]
fn the_time_of_a_mapping_is_that_of_its_fastest_choice() {
    let mut all = choices(&PROBLEM, Mapping::of(1, 32), [2, 2]);
    all.extend(choices(&PROBLEM, Mapping::of(4, 32), [2, 2]));
    let model = Flat::new(different(), PROBLEM, all);
    let (best, time) = model.best(Mapping::of(4, 32)).unwrap();
    assert_eq!(model.time(Mapping::of(4, 32)), time);
    let ranked = model.ranked();
    let first = ranked.iter().find(|(choice, _)| choice.mapping() == Some(Mapping::of(4, 32)));
    assert_eq!(first, Some(&(best, time)));
    assert_eq!(model.time(Mapping::of(3, 32)).0, f64::INFINITY);
    assert_eq!(model.apus(), 128);
    let parts: f64 = model.parts(Mapping::of(4, 32)).iter().map(|part| part.time.0).sum();
    check(parts, time.0);
}

/// Each slope is a difference of times over a difference of values.
fn check_gradient(slopes: &[(usize, f64)], time: impl Fn(usize, f64) -> f64) {
    assert!(slopes.len() > 3);
    for &(place, slope) in slopes {
        let step = 1e-14;
        let by_hand = (time(place, step) - time(place, 0.0)) / step;
        assert!((slope / by_hand - 1.0).abs() < 1e-3, "{place}: {slope} {by_hand}");
    }
}

#[test]
fn every_gradient_is_a_slope_of_the_time() {
    let at = Mapping::of(4, 32);
    let all = choices(&PROBLEM, at, [2, 2]);
    let model = Flat::new(different(), PROBLEM, all.clone());
    let (best, _) = model.best(at).unwrap();
    check_gradient(&model.gradient(at), |place, step| {
        let mut terms = different();
        terms.move_by(place, step);
        Flat::new(terms, PROBLEM, all.clone()).time_of(&best).0
    });
}

fn inner() -> Inner {
    let line = |us: f64, ns: f64| Line {
        latency_s: Estimate::exact(us * 1e-6),
        byte_s: Estimate::exact(ns * 1e-9),
    };
    Inner {
        accelerators: [4, 8],
        blocks: 5,
        block: line(3.0, 11.0),
        transfer: Transfer { to: line(4.0, 0.5), back: line(6.0, 0.5) },
    }
}

#[test]
fn a_node_pays_its_inner_fill_in_every_block() {
    let choice = Choice { px: 3, py: 2, ..one_rank_a_node([3, 2]) };
    let model = TwoLevel::new(&equal(), inner(), (PROBLEM, choice));
    // 3 + 7 + 5 inner blocks of 30 x 35 cells, 10 planes, 3 angles over 4 x 8 x 5; faces of 8 (30 + 35) 10 x 3
    // bytes.
    let block = 3e-6 + 31_500.0 / 160.0 * 11e-9;
    let node = 15.0 * block + 10e-6 + 2.0 * 15_600.0 * 0.5e-9;
    check(model.node_block().0, node);
    check(model.time(Mapping::of(6, 32)).0, node * 88.0 + 2e-6 * 326.0);
    assert_eq!(model.time(Mapping::of(6, 8)).0, f64::INFINITY);
    assert_eq!(model.apus(), 192);
}

#[test]
fn the_two_level_gradient_is_a_slope_of_its_time() {
    let choice = one_rank_a_node([5, 7]);
    let time = |place: usize, step: f64| {
        let (mut terms, mut inner) = (different(), inner());
        if let Some(place) = place.checked_sub(terms.named().len()) {
            let Inner { block, transfer: Transfer { to, back }, .. } = &mut inner;
            let lines = [block, to, back].map(Line::values_mut);
            lines.into_iter().flatten().nth(place).expect("a value").value += step;
        } else {
            terms.move_by(place, step);
        }
        TwoLevel::new(&terms, inner, (PROBLEM, choice)).time(Mapping::of(35, 32)).0
    };
    let model = TwoLevel::new(&different(), inner(), (PROBLEM, choice));
    assert_eq!(model.values().len(), 33);
    check_gradient(&model.gradient(Mapping::of(35, 32)), time);
}
