//! What off-loads compute may come first and their times afterwards, from scripts that are played or
//! known: every run takes the time, to the tick, that it takes where each operation takes its time as
//! it is done and every kernel is timed at every call.

use mmgp_apps::pbpi::{Coupling, Pbpi};
use mmgp_apps::phylogeny::{Patterns, simulate};
use mmgp_apps::raxml::search::{Effort, Rates, Settings, Start};
use mmgp_apps::raxml::{Raxml, Tasks};
use mmgp_apps::{Application, Once, Port, Ran};
use mmgp_base::Mapping;
use mmgp_cell::mfc::Hazards;
use mmgp_cell::{Blade, KernelTiming};
use mmgp_machine::Machine;
use mmgp_runtime::{Runtime, Teams, policies};

fn patterns(taxa: usize, sites: usize) -> Patterns {
    let tree = simulate::tree(taxa, 0.1, 3).unwrap();
    let alignment = simulate::alignment(&tree, &simulate::names(taxa), sites, 3).unwrap();
    Patterns::compress(&alignment)
}

fn pbpi() -> Pbpi {
    Pbpi::new(patterns(8, 800), None, 5, 2).unwrap()
}

fn raxml(rates: Rates) -> Raxml {
    let effort = Effort { prunings: 2, ..Effort::SHORT };
    let settings = Settings::new(5, rates).starting_at(Start::Random).with_effort(effort);
    let tasks = Tasks { inferences: 1, bootstraps: 1 };
    Raxml::new(patterns(6, 120), settings, tasks, Port::Tuned).unwrap()
}

fn run(
    app: &dyn Application,
    machine: &Machine,
    timing: KernelTiming,
    (mapping, scheduler): (Mapping, usize),
) -> Ran {
    run_on(app, Blade::new(machine, timing, 0.25), (mapping, scheduler))
}

fn run_on(app: &dyn Application, blade: Blade, (mapping, scheduler): (Mapping, usize)) -> Ran {
    app.run(&Runtime::new(blade, policies().remove(scheduler)), mapping).unwrap()
}

/// Every configuration of a machine under the first scheduler, some under each of the others, and those of
/// one process under one by which SPEs tell more than that they are done.
fn places(machine: &Machine) -> Vec<(Mapping, usize)> {
    let apus = machine.layout.spes();
    let all = (1..=apus).flat_map(|m| (1..=apus / m).map(move |p| Mapping::of(m, p)));
    let mappings: Vec<Mapping> = all.collect();
    let others = (1..policies().len()).zip(mappings.iter().step_by(4).cycle());
    let others = others.map(|(scheduler, &mapping)| (mapping, scheduler));
    let sled = policies().iter().position(|policy| policy.name() == "sled").unwrap();
    let telling = (1..=apus).step_by(3).map(|p| (Mapping::of(1, p), sled));
    let first = mappings.iter().map(|&mapping| (mapping, 0));
    first.chain(others).chain(telling).collect()
}

fn check(
    app: impl Application + Clone + 'static,
    machine: &Machine,
    places: Vec<(Mapping, usize)>,
) {
    let once = Once::new(Box::new(app.clone()));
    for place in places {
        let direct = run(&app, machine, KernelTiming::Exact, place);
        let computed = run(&app, machine, KernelTiming::Cached, place);
        let known = run(&once, machine, KernelTiming::Cached, place);
        let blade = Blade::new(machine, KernelTiming::Cached, 0.25);
        blade.set_hazards(Hazards::Checked);
        let checked = run_on(&app, blade, place);
        let what = format!("{} {} {} scheduler {}", app.name(), machine.name, place.0, place.1);
        assert_eq!(computed.run, direct.run, "{what}, computed");
        assert_eq!(known.run, direct.run, "{what}, known");
        assert_eq!(checked.run, direct.run, "{what}, hazards looked for");
        assert_eq!(computed.fingerprint.differs_from(&direct.fingerprint), None, "{what}");
        assert_eq!(known.fingerprint.differs_from(&direct.fingerprint), None, "{what}");
    }
}

#[test]
fn pbpi_takes_the_time_of_exact_emulation_everywhere() {
    for name in ["qs20", "ps3"] {
        let machine = Machine::named(name).unwrap();
        check(pbpi(), &machine, places(&machine));
    }
}

#[test]
fn coupled_chains_take_the_time_of_exact_emulation() {
    let coupling = Coupling::new(4, 0.1, 1).unwrap().on_rows(2).unwrap();
    let (app, machine) = (pbpi().coupled(coupling), Machine::named("qs20").unwrap());
    let once = Once::new(Box::new(app.clone()));
    for mapping in [Mapping::of(2, 8), Mapping::of(4, 2), Mapping::of(8, 2)] {
        let direct = run(&app, &machine, KernelTiming::Exact, (mapping, 0));
        for _ in 0..2 {
            let known = run(&once, &machine, KernelTiming::Cached, (mapping, 0));
            assert_eq!(known.run, direct.run, "{mapping}");
        }
    }
}

/// RAxML at a third of a machine's places, which one by a number; at all of them where tests take all of
/// their seeds.
fn check_part(rates: Rates, machine: &str, number: usize) {
    let machine = Machine::named(machine).unwrap();
    let stride = testing::stride(3);
    let part = places(&machine).into_iter().skip(number % stride).step_by(stride);
    check(raxml(rates), &machine, part.collect());
}

#[test]
fn raxml_with_gamma_takes_the_time_of_exact_emulation_on_a_blade() {
    check_part(Rates::Gamma, "qs20", 0);
}

#[test]
fn raxml_with_gamma_takes_the_time_of_exact_emulation_on_a_playstation() {
    check_part(Rates::Gamma, "ps3", 1);
}

#[test]
fn raxml_with_cat_takes_the_time_of_exact_emulation_on_a_blade() {
    check_part(Rates::Cat, "qs20", 1);
}

#[test]
fn raxml_with_cat_takes_the_time_of_exact_emulation_on_a_playstation() {
    check_part(Rates::Cat, "ps3", 2);
}

#[test]
fn raxml_finds_the_same_whoever_starts_the_spes_that_share_a_loop() {
    let machine = Machine::named("qs20").unwrap();
    for rates in [Rates::Gamma, Rates::Cat] {
        let by_master = raxml(rates);
        let by_host = raxml(rates).teamed(Teams::ByHost);
        let once = Once::new(Box::new(by_host.clone()));
        for mapping in [Mapping::SEQUENTIAL, Mapping::of(1, 5), Mapping::of(3, 4)] {
            let one = run(&by_master, &machine, KernelTiming::Cached, (mapping, 0));
            let other = run(&by_host, &machine, KernelTiming::Exact, (mapping, 0));
            let known = run(&once, &machine, KernelTiming::Cached, (mapping, 0));
            assert_eq!(one.fingerprint.differs_from(&other.fingerprint), None, "{mapping}");
            assert_eq!(known.run, other.run, "{mapping}");
            assert_eq!(one.run == other.run, mapping.p() == 1, "{mapping}");
        }
    }
}

#[test]
fn a_program_that_branches_on_what_it_computes_computes_every_time() {
    let app = pbpi().ported(Port::Naive);
    let machine = Machine::named("ps3").unwrap();
    let ran = run(&app, &machine, KernelTiming::Cached, (Mapping::SEQUENTIAL, 0));
    assert!(app.knowing(&ran).is_none());
    let once = Once::new(Box::new(app.clone()));
    for mapping in [Mapping::SEQUENTIAL, Mapping::of(1, 3), Mapping::of(2, 2)] {
        let direct = run(&app, &machine, KernelTiming::Exact, (mapping, 0));
        let computed = run(&once, &machine, KernelTiming::Cached, (mapping, 0));
        assert_eq!(computed.run, direct.run, "{mapping}");
    }
}
