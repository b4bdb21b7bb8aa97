//! Sweep3D: how many ranks along i and j, which blocks of planes and angles, which ranks on a node?

mod candidates;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use mmgp_base::table::records::{BlockRun, MessageRun};
use mmgp_base::table::{self, csv};
use mmgp_base::units::Bytes;
use mmgp_base::{Error, Result};
use mmgp_machine::Machine;
use mmgp_model::belief::Posterior;
use mmgp_model::decide::{Sampling, rank};
use mmgp_model::fit::estimate_wavefront;
use mmgp_model::models::wavefront::{Flat, GridChoice, Problem, WavefrontTerms};
use mmgp_sweep::Fields;
use serde::Serialize;

use super::choices::{PREDICTIONS, TERMS, Terms, VALIDATION};
use super::{Choice, Choices, SUMMARY, Subject, Workbench};
use crate::measure::messages;
use crate::measure::wavefront::{Sweep, SweepPlan, block_run};
use crate::space::Point;
use crate::study::choices::Term;
use crate::validate::{Outcome, Summary};
use candidates::Candidates;

/// The file of times of blocks.
const BLOCKS: &str = "blocks.csv";
/// The file of times of messages.
const MESSAGES: &str = "messages.csv";

/// The dimensions: cells of the grid, ranks along i and j, planes and angles of a block, ranks of a node.
const DIMENSIONS: [&str; 9] = ["it", "jt", "kt", "px", "py", "mk", "mmi", "tx", "ty"];

/// A grid on a machine, and how it is divided among ranks and into blocks.
pub struct SweepChoices<'a> {
    machine: &'a Machine,
    candidates: Candidates,
}

impl<'a> SweepChoices<'a> {
    /// The choices for the problem of an input. Where `grows`, a machine with a network has as many
    /// more cells as ranks.
    ///
    /// # Errors
    /// What is wrong with the input, and [`Error::OutOfRange`] where no choice suits the grid.
    pub fn new(machine: &'a Machine, fields: Fields, grows: bool) -> Result<Self> {
        Ok(Self { machine, candidates: Candidates::new(machine, fields, grows)? })
    }

    /// The machine.
    pub fn machine(&self) -> &'a Machine {
        self.machine
    }
}

impl<'a> Subject for SweepChoices<'a> {
    type Predictions = (Choices, Sweep<'a>);
    type Comparison = Choices;

    const FILES: &'static [&'static str] =
        &[BLOCKS, MESSAGES, TERMS, PREDICTIONS, VALIDATION, SUMMARY];
    const RUNS: &'static str = "sweeping all choices";

    fn predict(&self, bench: &Workbench<'_>) -> Result<(Choices, Sweep<'a>)> {
        let (machine, candidates) = (self.machine, &self.candidates);
        let plans = candidates.block_plans();
        let blocks: Vec<BlockRun> =
            bench.each("timing blocks", &plans, &|plan| block_run(machine, plan))?;
        bench.write(BLOCKS, csv::write(&blocks))?;
        let times = messages::times(machine, &candidates.sizes(), bench.threads)?;
        bench.write(MESSAGES, csv::write(&times))?;
        let messages = messages::runs(&times);
        let timed = Timed { blocks, messages, files: [BLOCKS, MESSAGES] };
        let terms = timed.terms_of_all(candidates)?;
        bench.write(TERMS, table::json(&Terms { terms: ScopedTerm::all(&terms) }))?;
        let sampling = Sampling::new(Sampling::USUAL_DRAWS, bench.seed);
        let mut rows = Vec::with_capacity(candidates.choices.len());
        for &(problem, choice) in &candidates.choices {
            let mapping = choice.mapping().ok_or_else(|| {
                let found = format!("{} x {}", choice.px, choice.py);
                Error::out_of_range("ranks of sweep3d", found, "some")
            })?;
            let terms = terms[&Scope::of(candidates, &problem, &choice)].clone();
            let posterior = Posterior::of_model(Flat::new(terms, problem, vec![choice]));
            let ranking = rank(&posterior, &[mapping], sampling)?;
            bench.doubt(ranking.warnings.iter().cloned());
            let [tx, ty] = choice.tiling.node;
            let block = [choice.px, choice.py, choice.planes, choice.angles];
            let point = [&[problem.it, problem.jt, problem.kt], &block[..], &[tx, ty]].concat();
            rows.push(Choice::of(Point(point), &ranking.configurations[0], None));
        }
        rows.sort_by(|one, other| one.time_s().total_cmp(&other.time_s()));
        let choices = Choices {
            dimensions: &DIMENSIONS,
            model: "wavefront",
            beside: None,
            named: 3..7,
            group: Some(|point| point.0[3] * point.0[4]),
            rows,
        };
        bench.write(PREDICTIONS, choices.csv())?;
        Ok((choices, Sweep::new(machine, candidates.fields, bench.threads)?))
    }

    fn points(&self, (choices, _): &(Choices, Sweep<'a>)) -> Vec<Point> {
        choices.points()
    }

    /// Emulates a choice, or simulates it where it has more ranks than a node.
    fn run(&self, (_, sweep): &(Choices, Sweep<'a>), point: &Point) -> Result<Outcome> {
        let [it, jt, kt, px, py, planes, angles, tx, ty] = point.0[..] else {
            unreachable!("invariant: {point} has the dimensions of a sweep")
        };
        let plan = SweepPlan { cells: [it, jt, kt], grid: [px, py], planes, angles };
        Ok(Outcome::lasting(sweep.time(plan, [tx, ty])?))
    }

    fn compare(
        &self,
        (choices, _): &(Choices, Sweep<'a>),
        outcomes: &[Outcome],
        bench: &Workbench<'_>,
    ) -> Result<(Choices, Summary)> {
        choices.compare(outcomes, bench)
    }
}

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
