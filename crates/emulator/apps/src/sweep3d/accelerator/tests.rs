//! The accelerator model against the plain solution.

use mmgp_base::Mapping;
use mmgp_base::table::Source;
use mmgp_cell::mfc::Hazards;
use mmgp_cell::{Blade, KernelTiming};
use mmgp_machine::Machine;
use mmgp_runtime::{Edtlp, Runtime};
use mmgp_sweep::{Decomposition, Input, Outcome, solve};

use super::super::{Findings, Programming, Sweep3d};
use crate::application::{Application, Ran};

/// A program by the benchmark's lines: cells and angles, blocks (mk, mmi), width and iterations,
/// boundaries, fix-ups.
fn program(cells: &str, blocks: &str, widths: &str, boundaries: &str, fix_ups: i32) -> Sweep3d {
    let text = format!("1 1 {blocks} 1\n{cells} 1\n{widths}\n{boundaries}\n0 0 {fix_ups}\n");
    let input = Input::read(&Source::new("test", &text)).unwrap();
    Sweep3d::new(input, Programming::Accelerator).unwrap()
}

fn ran(app: &Sweep3d, p: u32, timing: KernelTiming, hazards: Hazards) -> Ran {
    let blade = Blade::new(&Machine::named("qs20").unwrap(), timing, 0.0);
    blade.set_hazards(hazards);
    let on = Runtime::new(blade, Box::new(Edtlp::default()));
    app.run(&on, Mapping::of(1, p)).unwrap()
}

fn findings(ran: &Ran) -> &Findings {
    ran.findings().unwrap()
}

fn plainly(app: &Sweep3d) -> Outcome {
    let problem = app.problem();
    solve(problem, &Decomposition::new(problem, [1, 1]).unwrap(), &mut |_| ()).unwrap()
}

fn is_close(found: f64, expected: f64, scale: f64) -> bool {
    (found - expected).abs() <= 1e-12 * scale
}

/// The same flux, errors, fix-ups, absorption and leakage as the plain solution's.
fn check(app: &Sweep3d, p: u32) {
    let (ran, plain) = (ran(app, p, KernelTiming::Cached, Hazards::Checked), plainly(app));
    let found = findings(&ran);
    let largest = plain.flux.iter().fold(0.0_f64, |most, cell| most.max(cell[0]));
    for (found, expected) in found.flux.iter().flatten().zip(plain.flux.iter().flatten()) {
        assert!(is_close(*found, *expected, largest), "{found} {expected}");
    }
    assert_eq!(found.flux.len(), plain.flux.len());
    assert_eq!(found.fix_ups, plain.fix_ups);
    assert_eq!(found.errors.len(), plain.errors.len());
    for (found, expected) in found.errors.iter().zip(&plain.errors) {
        assert!((found - expected).abs() <= 1e-9 * expected, "{found} {expected}");
    }
    assert!(is_close(found.absorption, plain.absorption, plain.source));
    for (found, expected) in found.leakage.iter().flatten().zip(plain.leakage.iter().flatten()) {
        assert!(is_close(*found, *expected, plain.source), "{found} {expected}");
    }
    assert_eq!(found.processes, [1, 1]);
    assert_eq!(found.iterations.len(), found.errors.len());
    assert!(found.messages.0 == 0.0 && found.compute.0 > 0.0);
}

const VACUUM: &str = "0 0 0";
const WIDTHS: &str = ".1 .1 .1 -3.0";

#[test]
fn the_flux_is_the_plain_one_on_any_number_of_spes() {
    for p in [1, 3, 8] {
        check(&program("6 7 5 6", "2 3", WIDTHS, VACUUM, 0), p);
    }
}

#[test]
fn blocks_need_not_divide_the_planes_and_may_have_any_angles() {
    for (blocks, p) in [("5 6", 3), ("3 2", 8), ("4 1", 2), ("10 3", 5)] {
        check(&program("4 6 5 6", blocks, WIDTHS, VACUUM, 0), p);
    }
    check(&program("7 5 6 3", "2 3", WIDTHS, VACUUM, 0), 3);
    check(&program("1 1 1 3", "1 1", WIDTHS, VACUUM, 0), 2);
}

#[test]
fn fix_ups_are_counted_as_by_the_plain_solution() {
    let app = program("6 7 8 6", "3 3", "2.0 2.0 2.0 -4.0", VACUUM, -2);
    let fixed = plainly(&app).fix_ups;
    assert!(fixed[..2] == [0, 0] && fixed[2..].iter().all(|&it| it > 0), "{fixed:?}");
    check(&app, 1);
    check(&app, 8);
}

#[test]
fn low_boundaries_reflect() {
    for boundaries in ["1 0 0", "0 1 0", "0 0 1", "1 1 1"] {
        check(&program("6 5 7 6", "3 3", WIDTHS, boundaries, 0), 4);
    }
}

#[test]
fn timing_every_call_gives_the_same_time() {
    let app = program("6 7 8 6", "3 3", "2.0 2.0 2.0 -3.0", VACUUM, -1);
    let [cached, exact] = [KernelTiming::Cached, KernelTiming::Exact]
        .map(|timing| ran(&app, 3, timing, Hazards::Ignored));
    assert_eq!(findings(&cached), findings(&exact));
    assert_eq!(cached.run.time, exact.run.time);
}

#[test]
fn the_printed_errors_of_input_50_come_out() {
    let app = program("50 50 50 6", "10 3", ".1 .1 .1 -3.0", VACUUM, -7);
    let ran = ran(&app, 8, KernelTiming::Cached, Hazards::Ignored);
    let printed = [1.0, 1.775_129_752_629_006_6, 0.659_083_802_218_004_1];
    for (found, expected) in findings(&ran).errors.iter().zip(printed) {
        assert!((found - expected).abs() <= 1e-10 * expected, "{found} {expected}");
    }
    // A diagonal for each of 60 sums of j, plane and pair, of 80 blocks in each of three iterations.
    assert_eq!(ran.run.offloads(), 3 * 80 * 60);
}
