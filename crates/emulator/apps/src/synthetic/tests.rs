use super::*;
use mmgp_cell::{Blade, KernelTiming};
use mmgp_machine::Machine;
use mmgp_runtime::{Edtlp, Linux, Mbox, Policy, Ynr};

const US: f64 = 1e-6;

fn burst(host: f64, offload: f64) -> Burst {
    Burst { host: Seconds(host * US), offload: Seconds(offload * US) }
}

fn constant(tasks: u32, offloads: u32, host: f64, offload: f64) -> Synthetic {
    Synthetic::new(tasks, offloads, Durations::constant(burst(host, offload)).unwrap(), 1).unwrap()
}

fn run(synthetic: &Synthetic, policy: impl Policy + 'static, mapping: (u32, u32)) -> Run {
    let blade = Blade::new(&Machine::named("qs20").unwrap(), KernelTiming::Cached, 0.0);
    let on = Runtime::new(blade, Box::new(policy));
    synthetic.run(&on, Mapping::of(mapping.0, mapping.1)).unwrap().run
}

/// Time of a turn \[us\].
fn turn(run: &Run) -> f64 {
    run.time.0 / US / run.offloads() as f64
}

#[test]
fn a_turn_takes_its_burst_its_off_load_and_what_the_protocol_costs() {
    let run = run(&constant(1, 1000, 11.0, 96.0), Edtlp::default(), (1, 1));
    assert_eq!(run.offloads(), 1000);
    let over = turn(&run) - 107.0;
    // Two stores and a load across the bus, and a blocking get.
    assert!((0.4..1.0).contains(&over), "{over} us");
    assert_eq!(run.functions[0].apu_parallel, Seconds(0.0));
}

#[test]
fn what_the_host_does_faster_stays_there() {
    let synthetic = constant(1, 1000, 11.0, 96.0);
    // Off-loaded once; then 11 and 48 us on the host.
    let faster = run(&synthetic.clone().on_host(0.5).unwrap(), Edtlp::default(), (1, 1));
    assert_eq!(faster.offloads(), 1);
    assert!((faster.time.0 / US / 1000.0 - 59.0).abs() < 0.1, "{}", faster.time);
    // On the host once.
    let slower = run(&synthetic.on_host(2.0).unwrap(), Edtlp::default(), (1, 1));
    assert_eq!(slower.offloads(), 999);
}

#[test]
fn linux_keeps_as_many_accelerators_busy_as_there_are_hardware_threads() {
    let synthetic = constant(16, 100, 11.0, 96.0);
    let [one, four, eight] =
        [(1, 1), (4, 1), (8, 1)].map(|mapping| run(&synthetic, Linux, mapping).time.0);
    assert!((3.5..4.1).contains(&(one / four)), "{}", one / four);
    assert!((0.9..1.1).contains(&(eight / four)), "{}", eight / four);
    let switching = run(&synthetic, Edtlp::default(), (8, 1)).time.0;
    assert!(switching < 0.6 * eight, "{switching} beside {eight}");
}

#[test]
fn whoever_yields_or_sleeps_keeps_more_accelerators_busy_than_there_are_hardware_threads() {
    // Six processes on two hardware threads; a task is as long as two turns of the others.
    let synthetic = constant(6, 100, 5.0, 300.0);
    let time = |policy: Box<dyn Policy>| {
        let blade = Blade::new(&Machine::named("ps3").unwrap(), KernelTiming::Cached, 0.0);
        synthetic.run(&Runtime::new(blade, policy), Mapping::of(6, 1)).unwrap().run.time.0
    };
    let [spins, yields, sleeps] =
        [Box::new(Linux) as Box<dyn Policy>, Box::new(Ynr), Box::new(Mbox)].map(time);
    assert!((2.8..3.2).contains(&(spins / yields)), "{spins} {yields}");
    assert!((2.5..3.2).contains(&(spins / sleeps)), "{spins} {sleeps}");
    // Of off-loads that all end at once; an interrupt takes longer than a look.
    assert!(yields < sleeps, "{yields} {sleeps}");
}

#[test]
fn what_can_be_shared_is_shared_to_the_last_cycle() {
    let synthetic = constant(1, 100, 0.0, 96.0).sharing(0.75).unwrap();
    let [one, three] = [1, 3].map(|p| run(&synthetic, Edtlp::default(), (1, p)));
    let parallel = |run: &Run| run.functions[0].apu_parallel.0 / US / 100.0;
    assert!((parallel(&one) - 72.0).abs() < 0.1, "{}", parallel(&one));
    assert!((parallel(&three) - 72.0).abs() < 0.3, "{}", parallel(&three));
    assert!((turn(&one) - turn(&three) - 48.0).abs() < 2.0);
}

#[test]
fn every_mapping_draws_the_same_times_whoever_takes_a_task() {
    let durations = Durations::exponential(burst(1.0, 50.0)).unwrap();
    let synthetic = Synthetic::new(7, 300, durations, 5).unwrap();
    let busy = |mapping| run(&synthetic, Edtlp::default(), mapping).apu_busy().0;
    let [one, three] = [(1, 1), (3, 1)].map(busy);
    assert!((one / three - 1.0).abs() < 2e-3, "{one} {three}");
    // Each has the mean that it is told, to four of its standard deviations.
    let mean = one / US / 2100.0;
    assert!((mean - 50.0).abs() < 4.0 * 50.0 / 2100.0_f64.sqrt(), "{mean}");
}

#[test]
fn a_trace_goes_on_from_task_to_task_and_begins_again() {
    let bursts: Vec<Burst> = (1..=5).map(|number| burst(0.0, f64::from(number))).collect();
    let durations = Durations::trace(bursts).unwrap();
    let of = |task| durations.of_task(1, task, 3).map(|it| (it.offload.0 / US).round() as u32);
    let all: Vec<u32> = (0..3).flat_map(of).collect();
    assert_eq!(all, [1, 2, 3, 4, 5, 1, 2, 3, 4]);
}

#[test]
fn what_cannot_be_run_is_refused_by_name() {
    let refused = |result: Result<Synthetic>| result.unwrap_err().to_string();
    let durations = || Durations::constant(burst(1.0, 1.0)).unwrap();
    let none = refused(Synthetic::new(0, 5, durations(), 1));
    assert_eq!(none, "off-loads of all tasks: found 0, expected 1 to 2^32");
    let part = refused(constant(1, 1, 1.0, 1.0).sharing(1.5));
    assert!(part.starts_with("part of an off-load that can be shared: found 1.5"), "{part}");
    assert!(Durations::constant(burst(-1.0, 1.0)).is_err());
    assert!(Durations::constant(burst(1.0, f64::NAN)).is_err());
    assert!(Durations::trace(Vec::new()).is_err());
}
