mod far;
mod random;

use std::cell::Cell;

use crate::KernelTiming;
use crate::messages::*;
use approx::assert_relative_eq;
use far::nodes;
use mmgp_base::units::{SimSpan, SimTime};
use mmgp_machine::Machine;
use mmgp_spu::register::Quadword;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Addresses of the buffers of programs, and of the state.
const OWN: LocalAddress = LocalAddress(0x8000);
const OTHER: LocalAddress = LocalAddress(0x20000);
const STATE: LocalAddress = LocalAddress(0x38000);

fn blade(machine: &str) -> Blade {
    Blade::new(&Machine::named(machine).unwrap(), KernelTiming::Cached, 0.0)
}

/// Runs the program on so many SPEs of a QS22; the error, if any.
fn run<F>(spes: u32, program: impl Fn(Rank) -> F) -> Result<SimTime>
where
    F: Future<Output = Result<()>> + 'static,
{
    let blade = blade("qs22");
    Messages::on_blade(&blade, 0..spes, STATE)?.start(program);
    blade.run()
}

/// Numbers by which a buffer of some rank is told from others.
fn fill(rank: &Rank, at: LocalAddress, bytes: u64, seed: u64) {
    let quadwords: Vec<_> =
        (0..bytes.div_ceil(16)).map(|i| Quadword([seed << 32 | i, !seed])).collect();
    rank.spe().write(at, &quadwords).unwrap();
}

fn check(rank: &Rank, at: LocalAddress, bytes: u64, seed: u64) {
    let found = rank.spe().read(at, Bytes(bytes)).unwrap();
    for (i, quadword) in (0..).zip(found) {
        assert_eq!(quadword, Quadword([seed << 32 | i, !seed]), "quadword {i} of {bytes} bytes");
    }
}

/// Rank 0 sends so many bytes to rank 1, where they arrive whole and touch nothing else.
async fn passes_whole(rank: &Rank, bytes: u64, tag: u32) {
    if rank.rank() == 0 {
        fill(rank, OWN, bytes, u64::from(tag));
        rank.send(OWN, Bytes(bytes), 1, tag).await;
    } else {
        fill(rank, OTHER, bytes + 16, 999);
        assert_eq!(rank.receive(OTHER, Bytes(bytes), 0, tag).await, Bytes(bytes));
        check(rank, OTHER, bytes, u64::from(tag));
        let behind = bytes.next_multiple_of(16);
        let next = rank.spe().read(OTHER.offset(Bytes(behind)), Bytes(16)).unwrap()[0];
        assert_eq!(next, Quadword([(999 << 32) | (behind / 16), !999]));
    }
}

#[test]
fn messages_of_all_sizes_arrive_whole_and_touch_nothing_else() {
    let sizes = [0, 1, 8, 15, 16, 17, 128, 1000, 16384, 16400, 40000, 81920];
    run(2, move |rank| async move {
        for (tag, bytes) in (1..).zip(sizes) {
            passes_whole(&rank, bytes, tag).await;
        }
        Ok(())
    })
    .unwrap();
}

#[test]
fn a_message_may_be_shorter_than_the_room_and_not_longer() {
    let exchange = |sent: u64, room: u64| {
        run(2, move |rank| async move {
            if rank.rank() == 0 {
                fill(&rank, OWN, sent, 3);
                rank.send(OWN, Bytes(sent), 1, 3).await;
            } else {
                assert_eq!(rank.receive(OTHER, Bytes(room), 0, 3).await, Bytes(sent));
            }
            Ok(())
        })
    };
    exchange(48, 64).unwrap();
    let error = exchange(65, 64).unwrap_err().to_string();
    assert_eq!(error, "rank 0: MPI_Send: 65 bytes for rank 1, which has room for 64");
}

#[test]
fn a_ring_whose_ranks_all_send_first_is_a_deadlock_that_names_them() {
    let error = run(3, |rank| async move {
        rank.send(OWN, Bytes(16), (rank.rank() + 1) % 3, 2).await;
        rank.receive(OTHER, Bytes(16), (rank.rank() + 2) % 3, 2).await;
        Ok(())
    });
    let message = error.unwrap_err().to_string();
    let (_, blocked) = message.split_once(": ").unwrap();
    assert_eq!(
        blocked,
        "rank 0 (SPE 0) waits for rank 1 to receive (tag 2); \
         rank 1 (SPE 1) waits for rank 2 to receive (tag 2); \
         rank 2 (SPE 2) waits for rank 0 to receive (tag 2)"
    );
}

#[test]
fn a_receive_takes_no_message_of_another_tag_or_communicator() {
    let error = run(2, |rank| async move {
        if rank.rank() == 0 {
            rank.send(OWN, Bytes(16), 1, 2).await;
        } else {
            rank.memory_domain().receive(OTHER, Bytes(16), 0, 2).await;
        }
        Ok(())
    });
    let message = error.unwrap_err().to_string();
    assert!(message.contains("rank 1 (SPE 1) waits for rank 0 to send (tag 2)"), "{message}");
}

#[test]
fn calls_that_break_a_rule_end_the_run() {
    type Life = std::pin::Pin<Box<dyn Future<Output = Result<()>>>>;
    let error = |program: fn(Rank) -> Life| run(2, program).unwrap_err().to_string();
    let unknown = error(|rank| {
        Box::pin(async move {
            rank.send(OWN, Bytes(16), 2, 0).await;
            Ok(())
        })
    });
    assert_eq!(unknown, "rank 0: MPI_Send: there is no rank 2 among 2");
    let crooked = error(|rank| {
        Box::pin(async move {
            rank.receive(LocalAddress(8), Bytes(16), 0, 0).await;
            Ok(())
        })
    });
    assert!(crooked.ends_with("the buffer at 0x8 does not begin at a multiple of 16"), "{crooked}");
    let ended = error(|rank| {
        Box::pin(async move {
            rank.abort(3).await;
            Ok(())
        })
    });
    assert_eq!(ended, "rank 0: MPI_Abort: the program has ended itself with code 3");
}

#[test]
fn ranks_are_some_spes_each_once_with_room_for_their_state() {
    let blade = blade("qs20");
    let refused = |spes: &[u32], base: u32| {
        let spes = spes.iter().copied();
        Messages::on_blade(&blade, spes, LocalAddress(base)).err().unwrap().to_string()
    };
    assert!(refused(&[16], 0).contains("found SPE 16, expected one below 16"));
    assert!(refused(&[3, 3], 0).contains("found SPE 3 twice"));
    assert!(refused(&[0], 64).contains("from a multiple of 128 on"));
    assert!(refused(&[0], 0x3FF80).contains("room in local store"));
    assert!(refused(&[], 0).contains("found no SPE"));
    // 1152 and 16 descriptors; with the code 5 KB.
    assert_eq!(Messages::state(16).0 + CODE.0, 5 * 1024);
}

/// The time from the later of two calls to the return of each: of a receive called at `receiver`
/// nanoseconds, and of a send at `sender`, of a message between two SPEs of a Cell.
fn latencies(bytes: u64, receiver: u64, sender: u64) -> (f64, f64) {
    let ends = Rc::new(Cell::new((0.0, 0.0)));
    let noted = Rc::clone(&ends);
    run(2, move |rank| {
        let noted = Rc::clone(&noted);
        async move {
            let sim = rank.spe().sim.clone();
            let later = receiver.max(sender) as f64 * 1e-9;
            if rank.rank() == 0 {
                sim.sleep(SimSpan::from_ticks(1_000_000 * sender)).await;
                fill(&rank, OWN, bytes, 0);
                rank.send(OWN, Bytes(bytes), 1, 0).await;
                noted.set((noted.get().0, sim.now().seconds().0 - later));
            } else {
                sim.sleep(SimSpan::from_ticks(1_000_000 * receiver)).await;
                rank.receive(OTHER, Bytes(bytes), 0, 0).await;
                noted.set((sim.now().seconds().0 - later, noted.get().1));
            }
            Ok(())
        }
    })
    .unwrap();
    ends.get()
}

#[test]
fn an_early_receiver_exposes_one_latency_and_a_late_one_two() {
    const CYCLE: f64 = 1.0 / 3.2e9;
    let machine = Machine::named("qs22").unwrap();
    let of = machine.messages;
    // A put of up to a line: its way of 90.61 ns, and 128 bytes at 25.6 GB/s.
    let put = 90.61e-9 + 128.0 / 25.6e9;
    let issue = (of.put.0 + 10) as f64 * CYCLE;
    let (poll, tag) = (24.0 * CYCLE, 6.0 * CYCLE);
    let [send, receive, matched, complete] =
        [of.send, of.receive, of.matched, of.complete].map(|cycles| cycles.0 as f64 * CYCLE);
    // Early: the sender finds the descriptor at its first look.
    let (received, sent) = latencies(0, 0, 1000);
    assert_relative_eq!(
        received,
        send + poll + matched + issue + put + poll + tag + complete,
        max_relative = 1e-9
    );
    assert_relative_eq!(sent, send + poll + matched + issue + put + tag, max_relative = 1e-9);
    // Late: it sees the descriptor come; the flag's put begins when that of the data is complete.
    let (received, sent) = latencies(64, 1000, 0);
    let there = receive + issue + put + poll + matched + issue + put + put;
    assert_relative_eq!(received, there + poll + tag + complete, max_relative = 1e-9);
    assert_relative_eq!(sent, there + tag, max_relative = 1e-9);
}

#[test]
fn collectives_give_every_rank_what_they_should() {
    for spes in [1, 2, 3, 8, 13, 16] {
        run(spes, move |rank| async move {
            let (own, size) = (rank.rank(), rank.size());
            let root = size - 1;
            fill(&rank, OWN, 20000, u64::from(own));
            rank.broadcast(OWN, Bytes(20000), root).await;
            check(&rank, OWN, 20000, u64::from(root));
            // 300 doubles: three pieces.
            let doubles: Vec<_> =
                (0..150).map(|i| Quadword::from_doubles([f64::from(own * i), -1.0])).collect();
            rank.spe().write(OWN, &doubles)?;
            let sum = Reduction { operation: Operation::Sum, word: Word::F64 };
            rank.all_reduce((OWN, OTHER), 300, sum).await;
            let ranks = f64::from(size * (size - 1) / 2);
            for (i, found) in (0..150).zip(rank.spe().read(OTHER, Bytes(2400))?) {
                assert_eq!(found.doubles(), [ranks * f64::from(i), -f64::from(size)]);
            }
            let most = Reduction { operation: Operation::Maximum, word: Word::U32 };
            rank.spe().write(OWN, &[Quadword::from_words([own, 7, 9 - own.min(9), 0])])?;
            rank.reduce((OWN, OWN), 3, most, root).await;
            if own == root {
                let [first, second, third, _] = rank.spe().read(OWN, Bytes(12))?[0].words();
                assert_eq!([first, second, third], [size - 1, 7, 9]);
            }
            let wide = Reduction { operation: Operation::Sum, word: Word::U64 };
            rank.spe().write(OWN, &[Quadword([u64::MAX, 1])])?;
            rank.all_reduce((OWN, OWN), 2, wide).await;
            let found = rank.spe().read(OWN, Bytes(16))?[0];
            assert_eq!(found, Quadword([0_u64.wrapping_sub(size.into()), size.into()]));
            Ok(())
        })
        .unwrap();
    }
}

#[test]
fn nobody_leaves_a_barrier_before_the_last_has_come() {
    let (last, first) = (Rc::new(Cell::new(0.0_f64)), Rc::new(Cell::new(f64::INFINITY)));
    let (come, left) = (Rc::clone(&last), Rc::clone(&first));
    run(16, move |rank| {
        let (come, left) = (Rc::clone(&come), Rc::clone(&left));
        async move {
            let sim = rank.spe().sim.clone();
            let late = u64::from(rank.rank() * 7 % 16);
            sim.sleep(SimSpan::from_ticks(1_000_000_000 * late)).await;
            come.set(come.get().max(rank.wtime().await.0));
            rank.barrier().await;
            left.set(left.get().min(rank.wtime().await.0));
            Ok(())
        }
    })
    .unwrap();
    assert!(last.get() > 14e-6 && first.get() > last.get(), "{} {}", last.get(), first.get());
}

#[test]
fn an_observer_hears_of_calls_and_not_of_their_parts() {
    struct Log(Vec<Call>);
    impl Observer for Log {
        fn returned(&mut self, call: &Call) {
            self.0.push(*call);
        }
    }
    let (blade, log) = (blade("qs20"), Rc::new(RefCell::new(Log(Vec::new()))));
    let messages = Messages::on_blade(&blade, [4, 9], STATE).unwrap();
    messages.observe(log.clone());
    messages.start(|rank| async move {
        if rank.rank() == 0 {
            fill(&rank, OWN, 40, 0);
            rank.send(OWN, Bytes(40), 1, 0).await;
        } else {
            rank.receive(OTHER, Bytes(64), 0, 0).await;
        }
        rank.barrier().await;
        Ok(())
    });
    blade.run().unwrap();
    let heard: Vec<_> = log.borrow().0.iter().map(|it| (it.rank, it.name, it.bytes.0)).collect();
    let barrier = "MPI_Barrier";
    assert_eq!(heard[..2], [(0, "MPI_Send", 40), (1, "MPI_Recv", 64)]);
    assert!(heard[2..].iter().all(|&(_, name, _)| name == barrier) && heard.len() == 4);
    assert!(log.borrow().0.iter().all(|call| call.end > call.start));
}

/// Runs a program on so many SPEs: of one Cell, of a blade, and of two and four blades.
fn run_on<F>(ranks: u32, program: impl Fn(Rank) -> F)
where
    F: Future<Output = Result<()>> + 'static,
{
    let nodes = nodes(&[0, 1, 2, 400][..ranks.div_ceil(16) as usize]);
    let seats = (0..ranks).map(|rank| ((rank / 16) as usize, rank % 16));
    Messages::on_nodes(&nodes, seats, STATE).unwrap().start(program);
    nodes.run().unwrap();
}

const RANKS: [u32; 5] = [2, 8, 16, 32, 64];

/// A message that says who sent it and which it is.
async fn send(rank: &Rank, to: u32, number: u32, bytes: u64) {
    fill(rank, OWN, bytes, (u64::from(rank.rank()) << 16) | u64::from(number));
    rank.send(OWN, Bytes(bytes), to, 0).await;
}

async fn receive(rank: &Rank, from: u32, number: u32, bytes: u64) {
    assert_eq!(rank.receive(OTHER, Bytes(bytes), from, 0).await, Bytes(bytes));
    check(rank, OTHER, bytes, (u64::from(from) << 16) | u64::from(number));
}

#[test]
fn a_ring_brings_what_each_rank_sent_round_to_it() {
    for ranks in RANKS {
        run_on(ranks, |rank| async move {
            let (own, size) = (rank.rank(), rank.size());
            let (next, previous) = ((own + 1) % size, (own + size - 1) % size);
            fill(&rank, OWN, 500, own.into());
            for _ in 0..size {
                // Odd ranks receive first.
                if own % 2 == 0 {
                    rank.send(OWN, Bytes(500), next, 3).await;
                    rank.receive(OWN, Bytes(500), previous, 3).await;
                } else {
                    rank.receive(OTHER, Bytes(500), previous, 3).await;
                    rank.send(OWN, Bytes(500), next, 3).await;
                    let received = rank.spe().read(OTHER, Bytes(500))?;
                    rank.spe().write(OWN, &received)?;
                }
            }
            check(&rank, OWN, 500, own.into());
            Ok(())
        });
    }
}

#[test]
fn all_ranks_exchange_messages_with_all_in_order() {
    for ranks in RANKS {
        run_on(ranks, |rank| async move {
            let own = rank.rank();
            for other in (1..rank.size()).map(|step| own ^ step) {
                for number in 0..3 {
                    let bytes = 16 + 200 * u64::from(number);
                    if own < other {
                        send(&rank, other, number, bytes).await;
                        receive(&rank, other, number, bytes).await;
                    } else {
                        receive(&rank, other, number, bytes).await;
                        send(&rank, other, number, bytes).await;
                    }
                }
            }
            Ok(())
        });
    }
}

#[test]
fn messages_between_random_pairs_arrive_whole_and_in_order() {
    for ranks in RANKS {
        // In each round some ranks send to some others.
        let mut random = Xoshiro256PlusPlus::seed_from_u64(ranks.into());
        let mut order: Vec<u32> = (0..ranks).collect();
        let mut rounds = Vec::new();
        for _ in 0..10 {
            order.shuffle(&mut random);
            rounds.push(order.clone());
        }
        let rounds = Rc::new(rounds);
        run_on(ranks, |rank| {
            let rounds = Rc::clone(&rounds);
            async move {
                for (round, order) in (0..).zip(&*rounds) {
                    let place = order.iter().position(|&other| other == rank.rank()).unwrap();
                    let (other, bytes) = (order[place ^ 1], 100 * u64::from(round) + 1);
                    for number in [round, 100 + round] {
                        if place % 2 == 0 {
                            send(&rank, other, number, bytes).await;
                        } else {
                            receive(&rank, other, number, bytes).await;
                        }
                    }
                }
                Ok(())
            }
        });
    }
}
