//! Messages among programs on SPEs, as data.

use mmgp_base::units::Cycles;

/// What the library on an SPE executes for messages within one address space, beside the commands to its
/// MFC and the loops that wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Messages {
    /// A send, up to its first look for the receiver's descriptor.
    pub send: Cycles,
    /// A receive, up to its descriptor.
    pub receive: Cycles,
    /// From the descriptor that was waited for to the first put.
    pub matched: Cycles,
    /// Preparing a put, without what the MFC's channel takes.
    pub put: Cycles,
    /// From the completion of a receive to its return.
    pub complete: Cycles,
    /// Combining a word with another one in a reduction.
    pub combine: Cycles,
}
