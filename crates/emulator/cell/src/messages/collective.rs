//! Collectives: messages along a tree that follows the machine ([`Group::tree`]).
//!
//! What goes to the root goes from the leaves up, each rank hearing its nearest children first; what comes from
//! it goes the other way. A reduction combines, at each rank, its own contribution with those of its
//! children in that order, so its result depends on the ranks and their places alone, and
//! `all_reduce`, which is a reduction to rank 0 and a broadcast, gives all ranks the same bits.

use super::group::Knot;
use super::rank::Rank;
use super::state::RankState;
use crate::messages::group::Purpose;
use mmgp_base::units::{Bytes, Cycles};
use mmgp_spu::local_store::LocalAddress;
use mmgp_spu::register::Quadword;

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
