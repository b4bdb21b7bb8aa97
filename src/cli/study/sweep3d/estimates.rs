//! The terms that choices are predicted from.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use serde::Serialize;

use super::candidates::Candidates;
use crate::cli::study::TermReport;
use crate::error::Result;
use crate::fit::estimate_wavefront;
use crate::models::parameters::Estimate;
use crate::models::wavefront::{Choice, Problem, WavefrontTerms};
use crate::table::records::{BlockRun, MessageRun};
use crate::units::Bytes;

/// What terms are estimated for: no straight line holds for messages of all sizes, nor a time of an angle for
/// blocks of all numbers of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Asked {
    /// Angles of a block.
    angles: u32,
    /// Sizes of messages along i and j.
    faces: [Bytes; 2],
}

impl Asked {
    /// What a choice asks for.
    pub fn of(candidates: &Candidates, problem: &Problem, choice: &Choice) -> Self {
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
    pub fn terms_of_all(&self, candidates: &Candidates) -> Result<BTreeMap<Asked, WavefrontTerms>> {
        let mut found = BTreeMap::new();
        for (problem, choice) in &candidates.choices {
            let asked = Asked::of(candidates, problem, choice);
            if let Entry::Vacant(place) = found.entry(asked) {
                place.insert(self.terms(asked)?);
            }
        }
        Ok(found)
    }

    fn terms(&self, asked: Asked) -> Result<WavefrontTerms> {
        let is_own = |run: &&BlockRun| run.angles == asked.angles;
        let blocks: Vec<BlockRun> = self.blocks.iter().filter(is_own).cloned().collect();
        let mut sizes: Vec<u32> = self.messages.iter().map(|run| run.bytes).collect();
        sizes.sort_unstable();
        sizes.dedup();
        let place = |bytes: u64| sizes.partition_point(|&size| u64::from(size) < bytes);
        let places = asked.faces.map(|face| place(face.0));
        let is_near = |run: &&MessageRun| {
            let own = place(run.bytes.into());
            places.iter().any(|place| place.abs_diff(own) <= BESIDE)
        };
        let messages: Vec<MessageRun> = self.messages.iter().filter(is_near).cloned().collect();
        let [blocks_file, messages_file] = self.files;
        estimate_wavefront((&blocks, blocks_file), (&messages, messages_file))
    }
}

/// The terms, with their errors, as a file.
#[derive(Serialize)]
pub struct Terms {
    terms: Vec<Term>,
}

#[derive(Serialize)]
struct Term {
    /// Angles of a block that it is for.
    mmi: u32,
    /// Sizes of the messages along i and j that it is for.
    bytes: [u64; 2],
    #[serde(flatten)]
    term: TermReport,
}

impl Terms {
    pub fn of(terms: &BTreeMap<Asked, WavefrontTerms>) -> Self {
        let named = terms.iter().flat_map(|(&asked, terms)| {
            terms.named().into_iter().map(move |(name, estimate)| (asked, name, estimate))
        });
        let term = |(asked, name, estimate): (Asked, String, &Estimate)| Term {
            mmi: asked.angles,
            bytes: asked.faces.map(|face| face.0),
            term: TermReport::new(name, estimate),
        };
        Self { terms: named.map(term).collect() }
    }
}
