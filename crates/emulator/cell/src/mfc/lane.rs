//! The lanes of an MFC: queues of commands that can begin.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::queue::Ready;
use crate::hazard::Origin;
use mmgp_sim::{Sim, Watch};

/// A lane of an MFC: the commands that it can begin.
pub(super) struct Lane {
    pub ready: Watch<BinaryHeap<Reverse<Begun>>>,
}

impl Lane {
    pub fn new(sim: &Sim, name: &str) -> Self {
        Self { ready: Watch::new(sim, name, BinaryHeap::new()) }
    }
}

/// A command that can begin, in the order in which a lane takes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Begun {
    pub origin: Origin,
    pub ready: Ready,
}
