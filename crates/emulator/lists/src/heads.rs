//! Where sublists begin.

use std::ops::Range;

use crate::draw::{Purpose, Stream};
use crate::list::{List, Order};

/// The heads of about so many sublists, each once, the head of the list first.
///
/// Of an ordered list the first node of each of `sublists` blocks, so that all are as long. Of a
/// random one the list's head, and a random node of each of `sublists - 1` blocks. No more than the
/// list has nodes; one fewer where a block holds nothing but the list's head. None asked for is one.
pub fn choose_heads(list: &List, sublists: u32, order: Order, seed: u64) -> Vec<u32> {
    let (nodes, head) = (list.nodes(), list.head());
    let sublists = sublists.clamp(1, nodes);
    match order {
        Order::Ordered => {
            let blocks = (0..sublists).map(|block| part(nodes, block, sublists));
            // Of a list that is not ordered the head may stand anywhere in its block.
            let others = blocks.filter(|block| !block.contains(&head));
            std::iter::once(head).chain(others.map(|block| block.start)).collect()
        }
        Order::Random => {
            let mut stream = Stream::new(seed, Purpose::Heads);
            let blocks = (0..sublists - 1).map(|block| part(nodes, block, sublists - 1));
            let drawn = blocks.filter_map(|block| {
                let has_head = block.contains(&head);
                let count = block.end - block.start - u32::from(has_head);
                let node = block.start + (count > 0).then(|| stream.index(count))?;
                Some(node + u32::from(has_head && node >= head))
            });
            std::iter::once(head).chain(drawn).collect()
        }
    }
}

/// The part of `count` that falls to one of so many shares: all as large, to one.
pub fn part(count: u32, share: u32, shares: u32) -> Range<u32> {
    let start = |share: u32| {
        let start = u64::from(share) * u64::from(count) / u64::from(shares);
        u32::try_from(start).expect("invariant: no part begins beyond the last")
    };
    start(share)..start(share + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Values;

    #[test]
    fn heads_of_an_ordered_list_stand_at_equal_distances() {
        let list = List::generate(12, Order::Ordered, Values::Ones, 1).unwrap();
        assert_eq!(choose_heads(&list, 4, Order::Ordered, 1), [0, 3, 6, 9]);
        assert_eq!(choose_heads(&list, 1, Order::Ordered, 1), [0]);
        assert_eq!(choose_heads(&list, 5, Order::Ordered, 1), [0, 2, 4, 7, 9]);
        assert_eq!(choose_heads(&list, 100, Order::Ordered, 1).len(), 12);
    }

    #[test]
    fn every_head_is_a_node_and_none_comes_twice() {
        for nodes in [1, 2, 3, 7, 100] {
            for (sublists, seed) in (0..=9).chain([99, 100, 512]).flat_map(|s| [(s, 1), (s, 2)]) {
                for order in Order::ALL {
                    let list = List::generate(nodes, Order::Random, Values::Ones, seed).unwrap();
                    let heads = choose_heads(&list, sublists, order, seed);
                    let case = format!("{nodes} nodes, {sublists} sublists, {order}: {heads:?}");
                    assert_eq!(heads[0], list.head(), "{case}");
                    let wanted = sublists.clamp(1, nodes) as usize;
                    assert!(heads.len() == wanted || heads.len() + 1 == wanted, "{case}");
                    let mut each = heads.clone();
                    each.sort_unstable();
                    each.dedup();
                    assert_eq!(each.len(), heads.len(), "{case}");
                    assert!(each.iter().all(|&head| head < nodes), "{case}");
                }
            }
        }
    }

    #[test]
    fn each_node_of_a_block_is_as_likely_to_be_a_head() {
        // Two blocks of four; the head takes a place in one of them, which leaves that block three.
        let list = List::generate(8, Order::Random, Values::Ones, 3).unwrap();
        let mut counts = [0_u32; 8];
        for seed in 0..12_000 {
            for head in choose_heads(&list, 3, Order::Random, seed) {
                counts[head as usize] += 1;
            }
        }
        assert_eq!(counts[list.head() as usize], 12_000);
        for node in (0..8).filter(|&node| node != list.head()) {
            let shares_block = node / 4 == list.head() / 4;
            let (likely, among) = if shares_block { (4000.0, 3.0) } else { (3000.0, 4.0) };
            let standard_error = (12_000.0_f64 / among * (1.0 - 1.0 / among)).sqrt();
            let off = f64::from(counts[node as usize]) - likely;
            assert!(off.abs() < 4.0 * standard_error, "{counts:?}, head {}", list.head());
        }
    }
}
