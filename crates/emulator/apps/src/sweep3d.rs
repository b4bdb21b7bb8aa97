//! Sweep3D: neutrons on a grid by discrete ordinates, a wavefront that goes over the grid from each of its
//! corners. The problem and its plain solution are in crate `sweep`.
//!
//! Two programming models of a machine with accelerators (Pakin, Lang and Kerbyson, IBM Journal of
//! Research and Development 53(5), 2009):
//!
//! * *Reverse acceleration*: the whole program runs on each SPE, and the ranks pass the faces of their blocks
//!   to one another. The host serves.
//! * *Accelerator*: the host runs the program and hands out lines of cells along i with what flows into
//!   them; SPEs do not talk to each other.
//!
//! In both the cells lie in main memory and go through local store line by line, double-buffered, and the
//! lines are swept by the same kernel.
//!
//! # What is left out
//! What a program does before its first iteration (arrays, coefficients) takes no time.

mod accelerator;
mod cells;
mod lines;
mod rank;
mod reverse;

use std::sync::Arc;

use crate::application::Fingerprint;
use crate::application::{Application, Division, Ran};
use crate::run::require;
use lines::RankMap;
use mmgp_base::Mapping;
use mmgp_base::error::{Error, Result};
use mmgp_base::units::{Seconds, SimSpan, SimTime};
use mmgp_runtime::Runtime;
use mmgp_sweep::{Decomposition, I, Input, J, K, Moments, Problem, Stop};

/// The name of the program.
pub const NAME: &str = "sweep3d";

/// Whether a rank's block of so many cells along i, j and k, and so many angles of those of an octant, fits a local
/// store beside the program.
pub fn fits_local_store(block: [u32; 3], angles: [u32; 2]) -> bool {
    RankMap::of_block(block, angles).is_ok()
}

/// Who runs the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Programming {
    /// The host, which off-loads lines.
    Accelerator,
    /// The SPEs, which pass messages.
    Reverse,
}

impl Programming {
    /// The name of the model in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Accelerator => "accelerator",
            Self::Reverse => "reverse",
        }
    }
}

/// The program with its problem.
#[derive(Debug, Clone)]
pub struct Sweep3d {
    input: Input,
    problem: Arc<Problem>,
    programming: Programming,
    /// The SPE of each rank, counted through the whole machine, where that was said.
    places: Option<Arc<[u32]>>,
}

/// What came of a run.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Findings {
    /// Ranks along i and j.
    pub processes: [u32; 2],
    /// The error of each iteration.
    pub errors: Vec<f64>,
    /// Cells and angles with a fix-up in each iteration.
    pub fix_ups: Vec<u64>,
    /// Absorption after the last iteration.
    pub absorption: f64,
    /// The source of all cells.
    pub source: f64,
    /// What left over the low and the high face of each axis in the last iteration.
    pub leakage: [[f64; 2]; 3],
    /// The time of each iteration.
    pub iterations: Vec<Seconds>,
    /// What of that ranks sweep: from the first one's beginning to the last one's end.
    pub sweeps: Vec<Seconds>,
    /// Time in kernels, a mean over the SPEs.
    pub compute: Seconds,
    /// The time of a block without the messages of its faces, a mean over ranks and blocks.
    pub block: Seconds,
    /// Time in messages, a mean over the ranks.
    pub messages: Seconds,
    /// phi_0 to phi_3 of all cells, i fastest and k slowest.
    pub flux: Vec<[f64; 4]>,
}

/// What the host, or the ranks, tell of a run.
#[derive(Debug, Default)]
struct Account {
    errors: Vec<f64>,
    fix_ups: Vec<u64>,
    /// The instants at which iterations ended.
    ends: Vec<SimTime>,
    /// The instants at which the first rank began to sweep and the last one was done, by iteration.
    sweeps: Vec<[SimTime; 2]>,
    /// The sum of phi_0 after the last iteration.
    absorbed: f64,
    /// What left over the low and the high face of each axis in the last iteration; areas are not in it.
    leaked: [[f64; 2]; 3],
    /// Time in messages, of all ranks together.
    in_messages: SimSpan,
    /// Time in blocks without the messages of their faces, of all ranks together.
    in_blocks: SimSpan,
    /// Time in kernels, of all SPEs together.
    in_kernels: SimSpan,
}

impl Account {
    /// Notes the end of an iteration.
    fn note(&mut self, error: f64, fix_ups: u64, now: SimTime) {
        self.errors.push(error);
        self.fix_ups.push(fix_ups);
        self.ends.push(now);
    }

    /// The findings of ranks along i and j on so many SPEs, which left that flux in memory.
    fn findings(
        self,
        problem: &Problem,
        (processes, spes): ([u32; 2], u32),
        started: SimTime,
        flux: Vec<Moments>,
    ) -> Findings {
        let sections = problem.cross_sections;
        let absorbing = sections.total - sections.isotropic;
        let ranks = f64::from(spes);
        let blocks = ranks * (problem.step_count() * self.errors.len()) as f64;
        let starts = std::iter::once(&started).chain(&self.ends);
        let span = |(end, start): (&SimTime, &SimTime)| end.since(*start).seconds();
        Findings {
            processes,
            absorption: self.absorbed * absorbing * problem.cell_volume(),
            source: problem.total_source(),
            leakage: [I, J, K]
                .map(|axis| self.leaked[axis].map(|sum| sum * problem.face_area(axis))),
            iterations: self.ends.iter().zip(starts).map(span).collect(),
            sweeps: self.sweeps.iter().map(|[start, end]| end.since(*start).seconds()).collect(),
            compute: Seconds(self.in_kernels.seconds().0 / ranks),
            block: Seconds(self.in_blocks.seconds().0 / blocks),
            messages: Seconds(self.in_messages.seconds().0 / ranks),
            errors: self.errors,
            fix_ups: self.fix_ups,
            flux,
        }
    }
}

impl Sweep3d {
    /// The problem of an input under that programming model.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] where there are more processes than cells on an axis.
    pub fn new(input: Input, programming: Programming) -> Result<Self> {
        let problem = Problem::new(&input);
        Decomposition::new(&problem, input.processes())?;
        Ok(Self { input, problem: Arc::new(problem), programming, places: None })
    }

    /// The same with its ranks on these SPEs, counted through all blades of the machine; without, rank
    /// after rank on SPE after SPE.
    pub fn placed(self, places: Arc<[u32]>) -> Self {
        Self { places: Some(places), ..self }
    }

    /// What is solved.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// Who runs it.
    pub fn programming(&self) -> Programming {
        self.programming
    }

    /// SPEs where nobody says how many: one for each process of the input, or those of a Cell.
    pub fn usual_spes(&self) -> u32 {
        match self.programming {
            Programming::Accelerator => 8,
            Programming::Reverse => self.input.processes().iter().product::<usize>() as u32,
        }
    }

    /// Iterations, as far as that is known beforehand: otherwise 1.
    pub fn iterations(&self) -> u64 {
        match self.problem.stop {
            Stop::After(iterations) => iterations.into(),
            Stop::Within(_) => 1,
        }
    }

    /// How so many ranks share the grid: as the input says, if that is as many, or else in columns as
    /// near to squares as they come.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] where there are too many for the grid.
    pub fn decomposition(&self, ranks: u32) -> Result<Decomposition> {
        let given = self.input.processes();
        if given.iter().product::<usize>() == ranks as usize {
            return Decomposition::new(&self.problem, given);
        }
        let [it, jt, _] = self.problem.cells();
        let ranks = ranks as usize;
        let divisors = (1..=ranks).filter(|px| ranks.is_multiple_of(*px));
        let fitting = divisors.map(|px| [px, ranks / px]).filter(|[px, py]| *px <= it && *py <= jt);
        // Half of the outline of a column.
        let outline = |&[px, py]: &[usize; 2]| it.div_ceil(px) + jt.div_ceil(py);
        let nearest = fitting.min_by_key(outline).ok_or_else(|| {
            Error::out_of_range(
                "ranks of sweep3d",
                ranks.to_string(),
                format!("a number that can be cut into at most {it} x {jt}"),
            )
        })?;
        Decomposition::new(&self.problem, nearest)
    }
}

impl Application for Sweep3d {
    fn name(&self) -> &'static str {
        NAME
    }

    fn division(&self) -> Division {
        Division::Ranks
    }

    fn steps(&self) -> u64 {
        let blocks = self.problem.step_count() as u64;
        let told_by = match self.programming {
            Programming::Accelerator => 1,
            Programming::Reverse => u64::from(self.usual_spes()),
        };
        self.iterations() * blocks * told_by
    }

    fn run(&self, on: &Runtime, mapping: Mapping) -> Result<Ran> {
        let expected = "1: its ranks are SPEs, or one process hands out lines; --p is how many";
        require(mapping.m() == 1, "processes of sweep3d", mapping.m(), expected)?;
        let (run, findings) = match self.programming {
            Programming::Reverse => reverse::run(self, on, mapping)?,
            Programming::Accelerator => accelerator::run(self, on, mapping)?,
        };
        let fix_ups = findings.fix_ups.iter().sum();
        let fingerprint = Fingerprint::default()
            .counting("iterations", findings.errors.len() as u64)
            .counting("fix-ups", fix_ups);
        Ok(Ran::new(run, fingerprint, findings))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Run;
    use mmgp_base::table::Source;
    use mmgp_cell::mfc::Hazards;
    use mmgp_cell::{Blade, KernelTiming};
    use mmgp_machine::Machine;
    use mmgp_runtime::Edtlp;
    use mmgp_sweep::{Outcome, solve};

    /// A small problem: its cells, mk, mmi, mm, iterations, boundaries and when fix-ups begin.
    #[derive(Debug, Clone, Copy)]
    struct Small {
        cells: [u32; 3],
        block: [u32; 2],
        angles: u32,
        boundaries: [u32; 3],
        fix_ups: i32,
    }

    const SMALL: Small =
        Small { cells: [7, 6, 5], block: [2, 3], angles: 6, boundaries: [0, 0, 0], fix_ups: 0 };

    impl Small {
        fn input(&self, [px, py]: [u32; 2]) -> Input {
            let Self { cells: [it, jt, kt], block: [mk, mmi], angles, boundaries, fix_ups } = self;
            let [ibc, jbc, kbc] = boundaries;
            let text = format!(
                "{px} {py} {mk} {mmi} 1\n{it} {jt} {kt} {angles} 1\n.4 .3 .5 -3\n{ibc} {jbc} {kbc}\n\
             0 0 {fix_ups}\n"
            );
            Input::read(&Source::new("small", &text)).unwrap()
        }

        fn plain(&self) -> Outcome {
            let problem = Problem::new(&self.input([1, 1]));
            solve(&problem, &Decomposition::new(&problem, [1, 1]).unwrap(), &mut |_| ()).unwrap()
        }
    }

    /// What a run on that machine finds, hazards looked for.
    fn run(app: &Sweep3d, machine: &str, ranks: u32) -> (Run, Findings) {
        let blade = Blade::new(&Machine::named(machine).unwrap(), KernelTiming::Cached, 0.0);
        blade.set_hazards(Hazards::Checked);
        let on = Runtime::new(blade, Box::new(Edtlp::default()));
        let ran = app.run(&on, Mapping::of(1, ranks)).unwrap();
        let findings = ran.findings::<Findings>().unwrap().clone();
        (ran.run, findings)
    }

    /// Holds a run to the plain solution: the flux relative to its largest.
    fn check(small: Small, processes: [u32; 2], machine: &str) {
        let plain = small.plain();
        let app = Sweep3d::new(small.input(processes), Programming::Reverse).unwrap();
        let (_, found) = run(&app, machine, processes[0] * processes[1]);
        let largest = plain.flux.as_flattened().iter().fold(0.0_f64, |most, it| most.max(it.abs()));
        let differences = found.flux.as_flattened().iter().zip(plain.flux.as_flattened());
        let worst = differences.fold(0.0_f64, |most, (a, b)| most.max((a - b).abs()));
        assert!(worst < 1e-14 * largest, "{small:?} {processes:?}: {worst} of {largest}");
        assert_eq!(found.fix_ups, plain.fix_ups, "{small:?} {processes:?}");
        let near = |one: f64, other: f64| (one - other).abs() <= 1e-11 * other.abs();
        assert!(found.errors.iter().zip(&plain.errors).all(|(a, b)| near(*a, *b)));
        assert!(near(found.absorption, plain.absorption));
        for (own, other) in found.leakage.as_flattened().iter().zip(plain.leakage.as_flattened()) {
            assert!((own - other).abs() < 1e-12, "{small:?} {processes:?}: {own} for {other}");
        }
    }

    #[test]
    fn every_decomposition_and_block_gives_the_plain_flux() {
        for processes in [[1, 1], [2, 1], [1, 3], [2, 3], [4, 4]] {
            check(SMALL, processes, "qs20");
        }
        for block in [[1, 1], [2, 2], [5, 6], [3, 3]] {
            check(Small { block, ..SMALL }, [2, 2], "qs22");
        }
        check(Small { angles: 3, ..SMALL }, [3, 2], "ps3");
    }

    #[test]
    fn what_reflects_and_what_is_set_to_zero_is_as_in_the_plain_solution() {
        for boundaries in [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]] {
            check(Small { boundaries, ..SMALL }, [2, 3], "qs20");
        }
        let small = Small { fix_ups: 1, ..SMALL };
        assert!(small.plain().fix_ups.iter().sum::<u64>() > 0);
        check(small, [2, 2], "qs20");
    }

    #[test]
    fn ranks_on_several_blades_compute_the_same() {
        let small = Small { cells: [12, 10, 3], block: [3, 6], ..SMALL };
        check(small, [5, 8], "roadrunner");
    }

    #[test]
    fn the_time_is_that_of_exact_timing() {
        let app = Sweep3d::new(SMALL.input([2, 3]), Programming::Reverse).unwrap();
        let [cached, exact] = [KernelTiming::Cached, KernelTiming::Exact].map(|timing| {
            let blade = Blade::new(&Machine::named("qs20").unwrap(), timing, 0.0);
            let on = Runtime::new(blade, Box::new(Edtlp::default()));
            app.run(&on, Mapping::of(1, 6)).unwrap().run.time
        });
        assert_eq!(cached, exact);
    }

    #[test]
    fn ranks_are_dealt_as_squares_where_the_input_says_nothing() {
        let app = Sweep3d::new(SMALL.input([2, 3]), Programming::Reverse).unwrap();
        let of = |ranks| app.decomposition(ranks).map(|it| it.processes());
        assert_eq!(of(6).unwrap(), [2, 3]);
        assert_eq!(of(4).unwrap(), [2, 2]);
        assert_eq!(of(7).unwrap(), [7, 1]);
        let refused = of(11).unwrap_err().to_string();
        assert_eq!(
            refused,
            "ranks of sweep3d: found 11, expected a number that can be cut into at most 7 x 6"
        );
    }
}
