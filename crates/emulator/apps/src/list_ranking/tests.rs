use std::sync::Arc;

use mmgp_base::Mapping;
use mmgp_cell::{Blade, KernelTiming};
use mmgp_lists::{List, Operation, Order, Values, rank_sequentially};
use mmgp_machine::Machine;
use mmgp_runtime::{Edtlp, Runtime};

use super::*;

fn list(nodes: u32, order: Order) -> Arc<List> {
    Arc::new(List::generate(nodes, order, Values::Random, 5).unwrap())
}

fn run(ranking: &ListRanking, p: u32) -> Ran {
    let blade = Blade::new(&Machine::named("qs20").unwrap(), KernelTiming::Cached, 0.0);
    let on = Runtime::new(blade, Box::new(Edtlp::default()));
    ranking.run(&on, Mapping::of(1, p)).unwrap()
}

fn findings(ran: &Ran) -> &Findings {
    ran.findings().unwrap()
}

/// Ranks a list and looks at every prefix.
fn check(nodes: u32, order: Order, [sublists, buffers]: [u32; 2], p: u32, operation: Operation) {
    let list = list(nodes, order);
    let ranking = ListRanking::new(Arc::clone(&list), order, [sublists, buffers], 3).unwrap();
    let ran = run(&ranking.with_operation(operation), p);
    let found = findings(&ran);
    let expected = rank_sequentially(&list, operation);
    let case = format!("{nodes} nodes, {order}, s {sublists}, b {buffers}, p {p}, {operation}");
    assert!(found.prefixes == expected, "{case}");
    assert_eq!(found.loads.iter().sum::<u64>(), u64::from(nodes), "{case}");
    assert_eq!(found.loads.len() as u32, p, "{case}");
}

#[test]
fn every_prefix_is_the_sequential_one() {
    for order in Order::ALL {
        for nodes in [1, 2, 3, 7, 8, 9, 63, 64, 100, 1000, 4097] {
            for choice in [[1, 1], [2, 1], [8, 2], [33, 3], [64, 8], [512, 16], [511, 1]] {
                for p in [1, 3, 8, 16] {
                    let operation = Operation::ALL[(nodes + choice[0] + p) as usize % 5];
                    check(nodes, order, choice, p, operation);
                }
            }
        }
    }
}

#[test]
fn a_long_list_is_ranked_right_in_both_orders() {
    let nodes = if testing::share() < 1.0 { 100_000 } else { 1_000_000 };
    for order in Order::ALL {
        check(nodes, order, [64, 8], 8, Operation::Last);
    }
}

#[test]
fn more_lists_under_way_hide_more_of_the_latency_and_one_thread_none() {
    // A thread on each list, on one SPE; sublists of 4000 nodes each or more.
    let list = list(64_000, Order::Ordered);
    let step_2 = |under_way| {
        let choice = [under_way, under_way];
        let ranking = ListRanking::new(Arc::clone(&list), Order::Ordered, choice, 3).unwrap();
        findings(&run(&ranking, 1)).steps[1].0 / 64_000.0 * 3.2e9
    };
    let [one, two, four, sixteen] = [1, 2, 4, 16].map(step_2);
    // A blocking get of a line takes 350 cycles, and nothing overlaps with it.
    assert!((350.0..450.0).contains(&one), "{one}");
    assert!((1.95..2.01).contains(&(one / two)) && (3.9..4.02).contains(&(one / four)));
    // Enough of them: an SPE does little else but compute.
    assert!((30.0..60.0).contains(&sixteen), "{sixteen}");
}

#[test]
fn sublists_that_begin_with_the_same_bank_wait_for_it_together() {
    let list = list(1 << 16, Order::Ordered);
    let step_2 = |heads| {
        let ranking = ListRanking::new(Arc::clone(&list), Order::Ordered, [64, 8], 3).unwrap();
        findings(&run(&ranking.headed(heads), 2)).steps[1].0
    };
    let [staggered, aligned] = [Heads::Staggered, Heads::Aligned].map(step_2);
    assert!(aligned > 1.5 * staggered, "{aligned} against {staggered}");
}

#[test]
fn no_transfer_is_touched_while_it_is_under_way() {
    let list = list(5000, Order::Random);
    let ranking = ListRanking::new(list, Order::Random, [40, 3], 3).unwrap();
    let blade = Blade::new(&Machine::named("qs20").unwrap(), KernelTiming::Exact, 0.0);
    blade.set_hazards(mmgp_cell::mfc::Hazards::Checked);
    let on = Runtime::new(blade, Box::new(Edtlp::default()));
    ranking.run(&on, Mapping::of(1, 3)).unwrap();
}
