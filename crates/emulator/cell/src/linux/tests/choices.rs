//! Switches to a process that was chosen, scans, and processes that share an address space, by hand.

use super::*;
use crate::host::{Scan, Scanner};

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
    (machine.linux.yield_, machine.linux.yield_to) = (Seconds(2e-3), 1.5);
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
    machine.linux.system_call = Seconds(2e-3);
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
