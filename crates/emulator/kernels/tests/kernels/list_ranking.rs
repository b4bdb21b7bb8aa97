use mmgp_base::units::{Bytes, Cycles};
use mmgp_lists::{END, Operation};
use mmgp_spu::{Compiler, Kernel, LocalAddress, LocalStore, Quadword, execute, time};

use crate::cell_be;
use mmgp_kernels::list_ranking::*;

const STATES: LocalAddress = LocalAddress(0x1000);
const FETCHED: LocalAddress = LocalAddress(0x2000);
const LIST: LocalAddress = LocalAddress(0x3000);
const ROOM: LocalAddress = LocalAddress(0x4000);
const BUFFERS: u32 = 0x5000;
const OUTCOMES: u32 = 0x8000;
const LOW: u32 = 0x10_0000;

fn at(base: LocalAddress, index: u64) -> LocalAddress {
    base.offset(Bytes(16 * index))
}

/// Threads of sublists 5, 6, ... with a prefix of 100 times as much, that have buffers of four
/// records each, of which two are taken, and the nodes that were fetched for them.
fn store(nodes: &[[u32; 4]]) -> LocalStore {
    let mut store = LocalStore::new();
    for (index, &node) in (0_u64..).zip(nodes) {
        let thread = index as u32;
        let to = BUFFERS + 64 * thread + 32;
        let state = [10 + thread, 100 * (5 + thread), 5 + thread, to];
        store.store(at(STATES, index), Quadword::from_words(state));
        store.store(at(FETCHED, index), Quadword::from_words(node));
        for record in 0..4 {
            let at = LocalAddress(BUFFERS + 64 * thread + 16 * record);
            store.store(at, Quadword::splat(0x99));
        }
    }
    store.store(ROOM, Quadword::splat(2));
    store
}

fn advance(operation: Operation, threads: u32) -> Advance {
    let (states, fetched, list, room) = (STATES, FETCHED, LIST, ROOM);
    Advance { operation, threads, states, fetched, list, room, low: LOW }
}

fn words(store: &LocalStore, at: LocalAddress) -> [u32; 4] {
    store.load(at).words()
}

/// The elements of the list as bytes and effective address.
fn elements(store: &LocalStore, threads: u64) -> Vec<[u32; 2]> {
    let pair = |index| words(store, at(LIST, index));
    let pairs = (0..threads.div_ceil(2)).flat_map(|index| {
        let [bytes, low, other_bytes, other_low] = pair(index);
        [[bytes, low], [other_bytes, other_low]]
    });
    pairs.take(threads as usize).collect()
}

#[test]
fn a_turn_stores_a_record_of_each_thread_and_asks_for_its_next_node() {
    for threads in 1..=5_u32 {
        let nodes: Vec<[u32; 4]> = (0..threads).map(|thread| [70 + thread, 3, 0, 0]).collect();
        let mut store = store(&nodes);
        let turn = execute(&advance(Operation::Sum, threads), &mut store);
        assert_eq!(turn, Turn { ended: false, full: false });
        for thread in 0..threads {
            let (number, prefix) = (5 + thread, 100 * (5 + thread) + 3);
            let buffer = BUFFERS + 64 * thread;
            let record = words(&store, LocalAddress(buffer + 32));
            assert_eq!(record, [70 + thread, prefix, number, 10 + thread]);
            let state = words(&store, at(STATES, thread.into()));
            assert_eq!(state, [70 + thread, prefix, number, buffer + 48]);
        }
        let asked = (0..threads).map(|thread| [16, LOW + 16 * (70 + thread)]);
        assert_eq!(elements(&store, threads.into()), asked.collect::<Vec<_>>());
        let turn = execute(&advance(Operation::Sum, threads), &mut store);
        assert_eq!(turn, Turn { ended: false, full: true });
    }
}

#[test]
fn every_operation_combines_as_the_sequential_program() {
    for operation in Operation::ALL {
        for (before, value) in [(0, 0), (7, 0), (0, 9), (7, 9), (9, 7), (u32::MAX, 3), (3, 1 << 31)]
        {
            let mut store = store(&[[1, value, 0, 0]]);
            store.store(STATES, Quadword::from_words([10, before, 5, BUFFERS]));
            execute(&advance(operation, 1), &mut store);
            let [_, prefix, ..] = words(&store, STATES);
            assert_eq!(prefix, operation.apply(before, value), "{operation} of {before}, {value}");
        }
    }
}

#[test]
fn threads_that_end_leave_their_outcomes_and_the_others_close_up() {
    // The first comes to the head of sublist 3, the second begins its own, the third comes to the
    // last node, the fourth goes on, the fifth comes to the head of sublist 4.
    let nodes = [[1, 2, 3, 0], [2, 2, 6, 0], [END, 2, 0, 0], [4, 2, 0, 0], [5, 2, 4, 0]];
    let mut store = store(&nodes);
    assert!(execute(&advance(Operation::Sum, 5), &mut store).ended);
    let (states, fetched, list, room) = (STATES, FETCHED, LIST, ROOM);
    let retire = Retire { threads: 5, states, fetched, list, room, outcomes: OUTCOMES, low: LOW };
    assert_eq!(execute(&retire, &mut store), 2);
    let outcome = |number: u32| {
        let [next, prefix, own, _] = words(&store, LocalAddress(OUTCOMES + 16 * number));
        (next, prefix, own)
    };
    assert_eq!([5, 7, 9].map(outcome), [(3, 500, 5), (0, 702, 7), (4, 900, 9)]);
    // What is left of their buffers is cleared, from the record on that is none.
    let records = |thread: u32| {
        [0, 1, 2, 3].map(|record| words(&store, LocalAddress(BUFFERS + 64 * thread + 16 * record)))
    };
    let taken = [0x99; 4];
    assert_eq!(records(0), [taken, taken, [0; 4], [0; 4]]);
    assert_eq!(records(2), [taken, taken, [END, 702, 7, 12], [0; 4]]);
    // Sublists 6 and 8 go on, in some order.
    let mut left = [0, 1].map(|index| words(&store, at(STATES, index)));
    left.sort_by_key(|state| state[2]);
    let buffer = |thread: u32| BUFFERS + 64 * thread + 48;
    assert_eq!(left, [[2, 602, 6, buffer(1)], [4, 802, 8, buffer(3)]]);
    let asked = [0, 1].map(|index| [16, LOW + 16 * words(&store, at(STATES, index))[0]]);
    assert_eq!(elements(&store, 2), asked);
}

#[test]
fn full_buffers_go_one_behind_the_other_and_threads_get_others() {
    for buffers in 0..=5_u32 {
        let mut store = store(&[[0; 4]; 5]);
        let next = LocalAddress(0x9000);
        let (states, list, room) = (STATES, LIST, ROOM);
        let threads = buffers.min(4);
        let turn_over =
            TurnOver { buffers, threads, records: 32, states, list, room, next, low: LOW };
        execute(&turn_over, &mut store);
        assert_eq!(words(&store, ROOM)[0], 32);
        let sent = (0..buffers).map(|buffer| [512, LOW + 512 * buffer]);
        assert_eq!(elements(&store, buffers.into()), sent.collect::<Vec<_>>());
        for thread in 0..threads {
            let state = words(&store, at(STATES, thread.into()));
            let (node, number) = (10 + thread, 5 + thread);
            assert_eq!(state, [node, 100 * number, number, next.0 + 512 * thread]);
        }
    }
}

#[test]
fn the_head_is_missing_from_the_sum_of_successors() {
    // 16 nodes in the order 3, 4, ... 15, 0, 1, 2.
    let mut store = LocalStore::new();
    for node in 0..16_u32 {
        let successor = if node == 2 { END } else { (node + 1) % 16 };
        let node = at(FETCHED, node.into());
        store.store(node, Quadword::from_words([successor, 9, 9, 9]));
    }
    let kernel = SuccessorSum { groups: 2, nodes: FETCHED, sum: ROOM };
    execute(&kernel, &mut store);
    // The last node adds -1.
    let sum = words(&store, ROOM)[0].wrapping_add(1);
    assert_eq!((0..16).sum::<u32>() - sum, 3);
}

#[test]
fn what_comes_before_a_sublist_is_put_before_its_prefixes() {
    for operation in Operation::ALL {
        let mut store = LocalStore::new();
        let (before, records) = ([0, 40, 7], LocalAddress(0x2000));
        for (number, prefix) in (0..).zip(before) {
            store.store(at(LIST, number), Quadword::from_words([8, prefix, 8, 8]));
        }
        for record in 0..8 {
            let words = [11, 5 * record, 1 + record % 2, 12];
            store.store(at(records, record.into()), Quadword::from_words(words));
        }
        let ranked = LocalAddress(0x6000);
        let kernel = Add { operation, groups: 1, records, ranked, before: LIST, sublists: 2 };
        execute(&kernel, &mut store);
        for record in 0..8 {
            let sublist = 1 + record % 2;
            let prefix = operation.apply(before[sublist as usize], 5 * record);
            let found = words(&store, at(ranked, record.into()));
            assert_eq!(found, [11, prefix, sublist, 12], "{operation}");
        }
    }
}

fn cycles(kernel: &impl Kernel, nodes: &[[u32; 4]]) -> Cycles {
    time(kernel, &mut store(nodes), &cell_be(), Compiler::LIST_SCHEDULING).1.cycles
}

#[test]
fn a_turn_takes_longer_by_as_much_for_every_two_threads() {
    let nodes = vec![[70, 3, 0, 0]; 16];
    let of = |threads| cycles(&advance(Operation::Sum, threads), &nodes[..threads as usize]).0;
    let [two, four, six, eight] = [2, 4, 6, 8].map(of);
    assert_eq!((four - two, eight - six), (six - four, six - four));
    // Nine loads and stores, eight shuffles and rotations, a hint and a branch go through the odd pipe.
    assert!(six - four >= 19 && of(1) < 80, "{two} {four} {six} {eight}, {}", of(1));
}
