//! Step 2: sublists as software-managed threads in lock step.

use mmgp_lists::END;

use super::array::{Array, Node, Record};
use super::{Combine, MOST_IN_FLIGHT};

/// What becomes of a sublist.
#[derive(Debug, Default)]
pub struct Part {
    /// Its nodes in their order, in a row.
    pub records: Vec<Record>,
    /// Its last prefix.
    pub total: u32,
    /// The sublist that follows; none after the last.
    pub next: Option<u32>,
    /// The prefix of the node before its head.
    pub before: u32,
}

/// A sublist that is followed.
struct Follower {
    /// Its place in the part.
    place: usize,
    /// The mark of its own head.
    mark: u32,
    /// The node that is read next.
    node: u32,
    prefix: u32,
    records: Vec<Record>,
}

/// Ranks the sublists with these heads, of which the first has that number, so many at once; one that
/// ends gives its turn to the next that has not begun.
/// `start` is what combined with a value leaves it.
pub fn rank_part(
    array: &Array,
    (heads, first): (&[u32], u32),
    parts: &mut [Part],
    in_flight: usize,
    (start, combine): (u32, impl Combine),
) {
    let begin = |place: usize, parts: &mut [Part]| {
        let mut records = std::mem::take(&mut parts[place].records);
        records.clear();
        Follower {
            place,
            mark: first + place as u32 + 1,
            node: heads[place],
            prefix: start,
            records,
        }
    };
    let mut begun = in_flight.min(heads.len());
    let mut followers: Vec<Follower> = (0..begun).map(|place| begin(place, parts)).collect();
    let mut read = [Node::default(); MOST_IN_FLIGHT as usize];
    while !followers.is_empty() {
        // These loads depend on nothing but the turn before: all of them are under way at once.
        for (read, follower) in read.iter_mut().zip(&followers) {
            *read = array.node(follower.node);
        }
        let mut number = 0;
        let mut turn = 0;
        while number < followers.len() {
            let (node, follower) = (read[turn], &mut followers[number]);
            turn += 1;
            let is_next_head = node.mark != 0 && node.mark != follower.mark;
            if !is_next_head {
                follower.prefix = combine(follower.prefix, node.value);
                follower.records.push(Record { node: follower.node, prefix: follower.prefix });
                follower.node = node.successor;
                if node.successor != END {
                    number += 1;
                    continue;
                }
            }
            let part = &mut parts[follower.place];
            part.records = std::mem::take(&mut follower.records);
            part.total = follower.prefix;
            part.next = is_next_head.then(|| node.mark - 1);
            if begun < heads.len() {
                *follower = begin(begun, parts);
                begun += 1;
                number += 1;
            } else {
                // The order of those that are left stays, and so which node was read for which.
                followers.remove(number);
            }
        }
    }
}
