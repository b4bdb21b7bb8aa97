//! What a user knows of a program from its documentation and its input, before it runs.

use mmgp_cell::Placement;

/// Counts that follow from the input.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Description {
    /// Pieces into which the shared loops can be cut: of all processes together, or of a task where
    /// each process has tasks of its own.
    pub iterations: u32,
    /// What its off-loaded functions move between memory and accelerators; empty where nobody has
    /// counted.
    pub traffic: Vec<Traffic>,
    /// Where the data lie.
    pub placement: Placement,
}

impl Description {
    /// So many pieces of data that lie there; nobody has counted what functions move.
    pub fn new(iterations: u32, placement: Placement) -> Self {
        Self { iterations, traffic: Vec::new(), placement }
    }

    /// The same with what its functions move.
    pub fn moving(self, traffic: Vec<Traffic>) -> Self {
        Self { traffic, ..self }
    }
}

/// What one off-loaded function moves, one call in a sequential run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Traffic {
    /// Its name.
    pub function: &'static str,
    /// Bytes fetched and stored.
    pub bytes: u64,
    /// Those of them that an accelerator moves before its first and after its last computation,
    /// which nothing overlaps.
    pub exposed_bytes: u64,
}
