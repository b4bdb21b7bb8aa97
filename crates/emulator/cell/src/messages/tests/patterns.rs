//! Patterns among many ranks: nothing is lost, and each pair keeps its order.

use super::far::nodes;
use super::*;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

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
