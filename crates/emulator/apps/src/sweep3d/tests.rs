use super::*;
use crate::run::Run;
use mmgp_base::table::Source;
use mmgp_cell::mfc::Hazards;
use mmgp_cell::{Blade, KernelTiming};
use mmgp_machine::Machine;
use mmgp_runtime::Edtlp;
use mmgp_sweep::{Outcome, solve};

/// A small problem: its cells, mk, mmi, mm, iterations, boundaries and when fix-ups begin.
#[derive(Debug, Clone, Copy)]
struct Small {
    cells: [u32; 3],
    block: [u32; 2],
    angles: u32,
    boundaries: [u32; 3],
    fix_ups: i32,
}

const SMALL: Small =
    Small { cells: [7, 6, 5], block: [2, 3], angles: 6, boundaries: [0, 0, 0], fix_ups: 0 };

impl Small {
    fn input(&self, [px, py]: [u32; 2]) -> Input {
        let Self { cells: [it, jt, kt], block: [mk, mmi], angles, boundaries, fix_ups } = self;
        let [ibc, jbc, kbc] = boundaries;
        let text = format!(
            "{px} {py} {mk} {mmi} 1\n{it} {jt} {kt} {angles} 1\n.4 .3 .5 -3\n{ibc} {jbc} {kbc}\n\
             0 0 {fix_ups}\n"
        );
        Input::read(&Source::new("small", &text)).unwrap()
    }

    fn plain(&self) -> Outcome {
        let problem = Problem::new(&self.input([1, 1]));
        solve(&problem, &Decomposition::new(&problem, [1, 1]).unwrap(), &mut |_| ()).unwrap()
    }
}

/// What a run on that machine finds, hazards looked for.
fn run(app: &Sweep3d, machine: &str, ranks: u32) -> (Run, Findings) {
    let blade = Blade::new(&Machine::named(machine).unwrap(), KernelTiming::Cached, 0.0);
    blade.set_hazards(Hazards::Checked);
    let on = Runtime::new(blade, Box::new(Edtlp::default()));
    let ran = app.run(&on, Mapping::of(1, ranks)).unwrap();
    let findings = ran.findings::<Findings>().unwrap().clone();
    (ran.run, findings)
}

/// Holds a run to the plain solution: the flux relative to its largest.
fn check(small: Small, processes: [u32; 2], machine: &str) {
    let plain = small.plain();
    let app = Sweep3d::new(small.input(processes), Programming::Reverse).unwrap();
    let (_, found) = run(&app, machine, processes[0] * processes[1]);
    let largest = plain.flux.as_flattened().iter().fold(0.0_f64, |most, it| most.max(it.abs()));
    let differences = found.flux.as_flattened().iter().zip(plain.flux.as_flattened());
    let worst = differences.fold(0.0_f64, |most, (a, b)| most.max((a - b).abs()));
    assert!(worst < 1e-14 * largest, "{small:?} {processes:?}: {worst} of {largest}");
    assert_eq!(found.fix_ups, plain.fix_ups, "{small:?} {processes:?}");
    let near = |one: f64, other: f64| (one - other).abs() <= 1e-11 * other.abs();
    assert!(found.errors.iter().zip(&plain.errors).all(|(a, b)| near(*a, *b)));
    assert!(near(found.absorption, plain.absorption));
    for (own, other) in found.leakage.as_flattened().iter().zip(plain.leakage.as_flattened()) {
        assert!((own - other).abs() < 1e-12, "{small:?} {processes:?}: {own} for {other}");
    }
}

#[test]
fn every_decomposition_and_block_gives_the_plain_flux() {
    for processes in [[1, 1], [2, 1], [1, 3], [2, 3], [4, 4]] {
        check(SMALL, processes, "qs20");
    }
    for block in [[1, 1], [2, 2], [5, 6], [3, 3]] {
        check(Small { block, ..SMALL }, [2, 2], "qs22");
    }
    check(Small { angles: 3, ..SMALL }, [3, 2], "ps3");
}

#[test]
fn what_reflects_and_what_is_set_to_zero_is_as_in_the_plain_solution() {
    for boundaries in [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]] {
        check(Small { boundaries, ..SMALL }, [2, 3], "qs20");
    }
    let small = Small { fix_ups: 1, ..SMALL };
    assert!(small.plain().fix_ups.iter().sum::<u64>() > 0);
    check(small, [2, 2], "qs20");
}

#[test]
fn ranks_on_several_blades_compute_the_same() {
    let small = Small { cells: [12, 10, 3], block: [3, 6], ..SMALL };
    check(small, [5, 8], "roadrunner");
}

#[test]
fn the_time_is_that_of_exact_timing() {
    let app = Sweep3d::new(SMALL.input([2, 3]), Programming::Reverse).unwrap();
    let [cached, exact] = [KernelTiming::Cached, KernelTiming::Exact].map(|timing| {
        let blade = Blade::new(&Machine::named("qs20").unwrap(), timing, 0.0);
        let on = Runtime::new(blade, Box::new(Edtlp::default()));
        app.run(&on, Mapping::of(1, 6)).unwrap().run.time
    });
    assert_eq!(cached, exact);
}

#[test]
fn ranks_are_dealt_as_squares_where_the_input_says_nothing() {
    let app = Sweep3d::new(SMALL.input([2, 3]), Programming::Reverse).unwrap();
    let of = |ranks| app.decomposition(ranks).map(|it| it.processes());
    assert_eq!(of(6).unwrap(), [2, 3]);
    assert_eq!(of(4).unwrap(), [2, 2]);
    assert_eq!(of(7).unwrap(), [7, 1]);
    let refused = of(11).unwrap_err().to_string();
    assert_eq!(
        refused,
        "ranks of sweep3d: found 11, expected a number that can be cut into at most 7 x 6"
    );
}
