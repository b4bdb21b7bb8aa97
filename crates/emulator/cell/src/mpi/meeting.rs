//! The place where ranks wait for each other.

use super::message::Data;

/// Where ranks meet that all wait for each other.
pub struct Meeting {
    /// What each rank contributed to the collective under way.
    pub contributions: Vec<Option<Data>>,
    /// Collectives that are complete.
    pub complete: u64,
    /// Result of the last one, where something is combined.
    pub result: Option<Data>,
}

impl Meeting {
    pub fn new(size: u32) -> Self {
        let contributions = vec![None; size as usize];
        Self { contributions, complete: 0, result: None }
    }
}
