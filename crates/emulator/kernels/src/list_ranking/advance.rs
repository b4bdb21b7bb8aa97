//! A turn of the threads of a DMA list.

use super::{Elements, NODE_BYTES, PAIR_BYTES, STEP, combine, goes_on, named, words};
use mmgp_base::units::Bytes;
use mmgp_lists::Operation;
use mmgp_spu::{Branches, LocalAddress, Shape, Spu};

/// Stores a record of the node that was fetched for each thread of a list, and writes the list that
/// fetches the next ones.
///
/// Threads are taken two at a time, for a quadword holds two elements of a list. A thread that has
/// come to its end, because another sublist begins at the node or the list ends with it, goes on all
/// the same: what it leaves is for [`Retire`](super::Retire) to mend, which is told by a branch that is seldom
/// taken. So there is no branch for a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Advance {
    /// Of two prefixes.
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
struct Constants<R> {
    /// `{successor, prefix, ., .}` from a node and a sum.
    link: R,
    /// `{0, 1, sublist, node}` from that and a state.
    record: R,
    /// `{0, 1, 2, place}` from a record and a state.
    state: R,
}

impl<R: Copy> Constants<R> {
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
        ..Shape::new(named!("advance threads", kernel.operation), kernel.threads)
    };
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
        let constants = Constants::load(spu);
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
