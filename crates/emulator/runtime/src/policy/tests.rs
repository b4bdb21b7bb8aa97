mod waits;

use crate::{policies, policy_named};
use mmgp_base::error::{Error, Result};
use std::cell::RefCell;
use std::rc::Rc;

use super::*;
use crate::{Call, Dispatch, Edtlp, Linux, Loop, Runtime, Signalling, SpeProgram, Task};
use mmgp_base::units::{Cycles, Seconds};
use mmgp_cell::ppe::Work;
use mmgp_cell::{Blade, EffectiveAddress, KernelTiming, Spe};
use mmgp_machine::Layout;
use mmgp_sim::Sim;

fn request(own: &[u32], most_shares: u32) -> Request<'_> {
    Request {
        at: SimTime::ZERO,
        process: 0,
        cell: 0,
        function: 0,
        most_shares,
        own,
        host_can: false,
    }
}

/// The SPEs that a policy leases, none where the task has to wait.
fn placed(policy: &dyn Policy, request: &Request<'_>, spes: &BusyMap) -> Option<Lease> {
    match policy.place(request, spes) {
        Decision::Spes(lease) => Some(lease),
        Decision::Host => panic!("{} sends it to the host", policy.name()),
        Decision::Wait => None,
    }
}

#[test]
fn a_policy_has_its_name_and_an_unknown_one_is_told_all_names() {
    for policy in policies() {
        assert_eq!(policy_named(policy.name()).unwrap().name(), policy.name());
        assert!(!policy.summary().is_empty() && !policy.summary().ends_with('.'));
    }
    let Err(error) = policy_named("fair") else { panic!("there is none") };
    let Error::UnknownName { kind, name, known } = error else { panic!("{error}") };
    assert_eq!((kind, name.as_str()), ("scheduler", "fair"));
    let of_the_papers = ["edtlp", "llp", "edtlp-llp", "oracle", "mgps", "linux", "ynr", "sled"];
    assert_eq!(known[..8], of_the_papers);
    assert_eq!(known[8..], ["work-stealing", "mbox", "callback"]);
}

#[test]
fn a_variant_is_named_after_its_policy_and_only_where_there_are_some() {
    for order in Dispatch::ALL {
        let policy = policy_named(&format!("edtlp:{}", order.name())).unwrap();
        assert_eq!(policy.name(), "edtlp");
    }
    let scans = ["user", "kernel", "user-1", "kernel-1000", "free", "free-kernel", "fifo"];
    for scan in scans.into_iter().chain(["free-2", "free-kernel-3", "fifo-4"]) {
        assert_eq!(policy_named(&format!("sled:{scan}")).unwrap().name(), "sled");
    }
    let message = |name: &str| policy_named(name).err().unwrap().to_string();
    assert_eq!(
        message("edtlp:turns"),
        "there is no variant of a scheduler \"edtlp:turns\"; known: edtlp:ready, \
         edtlp:round-robin, edtlp:yield"
    );
    for wrong in ["sled:", "sled:kernel-0", "sled:user-", "sled:10", "sled:user-kernel"] {
        let message = message(wrong);
        assert!(message.starts_with(&format!("there is no variant of a scheduler \"{wrong}\"; ")));
        assert!(message.ends_with(
            "known: sled:user, sled:kernel, sled:free, sled:free-kernel, sled:fifo, sled:user-N, \
             sled:kernel-N, sled:free-N, sled:free-kernel-N, sled:fifo-N"
        ));
    }
    assert_eq!(
        message("linux:yield"),
        "there is no scheduler with variants \"linux\"; known: edtlp, edtlp-llp, sled"
    );
}

#[test]
fn policies_lease_a_process_its_own_spes_and_no_others() {
    for policy in policies().into_iter().filter(|policy| policy.leases_own_only()) {
        let spes =
            BusyMap::new(&Sim::new(), Layout { cells: 1, spes_per_cell: 8, threads_per_ppe: 2 });
        for _ in 0..3 {
            let lease = placed(&*policy, &request(&[4, 5, 6], 16), &spes).unwrap();
            assert_eq!(lease.spes(), [4, 5, 6], "{}", policy.name());
            // Another one has them, though others are idle.
            assert!(placed(&*policy, &request(&[6, 7], 16), &spes).is_none());
            assert_eq!(spes.idle(), [0, 1, 2, 3, 7]);
        }
        let lease = placed(&*policy, &request(&[4, 5, 6], 2), &spes).unwrap();
        assert_eq!(lease.spes(), [4, 5]);
    }
}

/// How many SPEs of 8 a task gets under the policy of that name while so many processes are active.
fn leased(name: &str, active: u32) -> usize {
    let policy = policy_named(name).unwrap();
    let spes = BusyMap::new(&Sim::new(), Layout { cells: 1, spes_per_cell: 8, threads_per_ppe: 2 });
    (0..8).for_each(|process| policy.enters(process));
    (active..8).for_each(|process| policy.leaves(process));
    let lease = placed(&*policy, &request(&[3], 8), &spes).unwrap();
    assert_eq!(lease.spes()[0], 3, "its own comes first");
    // At most as many as can share it, whatever the rule says.
    assert_eq!(placed(&*policy, &request(&[3], 1), &spes).map_or(1, |it| it.spes().len()), 1);
    lease.spes().len()
}

#[test]
fn tasks_get_as_many_spes_as_the_rule_of_the_policy_says() {
    let of = |name| [1, 2, 3, 4, 5, 8].map(|active| leased(name, active));
    assert_eq!(of("llp"), [8; 6]);
    assert_eq!(of("edtlp-llp"), [2, 2, 2, 2, 1, 1]);
    assert_eq!(of("oracle"), [4, 4, 2, 2, 1, 1]);
    assert_eq!(of("mgps"), [1; 6]);
}

/// Notes who asks, and what is completed; each process has what `place` says, and sleeps meanwhile.
struct Noting {
    place: fn(&Request<'_>, &BusyMap) -> Decision,
    log: Rc<RefCell<Vec<String>>>,
}

impl Policy for Noting {
    fn name(&self) -> &'static str {
        "noting"
    }

    fn summary(&self) -> &'static str {
        "Notes what happens"
    }

    fn sharing(&self, machine: &Machine) -> Sharing {
        Sharing::kernel(machine)
    }

    fn leases_own_only(&self) -> bool {
        false
    }

    fn place(&self, request: &Request<'_>, spes: &BusyMap) -> Decision {
        self.log.borrow_mut().push(format!("{} asks for {:?}", request.process, spes.idle()));
        (self.place)(request, spes)
    }

    fn wait<'a>(&'a self, process: &'a HostProcess, pending: &'a Pending) -> Steps<'a> {
        Box::pin(pending.sleep_until_interrupts(process))
    }

    fn completed(&self, Completion { spe, process, function, .. }: Completion) {
        self.log.borrow_mut().push(format!("SPE {spe} ends {function} of {process}"));
    }
}

/// Takes 32,000 cycles, 10 us, and 3,200 more for each share before it.
struct Program;

impl SpeProgram for Program {
    async fn call(&self, spe: &Spe, call: Call) -> Result<Vec<Loop>> {
        spe.spend(Cycles(32_000 + 3_200 * u64::from(call.share))).await;
        Ok(Vec::new())
    }
}

/// A QS20 whose run-time system has no lock, and does what is counted of its books once; a yield takes 2 us.
fn machine() -> Machine {
    let mut machine = Machine::named("qs20").unwrap();
    (machine.ppe.books, machine.ppe.lock) = (1, Cycles(0));
    let services = &mut machine.linux.services;
    (services.yield_, services.yield_alone) = (Seconds(2e-6), Seconds(0.2e-6));
    machine
}

/// What was noted while processes 0 and 1 had one task each, function 7 + rank, and how many SPEs
/// shared them.
fn notes(place: fn(&Request<'_>, &BusyMap) -> Decision) -> (Vec<String>, Vec<u32>, f64) {
    let log = Rc::new(RefCell::new(Vec::new()));
    let machine = machine();
    let policy = Noting { place, log: Rc::clone(&log) };
    let on = Runtime::new(Blade::new(&machine, KernelTiming::Cached, 0.0), Box::new(policy));
    on.load(&Rc::new(Program), Signalling::Memory);
    let shares = Rc::new(RefCell::new(vec![99; 2]));
    for rank in 0..2 {
        let (process, shares) = (on.process(rank, vec![3 + rank]), Rc::clone(&shares));
        on.blade().sim.spawn(format!("rank {rank}"), async move {
            process.resume().await;
            // So that process 0 asks first.
            process.work(Work { integers: 100 * u64::from(rank), ..Work::default() }).await;
            let work = Work { integers: 16_000, ..Work::default() };
            let task = Task::new(7 + rank, 2, &|_| EffectiveAddress::default());
            let ran = process.run(task.or_on_host(Box::pin(process.work(work)))).await;
            shares.borrow_mut()[rank as usize] = ran;
            process.finish(0);
        });
    }
    let time = on.blade().run().unwrap().seconds().0;
    (log.take(), shares.take(), time)
}

#[test]
fn a_task_that_has_to_wait_is_placed_when_a_lease_ends() {
    let pair = |_: &Request<'_>, spes: &BusyMap| {
        spes.lease(&[0, 1]).map_or(Decision::Wait, Decision::Spes)
    };
    let (log, shares, time) = notes(pair);
    let all: Vec<u32> = (0..16).collect();
    let expected = [
        format!("0 asks for {all:?}"),
        format!("1 asks for {:?}", &all[2..]),
        "SPE 0 ends 7 of 0".into(),
        "SPE 1 ends 7 of 0".into(),
        format!("1 asks for {all:?}"),
        "SPE 0 ends 8 of 1".into(),
        "SPE 1 ends 8 of 1".into(),
    ];
    assert_eq!(log, expected);
    assert_eq!(shares, [2, 2]);
    // Two calls of 11 us, one after the other.
    assert!(time > 22e-6 && time < 42e-6, "{time:e}");
}

#[test]
fn the_host_does_what_the_policy_sends_there() {
    let (log, shares, time) = notes(|_, _| Decision::Host);
    assert_eq!((log.len(), shares), (2, vec![0, 0]));
    // 16,000 operations of 2 cycles are 10 us, on two Cells at once.
    assert!(time > 10e-6 && time < 12e-6, "{time:e}");
}

/// Places at which five calls of a function run, one after the other, that the host takes so many operations for
/// and an SPE 10 us: `S` and `H`.
fn places(policy: &str, operations: u64) -> String {
    let machine = machine();
    let policy = policy_named(policy).unwrap();
    let on = Runtime::new(Blade::new(&machine, KernelTiming::Cached, 0.0), policy);
    on.load(&Rc::new(Program), Signalling::Memory);
    let (process, places) = (on.process(0, vec![0]), Rc::new(RefCell::new(String::new())));
    let seen = Rc::clone(&places);
    on.blade().sim.spawn("rank 0", async move {
        process.resume().await;
        for _ in 0..5 {
            let work = Work { integers: operations, ..Work::default() };
            let task = Task::new(0, 1, &|_| EffectiveAddress::default());
            let shares = process.run(task.or_on_host(Box::pin(process.work(work)))).await;
            seen.borrow_mut().push(if shares == 0 { 'H' } else { 'S' });
        }
        process.finish(0);
    });
    on.blade().run().unwrap();
    places.take()
}

#[test]
fn a_function_stays_on_the_host_where_off_loading_it_does_not_pay() {
    // An operation takes 2 cycles of 3.2 GHz: 16,000 of them 10 us, as long as the SPE, which has to
    // be started. The first call is off-loaded, the second shows what the host takes.
    for policy in ["edtlp", "edtlp-llp", "mgps"] {
        assert_eq!(places(policy, 15_900), "SHHHH", "{policy}");
        assert_eq!(places(policy, 17_000), "SHSSS", "{policy}");
    }
    // The kernel knows no such test.
    assert_eq!(places("linux", 15_900), "SSSSS");
}

#[test]
#[should_panic(expected = "no more SPEs than can share")]
fn a_policy_that_leases_too_many_spes_is_a_bug() {
    notes(|_, spes| spes.lease(&[0, 1, 2]).map_or(Decision::Wait, Decision::Spes));
}

/// Time of two processes on one hardware thread with an SPE and a task of 10 us each \[us\].
fn time_of_two(policy: Box<dyn Policy>) -> f64 {
    let machine = machine();
    let on = Runtime::new(Blade::new(&machine, KernelTiming::Cached, 0.0), policy);
    on.load(&Rc::new(Program), Signalling::Memory);
    // Two Cells with two threads each: ranks 0 and 4 are dealt to the same.
    for rank in [0, 4] {
        let process = on.process(rank, vec![rank]);
        on.blade().sim.spawn(format!("rank {rank}"), async move {
            process.resume().await;
            process.off_load(Task::new(0, 1, &|_| EffectiveAddress::default())).await;
            process.finish(0);
        });
    }
    1e6 * on.blade().run().unwrap().seconds().0
}

#[test]
fn a_process_gives_its_thread_away_under_edtlp_and_keeps_it_under_linux() {
    // Side by side, with three switches of 1.5 us between them; or one after the other, for a time
    // slice is longer than both.
    let edtlp = time_of_two(Box::new(Edtlp::default()));
    assert!(edtlp > 10.0 && edtlp < 16.0, "{edtlp}");
    let linux = time_of_two(Box::new(Linux));
    assert!(linux > 20.0 && linux < 24.0, "{linux}");
}

/// Takes 100 us for process 0, and 10 us for others.
struct LongAndShort;

impl SpeProgram for LongAndShort {
    async fn call(&self, spe: &Spe, call: Call) -> Result<Vec<Loop>> {
        spe.spend(Cycles(if call.function == 0 { 320_000 } else { 32_000 })).await;
        Ok(Vec::new())
    }
}

/// When two processes on one hardware thread have done one long task and three short ones, in that
/// order of dispatch \[us\].
fn ends(order: &str) -> [f64; 2] {
    let machine = machine();
    let policy = policy_named(&format!("edtlp:{order}")).unwrap();
    let on = Runtime::new(Blade::new(&machine, KernelTiming::Cached, 0.0), policy);
    on.load(&Rc::new(LongAndShort), Signalling::Memory);
    let ends = Rc::new(RefCell::new([0.0; 2]));
    for (place, (rank, tasks)) in [(0, 1), (4, 3)].into_iter().enumerate() {
        let (process, ends) = (on.process(rank, vec![rank]), Rc::clone(&ends));
        on.blade().sim.spawn(format!("rank {rank}"), async move {
            process.resume().await;
            for _ in 0..tasks {
                process.run(Task::new(rank, 1, &|_| EffectiveAddress::default())).await;
            }
            ends.borrow_mut()[place] = 1e6 * process.sim.now().seconds().0;
            process.finish(0);
        });
    }
    on.blade().run().unwrap();
    ends.take()
}

#[test]
fn in_strict_turns_a_process_waits_for_a_slower_one_and_otherwise_only_for_what_is_ready() {
    // Each task begins by two stores of 100 ns and ends by a load of 150 ns; a switch takes 1.5 us.
    // The short tasks are done one after the other beside the long one.
    let [long, short] = ends("ready");
    assert!(long > 100.2 && long < 105.0 && short > 30.0 && short < 38.0, "{long} {short}");
    // The second of the short ones begins when the long one is done, and then nobody is in turn.
    let [long, short] = ends("round-robin");
    assert!(long > 100.2 && long < 105.0 && short > 120.0 && short < 126.0, "{long} {short}");
    // Each finds out by a switch of 2 us and a load that it is not its turn.
    let [long, short] = ends("yield");
    assert!(long > 100.2 && long < 110.0 && short > 36.0 && short < 50.0, "{long} {short}");
}
