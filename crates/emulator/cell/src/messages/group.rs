//! Communicators, and the trees of their collectives.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Location of a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Location {
    /// The node, counted through the whole machine.
    pub node: u32,
    /// The blade, counted through the whole machine.
    pub blade: u32,
    /// The Cell, counted on its blade.
    pub cell: u32,
    /// The SPE, counted on its blade.
    pub spe: u32,
}

/// Some ranks, numbered anew.
pub(super) struct Group {
    context: u8,
    members: Vec<u32>,
    /// Locations of all ranks, by their numbers among all.
    locations: Rc<[Location]>,
    /// The tree to each root for which there was a collective.
    trees: RefCell<BTreeMap<u32, Rc<[Knot]>>>,
}

/// A rank's place in a tree.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Knot {
    /// Towards the root.
    pub parent: Option<u32>,
    /// Away from it, those first of which the message has the longest way.
    pub children: Vec<u32>,
}

impl Group {
    pub fn new(context: u8, members: Vec<u32>, locations: &Rc<[Location]>) -> Self {
        Self { context, members, locations: Rc::clone(locations), trees: RefCell::default() }
    }

    pub fn context(&self) -> u8 {
        self.context
    }

    pub fn size(&self) -> u32 {
        self.members.len() as u32
    }

    /// Their numbers among all.
    pub fn members(&self) -> &[u32] {
        &self.members
    }

    /// The places of all ranks in the tree to `root`.
    ///
    /// The tree follows the machine: a binomial tree of one rank of each node, in each node one of
    /// one rank of each blade, then of the Cells, then of the SPEs. The rank that stands for a part is
    /// the root where that is in it, and else its lowest.
    pub fn tree(&self, root: u32) -> Rc<[Knot]> {
        if let Some(tree) = self.trees.borrow().get(&root) {
            return Rc::clone(tree);
        }
        let mut knots = vec![Knot::default(); self.members.len()];
        self.plant(&mut knots, root, (0..self.size()).collect(), 0);
        let tree: Rc<[Knot]> = knots.into();
        self.trees.borrow_mut().insert(root, Rc::clone(&tree));
        tree
    }

    /// Connects `ranks`, all in one part of the machine, with `root`, which is one of them.
    fn plant(&self, knots: &mut [Knot], root: u32, ranks: Vec<u32>, level: u32) {
        if ranks.len() < 2 {
            return;
        }
        let mut parts: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for rank in ranks {
            parts.entry(self.part(rank, level)).or_default().push(rank);
        }
        let own = parts.remove(&self.part(root, level)).unwrap_or_default();
        let mut heads = vec![root];
        heads.extend(parts.values().map(|ranks| ranks[0]));
        // Binomial: the parent's place lacks the lowest bit that is set.
        for (place, &head) in heads.iter().enumerate().skip(1).rev() {
            let parent = heads[place & (place - 1)];
            knots[head as usize].parent = Some(parent);
            knots[parent as usize].children.push(head);
        }
        self.plant(knots, root, own, level + 1);
        for ranks in parts.into_values() {
            self.plant(knots, ranks[0], ranks, level + 1);
        }
    }

    /// Which part of the machine a rank is in.
    fn part(&self, rank: u32, level: u32) -> u32 {
        let Location { node, blade, cell, spe } =
            self.locations[self.members[rank as usize] as usize];
        match level {
            0 => node,
            1 => blade,
            2 => cell,
            _ => spe,
        }
    }
}

/// What a rank waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Wait {
    /// A descriptor of the rank, for a message with that envelope.
    Receiver(u32, Envelope),
    /// A message of the rank.
    Sender(u32, Envelope),
    /// An answer of the PPE or its host.
    Service(u32),
}

/// What a message is selected by, beside its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Envelope {
    /// The communicator: 0 is that of all ranks.
    pub context: u8,
    pub purpose: Purpose,
    pub tag: u32,
}

/// What a message is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(super) enum Purpose {
    /// The program's own.
    Point,
    /// Part of a collective, towards its root.
    Up,
    /// Part of a collective, from its root.
    Down,
}

impl Wait {
    /// Name in a report of a deadlock.
    pub fn name(self) -> String {
        match self {
            Self::Receiver(rank, what) => format!("rank {rank} to receive ({})", what.name()),
            Self::Sender(rank, what) => format!("rank {rank} to send ({})", what.name()),
            Self::Service(function) => format!("the answer of function {function}"),
        }
    }
}

impl Envelope {
    /// Word in a descriptor.
    pub const fn encode(self) -> u64 {
        (self.context as u64) << 48 | (self.purpose as u64) << 32 | self.tag as u64
    }

    /// Name in a report of a deadlock.
    fn name(self) -> String {
        match self.purpose {
            Purpose::Point => format!("tag {}", self.tag),
            Purpose::Up => "a collective, to its root".to_string(),
            Purpose::Down => "a collective, from its root".to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_follows_nodes_blades_cells_and_spes() {
        // Two nodes of one blade of two Cells of two SPEs, which are numbered in turn: ranks 0 to 3 and
        // 4 to 7, the even ones on the first Cell.
        let location = |rank: u32| {
            let (node, spe) = (rank / 4, rank % 4);
            Location { node, blade: 2 * node, cell: spe % 2, spe }
        };
        let locations: Rc<[Location]> = (0..8).map(location).collect();
        let group = Group::new(0, (0..8).collect(), &locations);
        // 5 sends to the other node first, then to the other Cell of its own, then beside it.
        let tree = group.tree(5);
        let children: Vec<&[u32]> = tree.iter().map(|knot| &knot.children[..]).collect();
        let by_hand: [&[u32]; 8] = [&[1, 2], &[3], &[], &[], &[6], &[0, 4, 7], &[], &[]];
        assert_eq!(children, by_hand);
        assert_eq!(tree[5].parent, None);
        for (rank, knot) in tree.iter().enumerate() {
            assert!(
                knot.children.iter().all(|&child| tree[child as usize].parent == Some(rank as u32))
            );
        }
    }

    #[test]
    fn among_equals_the_tree_is_binomial() {
        let location = |spe| Location { node: 0, blade: 0, cell: 0, spe };
        let locations: Rc<[Location]> = (0..8).map(location).collect();
        let tree = Group::new(0, (0..8).collect(), &locations).tree(0);
        assert_eq!(tree[0].children, [4, 2, 1]);
        assert_eq!((&tree[4].children[..], &tree[6].children[..]), (&[6, 5][..], &[7][..]));
    }
}
