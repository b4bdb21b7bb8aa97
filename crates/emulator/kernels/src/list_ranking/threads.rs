//! The software-managed threads of a DMA list: their first list, their turns, their ends, and the
//! change of buffers.

use super::{
    Elements, NODE_BYTES, PAIR_BYTES, STEP, combine, goes_on, named_by_operation, words, write_list,
};
use mmgp_base::units::Bytes;
use mmgp_lists::Operation;
use mmgp_spu::{Branches, LocalAddress, Quadword, Shape, Spu};

/// Stores a record of the node that was fetched for each thread of a list, and writes the list that
/// fetches the next ones.
///
/// Threads are taken two at a time, for a quadword holds two elements of a list. A thread that has
/// come to its end, because another sublist begins at the node or the list ends with it, goes on all
/// the same: what it leaves is for [`Retire`](super::Retire) to mend, which is told by a branch that is seldom
/// taken. So there is no branch for a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Advance {
    /// The operation on two prefixes.
    pub operation: Operation,
    /// Threads of the list, at least one.
    pub threads: u32,
    /// Their states, read and written.
    pub states: LocalAddress,
    /// The nodes that have been fetched for them.
    pub fetched: LocalAddress,
    /// The elements of the list, written.
    pub list: LocalAddress,
    /// How many more records find room, in the first word; one less is written.
    pub room: LocalAddress,
    /// The lower half of the effective address of node 0.
    pub low: u32,
}

/// What a turn has come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Turn {
    /// A thread has ended.
    pub ended: bool,
    /// The buffers of records are full.
    pub full: bool,
}

/// What stays in registers from thread to thread.
struct TurnConstants<R> {
    /// `{successor, prefix, ., .}` from a node and a sum.
    link: R,
    /// `{0, 1, sublist, node}` from that and a state.
    record: R,
    /// `{0, 1, 2, place}` from a record and a state.
    state: R,
}

impl<R: Copy> TurnConstants<R> {
    #[inline(always)]
    fn load<S: Spu<Register = R>>(spu: &mut S) -> Self {
        Self {
            link: spu.lqr(words([0, 5, 5, 5])),
            record: spu.lqr(words([0, 1, 6, 4])),
            state: spu.lqr(words([0, 1, 2, 7])),
        }
    }

    /// A turn of the thread whose state lies at a place; whether it has ended.
    #[inline(always)]
    fn turn<S: Spu<Register = R>>(
        &self,
        spu: &mut S,
        operation: Operation,
        (states, place): (R, i32),
        fetched: R,
    ) -> R {
        let state = spu.lqd(place, states);
        let prefix = combine(spu, operation, state, fetched);
        let link = spu.shufb(fetched, prefix, self.link);
        let record = spu.shufb(link, state, self.record);
        let to = spu.rotqbyi(state, 12);
        spu.stqd(record, 0, to);
        let moved = spu.ai(state, STEP);
        let next = spu.shufb(record, moved, self.state);
        let goes = goes_on(spu, state, fetched);
        let next = spu.selb(state, next, goes);
        spu.stqd(next, place, states);
        let last = spu.ceqi(fetched, -1);
        spu.orc(last, goes)
    }
}

kernel! {
    Advance -> Turn, |kernel, spu|
    shape: Shape {
        branches: Branches::OnData,
        ..Shape::new(named_by_operation!("advance threads", kernel.operation), kernel.threads)
    };
    branches: Branches::OnData;
    blocks: {
        output states[NODE_BYTES; kernel.threads];
        input fetched[NODE_BYTES; kernel.threads];
        output list[PAIR_BYTES; kernel.threads.div_ceil(2)];
        output room[Bytes(16); 1];
    }
    run: kernel.instructions(spu);
}

impl Advance {
    #[inline(always)]
    fn instructions<S: Spu>(&self, spu: &mut S) -> Turn {
        let constants = TurnConstants::load(spu);
        let elements = Elements::begin(spu, self.low);
        let room = spu.lqa(self.room);
        let mut states = spu.ila(self.states.0);
        let mut fetched = spu.ila(self.fetched.0);
        let mut list = spu.ila(self.list.0);
        let mut ended = spu.il(0);
        let pairs = self.threads / 2;
        let mut turns = spu.ila(pairs);
        if pairs > 0 {
            loop {
                spu.label();
                spu.hbrr();
                let one = spu.lqd(0, fetched);
                let other = spu.lqd(16, fetched);
                let first = constants.turn(spu, self.operation, (states, 0), one);
                let second = constants.turn(spu, self.operation, (states, 16), other);
                let pair = elements.of(spu, one, other);
                spu.stqd(pair, 0, list);
                let either = spu.or_(first, second);
                ended = spu.or_(ended, either);
                states = spu.ai(states, 2 * STEP);
                fetched = spu.ai(fetched, 2 * STEP);
                list = spu.ai(list, 16);
                turns = spu.ai(turns, -1);
                if !spu.brnz(turns) {
                    break;
                }
            }
        }
        if self.threads % 2 == 1 {
            let single = spu.lqd(0, fetched);
            let last = constants.turn(spu, self.operation, (states, 0), single);
            let pair = elements.of(spu, single, single);
            spu.stqd(pair, 0, list);
            ended = spu.or_(ended, last);
        }
        let room = spu.ai(room, -1);
        spu.stqa(room, self.room);
        let ended = spu.brnz(ended);
        let full = spu.brz(room);
        Turn { ended, full }
    }
}

/// Takes the threads out of a list that have ended in the last turn: notes what came of their
/// sublists, clears what is left of their buffers, closes the gaps among the states, and writes the
/// list anew for those that go on; how many these are.
///
/// The outcome of a sublist is `{the sublist that follows or 0, prefix of its last node, its own
/// number, .}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retire {
    /// Threads of the list, at least one.
    pub threads: u32,
    /// Their states, read and written.
    pub states: LocalAddress,
    /// The nodes that were fetched for them.
    pub fetched: LocalAddress,
    /// The elements of the list, written.
    pub list: LocalAddress,
    /// How many more records find room, in the first word.
    pub room: LocalAddress,
    /// The address of the outcome of sublist 0, if there were one; those of the threads' lie behind it by their
    /// numbers. Below 0 by two's complement where the SPE's sublists begin with a later one.
    pub outcomes: u32,
    /// The lower half of the effective address of node 0.
    pub low: u32,
}

impl Retire {
    /// Ends the thread of a state, where `goes` says by what: its outcome, and zeros for the records
    /// that its buffer has room for.
    #[inline(always)]
    fn end<S: Spu>(
        &self,
        spu: &mut S,
        (state, fetched): (S::Register, S::Register),
        goes: S::Register,
    ) {
        let mark = spu.andc(fetched, goes);
        let pattern = spu.lqr(words([2, 5, 6, 6]));
        let outcome = spu.shufb(mark, state, pattern);
        let number = spu.rotqbyi(state, 8);
        let offset = spu.shli(number, 4);
        let outcomes = spu.lqr(Quadword::splat(self.outcomes));
        let to = spu.a(offset, outcomes);
        spu.stqd(outcome, 0, to);
        // The record of a node where another sublist begins is none.
        let room = spu.lqa(self.room);
        let none = spu.nor(goes, goes);
        let mut left = spu.sf(none, room);
        let mut at = spu.rotqbyi(state, 12);
        let zero = spu.il(0);
        if spu.brz(left) {
            return;
        }
        loop {
            spu.label();
            spu.hbrr();
            spu.stqd(zero, 0, at);
            at = spu.ai(at, STEP);
            left = spu.ai(left, -1);
            if !spu.brnz(left) {
                return;
            }
        }
    }
}

kernel! {
    Retire -> u32, |kernel, spu|
    shape: Shape { branches: Branches::OnData, ..Shape::new("retire threads", kernel.threads) };
    branches: Branches::OnData;
    blocks: {
        output states[NODE_BYTES; kernel.threads];
        input fetched[NODE_BYTES; kernel.threads];
        output list[PAIR_BYTES; kernel.threads.div_ceil(2)];
        input room[Bytes(16); 1];
    }
    run: kernel.instructions(spu);
}

impl Retire {
    #[inline(always)]
    fn instructions<S: Spu>(&self, spu: &mut S) -> u32 {
        let behind = STEP as u32 * (self.threads - 1);
        let mut at = spu.ila(self.states.0 + behind);
        let mut fetched = spu.ila(self.fetched.0 + behind);
        // The last thread that goes on, or one before the first.
        let mut last = spu.ori(at, 0);
        let mut left = spu.ila(self.threads);
        let mut threads = spu.ila(self.threads);
        // From the last to the first, so that who fills a gap has been looked at.
        loop {
            spu.label();
            let (state, node) = (spu.lqd(0, at), spu.lqd(0, fetched));
            let goes = goes_on(spu, state, node);
            let end = spu.ceqi(state, -1);
            let ended = spu.orc(end, goes);
            if spu.brnz(ended) {
                self.end(spu, (state, node), goes);
                let other = spu.lqd(0, last);
                spu.stqd(other, 0, at);
                last = spu.ai(last, -STEP);
                threads = spu.ai(threads, -1);
            }
            at = spu.ai(at, -STEP);
            fetched = spu.ai(fetched, -STEP);
            left = spu.ai(left, -1);
            if !spu.brnz(left) {
                break;
            }
        }
        if !spu.brz(threads) {
            write_list(spu, (self.states, self.list), self.low, threads);
        }
        spu.value(threads).preferred()
    }
}

/// Writes the DMA list by which buffers of records go to main memory, and gives the threads that go
/// on the other set of buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnOver {
    /// Buffers that go to main memory; none at the beginning.
    pub buffers: u32,
    /// Threads that go on.
    pub threads: u32,
    /// Records of a buffer, at most 256.
    pub records: u32,
    /// The states of the threads, read and written.
    pub states: LocalAddress,
    /// The elements of the list, written.
    pub list: LocalAddress,
    /// How many more records find room, written.
    pub room: LocalAddress,
    /// The other set of buffers, one for each thread behind one another.
    pub next: LocalAddress,
    /// The lower half of the effective address where the first buffer goes; the others follow.
    pub low: u32,
}

impl TurnOver {
    /// A buffer.
    const fn bytes(&self) -> u32 {
        NODE_BYTES.0 as u32 * self.records
    }
}

// The loops turn as often as there are buffers and threads, of which there are at most 1,024.
kernel! {
    TurnOver -> (), |kernel, spu|
    shape: Shape::new("turn buffers over", kernel.buffers << 16 | kernel.threads);
    blocks: {
        output states[NODE_BYTES; kernel.threads];
        output list[PAIR_BYTES; kernel.buffers.div_ceil(2)];
        output room[Bytes(16); 1];
    }
    run: kernel.instructions(spu);
}

impl TurnOver {
    #[inline(always)]
    fn instructions<S: Spu>(&self, spu: &mut S) {
        let (bytes, low) = (self.bytes(), self.low);
        let room = spu.ila(self.records);
        spu.stqa(room, self.room);
        if self.buffers > 0 {
            let first = [bytes, low, bytes, low.wrapping_add(bytes)];
            let mut pair = spu.lqr(Quadword::from_words(first));
            let further = spu.lqr(Quadword::from_words([0, 2 * bytes, 0, 2 * bytes]));
            let mut list = spu.ila(self.list.0);
            let mut left = spu.ila(self.buffers.div_ceil(2));
            loop {
                spu.label();
                spu.hbrr();
                spu.stqd(pair, 0, list);
                pair = spu.a(pair, further);
                list = spu.ai(list, 16);
                left = spu.ai(left, -1);
                if !spu.brnz(left) {
                    break;
                }
            }
        }
        if self.threads > 0 {
            let pattern = spu.lqr(words([0, 1, 2, 7]));
            let further = spu.ila(bytes);
            let mut next = spu.ila(self.next.0);
            let mut states = spu.ila(self.states.0);
            let mut left = spu.ila(self.threads);
            loop {
                spu.label();
                spu.hbrr();
                let state = spu.lqd(0, states);
                let moved = spu.shufb(state, next, pattern);
                spu.stqd(moved, 0, states);
                next = spu.a(next, further);
                states = spu.ai(states, STEP);
                left = spu.ai(left, -1);
                if !spu.brnz(left) {
                    break;
                }
            }
        }
    }
}

/// Writes the DMA list that fetches the first nodes of threads; later ones are written by
/// [`Advance`](super::Advance).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ask {
    /// Threads of the list, at least one.
    pub threads: u32,
    /// Their states.
    pub states: LocalAddress,
    /// The elements of the list, written.
    pub list: LocalAddress,
    /// The lower half of the effective address of node 0.
    pub low: u32,
}

kernel! {
    Ask -> (), |kernel, spu|
    shape: Shape::new("ask for first nodes", kernel.threads);
    blocks: {
        input states[NODE_BYTES; kernel.threads];
        output list[PAIR_BYTES; kernel.threads.div_ceil(2)];
    }
    run: {
        let threads = spu.ila(kernel.threads);
        write_list(spu, (kernel.states, kernel.list), kernel.low, threads);
    };
}
