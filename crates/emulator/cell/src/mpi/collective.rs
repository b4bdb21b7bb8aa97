//! Operations of all ranks.

use super::inbox::{Channel, Expected, Payload};
use super::ledger::Signature;
use super::{Communicator, Mode, operation};
use crate::host::HostProcess;
use crate::mpi::inbox::{Data, Reduction};
use crate::mpi::ledger::Meeting;
use crate::trace::Category;
use mmgp_base::units::{Bytes, Seconds, SimSpan};
use mmgp_machine::Collectives;

/// The contribution for which the cost of a collective was measured.
const MEASURED: Bytes = Bytes(8);

impl Communicator {
    /// The sum of what all ranks contribute, added in the order of ranks.
    pub async fn allreduce_sum(&self, process: &HostProcess, value: f64) -> f64 {
        match self.allreduce(process, Data::Doubles(vec![value]), Reduction::Sum).await {
            Data::Doubles(sum) if sum.len() == 1 => sum[0],
            other => unreachable!("invariant: a sum has the type of its terms, not {other:?}"),
        }
    }

    /// `MPI_Allreduce`: what all ranks contribute, combined in the order of ranks.
    pub async fn allreduce(&self, process: &HostProcess, own: Data, reduction: Reduction) -> Data {
        let _span = operation(process, "MPI_Allreduce");
        let signature = Signature {
            operation: "MPI_Allreduce",
            reduction: Some(reduction),
            root: None,
            shape: Some(own.shape()),
        };
        let round = self.enter(process, signature).await;
        if let Some(cost) = self.shared.collective {
            return self.meet(process, round, (own, Some(reduction)), cost).await;
        }
        if self.shared.costs.collectives == Collectives::ReduceAndBroadcast {
            return self.there_and_back(process, round, own, reduction).await;
        }
        combine(self.exchange(process, round, own).await, reduction)
    }

    /// The same to one rank, up a binomial tree, and down the same tree to all.
    async fn there_and_back(
        &self,
        process: &HostProcess,
        round: Round,
        own: Data,
        reduction: Reduction,
    ) -> Data {
        // Of what others than the root give on the way down nothing is looked at.
        let unseen = own.clone();
        let all = self.tree_up(process, round, own, Up::Combine).await;
        let combined = all.map_or(unseen, |all| combine(all, reduction));
        self.tree_down(process, round, combined).await
    }

    /// `MPI_Barrier`: nobody goes on before all have come.
    pub async fn barrier(&self, process: &HostProcess) {
        let _span = operation(process, "MPI_Barrier");
        let signature =
            Signature { operation: "MPI_Barrier", reduction: None, root: None, shape: None };
        let round = self.enter(process, signature).await;
        let nothing = Data::Bytes(Vec::new());
        match self.shared.collective {
            Some(cost) => drop(self.meet(process, round, (nothing, None), cost).await),
            None => drop(self.exchange(process, round, nothing).await),
        }
    }

    /// `MPI_Bcast`: every rank gets what `root` gives; what others give is not looked at.
    pub async fn broadcast(&self, process: &HostProcess, root: u32, own: Data) -> Data {
        let _span = operation(process, "MPI_Bcast").with("root", root.into());
        let shape = (self.rank_of(process) == Some(root)).then(|| own.shape());
        let signature =
            Signature { operation: "MPI_Bcast", reduction: None, root: Some(root), shape };
        let round = self.enter(process, signature).await;
        self.tree_down(process, round, own).await
    }

    /// `MPI_Reduce`: at `root`, what all ranks contribute, combined in the order of ranks.
    pub async fn reduce(
        &self,
        process: &HostProcess,
        root: u32,
        own: Data,
        reduction: Reduction,
    ) -> Option<Data> {
        let _span = operation(process, "MPI_Reduce").with("root", root.into());
        let signature = Signature {
            operation: "MPI_Reduce",
            reduction: Some(reduction),
            root: Some(root),
            shape: Some(own.shape()),
        };
        let round = self.enter(process, signature).await;
        let all = self.tree_up(process, round, own, Up::Combine).await?;
        Some(combine(all, reduction))
    }

    /// `MPI_Gather`: at `root`, what each rank contributes, in the order of ranks.
    pub async fn gather(&self, process: &HostProcess, root: u32, own: Data) -> Option<Vec<Data>> {
        let _span = operation(process, "MPI_Gather").with("root", root.into());
        let shape = Some(own.shape());
        let signature =
            Signature { operation: "MPI_Gather", reduction: None, root: Some(root), shape };
        let round = self.enter(process, signature).await;
        self.tree_up(process, round, own, Up::Collect).await
    }

    /// Every rank gets what all contribute, in the order of ranks, by recursive doubling: each
    /// exchanges what it has with a rank at distance 1, 2, 4 and so on. Of the ranks beyond a power of
    /// two, each even one gives its own to the odd one after it first, and gets all from there last.
    ///
    /// As `MPI_Allreduce` of up to 2 KB in MPICH 1.2.7 (`src/coll/intra_fns_new.c`); here also of more,
    /// and as `MPI_Barrier`.
    async fn exchange(&self, process: &HostProcess, round: Round, own: Data) -> Vec<Data> {
        let rank = self.own_rank(process);
        let doubling = Doubling::new(self.shared.size);
        let (bytes, combining) = (own.size(), own.combining());
        let mut parts = vec![(rank, own)];
        let payload = |parts: &Vec<_>| Payload { parts: parts.clone(), bytes };
        if doubling.gives_first(rank) {
            self.tree_send(process, rank + 1, round, payload(&parts)).await;
            parts = self.tree_recv(process, rank + 1, round).await.parts;
        } else {
            if doubling.gets_first(rank) {
                parts.extend(self.tree_recv(process, rank - 1, round).await.parts);
                process.work(combining).await;
            }
            for partner in doubling.partners(rank) {
                let own = Some(payload(&parts));
                let received = self.tree_exchange(process, partner, round, own).await;
                parts.extend(received.parts);
                process.work(combining).await;
            }
            if doubling.gets_first(rank) {
                self.tree_send(process, rank - 1, round, payload(&parts)).await;
            }
        }
        parts.sort_by_key(|&(rank, _)| rank);
        parts.into_iter().map(|(_, data)| data).collect()
    }

    /// Waits for all ranks and then for what a collective is said to take; what they contributed,
    /// where that is to be combined.
    ///
    /// A rank gives its hardware thread away while it waits for the slowest; the cost runs from the
    /// arrival of the last one.
    async fn meet(
        &self,
        process: &HostProcess,
        round: Round,
        (own, reduction): (Data, Option<Reduction>),
        cost: SimSpan,
    ) -> Data {
        let shared = &self.shared;
        if shared.size == 1 {
            return own;
        }
        let rank = self.own_rank(process);
        process.release();
        let longer = Bytes(own.size().0.saturating_sub(MEASURED.0));
        let last = shared.meeting.update(|meeting| {
            meeting.contributions[rank as usize] = Some(own);
            meeting.contributions.iter().all(Option::is_some)
        });
        let before = shared.meeting.read(|meeting| meeting.complete);
        if last {
            let _span = process.trace.span(process.track(), Category::Wait, "MPI software");
            let copies = SimSpan::from_seconds(self.tree_copies(longer));
            shared.sim.sleep(cost + copies).await;
            shared.meeting.update(|meeting| {
                let all = meeting.contributions.iter_mut().filter_map(Option::take).collect();
                meeting.result = reduction.map(|reduction| combine(all, reduction));
                meeting.complete += 1;
            });
        } else {
            let what = format!("the other ranks in {}", round.operation);
            let _span = process.trace.span(process.track(), Category::Wait, "MPI");
            let complete = |meeting: &Meeting| meeting.complete > before;
            shared.meeting.wait_for(shared.reason(&what), complete).await;
        }
        let result = shared.meeting.read(|meeting| meeting.result.clone());
        process.resume().await;
        result.unwrap_or(Data::Bytes(Vec::new()))
    }

    /// Copies of so many bytes along a binomial tree, up and down: into a buffer and out of it at
    /// each level.
    fn tree_copies(&self, bytes: Bytes) -> Seconds {
        let levels = self.shared.size.next_power_of_two().trailing_zeros();
        self.shared.costs.copy_time(bytes) * f64::from(4 * levels)
    }

    /// Down a binomial tree: from the root, or from the rank above, to the ranks below.
    async fn tree_down(&self, process: &HostProcess, round: Round, own: Data) -> Data {
        let tree = Tree { size: self.shared.size, root: round.root };
        let place = tree.place(self.own_rank(process));
        let payload = match tree.above(place) {
            Some(above) => self.tree_recv(process, tree.rank(above), round).await,
            None => Payload::of(own),
        };
        for below in tree.below(place).rev() {
            self.tree_send(process, tree.rank(below), round, payload.clone()).await;
        }
        let (_, data) = payload.parts.into_iter().next().expect("invariant: the root gave one");
        data
    }

    /// Up a binomial tree: what all ranks contribute, in the order of ranks, at the root.
    async fn tree_up(
        &self,
        process: &HostProcess,
        round: Round,
        own: Data,
        up: Up,
    ) -> Option<Vec<Data>> {
        let tree = Tree { size: self.shared.size, root: round.root };
        let place = tree.place(self.own_rank(process));
        let (one, combining) = (own.size(), own.combining());
        let mut parts = vec![(self.own_rank(process), own)];
        for below in tree.below(place) {
            let received = self.tree_recv(process, tree.rank(below), round).await;
            parts.extend(received.parts);
            if up == Up::Combine {
                process.work(combining).await;
            }
        }
        let Some(above) = tree.above(place) else {
            parts.sort_by_key(|&(rank, _)| rank);
            return Some(parts.into_iter().map(|(_, data)| data).collect());
        };
        let bytes = match up {
            Up::Combine => one,
            Up::Collect => {
                parts.iter().map(|(_, data)| data.size()).fold(Bytes(0), |a, b| Bytes(a.0 + b.0))
            }
        };
        self.tree_send(process, tree.rank(above), round, Payload { parts, bytes }).await;
        None
    }

    async fn tree_send(&self, process: &HostProcess, to: u32, round: Round, payload: Payload) {
        let channel = Channel::Collective(round.number);
        let outgoing = self.post(process, to, channel, payload, Mode::Alone).await;
        let what = || format!("{}, its message to rank {to}", round.operation);
        self.progress(process, outgoing, None, &what).await;
    }

    async fn tree_recv(&self, process: &HostProcess, source: u32, round: Round) -> Payload {
        self.tree_exchange(process, source, round, None).await
    }

    /// Receives from a rank and, where it is given one, sends it a message meanwhile.
    async fn tree_exchange(
        &self,
        process: &HostProcess,
        other: u32,
        round: Round,
        own: Option<Payload>,
    ) -> Payload {
        let channel = Channel::Collective(round.number);
        let outgoing = match own {
            Some(payload) => self.post(process, other, channel, payload, Mode::WithReceive).await,
            None => None,
        };
        let expected = Some(Expected::Collective { source: other, number: round.number });
        let what = || format!("{}, a message from rank {other}", round.operation);
        let received = self.progress(process, outgoing, expected, &what).await;
        received.expect("invariant: one was expected").payload
    }

    /// Notes that a rank has come to its next collective, which must be that of the others.
    async fn enter(&self, process: &HostProcess, signature: Signature) -> Round {
        let what = || signature.to_string();
        self.check_rank(process, signature.root.unwrap_or(0), what).await;
        if signature.reduces_bytes() {
            self.fatal(process, what(), "MPI has no reduction of bytes".into()).await;
        }
        let entered = self.shared.ledger.borrow_mut().enter(self.own_rank(process), signature);
        if let Err((first, expected)) = entered {
            let rule = format!("rank {first} is in {expected}");
            self.fatal(process, what(), rule).await;
        }
        let Signature { operation, root, .. } = signature;
        Round { operation, root: root.unwrap_or(0), number: entered.unwrap_or(0) }
    }
}

/// A collective that a rank is in.
#[derive(Clone, Copy)]
struct Round {
    operation: &'static str,
    root: u32,
    /// How many collectives came before it.
    number: u64,
}

/// What happens on the way up a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Up {
    /// Each rank combines what comes from below, so that messages stay as long as a contribution.
    Combine,
    /// Messages get longer.
    Collect,
}

/// Combines contributions in the order of ranks.
fn combine(all: Vec<Data>, reduction: Reduction) -> Data {
    let combined = all.into_iter().reduce(|sum, next| {
        sum.combined(&next, reduction).expect("invariant: shapes were compared on entering")
    });
    combined.expect("invariant: a communicator has ranks")
}

/// A binomial tree over the ranks, which have places in it so that the root is at 0. Place `v` is
/// below the place without the lowest bit of `v`.
#[derive(Clone, Copy)]
struct Tree {
    size: u32,
    root: u32,
}

impl Tree {
    fn place(self, rank: u32) -> u32 {
        (rank + self.size - self.root) % self.size
    }

    fn rank(self, place: u32) -> u32 {
        (place + self.root) % self.size
    }

    fn above(self, place: u32) -> Option<u32> {
        (place > 0).then(|| place & (place - 1))
    }

    /// The places right below, nearest first.
    fn below(self, place: u32) -> impl DoubleEndedIterator<Item = u32> {
        let bits = if place == 0 { u32::BITS - 1 } else { place.trailing_zeros() };
        (0..bits).map(move |bit| place + (1 << bit)).filter(move |&below| below < self.size)
    }
}

/// Who exchanges with whom in recursive doubling.
#[derive(Clone, Copy)]
struct Doubling {
    /// The largest power of two among the numbers of ranks up to the size.
    whole: u32,
    /// How many ranks there are beyond it.
    beyond: u32,
}

impl Doubling {
    fn new(size: u32) -> Self {
        let whole = 1 << size.max(1).ilog2();
        Self { whole, beyond: size - whole }
    }

    /// Whether it gives what it has to the next rank and takes no further part.
    fn gives_first(self, rank: u32) -> bool {
        rank < 2 * self.beyond && rank.is_multiple_of(2)
    }

    /// Whether it takes part for the rank before it as well.
    fn gets_first(self, rank: u32) -> bool {
        rank < 2 * self.beyond && !rank.is_multiple_of(2)
    }

    /// The ranks with which one that takes part exchanges, one after the other.
    fn partners(self, rank: u32) -> impl Iterator<Item = u32> {
        let Self { whole, beyond } = self;
        let place = if rank < 2 * beyond { rank / 2 } else { rank - beyond };
        let distances = (0..whole.ilog2()).map(|bit| 1 << bit);
        distances.map(move |distance| {
            let other = place ^ distance;
            if other < beyond { 2 * other + 1 } else { other + beyond }
        })
    }
}
