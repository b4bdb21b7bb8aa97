use mmgp_machine::Machine;
use mmgp_spu::{Compiler, Kernel as _, Profile, Timing, execute, time};

use super::*;

fn timing(machine: &str) -> Timing {
    mmgp_cell::pipeline(&Machine::named(machine).expect("it is built in"))
}

fn measure(machine: &str, data: &Data, fix_up: FixUp) -> Profile {
    let kernel = data.kernel(Sign::Plus, fix_up);
    let mut store = data.packed();
    let compiler = kernel.shape().compiler;
    assert_eq!(compiler, Compiler::LIST_SCHEDULING);
    time(&kernel, &mut store, &timing(machine), compiler).1
}

/// Cycles and double-precision instructions of each cell of a long line.
fn each_cell(machine: &str, angles: usize, fix_up: FixUp) -> [u64; 2] {
    let of = |cells| measure(machine, &Data::calm(cells, angles), fix_up);
    let (short, long) = (of(10), of(50));
    assert!(long.max_live() <= 128, "{} registers", long.max_live());
    let each = |count: fn(&Profile) -> u64| {
        let between = count(&long) - count(&short);
        assert_eq!(between % 40, 0, "one cell takes as long as another");
        between / 40
    };
    [each(|profile| profile.cycles.0), each(Profile::double_precision)]
}

/// Instructions of the even pipe in a turn: of a pair 18 of double precision and 5 for the estimate,
/// of a cell 2 for the sums over lanes, and the indices: one for cells, one for cross-sections, and
/// with three pairs one for faces. With fix-ups 3 ors of signs a pair, but the last of all is an and.
fn even(pairs: u64, fix_up: FixUp) -> u64 {
    let signs = if fix_up == FixUp::On { 3 * pairs } else { 0 };
    23 * pairs + 4 + u64::from(pairs == 3) + signs
}

#[test]
fn a_cell_takes_the_documented_time() {
    for (fix_up, documented) in [
        (FixUp::Off, [[175, 58], [310, 57], [454, 83]]),
        (FixUp::On, [[176, 58], [314, 62], [459, 86]]),
    ] {
        for (pairs, [cell_be, power_x_cell]) in (1..).zip(documented) {
            for angles in [2 * pairs - 1, 2 * pairs] {
                let [cycles, double_precision] = each_cell("qs20", angles as usize, fix_up);
                assert_eq!(double_precision, 18 * pairs + 2);
                // Each keeps both pipes for 7 cycles.
                assert!(cycles >= 7 * double_precision);
                assert_eq!(cycles, cell_be, "{angles} {fix_up:?}");
                let [cycles, _] = each_cell("qs22", angles as usize, fix_up);
                assert!(cycles >= even(pairs, fix_up));
                assert_eq!(cycles, power_x_cell, "{angles} {fix_up:?}");
            }
        }
    }
}

/// Cycles of a line beside those of its cells: loading of constants, filling and draining the stages.
#[test]
fn a_line_takes_the_documented_time() {
    for (machine, documented) in [("qs20", [464, 1723, 15_673]), ("qs22", [193, 412, 2977])] {
        let of = |cells| measure(machine, &Data::calm(cells, 3), FixUp::Off).cycles.0;
        assert_eq!([1, 5, 50].map(of), documented, "{machine}");
    }
}

/// What it costs to set outflows in one cell to zero: one of one angle, and all three of three.
#[test]
fn a_fix_up_takes_the_documented_time() {
    for (machine, documented) in [("qs20", [360, 1485]), ("qs22", [309, 1239])] {
        let of = |data: &Data| measure(machine, data, FixUp::On).cycles.0;
        let calm = Data::calm(20, 3);
        let mut one = calm.clone();
        one.k_face[3 * 10 + 1] = 4.0;
        let mut all = calm.clone();
        all.source[10] = [-100.0, 0.0, 0.0, 0.0];
        let fixed = |data: &Data| execute(&data.kernel(Sign::Plus, FixUp::On), &mut data.packed());
        assert_eq!((fixed(&calm), fixed(&one)), (0, 1));
        assert_eq!(fixed(&all), 3);
        assert_eq!([of(&one), of(&all)].map(|it| it - of(&calm)), documented, "{machine}");
    }
}
