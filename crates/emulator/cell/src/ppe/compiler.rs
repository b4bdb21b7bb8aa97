//! The compilers of the host's code.

use super::scoreboard::Order;

/// Which compiler made the code that the host executes. Each is an [`Order`] of instructions; what
/// it selects and what it leaves out is the same for all.
///
/// Three double-precision codes on one PPE take 41, 36 and 27 s as gcc -O3 compiles them and 19, 18
/// and 13 s as xlc does (PlayStation 3, 2007): a turn of the third, the sum of 4 / (1 + x^2), takes
/// 172 and 83 cycles. Left out of all: that registers are 32.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum HostCompiler {
    /// GCC of 2006. Of a turn with a division of 74 cycles and a chain of multiply-adds of 10 it
    /// leaves 172, nearly their sum: each operation waits for the one before.
    #[default]
    Gcc,
    /// IBM's XL C. Within a turn of that loop, the product, the sum, the division and the last sum
    /// depend on each other, 10 + 10 + 74 + 10 = 104 cycles; 83 need turns that overlap. That it
    /// unrolls loops and pipelines their turns is documented (IBM, Blue Gene/L: Application
    /// Development, 5.8).
    Xlc,
    /// A compiler that schedules each turn of a loop by itself, and has as many registers as it
    /// likes.
    Ideal,
}

impl HostCompiler {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Gcc, Self::Xlc, Self::Ideal];

    /// How it arranges instructions.
    pub const fn order(self) -> Order {
        match self {
            Self::Gcc => Order::Expressions,
            Self::Xlc => Order::Pipelined,
            Self::Ideal => Order::Scheduled,
        }
    }
}
