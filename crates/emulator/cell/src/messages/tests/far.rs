//! Messages between blades, and calls.

use super::*;
use crate::ppe::Work;
use mmgp_base::units::Seconds;

/// Runs the program on these SPEs of blades with these positions in the machine.
fn run_far<F>(
    positions: &[u32],
    ranks: &[(usize, u32)],
    program: impl Fn(Rank) -> F,
) -> Result<SimTime>
where
    F: Future<Output = Result<()>> + 'static,
{
    let nodes = nodes(positions);
    Messages::on_nodes(&nodes, ranks.iter().copied(), STATE)?.start(program);
    nodes.run()
}

pub(super) fn nodes(positions: &[u32]) -> Nodes {
    Nodes::at(Rc::new(blade("roadrunner")), positions.to_vec()).unwrap()
}

#[test]
fn messages_of_all_sizes_cross_the_network_whole() {
    let sizes = [0, 1, 8, 17, 112, 128, 129, 1000, 16384, 40000, 81920];
    for early in [0, 1] {
        run_far(&[0, 1], &[(0, 3), (1, 12)], move |rank| async move {
            for (tag, bytes) in (1..).zip(sizes) {
                if rank.rank() == early {
                    rank.spe().sim.sleep(SimSpan::from_ticks(200_000_000_000)).await;
                }
                passes_whole(&rank, bytes, tag).await;
            }
            Ok(())
        })
        .unwrap();
    }
}

#[test]
fn a_message_between_blades_must_fit_its_room_too() {
    let error = run_far(&[0, 2], &[(0, 0), (1, 0)], |rank| async move {
        if rank.rank() == 0 {
            fill(&rank, OWN, 65, 3);
            rank.send(OWN, Bytes(65), 1, 3).await;
        } else {
            rank.receive(OTHER, Bytes(64), 0, 3).await;
        }
        Ok(())
    });
    let message = error.unwrap_err().to_string();
    assert_eq!(message, "rank 0: MPI_Send: 65 bytes for rank 1, which has room for 64");
}

#[test]
fn ranks_of_different_blades_that_wait_for_each_other_are_named() {
    let error = run_far(&[0, 5], &[(0, 0), (1, 9)], |rank| async move {
        fill(&rank, OWN, 16, 2);
        rank.send(OWN, Bytes(16), 1 - rank.rank(), 2).await;
        Ok(())
    });
    let message = error.unwrap_err().to_string();
    let (_, blocked) = message.split_once(": ").unwrap();
    assert_eq!(
        blocked,
        "rank 0 (node 0, blade 0, SPE 0) waits for rank 1 to receive (tag 2); \
         rank 1 (node 2, blade 5, SPE 9) waits for rank 0 to receive (tag 2)"
    );
}

#[test]
fn what_finds_no_room_comes_again_when_it_is_waited_for() {
    // 31 ranks send to one that wants them in the reverse order, later: there is room for 16.
    let machine = Machine::named("roadrunner").unwrap();
    assert_eq!(machine.network.unwrap().room, 16);
    let senders = (1..3).flat_map(|blade| (0..16).map(move |spe| (blade, spe)));
    let ranks: Vec<_> = [(0, 2)].into_iter().chain(senders).take(32).collect();
    run_far(&[0, 1, 2], &ranks, |rank| async move {
        let (own, bytes) = (rank.rank(), |from: u32| u64::from(from) * 40);
        if own > 0 {
            fill(&rank, OWN, bytes(own), own.into());
            rank.send(OWN, Bytes(bytes(own)), 0, 1).await;
            return Ok(());
        }
        rank.spe().sim.sleep(SimSpan::from_ticks(100_000_000_000)).await;
        for from in (1..32).rev() {
            assert_eq!(rank.receive(OTHER, Bytes(2000), from, 1).await, Bytes(bytes(from)));
            check(&rank, OTHER, bytes(from), from.into());
        }
        Ok(())
    })
    .unwrap();
}

#[test]
fn collectives_reach_all_blades() {
    let ranks: Vec<_> = (0..4).flat_map(|blade| [(blade, 1), (blade, 8), (blade, 15)]).collect();
    run_far(&[0, 1, 2, 400], &ranks, |rank| async move {
        let own = rank.rank();
        rank.spe().write(OWN, &[Quadword::from_doubles([f64::from(own), 1.0])])?;
        let sum = Reduction { operation: Operation::Sum, word: Word::F64 };
        rank.all_reduce((OWN, OTHER), 2, sum).await;
        assert_eq!(rank.spe().read(OTHER, Bytes(16))?[0].doubles(), [66.0, 12.0]);
        rank.barrier().await;
        let near = rank.memory_domain();
        assert_eq!((near.size(), near.rank()), (3, own % 3));
        near.all_reduce((OWN, OTHER), 2, sum).await;
        let first = f64::from(own / 3 * 3);
        assert_eq!(rank.spe().read(OTHER, Bytes(16))?[0].doubles(), [3.0 * first + 3.0, 3.0]);
        fill(&rank, OWN, 3000, own.into());
        rank.broadcast(OWN, Bytes(3000), 7).await;
        check(&rank, OWN, 3000, 7);
        Ok(())
    })
    .unwrap();
}

#[test]
fn calls_are_answered_by_the_ppe_and_by_its_host() {
    let nodes = nodes(&[0, 1]);
    let messages = Messages::on_nodes(&nodes, [(0, 0), (0, 9), (1, 3)], STATE).unwrap();
    let allocate = |request: &Request<'_>| {
        let at = request.memory.allocate(request.cell, Bytes(request.words[0]));
        (vec![at.0], Work { integers: 100, loads: 50, ..Work::default() })
    };
    messages.serve(1, Service::Ppe(Box::new(allocate)));
    let sum = |request: &Request<'_>| {
        (vec![request.words.iter().sum(), u64::from(request.rank)], Seconds(5e-6))
    };
    messages.serve(2, Service::Host(Box::new(sum)));
    messages.start(|rank| async move {
        let place = rank.call(1, &[1000]).await[0];
        assert_eq!(place >> 40, u64::from(rank.location().cell));
        assert!(rank.spe().memory().holds(crate::EffectiveAddress(place), Bytes(1000)));
        let start = rank.spe().sim.now();
        let answer = rank.call(2, &[4, 5, 6]).await;
        assert_eq!(answer, [15, u64::from(rank.rank())]);
        let time = rank.spe().sim.now().since(start).seconds().0;
        // DaCS both ways, and what the host executes.
        assert!((12e-6..14e-6).contains(&time), "{time}");
        Ok(())
    });
    nodes.run().unwrap();
}

#[test]
fn a_call_that_nobody_answers_ends_the_run() {
    let blade = blade("qs20");
    let messages = Messages::on_blade(&blade, [1], STATE).unwrap();
    messages.start(|rank| async move {
        rank.call(7, &[]).await;
        Ok(())
    });
    let error = blade.run().unwrap_err().to_string();
    assert_eq!(error, "rank 0: call: no process of its PPE attends to it");
    let error = |service: Option<Service>| {
        let blade = self::blade("qs20");
        let messages = Messages::on_blade(&blade, [1], STATE).unwrap();
        messages.attend(&blade);
        service.into_iter().for_each(|service| messages.serve(7, service));
        messages.start(|rank| async move {
            assert_eq!(rank.call(7, &[3, 4, 5]).await, [5, 4]);
            Ok(())
        });
        blade.run().map_err(|error| error.to_string())
    };
    let nobody = "rank 0: call of function 7: nobody serves it";
    assert_eq!(error(None).unwrap_err(), nobody);
    let host = Service::Host(Box::new(|_| (vec![5, 4], Seconds(0.0))));
    assert_eq!(error(Some(host)).unwrap_err(), "rank 0: call of function 7: there is no host");
    let ppe = Service::Ppe(Box::new(|request| {
        (vec![request.words[2], request.words[1]], Work::default())
    }));
    error(Some(ppe)).unwrap();
}

#[test]
fn programs_begin_when_they_are_loaded() {
    let nodes = nodes(&[0, 1]);
    let image = crate::context::SpeImage {
        name: "toy",
        code: Bytes(30_000),
        data: vec![Quadword::splat(1); 60],
        buffers: Bytes(100_000),
        zeros: Vec::new(),
        stack: Bytes(2000),
    };
    nodes.create_contexts(&image).unwrap();
    let messages = Messages::on_nodes(&nodes, [(0, 0), (1, 0)], STATE).unwrap();
    let begun = Rc::new(Cell::new(SimTime::ZERO));
    let noted = Rc::clone(&begun);
    messages.start(move |rank| {
        let noted = Rc::clone(&noted);
        async move {
            noted.set(rank.spe().sim.now());
            rank.barrier().await;
            Ok(())
        }
    });
    nodes.run().unwrap();
    assert_eq!(begun.get(), nodes.started());
    assert!(begun.get() > SimTime::ZERO);
}

/// When the receive and the send of a message come back, counted from the send, where the receiver is
/// early; after another one, so that the PPEs have their code in their caches.
fn latencies(bytes: u64) -> [f64; 2] {
    let ends = Rc::new(Cell::new([0.0; 2]));
    let noted = Rc::clone(&ends);
    run_far(&[0, 2], &[(0, 0), (1, 0)], move |rank| {
        let noted = Rc::clone(&noted);
        async move {
            let sim = rank.spe().sim.clone();
            let now = |sim: &mmgp_sim::Sim| sim.now().seconds().0 - 1e-3;
            if rank.rank() == 0 {
                fill(&rank, OWN, bytes, 0);
                rank.send(OWN, Bytes(bytes), 1, 0).await;
                sim.sleep_until(SimTime::ZERO + SimSpan::from_seconds(Seconds(1e-3))).await;
                rank.send(OWN, Bytes(bytes), 1, 0).await;
                noted.set([noted.get()[0], now(&sim)]);
            } else {
                rank.receive(OTHER, Bytes(bytes), 0, 0).await;
                rank.receive(OTHER, Bytes(bytes), 0, 0).await;
                noted.set([now(&sim), noted.get()[1]]);
            }
            Ok(())
        }
    })
    .unwrap();
    ends.get()
}

#[test]
fn a_message_between_nodes_takes_what_its_stages_take_and_so_does_word_of_it() {
    let cycles = |count: f64| count / 3.2e9;
    let spe = Machine::named("roadrunner").unwrap().messages;
    let issue = cycles((spe.put.0 + 10) as f64);
    let (poll, tag, store) = (cycles(24.0), cycles(6.0), 100e-9);
    let [begin, end] = [spe.send, spe.complete].map(|it| cycles(it.0 as f64));
    // Up to 16 lines to and from memory.
    let put = |lines: f64| 104.3e-9 + lines * 128.0 / 22.13e9;
    let get = |lines: f64| 104.3e-9 + lines * 128.0 / 22.83e9;
    // A look round: 33 times 2 + 5 + 6; a line; then 124 to take, 218 to hand over, 35 to compare.
    let look = cycles(429.0 + 500.0);
    let carry = |n: f64| 2.0 * (3.5e-6 + (64.0 + n) / 1.68e9) + 0.2e-6 + 2.24e-6 + (64.0 + n) / 2e9;
    let way = |n: f64| {
        let posted = issue + put(1.0) + tag;
        let sent = look + cycles(124.0 + 218.0) + carry(n);
        begin + posted + sent + look + cycles(124.0 + 35.0)
    };
    let word = cycles(218.0) + carry(0.0) + look + store + poll + end;
    let check = |bytes: u64, received: f64, sent: f64| {
        let found = latencies(bytes);
        assert_relative_eq!(found[0], received, max_relative = 1e-7);
        assert_relative_eq!(found[1], sent, max_relative = 1e-7);
    };
    let there = way(0.0) + store;
    check(0, there + poll + end, there + word);
    // 7 quadwords in one line, during whose put that of the descriptor is issued; 13 doublewords, loaded and stored at 6 cycles, and their line.
    let there = way(100.0) + put(1.0) + cycles(500.0 + 78.0) + store + store;
    check(100, there + poll + end, there + word);
    // 63 quadwords in 8 lines; the receiver gets them and says so.
    let there = way(1000.0) + put(8.0) + store + store;
    let gets = issue + get(8.0) + tag + issue + put(1.0) + tag;
    check(1000, there + poll + gets + end, there + word);
}
