//! Where the time of a configuration goes, what it answers to, and what its interval is due to.

use crate::belief::Posterior;
use crate::models::sources::Sources;
use crate::models::time_model::{Part, TimeModel};
use mmgp_base::Mapping;
use mmgp_base::error::Warning;
use mmgp_base::units::Seconds;

/// The time of one configuration, taken apart.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// Processes m and accelerators p of each.
    pub mapping: Mapping,
    /// Predicted time.
    pub time: Seconds,
    /// Lower end of its 95 % interval.
    pub low: Seconds,
    /// Upper end of its 95 % interval.
    pub high: Seconds,
    /// What the model makes the time of: parts that add up to it.
    pub parts: Vec<Part>,
    /// Every number that the time depends on, by the part of the variance that knowing it would take
    /// away, the largest first; among equals by the size of their elasticity.
    pub terms: Vec<TermEffect>,
    /// How much of the variance of the logarithm of the time is left where all terms are known: what
    /// the misfit of the model makes.
    pub misfit_share: f64,
    /// What the reader should know.
    pub warnings: Vec<Warning>,
}

/// What one number of the parameters does to the time.
#[derive(Debug, Clone, PartialEq)]
pub struct TermEffect {
    /// Name of the value: `g_s`, `alpha(8)`, `alpha beyond m = 4`.
    pub name: String,
    /// Value in its unit; none beyond a table.
    pub value: Option<f64>,
    /// Standard error in its unit, where known.
    pub std_error: Option<f64>,
    /// dT/dx \[s per unit of x\]; for what lies beyond a table, seconds per standard error.
    pub derivative: f64,
    /// `d ln T / d ln x`: percent of the time for each percent of x; none beyond a table.
    pub elasticity: Option<f64>,
    /// How much of the variance of the time knowing it exactly would take away, from 0 to 1. What goes
    /// together is told by either, so that these do not add up to 1.
    pub variance_share: f64,
}

/// Takes the time of one configuration apart.
///
/// The parts and terms are those of a model; what the posterior believes beyond it is a part of its
/// own, [`MISFIT`].
pub fn explain(posterior: &Posterior, model: &dyn TimeModel, mapping: Mapping) -> Explanation {
    let sources = Sources::of(model);
    let slopes = sources.slopes(model, mapping);
    let error = sources.standard_error(&slopes);
    let variance = error.value.powi(2);
    let time = model.time(mapping);
    let marginals = posterior.marginals(&[mapping]);
    let believed = marginals.time(0);
    // Runs may know the time better than terms that go together do.
    let all = variance.max((marginals.deviation(0) * time.0).powi(2));
    let share_of = |place: usize| {
        let source = sources.source(place)?;
        let with_time: f64 = slopes
            .iter()
            .map(|&(index, slope)| {
                slope * sources.errors[index] * sources.correlation(source, index)
            })
            .sum();
        (all > 0.0).then(|| (with_time * with_time / all).min(1.0))
    };
    let values = model.values();
    let mut terms: Vec<TermEffect> = Vec::new();
    for (place, derivative) in model.gradient(mapping) {
        let Some(value) = values.get(place) else { continue };
        let is_known = value.beyond.is_none();
        let elasticity = if time.0 > 0.0 { derivative * value.value / time.0 } else { 0.0 };
        terms.push(TermEffect {
            name: value.name.clone(),
            value: is_known.then_some(value.value),
            std_error: value.std_error.filter(|_| is_known),
            derivative,
            elasticity: is_known.then_some(elasticity),
            variance_share: share_of(place).unwrap_or(0.0),
        });
    }
    terms.sort_by(|one, other| {
        let size = |term: &TermEffect| term.elasticity.unwrap_or(0.0).abs();
        let by_share = other.variance_share.total_cmp(&one.variance_share);
        by_share.then(size(other).total_cmp(&size(one)))
    });
    let [low, high] = [0.025, 0.975].map(|share| marginals.quantile(0, share));
    let mut warnings = model.warnings(mapping.m()..=mapping.m());
    warnings.extend(sources.extrapolated(model, mapping));
    let mut parts = model.parts(mapping);
    if (believed.0 - time.0).abs() > ROUNDING * time.0 {
        parts.push(Part { name: MISFIT, time: Seconds(believed.0 - time.0) });
    }
    let misfit_share = if all > 0.0 { 1.0 - variance / all } else { 1.0 };
    Explanation { mapping, time: believed, low, high, parts, terms, misfit_share, warnings }
}

/// What runs say of the time beyond the model's terms.
pub const MISFIT: &str = "misfit";

/// Share of the time below which a difference is rounding.
const ROUNDING: f64 = 1e-9;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::belief::Prior;
    use crate::models::observations::{Observation, Observations};
    use crate::models::sensitivity::Correlation;
    use crate::models::terms::Term;
    use crate::models::{Parameters, published};

    /// Explanation by a model that is hardly off.
    fn explain(parameters: &Parameters, mapping: Mapping) -> Explanation {
        let prior = Prior::of(parameters).with_misfit(1e-9).unwrap();
        super::explain(&Posterior::new(&prior, None).unwrap(), parameters, mapping)
    }

    fn term<'a>(explanation: &'a Explanation, name: &str) -> &'a TermEffect {
        explanation.terms.iter().find(|term| term.name == name).unwrap()
    }

    #[test]
    fn shares_of_the_variance_are_those_of_a_sum_worked_out_by_hand() {
        let mut parameters = published("pbpi-qs20").unwrap();
        parameters.terms.c_apu_s.std_error = Some(0.3);
        parameters.terms.g_s.std_error = Some(0.1);
        // T has 0.3 from C_APU and 4*0.1 from g: 0.09 and 0.16 of 0.25; the model is hardly off.
        let explanation = explain(&parameters, Mapping::of(4, 4));
        approx::assert_relative_eq!(
            term(&explanation, "g_s").variance_share,
            0.64,
            max_relative = 1e-2
        );
        assert_eq!(explanation.terms[0].name, "g_s");
        // To first order in the logarithm.
        let half_width = explanation.time.0 * (explanation.high.0 / explanation.time.0).ln();
        approx::assert_relative_eq!(half_width, 0.5 * 1.959_963_985, max_relative = 1e-2);
        let entries = vec![Term::ApuSerialTime.entry(0), Term::Gap.entry(0)];
        let matrix = vec![1.0, -0.5, -0.5, 1.0];
        parameters.correlation = Some(Correlation::new(entries, matrix).unwrap());
        // The variance is 0.13; C_APU goes with 0.3 - 0.5*0.4 of it.
        let explanation = explain(&parameters, Mapping::of(4, 4));
        approx::assert_relative_eq!(
            term(&explanation, "c_apu_s").variance_share,
            0.01 / 0.13,
            max_relative = 2e-2
        );
    }

    #[test]
    fn an_elasticity_is_the_percentage_of_time_for_one_percent_of_a_term() {
        let parameters = published("pbpi-qs20").unwrap();
        let explanation = explain(&parameters, Mapping::of(4, 4));
        for effect in &explanation.terms {
            let entry = parameters.terms.entry_named(&effect.name).unwrap();
            let at = |factor: f64| {
                let mut moved = parameters.clone();
                moved.terms.estimate_mut(entry).unwrap().value *= factor;
                moved.time(Mapping::of(4, 4)).0
            };
            let expected = (at(1.001).ln() - at(0.999).ln()) / (1.001f64.ln() - 0.999f64.ln());
            approx::assert_relative_eq!(effect.elasticity.unwrap(), expected, epsilon = 1e-6);
        }
        let total: f64 = explanation.parts.iter().map(|part| part.time.0).sum();
        approx::assert_relative_eq!(total, explanation.time.0, max_relative = 1e-14);
    }

    #[test]
    fn what_lies_beyond_a_table_has_its_share() {
        use crate::models::parameters::{Estimate, OverM, Table};
        let mut parameters = published("pbpi-qs20").unwrap();
        let values = [1.0, 1.5].map(Estimate::exact).to_vec();
        parameters.terms.alpha = OverM::Table(Table::new(vec![1, 2], values));
        let explanation = explain(&parameters, Mapping::of(8, 2));
        assert_eq!(explanation.terms[0].name, "alpha beyond m = 2");
        assert!(explanation.terms[0].variance_share > 0.98);
        let warning = explanation.warnings.last().unwrap().to_string();
        assert_eq!(
            warning,
            "the interval of (8, 2) rests to 100 % on what alpha may be beyond m = 2; measure it \
             at m = 8"
        );
    }

    #[test]
    fn what_the_terms_do_not_account_for_is_the_misfit_of_the_model() {
        let mut parameters = published("pbpi-qs20").unwrap();
        parameters.terms.c_apu_s.std_error = Some(0.3);
        let mapping = Mapping::of(4, 4);
        let prior = Prior::of(&parameters).with_misfit(0.1).unwrap();
        let posterior = Posterior::new(&prior, None).unwrap();
        let explanation = super::explain(&posterior, &parameters, mapping);
        // A time of t s with 0.3 s from its terms, and a tenth of the time and a fiftieth beside.
        let of_terms = 0.3 / parameters.time(mapping).0;
        let beside = 0.1_f64.powi(2) + 0.02_f64.powi(2);
        let expected = beside / (beside + of_terms.powi(2));
        approx::assert_relative_eq!(explanation.misfit_share, expected, max_relative = 1e-4);
        assert!(explanation.parts.iter().all(|part| part.name != MISFIT));
    }

    #[test]
    fn a_part_of_its_own_holds_what_runs_say_beyond_the_terms() {
        let parameters = published("pbpi-qs20").unwrap();
        let mapping = Mapping::of(4, 4);
        for factor in [0.8, 1.25] {
            let time = Seconds(parameters.time(mapping).0 * factor);
            let run = Observation { mapping, time, repetitions: 4.0 };
            let runs = Observations::new("runs.csv", vec![run], 1e-4, 3.0);
            let prior = Prior::of(&parameters).with_misfit(0.3).unwrap();
            let posterior = Posterior::new(&prior, Some(runs)).unwrap();
            let explanation = super::explain(&posterior, &parameters, mapping);
            let misfit = explanation.parts.iter().find(|part| part.name == MISFIT).unwrap();
            let expected = explanation.time.0 - parameters.time(mapping).0;
            assert_eq!(misfit.time, Seconds(expected));
            assert_eq!(misfit.time.0 > 0.0, factor > 1.0);
            let sum: f64 = explanation.parts.iter().map(|part| part.time.0).sum();
            approx::assert_relative_eq!(sum, explanation.time.0, max_relative = 1e-9);
        }
    }

    #[test]
    fn where_nothing_takes_time_or_is_unsure_nothing_answers_for_it() {
        let mut parameters = published("pbpi-qs20").unwrap();
        for entry in parameters.terms.entries() {
            let is_alpha = entry.term == Term::Alpha;
            let estimate = parameters.terms.estimate_mut(entry).unwrap();
            estimate.value = if is_alpha { 1.0 } else { 0.0 };
            estimate.std_error = Some(0.0);
        }
        let explanation = explain(&parameters, Mapping::of(4, 4));
        assert!(explanation.terms.iter().all(|term| term.elasticity == Some(0.0)));
        assert!(explanation.terms.iter().all(|term| term.variance_share == 0.0));
        assert_eq!(explanation.misfit_share, 1.0);
    }

    #[test]
    fn the_part_beyond_the_terms_is_found_in_short_runs_and_absent_without_any() {
        let mut parameters = published("pbpi-qs20").unwrap();
        for entry in parameters.terms.entries() {
            let estimate = parameters.terms.estimate_mut(entry).unwrap();
            estimate.value = if entry.term == Term::Alpha { 1.0 } else { 0.0 };
        }
        let mapping = Mapping::of(4, 4);
        let misfit = |parameters: &Parameters, runs: Option<Observations>| {
            let prior = Prior::of(parameters).with_misfit(0.3).unwrap();
            let posterior = Posterior::new(&prior, runs).unwrap();
            let parts = super::explain(&posterior, parameters, mapping).parts;
            parts.iter().find(|part| part.name == MISFIT).map(|part| part.time.0)
        };
        parameters.terms.t_hpu_s.value = 1e-5;
        let run = Observation { mapping, time: Seconds(1.25e-5), repetitions: 4.0 };
        let runs = Observations::new("runs.csv", vec![run], 1e-4, 3.0);
        let found = misfit(&parameters, Some(runs)).unwrap();
        assert!((1e-6..2.6e-6).contains(&found), "{found}");
        assert_eq!(misfit(&parameters, None), None);
    }

    #[test]
    fn errors_that_cancel_leave_no_variance_to_share() {
        let mut parameters = published("pbpi-qs20").unwrap();
        parameters.terms.c_apu_s.std_error = Some(0.3);
        parameters.terms.g_s.std_error = Some(0.075);
        let entries = vec![Term::ApuSerialTime.entry(0), Term::Gap.entry(0)];
        let matrix = vec![1.0, -1.0, -1.0, 1.0];
        parameters.correlation = Some(Correlation::new(entries, matrix).unwrap());
        // 0.3 from C_APU, and 4*0.075 the other way from g.
        let explanation = explain(&parameters, Mapping::of(4, 4));
        assert!(explanation.terms.iter().all(|term| term.variance_share == 0.0));
    }
}
