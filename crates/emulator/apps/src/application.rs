//! What runs on the emulated machine: the seam where a program plugs in.
//!
//! A program implements [`Application`]; whatever measures, validates and prints knows no more of
//! it. `examples/toy_program.rs` of the repository has a whole one.
//!
//! Runs whose times are of the same work have the same [`Fingerprint`].

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};

use crate::run::Run;
use mmgp_base::Mapping;
use mmgp_base::error::Result;
use mmgp_cell::Placement;
use mmgp_runtime::Runtime;
use serde::{Deserialize, Serialize};

/// A program with its input, ready to run on any machine at any mapping.
///
/// What it computes depends on its input alone: machine, mapping and scheduler change its time, and
/// its [`Fingerprint`] shows that they change nothing else.
pub trait Application: Debug + Send + Sync {
    /// The name of the program, in lower case, as in `list-ranking`.
    fn name(&self) -> &'static str;

    /// How its work is divided among host processes.
    fn division(&self) -> Division;

    /// How many steps a run tells the [`Progress`](mmgp_cell::Progress) of its machine.
    fn steps(&self) -> u64;

    /// What a user knows of it before it runs; none where nobody has counted, or where the counts
    /// would not tell.
    fn description(&self) -> Option<Description> {
        None
    }

    /// The off-loaded function after which its collective follows, if it has one.
    fn function_before_collective(&self) -> Option<&'static str> {
        None
    }

    /// The same program with what a run of it computed, at any mapping, known: its runs compute none
    /// of that again and take the same time. Nothing where it has to compute.
    fn knowing(&self, _: &Ran) -> Option<Box<dyn Application>> {
        None
    }

    /// The same program with so many independent tasks, one or more, in place of those that it has.
    /// Nothing where its work is not made of such.
    fn with_tasks(&self, _: u32) -> Option<Box<dyn Application>> {
        None
    }

    /// Runs it on a machine at rest under a scheduler, with m host processes and p APUs for each.
    ///
    /// # Errors
    /// [`Infeasible`](mmgp_base::Error::Infeasible) where the machine has fewer than m * p APUs, and
    /// what the program itself refuses or runs into.
    fn run(&self, on: &Runtime, mapping: Mapping) -> Result<Ran>;
}

/// How the work of a program is divided among its m host processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Division {
    /// One job: its data is cut into m pieces, and every process follows the whole control flow.
    Data,
    /// Independent tasks, dealt to the processes; so many.
    Tasks(u32),
    /// Ranks that each follow their own part of one job, and exchange messages.
    Ranks,
}

/// What came of a run.
#[derive(Debug)]
#[non_exhaustive]
pub struct Ran {
    /// Times and counts.
    pub run: Run,
    /// What must be the same at every mapping.
    pub fingerprint: Fingerprint,
    findings: Box<dyn Any + Send>,
}

impl Ran {
    /// A run with its fingerprint, and what the application found: of a type of its own.
    pub fn new(run: Run, fingerprint: Fingerprint, findings: impl Any + Send) -> Self {
        Self { run, fingerprint, findings: Box::new(findings) }
    }

    /// What the application found, for who knows its type; none where it is another.
    pub fn findings<F: Any>(&self) -> Option<&F> {
        self.findings.downcast_ref()
    }
}

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
    /// The placement of the data.
    pub placement: Placement,
}

impl Description {
    /// A description of so many pieces of data that lie there; nobody has counted what functions move.
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
    /// The name of the function.
    pub function: &'static str,
    /// Bytes fetched and stored.
    pub bytes: u64,
    /// Bytes that an accelerator moves before its first and after its last computation,
    /// which nothing overlaps.
    pub exposed_bytes: u64,
}

/// A program whose first run computes, at whatever mapping, and whose others know what came of it
/// ([`Application::knowing`]): they take the time that they would take, and do not compute again.
/// Runs that begin while the first one is under way wait for it.
#[derive(Debug)]
pub struct Once {
    program: Box<dyn Application>,
    state: Mutex<OnceState>,
}

#[derive(Debug)]
enum OnceState {
    /// No run has ended.
    New,
    /// The program computes at every run, for it cannot know.
    Computes,
    Knows(Arc<dyn Application>),
}

impl Once {
    /// The program, before its first run.
    pub fn new(program: Box<dyn Application>) -> Self {
        Self { program, state: Mutex::new(OnceState::New) }
    }
}

impl Application for Once {
    fn name(&self) -> &'static str {
        self.program.name()
    }

    fn division(&self) -> Division {
        self.program.division()
    }

    fn steps(&self) -> u64 {
        self.program.steps()
    }

    fn description(&self) -> Option<Description> {
        self.program.description()
    }

    fn function_before_collective(&self) -> Option<&'static str> {
        self.program.function_before_collective()
    }

    fn run(&self, on: &Runtime, mapping: Mapping) -> Result<Ran> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let known = match &*state {
            OnceState::Knows(program) => Some(Arc::clone(program)),
            OnceState::Computes => None,
            OnceState::New => {
                let ran = self.program.run(on, mapping)?;
                *state = match self.program.knowing(&ran) {
                    Some(program) => OnceState::Knows(program.into()),
                    None => OnceState::Computes,
                };
                return Ok(ran);
            }
        };
        drop(state);
        known.as_deref().unwrap_or(&*self.program).run(on, mapping)
    }
}

/// Relative difference of sums of the same terms that the order of additions explains: of up to 10^5
/// log likelihoods of patterns, each rounded to 2^-53.
pub const ORDER_OF_ADDITIONS: f64 = 1e-9;

/// Quantities of a run that do not depend on machine, mapping and scheduler, in an order of their
/// own.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Fingerprint {
    quantities: Vec<Quantity>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Quantity {
    name: Cow<'static, str>,
    value: f64,
    /// Relative difference that is no difference.
    tolerance: f64,
}

/// A quantity in which a run differs from another one.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// The name of the quantity.
    pub name: Cow<'static, str>,
    /// What the run has.
    pub found: f64,
    /// What the other one has.
    pub expected: f64,
}

impl Fingerprint {
    /// The same with a count, which must be equal exactly.
    pub fn counting(self, name: &'static str, count: u64) -> Self {
        self.within(0.0, name, count as f64)
    }

    /// The same with a quantity that may differ by so much of the other run's.
    pub fn within(mut self, tolerance: f64, name: &'static str, value: f64) -> Self {
        self.quantities.push(Quantity { name: name.into(), value, tolerance });
        self
    }

    /// The first quantity in which it differs from that of another run, or the number of quantities;
    /// none where both runs did the same work. What is no number differs from everything.
    pub fn differs_from(&self, other: &Self) -> Option<Difference> {
        let mut pairs = self.quantities.iter().zip(&other.quantities);
        let far = |(own, other): (&Quantity, &Quantity)| {
            let near = (own.value - other.value).abs() <= own.tolerance * other.value.abs();
            let same = own.name == other.name && near;
            (!same).then_some(Difference {
                name: own.name.clone(),
                found: own.value,
                expected: other.value,
            })
        };
        let [found, expected] = [self, other].map(|it| it.quantities.len() as f64);
        let of_number = Difference { name: "number of results".into(), found, expected };
        pairs.find_map(far).or((found != expected).then_some(of_number))
    }
}

impl Difference {
    /// Describes it as in `(2, 4) ended with ln likelihood -7.5 where (1, 1) ended with -7`, for runs of these
    /// names.
    pub fn describe(&self, run: impl fmt::Display, other: impl fmt::Display) -> String {
        let Self { name, found, expected } = self;
        format!("{run} ended with {name} {found} where {other} ended with {expected}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(accepted: u64, log_likelihoods: &[f64]) -> Fingerprint {
        let first = Fingerprint::default().counting("accepted", accepted);
        let add = |sum: Fingerprint, &value: &f64| sum.within(1e-9, "ln likelihood", value);
        log_likelihoods.iter().fold(first, add)
    }

    fn check(one: &Fingerprint, other: &Fingerprint, expected: Option<&str>) {
        let found = one.differs_from(other).map(|it| it.describe("(2, 1)", "(1, 1)"));
        assert_eq!(found.as_deref(), expected);
    }

    #[test]
    fn the_order_of_additions_makes_no_difference_and_anything_more_does() {
        check(&of(3, &[-1000.0]), &of(3, &[-1_000.000_000_9]), None);
        let far = "(2, 1) ended with ln likelihood -1000 where (1, 1) ended with -1000.0000011";
        check(&of(3, &[-1000.0]), &of(3, &[-1_000.000_001_1]), Some(far));
        let later = "(2, 1) ended with ln likelihood -6 where (1, 1) ended with -7";
        check(&of(3, &[-5.0, -6.0]), &of(3, &[-5.0, -7.0]), Some(later));
    }

    #[test]
    fn a_count_is_equal_or_it_differs() {
        let far = "(2, 1) ended with accepted 4 where (1, 1) ended with 3";
        check(&of(4, &[-1.0]), &of(3, &[-1.0]), Some(far));
    }

    #[test]
    fn what_is_missing_or_no_number_differs() {
        let less = "(2, 1) ended with number of results 2 where (1, 1) ended with 3";
        check(&of(1, &[-1.0]), &of(1, &[-1.0, -1.0]), Some(less));
        assert!(of(1, &[f64::NAN]).differs_from(&of(1, &[f64::NAN])).is_some());
    }
}
