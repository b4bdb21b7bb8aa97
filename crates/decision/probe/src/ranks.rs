//! Collectives of the user's MPI, timed by the library among ranks of a program that does nothing else.

use std::collections::BTreeMap;
use std::path::Path;

use mmgp_base::error::Result;

use crate::library::Library;

/// A collective that is to be timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Collective {
    /// Its name in C, without `MPI_`: `Barrier`, `Bcast`, `Allreduce`, `Reduce`, `Allgather` or `Alltoall`.
    pub operation: &'static str,
    /// What a rank carries, whole doubles \[B\].
    pub bytes: u64,
    /// The first ranks of `MPI_COMM_WORLD`, so many of them.
    pub ranks: u32,
}

/// Calls of a collective by batches, one after the other.
#[derive(Debug, Clone, PartialEq)]
pub struct Batches {
    /// The name of the operation in C, without `MPI_`.
    pub operation: String,
    /// What a rank carries \[B\].
    pub bytes: u64,
    /// Number of ranks that call it.
    pub ranks: u32,
    /// Calls of each batch.
    pub calls: u64,
    /// The time of each batch on its slowest rank, and the most that others had a rank's processor \[s\].
    pub times: Vec<(f64, f64)>,
}

/// The environment in which [the program](Library::ranks) times these collectives, in this order, and writes what it
/// saw into a folder for [`read`](crate::read).
///
/// # Errors
/// [`Error::Program`](mmgp_base::error::Error::Program) where the folder of this process is not known.
pub fn environment(
    library: &Library,
    folder: &Path,
    collectives: &[Collective],
) -> Result<BTreeMap<String, String>> {
    let word = |it: &Collective| format!("{} {} {}", it.operation, it.bytes, it.ranks);
    let list = collectives.iter().map(word).collect::<Vec<_>>().join(" ");
    let mut all = crate::run::environment(library, folder)?;
    all.insert("MMGP_PROBE_COLLECTIVES".into(), list);
    Ok(all)
}
