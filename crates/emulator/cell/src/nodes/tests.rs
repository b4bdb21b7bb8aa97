use super::*;
use crate::KernelTiming;
use approx::assert_relative_eq;
use mmgp_base::units::Bytes;
use mmgp_machine::Machine;
use std::cell::Cell;

fn nodes(positions: &[u32]) -> Nodes {
    let machine = Machine::named("roadrunner").unwrap();
    let first = Rc::new(Blade::new(&machine, KernelTiming::Cached, 0.0));
    Nodes::at(first, positions.to_vec()).unwrap()
}

fn seat(blade: usize, cell: u32) -> Seat {
    Seat { blade, cell }
}

/// When the last of these messages has arrived.
fn time(positions: &[u32], messages: &[(Seat, Seat, u64)]) -> f64 {
    let nodes = nodes(positions);
    let last = Rc::new(Cell::new(0.0));
    for &(from, to, bytes) in messages {
        let (fabric, sim) = (Rc::clone(nodes.fabric()), nodes.blades[0].sim.clone());
        let last = Rc::clone(&last);
        nodes.blades[0].sim.spawn("message", async move {
            fabric.carry(from, to, Bytes(bytes)).await;
            last.set(sim.now().seconds().0);
        });
    }
    nodes.run().unwrap();
    last.get()
}

#[track_caller]
fn check(found: f64, by_hand: f64) {
    assert_relative_eq!(found, by_hand, max_relative = 1e-9);
}

#[test]
fn a_message_alone_takes_the_sum_of_its_stages() {
    let network = *nodes(&[0]).network();
    let both = |bytes: f64| 2.0 * (3.5e-6 + bytes / 1.68e9) + 2.0 * 100e-9;
    let far = |bytes: f64| both(bytes) + 2.24e-6 + bytes / 2e9;
    assert_eq!(network.forward.0, 100e-9);
    // Blade 1 is of node 0; blade 2 of node 1, on its crossbar; 16 of node 8, on another one; 360 of
    // node 180, in another unit, where the crossbar has the same number; 376 where it has not.
    for bytes in [0, 1000] {
        let [here, there] = [(seat(0, 1), seat(1, 0), bytes)]
            .map(|one| [time(&[0, 1], &[one]), time(&[0, 2], &[one])])[0];
        let n = bytes as f64;
        check(here, both(n) + 0.9e-6 + n / 1.2e9);
        check(there, far(n));
        for (position, further) in [(16, 2.0), (360, 2.0), (376, 4.0), (12 * 360 + 16, 6.0)] {
            let found = time(&[0, position], &[(seat(0, 0), seat(1, 1), bytes)]);
            check(found, far(n) + further * 160e-9);
        }
    }
}

#[test]
fn messages_wait_for_each_other_where_they_share_a_stage() {
    let bytes = 100_000;
    let n = bytes as f64;
    let alone = 2.0 * (3.5e-6 + n / 1.68e9) + 2.0 * 100e-9 + 2.24e-6 + n / 2e9;
    // Two of a Cell: the second leaves DaCS later by what the first occupies it for, which is the
    // narrowest stage.
    let two = [(seat(0, 0), seat(1, 0), bytes), (seat(0, 0), seat(1, 1), bytes)];
    check(time(&[0, 2], &two), alone + 1e-6 + n / 1.68e9);
    // Of two Cells of a node: they meet at its adapter.
    let two = [(seat(0, 0), seat(1, 0), bytes), (seat(0, 1), seat(1, 1), bytes)];
    check(time(&[0, 2], &two), alone + n / 2e9);
    // Of two nodes to one: at its adapter.
    let two = [(seat(0, 0), seat(2, 0), bytes), (seat(1, 0), seat(2, 1), bytes)];
    check(time(&[0, 2, 4], &two), alone + n / 2e9);
    // Towards each other: nowhere but at the cores, which have long done the one when the other comes.
    let two = [(seat(0, 0), seat(1, 0), bytes), (seat(1, 0), seat(0, 0), bytes)];
    check(time(&[0, 2], &two), alone);
}

#[test]
fn only_blades_that_a_machine_has_can_be_connected() {
    let refused = |machine: &str, positions: Vec<u32>| {
        let machine = Machine::named(machine).unwrap();
        let first = Rc::new(Blade::new(&machine, KernelTiming::Cached, 0.0));
        Nodes::at(first, positions).err().unwrap().to_string()
    };
    assert!(refused("qs22", vec![0]).contains("such as roadrunner"));
    let most = "expected different blades, each below 6120";
    assert!(refused("roadrunner", vec![0, 6120]).contains(most));
    assert!(refused("roadrunner", vec![3, 3]).contains(most));
    assert!(refused("roadrunner", vec![]).contains(most));
}

#[test]
fn a_fault_of_any_blade_ends_the_run_of_all() {
    let nodes = nodes(&[0, 1, 2]);
    let fault = nodes.blades()[2].fault();
    nodes.blades()[2].sim.spawn("program", async move {
        fault.raise(refused("x".into(), "y"));
        std::future::pending().await
    });
    assert_eq!(nodes.run().unwrap_err().to_string(), "blades: found x, expected y");
}
