//! What one process keeps in main memory.
//!
//! Patterns lie in groups of four; those that are not computed ([`Columns`]) are left out, and the
//! last group is filled up with patterns of weight 0 and code 15. Every array begins at a cache line.

use std::rc::Rc;

use super::engine::Columns;
use super::farm::Answer;
use super::plain::Vectors;
use crate::layout::{InMemory, Words};
use crate::likelihood::{End, EndBytes, Vector, pairs};
use crate::phylogeny::Patterns;
use crate::phylogeny::substitution::{Model, SiteRates};
use mmgp_base::units::Bytes;
use mmgp_cell::element::Values;
use mmgp_cell::memory::Memory;
use mmgp_cell::ppe::Work;
use mmgp_cell::{EffectiveAddress, Homes};
use mmgp_kernels::raxml::{MODEL_BYTES, ModelBlock, PATTERNS_PER_GROUP, Rates};
use mmgp_spu::Quadword;

/// Patterns in a group.
const GROUP_PATTERNS: usize = PATTERNS_PER_GROUP as usize;

/// Bytes of a group of scaling counts, of tip codes and of indices of categories: a word a pattern.
pub const WORDS_BYTES: u64 = 16;
/// Bytes of a group of weights and of log likelihoods: a double a pattern.
pub const DOUBLES_BYTES: u64 = 32;
/// The code of a residue of which nothing is known.
const UNDETERMINED: u8 = 15;

/// Bytes of a group of likelihood vectors.
pub const fn vector_bytes(rates: Rates) -> u64 {
    rates.vector_bytes_per_group().0
}

/// Bytes of the arrays of a branch's end for each group.
pub const fn end_bytes(rates: Rates) -> EndBytes {
    EndBytes { codes: WORDS_BYTES, entries: vector_bytes(rates), counts: WORDS_BYTES }
}

work! {
    /// Storing one word or double that was loaded from somewhere else: an element of a repacked array.
    PACK: 3 integers, 2 loads, 1 stores, 1 branches;
    /// Filling in the model: 20 constants and up to 25 rates copied, and the vectors of 16 codes, each
    /// up to four rows of four doubles added.
    MODEL: 80 integers, 200 loads, 144 stores, 128 floats, 64 branches;
}

/// The data of one process.
pub struct ProcessMemory {
    memory: Rc<Memory>,
    homes: Homes,
    patterns: Rc<Patterns>,
    /// The patterns that are computed, which are those in memory.
    pub kept: Vec<usize>,
    /// Groups that they fill.
    pub groups: u32,
    /// The tip codes of each taxon.
    pub tips: Vec<EffectiveAddress>,
    /// A vector for each inner node, none before a model is known.
    pub inner: Vec<Vector>,
    /// Inner nodes whose vectors were forgotten.
    forgotten: Vec<usize>,
    /// What they are long enough for.
    room: Option<Rates>,
    pub weights: EffectiveAddress,
    /// CAT: the category of each pattern.
    pub categories: EffectiveAddress,
    pub model: EffectiveAddress,
    pub arguments: EffectiveAddress,
    /// What each SPE found, a quadword each.
    pub results: EffectiveAddress,
    /// ln likelihoods of the patterns.
    pub terms: EffectiveAddress,
    /// The sums of `makenewz` that do not fit a local store.
    pub sums: EffectiveAddress,
    /// Whether results are computed: where they are known, nothing is put here that only kernels read.
    values: Values,
}

impl ProcessMemory {
    /// Room for `patterns`, which are not yet there.
    pub fn new(
        memory: &Rc<Memory>,
        homes: Homes,
        patterns: &Rc<Patterns>,
        (arguments, spes): (Bytes, u32),
        values: Values,
    ) -> Self {
        let groups = patterns.len().div_ceil(GROUP_PATTERNS) as u64;
        let shared = |bytes: u64| homes.allocate(Bytes(bytes * groups));
        let own = |bytes: u64| homes.allocate_own(Bytes(bytes));
        Self {
            kept: Vec::new(),
            groups: 0,
            tips: patterns.tips.iter().map(|_| shared(WORDS_BYTES)).collect(),
            inner: Vec::new(),
            forgotten: Vec::new(),
            room: None,
            weights: shared(DOUBLES_BYTES),
            categories: shared(WORDS_BYTES),
            model: own(MODEL_BYTES.0),
            arguments: own(arguments.0),
            results: own(16 * u64::from(spes)),
            terms: shared(DOUBLES_BYTES),
            sums: EffectiveAddress::default(),
            values,
            memory: Rc::clone(memory),
            homes,
            patterns: Rc::clone(patterns),
        }
    }

    /// Puts the patterns that are computed into memory; the host's work for that.
    pub fn write_patterns(&mut self, weights: &[u32], columns: Columns) -> Work {
        self.kept = columns.of(weights);
        self.groups = self.kept.len().div_ceil(GROUP_PATTERNS) as u32;
        let work = PACK * (self.kept.len() * (self.tips.len() + 1)) as u64;
        if self.values == Values::Known {
            return work;
        }
        for (&tip, codes) in self.tips.iter().zip(&self.patterns.tips) {
            self.write_words(tip, |pattern| u32::from(codes[pattern]), u32::from(UNDETERMINED));
        }
        let weight = |&pattern: &usize| f64::from(weights[pattern]);
        self.memory.write(self.weights, pairs(self.padded(weight, 0.0)));
        work
    }

    /// Puts a model into memory, with room for its vectors; the host's work for that.
    pub fn write_model(&mut self, model: &Model) -> Work {
        let rates = rates_of(model);
        if self.room.is_none() || (self.room == Some(Rates::Cat) && rates == Rates::Gamma) {
            let groups = self.patterns.len().div_ceil(GROUP_PATTERNS) as u64;
            let allocate = |bytes: u64| self.homes.allocate(Bytes(bytes * groups));
            let vector = |_| Vector {
                entries: allocate(vector_bytes(rates)),
                counts: allocate(WORDS_BYTES),
            };
            self.inner = (0..self.tips.len() - 2).map(vector).collect();
            self.sums = allocate(vector_bytes(rates));
            self.room = Some(rates);
        }
        let is_read = self.values == Values::Computed;
        if is_read {
            self.memory.write(self.model, model_block(model));
        }
        let SiteRates::Categories { of_pattern, .. } = &model.rates else { return MODEL };
        if is_read {
            self.write_words(self.categories, |pattern| of_pattern[pattern], 0);
        }
        MODEL + PACK * self.kept.len() as u64
    }

    /// The room for a vector of the inner node with that number; what it had is lost.
    pub fn place_of(&mut self, inner: usize) -> Vector {
        if let Some(other) = self.forgotten.pop() {
            self.inner.swap(inner, other);
        }
        self.inner[inner]
    }

    /// The vector of the inner node with that number is not needed any more.
    pub fn forget(&mut self, inner: usize) {
        self.forgotten.push(inner);
    }

    /// Writes the arguments of an off-load, as the host stores them.
    pub fn write_arguments(&self, quadwords: impl IntoIterator<Item = Quadword>) {
        self.memory.write(self.arguments, quadwords);
    }

    /// The first double of what the SPE with that number among those of a task has found.
    pub fn result(&self, share: usize) -> f64 {
        self.memory.read(self.results.offset(16 * share as u64)).doubles()[0]
    }

    /// The branch that the first SPE has found.
    pub fn branch(&self) -> Answer {
        let Quadword([z, steps]) = self.memory.read(self.results);
        Answer::Branch { z: f64::from_bits(z), steps: steps as u32 }
    }

    /// Puts what was found where the first SPE puts it.
    pub fn write_result(&self, result: Quadword) {
        self.memory.write(self.results, [result]);
    }

    /// Puts the ln likelihoods of all patterns where an evaluation leaves them.
    pub fn write_terms(&self, terms: &[f64]) {
        self.memory.write(self.terms, pairs(self.padded(|&pattern| terms[pattern], 0.0)));
    }

    /// The entries and the scaling counts of a vector, by pattern that is computed.
    pub fn read_vector(&self, at: Vector, vectors: &mut Vectors) {
        let quadword = |from: EffectiveAddress, number: usize| {
            self.memory.read(from.offset(16 * number as u64))
        };
        for (number, entry) in vectors.entries.iter_mut().enumerate() {
            let [low, high] = [0, 1].map(|half| quadword(at.entries, 2 * number + half).doubles());
            *entry = [low[0], low[1], high[0], high[1]];
        }
        for (number, count) in vectors.counts.iter_mut().enumerate() {
            let words = quadword(at.counts, number / GROUP_PATTERNS).words();
            *count = words[number % GROUP_PATTERNS].cast_signed();
        }
    }

    /// Puts a vector into memory; the last pattern fills up its group.
    pub fn write_vector(&self, at: Vector, vectors: &Vectors) {
        let patterns = self.groups as usize * GROUP_PATTERNS;
        let each = vectors.entries.len() / vectors.counts.len().max(1);
        let last = vectors.counts.len().saturating_sub(1);
        let places = || (0..patterns).map(|place| place.min(last));
        let entries = places().flat_map(|place| &vectors.entries[place * each..(place + 1) * each]);
        self.memory.write(at.entries, pairs(entries.flatten().copied()));
        let counts: Vec<u32> =
            places().map(|place| vectors.counts[place].cast_unsigned()).collect();
        let quadword = |four: &[u32]| Quadword::from_words([four[0], four[1], four[2], four[3]]);
        self.memory.write(at.counts, counts.chunks_exact(GROUP_PATTERNS).map(quadword));
    }

    /// The ln likelihoods that the last evaluation left, for all patterns; 0 for those that are not
    /// computed.
    pub fn pattern_terms(&self) -> Vec<f64> {
        let mut terms = vec![0.0; self.patterns.len()];
        for (place, &pattern) in self.kept.iter().enumerate() {
            let pair = self.memory.read(self.terms.offset(8 * place as u64)).doubles();
            terms[pattern] = pair[place % 2];
        }
        terms
    }

    fn write_words(&self, at: EffectiveAddress, word: impl Fn(usize) -> u32, padding: u32) {
        let words: Vec<u32> = self.padded(|&pattern| word(pattern), padding).collect();
        let quadword = |four: &[u32]| Quadword::from_words([four[0], four[1], four[2], four[3]]);
        self.memory.write(at, words.chunks_exact(GROUP_PATTERNS).map(quadword));
    }

    /// A value for each pattern in memory, up to a whole number of groups.
    fn padded<T: Copy>(&self, value: impl Fn(&usize) -> T, padding: T) -> impl Iterator<Item = T> {
        let missing = self.groups as usize * GROUP_PATTERNS - self.kept.len();
        self.kept.iter().map(value).chain(std::iter::repeat_n(padding, missing))
    }
}

/// How the rates of a model vary.
pub fn rates_of(model: &Model) -> Rates {
    match model.rates {
        SiteRates::Gamma { .. } => Rates::Gamma,
        SiteRates::Categories { .. } => Rates::Cat,
    }
}

/// The rates of the categories.
pub fn category_rates(model: &Model) -> &[f64] {
    match &model.rates {
        SiteRates::Gamma { rates, .. } => rates,
        SiteRates::Categories { rates, .. } => rates,
    }
}

/// The model as an SPE fetches it.
pub fn model_block(model: &Model) -> impl IntoIterator<Item = Quadword> {
    let eigen = &model.substitution.eigen;
    let (ei, v, eigenvalues) = (eigen.ei, eigen.v, eigen.values);
    ModelBlock { ei, v, eigenvalues, rates: category_rates(model) }.quadwords()
}

/// Their size.
pub const ARGUMENTS_BYTES: Bytes = Bytes(160);
/// The most SPEs that share a task.
pub const MOST_SHARES: usize = 16;

/// Whether log likelihoods of single patterns are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Terms {
    /// The sum alone.
    Summed,
    /// The log likelihoods of all patterns, too.
    Kept,
}

arguments! {
    /// The arguments of an off-load.
    pub struct RaxmlArguments {
        /// `newview`: the branches to both children; else the first is the branch between the ends.
        /// Kernels read them there.
        pub z: [f64; 2],
        /// Groups of patterns.
        pub groups: u32,
        /// How rates vary over them.
        pub rates: Rates,
        /// Categories of rates.
        pub categories: u32,
        /// `makenewz`: the most steps.
        pub steps: u32,
        /// No two off-loads of a run have the same.
        pub sequence: u64,
        /// Changes with the contents of the model.
        pub model_version: u64,
        /// The model.
        pub model: EffectiveAddress,
        /// CAT: the category of each pattern.
        pub pattern_categories: EffectiveAddress,
        /// Weights of the patterns.
        pub weights: EffectiveAddress,
        /// What each SPE found, a quadword each, written.
        pub results: EffectiveAddress,
        /// The SPEs that share the task, in their order.
        pub peers: [u8; MOST_SHARES],
        /// The children of `newview`, the ends of the branch; a tip comes first.
        pub ends: [End; 2],
        /// The vector of `newview`, written.
        pub out: Vector,
        /// `evaluate`: where the log likelihoods of patterns go, if they are wanted.
        pub terms: Option<EffectiveAddress>,
        /// `makenewz`: where sums go that do not fit the local store.
        pub sums: EffectiveAddress,
    }
}

impl InMemory for Rates {
    const BLANK: Self = Self::Gamma;

    fn pass(&mut self, words: &mut Words<'_>) {
        *self = words.either(*self, [Self::Gamma, Self::Cat]);
    }
}

impl RaxmlArguments {
    /// All of them that bears on what a call does, apart from what it computes; `place` is what does
    /// of an address.
    pub fn shape(self, place: &dyn Fn(EffectiveAddress) -> EffectiveAddress) -> Vec<Quadword> {
        let same = Self { sequence: 0, model_version: 0, z: [0.0; 2], ..self };
        same.placed(ARGUMENTS_BYTES, place)
    }
}
