//! What is to be done when threads have ended.

use super::{NODE_BYTES, PAIR_BYTES, STEP, goes_on, words, write_list};
use mmgp_base::units::Bytes;
use mmgp_spu::{Branches, LocalAddress, Quadword, Shape, Spu};

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
    /// Where the outcome of sublist 0 would lie; those of the threads' lie behind it by their
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
