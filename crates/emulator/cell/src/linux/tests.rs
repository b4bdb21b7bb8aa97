//! Yield order, preemption and wake-up order, by hand.

use std::cell::RefCell;
use std::rc::Rc;

use crate::host::{Pause, Scan, Scanner};
use crate::linux::queue::{Cooperative, of_kernel};
use crate::linux::*;
use crate::ppe::Work;
use crate::{Blade, HostProcess, KernelTiming};
use mmgp_base::units::{Cycles, Seconds};
use mmgp_machine::{Layout, LinuxScheduler, Services, ThreadSharing};

/// One hardware thread of 1 GHz on which an integer operation is a cycle and nothing else costs
/// anything. CFS: latency 30 ms, granularity 6 ms, wake-up granularity 5 ms; O(1): slice 10 ms.
fn toy(scheduler: LinuxScheduler) -> Machine {
    let mut machine = Machine::named("qs20").unwrap();
    machine.layout = Layout { cells: 1, spes_per_cell: 1, threads_per_ppe: 1 };
    machine.clock.0 = 1e9;
    machine.ppe.integer = Cycles(1);
    let linux = &mut machine.linux;
    linux.scheduler = scheduler;
    (linux.context_switch, linux.services) = (Seconds(0.0), Services::default());
    linux.time_slice = Seconds(10e-3);
    linux.latency = Seconds(30e-3);
    linux.minimum_granularity = Seconds(6e-3);
    linux.wakeup_granularity = Seconds(5e-3);
    machine
}

/// Machine at rest, its processes scheduled by the kernel.
fn under_the_kernel(machine: &Machine) -> Blade {
    Blade::new(machine, KernelTiming::Cached, 0.0).under(&Sharing::kernel(machine))
}

fn milliseconds(count: u64) -> SimSpan {
    SimSpan::from_ticks(count * 1_000_000_000_000)
}

fn entity(process: u32, run_time: u64) -> Entity {
    let virtual_run_time = milliseconds(run_time);
    Entity { process, affinity: Affinity::Pinned, left: milliseconds(10), virtual_run_time }
}

/// A program of a process on the toy machine, which notes what it does.
struct Life {
    process: HostProcess,
    log: Rc<RefCell<Vec<(u32, u64)>>>,
}

impl Life {
    async fn work(&self, milliseconds: u64) {
        let integers = milliseconds * 1_000_000;
        self.process.work(Work { integers, ..Work::default() }).await;
    }

    /// Notes the time [ms].
    fn note(&self) {
        let now = (self.process.sim.now().seconds().0 * 1e3).round() as u64;
        self.log.borrow_mut().push((self.process.rank, now));
    }
}

/// What the processes noted, each as (process, ms).
fn notes<F: Future<Output = ()> + 'static>(
    scheduler: LinuxScheduler,
    processes: u32,
    program: impl Fn(Life) -> F,
) -> Vec<(u32, u64)> {
    notes_on(&toy(scheduler), processes, program)
}

/// The same on that machine.
fn notes_on<F: Future<Output = ()> + 'static>(
    machine: &Machine,
    processes: u32,
    program: impl Fn(Life) -> F,
) -> Vec<(u32, u64)> {
    let blade = under_the_kernel(machine);
    let log = Rc::new(RefCell::new(Vec::new()));
    for rank in 0..processes {
        let life = Life { process: blade.host_process(rank), log: Rc::clone(&log) };
        let program = program(life);
        blade.sim.spawn(format!("process {rank}"), program);
    }
    blade.run().unwrap();
    log.take()
}

/// Works for 1, 2 or 3 ms by rank, notes, yields; three times.
async fn yielding(life: Life) {
    life.process.resume().await;
    for _ in 0..3 {
        life.work(u64::from(life.process.rank) + 1).await;
        life.note();
        life.process.sched_yield().await;
    }
    life.process.release();
}

#[test]
fn a_yield_under_the_o1_scheduler_puts_the_caller_behind_everybody() {
    // Turn by turn 0, 1, 2, whatever they have run: 1, 2 and 3 ms.
    let order = [(0, 1), (1, 3), (2, 6), (0, 7), (1, 9), (2, 12), (0, 13), (1, 15), (2, 18)];
    assert_eq!(notes(LinuxScheduler::ConstantTime, 3, yielding), order);
}

#[test]
fn a_yield_under_cfs_goes_on_with_whoever_has_run_least() {
    // Run times after each turn; who has least runs, of equals who came into the queue first.
    // 0: 1 | 1: 2 | 2: 3 | (1, 2, 3) 0: 2 | (2, 2, 3) 1 came first: 4 | (2, 4, 3) 0: 3 and done |
    // (-, 4, 3) 2: 6 | (-, 4, 6) 1: 6 and done | 2: 9.
    let order = [(0, 1), (1, 3), (2, 6), (0, 7), (1, 9), (0, 10), (2, 13), (1, 15), (2, 18)];
    assert_eq!(notes(LinuxScheduler::Fair, 3, yielding), order);
}

#[test]
fn a_process_that_yields_goes_on_while_it_is_still_the_leftmost_under_cfs() {
    let mut queue = of_kernel(&toy(LinuxScheduler::Fair));
    queue.enter(entity(1, 5), Entry::Expired, None);
    queue.enter(entity(2, 7), Entry::Expired, None);
    queue.enter(entity(0, 4), Entry::Yielded, None);
    let order: Vec<u32> = std::iter::from_fn(|| queue.next()).map(|next| next.process).collect();
    assert_eq!(order, [0, 1, 2]);
}

/// Process 0 spins on a flag that process 1 sets when it has worked for 25 ms.
fn spinner(scheduler: LinuxScheduler) -> Vec<(u32, u64)> {
    let flag = RefCell::new(None);
    notes(scheduler, 2, |life| {
        let new = || Watch::new(&life.process.sim, "the flag", 0);
        let flag = flag.borrow_mut().get_or_insert_with(new).clone();
        async move {
            life.process.resume().await;
            if life.process.rank == 0 {
                life.process.spin(&flag, |&flag| flag == 1).await;
            } else {
                life.work(25).await;
                flag.update(|flag| *flag = 1);
            }
            life.note();
            life.process.release();
        }
    })
}

#[test]
fn a_spinning_process_is_preempted_when_its_slice_ends() {
    // O(1): 10 ms each in turn; the other has its 25 ms at 55 and ends, and the spinner sees the
    // flag at once.
    assert_eq!(spinner(LinuxScheduler::ConstantTime), [(1, 55), (0, 55)]);
    // CFS: two share a latency of 30 ms, 15 each: 15 spun, 15 worked, 15 spun, 10 worked.
    assert_eq!(spinner(LinuxScheduler::Fair), [(1, 55), (0, 55)]);
}

/// Process 0 works for 40 ms; process 1 sleeps for 12 and works for 2.
async fn waking(life: Life) {
    if life.process.rank == 1 {
        life.process.sim.sleep(milliseconds(12)).await;
    }
    life.process.resume().await;
    life.work(if life.process.rank == 0 { 40 } else { 2 }).await;
    life.note();
    life.process.release();
}

#[test]
fn a_woken_process_waits_for_the_end_of_a_slice_under_o1_and_preempts_under_cfs() {
    // O(1): slices of 10 ms; at 12 the second slice of process 0 is under way, until 20.
    assert_eq!(notes(LinuxScheduler::ConstantTime, 2, waking), [(1, 22), (0, 42)]);
    // CFS: process 0 has run for 12 ms, process 1 comes with 0: 12 > 5.
    assert_eq!(notes(LinuxScheduler::Fair, 2, waking), [(1, 14), (0, 42)]);
}

#[test]
fn a_sleeper_is_put_at_most_one_latency_to_the_left() {
    let mut queue = of_kernel(&toy(LinuxScheduler::Fair));
    // Whoever runs has run for 100 ms: a sleeper with 20 is put at 70, one with 80 stays there.
    queue.enter(entity(1, 20), Entry::Woken, Some(&entity(0, 100)));
    queue.enter(entity(2, 80), Entry::Woken, Some(&entity(0, 100)));
    let times: Vec<SimSpan> =
        std::iter::from_fn(|| queue.next()).map(|next| next.virtual_run_time).collect();
    assert_eq!(times, [milliseconds(70), milliseconds(80)]);
}

#[test]
fn a_slice_under_cfs_is_a_share_of_the_latency_but_not_below_the_granularity() {
    let mut queue = of_kernel(&toy(LinuxScheduler::Fair));
    let running = entity(0, 0);
    let mut slices = vec![queue.slice(&running)];
    for process in 1..8 {
        queue.enter(entity(process, 0), Entry::Expired, None);
        slices.push(queue.slice(&running));
    }
    // 30 ms shared by 2, 3, 5; eight get 6 each.
    assert_eq!(slices[0], None);
    assert_eq!(
        [1, 2, 4, 7].map(|others| slices[others]),
        [15, 10, 6, 6].map(|ms| Some(milliseconds(ms)))
    );
}

#[test]
fn a_free_process_moves_to_a_thread_that_falls_idle_and_a_pinned_one_does_not() {
    for (affinity, end) in [(Affinity::Free, 15), (Affinity::Pinned, 20)] {
        let mut machine = toy(LinuxScheduler::ConstantTime);
        machine.layout.threads_per_ppe = 2;
        (machine.ppe_issue.threads, machine.ppe.smt_slowdown) = (ThreadSharing::Given, 1.0);
        let blade = under_the_kernel(&machine);
        // Ranks 0 and 2 begin on thread 0, 1 on thread 1: 5, 10 and 10 ms of work.
        for rank in 0..3 {
            let process = blade.host_process_with(rank, affinity);
            let integers = if rank == 1 { 5_000_000 } else { 10_000_000 };
            blade.sim.spawn(format!("process {rank}"), async move {
                process.resume().await;
                process.work(Work { integers, ..Work::default() }).await;
                process.release();
            });
        }
        // Free: rank 2 goes over at 5 and ends at 15; pinned: it follows rank 0 on thread 0.
        let end_at = (blade.run().unwrap().seconds().0 * 1e3).round() as u64;
        assert_eq!(end_at, end, "{affinity:?}");
    }
}

#[test]
fn an_interrupt_wakes_a_sleeping_process_after_its_cost() {
    let mut machine = toy(LinuxScheduler::ConstantTime);
    machine.linux.services.interrupt = Seconds(1e-3);
    let blade = under_the_kernel(&machine);
    let mail = Watch::new(&blade.sim, "the interrupt mailbox", 0);
    let (process, reader, sim) = (blade.host_process(0), mail.clone(), blade.sim.clone());
    blade.sim.spawn("reader", async move {
        process.resume().await;
        process.sleep_until_interrupt(&reader, |&mail| mail > 0).await;
        // Written at 7 ms, and 1 ms to come through.
        assert_eq!(process.sim.now().seconds(), Seconds(8e-3));
        process.release();
    });
    blade.sim.spawn("SPE", async move {
        sim.sleep(milliseconds(7)).await;
        mail.update(|mail| *mail = 1);
    });
    blade.run().unwrap();
}

/// A queue of which nobody knows that it goes round.
struct OneByOne(Cooperative);

impl Queue for OneByOne {
    fn enter(&mut self, entity: Entity, how: Entry, running: Option<&Entity>) {
        self.0.enter(entity, how, running);
    }

    fn next(&mut self) -> Option<Entity> {
        self.0.next()
    }

    fn take(&mut self, process: u32) -> Option<Entity> {
        self.0.take(process)
    }

    fn put_first(&mut self, entity: Entity) {
        self.0.put_first(entity);
    }

    fn steal(&mut self) -> Option<Entity> {
        self.0.steal()
    }

    fn slice(&self, entity: &Entity) -> Option<SimSpan> {
        self.0.slice(entity)
    }

    fn preempts(&self, newcomer: &Entity, running: &Entity) -> bool {
        self.0.preempts(newcomer, running)
    }

    fn waiting(&self) -> usize {
        self.0.waiting()
    }
}

/// When processes on one hardware thread that yield until a flag is raised, each at its time
/// \[ns\], see it, in the order of seeing \[ns\].
fn seen(queue: fn() -> Box<dyn Queue>, pause: Pause, raised: &[u64]) -> Vec<(usize, f64)> {
    let machine = Machine::named("qs20").unwrap();
    let sharing = Sharing { queue: Box::new(queue), ..Sharing::in_turn(&machine) };
    let blade = Blade::new(&machine, KernelTiming::Cached, 0.0).under(&sharing);
    let seen = Rc::new(RefCell::new(Vec::new()));
    for (index, &raised) in raised.iter().enumerate() {
        let flag = Watch::new(&blade.sim, "a flag", false);
        // Two Cells with two threads each.
        let process = blade.host_process(4 * index as u32);
        let (seen, waited) = (Rc::clone(&seen), flag.clone());
        blade.sim.spawn(format!("process {index}"), async move {
            process.resume().await;
            process.yield_until(&waited, pause, |&flag| flag).await;
            seen.borrow_mut().push((index, 1e9 * process.sim.now().seconds().0));
            // So that others have to wait for something else, too.
            process.work(Work { integers: 10_000, ..Work::default() }).await;
        });
        let sim = blade.sim.clone();
        blade.sim.spawn(format!("flag {index}"), async move {
            sim.sleep(SimSpan::from_ticks(1_000_000 * raised)).await;
            flag.update(|flag| *flag = true);
        });
    }
    blade.run().unwrap();
    seen.take()
}

#[test]
fn turns_of_processes_that_all_wait_end_as_if_they_were_emulated_one_by_one() {
    let all_at_once = || -> Box<dyn Queue> { Box::new(Cooperative::default()) };
    let one_by_one = || -> Box<dyn Queue> { Box::new(OneByOne(Cooperative::default())) };
    for pause in [Pause::LocalStore, Pause::Backoff] {
        for raised in [[37_300, 81_900, 140_010], [400_001, 199_999, 200_000], [5, 5, 900_000]] {
            let (fast, slow) =
                (seen(all_at_once, pause, &raised), seen(one_by_one, pause, &raised));
            for (&(fast, at), (slow, expected)) in fast.iter().zip(slow) {
                assert!(fast == slow && (at - expected).abs() < 1.0, "{pause:?} {raised:?}");
                assert!(at >= raised[fast] as f64, "{at} {raised:?}");
            }
        }
    }
}

#[test]
fn processes_that_yield_to_each_other_for_ever_are_a_deadlock() {
    let machine = Machine::named("qs20").unwrap();
    let blade = Blade::new(&machine, KernelTiming::Cached, 0.0).under(&Sharing::in_turn(&machine));
    for index in [0, 1] {
        let (process, flag) =
            (blade.host_process(4 * index), Watch::new(&blade.sim, "a flag", false));
        blade.sim.spawn(format!("process {index}"), async move {
            process.resume().await;
            process.yield_until(&flag, Pause::Backoff, |&flag| flag).await;
        });
    }
    let error = blade.run().unwrap_err().to_string();
    assert!(error.contains("process 0 waits for a flag; process 1 waits for a flag"), "{error}");
}

/// Puts a process that is in the queue before all others.
fn promote(queue: &mut dyn Queue, process: u32) {
    let entity = queue.take(process).unwrap();
    queue.put_first(entity);
}

#[test]
fn who_is_chosen_under_cfs_comes_next_and_then_back_to_its_own_place() {
    let mut queue = of_kernel(&toy(LinuxScheduler::Fair));
    for (process, run_time) in [(1, 5), (2, 7), (3, 9)] {
        queue.enter(entity(process, run_time), Entry::Expired, None);
    }
    assert_eq!(queue.take(0), None);
    promote(&mut *queue, 3);
    let chosen = queue.next().unwrap();
    assert_eq!((chosen.process, chosen.virtual_run_time), (3, milliseconds(9)));
    queue.enter(chosen, Entry::Yielded, None);
    let order: Vec<u32> = std::iter::from_fn(|| queue.next()).map(|it| it.process).collect();
    assert_eq!(order, [1, 2, 3]);
}

#[test]
fn a_sleeper_comes_in_by_those_that_wait_also_after_one_was_chosen() {
    let mut queue = of_kernel(&toy(LinuxScheduler::Fair));
    for (process, run_time) in [(1, 10), (2, 200)] {
        queue.enter(entity(process, run_time), Entry::Expired, None);
    }
    promote(&mut *queue, 2);
    let chosen = queue.next().unwrap();
    // At most a latency of 30 ms before process 1, not before the one that was chosen.
    queue.enter(entity(3, 0), Entry::Woken, Some(&chosen));
    assert_eq!(queue.next().unwrap().virtual_run_time, milliseconds(0));
}

#[test]
fn who_is_chosen_under_o1_comes_next_from_either_array() {
    let mut queue = of_kernel(&toy(LinuxScheduler::ConstantTime));
    for (process, how) in [(1, Entry::Woken), (2, Entry::Woken), (3, Entry::Yielded)] {
        queue.enter(Entity { left: milliseconds(4), ..entity(process, 0) }, how, None);
    }
    promote(&mut *queue, 3);
    assert_eq!(queue.next().unwrap().process, 3);
    promote(&mut *queue, 2);
    assert_eq!(queue.next().unwrap().process, 2);
    assert_eq!(queue.next().unwrap().process, 1);
}

/// Process 0 works for 1 ms and yields, to `chosen` where there is one; then each of the others works
/// for 1 ms.
fn choosing(scheduler: LinuxScheduler, chosen: Option<u32>) -> Vec<(u32, u64)> {
    let mut machine = toy(scheduler);
    (machine.linux.services.yield_, machine.linux.yield_to) = (Seconds(2e-3), 1.5);
    notes_on(&machine, 3, |life| async move {
        life.process.resume().await;
        life.work(1).await;
        if life.process.rank == 0 {
            life.process.yield_after_scan(chosen).await;
        }
        life.note();
        life.process.release();
    })
}

#[test]
fn a_chosen_process_comes_first_and_pays_more_for_the_switch() {
    for scheduler in [LinuxScheduler::Fair, LinuxScheduler::ConstantTime] {
        // 1 worked, 2 to switch, 1 worked; 2 to switch, 1 worked; 2 to switch.
        assert_eq!(choosing(scheduler, None), [(1, 4), (2, 7), (0, 9)]);
        // The first switch takes 3.
        assert_eq!(choosing(scheduler, Some(2)), [(2, 5), (1, 8), (0, 10)]);
        // Who is not there cannot be chosen.
        assert_eq!(choosing(scheduler, Some(7)), [(1, 4), (2, 7), (0, 9)]);
    }
}

#[test]
fn a_chosen_process_comes_over_from_another_hardware_thread_where_it_may() {
    for (affinity, end) in [(Affinity::Free, 2), (Affinity::Pinned, 11)] {
        let mut machine = toy(LinuxScheduler::Fair);
        machine.layout.threads_per_ppe = 2;
        (machine.ppe_issue.threads, machine.ppe.smt_slowdown) = (ThreadSharing::Given, 1.0);
        let blade = under_the_kernel(&machine);
        let seen = Rc::new(RefCell::new(0));
        // Ranks 0 and 2 are on thread 0, where rank 0 works for 10 ms; rank 1 on thread 1 works for 1 ms
        // and chooses rank 2.
        for rank in 0..3 {
            let (process, seen) = (blade.host_process_with(rank, affinity), Rc::clone(&seen));
            blade.sim.spawn(format!("process {rank}"), async move {
                process.resume().await;
                let integers = if rank == 0 { 10_000_000 } else { 1_000_000 };
                process.work(Work { integers, ..Work::default() }).await;
                match rank {
                    1 => {
                        process.yield_after_scan(Some(2)).await;
                        // So that nobody moves to a thread that falls idle.
                        process.sim.sleep(milliseconds(50)).await;
                    }
                    2 => *seen.borrow_mut() = (process.sim.now().seconds().0 * 1e3).round() as u64,
                    _ => {}
                }
                process.release();
            });
        }
        blade.run().unwrap();
        assert_eq!(seen.take(), end, "{affinity:?}");
    }
}

#[test]
fn processes_that_choose_each_other_let_a_third_one_run_when_a_slice_has_ended() {
    for scheduler in [LinuxScheduler::Fair, LinuxScheduler::ConstantTime] {
        let notes = notes(scheduler, 3, |life| async move {
            life.process.resume().await;
            for turn in 0..40 {
                life.work(1).await;
                if life.process.rank == 2 {
                    life.note();
                    break;
                }
                if turn < 39 {
                    life.process.yield_after_scan(Some(1 - life.process.rank)).await;
                }
            }
            life.process.release();
        });
        // Slices are 10 ms of O(1), and a third of the latency of CFS.
        assert_eq!(notes, [(2, 11)], "{scheduler:?}");
    }
}

/// When process 0 has scanned once, in passes of 1 ms, for something that comes after so many
/// microseconds, while so many others wait for the hardware thread \[us\]; how many passes it made.
fn scanned(comes: u64, others: u32, (most, level): (u64, Scanner)) -> (u64, u64) {
    let mut machine = toy(LinuxScheduler::ConstantTime);
    machine.linux.services.yield_alone = Seconds(2e-3);
    let blade = under_the_kernel(&machine);
    let seen = Rc::new(RefCell::new((0, 0)));
    for rank in 0..=others {
        let (process, seen) = (blade.host_process(rank), Rc::clone(&seen));
        blade.sim.spawn(format!("process {rank}"), async move {
            process.resume().await;
            if rank == 0 {
                // So that the others are there.
                process.sim.sleep(SimSpan::from_ticks(1)).await;
                let ready = process.sim.sleep(SimSpan::from_ticks(comes * 1_000_000_000));
                let passes = process.scan(ready, Scan { pass: Seconds(1e-3), most, level }).await;
                let now = (process.sim.now().seconds().0 * 1e6).round() as u64;
                *seen.borrow_mut() = (now, passes);
            }
            process.release();
        });
    }
    blade.run().unwrap();
    seen.take()
}

#[test]
fn a_scan_ends_with_the_pass_that_finds_something_or_with_the_last() {
    for level in [Scanner::User, Scanner::Kernel] {
        let scanned = |comes| scanned(comes, 1, (5, level));
        assert_eq!([0, 3_400, 4_000].map(scanned), [(1_000, 1), (4_000, 4), (4_000, 4)]);
        assert_eq!(scanned(70_000), (5_000, 5));
    }
}

#[test]
fn the_end_of_a_slice_interrupts_a_process_that_scans_and_not_the_kernel() {
    // The slice of 10 ms ends, the other process has nothing to do.
    assert_eq!(scanned(70_000, 1, (20, Scanner::User)), (10_000, 10));
    assert_eq!(scanned(70_000, 1, (20, Scanner::Kernel)), (20_000, 20));
}

#[test]
fn who_scans_alone_yields_to_itself_between_scans() {
    // Five passes and a system call of 2 ms take 7.
    let alone = |comes| scanned(comes, 0, (5, Scanner::User)).0;
    assert_eq!([0, 3_400, 5_500, 7_200].map(alone), [1_000, 4_000, 7_000, 8_000]);
}

/// When processes that share an address space end, which have so many milliseconds of work each by
/// rank, none where they wait for ever; those with even ranks begin on one hardware thread, those with odd
/// ones on the other \[ms\]; hardware threads slow each other down by 1.5.
fn shared(work: &[(u32, Option<u64>)]) -> (u64, u64) {
    let mut machine = toy(LinuxScheduler::ConstantTime);
    machine.layout.threads_per_ppe = 2;
    (machine.ppe_issue.threads, machine.ppe.smt_slowdown) = (ThreadSharing::Given, 1.5);
    let blade = Blade::new(&machine, KernelTiming::Cached, 0.0).under(&Sharing::shared(&machine));
    let end = Rc::new(RefCell::new(0));
    for &(rank, work) in work {
        let (process, end) = (blade.host_process(rank), Rc::clone(&end));
        blade.sim.spawn_daemon(format!("process {rank}"), async move {
            process.resume().await;
            let Some(milliseconds) = work else {
                process.release();
                return std::future::pending().await;
            };
            let integers = milliseconds * 1_000_000;
            process.work(Work { integers, ..Work::default() }).await;
            *end.borrow_mut() = (process.sim.now().seconds().0 * 1e3).round() as u64;
            process.release();
        });
    }
    blade.run().unwrap();
    (end.take(), blade.context_switches())
}

#[test]
fn processes_that_share_an_address_space_go_on_wherever_one_of_them_began() {
    // Alone, and nobody polls on the other hardware thread, where none began.
    assert_eq!(shared(&[(0, Some(10))]), (10, 0));
    // Two begin on one hardware thread, and nobody on the other.
    assert_eq!(shared(&[(0, Some(10)), (2, Some(10))]), (20, 0));
    // One polls there, whatever becomes of its own work.
    assert_eq!(shared(&[(0, Some(10)), (1, None)]), (15, 0));
    // 10 and 4 ms side by side, slowed down: the second is done at 6, and its thread takes the third,
    // which began where the first did, until 12. The first is done at 15; pinned, the third would
    // follow it there.
    assert_eq!(shared(&[(0, Some(10)), (1, Some(4)), (2, Some(4))]), (15, 0));
}

#[test]
fn who_went_on_at_home_goes_on_anywhere_the_next_time() {
    let mut machine = toy(LinuxScheduler::ConstantTime);
    machine.layout.threads_per_ppe = 2;
    (machine.ppe_issue.threads, machine.ppe.smt_slowdown) = (ThreadSharing::Given, 1.0);
    let blade = Blade::new(&machine, KernelTiming::Cached, 0.0).under(&Sharing::shared(&machine));
    let seen = Rc::new(RefCell::new(Vec::new()));
    for rank in [2, 1, 0] {
        let (process, seen) = (blade.host_process(rank), Rc::clone(&seen));
        let note = move |process: &HostProcess| {
            seen.borrow_mut().push((process.sim.now().seconds().0 * 1e3).round() as u64);
        };
        blade.sim.spawn(format!("process {rank}"), async move {
            process.resume_at_home().await;
            // Ranks 0 and 2 have thread 0 for 1 and 10 ms, one after the other, rank 1 the other thread.
            let integers = [10_000_000, 0, 1_000_000][rank as usize];
            process.work(Work { integers, ..Work::default() }).await;
            process.release();
            if rank == 2 {
                process.resume().await;
                note(&process);
                process.release();
                process.resume_at_home().await;
                note(&process);
                process.release();
            }
        });
    }
    blade.run().unwrap();
    assert_eq!(seen.take(), [1, 11]);
}
