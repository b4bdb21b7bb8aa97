//! What the time of a kernel depends on.

use super::compiler::Compiler;
use super::path::Branches;

/// All that the time of a kernel depends on, beside the machine and, where it branches on data, the
/// [`Path`](super::Path): two kernels of the same shape take the same time on the same machine.
/// Addresses and data are no part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shape {
    /// The name of the kernel in reports: kernels with different code have different names.
    pub name: &'static str,
    /// How often its loop turns; 0 where that is always the same.
    pub turns: u32,
    /// Which compiler orders it on an emulated machine; a [`Stopwatch`](super::Stopwatch) has one
    /// of its own.
    pub compiler: Compiler,
    /// What its branches depend on.
    pub branches: Branches,
}

impl Shape {
    /// The shape of a kernel that an optimising compiler orders and that branches on its loop
    /// counter alone.
    pub const fn new(name: &'static str, turns: u32) -> Self {
        Self { name, turns, compiler: Compiler::LIST_SCHEDULING, branches: Branches::OnShape }
    }
}
