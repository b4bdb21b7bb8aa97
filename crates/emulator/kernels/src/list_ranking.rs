//! The kernels of list ranking by sublists: software-managed threads that chase successors through
//! main memory, and the two passes over contiguous memory around them.
//!
//! A *node* is a quadword of words `{successor, value, mark, 0}`. The successor of the last node is
//! [`END`](mmgp_lists::END), whose bits are all set. A mark is 0, or the number of the sublist that begins at the node, counted from 1. A
//! *record* is a node that has been ranked, `{successor, prefix, sublist, node}`, with the prefix
//! within its sublist. A *thread* ranks one sublist; its state is `{next node, prefix, sublist,
//! where its next record goes}`.
//!
//! Threads are grouped on DMA lists, and those of a list go on together: each turn stores a record
//! of every thread of the list and asks for their next nodes ([`Advance`]). Seldom one of them has
//! ended ([`Retire`]), or the buffers for records are full ([`TurnOver`]).

mod threads;

pub use threads::{Advance, Ask, Retire, Turn, TurnOver};

use mmgp_base::units::Bytes;
use mmgp_lists::Operation;
use mmgp_spu::{LocalAddress, Quadword, Shape, Spu};

/// A node, a record, or the state of a thread.
pub const NODE_BYTES: Bytes = Bytes(16);

/// How far it is from one node, record or state to the next.
const STEP: i16 = NODE_BYTES.0 as i16;

/// Two elements of a DMA list.
const PAIR_BYTES: Bytes = Bytes(16);

/// The nodes or records of a turn of the loops that stream: a line of memory.
pub const NODES_PER_GROUP: u32 = 8;

/// Nodes or records of a turn, together.
const GROUP_BYTES: Bytes = Bytes(NODES_PER_GROUP as u64 * NODE_BYTES.0);

/// Takes words of two registers into one: 0 to 3 from the first, 4 to 7 from the second, 8 a zero.
const fn words(pattern: [u32; 4]) -> Quadword {
    let mut control = [0; 4];
    let mut word = 0;
    while word < 4 {
        // 0x80 asks for a zero, four times; others for the bytes of a word.
        control[word] = match pattern[word] {
            ZERO => 0x8080_8080,
            from => {
                let byte = 4 * (from % 4) + 16 * (from / 4);
                byte << 24 | (byte + 1) << 16 | (byte + 2) << 8 | (byte + 3)
            }
        };
        word += 1;
    }
    Quadword::from_words(control)
}

/// A word that is zero.
const ZERO: u32 = 8;

/// The operation on all words of two registers.
#[inline(always)]
fn combine<S: Spu>(
    spu: &mut S,
    operation: Operation,
    before: S::Register,
    own: S::Register,
) -> S::Register {
    match operation {
        Operation::Sum => spu.a(before, own),
        Operation::Xor => spu.xor(before, own),
        Operation::Min => {
            let greater = spu.clgt(before, own);
            spu.selb(before, own, greater)
        }
        Operation::Max => {
            let greater = spu.clgt(before, own);
            spu.selb(own, before, greater)
        }
        Operation::Last => {
            let none = spu.ceqi(own, 0);
            spu.selb(own, before, none)
        }
    }
}

/// The name of a kernel for an operation: kernels with different code have different names.
macro_rules! named_by_operation {
    ($kernel:literal, $operation:expr) => {
        match $operation {
            mmgp_lists::Operation::Sum => concat!($kernel, ", sum"),
            mmgp_lists::Operation::Min => concat!($kernel, ", min"),
            mmgp_lists::Operation::Max => concat!($kernel, ", max"),
            mmgp_lists::Operation::Xor => concat!($kernel, ", xor"),
            mmgp_lists::Operation::Last => concat!($kernel, ", last"),
        }
    };
}

use named_by_operation;

/// Whether a thread goes on with the node that was fetched for it: all bits of all words, or none. It
/// does not where another sublist begins there.
#[inline(always)]
fn goes_on<S: Spu>(spu: &mut S, state: S::Register, fetched: S::Register) -> S::Register {
    let first = spu.ceq(fetched, state);
    let unmarked = spu.ceqi(fetched, 0);
    let goes = spu.or_(first, unmarked);
    let splat = spu.lqr(words([2; 4]));
    spu.shufb(goes, goes, splat)
}

/// What turns the numbers of nodes into elements of a DMA list.
struct Elements<R> {
    /// `{0, first of one, 0, first of the other}`.
    pair: R,
    /// `{bytes, address of node 0, bytes, address of node 0}`.
    origin: R,
}

impl<R: Copy> Elements<R> {
    /// Elements for nodes from the lower half of that effective address on.
    #[inline(always)]
    fn begin<S: Spu<Register = R>>(spu: &mut S, low: u32) -> Self {
        let bytes = NODE_BYTES.0 as u32;
        Self {
            pair: spu.lqr(words([ZERO, 0, ZERO, 4])),
            origin: spu.lqr(Quadword::from_words([bytes, low, bytes, low])),
        }
    }

    /// The elements of two nodes, whose numbers are the first words.
    #[inline(always)]
    fn of<S: Spu<Register = R>>(&self, spu: &mut S, one: R, other: R) -> R {
        let numbers = spu.shufb(one, other, self.pair);
        let offsets = spu.shli(numbers, 4);
        spu.a(offsets, self.origin)
    }
}

/// Writes the elements of a list for so many threads, at least one, whose states lie there.
#[inline(always)]
fn write_list<S: Spu>(
    spu: &mut S,
    (states, list): (LocalAddress, LocalAddress),
    low: u32,
    threads: S::Register,
) {
    let elements = Elements::begin(spu, low);
    let mut states = spu.ila(states.0);
    let mut list = spu.ila(list.0);
    let mut left = threads;
    loop {
        spu.label();
        spu.hbrr();
        let one = spu.lqd(0, states);
        let other = spu.lqd(16, states);
        let pair = elements.of(spu, one, other);
        spu.stqd(pair, 0, list);
        states = spu.ai(states, 2 * STEP);
        list = spu.ai(list, 16);
        left = spu.ai(left, -2);
        let more = spu.cgti(left, 0);
        if !spu.brnz(more) {
            break;
        }
    }
}

// The two passes over contiguous memory: the first finds the head of the list, the last puts what
// comes before a sublist before each of its prefixes.

/// Adds the successors of nodes to a sum. Every node but the head is somebody's successor, so the sum
/// of all numbers less that of all successors is the head's number, modulo 2^32.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SuccessorSum {
    /// Groups of [`NODES_PER_GROUP`] nodes.
    pub groups: u32,
    /// The nodes.
    pub nodes: LocalAddress,
    /// The sum in the first word, read and written.
    pub sum: LocalAddress,
}

kernel! {
    SuccessorSum -> (), |kernel, spu|
    shape: Shape::new("sum successors", kernel.groups);
    blocks: {
        input nodes[GROUP_BYTES; kernel.groups];
        output sum[Bytes(16); 1];
    }
    run: kernel.instructions(spu);
}

impl SuccessorSum {
    #[inline(always)]
    fn instructions<S: Spu>(&self, spu: &mut S) {
        let mut sum = spu.lqa(self.sum);
        let mut at = spu.ila(self.nodes.0);
        let mut left = spu.ila(self.groups);
        loop {
            spu.label();
            spu.hbrr();
            let mut sums = [sum; NODES_PER_GROUP as usize];
            for (node, place) in sums.iter_mut().zip(0..) {
                *node = spu.lqd(place * i32::from(STEP), at);
            }
            // A tree, for an addition waits for its operands.
            for half in [4, 2, 1] {
                for index in 0..half {
                    sums[index] = spu.a(sums[index], sums[index + half]);
                }
            }
            sum = spu.a(sum, sums[0]);
            at = spu.ai(at, STEP * NODES_PER_GROUP as i16);
            left = spu.ai(left, -1);
            if !spu.brnz(left) {
                break;
            }
        }
        spu.stqa(sum, self.sum);
    }
}

/// Puts the prefix before each record's sublist in front of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Add {
    /// The operation on two prefixes.
    pub operation: Operation,
    /// Groups of [`NODES_PER_GROUP`] records.
    pub groups: u32,
    /// The records.
    pub records: LocalAddress,
    /// The same with their prefixes in the whole list, written.
    pub ranked: LocalAddress,
    /// Records `{., prefix before it, ., .}` by the number of a sublist, from 0 for none on.
    pub before: LocalAddress,
    /// How many sublists there are.
    pub sublists: u32,
}

kernel! {
    Add -> (), |kernel, spu|
    shape: Shape::new(named_by_operation!("add prefixes", kernel.operation), kernel.groups);
    blocks: {
        input records[GROUP_BYTES; kernel.groups];
        output ranked[GROUP_BYTES; kernel.groups];
        input before[NODE_BYTES; kernel.sublists + 1];
    }
    run: kernel.instructions(spu);
}

impl Add {
    #[inline(always)]
    fn instructions<S: Spu>(&self, spu: &mut S) {
        let before = spu.ila(self.before.0);
        // The second word alone.
        let prefix_only = spu.fsmbi(0x0F00);
        let mut from = spu.ila(self.records.0);
        let mut to = spu.ila(self.ranked.0);
        let mut left = spu.ila(self.groups);
        loop {
            spu.label();
            spu.hbrr();
            for node in 0..NODES_PER_GROUP as i32 {
                let place = node * i32::from(STEP);
                let record = spu.lqd(place, from);
                let sublist = spu.rotqbyi(record, 8);
                let offset = spu.shli(sublist, 4);
                let head = spu.lqx(offset, before);
                let prefix = combine(spu, self.operation, head, record);
                let ranked = spu.selb(record, prefix, prefix_only);
                spu.stqd(ranked, place, to);
            }
            from = spu.ai(from, STEP * NODES_PER_GROUP as i16);
            to = spu.ai(to, STEP * NODES_PER_GROUP as i16);
            left = spu.ai(left, -1);
            if !spu.brnz(left) {
                break;
            }
        }
    }
}
