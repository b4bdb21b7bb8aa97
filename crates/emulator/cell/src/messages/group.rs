//! Communicators, and the trees of their collectives.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::messages::rank::Rank;
use crate::messages::state::RankState;
use mmgp_base::units::{Bytes, Cycles};
use mmgp_spu::local_store::LocalAddress;
use mmgp_spu::register::Quadword;

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

// Collectives: messages along a tree that follows the machine ([`Group::tree`]).
//
// What goes to the root goes from the leaves up, each rank hearing its nearest children first; what comes from
// it goes the other way. A reduction combines, at each rank, its own contribution with those of its
// children in that order, so its result depends on the ranks and their places alone, and
// `all_reduce`, which is a reduction to rank 0 and a broadcast, gives all ranks the same bits.

/// What a reduction does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reduction {
    /// Operation on two words.
    pub operation: Operation,
    /// What each word is.
    pub word: Word,
}

/// What is made of two words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// The greater one.
    Maximum,
    /// Their sum; integers wrap.
    Sum,
}

/// What a word is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    /// A double.
    F64,
    /// 32 bits without sign.
    U32,
    /// 64 bits without sign.
    U64,
}

impl Word {
    const fn bytes(self) -> u64 {
        match self {
            Self::U32 => 4,
            Self::F64 | Self::U64 => 8,
        }
    }
}

impl Reduction {
    /// All words of two quadwords.
    fn combine(self, a: Quadword, b: Quadword) -> Quadword {
        let pairs =
            |combine: fn(u64, u64) -> u64| Quadword([0, 1].map(|i| combine(a.0[i], b.0[i])));
        let words = |combine: fn(u32, u32) -> u32| {
            Quadword::from_words([0, 1, 2, 3].map(|i| combine(a.words()[i], b.words()[i])))
        };
        let doubles = |combine: fn(f64, f64) -> f64| {
            Quadword::from_doubles([0, 1].map(|i| combine(a.doubles()[i], b.doubles()[i])))
        };
        match (self.word, self.operation) {
            (Word::F64, Operation::Sum) => doubles(|a, b| a + b),
            (Word::F64, Operation::Maximum) => doubles(f64::max),
            (Word::U64, Operation::Sum) => pairs(u64::wrapping_add),
            (Word::U64, Operation::Maximum) => pairs(u64::max),
            (Word::U32, Operation::Sum) => words(u32::wrapping_add),
            (Word::U32, Operation::Maximum) => words(u32::max),
        }
    }
}

/// No data.
const NOTHING: (LocalAddress, Bytes) = (LocalAddress(0), Bytes(0));

impl Rank {
    /// `MPI_Barrier`: comes back when all ranks have called it.
    pub async fn barrier(&self) {
        let call = self.call_of("MPI_Barrier", None, Bytes(0));
        let tree = self.group.tree(0);
        let knot = &tree[self.rank as usize];
        for &child in knot.children.iter().rev() {
            self.accept(NOTHING, child, self.envelope(Purpose::Up, 0)).await;
        }
        if let Some(parent) = knot.parent {
            self.transmit(NOTHING, parent, self.envelope(Purpose::Up, 0)).await;
        }
        self.spread(NOTHING, knot).await;
        call.returned();
    }

    /// `MPI_Bcast`: the bytes at `at` of the root are then those of all ranks.
    pub async fn broadcast(&self, at: LocalAddress, bytes: Bytes, root: u32) {
        let call = self.call_of("MPI_Bcast", Some(root), bytes);
        self.checked("MPI_Bcast", (at, bytes), root).await;
        let tree = self.group.tree(root);
        self.spread((at, bytes), &tree[self.rank as usize]).await;
        call.returned();
    }

    /// `MPI_Reduce`: `count` words at `from` of all ranks, combined, lie at `into` of the root. The other
    /// ranks have room there, too, and then what came together so far.
    pub async fn reduce(
        &self,
        (from, into): (LocalAddress, LocalAddress),
        count: u32,
        reduction: Reduction,
        root: u32,
    ) {
        let bytes = Bytes(u64::from(count) * reduction.word.bytes());
        let call = self.call_of("MPI_Reduce", Some(root), bytes);
        self.gather((from, into), bytes, reduction, root).await;
        call.returned();
    }

    /// `MPI_Allreduce`: `count` words at `from` of all ranks, combined, lie at `into` of each.
    pub async fn all_reduce(
        &self,
        (from, into): (LocalAddress, LocalAddress),
        count: u32,
        reduction: Reduction,
    ) {
        let bytes = Bytes(u64::from(count) * reduction.word.bytes());
        let call = self.call_of("MPI_Allreduce", None, bytes);
        self.gather((from, into), bytes, reduction, 0).await;
        let tree = self.group.tree(0);
        self.spread((into, bytes), &tree[self.rank as usize]).await;
        call.returned();
    }

    /// Data from the root on.
    async fn spread(&self, data: (LocalAddress, Bytes), knot: &Knot) {
        let envelope = self.envelope(Purpose::Down, 0);
        if let Some(parent) = knot.parent {
            let bytes = self.accept(data, parent, envelope).await;
            self.same_size("MPI_Bcast", data.1, bytes).await;
        }
        for &child in &knot.children {
            self.transmit(data, child, envelope).await;
        }
    }

    /// Contributions up to the root.
    async fn gather(
        &self,
        (from, into): (LocalAddress, LocalAddress),
        bytes: Bytes,
        reduction: Reduction,
        root: u32,
    ) {
        self.checked("MPI_Reduce", (from, bytes), root).await;
        self.checked("MPI_Reduce", (into, bytes), root).await;
        let spe = &self.spe;
        if from != into && bytes.0 > 0 {
            let own = self.done(spe.read(from, bytes)).await;
            self.done(spe.write(into, &own)).await;
            spe.spend(Cycles(self.shared.load.0 * own.len() as u64)).await;
        }
        let (tree, envelope) = (self.group.tree(root), self.envelope(Purpose::Up, 1));
        let (knot, scratch) = (&tree[self.rank as usize], self.port().state.scratch());
        for &child in knot.children.iter().rev() {
            for (at, piece) in pieces(into, bytes) {
                let found = self.accept((scratch, RankState::PIECE), child, envelope).await;
                self.same_size("MPI_Reduce", piece, found).await;
                self.combine((scratch, at), piece, reduction).await;
            }
        }
        if let Some(parent) = knot.parent {
            for piece in pieces(into, bytes) {
                self.transmit(piece, parent, envelope).await;
            }
        }
    }

    /// Combines what lies at two places; the result lies at the second.
    async fn combine(
        &self,
        (with, at): (LocalAddress, LocalAddress),
        bytes: Bytes,
        reduction: Reduction,
    ) {
        let (spe, words) = (&self.spe, bytes.0 / reduction.word.bytes());
        let others = self.done(spe.read(with, bytes)).await;
        let own = self.done(spe.read(at, bytes)).await;
        let both = own.iter().zip(&others).map(|(&own, &other)| reduction.combine(own, other));
        self.done(spe.write(at, &both.collect::<Vec<_>>())).await;
        spe.spend(Cycles(self.shared.costs.combine.0 * words)).await;
    }

    /// Ranks that do not agree on the size of a collective end the run.
    async fn same_size(&self, operation: &str, own: Bytes, other: Bytes) {
        if own != other {
            let rule = format!("its {} bytes do not fit the {} of others", own.0, other.0);
            self.fatal(operation, rule).await
        }
    }
}

/// What a reduction sends at a time: at least one message, for the sake of its order.
fn pieces(at: LocalAddress, bytes: Bytes) -> impl Iterator<Item = (LocalAddress, Bytes)> {
    let most = RankState::PIECE.0;
    let pieces = bytes.0.div_ceil(most).max(1);
    (0..pieces).map(move |piece| {
        let done = piece * most;
        (at.offset(Bytes(done)), Bytes(most.min(bytes.0 - done)))
    })
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
