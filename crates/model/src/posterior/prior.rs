//! What a posterior is made from: the means, and how likely each is beforehand.
//!
//! Where files give values, every mean has all that they give, and means differ in what they add to
//! it. Where runs alone speak, the means are sums of terms that they determine. Either has weights
//! that were learnt, by expectation maximisation over programs whose times are known.

use std::rc::Rc;

use super::form::{Flat, Form, Known, Mean, Shape, Sizes, Sum};
use super::scatter::{Grid, Weights};
use super::{FLAT, TEMPER_OF_FILES, TEMPER_OF_RUNS};
use crate::model::host_shared::HostShared;
use crate::model::observations::{Evidence, Observations};
use crate::model::parameters::{Decomposition, NOT_MEASURED, Parameters, Terms};
use crate::model::refined::Refined;
use crate::model::terms::Term;
use crate::model::time_model::TimeModel;
use mmgp_base::Mapping;
use mmgp_base::error::{Error, Result};

/// What a posterior is made from.
#[derive(Clone)]
pub struct Prior {
    decomposition: Decomposition,
    /// Models with values from files, each with how likely it is beside the others.
    known: Vec<(Rc<dyn TimeModel>, f64)>,
    /// The terms that no file knows.
    unknown: Vec<Term>,
    /// The only mean to use, by name; `None` for all of them.
    only: Option<String>,
    /// How far means are off, where that is stated.
    misfit: Option<f64>,
    /// Hardware threads of the machine that runs it, where they are known.
    cores: Option<u32>,
    /// Runs that the parameters were fitted with.
    pub(super) evidence: Option<Observations>,
}

/// A sum of terms that runs alone determine.
struct OfRuns {
    name: &'static str,
    shapes: &'static [Shape],
    /// How likely it is beforehand.
    weight: f64,
    /// Whether its terms come in rounds of tasks, where work is divided so.
    in_rounds: bool,
}

/// Equation 11 with nothing but runs.
const EQUATION_11: &[Shape] = &[Shape::One, Shape::Threads, Shape::Shared, Shape::Apus];

/// The sums, with weights learnt on 23 tables of programs that others timed.
const SUMS: [OfRuns; 6] = [
    OfRuns {
        name: "amdahl",
        shapes: &[Shape::One, Shape::Shared],
        weight: 0.040,
        in_rounds: false,
    },
    OfRuns {
        name: "amdahl-2",
        shapes: &[Shape::One, Shape::PerThread, Shape::Shared],
        weight: 0.047,
        in_rounds: false,
    },
    OfRuns {
        name: "usl",
        shapes: &[Shape::One, Shape::Shared, Shape::All],
        weight: 0.048,
        in_rounds: false,
    },
    OfRuns { name: "mmgp", shapes: EQUATION_11, weight: 0.062, in_rounds: true },
    OfRuns {
        name: "mmgp+1/m+1/p",
        shapes: &[
            Shape::One,
            Shape::Threads,
            Shape::Shared,
            Shape::Apus,
            Shape::PerThread,
            Shape::PerApu,
        ],
        weight: 0.150,
        in_rounds: true,
    },
    OfRuns {
        name: "all-terms",
        shapes: &[
            Shape::One,
            Shape::Threads,
            Shape::Apus,
            Shape::PerThread,
            Shape::PerApu,
            Shape::Shared,
            Shape::All,
            Shape::SecondProcess,
        ],
        weight: 0.599,
        in_rounds: true,
    },
];

/// How likely a constant is beside them.
const WEIGHT_OF_FLAT: f64 = 0.054;

/// Variance of the constant about the mean of the logarithms of the times.
const VARIANCE_OF_FLAT: f64 = 4.0;

/// What means add to values from files: the name, the shapes, and how likely it is beforehand, learnt
/// on three studies and four probed programs.
const BESIDE_FILES: [(&str, &[Shape], f64); 3] = [
    ("", &[], 0.57),
    ("+1/m+1/p", &[Shape::PerThread, Shape::PerApu], 0.22),
    (
        "+all-terms",
        &[Shape::Threads, Shape::PerThread, Shape::PerApu, Shape::All, Shape::SecondProcess],
        0.21,
    ),
];

/// Files hold for the program to within so much, relative, and how likely that is. Runs that contradict
/// files make the last likely.
const LOOSE: [(f64, f64); 3] = [(0.0, 0.70), (0.05, 0.18), (0.3, 0.12)];

/// How likely it is that processes share the host's own work, where a profile says how much it is and
/// nothing whether each of them repeats it.
const SHARED_HOST: f64 = 0.3;

/// How likely equation 11 is beside the refined model, where a file has the terms of both.
const BESIDE_REFINED: f64 = 0.5;

/// Mean and standard deviation of the logarithm of a term's size, the most that it can be taken as 1:
/// anything from a ten-thousandth to all of it. Nothing explodes with few runs.
const SIZE: (f64, f64) = (-3.0, 3.0);

/// The same of what is added to values from files.
const SIZE_BESIDE_FILES: (f64, f64) = (-5.0, 2.0);

/// The first of both in pieces, with how likely each is. A time is nearly a line over the logarithm of a
/// size only as long as that is known to a factor or so: where runs tell little of it, small, middling
/// and large are means of their own.
const PIECES: [((f64, f64), f64); 3] =
    [((-5.5, 1.6), 0.35), ((-2.5, 1.3), 0.35), ((0.2, 1.3), 0.30)];

/// Variance of the logarithm of a size of which nothing is told: that of all pieces together.
pub(super) fn untold_variance() -> f64 {
    let mean: f64 = PIECES.iter().map(|((mean, _), weight)| weight * mean).sum();
    let about =
        |&((centre, sd), weight): &((f64, f64), f64)| weight * (sd * sd + (centre - mean).powi(2));
    PIECES.iter().map(about).sum()
}

/// From so many timed configurations on, one piece does.
const ENOUGH_FOR_ONE_PIECE: usize = 9;

/// With more terms that no file knows than these, one piece has to do.
const MOST_IN_PIECES: usize = 3;

/// The forms and the means over them, about some runs.
pub(super) struct Means {
    pub forms: Vec<Box<dyn Form>>,
    pub means: Vec<Mean>,
}

impl Prior {
    /// Of nothing but runs of a program whose work is divided so.
    pub fn of_runs(decomposition: Decomposition) -> Self {
        Self {
            decomposition,
            known: Vec::new(),
            unknown: Vec::new(),
            only: None,
            misfit: None,
            cores: None,
            evidence: None,
        }
    }

    /// Of a model as it stands.
    pub fn of_model(model: Rc<dyn TimeModel>) -> Self {
        let mut prior = Self::of_runs(Decomposition::Data);
        prior.known.push((model, 1.0));
        prior
    }

    /// Of parameters: what files say of them, and the runs that they were fitted with. Where there are
    /// refined terms, the refined model stands beside equation 11; without runs to choose between
    /// them, in its place.
    pub fn of(parameters: &Parameters) -> Self {
        let mut prior = Self::of_runs(parameters.decomposition);
        let mut base = parameters.clone();
        match &parameters.evidence {
            Some(Evidence { observations, before }) => {
                prior.evidence = Some(observations.clone());
                let Some(before) = before else { return prior };
                base.terms = before.terms.clone();
                base.correlation.clone_from(&before.correlation);
                base.evidence = None;
                prior.unknown.clone_from(&before.unknown);
            }
            None => prior.unknown = not_measured(&base.terms),
        }
        let refined = Refined::of(&base);
        let beside = if refined.is_some() { BESIDE_REFINED } else { 1.0 };
        prior.known.extend(refined.map(|refined| (Rc::new(refined) as Rc<dyn TimeModel>, 1.0)));
        prior.known.push((Rc::new(base), beside));
        prior
    }

    /// With one mean alone, by its name.
    ///
    /// # Errors
    /// [`Error::UnknownName`] where there is none of that name.
    pub fn only(self, name: &str) -> Result<Self> {
        let known = self.names();
        if !known.iter().any(|known| known == name) {
            return Err(Error::UnknownName { kind: "model", name: name.into(), known });
        }
        Ok(Self { only: Some(name.into()), ..self })
    }

    /// The names of all means, whether or not there are runs for them.
    fn names(&self) -> Vec<String> {
        let of_files = self.known.iter().map(|(model, _)| model.name().to_string());
        let mut names: Vec<String> = of_files.collect();
        let kinks = kinks(1).map(|(name, _)| name);
        let kinks = kinks.into_iter().filter(|_| self.cores.is_some());
        for name in SUMS.iter().map(|sum| sum.name).chain(kinks).chain([FLAT]) {
            if !names.iter().any(|known| known == name) {
                names.push(name.into());
            }
        }
        names
    }

    /// With a stated size of the misfit, relative, in the place of what other programs had: 0 where a
    /// mean is exactly right.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for a size below 0 or above 3.
    pub fn with_misfit(self, misfit: f64) -> Result<Self> {
        if (0.0..=3.0).contains(&misfit) {
            return Ok(Self { misfit: Some(misfit), ..self });
        }
        let expected = "a relative error of at least 0 and at most 3, as 0.1".into();
        Err(Error::OutOfRange { name: "misfit", found: misfit.to_string(), expected })
    }

    /// On a machine with so many hardware threads: where runs asked for more, their work is divided by
    /// no more than there are. At least one.
    #[must_use]
    pub fn with_cores(self, cores: u32) -> Self {
        Self { cores: Some(cores.max(1)), ..self }
    }

    /// The same without models by which nothing takes any time, as where files know a cost and nobody how
    /// often the program pays it: beside runs they say nothing.
    pub(super) fn about(&self, observations: &Observations) -> Self {
        let mut prior = self.clone();
        if !observations.configurations.is_empty() {
            prior.known.retain(|(model, _)| {
                spanning(model.apus()).into_iter().any(|mapping| model.time(mapping).0 > 0.0)
            });
        }
        prior
    }

    /// Whether files say anything of the program's time.
    pub(super) fn has_files(&self) -> bool {
        !self.known.is_empty()
    }

    /// The terms that no file knows, where files know others, each with the places of what it may look
    /// like among all that [`Form::untold`] has.
    pub(super) fn untold(&self) -> Vec<(Term, Vec<usize>)> {
        let unknown = if self.has_files() { &self.unknown[..] } else { &[] };
        let shapes = shapes(unknown);
        let places = |&term: &Term| {
            let of = shapes_of(term).iter();
            let places = of.filter_map(|it| shapes.iter().position(|known| known == it));
            (term, places.collect())
        };
        unknown.iter().map(places).collect()
    }

    /// The models of files.
    pub(super) fn models(&self) -> impl Iterator<Item = &Rc<dyn TimeModel>> {
        self.known.iter().map(|(model, _)| model)
    }

    /// By how much evidence is tempered: of runs that means only come near to, it makes too much.
    pub(super) fn temper(&self) -> f64 {
        if self.has_files() { TEMPER_OF_FILES } else { TEMPER_OF_RUNS }
    }

    /// How far the mean is off, about some runs.
    pub(super) fn grid(&self, mean: &str, observations: &Observations) -> Grid {
        let weights = if self.has_files() { &Weights::WITH_FILES } else { &Weights::OF_RUNS };
        match self.misfit {
            _ if mean == FLAT => Grid::over_nothing(weights, observations),
            Some(size) => Grid::stated(size, observations),
            None => Grid::over_a_mean(weights, observations),
        }
    }

    fn is_wanted(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only == name)
    }

    /// All means about these runs.
    pub(super) fn means(&self, observations: &Observations) -> Means {
        let mut all = Means { forms: Vec::new(), means: Vec::new() };
        let has_runs = !observations.configurations.is_empty();
        let wanted = self.known.iter().filter(|(model, _)| self.is_wanted(model.name()));
        // Without runs nothing tells models apart: the first is the most detailed.
        let models: Vec<_> = if has_runs { wanted.collect() } else { wanted.take(1).collect() };
        for (model, weight) in &models {
            for (model, of_host) in self.hosts(model) {
                self.add_known(&model, weight * of_host, observations, &mut all);
            }
        }
        if has_runs && models.is_empty() {
            self.add_sums(observations, &mut all);
        }
        all
    }

    /// A model as it stands, and with the host's time divided where that may be.
    fn hosts(&self, model: &Rc<dyn TimeModel>) -> Vec<(Rc<dyn TimeModel>, f64)> {
        let is_told = !self.unknown.contains(&Term::Alpha)
            || self.unknown.contains(&Term::HpuTime)
            || self.decomposition != Decomposition::Data;
        let shared = if is_told { None } else { HostShared::of(Rc::clone(model)) };
        let Some(shared) = shared else { return vec![(Rc::clone(model), 1.0)] };
        vec![(Rc::clone(model), 1.0 - SHARED_HOST), (Rc::new(shared), SHARED_HOST)]
    }

    /// What files give of a model, alone and with what may come to it.
    fn add_known(
        &self,
        model: &Rc<dyn TimeModel>,
        weight: f64,
        observations: &Observations,
        all: &mut Means,
    ) {
        let unknown = shapes(&self.unknown);
        let candidates = spanning(model.apus());
        let most = |shape: &Shape| {
            let at = |mapping| shape.at(self.decomposition, mapping);
            let of_known = candidates.iter().map(|&it| model.time(it).0 / at(it));
            let most = of_known.fold(self.most(*shape, observations), f64::min);
            // What is nothing wherever a run or a candidate is is nothing.
            (*shape, if most.is_finite() { most } else { f64::MIN_POSITIVE })
        };
        let is_in_pieces = observations.configurations.len() < ENOUGH_FOR_ONE_PIECE
            && (1..=MOST_IN_PIECES).contains(&unknown.len());
        // One mean alone, or one that is off by so much as a whole, has nothing added to it; and without
        // runs nothing tells of what may come to it.
        let is_alone =
            self.only.is_some() || self.misfit.is_some() || observations.configurations.is_empty();
        let looses = if self.misfit.is_some() { &LOOSE[..1] } else { &LOOSE };
        for (name, beside, of_beside) in BESIDE_FILES {
            if is_alone && !beside.is_empty() {
                continue;
            }
            let further: Vec<Shape> =
                beside.iter().copied().filter(|shape| !unknown.contains(shape)).collect();
            let terms = unknown.iter().chain(&further).map(most).collect();
            let terms = Sizes::new(self.decomposition, terms);
            let form = Known::new(Rc::clone(model), terms, unknown.len());
            let pieces = match is_in_pieces && beside.is_empty() {
                true => combinations(unknown.len()),
                false => vec![(vec![SIZE; unknown.len()], 1.0)],
            };
            for &(loose, of_loose) in looses {
                for (sizes, of_sizes) in &pieces {
                    let further = further.iter().map(|_| &SIZE_BESIDE_FILES);
                    let sizes = sizes.iter().chain(further).map(|(mean, sd)| (*mean, sd * sd));
                    let prior = form.prior(loose).into_iter().chain(sizes).collect();
                    all.means.push(Mean {
                        name: format!("{}{name}", model.name()),
                        form: all.forms.len(),
                        prior,
                        log_prior: (weight * of_beside * of_loose * of_sizes).ln(),
                    });
                }
            }
            all.forms.push(Box::new(form));
        }
    }

    /// Sums of terms that runs determine, and the constant.
    fn add_sums(&self, observations: &Observations, all: &mut Means) {
        let mut add = |name: &str, shapes: &[Shape], weight: f64, decomposition: Decomposition| {
            if !self.is_wanted(name) {
                return;
            }
            let most = |&shape: &Shape| (shape, most(shape, decomposition, observations));
            let sizes = Sizes::new(decomposition, shapes.iter().map(most).collect());
            all.means.push(Mean {
                name: name.into(),
                form: all.forms.len(),
                prior: vec![(SIZE.0, SIZE.1 * SIZE.1); shapes.len()],
                log_prior: weight.ln(),
            });
            all.forms.push(Box::new(Sum(sizes)));
        };
        for OfRuns { name, shapes, weight, in_rounds } in &SUMS {
            let decomposition = if *in_rounds { self.decomposition } else { Decomposition::Data };
            add(name, shapes, *weight, decomposition);
        }
        if let Some(cores) = self.cores.filter(|&cores| asks_for_more(observations, cores)) {
            for (name, shapes) in kinks(cores) {
                add(name, &shapes, WEIGHT_OF_A_KINK, self.decomposition);
            }
        }
        if self.is_wanted(FLAT) {
            let logs = observations.configurations.iter().map(|observed| observed.time.0.ln());
            let mean = logs.sum::<f64>() / observations.configurations.len() as f64;
            all.means.push(Mean {
                name: FLAT.into(),
                form: all.forms.len(),
                prior: vec![(mean, VARIANCE_OF_FLAT)],
                log_prior: WEIGHT_OF_FLAT.ln(),
            });
            all.forms.push(Box::new(Flat));
        }
    }

    fn most(&self, shape: Shape, observations: &Observations) -> f64 {
        most(shape, self.decomposition, observations)
    }
}

/// Whether any run asked for more hardware threads than there are.
fn asks_for_more(observations: &Observations, cores: u32) -> bool {
    observations.configurations.iter().any(|it| it.mapping.apus() > u64::from(cores))
}

/// Sums whose work so many hardware threads share at most.
fn kinks(cores: u32) -> [(&'static str, [Shape; 4]); 2] {
    let shared = Shape::SharedBy(cores);
    [
        ("threads", [Shape::One, shared, Shape::Threads, Shape::Apus]),
        ("threads-2", [Shape::One, shared, Shape::Beyond(cores), Shape::PerThread]),
    ]
}

/// How likely each of them is where the machine is known and runs asked for more than it has: assumed, as
/// tables do not say how many threads their machines have.
const WEIGHT_OF_A_KINK: f64 = 0.15;

/// The most that a term can be \[s\]: what explains the run that it explains best; infinite without runs.
fn most(shape: Shape, decomposition: Decomposition, observations: &Observations) -> f64 {
    let runs = &observations.configurations;
    let ratios = runs.iter().map(|it| it.time.0 / shape.at(decomposition, it.mapping));
    let most = ratios.fold(f64::INFINITY, f64::min);
    if most.is_finite() {
        return most;
    }
    runs.iter().map(|it| it.time.0).fold(f64::INFINITY, f64::min)
}

/// Powers of two of m and p on so many APUs.
fn spanning(apus: u32) -> Vec<Mapping> {
    let powers = |most: u32| (0..=most.max(1).ilog2()).map(|power| 1 << power);
    powers(apus).flat_map(|m| powers(apus / m).map(move |p| Mapping::of(m, p))).collect()
}

/// Every combination of the pieces of so many sizes, and how likely it is.
fn combinations(count: usize) -> Vec<(Vec<(f64, f64)>, f64)> {
    let mut all = vec![(Vec::new(), 1.0)];
    for _ in 0..count {
        let further = |(sizes, weight): &(Vec<(f64, f64)>, f64)| {
            let (sizes, weight) = (sizes.clone(), *weight);
            PIECES
                .map(|(piece, of_piece)| ([sizes.clone(), vec![piece]].concat(), weight * of_piece))
        };
        all = all.iter().flat_map(further).collect();
    }
    all
}

/// The terms of files that no file determines.
fn not_measured(terms: &Terms) -> Vec<Term> {
    let is_unknown = |term: &Term| {
        let mut estimates = terms.value(*term).estimates.iter();
        estimates.any(|estimate| estimate.source.as_deref() == Some(NOT_MEASURED))
    };
    Term::all().filter(is_unknown).collect()
}

/// What terms that no file knows may look like, each shape once.
fn shapes(unknown: &[Term]) -> Vec<Shape> {
    let mut shapes: Vec<Shape> = Vec::new();
    for &shape in unknown.iter().flat_map(|&term| shapes_of(term)) {
        if !shapes.contains(&shape) {
            shapes.push(shape);
        }
    }
    shapes
}

fn shapes_of(term: Term) -> &'static [Shape] {
    match term {
        Term::ApuTime => &[Shape::Shared],
        Term::Gap => &[Shape::Apus],
        Term::Alpha | Term::CollectiveCost => &[Shape::FurtherThreads],
        // With alpha, whatever that is.
        Term::HpuTime => &[Shape::One, Shape::FurtherThreads],
        _ => &[Shape::One],
    }
}
