use super::evaluate::evaluate;
use super::makenewz::{NEWTON_STEP, derivatives, sum_table};
use super::new_view::{new_view, store_with_products};
use super::transition::{diagonal, newton_factors, transition};
use super::*;
use crate::spu::pipeline::tests::CELL_BE;
use crate::spu::{Compiler, Kernel, Profile, time};

fn check_timed<K: Kernel<Output: PartialEq + std::fmt::Debug>>(
    kernel: &K,
    store: &LocalStore,
    compiler: Compiler,
) -> Profile {
    let (mut plain, mut timed) = (store.clone(), store.clone());
    let expected = execute(kernel, &mut plain);
    let (output, profile) = time(kernel, &mut timed, &CELL_BE, compiler);
    assert_eq!(output, expected);
    assert!(plain == timed, "{}: local stores differ", kernel.name());
    profile
}

#[test]
fn print() {
    fn per<K: Kernel<Output: PartialEq + std::fmt::Debug>>(
        kernel: impl Fn(u32) -> K,
        units: [u32; 2],
        per: f64,
        store: &LocalStore,
    ) {
        for compiler in [Compiler::LIST_SCHEDULING, Compiler::PROGRAM_ORDER] {
            let short = check_timed(&kernel(units[0]), store, compiler);
            let long = check_timed(&kernel(units[1]), store, compiler);
            let n = f64::from(units[1] - units[0]) * per;
            let d = |f: fn(&Profile) -> u64| (f(&long) - f(&short)) as f64 / n;
            println!(
                "{:45} {:?} cycles {:8.2} dp {:6.2} bound {:7.1} instr {:6.1} live {} | short total {}",
                kernel(1).name(),
                compiler.order,
                d(|p| p.cycles.0),
                d(Profile::double_precision),
                7.0 * d(Profile::double_precision),
                d(Profile::instructions),
                long.max_live(),
                short.cycles.0
            );
        }
    }
    for rates in RATES {
        let store = store_with_products(rates, 50);
        for kind in KINDS {
            per(|g| new_view(Version::Tuned, rates, kind, g), [10, 50], 4.0, &store);
        }
        for kind in &KINDS[..2] {
            per(|g| evaluate(Version::Tuned, rates, *kind, g), [10, 50], 4.0, &store);
            per(|g| sum_table(Version::Tuned, rates, *kind, g), [10, 50], 4.0, &store);
        }
        per(|g| derivatives(Version::Tuned, rates, g), [10, 50], 4.0, &store);
    }
    let store = random_store(Rates::Cat, 1);
    per(|c| transition(Version::Tuned, c), [4, 24], 1.0, &store);
    per(|c| diagonal(Version::Tuned, c), [4, 24], 1.0, &store);
    per(|c| newton_factors(Version::Tuned, c), [4, 24], 1.0, &store);
    let p = check_timed(
        &TipProducts {
            version: Version::Tuned,
            matrices: MATRICES[0],
            model: MODEL,
            out: PRODUCTS[0],
        },
        &store,
        Compiler::LIST_SCHEDULING,
    );
    println!("tip products {} {} {}", p.cycles.0, p.double_precision(), p.max_live());
    let p = check_timed(&NEWTON_STEP, &store, Compiler::LIST_SCHEDULING);
    println!("newton step {} {} {}", p.cycles.0, p.double_precision(), p.max_live());
}
