use std::cell::RefCell;
use std::future::Future;
use std::rc::Rc;

use approx::assert_relative_eq;

use super::*;
use crate::KernelTiming;
use crate::linux::Sharing;
use crate::ppe::Work;
use mmgp_base::error::Result;
use mmgp_base::units::{Cycles, SimTime};
use mmgp_machine::{Machine, ThreadSharing};

/// Costs of the toy machine. 3,840 instructions to send or to receive are 960 loads of 5 cycles, 480
/// stores of 1, 720 branches of 6 and 1,680 integer operations of 2: 12,960 cycles at 3.2 GHz.
const OVERHEAD: f64 = 4.05e-6;
const COPY: f64 = 1.375e9;
const LATENCY: f64 = 300e-9;
const REMOTE_COPY: f64 = 0.5e9;
/// A rank that waits has its scheduler poll, which slows the other thread of its core.
const POLLING: f64 = 1.28;

/// Runs a program on each of `size` ranks; the time until all are done \[s\]. On the PlayStation 3
/// two ranks have a hardware thread of one PPE each, on the QS20 a Cell each.
fn run<F: Future<Output = ()> + 'static>(
    machine: &str,
    size: u32,
    program: impl Fn(Communicator, Rc<HostProcess>) -> F,
) -> Result<f64> {
    run_on(&toy(machine), size, program)
}

/// A built-in machine on which nothing waits for lines and translations, and locks cost nothing.
fn toy(name: &str) -> Machine {
    let mut machine = Machine::named(name).unwrap();
    machine.clock.0 = 3.2e9;
    (machine.mpi.send, machine.mpi.receive, machine.mpi.request) = (3840, 3840, 0);
    let services = &mut machine.linux.services;
    (services.semaphore, services.yield_alone) = (Seconds(0.0), Seconds(0.2e-6));
    services.yield_ = Seconds(2e-6);
    machine.ppe_issue.threads = ThreadSharing::Given;
    let cache = &mut machine.cache;
    (cache.l2_hit, cache.memory) = (machine.ppe.load, machine.ppe.load);
    cache.translation = Cycles(0);
    machine
}

/// The same where collectives take what the table says.
fn by_table() -> Machine {
    let mut machine = toy("qs20");
    machine.mpi.collectives = Collectives::Table;
    machine
}

fn run_on<F: Future<Output = ()> + 'static>(
    machine: &Machine,
    size: u32,
    program: impl Fn(Communicator, Rc<HostProcess>) -> F,
) -> Result<f64> {
    let blade = Blade::new(machine, KernelTiming::Cached, 0.0);
    let world = Communicator::new(&blade, size);
    for rank in 0..size {
        let process = Rc::new(blade.host_process(rank));
        let life = program(world.clone(), Rc::clone(&process));
        blade.sim.spawn(format!("rank {rank}"), async move {
            process.resume().await;
            life.await;
            process.release();
        });
    }
    blade.run().map(|end| end.seconds().0)
}

fn to(rank: u32, tag: u32) -> Address {
    Address { rank, tag }
}

fn from(source: u32, tag: u32) -> Pattern {
    Pattern { source: Some(source), tag: Some(tag) }
}

fn zeros(bytes: usize) -> Data {
    Data::Bytes(vec![0; bytes])
}

/// Work of so many seconds of host code, a whole number of operations of 2 cycles.
fn seconds(time: f64) -> Work {
    Work { integers: (time * 1.6e9) as u64, ..Work::default() }
}

/// Time of a message and its answer \[s\].
fn ping_pong(machine: &str, bytes: usize) -> f64 {
    run(machine, 2, |world, process| async move {
        if process.rank == 0 {
            world.send(&process, to(1, 7), zeros(bytes)).await;
            world.recv(&process, from(1, 8)).await;
        } else {
            let message = world.recv(&process, from(0, 7)).await;
            world.send(&process, to(0, 8), message.data).await;
        }
    })
    .unwrap()
}

#[test]
fn a_short_message_costs_two_overheads_and_two_copies() {
    for bytes in [0, 8, 65536] {
        // Sending and receiving, there and back; before the last one the other rank has ended.
        let by_hand = (3.0 * POLLING + 1.0) * (OVERHEAD + bytes as f64 / COPY);
        assert_relative_eq!(ping_pong("ps3", bytes), by_hand, max_relative = 1e-6);
    }
}

#[test]
fn a_short_message_to_the_other_cell_takes_its_latency_and_comes_more_slowly() {
    let by_hand = 2.0 * (2.0 * OVERHEAD + LATENCY + 1000.0 / COPY + 1000.0 / REMOTE_COPY);
    assert_relative_eq!(ping_pong("qs20", 1000), by_hand, max_relative = 1e-6);
}

#[test]
fn a_long_message_asks_first_and_is_copied_once() {
    // Question, answer, copy, taking notice: an overhead each. Before the last one the other rank
    // has ended.
    let by_hand = POLLING * (2.0 * (4.0 * OVERHEAD + 1e6 / COPY) - OVERHEAD) + OVERHEAD;
    assert_relative_eq!(ping_pong("ps3", 1_000_000), by_hand, max_relative = 1e-6);
    // Word crosses three times: of the question, the answer, the data.
    let by_hand = 2.0 * (4.0 * OVERHEAD + 3.0 * LATENCY + 1e6 / REMOTE_COPY);
    assert_relative_eq!(ping_pong("qs20", 1_000_000), by_hand, max_relative = 1e-6);
}

/// When a sender is done whose receiver comes after a millisecond \[s\].
fn sent_after(bytes: usize) -> f64 {
    let done = Rc::new(Cell::new(SimTime::ZERO));
    run("qs20", 2, |world, process| {
        let done = Rc::clone(&done);
        async move {
            if process.rank == 0 {
                world.send(&process, to(1, 0), zeros(bytes)).await;
                done.set(process.sim.now());
            } else {
                process.work(seconds(1e-3)).await;
                world.recv(&process, from(0, 0)).await;
            }
        }
    })
    .unwrap();
    done.get().seconds().0
}

#[test]
fn the_sender_of_a_long_message_waits_for_its_receiver_and_that_of_a_short_one_does_not() {
    assert_relative_eq!(sent_after(65536), OVERHEAD + 65536.0 / COPY, max_relative = 1e-6);
    // The receiver answers at once when it comes; word of that crosses; the data are copied.
    let by_hand = 1e-3 + 2.0 * OVERHEAD + LATENCY + 65537.0 / REMOTE_COPY;
    assert_relative_eq!(sent_after(65537), by_hand, max_relative = 1e-6);
}

#[test]
fn messages_are_chosen_by_tag_and_source_and_else_in_the_order_of_arrival() {
    let taken = Rc::new(RefCell::new(Vec::new()));
    run("qs20", 3, |world, process| {
        let taken = Rc::clone(&taken);
        async move {
            if process.rank > 0 {
                // Rank 1 has a PPE of its own, and its messages arrive 4.4, 8.4 and 12.5 us after the
                // start. Rank 2 shares one with the receiver, which works: 5.2, 10.4, 15.6 us.
                for tag in [1, 2, 2] {
                    world.send(&process, to(0, tag), Data::Integers(vec![tag.into()])).await;
                }
                return;
            }
            process.work(seconds(1e-3)).await;
            let any_from_1 = Pattern { source: Some(1), tag: None };
            let any_with_2 = Pattern { source: None, tag: Some(2) };
            for wanted in [from(1, 2), any_from_1, any_with_2, Pattern::ANY, Pattern::ANY] {
                let Message { source, tag, data } = world.recv(&process, wanted).await;
                assert_eq!(data, Data::Integers(vec![tag.into()]));
                taken.borrow_mut().push((source, tag));
            }
        }
    })
    .unwrap();
    assert_eq!(*taken.borrow(), [(1, 2), (1, 1), (2, 2), (2, 1), (1, 2)]);
}

#[test]
fn ranks_that_exchange_long_messages_by_sendrecv_do_not_wait_for_ever() {
    let exchange = |world: Communicator, process: Rc<HostProcess>| async move {
        let other = 1 - process.rank;
        let own = Data::Integers(vec![process.rank.into(); 100_000]);
        let message = world.sendrecv(&process, to(other, 1), own, from(other, 1)).await;
        assert_eq!(message.data, Data::Integers(vec![other.into(); 100_000]));
    };
    let time = run("qs20", 2, exchange).unwrap();
    // Both do the same at the same time: question, answer, copy, taking notice.
    let by_hand = 4.0 * OVERHEAD + 3.0 * LATENCY + 8e5 / REMOTE_COPY;
    assert_relative_eq!(time, by_hand, max_relative = 1e-6);
}

#[test]
fn a_send_and_receive_in_one_have_request_objects_and_those_that_block_have_none() {
    let time = |request: u64, both: bool| {
        let mut machine = toy("qs20");
        machine.mpi.request = request;
        let exchange = |world: Communicator, process: Rc<HostProcess>| async move {
            let other = 1 - process.rank;
            if both {
                drop(world.sendrecv(&process, to(other, 1), zeros(8), from(other, 1)).await);
            } else if process.rank == 0 {
                world.send(&process, to(other, 1), zeros(8)).await;
            } else {
                drop(world.recv(&process, from(other, 1)).await);
            }
        };
        run_on(&machine, 2, exchange).unwrap()
    };
    // Two of them, as many instructions as a send and a receive.
    assert_relative_eq!(time(3840, true) - time(0, true), 2.0 * OVERHEAD, max_relative = 1e-6);
    assert_eq!(time(3840, false), time(0, false));
    // A step of a sum is such an exchange; a broadcast sends and receives.
    let collective = |request: u64, is_sum: bool| {
        let mut machine = toy("qs20");
        machine.mpi.request = request;
        let add = |world: Communicator, process: Rc<HostProcess>| async move {
            if is_sum {
                world.allreduce_sum(&process, 1.0).await;
            } else {
                world.broadcast(&process, 0, zeros(8)).await;
            }
        };
        run_on(&machine, 2, add).unwrap()
    };
    let longer = collective(3840, true) - collective(0, true);
    assert_relative_eq!(longer, 2.0 * OVERHEAD, max_relative = 1e-6);
    assert_eq!(collective(3840, false), collective(0, false));
}

/// The run ends with this message.
fn check_failure<F: Future<Output = ()> + 'static>(
    size: u32,
    program: impl Fn(Communicator, Rc<HostProcess>) -> F,
    message: &str,
) {
    assert_eq!(run("qs20", size, program).unwrap_err().to_string(), message);
}

#[test]
fn a_deadlock_names_rank_operation_peer_and_tag() {
    check_failure(
        3,
        |world, process| async move {
            match process.rank {
                0 => drop(world.recv(&process, Pattern { source: None, tag: Some(5) }).await),
                1 => world.send(&process, to(0, 7), zeros(100_000)).await,
                _ => drop(world.recv(&process, from(0, 7)).await),
            }
        },
        "deadlock at 4.350 us: rank 0 waits for MPI_Recv from any rank with tag 5; \
         rank 1 waits for MPI_Send to rank 0 with tag 7; \
         rank 2 waits for MPI_Recv from rank 0 with tag 7",
    );
    check_failure(
        2,
        |world, process| async move {
            if process.rank == 0 {
                world.barrier(&process).await;
            }
        },
        "deadlock at 4.350 us: rank 0 waits for MPI_Barrier, a message from rank 1",
    );
    check_failure(
        2,
        |world, process| async move {
            if process.rank == 0 {
                world.gather(&process, 0, zeros(1)).await;
            }
        },
        "deadlock at 0.000 s: rank 0 waits for MPI_Gather, a message from rank 1",
    );
}

#[test]
fn a_call_that_breaks_a_rule_ends_the_run() {
    check_failure(
        2,
        |world, process| async move { world.send(&process, to(2, 0), zeros(1)).await },
        "rank 0: MPI_Send to rank 2 with tag 0: there is no rank 2 among 2",
    );
    check_failure(
        2,
        |world, process| async move {
            let own = vec![1.0; 2 + process.rank as usize];
            world.allreduce(&process, Data::Doubles(own), Reduction::Sum).await;
        },
        "rank 1: MPI_Allreduce of 3 doubles (sum): rank 0 is in MPI_Allreduce of 2 doubles (sum)",
    );
    check_failure(
        2,
        |world, process| async move {
            let own = match process.rank {
                0 => Data::Doubles(vec![1.0]),
                _ => Data::Integers(vec![1]),
            };
            world.reduce(&process, 1, own, Reduction::Maximum).await;
        },
        "rank 1: MPI_Reduce of 1 integers (maximum) with root 1: \
         rank 0 is in MPI_Reduce of 1 doubles (maximum) with root 1",
    );
    check_failure(
        2,
        |world, process| async move {
            match process.rank {
                0 => world.barrier(&process).await,
                _ => drop(world.broadcast(&process, 0, zeros(1)).await),
            }
        },
        "rank 1: MPI_Bcast with root 0: rank 0 is in MPI_Barrier",
    );
    check_failure(
        1,
        |world, process| async move {
            world.reduce(&process, 0, zeros(1), Reduction::Sum).await;
        },
        "rank 0: MPI_Reduce of 1 bytes (sum) with root 0: MPI has no reduction of bytes",
    );
}

/// Values whose sum depends on the order of adding.
fn contribution(rank: u32) -> f64 {
    (1.0 + f64::from(rank)).sqrt() * 10f64.powi(7 - rank as i32)
}

#[test]
fn collectives_give_what_mpi_defines_for_every_size_and_root() {
    for size in 1..=9 {
        let expected = (1..size).map(contribution).fold(contribution(0), |sum, next| sum + next);
        let all: Vec<Data> =
            (0..size).map(|rank| Data::Doubles(vec![contribution(rank)])).collect();
        for root in 0..size {
            let all = all.clone();
            let program = move |world: Communicator, process: Rc<HostProcess>| {
                let all = all.clone();
                async move {
                    let own = all[process.rank as usize].clone();
                    let is_root = process.rank == root;
                    let sum = Data::Doubles(vec![expected]);
                    let reduced = world.reduce(&process, root, own.clone(), Reduction::Sum).await;
                    assert_eq!(reduced, is_root.then(|| sum.clone()));
                    assert_eq!(world.allreduce(&process, own.clone(), Reduction::Sum).await, sum);
                    let gathered = world.gather(&process, root, own.clone()).await;
                    assert_eq!(gathered, is_root.then(|| all.clone()));
                    assert_eq!(
                        world.broadcast(&process, root, own.clone()).await,
                        all[root as usize]
                    );
                    let least = world.allreduce(&process, own, Reduction::Minimum).await;
                    assert_eq!(least, all[world.size() as usize - 1]);
                }
            };
            run("qs20", size, program).unwrap();
        }
    }
}

#[test]
fn nobody_leaves_a_barrier_before_the_slowest_has_come() {
    let program = |world: Communicator, process: Rc<HostProcess>| async move {
        if process.rank == 2 {
            process.work(seconds(1e-3)).await;
        }
        world.barrier(&process).await;
        assert!(process.sim.now().seconds().0 > 1e-3);
    };
    // Rank 0 polls on the same core. The table has 70 us for three ranks.
    let time = run_on(&by_table(), 3, program);
    assert_relative_eq!(time.unwrap(), POLLING * 1e-3 + 70e-6, max_relative = 1e-9);
    run("qs20", 3, program).unwrap();
}

#[test]
fn by_the_table_a_sum_costs_what_was_measured_and_a_longer_one_its_copies_too() {
    let time = |count: usize| {
        run_on(&by_table(), 4, |world, process| async move {
            let own = Data::Doubles(vec![1.0; count]);
            world.allreduce(&process, own, Reduction::Sum).await;
        })
        .unwrap()
    };
    assert_relative_eq!(time(1), 118e-6, max_relative = 1e-9);
    // Two levels up and two down, a copy in and a copy out at each.
    let copies = 8.0 * 8.0 * 999.0 / COPY;
    assert_relative_eq!(time(1000), 118e-6 + copies, max_relative = 1e-6);
}

#[test]
fn a_sum_doubles_the_ranks_that_have_it_at_each_step() {
    let adding = 2.0 * 5.0 + 1.0 + 10.0;
    let step = |polled: f64| polled * (OVERHEAD + 8.0 / COPY);
    let time = |size| {
        run("qs20", size, |world, process| async move {
            world.allreduce_sum(&process, 1.0).await;
        })
        .unwrap()
    };
    // On a Cell each: both send, and both receive a latency later.
    let by_hand = step(1.0) + LATENCY + OVERHEAD + 8.0 / REMOTE_COPY + adding / 3.2e9;
    assert_relative_eq!(time(2), by_hand, max_relative = 1e-6);
    // Four, two on each Cell, which slow each other down: first between the Cells, then within.
    let within = 2.0 * step(POLLING);
    let between = step(POLLING) + POLLING * (OVERHEAD + 8.0 / REMOTE_COPY) + LATENCY;
    let by_hand = within + between + 2.0 * POLLING * adding / 3.2e9;
    assert_relative_eq!(time(4), by_hand, max_relative = 1e-6);
}

#[test]
fn a_broadcast_goes_down_a_binomial_tree() {
    let time = run("ps3", 2, |world, process| async move {
        world.broadcast(&process, 1, Data::Doubles(vec![1.0])).await;
    });
    // Rank 0 polls while rank 1 sends, and has the core to itself afterwards.
    let by_hand = (POLLING + 1.0) * (OVERHEAD + 8.0 / COPY);
    assert_relative_eq!(time.unwrap(), by_hand, max_relative = 1e-6);
    // In overheads: rank 0 (Cell 0) sends to rank 2 (Cell 0), which polls, until 1.28. Rank 0 sends
    // to rank 1 (Cell 1) while rank 2 receives, until 2.56. Rank 2 is alone and sends to rank 3
    // (Cell 1) until 3.56. A latency later than these instants rank 1 receives, rank 3 polling,
    // from 2.56 to 3.84, and rank 3 from 3.56 on: it gets 0.28 / 1.28 = 0.21875 done until 3.84,
    // and the rest alone.
    let time = run("qs20", 4, |world, process| async move {
        world.broadcast(&process, 0, zeros(0)).await;
    });
    let by_hand = (3.84 + 1.0 - 0.21875) * OVERHEAD + LATENCY;
    assert_relative_eq!(time.unwrap(), by_hand, max_relative = 1e-6);
}

#[test]
fn a_rank_that_waits_gives_its_hardware_thread_away() {
    // Ranks 0 and 4 share a thread of the QS20: rank 0 waits for what rank 4 sends.
    let time = run("qs20", 5, |world, process| async move {
        match process.rank {
            0 => drop(world.recv(&process, from(4, 0)).await),
            4 => world.send(&process, to(0, 0), zeros(0)).await,
            _ => (),
        }
    });
    // Rank 4 is switched to, sends; rank 0 is switched to, receives.
    let by_hand = 2.0 * (1.5e-6 + OVERHEAD);
    assert_relative_eq!(time.unwrap(), by_hand, max_relative = 1e-6);
}

#[test]
fn under_the_kernel_a_rank_that_waits_counts_down_and_yields_until_its_message_is_there() {
    // Ranks 0 and 4 share a thread; the kernel's queue puts whoever yields behind the other.
    let machine = toy("qs20");
    let time = |start: f64| {
        let blade =
            Blade::new(&machine, KernelTiming::Cached, 0.0).under(&Sharing::kernel(&machine));
        let world = Communicator::new(&blade, 5);
        for rank in [0, 4] {
            let (world, process) = (world.clone(), blade.host_process(rank));
            blade.sim.spawn(format!("rank {rank}"), async move {
                process.resume().await;
                if rank == 0 {
                    world.recv(&process, from(4, 0)).await;
                } else {
                    process.work(seconds(start)).await;
                    world.send(&process, to(0, 0), zeros(0)).await;
                }
                process.release();
            });
        }
        blade.run().unwrap().seconds().0
    };
    // One turn of the countdown, 8 cycles; a yield, 2 us; rank 4 works and sends and ends, so rank 0
    // has the thread again, counts two turns (16 cycles) and receives.
    let by_hand = |work: f64| (8.0 + 16.0) / 3.2e9 + 2.0 * 2e-6 + work + 2.0 * OVERHEAD;
    assert_relative_eq!(time(0.0), by_hand(0.0), max_relative = 1e-6);
    assert_relative_eq!(time(50e-6), by_hand(50e-6), max_relative = 1e-6);
}

#[test]
fn a_rank_that_has_its_thread_to_itself_looks_at_whole_periods() {
    let machine = toy("qs20");
    let blade = Blade::new(&machine, KernelTiming::Cached, 0.0).under(&Sharing::kernel(&machine));
    let world = Communicator::new(&blade, 2);
    for rank in 0..2 {
        let (world, process) = (world.clone(), blade.host_process(rank));
        blade.sim.spawn(format!("rank {rank}"), async move {
            process.resume().await;
            if rank == 0 {
                world.recv(&process, from(1, 0)).await;
            } else {
                process.work(seconds(50e-6)).await;
                world.send(&process, to(0, 0), zeros(0)).await;
            }
            process.release();
        });
    }
    // Countdowns of 1 to 512 turns of 8 cycles, each with a system call of 0.2 us, and one of 1,024,
    // after which it looks every 2.76 us; the message is there after 50 us, 4.05 and 0.3.
    let period = 1024.0 * 8.0 / 3.2e9 + 0.2e-6;
    let first = 2047.0 * 8.0 / 3.2e9 + 10.0 * 0.2e-6;
    let looks = ((50e-6 + OVERHEAD + LATENCY - first) / period).ceil();
    let by_hand = first + looks * period + OVERHEAD;
    assert_relative_eq!(blade.run().unwrap().seconds().0, by_hand, max_relative = 1e-6);
}

#[test]
fn a_message_takes_the_locks_of_its_queue_and_of_the_packets() {
    // Each lock is two operations of 1 us. The sender: its list of packets and the queue; the
    // receiver, which stands aside: the queue.
    let mut machine = toy("qs20");
    let message = |machine: &Machine| {
        run_on(machine, 2, |world, process| async move {
            match process.rank {
                0 => world.send(&process, to(1, 0), zeros(0)).await,
                _ => drop(world.recv(&process, from(0, 0)).await),
            }
        })
        .unwrap()
    };
    let without = message(&machine);
    machine.linux.services.semaphore = Seconds(1e-6);
    assert_relative_eq!(message(&machine) - without, 6e-6, max_relative = 1e-6);
}

#[test]
fn groups_add_among_themselves_and_cost_what_so_few_ranks_do() {
    let machine = Machine::named("qs20").unwrap();
    let blade = Blade::new(&machine, KernelTiming::Cached, 0.0);
    // Processes 1 and 3 are on one Cell, 0 and 2 on the other.
    let groups = [vec![2, 0], vec![1, 3]].map(|members| Communicator::group(&blade, members));
    for number in 0..4 {
        let group = groups[number as usize % 2].clone();
        let process = blade.host_process(number);
        blade.sim.spawn(format!("process {number}"), async move {
            process.resume().await;
            let own = Data::Integers(vec![number.into()]);
            let all = group.gather(&process, 1, own).await;
            let expected = if number % 2 == 0 { [2, 0] } else { [1, 3] };
            assert_eq!(all.is_some(), i64::from(number) == expected[1]);
            let own_rank = u32::from(all.is_some());
            if let Some(all) = all {
                assert_eq!(all, expected.map(|value| Data::Integers(vec![value])));
            }
            let sum = group.allreduce_sum(&process, f64::from(number)).await;
            assert_eq!(sum, if number % 2 == 0 { 2.0 } else { 4.0 });
            // The other rank of the group, whichever process it is.
            let (address, wanted) = (to(1 - own_rank, 7), from(1 - own_rank, 7));
            let message = group.sendrecv(&process, address, zeros(8), wanted).await;
            assert_eq!(message.source, 1 - own_rank);
            process.release();
        });
    }
    blade.run().unwrap();
}

#[test]
fn by_the_table_a_collective_of_a_group_costs_what_so_many_ranks_cost() {
    let machine = by_table();
    let time = |sizes: &[u32]| {
        let blade = Blade::new(&machine, KernelTiming::Cached, 0.0);
        let mut first = 0;
        for &size in sizes {
            let members: Vec<u32> = (first..first + size).collect();
            first += size;
            let group = Communicator::group(&blade, members.clone());
            for number in members {
                let (group, process) = (group.clone(), blade.host_process(number));
                blade.sim.spawn(format!("process {number}"), async move {
                    process.resume().await;
                    group.allreduce_sum(&process, 1.0).await;
                    process.release();
                });
            }
        }
        blade.run().unwrap().seconds().0
    };
    assert!((time(&[2, 2]) - machine.mpi.collective_cost(2).0).abs() < 1e-12);
    assert!((time(&[4]) - machine.mpi.collective_cost(4).0).abs() < 1e-12);
}

#[test]
fn a_process_outside_a_group_has_no_rank_in_it() {
    let blade = Blade::new(&Machine::named("qs20").unwrap(), KernelTiming::Cached, 0.0);
    let group = Communicator::group(&blade, vec![4, 5]);
    let process = blade.host_process(0);
    blade.sim.spawn("rank 0", async move {
        process.resume().await;
        group.barrier(&process).await;
    });
    let error = blade.run().unwrap_err().to_string();
    assert_eq!(error, "rank 0: MPI_Barrier: it is none of the processes [4, 5]");
}
