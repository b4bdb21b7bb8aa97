//! What is counted of a run does not depend on how the emulator finds its time.

use std::sync::Arc;

use mmgp_apps::list_ranking::ListRanking;
use mmgp_apps::pbpi::Pbpi;
use mmgp_apps::phylogeny::{Patterns, simulate};
use mmgp_apps::raxml::search::{Effort, Rates, Settings};
use mmgp_apps::raxml::{Raxml, Tasks};
use mmgp_apps::sgemm::Sgemm;
use mmgp_apps::synthetic::{Burst, Durations, Synthetic};
use mmgp_apps::{Application, Port};
use mmgp_base::Mapping;
use mmgp_base::units::{Bytes, Cycles, Seconds};
use mmgp_cell::counts::Counts;
use mmgp_cell::mfc::Direction;
use mmgp_cell::{Blade, KernelTiming};
use mmgp_lists::{List, Order, Values};
use mmgp_machine::Machine;
use mmgp_runtime::{Edtlp, Runtime};

fn counts(program: &dyn Application, timing: KernelTiming, mapping: Mapping) -> Counts {
    let machine = Machine::named("qs20").unwrap();
    let blade = Blade::new(&machine, timing, 0.0).counting();
    let on = Runtime::new(blade, Box::new(Edtlp::default()));
    program.run(&on, mapping).unwrap().run.counts.unwrap()
}

fn patterns() -> Patterns {
    let tree = simulate::tree(6, 0.1, 1).unwrap();
    Patterns::compress(&simulate::alignment(&tree, &simulate::names(6), 80, 1).unwrap())
}

fn pbpi(port: Port) -> Pbpi {
    Pbpi::new(patterns(), None, 1, 3).unwrap().ported(port)
}

fn raxml(port: Port) -> Raxml {
    let settings = Settings::new(1, Rates::Gamma).with_effort(Effort::SHORT);
    Raxml::new(patterns(), settings, Tasks { inferences: 1, bootstraps: 1 }, port).unwrap()
}

/// Times that are kept count as those that are found at every call.
fn check(program: &dyn Application, mapping: Mapping) {
    let [kept, exact] =
        [KernelTiming::Cached, KernelTiming::Exact].map(|it| counts(program, it, mapping));
    assert_eq!(kept, exact, "{} at {mapping}", program.name());
    let busy = kept.spes.iter().filter(|spe| spe.kernels > 0).count() as u64;
    assert_eq!(busy, mapping.apus());
    // And those of a program that knows what it computes.
    let on = |blade: Blade| Runtime::new(blade, Box::new(Edtlp::default()));
    let blade = || Blade::new(&Machine::named("qs20").unwrap(), KernelTiming::Cached, 0.0);
    let ran = program.run(&on(blade()), mapping).unwrap();
    if let Some(knowing) = program.knowing(&ran) {
        assert_eq!(counts(&*knowing, KernelTiming::Cached, mapping), exact);
    }
}

#[test]
fn pbpi_counts_the_same_however_it_is_timed() {
    check(&pbpi(Port::Tuned), Mapping::of(1, 3));
    check(&pbpi(Port::Tuned), Mapping::of(3, 2));
    check(&pbpi(Port::Naive), Mapping::of(2, 1));
}

#[test]
fn raxml_counts_the_same_however_it_is_timed() {
    check(&raxml(Port::Tuned), Mapping::of(1, 4));
    check(&raxml(Port::Unfused), Mapping::of(2, 2));
    check(&raxml(Port::Naive), Mapping::of(2, 1));
}

#[test]
fn list_ranking_and_matrix_products_count_the_same_however_they_are_timed() {
    let list = List::generate(3000, Order::Random, Values::Ones, 1).unwrap();
    let ranking = ListRanking::new(Arc::new(list), Order::Random, [32, 4], 1).unwrap();
    check(&ranking, Mapping::of(1, 4));
    check(&Sgemm::random(128, 1).unwrap(), Mapping::of(1, 2));
}

#[test]
fn a_synthetic_workload_counts_what_it_was_told() {
    let burst = Burst { host: Seconds(10e-6), offload: Seconds(50e-6) };
    let program = Synthetic::new(1, 20, Durations::constant(burst).unwrap(), 1).unwrap();
    let counts = counts(&program, KernelTiming::Cached, Mapping::of(1, 1));
    let spe = &counts.spes[0];
    // 50 us at 3.2 GHz, and 24 cycles until it sees its start.
    assert_eq!(spe.outside, Cycles(20 * (160_000 + 24)));
    // Its arguments.
    assert_eq!(spe.dma.requests[&(Direction::Get, Bytes(16))], 20);
    assert_eq!(spe.kernels, 0);
    let host = counts.hosts[&0];
    assert_eq!(host.computed_cycles, Cycles(20 * 32_000));
    // It takes a task, and sees that there is no other.
    assert_eq!((host.bursts, host.work.integers, host.work.loads), (2, 16, 8));
    // Stop and start before, stop after each.
    assert_eq!((host.spe_stores, host.spe_loads), (40, 20));
}
