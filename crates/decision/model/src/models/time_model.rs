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
use mmgp_base::Mapping;
use mmgp_base::error::{Error, Result, Warning};
use mmgp_base::units::Seconds;

/// A model of the time of a run.
pub trait TimeModel {
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

#[cfg(test)]
mod tests {
    use super::super::parameters::Decomposition;
    use super::super::refined::Refinements;
    use super::*;

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
}
