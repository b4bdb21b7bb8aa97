//! Which collectives the ranks have come to, and whether all mean the same.
//!
//! The packets of shared memory in which messages travel, and when their lists are locked.
//!
//! As the device `ch_shmem` of MPICH 1.2.7 has it (`mpid/ch_shmem/shmempriv.c`). Each rank owns as many
//! packets as the others. It takes them from a list of its own, and when that is empty all that have
//! been given back, under a lock. A message is put into the receiver's queue under a lock; the receiver
//! moves the whole queue into a list of its own under it. It gives packets back to their owners, each
//! under a lock, when it has some number of them or is about to yield.
//!
//! Left out: a sender that has no packet left waits until one is given back.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;

use crate::mpi::inbox::{Data, Reduction, Shape};

/// The collectives that some ranks have come to and others have not.
pub struct Ledger {
    open: VecDeque<OpenCollective>,
    /// Collectives that all ranks have come to.
    closed: u64,
    /// How many collectives each rank has come to.
    entered: Vec<u64>,
}

struct OpenCollective {
    signature: Signature,
    /// The rank that came first.
    first: u32,
    ranks: usize,
}

impl Ledger {
    pub fn new(size: u32) -> Self {
        Self { open: VecDeque::new(), closed: 0, entered: vec![0; size as usize] }
    }

    /// The number of the collective, or who came first and to what else.
    pub fn enter(&mut self, rank: u32, signature: Signature) -> Result<u64, (u32, Signature)> {
        let number = self.entered[rank as usize];
        self.entered[rank as usize] += 1;
        let index = (number - self.closed) as usize;
        if index == self.open.len() {
            self.open.push_back(OpenCollective { signature, first: rank, ranks: 0 });
        }
        let open = &mut self.open[index];
        if !open.signature.agrees(&signature) {
            return Err((open.first, open.signature));
        }
        open.signature.shape = open.signature.shape.or(signature.shape);
        open.ranks += 1;
        if index == 0 && open.ranks == self.entered.len() {
            self.open.pop_front();
            self.closed += 1;
        }
        Ok(number)
    }
}

/// What all ranks must agree on.
#[derive(Clone, Copy)]
pub struct Signature {
    pub operation: &'static str,
    pub reduction: Option<Reduction>,
    pub root: Option<u32>,
    /// Absent where a rank has no say in it.
    pub shape: Option<Shape>,
}

impl Signature {
    fn agrees(&self, other: &Self) -> bool {
        let same = (self.operation, self.reduction, self.root)
            == (other.operation, other.reduction, other.root);
        same && match (self.shape, other.shape) {
            (Some(own), Some(other)) => own == other,
            _ => true,
        }
    }

    /// Whether MPI does not define it.
    pub fn reduces_bytes(&self) -> bool {
        self.reduction.is_some() && self.shape.is_some_and(|shape| !shape.has_arithmetic())
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.operation)?;
        if let Some(shape) = self.shape {
            write!(f, " of {shape}")?;
        }
        if let Some(reduction) = self.reduction {
            let name = match reduction {
                Reduction::Sum => "sum",
                Reduction::Minimum => "minimum",
                Reduction::Maximum => "maximum",
            };
            write!(f, " ({name})")?;
        }
        self.root.map_or(Ok(()), |root| write!(f, " with root {root}"))
    }
}

/// Meeting of ranks that all wait for each other.
pub struct Meeting {
    /// What each rank contributed to the collective under way.
    pub contributions: Vec<Option<Data>>,
    /// Collectives that are complete.
    pub complete: u64,
    /// Result of the last one, where something is combined.
    pub result: Option<Data>,
}

impl Meeting {
    pub fn new(size: u32) -> Self {
        let contributions = vec![None; size as usize];
        Self { contributions, complete: 0, result: None }
    }
}

/// How often a lock is taken and released.
pub type Locks = u32;

/// The packets of all ranks.
pub struct Packets {
    ranks: Vec<RankPackets>,
    /// A receiver gives packets back when it has so many.
    kept: u32,
}

#[derive(Default)]
struct RankPackets {
    /// Packets that it can take without a lock.
    own: u32,
    /// Packets of its own that have been given back.
    returned: u32,
    /// Packets in its queue.
    queued: u32,
    /// Moved out of its queue and not yet looked at.
    drained: u32,
    /// Received and not yet given back, by owner.
    received: BTreeMap<u32, u32>,
}

impl Packets {
    /// Makes so many packets in all, at rest.
    pub fn new(packets: u32, size: u32) -> Self {
        let each = packets / size.max(1);
        let rank = |_| RankPackets { returned: each, ..RankPackets::default() };
        let kept = if each > size { each / size } else { 1 };
        Self { ranks: (0..size).map(rank).collect(), kept }
    }

    /// A rank takes a packet of its own and puts it into the queue of another one.
    pub fn send(&mut self, from: u32, to: u32) -> Locks {
        let mut locks = 1;
        if self.ranks[from as usize].own == 0 {
            locks += 1 + self.give_back(from);
            let rank = &mut self.ranks[from as usize];
            rank.own = std::mem::take(&mut rank.returned).max(1);
        }
        self.ranks[from as usize].own -= 1;
        self.ranks[to as usize].queued += 1;
        locks
    }

    /// A rank has read a packet of another one.
    pub fn receive(&mut self, rank: u32, owner: u32) -> Locks {
        let mut locks = 0;
        let own = &mut self.ranks[rank as usize];
        if own.drained == 0 {
            locks += 1;
            own.drained = std::mem::take(&mut own.queued);
        }
        own.drained = own.drained.saturating_sub(1);
        *own.received.entry(owner).or_default() += 1;
        let received: u32 = own.received.values().sum();
        if received >= self.kept { locks + self.give_back(rank) } else { locks }
    }

    /// A rank gives back what it has received.
    pub fn give_back(&mut self, rank: u32) -> Locks {
        let received = std::mem::take(&mut self.ranks[rank as usize].received);
        for (&owner, packets) in &received {
            self.ranks[owner as usize].returned += packets;
        }
        received.len() as Locks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_ranks_that_exchange_messages_lock_queues_always_and_lists_of_packets_now_and_then() {
        // 64 packets each, given back by 32.
        let mut packets = Packets::new(128, 2);
        let exchange = |packets: &mut Packets| packets.send(0, 1) + packets.receive(1, 0);
        // The first one takes the list of packets, too.
        assert_eq!(exchange(&mut packets), 3);
        let locks: Locks = (0..30).map(|_| exchange(&mut packets)).sum();
        assert_eq!(locks, 60);
        assert_eq!(exchange(&mut packets), 3);
        // After 64 the sender takes what came back: once for 64 packets, twice given back.
        let locks: Locks = (0..640).map(|_| exchange(&mut packets)).sum();
        assert_eq!(locks, 2 * 640 + 20 + 10);
    }

    #[test]
    fn among_sixteen_ranks_every_packet_is_given_back_at_once_and_a_queue_is_emptied_as_a_whole() {
        let mut packets = Packets::new(128, 16);
        (1..4).for_each(|from| {
            packets.send(from, 0);
        });
        // The queue of three, and a packet given back; then packets alone.
        let locks: Vec<Locks> = (1..4).map(|owner| packets.receive(0, owner)).collect();
        assert_eq!(locks, [2, 1, 1]);
        assert_eq!(packets.give_back(0), 0);
    }

    #[test]
    fn whoever_waits_gives_back_to_each_owner() {
        let mut packets = Packets::new(128, 4);
        for from in [1, 2, 1] {
            packets.send(from, 0);
            packets.receive(0, from);
        }
        assert_eq!((packets.give_back(0), packets.give_back(0)), (2, 0));
    }
}
