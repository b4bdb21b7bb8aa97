//! Where the time of a configuration goes, what it answers to, and what its interval is due to; what if a
//! term were another, on other machines or of other problems; and the size of a task from which off-loading
//! pays.

use super::constraints::Constraints;
use super::equation_11;
use crate::belief::Posterior;
use crate::models::Parameters;
use crate::models::parameters::{Estimate, Terms};
use crate::models::sensitivity::Entry;
use crate::models::terms::{Term, TermValueMut};
use crate::models::time_model::{Part, Sources, TimeModel};
use mmgp_base::Mapping;
use mmgp_base::error::{Error, Result, Warning};
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
    let [low, high] = marginals.interval(0);
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

/// A term, or one entry of a table as `alpha(8)`, and what it is multiplied by.
#[derive(Debug, Clone, PartialEq)]
pub struct Scale {
    /// Name in files.
    pub term: String,
    /// The factor, 0 or more.
    pub factor: f64,
}

/// Parameters in which these terms, of the whole and of its phases, are multiplied by their
/// factors, standard errors with them. Of alpha it is the excess over 1 that is multiplied.
///
/// # Errors
///
/// [`Error::UnknownName`] for a term that the parameters do not have, with the nearest name;
/// [`Error::OutOfRange`] for a factor that is negative or not finite, or that leaves an alpha
/// which is not above 0 or times of 1e100 s and more.
pub fn scaled(parameters: &Parameters, scales: &[Scale]) -> Result<Parameters> {
    let mut scaled = parameters.clone();
    for Scale { term, factor } in scales {
        if !(*factor >= 0.0 && factor.is_finite()) {
            return Err(Error::out_of_range(
                "scale",
                format!("{term}={factor}"),
                "a factor of 0 or more",
            ));
        }
        let entries = entries(&parameters.terms, term)?;
        for entry in entries {
            if let Some(estimate) = scaled.terms.estimate_mut(entry) {
                scale(estimate, entry, *factor)?;
            }
        }
        for phase in &mut scaled.phases {
            let part = Term::named(term).and_then(|term| phase.value_mut(term));
            for estimate in part.into_iter().flat_map(TermValueMut::estimates) {
                multiply(estimate, *factor);
            }
        }
    }
    check_size(&scaled, scales)?;
    Ok(scaled)
}

/// The longest time that can be computed with \[s\]: its square is added up.
const LONGEST: f64 = 1e100;

/// Refuses factors that leave no time which could be compared.
fn check_size(scaled: &Parameters, scales: &[Scale]) -> Result<()> {
    let all = scaled.apus;
    let is_small = |(m, p)| scaled.time(Mapping::of(m, p)).0 < LONGEST;
    if scales.is_empty() || [(1, 1), (all, 1), (1, all)].into_iter().all(is_small) {
        return Ok(());
    }
    let factors: Vec<String> =
        scales.iter().map(|Scale { term, factor }| format!("{term}={factor:e}")).collect();
    Err(Error::out_of_range(
        "scale",
        format!("{}, with which a run takes no time below 1e100 s", factors.join(", ")),
        "smaller factors",
    ))
}

/// The entries that a name means.
fn entries(terms: &Terms, name: &str) -> Result<Vec<Entry>> {
    let all = terms.entries();
    let named = |entry: &Entry| entry.term.name() == name || terms.name_of(*entry) == name;
    let found: Vec<Entry> = all.iter().copied().filter(named).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let mut known: Vec<String> = all.iter().map(|entry| entry.term.name().to_string()).collect();
    known.dedup();
    Err(Error::unknown_name("term", name, known))
}

fn scale(estimate: &mut Estimate, entry: Entry, factor: f64) -> Result<()> {
    if entry.term != Term::Alpha {
        multiply(estimate, factor);
        return Ok(());
    }
    let value = 1.0 + factor * (estimate.value - 1.0);
    if value <= 0.0 {
        return Err(Error::out_of_range(
            "scale",
            format!("alpha={factor}, which makes {} of {}", value, estimate.value),
            "a slowdown above 0",
        ));
    }
    estimate.value = value;
    estimate.std_error = estimate.std_error.map(|error| error * factor);
    Ok(())
}

fn multiply(estimate: &mut Estimate, factor: f64) {
    estimate.value *= factor;
    estimate.std_error = estimate.std_error.map(|error| error * factor);
}

/// What off-loading needs in order to pay.
#[derive(Debug, Clone, PartialEq)]
pub struct BreakEven {
    /// Time of the off-loaded part on the host, relative to one APU.
    pub host_factor: f64,
    /// APU time per off-load as the parameters have it, `(T_APU + C_APU)/N`.
    pub granularity: Seconds,
    /// The part of it that APUs share.
    pub shared_part: f64,
    /// Row for each p.
    pub rows: Vec<BreakEvenRow>,
    /// The p at which the time of an off-load is least.
    pub optimum: Optimum,
}

/// Off-loading to so many APUs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BreakEvenRow {
    /// APUs.
    pub p: u32,
    /// The least APU time per off-load from which off-loading pays, with its 95 % interval; none
    /// where it never does.
    pub least_granularity: Option<(Seconds, Seconds, Seconds)>,
    /// Time of the off-loaded part on the host over that on p APUs, at the present granularity:
    /// above 1, off-loading pays.
    pub gain: f64,
}

/// Number of APUs beyond which a further one no longer pays.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Optimum {
    /// `sqrt(t/g)`, where `t/p + p*g` is least, with its 95 % interval; none where APUs cost
    /// nothing, so that every one of them pays.
    pub continuous: Option<(f64, f64, f64)>,
    /// The last APU, of those that may be chosen, that pays.
    pub last_p: u32,
}

/// When off-loading pays with p of all numbers that the constraints allow at m = 1.
///
/// Of one off-load, at m = 1, let t be the APU time that p APUs share, c the APU time that they
/// do not, and F the time that the host needs for the same work, relative to one APU. Off-loading
/// to p APUs takes (eq. 6, 7, with the context switch of eq. 10) and the host takes
///
/// `t/p + c + O_offload + T_CSW + p*g` and `F*(t + c)`.
///
/// With the granularity `G = t + c` and the shared part `s = t/G` held fixed, the two are equal at
///
/// `G = (O_offload + T_CSW + p*g) / (F - 1 + s*(1 - 1/p))`,
///
/// and off-loading pays for larger tasks where the denominator is above 0, for none otherwise.
///
/// # Errors
///
/// [`Error::OutOfRange`] for another model than equation 11, a factor that is not above 0, and for
/// parameters without off-loads or without APU time; [`Error::NothingFeasible`] where the
/// constraints leave nothing at m = 1.
pub fn break_even(
    model: &dyn TimeModel,
    constraints: &Constraints,
    host_factor: f64,
) -> Result<BreakEven> {
    let parameters = equation_11(model, "what off-loading costs follows")?;
    let terms = &parameters.terms;
    let error = |name, found: f64, expected: &str| {
        Err(Error::out_of_range(name, found.to_string(), expected))
    };
    if !(host_factor > 0.0 && host_factor.is_finite()) {
        return error("host_factor", host_factor, "host time over the time of one APU, above 0");
    }
    let (shared, serial) = (terms.t_apu_s.value, terms.c_apu_s.value);
    let offloads = terms.offloads.value;
    if offloads <= 0.0 {
        return error("offloads", offloads, "off-loads to compare with, more than 0");
    }
    if shared + serial <= 0.0 {
        return error("t_apu_s + c_apu_s", shared + serial, "a time on APUs above 0");
    }
    let one_thread = constraints.clone().max_m(1);
    let space = one_thread.space(parameters.apus)?;
    let choices = space.choices(1);
    let rows = choices.iter().map(|p| row(parameters, p, host_factor)).collect();
    let per_offload = |p: u32| shared / offloads / f64::from(p) + terms.g_s.value * f64::from(p);
    let last_p = choices
        .iter()
        .fold(choices.at(0), |best, p| if per_offload(p) < per_offload(best) { p } else { best });
    Ok(BreakEven {
        host_factor,
        granularity: Seconds((shared + serial) / offloads),
        shared_part: shared / (shared + serial),
        rows,
        optimum: Optimum { continuous: optimum(parameters), last_p },
    })
}

fn row(parameters: &Parameters, p: u32, host_factor: f64) -> BreakEvenRow {
    let terms = &parameters.terms;
    let apus = f64::from(p);
    let (shared, serial) = (terms.t_apu_s.value, terms.c_apu_s.value);
    let total = shared + serial;
    let overhead = terms.o_offload_s.value + terms.t_csw_s.value + apus * terms.g_s.value;
    let saved_part = 1.0 - 1.0 / apus;
    let saved = host_factor - 1.0 + shared / total * saved_part;
    let granularity = total / terms.offloads.value;
    let on_apus = (shared / apus + serial) / terms.offloads.value + overhead;
    let least_granularity = (saved > 0.0).then(|| {
        let least = overhead / saved;
        // G = H/D: dG = dH/D - H/D^2 * dD, with D = F - 1 + s*(1 - 1/p) and s = t/(t + c).
        let by_part = -least / saved * saved_part / total.powi(2);
        let gradient = [
            (Term::ApuTime.entry(0), by_part * serial),
            (Term::ApuSerialTime.entry(0), -by_part * shared),
            (Term::OffloadOverhead.entry(0), 1.0 / saved),
            (Term::ContextSwitch.entry(0), 1.0 / saved),
            (Term::Gap.entry(0), apus / saved),
        ];
        let half_width = parameters.propagated(&gradient).half_width();
        let [low, high] = [least - half_width, least + half_width];
        (Seconds(least), Seconds(low.max(0.0)), Seconds(high))
    });
    BreakEvenRow { p, least_granularity, gain: host_factor * granularity / on_apus }
}

/// `sqrt(t/g)` per off-load with its interval, by `d ln p = (d ln T_APU - d ln N - d ln g)/2`.
fn optimum(parameters: &Parameters) -> Option<(f64, f64, f64)> {
    let terms = &parameters.terms;
    let (shared, offloads, gap) = (terms.t_apu_s.value, terms.offloads.value, terms.g_s.value);
    if shared == 0.0 || gap == 0.0 {
        return None;
    }
    let best = (shared / offloads / gap).sqrt();
    let gradient = [
        (Term::ApuTime.entry(0), best / (2.0 * shared)),
        (Term::Offloads.entry(0), -best / (2.0 * offloads)),
        (Term::Gap.entry(0), -best / (2.0 * gap)),
    ];
    let half_width = parameters.propagated(&gradient).half_width();
    Some((best, (best - half_width).max(0.0), best + half_width))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::belief::Prior;
    use crate::models::observations::{Observation, Observations};
    use crate::models::parameters::{Decomposition, Estimate, OverM, Phase, Terms};
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
            let run = Observation { mapping, level: 0, time, repetitions: 4.0 };
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
        let run = Observation { mapping, level: 0, time: Seconds(1.25e-5), repetitions: 4.0 };
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

    fn scale_of(term: &str, factor: f64) -> Vec<Scale> {
        vec![Scale { term: term.into(), factor }]
    }

    #[test]
    fn values_and_standard_errors_scale_and_alpha_by_its_excess() {
        let mut parameters = published("pbpi-qs20").unwrap();
        parameters.terms.g_s.std_error = Some(0.1);
        let scales = [scale_of("g_s", 0.5), scale_of("alpha", 2.0), scale_of("o_col_s(4)", 3.0)];
        let terms = scaled(&parameters, &scales.concat()).unwrap().terms;
        assert_eq!((terms.g_s.value, terms.g_s.std_error), (0.4, Some(0.05)));
        approx::assert_relative_eq!(terms.alpha_at(2), 1.56, max_relative = 1e-15);
        approx::assert_relative_eq!(terms.o_col_at(4), 354e-6, max_relative = 1e-15);
        assert_eq!(terms.o_col_at(5), 167e-6);
    }

    #[test]
    fn a_factor_that_leaves_no_time_to_compare_is_refused() {
        let parameters = published("pbpi-qs20").unwrap();
        let error = scaled(&parameters, &scale_of("t_hpu_s", 1e308)).unwrap_err().to_string();
        assert!(error.starts_with("scale: found t_hpu_s=1e308, with which"), "{error}");
        assert!(scaled(&parameters, &scale_of("t_hpu_s", 1e30)).is_ok());
    }

    #[test]
    fn a_misspelt_term_and_an_impossible_factor_are_refused() {
        let parameters = published("pbpi-qs20").unwrap();
        let message = |term: &str, factor: f64| {
            scaled(&parameters, &scale_of(term, factor)).unwrap_err().to_string()
        };
        let error = message("o_ofload_s", 0.5);
        assert!(error.starts_with(
            "there is no term \"o_ofload_s\"; did you mean \"o_offload_s\"? known: t_hpu_s, "
        ));
        assert_eq!(message("g_s", -1.0), "scale: found g_s=-1, expected a factor of 0 or more");
        let mut fast = parameters.clone();
        fast.terms.estimate_mut(Term::Alpha.entry(0)).unwrap().value = 0.5;
        assert!(scaled(&fast, &scale_of("alpha", 3.0)).is_err());
    }

    #[test]
    fn a_term_scales_in_every_phase_that_has_it() {
        let values = |phase: &Phase| {
            let named =
                [&phase.t_hpu_s, &phase.t_apu_s, &phase.c_apu_s, &phase.offloads, &phase.g_s];
            let collectives = phase.collectives.as_ref().map(|estimate| estimate.value);
            named
                .map(|estimate| estimate.value)
                .into_iter()
                .chain(collectives)
                .collect::<Vec<f64>>()
        };
        let mut parameters = published("pbpi-qs20").unwrap();
        let phase = Phase {
            name: "only".into(),
            t_hpu_s: Estimate::exact(1.0),
            t_apu_s: Estimate::exact(2.0),
            c_apu_s: Estimate::exact(3.0),
            offloads: Estimate::exact(4.0),
            g_s: Estimate { std_error: Some(0.5), ..Estimate::exact(5.0) },
            collectives: Some(Estimate::exact(6.0)),
        };
        parameters.phases = vec![phase];
        let names = ["t_hpu_s", "t_apu_s", "c_apu_s", "offloads", "g_s", "collectives"];
        for (place, name) in names.into_iter().enumerate() {
            let mut expected = vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
            expected[place] *= 0.25;
            let phases = scaled(&parameters, &scale_of(name, 0.25)).unwrap().phases;
            assert_eq!(values(&phases[0]), expected, "{name}");
            let error = if name == "g_s" { 0.125 } else { 0.5 };
            assert_eq!(phases[0].g_s.std_error, Some(error), "{name}");
        }
        let phases = scaled(&parameters, &scale_of("t_csw_s", 0.25)).unwrap().phases;
        assert_eq!(values(&phases[0]), values(&parameters.phases[0]));
    }

    #[test]
    fn the_error_of_a_slowdown_scales_with_its_excess() {
        let mut parameters = published("pbpi-qs20").unwrap();
        let alpha = Estimate { std_error: Some(0.04), ..Estimate::exact(1.5) };
        parameters.terms.alpha = OverM::Constant(alpha);
        let scaled = scaled(&parameters, &scale_of("alpha", 0.5)).unwrap();
        let OverM::Constant(alpha) = scaled.terms.alpha else { panic!("it is constant") };
        assert_eq!((alpha.value, alpha.std_error), (1.25, Some(0.02)));
    }

    /// Off-loads of 3 ms that APUs share and 1 ms that they do not; 0.5 ms for each off-load and
    /// 0.05 ms for each APU of it.
    fn parameters() -> Parameters {
        let uncertain =
            |value: f64| Estimate { std_error: Some(0.1 * value), ..Estimate::exact(value) };
        let terms = Terms {
            t_hpu_s: Estimate::exact(1.0),
            t_apu_s: uncertain(3.0),
            c_apu_s: uncertain(1.0),
            offloads: uncertain(1000.0),
            o_offload_s: uncertain(0.3e-3),
            t_csw_s: uncertain(0.2e-3),
            g_s: uncertain(0.05e-3),
            ..Terms::nothing()
        };
        Parameters::new("toy", Decomposition::Data, 16, terms)
    }

    fn ask(parameters: &Parameters, host_factor: f64) -> BreakEven {
        break_even(parameters, &Constraints::NONE, host_factor).unwrap()
    }

    #[test]
    fn off_loading_pays_from_a_granularity_worked_out_by_hand() {
        let answer = ask(&parameters(), 1.5);
        approx::assert_relative_eq!(answer.granularity.0, 4e-3, max_relative = 1e-12);
        // p = 4: 0.7 ms over 1.5 - 1 + 0.75*0.75 = 1.0625.
        let (least, _, _) = answer.rows[3].least_granularity.unwrap();
        approx::assert_relative_eq!(least.0, 0.7e-3 / 1.0625, max_relative = 1e-12);
        // 6 ms on the host; 0.75 + 1 + 0.7 ms off-loaded.
        approx::assert_relative_eq!(answer.rows[3].gain, 6.0 / 2.45, max_relative = 1e-12);
        // A host twice as fast as an APU: one APU never pays, two still not: 0.5 - 1 + 0.375.
        let answer = ask(&parameters(), 0.5);
        assert!(answer.rows[..2].iter().all(|row| row.least_granularity.is_none()));
        assert!(answer.rows[3].least_granularity.is_some());
    }

    #[test]
    fn at_the_least_granularity_host_and_accelerators_take_as_long() {
        for host_factor in [0.6, 1.0, 2.5] {
            for row in ask(&parameters(), host_factor).rows {
                let Some((least, _, _)) = row.least_granularity else { continue };
                let mut other = parameters();
                for term in [&mut other.terms.t_apu_s, &mut other.terms.c_apu_s] {
                    term.value *= least.0 / 4e-3;
                }
                let gain = ask(&other, host_factor).rows[row.p as usize - 1].gain;
                approx::assert_relative_eq!(gain, 1.0, max_relative = 1e-12);
            }
        }
    }

    /// Half the width of an interval from central differences.
    fn half_width(of: impl Fn(&Parameters) -> f64) -> f64 {
        let parameters = parameters();
        let mut variance = 0.0;
        for entry in parameters.terms.entries() {
            let estimate = parameters.terms.estimate(entry).unwrap();
            let Some(error) = estimate.std_error else { continue };
            let at = |factor: f64| {
                let mut moved = parameters.clone();
                moved.terms.estimate_mut(entry).unwrap().value *= factor;
                of(&moved)
            };
            let slope = (at(1.0001) - at(0.9999)) / (0.0002 * estimate.value);
            variance += (slope * error).powi(2);
        }
        1.959_963_985 * variance.sqrt()
    }

    #[test]
    fn intervals_are_those_of_central_differences() {
        for p in [1, 4, 16] {
            let of = |parameters: &Parameters| {
                ask(parameters, 1.5).rows[p - 1].least_granularity.unwrap().0.0
            };
            let (least, low, high) = ask(&parameters(), 1.5).rows[p - 1].least_granularity.unwrap();
            approx::assert_relative_eq!(high.0 - least.0, half_width(of), max_relative = 1e-6);
            approx::assert_relative_eq!(least.0 - low.0, half_width(of), max_relative = 1e-6);
        }
        let of = |parameters: &Parameters| optimum(parameters).unwrap().0;
        let (best, low, high) = optimum(&parameters()).unwrap();
        // sqrt(3 ms / 0.05 ms) = sqrt(60)
        approx::assert_relative_eq!(best, 60.0f64.sqrt(), max_relative = 1e-12);
        approx::assert_relative_eq!(high - best, half_width(of), max_relative = 1e-6);
        approx::assert_relative_eq!(best - low, half_width(of), max_relative = 1e-6);
    }

    /// Parameters with errors of these two terms that go together, all others known.
    fn related(one: Entry, other: Entry) -> Parameters {
        let mut parameters = parameters();
        for entry in parameters.terms.entries() {
            let estimate = parameters.terms.estimate_mut(entry).unwrap();
            estimate.std_error = estimate.std_error.filter(|_| entry == one || entry == other);
        }
        let matrix = vec![1.0; 4];
        parameters.correlation = Some(Correlation::new(vec![one, other], matrix).unwrap());
        parameters
    }

    #[test]
    fn errors_that_go_together_add_up_or_cancel() {
        let width = |parameters: &Parameters| {
            let (_, low, high) = ask(parameters, 1.5).rows[3].least_granularity.unwrap();
            (high.0 - low.0) / (2.0 * 1.959_963_985)
        };
        // Both a tenth too long: the shared part stays, and so does the least granularity.
        let both = related(Term::ApuTime.entry(0), Term::ApuSerialTime.entry(0));
        approx::assert_abs_diff_eq!(width(&both), 0.0, epsilon = 1e-12);
        // 0.7 ms over 1.0625, of which a tenth of 0.3 ms more; and the shared part is 0.3*1/4^2 of
        // 3/4 more, so that 1.0625 is more by 0.75*0.3/16.
        let saved = 1.0625_f64;
        let expected = 0.03e-3 / saved - 0.7e-3 / saved / saved * 0.75 * 0.3 / 16.0;
        let both = related(Term::ApuTime.entry(0), Term::OffloadOverhead.entry(0));
        approx::assert_relative_eq!(width(&both), expected.abs(), max_relative = 1e-6);
        // sqrt(T_APU/(N*g)): a tenth more of two cancels, or is a tenth of the root.
        let width = |one, other| {
            let (_, low, high) = optimum(&related(one, other)).unwrap();
            (high - low) / (2.0 * 1.959_963_985) / 60.0_f64.sqrt()
        };
        approx::assert_abs_diff_eq!(
            width(Term::ApuTime.entry(0), Term::Gap.entry(0)),
            0.0,
            epsilon = 1e-9
        );
        approx::assert_abs_diff_eq!(
            width(Term::ApuTime.entry(0), Term::Offloads.entry(0)),
            0.0,
            epsilon = 1e-9
        );
        approx::assert_relative_eq!(
            width(Term::Offloads.entry(0), Term::Gap.entry(0)),
            0.1,
            max_relative = 1e-6
        );
    }

    #[test]
    fn the_last_apu_that_pays_is_the_best_whole_number_among_those_allowed() {
        assert_eq!(ask(&parameters(), 1.5).optimum.last_p, 8);
        let dividing = Constraints::NONE.p_divides(12);
        let answer = break_even(&parameters(), &dividing, 1.5).unwrap();
        // 3/6 + 6*0.05 = 0.8 ms and 3/12 + 12*0.05 = 0.85 ms.
        assert_eq!(answer.optimum.last_p, 6);
        let mut free = parameters();
        free.terms.g_s = Estimate::exact(0.0);
        assert_eq!(ask(&free, 1.5).optimum, Optimum { continuous: None, last_p: 16 });
    }

    #[test]
    fn a_host_that_takes_no_time_and_a_run_without_off_loads_are_refused() {
        assert!(break_even(&parameters(), &Constraints::NONE, 0.0).is_err());
        let mut none = parameters();
        none.terms.offloads = Estimate::exact(0.0);
        let error = break_even(&none, &Constraints::NONE, 1.0).unwrap_err().to_string();
        assert_eq!(error, "offloads: found 0, expected off-loads to compare with, more than 0");
    }

    #[test]
    fn an_error_of_the_shared_time_is_carried_to_the_least_granularity() {
        let mut parameters = parameters();
        for entry in parameters.terms.entries() {
            parameters.terms.estimate_mut(entry).unwrap().std_error = None;
        }
        parameters.terms.t_apu_s.std_error = Some(0.3);
        parameters.terms.c_apu_s.value = 2.0;
        let (least, _, high) = ask(&parameters, 1.5).rows[3].least_granularity.unwrap();
        // 0.7 ms over D = 0.5 + 3/5*3/4 = 0.95, of which dD/dt = 3/4*2/5^2 = 0.06.
        approx::assert_relative_eq!(least.0, 0.7e-3 / 0.95, max_relative = 1e-12);
        let expected = 1.959_963_985 * least.0 / 0.95 * 0.06 * 0.3;
        approx::assert_relative_eq!(high.0 - least.0, expected, max_relative = 1e-6);
    }

    #[test]
    fn the_time_on_apus_may_be_all_shared_or_hardly_but_not_nothing() {
        let with = |shared: f64, serial: f64| {
            let mut parameters = parameters();
            (parameters.terms.t_apu_s.value, parameters.terms.c_apu_s.value) = (shared, serial);
            break_even(&parameters, &Constraints::NONE, 1.5)
        };
        for (shared, serial, part) in [(3.0, 1.0, 0.75), (3.0, 0.0, 1.0), (1.0, 3.0, 0.25)] {
            assert_eq!(with(shared, serial).unwrap().shared_part, part);
        }
        let refused = |shared: f64, serial: f64, found: &str| {
            let error = with(shared, serial).unwrap_err().to_string();
            let expected =
                format!("t_apu_s + c_apu_s: found {found}, expected a time on APUs above 0");
            assert_eq!(error, expected);
        };
        refused(0.0, 0.0, "0");
        refused(-3.0, 1.0, "-2");
    }

    #[test]
    fn an_apu_that_gains_nothing_does_not_pay() {
        let mut parameters = parameters();
        let terms = &mut parameters.terms;
        (terms.t_apu_s.value, terms.offloads.value, terms.g_s.value) = (2.0, 1.0, 1.0);
        // 2/1 + 1 is 2/2 + 2.
        assert_eq!(ask(&parameters, 1.5).optimum.last_p, 1);
    }
}
