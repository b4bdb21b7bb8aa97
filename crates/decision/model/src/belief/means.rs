//! The means: what files give and what may come to it, or sums of terms that runs determine, each with
//! what is believed of its coefficients and how likely it is beforehand.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::FLAT;
use super::form::{ConstantForm, FileForm, Form, PriorMean, SumForm, TermSizes};
use super::prior::Prior;
use super::work::{AlphaGrowth, GROWTHS, Regressor, Work, growing};
use crate::models::equation_11::HostShared;
use crate::models::observations::Observations;
use crate::models::parameters::Decomposition;
use crate::models::terms::Term;
use crate::models::time_model::{EQUATION_11, TimeModel};
use mmgp_base::Mapping;

/// A sum of terms that runs alone determine.
pub(super) struct OfRuns {
    pub name: &'static str,
    regressors: &'static [Regressor],
    /// How likely it is beforehand.
    weight: f64,
    /// Whether its terms come in rounds of tasks, where work is divided so.
    in_rounds: bool,
}

/// Equation 11 with nothing but runs.
const OF_EQUATION_11: &[Regressor] =
    &[Regressor::One, Regressor::FurtherThreads, Regressor::Shared, Regressor::Apus];

/// Number of m above 1 from which on growths can be told apart.
const FEWEST_TO_GROW: usize = 2;

/// The sums, with weights learnt on 23 tables of programs that others timed.
pub(super) const SUMS: [OfRuns; 6] = [
    OfRuns {
        name: "amdahl",
        regressors: &[Regressor::One, Regressor::Shared],
        weight: 0.040,
        in_rounds: false,
    },
    OfRuns {
        name: "amdahl-2",
        regressors: &[Regressor::One, Regressor::PerThread, Regressor::Shared],
        weight: 0.047,
        in_rounds: false,
    },
    OfRuns {
        name: "usl",
        regressors: &[Regressor::One, Regressor::Shared, Regressor::All],
        weight: 0.048,
        in_rounds: false,
    },
    OfRuns { name: EQUATION_11, regressors: OF_EQUATION_11, weight: 0.062, in_rounds: true },
    OfRuns {
        name: "mmgp+1/m+1/p",
        regressors: &[
            Regressor::One,
            Regressor::Threads,
            Regressor::Shared,
            Regressor::Apus,
            Regressor::PerThread,
            Regressor::PerApu,
        ],
        weight: 0.150,
        in_rounds: true,
    },
    OfRuns {
        name: "all-terms",
        regressors: &[
            Regressor::One,
            Regressor::Threads,
            Regressor::Apus,
            Regressor::PerThread,
            Regressor::PerApu,
            Regressor::Shared,
            Regressor::All,
            Regressor::SecondProcess,
        ],
        weight: 0.599,
        in_rounds: true,
    },
];

/// How likely a constant is beside them.
const WEIGHT_OF_FLAT: f64 = 0.054;

/// Variance of the constant about the mean of the logarithms of the times.
const VARIANCE_OF_FLAT: f64 = 4.0;

/// What means add to values from files: the name, the regressors, and how likely it is beforehand, learnt
/// on three studies and four probed programs.
const BESIDE_FILES: [(&str, &[Regressor], f64); 3] = [
    ("", &[], 0.57),
    ("+1/m+1/p", &[Regressor::PerThread, Regressor::PerApu], 0.22),
    (
        "+all-terms",
        &[
            Regressor::Threads,
            Regressor::PerThread,
            Regressor::PerApu,
            Regressor::All,
            Regressor::SecondProcess,
        ],
        0.21,
    ),
];

/// Files hold for the program to within so much, relative, and how likely that is. Runs that contradict
/// files make the last likely.
const LOOSE: [(f64, f64); 3] = [(0.0, 0.70), (0.05, 0.18), (0.3, 0.12)];

/// How likely it is that processes share the host's own work, where a profile says how much it is and
/// nothing whether each of them repeats it.
const SHARED_HOST: f64 = 0.3;

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

/// Number of timed configurations from which on one piece does.
const ENOUGH_FOR_ONE_PIECE: usize = 9;

/// Number of terms that no file knows above which one piece has to do.
const MOST_IN_PIECES: usize = 3;

/// The forms and the means over them, about some runs.
pub(super) struct Means {
    pub forms: Vec<Box<dyn Form>>,
    pub means: Vec<PriorMean>,
}

impl Prior {
    /// Lists all means about these runs.
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
    fn hosts(&self, model: &Arc<dyn TimeModel>) -> Vec<(Arc<dyn TimeModel>, f64)> {
        let is_told = !self.unknown.contains(&Term::Alpha)
            || self.unknown.contains(&Term::HpuTime)
            || self.work.decomposition != Decomposition::Data;
        let shared = if is_told { None } else { HostShared::of(Arc::clone(model)) };
        let Some(shared) = shared else { return vec![(Arc::clone(model), 1.0)] };
        vec![(Arc::clone(model), 1.0 - SHARED_HOST), (Arc::new(shared), SHARED_HOST)]
    }

    /// What files give of a model, alone and with what may come to it.
    fn add_known(
        &self,
        model: &Arc<dyn TimeModel>,
        weight: f64,
        observations: &Observations,
        all: &mut Means,
    ) {
        let unknown = regressors(&self.unknown, &self.work);
        let candidates = spanning(model.apus());
        // Where files know less than half of the program at any run, its times say how much there is.
        let rest =
            observations.configurations.iter().map(|it| it.time.0 / model.time(it.mapping).0);
        let whole = rest.reduce(f64::min).filter(|&least| least > 2.0).unwrap_or(1.0);
        let most = |regressor: &Regressor| {
            let at = |mapping| self.work.at(*regressor, mapping);
            let of_known = candidates.iter().map(|&it| whole * model.time(it).0 / at(it));
            let most = of_known.fold(most(*regressor, &self.work, observations), f64::min);
            // What is nothing wherever a run or a candidate is is nothing.
            (*regressor, if most.is_finite() { most } else { f64::MIN_POSITIVE })
        };
        let is_in_pieces = observations.configurations.len() < ENOUGH_FOR_ONE_PIECE
            && (1..=MOST_IN_PIECES).contains(&unknown.len());
        // One mean alone, or one that is off by so much as a whole, has nothing added to it; and without
        // runs nothing tells of what may come to it.
        let is_alone =
            self.only.is_some() || self.misfit.is_some() || observations.configurations.is_empty();
        let looses = if self.misfit.is_some() { &LOOSE[..1] } else { &LOOSE };
        let growths = self.growths(observations);
        let added = BESIDE_FILES.iter().filter(|(_, beside, _)| !is_alone || beside.is_empty());
        let families = added.flat_map(|added| growths.iter().map(move |growth| (added, *growth)));
        for (&(name, beside, of_beside), (growth, of_growth)) in families {
            let unknown = growing(&unknown, growth);
            let further: Vec<Regressor> =
                beside.iter().copied().filter(|regressor| !unknown.contains(regressor)).collect();
            let terms = unknown.iter().chain(&further).map(most).collect();
            let terms = TermSizes::new(self.work.clone(), terms);
            let form = FileForm::new(Arc::clone(model), terms, unknown.len());
            let pieces = match is_in_pieces && beside.is_empty() {
                true => combinations(unknown.len()),
                false => vec![(vec![SIZE; unknown.len()], 1.0)],
            };
            for &(loose, of_loose) in looses {
                for (sizes, of_sizes) in &pieces {
                    let further = further.iter().map(|_| &SIZE_BESIDE_FILES);
                    let sizes = sizes.iter().chain(further).map(|(mean, sd)| (*mean, sd * sd));
                    let prior = form.prior(loose).into_iter().chain(sizes).collect();
                    all.means.push(PriorMean {
                        name: format!("{}{name}", model.name()),
                        form: all.forms.len(),
                        prior,
                        loose,
                        log_prior: (weight * of_beside * of_growth * of_loose * of_sizes).ln(),
                    });
                }
            }
            all.forms.push(Box::new(form));
        }
    }

    /// Sums of terms that runs determine, and the constant.
    fn add_sums(&self, observations: &Observations, all: &mut Means) {
        let mut add =
            |name: &str, regressors: &[Regressor], weight: f64, decomposition: Decomposition| {
                if !self.is_wanted(name) {
                    return;
                }
                let work = Work { decomposition, ..self.work.clone() };
                let most =
                    |&regressor: &Regressor| (regressor, most(regressor, &work, observations));
                let sizes = regressors.iter().map(most).collect();
                let sizes = TermSizes::new(work.clone(), sizes);
                all.means.push(PriorMean {
                    name: name.into(),
                    form: all.forms.len(),
                    prior: vec![(SIZE.0, SIZE.1 * SIZE.1); regressors.len()],
                    loose: 0.0,
                    log_prior: weight.ln(),
                });
                all.forms.push(Box::new(SumForm(sizes)));
            };
        for OfRuns { name, regressors, weight, in_rounds } in &SUMS {
            let decomposition =
                if *in_rounds { self.work.decomposition } else { Decomposition::Data };
            if *regressors != OF_EQUATION_11 {
                add(name, regressors, *weight, decomposition);
                continue;
            }
            for (growth, of_growth) in self.growths(observations) {
                add(name, &growing(regressors, growth), weight * of_growth, decomposition);
            }
        }
        if let Some(cores) = self.cores.filter(|&cores| asks_for_more(observations, cores)) {
            for (name, regressors) in kinks(cores) {
                add(name, &regressors, WEIGHT_OF_A_KINK, self.work.decomposition);
            }
        }
        if self.is_wanted(FLAT) {
            let logs = observations.configurations.iter().map(|observed| observed.time.0.ln());
            let mean = logs.sum::<f64>() / observations.configurations.len() as f64;
            all.means.push(PriorMean {
                name: FLAT.into(),
                form: all.forms.len(),
                prior: vec![(mean, VARIANCE_OF_FLAT)],
                loose: 0.0,
                log_prior: WEIGHT_OF_FLAT.ln(),
            });
            all.forms.push(Box::new(ConstantForm));
        }
    }

    /// How alpha may grow where no file knows it, as far as these runs can tell.
    fn growths(&self, observations: &Observations) -> Vec<(AlphaGrowth, f64)> {
        let is_known = self.has_files() && !self.unknown.contains(&Term::Alpha);
        if let Some(growth) = self.growth.filter(|_| !is_known) {
            return vec![(growth, 1.0)];
        }
        let ms = observations.configurations.iter().map(|it| it.mapping.m()).filter(|&m| m > 1);
        let ms: BTreeSet<u32> = ms.collect();
        let count = if is_known || ms.len() < FEWEST_TO_GROW { 1 } else { GROWTHS.len() };
        let all: f64 = GROWTHS[..count].iter().map(|(_, weight)| weight).sum();
        GROWTHS[..count].iter().map(|&(growth, weight)| (growth, weight / all)).collect()
    }
}

/// Whether any run asked for more hardware threads than there are.
fn asks_for_more(observations: &Observations, cores: u32) -> bool {
    observations.configurations.iter().any(|it| it.mapping.apus() > u64::from(cores))
}

/// Sums whose work so many hardware threads share at most.
pub(super) fn kinks(cores: u32) -> [(&'static str, [Regressor; 4]); 2] {
    let shared = Regressor::SharedBy(cores);
    [
        ("threads", [Regressor::One, shared, Regressor::Threads, Regressor::Apus]),
        ("threads-2", [Regressor::One, shared, Regressor::Beyond(cores), Regressor::PerThread]),
    ]
}

/// How likely each of them is where the machine is known and runs asked for more than it has: assumed, as
/// tables do not say how many threads their machines have.
const WEIGHT_OF_A_KINK: f64 = 0.15;

/// The most that a term can be \[s\]: what explains the run that it explains best; infinite without runs.
fn most(regressor: Regressor, work: &Work, observations: &Observations) -> f64 {
    let runs = &observations.configurations;
    let ratios = runs.iter().map(|it| it.time.0 / work.at(regressor, it.mapping));
    let most = ratios.fold(f64::INFINITY, f64::min);
    if most.is_finite() {
        return most;
    }
    runs.iter().map(|it| it.time.0).fold(f64::INFINITY, f64::min)
}

/// Powers of two of m and p on so many APUs.
pub(super) fn spanning(apus: u32) -> Vec<Mapping> {
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

/// What terms that no file knows look like, each regressor once.
pub(super) fn regressors(unknown: &[Term], work: &Work) -> Vec<Regressor> {
    let mut regressors: Vec<Regressor> = Vec::new();
    for regressor in unknown.iter().map(|&term| regressor_of(term, work)) {
        if !regressors.contains(&regressor) {
            regressors.push(regressor);
        }
    }
    // As [`growing`] leaves them.
    regressors.sort_by_key(|regressor| *regressor == Regressor::FurtherThreads);
    regressors
}

/// What a term of equation 11 looks like where runs alone tell of it.
pub(crate) fn regressor_of(term: Term, work: &Work) -> Regressor {
    match term {
        Term::ApuTime => Regressor::Shared,
        Term::Gap => Regressor::Apus,
        Term::HpuTime if work.slowdown.is_some() => Regressor::Slowed,
        Term::Collectives if work.collective.is_some() => Regressor::Collective,
        Term::Alpha | Term::CollectiveCost | Term::Collectives => Regressor::FurtherThreads,
        _ => Regressor::One,
    }
}
