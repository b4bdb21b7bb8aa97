//! Random programs beside a plain implementation of what they mean: synchronous messages, selected by
//! source and tag.

use super::far::nodes;
use super::*;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::BTreeSet;

/// What a rank does.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Step {
    Send {
        to: u32,
        tag: u32,
        bytes: u64,
        number: u64,
    },
    Receive {
        from: u32,
        tag: u32,
    },
    Barrier,
    /// All numbers of ranks are added up.
    AllReduce,
    /// Broadcast of the number by the root, and a barrier: who may leave a broadcast is not laid down.
    Broadcast {
        root: u32,
        number: u64,
    },
}

impl Step {
    fn is_message(&self) -> bool {
        matches!(self, Self::Send { .. } | Self::Receive { .. })
    }
}

/// What a rank has seen: numbers of messages and their sizes, results of collectives.
type Seen = Vec<(u64, u64)>;

/// What comes of a program: what each rank has seen, and who is blocked in the end.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    seen: Vec<Seen>,
    blocked: BTreeSet<u32>,
}

/// What the program means.
fn plain(program: &[Vec<Step>]) -> Outcome {
    let ranks = program.len();
    let mut at = vec![0; ranks];
    let mut seen = vec![Seen::new(); ranks];
    let step = |at: &[usize], rank: usize| program[rank].get(at[rank]).copied();
    loop {
        let mut moved = false;
        for rank in 0..ranks {
            let Some(Step::Send { to, tag, bytes, number }) = step(&at, rank) else { continue };
            let wanted = Step::Receive { from: rank as u32, tag };
            if step(&at, to as usize) == Some(wanted) {
                seen[to as usize].push((number, bytes));
                at[rank] += 1;
                at[to as usize] += 1;
                moved = true;
            }
        }
        if let Some(all @ (Step::Barrier | Step::AllReduce | Step::Broadcast { .. })) = step(&at, 0)
            && (1..ranks).all(|rank| step(&at, rank) == Some(all))
        {
            let sum = (ranks * (ranks - 1) / 2) as u64;
            for rank in 0..ranks {
                match all {
                    Step::AllReduce => seen[rank].push((sum, 0)),
                    Step::Broadcast { number, .. } => seen[rank].push((number, 0)),
                    _ => {}
                }
                at[rank] += 1;
            }
            moved = true;
        }
        if !moved {
            let blocked = (0..ranks).filter(|&rank| step(&at, rank).is_some());
            return Outcome { seen, blocked: blocked.map(|rank| rank as u32).collect() };
        }
    }
}

/// The program on SPEs.
async fn execute(rank: Rank, steps: Vec<Step>, seen: Rc<RefCell<Vec<Seen>>>) -> Result<()> {
    let own = rank.rank();
    let note = |number, bytes| seen.borrow_mut()[own as usize].push((number, bytes));
    for step in steps {
        match step {
            Step::Send { to, tag, bytes, number } => {
                fill(&rank, OWN, bytes.max(1), number);
                rank.send(OWN, Bytes(bytes), to, tag).await;
                // The buffer may be used again.
                fill(&rank, OWN, bytes.max(1), 0);
            }
            Step::Receive { from, tag } => {
                rank.spe().write(OTHER, &[Quadword::ZERO])?;
                let bytes = rank.receive(OTHER, Bytes(50_000), from, tag).await;
                let number = rank.spe().read(OTHER, Bytes(16))?[0].0[0] >> 32;
                check(&rank, OTHER, bytes.0, number);
                note(number, bytes.0);
            }
            Step::Barrier => rank.barrier().await,
            Step::AllReduce => {
                rank.spe().write(OWN, &[Quadword([own.into(), 0])])?;
                let sum = Reduction { operation: Operation::Sum, word: Word::U64 };
                rank.all_reduce((OWN, OTHER), 1, sum).await;
                note(rank.spe().read(OTHER, Bytes(8))?[0].0[0], 0);
            }
            Step::Broadcast { root, number } => {
                let value = if own == root { number } else { 0 };
                rank.spe().write(OTHER, &[Quadword([value, 0])])?;
                rank.broadcast(OTHER, Bytes(8), root).await;
                rank.barrier().await;
                note(rank.spe().read(OTHER, Bytes(8))?[0].0[0], 0);
            }
        }
    }
    Ok(())
}

/// Messages and collectives in an order that comes to its end, and then some places exchanged,
/// so that it may not.
fn draw(random: &mut Xoshiro256PlusPlus, ranks: u32) -> Vec<Vec<Step>> {
    const SIZES: [u64; 8] = [0, 4, 16, 100, 128, 200, 2000, 20_000];
    let mut program = vec![Vec::new(); ranks as usize];
    for number in 1..=random.random_range(1..=12) {
        if random.random_range(0..8) == 0 {
            let root = random.random_range(0..ranks);
            let all = [Step::Barrier, Step::AllReduce, Step::Broadcast { root, number }]
                [random.random_range(0..3)];
            program.iter_mut().for_each(|steps| steps.push(all));
            continue;
        }
        let from = random.random_range(0..ranks);
        let to = (from + random.random_range(1..ranks)) % ranks;
        let (tag, bytes) = (random.random_range(0..2), SIZES[random.random_range(0..SIZES.len())]);
        // What is empty shows no number.
        let shown = if bytes == 0 { 0 } else { number };
        program[from as usize].push(Step::Send { to, tag, bytes, number: shown });
        program[to as usize].push(Step::Receive { from, tag });
    }
    for _ in 0..random.random_range(0..3) {
        let steps = &mut program[random.random_range(0..ranks) as usize];
        if steps.len() > 1 {
            let place = random.random_range(1..steps.len());
            // Ranks that disagree on the order of collectives are wrong in another way.
            if steps[place - 1..=place].iter().any(|step| step.is_message()) {
                steps.swap(place - 1, place);
            }
        }
    }
    if random.random_range(0..8) == 0 {
        program[random.random_range(0..ranks) as usize].pop();
    }
    program
}

/// Seats of the ranks: on one Cell, on both of a blade, on blades of several nodes.
fn seats(random: &mut Xoshiro256PlusPlus, ranks: u32) -> Vec<(usize, u32)> {
    let (blades, spes) = [(1, 8), (1, 16), (2, 16), (4, 16)][random.random_range(0..4)];
    let mut seats: Vec<(usize, u32)> = Vec::new();
    while seats.len() < ranks as usize {
        let seat = (random.random_range(0..blades), random.random_range(0..spes));
        if !seats.contains(&seat) {
            seats.push(seat);
        }
    }
    seats
}

/// What becomes of a program on these SPEs.
fn emulated(program: &[Vec<Step>], seats: &[(usize, u32)]) -> Outcome {
    let nodes = nodes(&[0, 1, 2, 400][..=seats.iter().map(|seat| seat.0).max().unwrap()]);
    let messages = Messages::on_nodes(&nodes, seats.iter().copied(), STATE).unwrap();
    let seen = Rc::new(RefCell::new(vec![Seen::new(); program.len()]));
    messages.start(|rank| {
        let steps = program[rank.rank() as usize].clone();
        execute(rank, steps, Rc::clone(&seen))
    });
    let blocked = match nodes.run() {
        Ok(_) => BTreeSet::new(),
        Err(error) => {
            let rank = |who: &String| who.split(' ').nth(1).unwrap().parse().unwrap();
            let Some(deadlock) = error.downcast::<mmgp_sim::Deadlock>() else { panic!("{error}") };
            deadlock.blocked.iter().map(rank).collect()
        }
    };
    Outcome { seen: seen.take(), blocked }
}

#[test]
fn random_programs_do_what_synchronous_messages_mean() {
    let programs = testing::seeds(1000);
    let mut deadlocks = 0;
    for seed in 0..programs {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let ranks = random.random_range(2..=6);
        let (program, seats) = (draw(&mut random, ranks), seats(&mut random, ranks));
        let meant = plain(&program);
        deadlocks += u64::from(!meant.blocked.is_empty());
        let found = emulated(&program, &seats);
        assert_eq!(found, meant, "seed {seed}: {program:#?} at {seats:?}");
    }
    // Both sorts come about.
    assert!(deadlocks > programs / 10 && deadlocks < programs * 9 / 10, "{deadlocks}");
}
