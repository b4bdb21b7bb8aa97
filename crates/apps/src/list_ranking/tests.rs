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
