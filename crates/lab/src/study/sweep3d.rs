//! Sweep3D: how many ranks along i and j, which blocks of planes and angles, which ranks on a node?

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use mmgp_apps::sweep3d::fits_local_store;
use mmgp_base::table::records::{BlockRun, MessageRun};
use mmgp_base::table::{self, csv};
use mmgp_base::units::Bytes;
use mmgp_base::{Error, Mapping, Result};
use mmgp_cluster::Shape;
use mmgp_machine::Machine;
use mmgp_model::belief::Posterior;
use mmgp_model::decide::{Sampling, rank};
use mmgp_model::fit::estimate_wavefront;
use mmgp_model::models::wavefront::{Flat, GridChoice, Problem, WavefrontTerms, choices};
use mmgp_sweep::{Fields, Input};
use serde::Serialize;

use super::choices::{PREDICTIONS, TERMS, Terms, VALIDATION};
use super::{Choice, Choices, SUMMARY, Subject, Workbench};
use crate::measure::messages;
use crate::measure::wavefront::{BlockPlan, Sweep, SweepPlan, block_run};
use crate::space::{Point, doublings};
use crate::study::choices::Term;
use crate::validate::{Outcome, Summary};

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
        let timed = BlockTimes { blocks, messages, files: [BLOCKS, MESSAGES] };
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
pub struct BlockTimes<'a> {
    pub blocks: Vec<BlockRun>,
    pub messages: Vec<MessageRun>,
    pub files: [&'a str; 2],
}

/// How many sizes next to those of a choice's messages, on each side of them, a line is drawn by as well.
const BESIDE: usize = 1;

impl BlockTimes<'_> {
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

/// Planes of a block, as far as there are so many.
const PLANES: [u32; 6] = [2, 5, 10, 20, 40, 80];

/// Angles of a block: those of an octant, or half of them.
const ANGLE_BLOCKS: [u32; 2] = [1, 2];

/// Nodes that are studied of a machine with a network, beside all.
const NODES: [u32; 2] = [1, 60];

/// Choices that are studied of each number of nodes, with their grids as near to squares as they come.
const GRIDS: usize = 3;

/// Cells of each rank where nothing is said of the grid and there is a network: the more ranks the more cells.
const CELLS_OF_RANK: [u32; 3] = [4, 4, 80];

/// The choices of ranks and blocks for a problem on a machine.
pub struct Candidates {
    pub fields: Fields,
    pub choices: Vec<(Problem, GridChoice)>,
    shape: Shape,
}

impl Candidates {
    /// The choices on 1, 2, 4 and so on ranks of a machine without a network; of another one on a node,
    /// on some and on all.
    ///
    /// # Errors
    /// What is wrong with the input, and [`Error::OutOfRange`] where no choice suits the grid.
    pub fn new(machine: &Machine, fields: Fields, grows: bool) -> Result<Self> {
        let fields = Fields {
            convergence: -1.0,
            fix_ups: 0,
            processes: Fields::BENCHMARK.processes,
            ..fields
        };
        Input::new(fields)?;
        let [it, jt, kt] = fields.cells.map(|cells| cells as u32);
        let given = Problem { it, jt, kt, angles: fields.angles as u32 };
        let grows = grows && machine.network.is_some();
        let shape = messages::shape(machine);
        let mut found = Vec::new();
        for (mapping, parts) in mappings(shape) {
            let problem = if grows { of_ranks(mapping, &given) } else { given };
            let all = of_mapping(&problem, mapping, parts).into_iter();
            found.extend(all.map(|choice| (problem, choice)));
        }
        found.retain(|(problem, choice)| {
            let plan = block(shape, problem, choice);
            let [it, jt] = plan.cells;
            fits_local_store([it, jt, plan.planes], plan.angles)
        });
        if found.is_empty() {
            return Err(Error::out_of_range(
                "cells along i",
                format!("{it} x {jt} x {kt}"),
                "a grid that ranks can share, with faces that fit local stores",
            ));
        }
        Ok(Self { fields, choices: found, shape })
    }

    /// Blocks from which the time of any other is estimated: the smallest, the largest and some between.
    pub fn block_plans(&self) -> Vec<BlockPlan> {
        let mut plans: Vec<BlockPlan> = self
            .choices
            .iter()
            .map(|(problem, choice)| block(self.shape, problem, choice))
            .collect();
        plans.sort_by_key(|plan| {
            let [it, jt] = plan.cells;
            (it * jt * plan.planes * plan.angles[0], *plan)
        });
        plans.dedup();
        let mut chosen = Vec::new();
        for angles in self.angle_blocks() {
            let own: Vec<BlockPlan> =
                plans.iter().filter(|plan| plan.angles[0] == angles).copied().collect();
            let step = own.len().div_ceil(MOST_PLANS).max(1);
            chosen.extend(own.iter().copied().step_by(step));
            chosen.extend(own.last());
        }
        chosen.sort_unstable();
        chosen.dedup();
        chosen
    }

    /// Numbers of angles of the blocks of all choices. A lane beside an odd angle is empty, so that no time for an
    /// angle holds for all of them.
    pub fn angle_blocks(&self) -> Vec<u32> {
        let mut angles: Vec<u32> = self.choices.iter().map(|(_, choice)| choice.angles).collect();
        angles.sort_unstable();
        angles.dedup();
        angles
    }

    /// Sizes of the messages of all choices.
    pub fn sizes(&self) -> Vec<Bytes> {
        let mut sizes: Vec<Bytes> =
            self.choices.iter().flat_map(|(problem, choice)| self.faces(problem, choice)).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }

    /// Sizes of the messages of a choice, along i and along j.
    pub fn faces(&self, problem: &Problem, choice: &GridChoice) -> [Bytes; 2] {
        block(self.shape, problem, choice).faces()
    }
}

/// The block of a choice: that of the largest tile.
fn block(shape: Shape, problem: &Problem, choice: &GridChoice) -> BlockPlan {
    let Problem { it, jt, angles, .. } = *problem;
    BlockPlan {
        cells: [it.div_ceil(choice.px), jt.div_ceil(choice.py)],
        planes: choice.planes,
        angles: [choice.angles, angles],
        ranks: (choice.px * choice.py).min(shape.spes_per_node()),
    }
}

/// A problem with as many cells for each rank, whose ranks form a grid as near to a square as it comes.
fn of_ranks((m, p): (u32, u32), given: &Problem) -> Problem {
    let (ranks, [it, jt, kt]) = (m * p, CELLS_OF_RANK);
    let divisors = (1..=ranks).filter(|px| ranks.is_multiple_of(*px));
    let px = divisors.min_by_key(|px| px.abs_diff(ranks / px)).unwrap_or(1);
    Problem { it: it * px, jt: jt * (ranks / px), kt, ..*given }
}

/// The most blocks of as many angles that are timed, but for one.
const MOST_PLANS: usize = 8;

/// Nodes and ranks of each, and into how many blades and Cells a node's ranks are cut.
fn mappings(shape: Shape) -> Vec<((u32, u32), [u32; 2])> {
    let nodes = shape.nodes_per_unit * shape.units;
    let (node, cell) = (shape.spes_per_node(), shape.spes_per_cell);
    if nodes > 1 {
        let parts = [shape.blades_per_node, shape.cells_per_blade];
        let counts = NODES.into_iter().filter(|&count| count < nodes).chain([nodes]);
        return counts.map(|count| ((count, node), parts)).collect();
    }
    let counts = doublings(node).into_iter();
    counts.map(|count| ((1, count), [1, count.div_ceil(cell)])).collect()
}

/// Choices for so many nodes and ranks of each, with grids that are near to squares.
fn of_mapping(problem: &Problem, (m, p): (u32, u32), parts: [u32; 2]) -> Vec<GridChoice> {
    let Ok(mapping) = Mapping::new(m, p) else { return Vec::new() };
    let wanted = |choice: &GridChoice| {
        let blocks = problem.angles / choice.angles;
        PLANES.contains(&choice.planes) && ANGLE_BLOCKS.contains(&blocks)
    };
    let mut all: Vec<GridChoice> =
        choices(problem, mapping, parts).into_iter().filter(wanted).collect();
    let mut grids: Vec<([u32; 2], [u32; 2])> =
        all.iter().map(|choice| ([choice.px, choice.py], choice.tiling.node)).collect();
    grids.sort_by_key(|&([px, py], tile)| {
        (problem.it.div_ceil(px).abs_diff(problem.jt.div_ceil(py)), tile, px)
    });
    grids.dedup();
    if m > 1 {
        grids.truncate(GRIDS);
    }
    all.retain(|choice| grids.contains(&([choice.px, choice.py], choice.tiling.node)));
    all
}
