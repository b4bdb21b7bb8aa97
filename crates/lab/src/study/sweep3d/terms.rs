//! The terms that choices are predicted from.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use mmgp_base::Result;
use mmgp_base::table::records::{BlockRun, MessageRun};
use mmgp_base::units::Bytes;
use mmgp_model::fit::estimate_wavefront;
use mmgp_model::models::wavefront::{GridChoice, Problem, WavefrontTerms};
use serde::Serialize;

use super::candidates::Candidates;
use crate::study::choices::Term;

/// The blocks and messages that terms are estimated for: no straight line holds for messages of all sizes, nor a time of an angle for
/// blocks of all numbers of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Scope {
    /// Angles of a block.
    angles: u32,
    /// Sizes of messages along i and j.
    faces: [Bytes; 2],
}

impl Scope {
    /// The scope of a choice.
    pub fn of(candidates: &Candidates, problem: &Problem, choice: &GridChoice) -> Self {
        Self { angles: choice.angles, faces: candidates.faces(problem, choice) }
    }
}

/// What was timed, and the files that say so.
pub struct Timed<'a> {
    pub blocks: Vec<BlockRun>,
    pub messages: Vec<MessageRun>,
    pub files: [&'a str; 2],
}

/// How many sizes next to those of a choice's messages, on each side of them, a line is drawn by as well.
const BESIDE: usize = 1;

impl Timed<'_> {
    /// The terms for all choices.
    ///
    /// # Errors
    /// Where they cannot be told apart.
    pub fn terms_of_all(&self, candidates: &Candidates) -> Result<BTreeMap<Scope, WavefrontTerms>> {
        let mut found = BTreeMap::new();
        for (problem, choice) in &candidates.choices {
            let scope = Scope::of(candidates, problem, choice);
            if let Entry::Vacant(place) = found.entry(scope) {
                place.insert(self.terms(scope)?);
            }
        }
        Ok(found)
    }

    fn terms(&self, scope: Scope) -> Result<WavefrontTerms> {
        let is_own = |run: &&BlockRun| run.angles == scope.angles;
        let blocks: Vec<BlockRun> = self.blocks.iter().filter(is_own).cloned().collect();
        let mut sizes: Vec<u32> = self.messages.iter().map(|run| run.bytes).collect();
        sizes.sort_unstable();
        sizes.dedup();
        let place = |bytes: u64| sizes.partition_point(|&size| u64::from(size) < bytes);
        let places = scope.faces.map(|face| place(face.0));
        let is_near = |run: &&MessageRun| {
            let own = place(run.bytes.into());
            places.iter().any(|place| place.abs_diff(own) <= BESIDE)
        };
        let messages: Vec<MessageRun> = self.messages.iter().filter(is_near).cloned().collect();
        let [blocks_file, messages_file] = self.files;
        estimate_wavefront((&blocks, blocks_file), (&messages, messages_file))
    }
}

/// A term for some blocks and messages, as `terms.json` has it.
#[derive(Serialize)]
pub struct ScopedTerm {
    /// Angles of a block.
    mmi: u32,
    /// Sizes of the messages along i and j.
    bytes: [u64; 2],
    #[serde(flatten)]
    term: Term,
}

impl ScopedTerm {
    /// All terms of all scopes.
    pub fn all(terms: &BTreeMap<Scope, WavefrontTerms>) -> Vec<Self> {
        let of = |(scope, terms): (&Scope, &WavefrontTerms)| -> Vec<Self> {
            let (mmi, bytes) = (scope.angles, scope.faces.map(|face| face.0));
            let named = terms.named().into_iter();
            named.map(|named| Self { mmi, bytes, term: Term::new(named) }).collect()
        };
        terms.iter().flat_map(of).collect()
    }
}
