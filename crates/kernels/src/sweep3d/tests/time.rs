use mmgp_machine::Machine;
use mmgp_spu::{Compiler, Kernel as _, Profile, Timing, time};

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

#[test]
fn report() {
    for machine in ["qs20", "qs22"] {
        for fix_up in [FixUp::Off, FixUp::On] {
            for angles in [2, 4, 6] {
                let at = |cells| measure(machine, &Data::calm(cells, angles), fix_up);
                let (short, long) = (at(10), at(50));
                let each = (long.cycles.0 - short.cycles.0) as f64 / 40.0;
                let dp = (long.double_precision() - short.double_precision()) as f64 / 40.0;
                let all = (long.instructions() - short.instructions()) as f64 / 40.0;
                println!(
                    "{machine} {fix_up:?} {angles}: {:.1} a cell, {:.2} a cell and angle, fixed cost {}, dp {dp}, all {all}, live {}",
                    each,
                    each / angles as f64,
                    short.cycles.0 as f64 - 10.0 * each,
                    long.max_live(),
                );
                for block in &long.blocks {
                    println!(
                        "   {} x {} instr {} cycles pad {} dual {} live {}  {:?}",
                        block.executions,
                        block.instructions,
                        block.cycles.0,
                        block.padding,
                        block.dual_issues,
                        block.max_live,
                        block.stalls
                    );
                }
            }
        }
    }
}
