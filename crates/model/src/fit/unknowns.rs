//! The unknowns of an estimate, and what each of them means for the parameters.

use nalgebra::DMatrix;

use crate::model::Parameters;
use crate::model::parameters::Estimate;
use crate::model::sensitivity::Entry;
use crate::model::terms::Term;

/// One number that is estimated.
#[derive(Debug, Clone)]
pub(crate) struct Unknown {
    pub term: Term,
    pub kind: Kind,
    /// What a file says of it, where one does.
    pub prior: Option<Prior>,
    /// The least value that it may take.
    pub lower: f64,
}

/// What an unknown is in the parameters.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind {
    /// One entry itself.
    Entry(Entry),
    /// What further threads add to the host's time \[s\], `S = a*T_HPU`: with these weights over
    /// the entries of alpha, `alpha_i = 1 + S*weight_i/T_HPU`.
    ///
    /// As a product with T_HPU it enters equation 11 as itself, whatever T_HPU turns out to be.
    Growth(Vec<f64>),
    /// An error that several entries have in common, in units of its standard deviation: each is
    /// its base value plus its own multiple of it.
    Common(Vec<(Entry, f64)>),
}

/// A measured value and its standard error, which is above 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Prior {
    pub value: f64,
    pub std_error: f64,
    pub degrees_of_freedom: Option<f64>,
    /// What an error of 100 % is, in the unit of the unknown.
    pub size: f64,
}

impl Unknown {
    /// Whether it is `entry`, or a part of it.
    pub fn moves(&self, entry: Entry) -> bool {
        match &self.kind {
            Kind::Entry(known) => *known == entry,
            Kind::Growth(_) => false,
            Kind::Common(parts) => parts.iter().any(|(known, _)| *known == entry),
        }
    }

    /// The entry that it is, where it is one.
    pub fn entry(&self) -> Option<Entry> {
        match self.kind {
            Kind::Entry(entry) => Some(entry),
            Kind::Growth(_) | Kind::Common(_) => None,
        }
    }
}

/// All unknowns, and the parameters without them.
#[derive(Debug, Clone)]
pub(crate) struct Unknowns {
    /// What is held, with neither sources nor errors: it is copied at every evaluation.
    base: Parameters,
    pub list: Vec<Unknown>,
}

impl Unknowns {
    pub fn new(base: &Parameters, list: Vec<Unknown>) -> Self {
        let mut base = base.clone();
        for entry in base.terms.entries() {
            if let Some(estimate) = base.terms.estimate_mut(entry) {
                *estimate = Estimate::exact(estimate.value);
            }
        }
        base.phases.clear();
        base.name.clear();
        base.correlation = None;
        Self { base, list }
    }

    /// The parameters with the unknowns at `x`.
    pub fn parameters(&self, x: &[f64]) -> Parameters {
        let mut parameters = self.base.clone();
        let mut alpha_grows = false;
        for (unknown, &value) in self.list.iter().zip(x) {
            match &unknown.kind {
                &Kind::Entry(entry) => {
                    let estimate = parameters.terms.estimate_mut(entry);
                    estimate.expect("invariant: unknowns are entries of the base").value = value;
                }
                Kind::Growth(_) => alpha_grows = true,
                Kind::Common(parts) => {
                    for &(entry, part) in parts {
                        let estimate = parameters.terms.estimate_mut(entry);
                        estimate.expect("invariant: unknowns are entries of the base").value +=
                            value * part;
                    }
                }
            }
        }
        if alpha_grows {
            let t_hpu = parameters.terms.t_hpu_s.value;
            let alpha = parameters.terms.value_mut(Term::Alpha).estimates();
            for (index, estimate) in alpha.iter_mut().enumerate() {
                estimate.value = 1.0 + self.growth(x, index) / t_hpu;
            }
        }
        parameters
    }

    /// What is held of an entry.
    pub fn base_value(&self, entry: Entry) -> f64 {
        self.base.terms.estimate(entry).map_or(0.0, |estimate| estimate.value)
    }

    /// Holds an entry that no unknown moves any more at a value.
    pub fn hold(&mut self, entry: Entry, value: f64) {
        if let Some(estimate) = self.base.terms.estimate_mut(entry) {
            estimate.value = value;
        }
    }

    /// What further threads add to the host's time at one entry of alpha \[s\].
    fn growth(&self, x: &[f64], index: usize) -> f64 {
        let part = |(unknown, value): (&Unknown, &f64)| match &unknown.kind {
            Kind::Growth(weights) => value * weights[index],
            Kind::Entry(_) | Kind::Common(_) => 0.0,
        };
        self.list.iter().zip(x).map(part).sum()
    }

    /// The derivative of a time with respect to each unknown, from those with respect to the
    /// entries of `parameters`, which are those at `x`; added to `row`.
    pub fn pull_back(
        &self,
        parameters: &Parameters,
        x: &[f64],
        gradient: &[(Entry, f64)],
        mut row: impl FnMut(usize, f64),
    ) {
        let t_hpu = parameters.terms.t_hpu_s.value;
        for &(entry, slope) in gradient {
            for (index, unknown) in self.list.iter().enumerate() {
                match (&unknown.kind, entry) {
                    (Kind::Entry(known), _) if *known == entry => {
                        row(index, slope);
                        if entry == Entry::HpuTime {
                            // d alpha_i/d T_HPU = -(alpha_i - 1)/T_HPU where alpha grows.
                            row(index, self.of_growing_alpha(x, gradient, t_hpu));
                        }
                    }
                    (Kind::Growth(weights), Entry::Alpha(of_m)) => {
                        row(index, slope * weights[of_m] / t_hpu);
                    }
                    (Kind::Common(parts), _) => {
                        if let Some((_, part)) = parts.iter().find(|(known, _)| *known == entry) {
                            row(index, slope * part);
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    /// What a longer T_HPU changes by making the same growth a smaller slowdown.
    fn of_growing_alpha(&self, x: &[f64], gradient: &[(Entry, f64)], t_hpu: f64) -> f64 {
        if !self.list.iter().any(|unknown| matches!(unknown.kind, Kind::Growth(_))) {
            return 0.0;
        }
        let of_entry = |&(entry, slope): &(Entry, f64)| match entry {
            Entry::Alpha(index) => -slope * self.growth(x, index) / t_hpu.powi(2),
            _ => 0.0,
        };
        gradient.iter().map(of_entry).sum()
    }

    /// The entries that depend on the unknowns, and the derivative of each (rows) with respect to
    /// each unknown (columns).
    pub fn entries(&self, x: &[f64]) -> (Vec<Entry>, DMatrix<f64>) {
        let parameters = self.parameters(x);
        let grows = |entry: &Entry| {
            matches!(entry, Entry::Alpha(_))
                && self.list.iter().any(|unknown| matches!(unknown.kind, Kind::Growth(_)))
        };
        let is_unknown =
            |entry: &Entry| self.list.iter().any(|unknown| unknown.moves(*entry)) || grows(entry);
        let entries: Vec<Entry> =
            parameters.terms.entries().into_iter().filter(is_unknown).collect();
        let mut derivatives = DMatrix::zeros(entries.len(), self.list.len());
        for (row, &entry) in entries.iter().enumerate() {
            let t_hpu = parameters.terms.t_hpu_s.value;
            for (column, unknown) in self.list.iter().enumerate() {
                derivatives[(row, column)] = match (&unknown.kind, entry) {
                    (Kind::Entry(known), _) if *known == entry => 1.0,
                    (Kind::Entry(Entry::HpuTime), Entry::Alpha(index)) if grows(&entry) => {
                        -self.growth(x, index) / t_hpu.powi(2)
                    }
                    (Kind::Growth(weights), Entry::Alpha(index)) => weights[index] / t_hpu,
                    (Kind::Common(parts), _) => {
                        let part = parts.iter().find(|(known, _)| *known == entry);
                        part.map_or(0.0, |(_, part)| *part)
                    }
                    _ => 0.0,
                };
            }
        }
        (entries, derivatives)
    }
}

#[cfg(test)]
mod tests {
    use super::super::trials::{TERMS, truth};
    use super::*;
    use crate::model::parameters::Decomposition;
    use mmgp_base::Mapping;

    fn unknowns(with_t_hpu: &[Kind]) -> Unknowns {
        let weights = (0..16).map(f64::from).collect();
        let common = vec![(Entry::ApuTime, 90.0), (Entry::ContextSwitch, 1e-4)];
        let kinds = [Kind::Growth(weights), Kind::Entry(Entry::Gap), Kind::Common(common)];
        let unknown =
            |kind: &Kind| Unknown { term: Term::Gap, kind: kind.clone(), prior: None, lower: 0.0 };
        let list = kinds.iter().chain(with_t_hpu).map(unknown).collect();
        Unknowns::new(&truth(Decomposition::Task { tasks: 20 }, 0.08, TERMS), list)
    }

    fn check(with_t_hpu: &[Kind]) {
        let unknowns = unknowns(with_t_hpu);
        let x = [0.7, 3e-4, 0.5, 5.0];
        let x = &x[..unknowns.list.len()];
        for (m, p) in [(1, 1), (3, 2), (8, 1)] {
            let parameters = unknowns.parameters(x);
            let mut row = vec![0.0; x.len()];
            let gradient = parameters.gradient(Mapping::of(m, p));
            unknowns.pull_back(&parameters, x, &gradient, |index, slope| row[index] += slope);
            for index in 0..x.len() {
                let at = |factor: f64| {
                    let mut moved = x.to_vec();
                    moved[index] *= factor;
                    unknowns.parameters(&moved).time(Mapping::of(m, p)).0
                };
                let difference = (at(1.0 + 1e-5) - at(1.0 - 1e-5)) / (2e-5 * x[index]);
                approx::assert_relative_eq!(
                    row[index],
                    difference,
                    max_relative = 1e-7,
                    epsilon = 1e-9
                );
            }
        }
    }

    #[test]
    fn derivatives_are_central_differences_of_the_time() {
        check(&[]);
        check(&[Kind::Entry(Entry::HpuTime)]);
    }

    #[test]
    fn growth_is_the_same_whatever_the_host_time() {
        let unknowns = unknowns(&[Kind::Entry(Entry::HpuTime)]);
        let time =
            |t_hpu: f64| unknowns.parameters(&[0.7, 3e-4, 0.5, t_hpu]).time(Mapping::of(3, 2)).0;
        // A task decomposition: 7 of 20 tasks. The host adds its time and nothing of the growth.
        approx::assert_relative_eq!(time(6.0) - time(5.0), 0.35, max_relative = 1e-12);
    }

    #[test]
    fn entries_move_as_their_derivatives_say() {
        let unknowns = unknowns(&[Kind::Entry(Entry::HpuTime)]);
        let x = [0.7, 3e-4, 0.5, 5.0];
        let (entries, derivatives) = unknowns.entries(&x);
        assert_eq!(entries.len(), 4 + 16);
        for column in 0..4 {
            let at = |by: f64| {
                let mut moved = x;
                moved[column] *= 1.0 + by;
                unknowns.parameters(&moved).terms
            };
            let (above, below) = (at(1e-6), at(-1e-6));
            for (row, &entry) in entries.iter().enumerate() {
                let value =
                    |terms: &crate::model::parameters::Terms| terms.estimate(entry).unwrap().value;
                let difference = (value(&above) - value(&below)) / (2e-6 * x[column]);
                approx::assert_relative_eq!(
                    derivatives[(row, column)],
                    difference,
                    max_relative = 1e-6,
                    epsilon = 1e-8
                );
            }
        }
    }

    #[test]
    fn an_alpha_that_a_file_measured_does_not_move_with_the_host_time() {
        let unknown = |kind| Unknown { term: Term::HpuTime, kind, prior: None, lower: 0.0 };
        let kinds = [Kind::Entry(Entry::HpuTime), Kind::Entry(Entry::Alpha(1))];
        let base = truth(Decomposition::Data, 0.08, TERMS);
        let unknowns = Unknowns::new(&base, kinds.map(unknown).into());
        // Not even where there is no host time that it could be a ratio to.
        let (entries, derivatives) = unknowns.entries(&[0.0, 1.5]);
        assert_eq!(entries, [Entry::HpuTime, Entry::Alpha(1)]);
        assert_eq!(derivatives, DMatrix::identity(2, 2));
    }
}
