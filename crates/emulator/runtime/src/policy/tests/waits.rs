//! When processes go on that wait for their tasks, by hand.

use super::*;
use crate::policy::policy_named;
use mmgp_base::units::Seconds;
use mmgp_machine::{Services, ThreadSharing};

/// A PlayStation 3 of 1 GHz that takes no time for anything but what a test sets, and for DMA, a
/// fraction of a microsecond.
fn machine() -> Machine {
    let mut machine = Machine::named("ps3").unwrap();
    machine.clock.0 = 1e9;
    (machine.ppe_issue.threads, machine.ppe.smt_slowdown) = (ThreadSharing::Given, 1.0);
    let ppe = &mut machine.ppe;
    let cache = &mut machine.cache;
    for cost in [&mut ppe.integer, &mut ppe.load, &mut ppe.store, &mut ppe.branch] {
        *cost = Cycles(0);
    }
    for cost in [&mut cache.l2_hit, &mut cache.memory, &mut cache.translation] {
        *cost = Cycles(0);
    }
    for cost in [&mut ppe.lock, &mut ppe.barrier, &mut machine.mfc.claim, &mut machine.spu.poll] {
        *cost = Cycles(0);
    }
    machine.linux.services = Services::default();
    for cost in [&mut machine.linux.context_switch, &mut ppe.mmio_load, &mut ppe.mmio_store] {
        *cost = Seconds(0.0);
    }
    machine
}

const fn microseconds(count: u64) -> Seconds {
    Seconds(count as f64 * 1e-6)
}

/// Takes as many microseconds as the number of the function.
struct Program;

impl SpeProgram for Program {
    async fn call(&self, spe: &Spe, call: Call) -> Result<Vec<Loop>> {
        spe.spend(Cycles(1000 * u64::from(call.function))).await;
        Ok(Vec::new())
    }
}

/// When each process, which computes for so long and then has a task of so long, has its result, to
/// the microsecond, and how often a hardware thread changed from one process to another. Those with
/// even ranks are on one hardware thread, those with odd ones on the other.
fn ends(machine: &Machine, policy: &str, processes: &[(u32, u64, u32)]) -> (Vec<u64>, u64) {
    ends_of(machine, policy, processes, |task| task)
}

/// The same where tasks are of this kind.
fn ends_of(
    machine: &Machine,
    policy: &str,
    processes: &[(u32, u64, u32)],
    kind: fn(Task<'_>) -> Task<'_>,
) -> (Vec<u64>, u64) {
    let blade = Blade::new(machine, KernelTiming::Cached, 0.0);
    let on = Runtime::new(blade, policy_named(policy).unwrap());
    on.load(&Rc::new(Program), Signalling::Memory);
    let ends = Rc::new(RefCell::new(vec![0; processes.len()]));
    for (place, &(rank, host, task)) in processes.iter().enumerate() {
        let (process, ends) = (on.process(rank, vec![rank]), Rc::clone(&ends));
        on.blade().sim.spawn(format!("rank {rank}"), async move {
            process.resume().await;
            process.compute(Cycles(1000 * host), &[]).await;
            let task = Task::new(task, 1, &|_| EffectiveAddress::default());
            process.off_load(kind(task)).await;
            ends.borrow_mut()[place] = (1e6 * process.sim.now().seconds().0).round() as u64;
            process.finish(0);
        });
    }
    on.blade().run().unwrap();
    (ends.take(), on.blade().context_switches())
}

#[test]
fn a_process_that_has_run_much_is_yielded_to_once_its_entry_is_set_and_otherwise_not() {
    let mut machine = machine();
    (machine.linux.services.yield_, machine.linux.yield_to) = (microseconds(10), 1.5);
    machine.linux.services.yield_alone = microseconds(1);
    let processes = [(0, 0, 1000), (2, 200, 20)];
    // Rank 0 looks and yields at 0, rank 2 is there at 10 and starts its SPE at 210, when it has run
    // for 210 us and rank 0 for none. Rank 0 is there again at 220 and yields to itself until it has
    // run for as long, at 420: rank 2 comes in at 430, and its task was done at 230.
    assert_eq!(ends(&machine, "ynr", &processes).0[1], 430);
    // Rank 0 scans until 10, rank 2 is there at 20 and starts its SPE at 220. It scans until 230; rank
    // 0 is there again at 240, where it finds the entry that was set then, and has rank 2 come in by a
    // switch of 15 us.
    assert_eq!(ends(&machine, "sled", &processes).0[1], 255);
    assert_eq!(ends(&machine, "sled:kernel", &processes).0[1], 255);
    // With a single pass, which takes no time, before each yield as under YNR: rank 0 is there again
    // at 220, and comes back to itself until the entry is set at 230.
    let [_, end] = ends(&machine, "sled:user-1", &processes).0[..] else { panic!("two of them") };
    assert!((245..=247).contains(&end), "{end}");
}

#[test]
fn who_is_never_in_the_list_runs_all_the_same() {
    let mut machine = machine();
    machine.linux.services.yield_ = microseconds(10);
    // Three share a latency of 2 ms: a slice is 667 us. Rank 0 scans for 10 us and so sees each of its
    // tasks done, until its slice ends. From then on ranks 0 and 2 find each other done all the time,
    // while rank 4 has not begun, for a slice more. Then it comes in.
    (machine.linux.latency, machine.linux.minimum_granularity) =
        (microseconds(1000), microseconds(100));
    let blade = Blade::new(&machine, KernelTiming::Cached, 0.0);
    let on = Runtime::new(blade, policy_named("sled").unwrap());
    on.load(&Rc::new(Program), Signalling::Memory);
    let began = Rc::new(RefCell::new(0.0));
    for rank in [0, 2, 4] {
        let (process, began) = (on.process(rank, vec![rank]), Rc::clone(&began));
        on.blade().sim.spawn(format!("rank {rank}"), async move {
            process.resume().await;
            if rank == 4 {
                *began.borrow_mut() = 1e6 * process.sim.now().seconds().0;
            }
            for _ in 0..1000 {
                process.compute(Cycles(20_000), &[]).await;
                process.off_load(Task::new(5, 1, &|_| EffectiveAddress::default())).await;
            }
            process.finish(0);
        });
    }
    on.blade().run().unwrap();
    let began = began.take();
    assert!((began - (2.0 * 2000.0 / 3.0 + 10.0)).abs() < 0.1, "{began}");
}

#[test]
fn who_scans_alone_sees_its_entry_unless_it_yields_just_then() {
    let mut machine = machine();
    (machine.linux.services.yield_, machine.linux.services.yield_alone) =
        (microseconds(10), microseconds(5));
    let end = |policy: &str, task: u32| ends(&machine, policy, &[(0, 0, task)]).0[0];
    // A scan takes 10 us, and then a yield to itself 5; what comes then is seen at 15.
    assert_eq!([7, 12, 18].map(|task| end("sled", task)), [7, 15, 18]);
    // A scan in the kernel has to return from there.
    assert_eq!([7, 18].map(|task| end("sled:kernel", task)), [12, 23]);
}

#[test]
fn passes_of_a_scan_in_the_kernel_see_what_comes_meanwhile_and_keep_others_waiting_as_long() {
    let mut machine = machine();
    machine.ppe.load = Cycles(1000);
    (machine.linux.services.yield_, machine.linux.yield_to) = (microseconds(10), 1.0);
    let processes = [(0, 0, 1000), (2, 200, 5)];
    let end = |policy: &str| ends(&machine, policy, &processes).0[1];
    // Rank 0 looks at its own entry until 1, passes over three N times in 3 us each, and has rank 2 come in
    // 10 us later, which starts its SPE after 200. It looks until 1, and passes until 7, where it finds what
    // was set at 5, and looks at its own entry again.
    for passes in [2, 20, 200] {
        assert_eq!(end(&format!("sled:kernel-{passes}")), 1 + 3 * passes + 10 + 200 + 8);
    }
    // After a single pass it yields, at 218. Rank 0 is there at 228, looks at its own entry, finds rank 2's
    // in a pass until 232, and has it come in at 242.
    assert_eq!(end("sled:kernel-1"), 243);
    // Where none is named, as many as take the time of a yield: three.
    assert_eq!(end("sled:kernel"), end("sled:kernel-3"));
}

#[test]
fn a_process_that_is_not_pinned_is_yielded_to_from_the_other_hardware_thread() {
    let mut machine = machine();
    (machine.linux.services.yield_, machine.linux.yield_to) = (microseconds(10), 1.5);
    let processes = [(1, 0, 1000), (2, 0, 20), (0, 500, 10)];
    // Rank 2 scans until 10, rank 0 is there at 20 and computes until 520. Rank 2's task was done at 20.
    // Rank 1, alone on the other hardware thread, finds that and has rank 2 come over in 15 us.
    assert_eq!(ends(&machine, "sled:free", &processes).0[1], 35);
    assert_eq!(ends(&machine, "sled:free-kernel", &processes).0[1], 35);
    // Pinned, it is found by rank 0.
    assert_eq!(ends(&machine, "sled", &processes).0[1], 535);
}

#[test]
fn who_runs_already_on_another_hardware_thread_is_not_yielded_to() {
    let mut machine = machine();
    machine.linux.services.yield_ = microseconds(100);
    // Rank 1 sees that its task is done, and so does rank 0, which would have rank 2 come in.
    let ends = ends(&machine, "sled:free", &[(0, 0, 22), (1, 0, 20), (2, 0, 0)]).0;
    assert_eq!(ends[..2], [22, 20]);
}

#[test]
fn the_affinity_check_takes_time_for_each_entry_and_hardware_thread() {
    let mut machine = machine();
    machine.ppe.branch = Cycles(1000);
    (machine.linux.services.yield_, machine.linux.yield_to) = (microseconds(20), 1.0);
    // Rank 1 looks at its own entry at 1 and passes over six in 6 us each: rank 2's, which was done at
    // 20, by 25. One check, for the other hardware thread, takes until 26, the switch until 46, and the
    // look at its own entry until 47.
    let processes = [(1, 0, 1000), (2, 0, 19), (0, 500, 10)];
    assert_eq!(ends(&machine, "sled:free", &processes).0[1], 47);
}

#[test]
fn of_a_queue_the_oldest_entry_comes_first_and_of_a_list_the_next() {
    let mut machine = machine();
    (machine.linux.services.yield_, machine.linux.yield_to) = (microseconds(10), 1.0);
    // Ranks 2 and 4 have begun when rank 0 comes in, at 40, which computes until 240. Rank 4 was done
    // before rank 2.
    let processes = [(2, 0, 70), (4, 0, 40), (0, 200, 1000)];
    let order = |policy: &str| {
        let ends = ends(&machine, policy, &processes).0;
        [ends[0], ends[1]]
    };
    assert_eq!(order("sled"), [250, 260]);
    assert_eq!(order("sled:fifo"), [260, 250]);
}

#[test]
fn an_entry_is_taken_from_a_queue_under_its_lock_and_the_line_comes_from_memory() {
    let mut machine = machine();
    machine.cache.memory = Cycles(5000);
    let end = |machine: &Machine| ends(machine, "sled:fifo", &[(0, 0, 30)]).0[0];
    assert_eq!(end(&machine), 35);
    // A store of the lock, three of the entry, and one of what was noted.
    machine.ppe.store = Cycles(1000);
    assert_eq!(end(&machine), 35 + 5);
}

#[test]
fn an_entry_that_an_spe_has_put_is_loaded_from_memory() {
    let mut machine = machine();
    machine.cache.memory = Cycles(5000);
    let end = |policy: &str| ends(&machine, policy, &[(0, 0, 30)]).0[0];
    // To take an item needs two lines of code and two of data that are in no cache yet.
    assert_eq!(["edtlp", "sled", "work-stealing"].map(end), [30, 35, 35 + 4 * 5]);
}

#[test]
fn a_look_at_the_list_takes_time_for_each_entry_and_an_item_for_being_taken() {
    let mut machine = machine();
    // Of a look at one entry and of the take.
    machine.ppe.load = Cycles(1000);
    let end = |policy: &str| ends(&machine, policy, &[(0, 0, 30)]).0[0];
    // A pass over six entries, its own once more, and twelve loads.
    assert_eq!(end("work-stealing"), 30 + 6 + 1 + 12);
    // Its own at 1; then passes over three entries, the tenth of which ends at 31; and its own again.
    machine.linux.services.yield_ = microseconds(60);
    let end = ends(&machine, "sled", &[(0, 0, 30)]).0[0];
    assert_eq!(end, 31 + 1);
}

#[test]
fn whichever_hardware_thread_is_free_goes_on_with_stolen_work_and_switches_to_nobody() {
    let mut machine = machine();
    machine.linux.context_switch = microseconds(50);
    // Rank 0 has its hardware thread until 500, rank 1 waits until 300. Rank 2 begins where rank 0
    // does.
    let processes = [(0, 500, 10), (1, 0, 300), (2, 0, 30)];
    assert_eq!(ends(&machine, "work-stealing", &processes), (vec![510, 300, 30], 0));
    // Pinned, it comes in when rank 0 waits, at 550; then rank 0 has its result, and then rank 2.
    assert_eq!(ends(&machine, "edtlp:ready", &processes), (vec![600, 300, 650], 3));
}

#[test]
fn what_depends_on_its_process_goes_on_where_that_is_pinned_and_has_it_come_in() {
    let mut machine = machine();
    (machine.linux.services.yield_, machine.linux.yield_to) = (microseconds(10), 1.5);
    let processes = [(0, 500, 10), (1, 0, 300), (2, 0, 30)];
    let ends = |machine: &Machine| {
        ends_of(machine, "work-stealing", &processes, |task| task.continued_by_its_process())
    };
    // Rank 0 has the hardware thread of rank 2 until 500. It waits, rank 2 comes in by a switch of 15 us,
    // and waits, and rank 0 by another one. Rank 1 has been on its own all along.
    assert_eq!(ends(&machine), (vec![530, 300, 515], 2));
    // Who takes an item needs a page of code and one of data, before the switch and after it.
    machine.cache.translation = Cycles(1000);
    assert_eq!(ends(&machine), (vec![538, 302, 519], 2));
    // To others it is all the same.
    let kinds: [fn(Task<'_>) -> Task<'_>; 2] =
        [|task| task, |task| task.continued_by_its_process()];
    let [any, own] = kinds.map(|kind| ends_of(&machine, "sled", &processes, kind));
    assert_eq!(any, own);
}

#[test]
fn a_callback_interrupts_and_is_handled_when_its_process_is_scheduled() {
    let mut machine = machine();
    (machine.linux.services.interrupt, machine.linux.services.yield_alone) =
        (microseconds(7), microseconds(1));
    machine.linux.services.spe_run = microseconds(2);
    (machine.ppe.mmio_load, machine.ppe.mmio_store) = (microseconds(2), microseconds(3));
    let end = |policy: &str| ends(&machine, policy, &[(0, 0, 30)]).0[0];
    // Started at 6 by two stores, done at 36, interrupts until 43, a microsecond after which there is
    // a look; the way out of a call, a load, the way in and a store are 7; the result is loaded.
    assert_eq!(end("callback"), 43 + 7 + 2);
    // Looks of 3 us from 8 on, of which one ends at 38.
    assert_eq!(end("ynr"), 38 + 2);
}

#[test]
fn a_callback_waits_for_its_turn() {
    let mut machine = machine();
    machine.linux.services.yield_ = microseconds(10);
    machine.linux.services.spe_run = microseconds(2);
    // Rank 2 comes in at 10 and computes until 210; the task of rank 0 was done at 50. Rank 0 comes
    // back at 220, and has both ways of a call.
    let ends = ends(&machine, "callback", &[(0, 0, 50), (2, 200, 1000)]).0;
    assert_eq!(ends[0], 222);
}
