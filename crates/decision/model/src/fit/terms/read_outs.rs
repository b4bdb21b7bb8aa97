//! The entries of the parameters as numbers of what is believed, and those of which files and runs differ.

use super::in_units;
use crate::belief::{Form, Line, Number, Numbers, Regressor, Size, View, Work, grows};
use crate::fit::identifiability::Group;
use crate::fit::inputs::stated;
use crate::fit::shape;
use crate::models::Parameters;
use crate::models::parameters::{Decomposition, Estimate, Interpolation, OverM, Table};
use crate::models::sensitivity::Entry;
use crate::models::terms::Term;
use mmgp_base::Mapping;

/// A number of the parameters, and how it is read.
pub(super) struct ReadOut {
    pub entry: Entry,
    pub of: Of,
    /// Amount by which it is above the exponential of its number; `None` where it is the number itself.
    pub least: Option<f64>,
}

/// What a number is read from.
pub(super) enum Of {
    /// A value of a file, by its name in the model.
    Value(String),
    /// The sum of a group, by its place, in units of this many seconds.
    Group(usize, f64),
    /// The slowdown at an m beyond 1: the sum of a group there, over the host's time.
    Slowdown(usize, u32),
}

/// How the entries of some parameters are read.
pub(super) struct ReadOuts<'a> {
    pub base: &'a Parameters,
    pub groups: &'a [Group],
    /// The m above 1 that ran.
    pub ms: &'a [u32],
    /// The last of them, at least 2.
    pub last_m: u32,
    pub is_host_unknown: bool,
}

impl ReadOuts<'_> {
    /// Gives what carries a sum its place, and what it carries a value that changes nothing.
    pub fn carry(&self, parameters: &mut Parameters, shape: Option<shape::Shape>) {
        for Group { carrier, carried, .. } in self.groups {
            for &term in carried {
                let source = format!("carried by {}", carrier.name());
                parameters.terms.value_mut(term).set(stated(term.neutral(), &source));
            }
            let over_m = match carrier {
                Term::Alpha => self.alpha(shape),
                Term::CollectiveCost => line_to(self.last_m, 0.0),
                _ => continue,
            };
            match carrier {
                Term::Alpha if self.knows_host() => parameters.terms.alpha = over_m,
                Term::Alpha => {}
                _ => parameters.terms.o_col_s = over_m,
            }
        }
    }

    /// Numbers of the parameters that are read.
    pub fn entries(&self, equation_11: &View<'_>, parameters: &Parameters) -> Vec<ReadOut> {
        let terms = &parameters.terms;
        let of_file = |(name, least): (String, Option<f64>)| {
            let entry = terms.entry_named(&name)?;
            Some(ReadOut { entry, of: Of::Value(name), least })
        };
        let mut entries: Vec<ReadOut> =
            equation_11.values_of_files().into_iter().filter_map(of_file).collect();
        for (place, group) in self.groups.iter().enumerate() {
            let unit = self.unit(group.carrier);
            let least = group.carrier.neutral();
            let (entry, of, least) = match group.carrier {
                Term::Alpha if !self.knows_host() => continue,
                Term::Alpha => {
                    entries.extend(slowdowns(&terms.alpha, self.last_m, place));
                    continue;
                }
                Term::CollectiveCost => {
                    let grown = f64::from(self.last_m - 1);
                    let last = terms.o_col_s.estimates().len() - 1;
                    (Term::CollectiveCost.entry(last), Of::Group(place, unit / grown), least)
                }
                carrier => (carrier.entry(0), Of::Group(place, unit), least),
            };
            entries.push(ReadOut { entry, of, least: Some(least) });
        }
        entries
    }

    /// Whether there is a host's time that alpha can be relative to.
    fn knows_host(&self) -> bool {
        self.is_host_unknown || self.base.terms.t_hpu_s.value > 0.0
    }

    /// What one unit of a term adds to the time \[s\].
    fn unit(&self, term: Term) -> f64 {
        let terms = &self.base.terms;
        let collectives = terms.collectives.as_ref().unwrap_or(&terms.offloads).value;
        let unit = match term {
            Term::Gap | Term::OffloadOverhead | Term::ContextSwitch => terms.offloads.value,
            Term::CollectiveCost => collectives,
            Term::Offloads => terms.o_offload_s.value + terms.t_csw_s.value,
            _ => 1.0,
        };
        if unit > 0.0 { unit } else { 1.0 }
    }

    /// A number of one form.
    pub fn number(&self, reading: &ReadOut, form: &dyn Form) -> Number {
        let alone = |plus: Vec<Line>| Number { plus, minus: Vec::new() };
        match &reading.of {
            Of::Value(name) => alone(vec![of_file(form, name)]),
            Of::Group(place, unit) => alone(self.sum(form, *place, unit.ln(), None)),
            Of::Slowdown(place, m) => {
                let host = |group: &Group| group.carrier == Term::HpuTime;
                let minus = match self.groups.iter().position(host) {
                    Some(host) => self.sum(form, host, 0.0, None),
                    None => vec![of_file(form, Term::HpuTime.name())],
                };
                Number { plus: self.sum(form, *place, 0.0, Some(*m)), minus }
            }
        }
    }

    /// The sizes that a group adds up, less the logarithm of a unit; of what grows with m what it is at
    /// that m, where one is given.
    fn sum(&self, form: &dyn Form, place: usize, log_unit: f64, at: Option<u32>) -> Vec<Line> {
        let sizes = form.sizes();
        let line = |size: &Size, ratio: f64| {
            let grown = at.map_or(1.0, |m| {
                Work::of(Decomposition::Data).at(size.regressor, Mapping::of(m, 1))
            });
            let mut weights = vec![0.0; form.count()];
            weights[size.coefficient] = 1.0;
            Line { constant: size.log_most + (ratio * grown).ln() - log_unit, weights }
        };
        let of = |&(regressor, ratio): &(Regressor, f64)| {
            let is_it = move |size: &&Size| match regressor {
                Regressor::FurtherThreads => grows(size.regressor),
                regressor => size.regressor == regressor,
            };
            sizes.iter().filter(is_it).map(move |size| line(size, ratio)).collect::<Vec<_>>()
        };
        self.groups[place].regressors.iter().flat_map(of).collect()
    }

    /// alpha of that shape: known at the last m that ran, or of a curve at all of them.
    fn alpha(&self, shape: Option<shape::Shape>) -> OverM {
        let line = line_to(self.last_m, 1.0);
        match (shape, line) {
            (Some(shape::Shape::Constant), _) => OverM::Constant(Estimate::exact(1.0)),
            (Some(shape::Shape::Logarithmic), OverM::Table(table)) => {
                OverM::Table(Table { interpolation: Interpolation::Logarithm, ..table })
            }
            (Some(shape::Shape::Curve), _) => {
                let ms: Vec<u32> = [1].into_iter().chain(self.ms.iter().copied()).collect();
                let values = vec![Estimate::exact(1.0); ms.len()];
                OverM::Table(Table { interpolation: Interpolation::Line, ..Table::new(ms, values) })
            }
            (_, line) => line,
        }
    }
}

/// Every entry of alpha above m = 1.
fn slowdowns(alpha: &OverM, last_m: u32, place: usize) -> Vec<ReadOut> {
    let reading = |index: usize, m: u32| ReadOut {
        entry: Term::Alpha.entry(index),
        of: Of::Slowdown(place, m),
        least: Some(Term::Alpha.least()),
    };
    match alpha {
        OverM::Constant(_) => vec![reading(0, last_m)],
        OverM::Table(table) => {
            let above = table.m.iter().copied().enumerate().filter(|(_, m)| *m > 1);
            above.map(|(index, m)| reading(index, m)).collect()
        }
    }
}

/// A value of a file in one form; nothing where it is not there.
fn of_file(form: &dyn Form, name: &str) -> Line {
    let value = form.values().into_iter().find(|value| value.name == name);
    let nothing = || Line { constant: 0.0, weights: vec![0.0; form.count()] };
    value.map_or_else(nothing, |it| Line { constant: it.centre, weights: it.weights })
}

/// A line from m = 1.
fn line_to(last_m: u32, at_one: f64) -> OverM {
    let table = Table::new(vec![1, last_m], vec![Estimate::exact(at_one); 2]);
    OverM::Table(Table { interpolation: Interpolation::Line, ..table })
}

/// Value that the runs contradict.
#[derive(Debug, Clone, PartialEq)]
pub struct Contradiction {
    /// The entry, as in `alpha(4)`.
    pub entry: String,
    /// What its file says, and the standard error of that.
    pub measured: (f64, f64),
    /// What everything else says, and the standard error of that.
    pub elsewhere: (f64, f64),
    /// Their distance in standard errors, of logarithms where values are believed in these, with the sign of
    /// `elsewhere - measured`.
    pub deviations: f64,
}

/// Most contradictions that are shown.
const SHOWN: usize = 5;

/// Standard errors that two values are apart by at least to be named.
const APART: f64 = 2.0;

/// A part of a file's precision that tells nothing beside it.
const UNTOLD: f64 = 1e-7;

/// What runs alone say of values that files know: what is believed, divided by what was before.
pub(super) fn contradictions(
    entries: &[ReadOut],
    numbers: &Numbers,
    base: &Parameters,
) -> Vec<Contradiction> {
    let of = |(place, reading): (usize, &ReadOut)| {
        let Of::Value(_) = reading.of else { return None };
        let (centre, variance) = numbers.before[place];
        let [own, all] = [variance.recip(), numbers.covariance[(place, place)].recip()];
        let beyond = all - own;
        if variance <= 0.0 || beyond.is_nan() || beyond < UNTOLD * own {
            return None;
        }
        let mean = (numbers.means[place] * all - centre * own) / beyond;
        let deviation = beyond.recip().sqrt();
        let elsewhere = in_units(reading.least, mean, deviation);
        let said = base.terms.estimate(reading.entry)?;
        let measured = (said.value, said.std_error.unwrap_or(0.0));
        // Apart as they are believed, in logarithms where there is a least: a size that the runs say is next
        // to nothing has an error that is less than nothing.
        let of_file = reading.least.map_or(measured.1, |least| measured.1 / (measured.0 - least));
        let deviations = (mean - centre) / deviation.hypot(of_file);
        let entry = base.terms.name_of(reading.entry);
        Some(Contradiction { entry, measured, elsewhere, deviations })
    };
    let mut all: Vec<_> = entries.iter().enumerate().filter_map(of).collect();
    all.sort_by(|one, other| other.deviations.abs().total_cmp(&one.deviations.abs()));
    // What the runs know next to nothing of may have a mean beyond all numbers.
    let is_number =
        |each: &Contradiction| each.elsewhere.0.is_finite() && each.elsewhere.1.is_finite();
    all.retain(|each| each.deviations.abs() > APART && is_number(each));
    all.truncate(SHOWN);
    all
}

impl std::fmt::Display for Contradiction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { entry, measured, elsewhere, deviations } = self;
        write!(
            f,
            "{entry}: measured {:.4e} +- {:.1e}, by the runs {:.4e} +- {:.1e} ({deviations:+.1} \
             standard errors)",
            measured.0, measured.1, elsewhere.0, elsewhere.1
        )
    }
}
