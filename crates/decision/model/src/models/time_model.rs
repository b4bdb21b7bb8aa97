//! The seam for models: what says how long a run takes at every mapping (m, p).
//!
//! Whatever ranks, explains or proposes a measurement ([`decide`](crate::decide)) asks a
//! [`TimeModel`] and knows no other. Equation 11 is one, as [`Parameters`] implements it; so are the
//! refined model ([`Refined`](super::refined::Refined)) and equation 11 on several nodes
//! ([`OnNodes`](super::levels::OnNodes)). A further model writes five methods: `examples/toy_model.rs` of the
//! repository is a whole one.
//!
//! What the others are good for: [`correlation`](TimeModel::correlation) for errors that go
//! together, [`row`](TimeModel::row) for a search that need not look at every mapping,
//! [`parts`](TimeModel::parts) for an explanation, [`warnings`](TimeModel::warnings) for what the
//! reader of a prediction should know.

use std::ops::RangeInclusive;

use super::MODELS;
use super::parameters::{Estimate, Parameters};
use super::run::Row;
use super::sensitivity::StandardError;
use crate::statistics::quantile_97_5;
use mmgp_base::Mapping;
use mmgp_base::error::{Error, Result, Warning};
use mmgp_base::units::Seconds;

/// A model of the time of a run.
pub trait TimeModel: Send + Sync {
    /// What it is called: `mmgp`, `refined`, `Amdahl`.
    fn name(&self) -> &str;

    /// APUs of the machine that it is asked for.
    fn apus(&self) -> u32;

    /// The predicted time of a run. It also answers for mappings that need more than
    /// [`Self::apus`].
    fn time(&self, mapping: Mapping) -> Seconds;

    /// The numbers that times depend on, each with its standard error: what is drawn, and what a
    /// time is said to answer to.
    fn values(&self) -> Vec<Value>;

    /// The derivative of the time with respect to each of [`Self::values`] that it depends on, by
    /// their places there, increasing \[s per unit of the value\].
    fn gradient(&self, mapping: Mapping) -> Vec<(usize, f64)>;

    /// The correlation of the errors of two values, by their places: 1 for the same one.
    fn correlation(&self, one: usize, other: usize) -> f64 {
        f64::from(u8::from(one == other))
    }

    /// The time at m threads as a function of p, where it is `constant + shared/p + growing*p` with
    /// no negative part of p. A model that has it for every m is searched by its structure, however
    /// many mappings there are; of others each mapping is looked at.
    fn row(&self, _m: u32) -> Option<Row> {
        None
    }

    /// What the time is made of; the parts add up to it.
    fn parts(&self, mapping: Mapping) -> Vec<Part> {
        vec![Part { name: "T", time: self.time(mapping) }]
    }

    /// What whoever reads predictions for m in this range should know of them.
    fn warnings(&self, _ms: RangeInclusive<u32>) -> Vec<Warning> {
        let values = self.values();
        let unknown: Vec<&str> = values
            .iter()
            .filter(|value| value.std_error.is_none())
            .map(|value| value.name.as_str())
            .collect();
        let note = format!(
            "intervals and probabilities know nothing of the uncertainty of {}: no standard error \
             is given",
            unknown.join(", ")
        );
        if unknown.is_empty() { Vec::new() } else { vec![Warning::Note(note)] }
    }

    /// The parameters, where every time is equation 11 of them. The times of other models are drawn
    /// to first order in their values, these are drawn exactly; and some questions are asked of
    /// its terms alone.
    fn equation_11(&self) -> Option<&Parameters> {
        None
    }
}

/// A number that the times of a model depend on.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Value {
    /// Name of the value: `g_s`, `alpha(8)`, `alpha beyond m = 4`.
    pub name: String,
    /// The value, in its unit.
    pub value: f64,
    /// Standard error in the same unit, where that is known.
    pub std_error: Option<f64>,
    /// Degrees of freedom of that standard error; `None` where it is taken as known.
    pub degrees_of_freedom: Option<f64>,
    /// The least that it can be; no draw is below.
    pub least: f64,
    /// End of the table beyond which it says how that goes on: it counts in standard errors then.
    pub beyond: Option<TableEnd>,
}

/// The end of a table over m.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableEnd {
    /// The term, by its name in files.
    pub term: &'static str,
    /// The largest m in the table.
    pub last_m: u32,
}

/// A part of a predicted time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Part {
    /// What it is, in the symbols of the model: `N*p*g`.
    pub name: &'static str,
    /// How long it takes.
    pub time: Seconds,
}

impl Value {
    /// A time, a count or a cost: a number that is not negative.
    pub fn new(name: impl Into<String>, estimate: &Estimate) -> Self {
        let &Estimate { value, std_error, degrees_of_freedom, .. } = estimate;
        Self { name: name.into(), value, std_error, degrees_of_freedom, least: 0.0, beyond: None }
    }

    /// How a table goes on beyond its end, which is not known.
    pub(crate) fn beyond(end: TableEnd) -> Self {
        let TableEnd { term, last_m } = end;
        Self {
            name: format!("{term} beyond m = {last_m}"),
            value: 0.0,
            std_error: Some(1.0),
            degrees_of_freedom: None,
            least: f64::NEG_INFINITY,
            beyond: Some(end),
        }
    }
}

/// Name of equation 11.
pub const EQUATION_11: &str = "mmgp";

/// Name of the refined model.
pub const REFINED: &str = "refined";

/// Whether [`named`] takes the name.
pub fn is_named(name: &str) -> bool {
    MODELS.iter().any(|model| model.name == name)
}

/// Models beside equation 11 and the refined one, as the parameters make them.
pub(crate) fn further(parameters: &Parameters) -> Vec<Box<dyn TimeModel>> {
    let further = MODELS.iter().filter(|model| ![EQUATION_11, REFINED].contains(&model.name));
    further.filter_map(|model| (model.of)(parameters)).collect()
}

/// The model of that name that `parameters` make: `mmgp` is equation 11, `refined` equation 11 with the
/// refined terms.
///
/// # Errors
/// [`Error::UnknownName`] with the names that there are; [`Error::OutOfRange`] for a model whose terms the
/// parameters lack.
pub fn named(name: &str, parameters: &Parameters) -> Result<Box<dyn TimeModel>> {
    let Some(model) = MODELS.iter().find(|model| model.name == name) else {
        return Err(Error::unknown_name("model", name, MODELS.iter().map(|model| model.name)));
    };
    (model.of)(parameters).ok_or_else(|| {
        let expected = format!("{EQUATION_11}, as the parameters have no {name} terms");
        Error::out_of_range("model", name, expected)
    })
}

/// Sources of error of a model, and how they go together: the values that have a standard error above 0,
/// correlated as the model says.
#[derive(Debug, Clone)]
pub(crate) struct Sources {
    pub sources: Vec<Value>,
    /// The standard error of each in its unit; those beyond a table count in standard errors.
    pub errors: Vec<f64>,
    /// The standard error of a normal distribution with the same 95 % interval: wider than
    /// `errors` where these were estimated with few degrees of freedom.
    pub spreads: Vec<f64>,
    freedoms: Vec<Option<f64>>,
    /// Row by row.
    correlation: Vec<f64>,
    /// The lower triangle of the correlation matrix, row by row.
    factor: Vec<f64>,
    /// The source of each value of the model.
    of_values: Vec<Option<usize>>,
}

/// The derivatives of a quantity with respect to some sources, by their indices, increasing.
pub(crate) type Slopes = Vec<(usize, f64)>;

impl Sources {
    pub fn of(model: &dyn TimeModel) -> Self {
        let values = model.values();
        let mut of_values = vec![None; values.len()];
        let (mut places, mut sources, mut errors) = (Vec::new(), Vec::new(), Vec::new());
        for (place, value) in values.into_iter().enumerate() {
            if let Some(error) = value.std_error.filter(|error| *error > 0.0) {
                of_values[place] = Some(sources.len());
                places.push(place);
                errors.push(StandardError {
                    value: error,
                    degrees_of_freedom: value.degrees_of_freedom,
                });
                sources.push(value);
            }
        }
        let normal = quantile_97_5(None);
        let spread = |error: &StandardError| match error.degrees_of_freedom {
            None => error.value,
            freedom => error.value * quantile_97_5(freedom) / normal,
        };
        let size = sources.len();
        let of_row = |&one: &usize| places.iter().map(move |&other| (one, other));
        let pairs = places.iter().flat_map(of_row);
        let correlation: Vec<f64> =
            pairs.map(|(one, other)| model.correlation(one, other)).collect();
        Self {
            factor: factor(size, |row, column| correlation[row * size + column]),
            correlation,
            of_values,
            errors: errors.iter().map(|error| error.value).collect(),
            spreads: errors.iter().map(spread).collect(),
            freedoms: errors.iter().map(|error| error.degrees_of_freedom).collect(),
            sources,
        }
    }

    /// The source that a value of the model is, by its place there.
    pub fn source(&self, place: usize) -> Option<usize> {
        self.of_values.get(place).copied().flatten()
    }

    pub fn correlation(&self, one: usize, other: usize) -> f64 {
        self.correlation[one * self.sources.len() + other]
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.sources.len()
    }

    /// The derivatives of the time at a mapping by the model that they are of.
    pub fn slopes(&self, model: &dyn TimeModel, mapping: Mapping) -> Slopes {
        self.of_gradient(model.gradient(mapping))
    }

    /// The derivatives of a quantity with these derivatives by the places of the model's values.
    pub fn of_gradient(&self, gradient: Vec<(usize, f64)>) -> Slopes {
        let of_source = |(place, slope)| Some((self.source(place)?, slope));
        gradient.into_iter().filter(|(_, slope)| *slope != 0.0).filter_map(of_source).collect()
    }

    /// The standard error of a quantity with these derivatives and its degrees of freedom, as
    /// [`Parameters::propagated`] defines them.
    pub fn standard_error(&self, slopes: &[(usize, f64)]) -> StandardError {
        let (mut variance, mut size, mut scarcity) = (0.0, 0.0, 0.0);
        for (&(index, _), share) in slopes.iter().zip(self.shares(slopes)) {
            variance += share;
            size += share.abs();
            scarcity += share.abs() * self.freedoms[index].map_or(0.0, f64::recip);
        }
        let degrees_of_freedom = (scarcity > 0.0).then(|| size / scarcity);
        StandardError { value: f64::max(variance, 0.0).sqrt(), degrees_of_freedom }
    }

    /// What each source brings into the variance of a quantity with these derivatives: its row
    /// of the double sum. They add up to the variance; with correlation one may be negative.
    pub fn shares(&self, slopes: &[(usize, f64)]) -> Vec<f64> {
        let share = |&(one, slope): &(usize, f64)| {
            let with_all: f64 = slopes
                .iter()
                .map(|&(other, of_other)| {
                    of_other * self.errors[other] * self.correlation(one, other)
                })
                .sum();
            slope * self.errors[one] * with_all
        };
        slopes.iter().map(share).collect()
    }

    /// A warning that names the term which widens the interval of a mapping most, where one is
    /// asked beyond its table.
    pub fn extrapolated(&self, model: &dyn TimeModel, mapping: Mapping) -> Option<Warning> {
        let slopes = self.slopes(model, mapping);
        let shares = self.shares(&slopes);
        let whole: f64 = shares.iter().sum();
        let of_ends = slopes.iter().zip(&shares).filter_map(|((index, _), share)| {
            let end = self.sources[*index].beyond?;
            Some((end, share / whole))
        });
        let (end, share) = of_ends.max_by(|one, other| one.1.total_cmp(&other.1))?;
        let (m, p) = (mapping.m(), mapping.p());
        Some(Warning::Extrapolated { m, p, term: end.term, last: end.last_m, share })
    }

    /// A quantity with these derivatives in terms of independent standard normal deviates, by
    /// [`Self::spreads`]: the scalar product of two such vectors is the covariance of the two
    /// quantities.
    pub fn deviates(&self, slopes: &[(usize, f64)]) -> Vec<f64> {
        let size = self.sources.len();
        let mut deviates = vec![0.0; size];
        for &(source, slope) in slopes {
            let scale = slope * self.spreads[source];
            let row = &self.factor[source * size..=source * size + source];
            for (deviate, weight) in deviates.iter_mut().zip(row) {
                *deviate += scale * weight;
            }
        }
        deviates
    }
}

/// What is left of a variance of 1 counts as nothing below this: a matrix from a text, or of terms
/// of which only the sum is known, is singular but for rounding.
const SINGULAR: f64 = 1e-9;

/// The lower triangular L with `L L^T` equal to a correlation matrix that may be singular, row by
/// row (Cholesky). Every row has length 1, so that a matrix that is none keeps its variances.
fn factor(size: usize, correlation: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    let mut factor = vec![0.0; size * size];
    for row in 0..size {
        for column in 0..row {
            let product: f64 =
                (0..column).map(|k| factor[row * size + k] * factor[column * size + k]).sum();
            let pivot = factor[column * size + column];
            factor[row * size + column] =
                if pivot > 0.0 { (correlation(row, column) - product) / pivot } else { 0.0 };
        }
        let known: f64 = factor[row * size..row * size + row].iter().map(|x| x * x).sum();
        if known < 1.0 - SINGULAR {
            factor[row * size + row] = (1.0 - known).sqrt();
        } else {
            let length = known.sqrt();
            factor[row * size..row * size + row].iter_mut().for_each(|x| *x /= length);
        }
    }
    factor
}

#[cfg(test)]
mod tests {
    use super::super::parameters::Decomposition;
    use super::super::refined::Refinements;
    use super::*;
    use crate::models::parameters::{Estimate, OverM, Table};
    use crate::models::sensitivity::Correlation;
    use crate::models::terms::Term;
    use crate::models::{Parameters, published};

    /// `T = a*m + b*p`, of which the error of b is not known.
    struct Line;

    impl TimeModel for Line {
        fn name(&self) -> &str {
            "line"
        }

        fn apus(&self) -> u32 {
            16
        }

        fn time(&self, mapping: Mapping) -> Seconds {
            Seconds(2.0 * f64::from(mapping.m()) + 3.0 * f64::from(mapping.p()))
        }

        fn values(&self) -> Vec<Value> {
            let known = Estimate { std_error: Some(0.5), ..Estimate::exact(2.0) };
            vec![Value::new("a", &known), Value::new("b", &Estimate::exact(3.0))]
        }

        fn gradient(&self, mapping: Mapping) -> Vec<(usize, f64)> {
            vec![(0, f64::from(mapping.m())), (1, f64::from(mapping.p()))]
        }
    }

    #[test]
    fn a_model_of_five_methods_has_independent_errors_one_part_and_a_warning() {
        assert_eq!([Line.correlation(1, 1), Line.correlation(0, 1)], [1.0, 0.0]);
        let part = Part { name: "T", time: Seconds(16.0) };
        assert_eq!(Line.parts(Mapping::of(2, 4)), [part]);
        let [Warning::Note(note)] = &Line.warnings(1..=4)[..] else { panic!("one note") };
        assert!(note.contains("the uncertainty of b: no standard error"), "{note}");
    }

    #[test]
    fn a_parameter_file_holds_the_models_of_its_terms() {
        let mut parameters = crate::toy::parameters(Decomposition::Data);
        let name = |name: &str, parameters: &Parameters| -> std::result::Result<String, String> {
            let model = named(name, parameters).map_err(|error| error.to_string())?;
            Ok(model.name().to_string())
        };
        assert_eq!(name("mmgp", &parameters).as_deref(), Ok("mmgp"));
        let error = name("refined", &parameters).unwrap_err();
        assert!(
            error.contains("expected mmgp, as the parameters have no refined terms"),
            "{error}"
        );
        let error = name("refine", &parameters).unwrap_err();
        assert!(error.contains("did you mean \"refined\"?"), "{error}");
        parameters.refinements =
            Some(Refinements { iterations: Some(10), ..Refinements::default() });
        let names = [EQUATION_11, REFINED];
        assert_eq!(names.map(|each| name(each, &parameters).unwrap()), names);
    }

    fn uncertain() -> Parameters {
        let mut parameters = published("pbpi-qs20").unwrap();
        for (place, entry) in parameters.terms.entries().into_iter().enumerate() {
            let estimate = parameters.terms.estimate_mut(entry).unwrap();
            estimate.std_error = Some(0.01 * (1.0 + place as f64) * estimate.value);
            estimate.degrees_of_freedom = (place % 3 == 0).then_some(2.0 + place as f64);
        }
        let entries =
            vec![Term::HpuTime.entry(0), Term::Gap.entry(0), Term::CollectiveCost.entry(3)];
        let matrix = vec![1.0, -0.5, 0.25, -0.5, 1.0, 0.125, 0.25, 0.125, 1.0];
        parameters.correlation = Some(Correlation::new(entries, matrix).unwrap());
        parameters
    }

    /// The standard deviation of the difference of two quantities.
    fn spread_between(one: &[f64], other: &[f64]) -> f64 {
        one.iter().zip(other).map(|(one, other)| (one - other).powi(2)).sum::<f64>().sqrt()
    }

    #[test]
    fn the_error_of_a_time_is_what_the_parameters_propagate() {
        let parameters = uncertain();
        let sources = Sources::of(&parameters);
        for (m, p) in [(1, 1), (4, 4), (4, 2), (16, 1)] {
            let found = sources.standard_error(&sources.slopes(&parameters, Mapping::of(m, p)));
            let expected = parameters.propagated(&parameters.gradient(Mapping::of(m, p)));
            approx::assert_relative_eq!(found.value, expected.value, max_relative = 1e-13);
            approx::assert_relative_eq!(
                found.degrees_of_freedom.unwrap(),
                expected.degrees_of_freedom.unwrap(),
                max_relative = 1e-13
            );
        }
    }

    #[test]
    fn deviates_hold_the_covariance_of_two_times() {
        let mut parameters = uncertain();
        for entry in parameters.terms.entries() {
            parameters.terms.estimate_mut(entry).unwrap().degrees_of_freedom = None;
        }
        let sources = Sources::of(&parameters);
        let of = |mapping| sources.deviates(&sources.slopes(&parameters, mapping));
        let [one, other] = [(4, 4), (2, 8)].map(|(m, p)| of(Mapping::of(m, p)));
        // var(a - b) by propagation of the difference of the gradients.
        let mut gradient = parameters.gradient(Mapping::of(4, 4));
        let negative = parameters
            .gradient(Mapping::of(2, 8))
            .into_iter()
            .map(|(entry, slope)| (entry, -slope));
        for (entry, slope) in negative {
            match gradient.iter_mut().find(|(known, _)| *known == entry) {
                Some((_, sum)) => *sum += slope,
                None => gradient.push((entry, slope)),
            }
        }
        let expected = parameters.propagated(&gradient).value;
        approx::assert_relative_eq!(spread_between(&one, &other), expected, max_relative = 1e-12);
    }

    #[test]
    fn half_of_what_the_last_slope_would_bring_is_one_standard_error() {
        let mut parameters = published("pbpi-qs20").unwrap();
        let values = [1.0, 1.25, 1.5].map(Estimate::exact).to_vec();
        parameters.terms.alpha = OverM::Table(Table::new(vec![1, 2, 4], values));
        let sources = Sources::of(&parameters);
        let error =
            |m| sources.standard_error(&sources.slopes(&parameters, Mapping::of(m, 1))).value;
        // The slope is 0.125 for each m, and T_HPU = 1.3 s.
        for (m, expected) in [(4, 0.0), (5, 0.0625 * 1.3), (12, 8.0 * 0.0625 * 1.3)] {
            approx::assert_relative_eq!(error(m), expected, max_relative = 1e-13);
        }
        assert_eq!(sources.sources[0].name, "alpha beyond m = 4");
    }

    #[test]
    fn a_table_of_one_entry_goes_on_from_what_the_term_is_at_one() {
        let mut parameters = published("pbpi-qs20").unwrap();
        let values = vec![Estimate::exact(30e-6)];
        parameters.terms.o_col_s = OverM::Table(Table::new(vec![4], values));
        let sources = Sources::of(&parameters);
        let slopes = sources.slopes(&parameters, Mapping::of(6, 1));
        // From nothing at m = 1 to 30 us at m = 4, for 20,000 collectives.
        let expected = 20_000.0 * 2.0 * 10e-6 / 2.0;
        approx::assert_relative_eq!(
            sources.standard_error(&slopes).value,
            expected,
            max_relative = 1e-13
        );
    }

    fn check_factor(size: usize, matrix: &[f64], expected: &[f64]) {
        let factor = factor(size, |row, column| matrix[row * size + column]);
        for row in 0..size {
            for column in 0..size {
                let product: f64 =
                    (0..size).map(|k| factor[row * size + k] * factor[column * size + k]).sum();
                approx::assert_relative_eq!(
                    product,
                    expected[row * size + column],
                    epsilon = 1e-12
                );
            }
        }
    }

    #[test]
    fn a_factor_multiplies_back_to_its_matrix() {
        let regular = [1.0, 0.5, -0.25, 0.5, 1.0, 0.25, -0.25, 0.25, 1.0];
        check_factor(3, &regular, &regular);
        // The third is the sum of the first two, over sqrt(2).
        let half = 0.5f64.sqrt();
        let singular = [1.0, 0.0, half, 0.0, 1.0, half, half, half, 1.0];
        check_factor(3, &singular, &singular);
        let same = [1.0; 9];
        check_factor(3, &same, &same);
        // (1, 0, 0, 0), (0.6, 0.8, 0, 0), (0, 0.6, 0.8, 0) and (0.5, 0.5, 0.5, 0.5) as rows of a factor.
        let four =
            [1.0, 0.6, 0.0, 0.5, 0.6, 1.0, 0.48, 0.7, 0.0, 0.48, 1.0, 0.7, 0.5, 0.7, 0.7, 1.0];
        check_factor(4, &four, &four);
    }

    #[test]
    fn of_a_matrix_that_is_none_every_row_keeps_its_variance() {
        let check = |size: usize, matrix: &[f64]| {
            let factor = factor(size, |row, column| matrix[row * size + column]);
            for row in factor.chunks(size) {
                let length: f64 = row.iter().map(|x| x * x).sum();
                approx::assert_relative_eq!(length, 1.0, max_relative = 1e-12);
            }
        };
        // Two that go together cannot differ so much from a third.
        check(3, &[1.0, 0.9, 0.9, 0.9, 1.0, -0.9, 0.9, -0.9, 1.0]);
        // A fourth cannot go with three that have nothing in common.
        let four = [1.0, 0.0, 0.0, 0.9, 0.0, 1.0, 0.0, 0.9, 0.0, 0.0, 1.0, 0.9, 0.9, 0.9, 0.9, 1.0];
        check(4, &four);
    }

    #[test]
    fn a_standard_error_from_few_repetitions_spreads_as_wide_as_its_interval() {
        let mut parameters = published("pbpi-qs20").unwrap();
        parameters.terms.c_apu_s.std_error = Some(0.3);
        parameters.terms.g_s.std_error = Some(0.1);
        parameters.terms.g_s.degrees_of_freedom = Some(2.0);
        let sources = Sources::of(&parameters);
        // Two-sided 5 % points of Student's distribution with 2 degrees of freedom and of the normal.
        approx::assert_relative_eq!(sources.spreads[0], 0.3, max_relative = 1e-12);
        let expected = 0.1 * 4.302_653 / 1.959_964;
        approx::assert_relative_eq!(sources.spreads[1], expected, max_relative = 1e-6);
    }

    #[test]
    fn deviates_of_two_slopes_add_up() {
        let mut parameters = published("pbpi-qs20").unwrap();
        parameters.terms.c_apu_s.std_error = Some(0.5);
        parameters.terms.g_s.std_error = Some(0.25);
        let entries = vec![Term::ApuSerialTime.entry(0), Term::Gap.entry(0)];
        let matrix = vec![1.0, 0.6, 0.6, 1.0];
        parameters.correlation = Some(Correlation::new(entries, matrix).unwrap());
        // 2*0.5*(1, 0) and 4*0.25*(0.6, 0.8).
        let deviates = Sources::of(&parameters).deviates(&[(0, 2.0), (1, 4.0)]);
        approx::assert_relative_eq!(deviates[0], 1.6, max_relative = 1e-12);
        approx::assert_relative_eq!(deviates[1], 0.8, max_relative = 1e-12);
    }

    #[test]
    fn what_is_exact_is_no_source_and_brings_no_degrees_of_freedom() {
        let mut parameters = published("pbpi-qs20").unwrap();
        parameters.terms.c_apu_s.std_error = Some(0.5);
        parameters.terms.g_s.std_error = Some(0.0);
        let sources = Sources::of(&parameters);
        assert_eq!(sources.count(), 1);
        let found = sources.standard_error(&[(0, 2.0)]);
        assert_eq!((found.value, found.degrees_of_freedom), (1.0, None));
    }
}
