//! What the compiler does with a kernel, as a model with named options.
//!
//! Kernels are written in an order that reads well. On an in-order machine without branch
//! prediction, order and hints decide how long they take, so that a naive port and a tuned one are
//! the same kernel under two [`Compiler`]s.
//!
//! What a compiler does beyond the limits of a basic block is the kernel's own business: it unrolls
//! its loops, keeps values in registers and in-lines its functions by being written that way.

/// The options of the compiler. Three sets of them have names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Compiler {
    /// The order of the instructions in a basic block.
    pub order: Order,
    /// Whether pairs are sought that issue together.
    pub pairing: Pairing,
    /// Which branches are hinted, and how far ahead.
    pub hints: Hints,
}

/// The order of the instructions in a basic block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Order {
    /// The order in which the kernel writes them.
    Program,
    /// List scheduling: of the instructions that can issue next, the one with the longest chain
    /// of latencies behind it; the branch last.
    ///
    /// Kept are the dependences through registers, the order of two accesses to the same quadword
    /// of local store (a compiler must prove that others differ; here it knows), and the reads of
    /// a register before an instruction such as `dfma` overwrites it. The block is on its own:
    /// what comes before it is taken to be ready, and nothing moves across a branch.
    List,
}

/// Whether the compiler seeks pairs of instructions that issue in one cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pairing {
    /// Pairs are where they happen to be.
    Chance,
    /// An `lnop` fills an odd word where it costs nothing, so that an even-pipe instruction and
    /// the odd-pipe one behind it share a doubleword. With [`Order::List`], where both kinds can
    /// issue next, the even-pipe instruction goes first.
    Sought,
}

/// What becomes of the hints with which a kernel says that a branch will be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hints {
    /// They are left out: every branch that is taken costs the penalty.
    Omitted,
    /// Each stands where the kernel has it; with [`Order::List`] it is an instruction like others.
    AsWritten,
    /// Each is the first instruction of its block that can be, as far as possible from its branch.
    Earliest,
}

impl Compiler {
    /// An optimising compiler that knows the latencies of the SPU, but neither its pairs nor its
    /// hints: scheduled within basic blocks, branches unhinted.
    pub const NAIVE: Self =
        Self { order: Order::List, pairing: Pairing::Chance, hints: Hints::Omitted };

    /// What the kernel writes, as an assembler takes it.
    pub const PROGRAM_ORDER: Self =
        Self { order: Order::Program, pairing: Pairing::Chance, hints: Hints::AsWritten };

    /// An optimising compiler.
    pub const LIST_SCHEDULING: Self =
        Self { order: Order::List, pairing: Pairing::Sought, hints: Hints::Earliest };
}
