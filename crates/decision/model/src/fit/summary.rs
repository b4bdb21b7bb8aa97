//! A fit in a few lines: what was fitted, the formula with its numbers, and the terms that matter.

use std::fmt;

use super::FitResult;
use crate::models::Parameters;
use crate::models::parameters::{Decomposition, Estimate, OverM};
use crate::models::run::Breakdown;
use crate::models::terms::Term;
use crate::models::time_model::EQUATION_11;
use mmgp_base::Mapping;
use mmgp_base::quantity::Quantity;

/// The few lines; prints without a newline at the end of each.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// What was fitted, and how well.
    pub sentence: String,
    /// Equation 11 with the numbers in it.
    pub formula: String,
    /// The configuration at which terms are weighed: the fastest that was timed, without runs the
    /// fastest by the prediction.
    pub at: (u32, u32),
    /// What was measured there: `time`, `amount`.
    pub whole: &'static str,
    /// The terms that matter there, the largest first.
    pub terms: Vec<TermShare>,
}

/// A term and its part of the time.
#[derive(Debug, Clone, PartialEq)]
pub struct TermShare {
    /// Name in parameter files; of a table with the m.
    pub term: String,
    /// Value, with its standard error where that is known.
    pub estimate: Estimate,
    /// Share of the time, from 0 to 1.
    pub share: f64,
}

/// Most terms that are shown.
const SHOWN: usize = 5;

/// A term that makes up less than this is not worth a line.
const NOTABLE: f64 = 0.002;

/// The largest m that is looked at for the fastest configuration.
const LAST_M: u32 = 4096;

/// Numbers that differ by less than this fraction are the same, by rounding.
const ROUNDING: f64 = 1e-9;

impl FitResult {
    /// The fit in a few lines.
    pub fn summary(&self) -> Summary {
        let sentence = sentence(self) + &of_others(&self.parameters).unwrap_or_default();
        let whole = match self.parameters.quantity {
            Quantity::Time | Quantity::Rate(_) => "time",
            Quantity::Amount(_) => "amount",
        };
        if !self.traded.is_empty() {
            let (formula, terms) = (String::new(), Vec::new());
            return Summary { sentence, formula, at: (1, 1), whole, terms };
        }
        let measured = self.report.runs.as_ref().map(|runs| runs.fastest);
        let predicted = || fastest(&self.parameters);
        let at = measured.map_or_else(predicted, |(m, p)| Mapping::of(m, p));
        Summary {
            sentence,
            formula: formula(&self.parameters),
            at: (at.m(), at.p()),
            whole,
            terms: parts(&self.parameters, at),
        }
    }
}

/// The configuration of this machine with the least predicted time.
fn fastest(parameters: &Parameters) -> Mapping {
    let mut best = (Mapping::of(1, 1), f64::INFINITY);
    for m in 1..=parameters.apus.min(LAST_M) {
        let row = parameters.row(m);
        let last = parameters.apus / m;
        // The least of a + b/p + c*p is at the root of b/c; of nothing, the cast gives 0.
        let root = ((row.shared / row.growing).sqrt() as u32).clamp(1, last);
        for p in [1, root, root.saturating_add(1).min(last), last] {
            let time = row.at(p).0;
            if time < best.1 * (1.0 - ROUNDING) {
                best = (Mapping::of(m, p), time);
            }
        }
    }
    best.0
}

fn sentence(fitted: &FitResult) -> String {
    let Some(runs) = &fitted.report.runs else {
        return "The terms of equation 11 as files measured them, without a timed run.".into();
    };
    if !fitted.traded.is_empty() {
        return format!(
            "{} timed configurations in {}. They do not tell the terms of equation 11; what they tell of \
             times, predictions weigh.",
            runs.configurations, runs.file
        );
    }
    let left_out = runs.left_out.iter().find(|it| it.mean == EQUATION_11);
    let left_out = left_out.map_or(String::new(), |each| {
        format!(", with its misfit by {:.1} % at configurations left out", 100.0 * each.mean_error)
    });
    format!(
        "Equation 11 given {} runs of {} configurations in {}: its terms are off by {:.1} % in the \
         mean{left_out}.",
        runs.runs,
        runs.configurations,
        runs.file,
        100.0 * runs.mean_error
    )
}

/// Equation 11 with the numbers of these parameters, without what is not there:
/// `T = 7.4 + 0.5 (m - 1) + 582/(m p) + 0.9 p s`.
pub fn formula(parameters: &Parameters) -> String {
    let tables = [&parameters.terms.alpha, &parameters.terms.o_col_s];
    let last_m = |over: &OverM| match over {
        OverM::Constant(_) => None,
        OverM::Table(table) => table.m.last().copied(),
    };
    let last = tables.into_iter().filter_map(last_m).chain([2]).max();
    let last = last.map_or(2, |last| last.min(LAST_M));
    // Of a task decomposition, what each of the rounds takes.
    let of_round = |m: u32| match parameters.decomposition {
        Decomposition::Data => 1.0,
        Decomposition::Task { tasks } => f64::from(tasks.div_ceil(m)),
    };
    let constant = |m: u32| parameters.row(m).constant / of_round(m);
    let row = parameters.row(1);
    let by_m = match parameters.decomposition {
        Decomposition::Data => "(m p)",
        Decomposition::Task { .. } => "p",
    };
    let mut parts = Vec::new();
    if constant(1) > 0.0 {
        parts.push(number(constant(1)));
    }
    parts.extend(growth(last, |m| constant(m) - constant(1), constant(1)));
    if row.shared > 0.0 {
        parts.push(format!("{}/{by_m}", number(row.shared / of_round(1))));
    }
    if row.growing > 0.0 {
        parts.push(format!("{} p", number(row.growing / of_round(1))));
    }
    let sum = if parts.is_empty() { "0".to_string() } else { parts.join(" + ") };
    let (symbol, unit) = match parameters.quantity.unit_of_terms() {
        None => ("T".to_string(), " s"),
        Some(unit) => (unit, ""),
    };
    match parameters.decomposition {
        Decomposition::Data => format!("{symbol} = {sum}{unit}"),
        Decomposition::Task { tasks } => {
            format!("{symbol} = ceil({tasks}/m) rounds of ({sum}){unit}")
        }
    }
}

/// What the terms are where runs are no times.
fn of_others(parameters: &Parameters) -> Option<String> {
    let quantity = &parameters.quantity;
    Some(format!(" Runs are {quantity}: terms are {}.", quantity.said_of_terms()?))
}

/// What further threads add, which is `excess` up to `last`; `None` for nothing.
fn growth(last: u32, excess: impl Fn(u32) -> f64, constant: f64) -> Option<String> {
    let all: Vec<u32> = (2..=last).collect();
    let size = all.iter().map(|&m| excess(m).abs()).fold(0.0, f64::max);
    if size <= ROUNDING * constant {
        return None;
    }
    let is = |shape: &dyn Fn(f64) -> f64| {
        let factor = excess(last) / shape(f64::from(last));
        let meets = |&m: &u32| (excess(m) - factor * shape(f64::from(m))).abs() < 1e-6 * size;
        all.iter().all(meets).then(|| number(factor))
    };
    if let Some(slope) = is(&|m| m - 1.0).filter(|_| last > 2) {
        return Some(format!("{slope} (m - 1)"));
    }
    if let Some(step) = is(&|_| 1.0) {
        return Some(format!("{step} [m > 1]"));
    }
    if let Some(slope) = is(&f64::log2) {
        return Some(format!("{slope} log2(m)"));
    }
    Some(format!("(0 .. {} from m = 1 to {last})", number(excess(last))))
}

/// A number as people write it, with three digits.
fn number(value: f64) -> String {
    let digits = value.abs().log10().floor();
    if value == 0.0 {
        return "0".into();
    }
    if !(-3.0..5.0).contains(&digits) {
        return format!("{value:.2e}");
    }
    let decimals = (2.0 - digits).max(0.0) as usize;
    let text = format!("{value:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text,
    }
}

/// The terms by what they add to the time at one configuration.
fn parts(parameters: &Parameters, at: Mapping) -> Vec<TermShare> {
    let terms = &parameters.terms;
    let breakdown = parameters.breakdown(at);
    let total = breakdown.total().0;
    let alpha = terms.alpha_at(at.m());
    let over_m = |name: &str, values: &OverM| {
        let value = values.at(at.m(), 1.0);
        let nearest = match values {
            OverM::Constant(estimate) => estimate,
            OverM::Table(table) => {
                let index = table.m.partition_point(|&m| m < at.m()).min(table.m.len() - 1);
                &table.values[index]
            }
        };
        // Of a line that is known at its end, the error is less before it.
        let excess = |value: f64| value - if name == Term::Alpha.name() { 1.0 } else { 0.0 };
        let part =
            if excess(nearest.value) > 0.0 { excess(value) / excess(nearest.value) } else { 1.0 };
        let std_error = nearest.std_error.map(|error| error * part);
        (format!("{name}({})", at.m()), Estimate { value, std_error, ..nearest.clone() })
    };
    let Breakdown { hpu_s, apu_s, apu_serial_s, offload_s, context_switch_s, collective_s, gap_s } =
        breakdown;
    let named = |name: &str, estimate: &Estimate| (name.to_string(), estimate.clone());
    let of_alone = hpu_s / alpha;
    let all = [
        (named("t_hpu_s", &terms.t_hpu_s), of_alone),
        (over_m("alpha", &terms.alpha), hpu_s - of_alone),
        (named("t_apu_s", &terms.t_apu_s), apu_s),
        (named("c_apu_s", &terms.c_apu_s), apu_serial_s),
        (named("o_offload_s", &terms.o_offload_s), offload_s),
        (named("t_csw_s", &terms.t_csw_s), context_switch_s),
        (over_m("o_col_s", &terms.o_col_s), collective_s),
        (named("g_s", &terms.g_s), gap_s),
    ];
    let mut parts: Vec<TermShare> = all
        .into_iter()
        .map(|((term, estimate), time)| TermShare { term, estimate, share: time / total })
        .filter(|part| part.share > NOTABLE)
        .collect();
    parts.sort_by(|one, other| other.share.total_cmp(&one.share));
    parts.truncate(SHOWN);
    parts
}

impl fmt::Display for TermShare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { term, estimate, share } = self;
        let error = estimate.std_error.map(|error| format!(" +- {}", number(error)));
        let value = format!("{}{}", number(estimate.value), error.unwrap_or_default());
        write!(f, "{term:<12} {value:<22} {:>3.0} %", 100.0 * share)
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.sentence)?;
        if !self.formula.is_empty() {
            write!(f, "\n{}", self.formula)?;
        }
        if !self.terms.is_empty() {
            let ((m, p), whole) = (self.at, self.whole);
            write!(f, "\n  term         with standard error    of the {whole} at ({m}, {p})")?;
        }
        for part in &self.terms {
            write!(f, "\n  {part}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::trials::{TERMS, exact_runs, feasible, fitted, measured, only, truth};
    use super::*;

    fn check(decomposition: Decomposition, slope: f64, expected: &str) {
        let truth = truth(decomposition, slope, TERMS);
        let inputs = only(exact_runs(&truth, &feasible()));
        let fitted = fitted(&inputs, decomposition).unwrap();
        assert_eq!(fitted.summary().formula, expected);
    }

    #[test]
    fn the_formula_has_the_numbers_that_the_runs_determine() {
        // 8 + 2 + 1000*(100 + 50 + 150) us at every configuration, 0.08*8 for each further thread.
        check(Decomposition::Data, 0.08, "T = 10.3 + 0.64 (m - 1) + 120/(m p) + 0.2 p s");
        let tasks = Decomposition::Task { tasks: 16 };
        let rounds = "T = ceil(16/m) rounds of (0.644 + 0.04 (m - 1) + 7.5/p + 0.0125 p) s";
        check(tasks, 0.08, rounds);
    }

    #[test]
    fn the_terms_are_those_that_the_fastest_configuration_spends_its_time_on() {
        let truth = truth(Decomposition::Data, 0.08, TERMS);
        let summary = fitted(&measured(&truth), Decomposition::Data).unwrap().summary();
        let shares: f64 = summary.terms.iter().map(|part| part.share).sum();
        assert!(summary.terms.len() == SHOWN && shares > 0.95, "{summary}");
        // (2, 8) takes 8*1.08 + 120/16 + 2 + 0.3 + 1.6 = 20.04 s; (4, 4) 20.52, (1, 16) 21 s.
        assert_eq!((summary.at, summary.terms[0].term.as_str()), ((2, 8), "t_hpu_s"));
        approx::assert_relative_eq!(summary.terms[0].share, 8.0 / 20.04, max_relative = 1e-9);
    }

    #[test]
    fn numbers_have_three_digits() {
        let all = [0.0, 7.4, 51.63, 582.4, 12_345.6, 1e7, 0.00123, 1.5e-6].map(number);
        assert_eq!(all, ["0", "7.4", "51.6", "582", "12346", "1.00e7", "0.00123", "1.50e-6"]);
    }

    #[test]
    fn what_threads_add_is_told_in_the_plainest_form_that_gives_it() {
        let told = |excess: fn(f64) -> f64| growth(8, |m| excess(f64::from(m)), 10.0);
        assert_eq!(told(|m| 0.5 * (m - 1.0)).as_deref(), Some("0.5 (m - 1)"));
        assert_eq!(told(|_| 0.25).as_deref(), Some("0.25 [m > 1]"));
        assert_eq!(told(|m| 1.5 * m.log2()).as_deref(), Some("1.5 log2(m)"));
        assert_eq!(told(f64::sqrt).as_deref(), Some("(0 .. 2.83 from m = 1 to 8)"));
        assert_eq!(told(|_| 0.0), None);
        assert_eq!(told(|m| 1e-12 * m), None);
        // A thousand-millionth of the constant is nothing; a small curve is no line.
        assert_eq!(told(|m| 1e-9 * m), None);
        assert_eq!(told(|m| 1e-4 * m.sqrt()).as_deref(), Some("(0 .. 2.83e-4 from m = 1 to 8)"));
        // Of one further thread a line is no form.
        assert_eq!(growth(2, |_| 0.25, 10.0).as_deref(), Some("0.25 [m > 1]"));
    }

    #[test]
    fn the_fastest_is_that_of_a_look_at_all() {
        for (slope, tasks) in [(0.0, None), (0.08, None), (0.5, None), (0.08, Some(12))] {
            for apus in [1, 6, 16, 48] {
                let decomposition =
                    tasks.map_or(Decomposition::Data, |tasks| Decomposition::Task { tasks });
                let parameters = Parameters { apus, ..truth(decomposition, slope, TERMS) };
                let all = (1..=apus).flat_map(|m| (1..=apus / m).map(move |p| Mapping::of(m, p)));
                let time = |mapping: &Mapping| parameters.time(*mapping).0;
                let least = all.map(|it| time(&it)).fold(f64::INFINITY, f64::min);
                let found = time(&fastest(&parameters));
                approx::assert_relative_eq!(found, least, max_relative = 1e-9);
            }
        }
    }

    #[test]
    fn a_reader_gets_a_sentence_the_formula_and_a_line_for_each_term() {
        let truth = truth(Decomposition::Data, 0.08, TERMS);
        let files = fitted(&measured(&truth), Decomposition::Data).unwrap().summary();
        let text = files.to_string();
        assert!(text.starts_with("The terms of equation 11 as files measured them"), "{text}");
        assert!(text.contains("\nT = 10.3 + 0.64 (m - 1) + 120/(m p) + 0.2 p s\n"), "{text}");
        assert!(text.contains("of the time at (2, 8)\n  t_hpu_s      8 +- 0"), "{text}");
        // 8 of 20.04 s.
        assert!(text.contains(" 40 %"), "{text}");
        let runs = only(exact_runs(&truth, &feasible()));
        let summary = fitted(&runs, Decomposition::Data).unwrap().summary();
        let expected = "Equation 11 given 150 runs of 50 configurations in runs.csv: its terms are off by 0.0 %";
        assert!(summary.sentence.starts_with(expected), "{}", summary.sentence);
    }

    #[test]
    fn a_term_between_the_entries_of_its_table_has_its_value_there_and_as_much_of_the_error_of_the_next()
     {
        let mut parameters = crate::toy::parameters(Decomposition::Data);
        let values = [(1.0, 0.0), (1.25, 0.1), (1.75, 0.2)];
        let values = values.map(|(value, error)| crate::toy::estimate(value, error)).to_vec();
        parameters.terms.alpha =
            OverM::Table(crate::models::parameters::Table::new(vec![1, 2, 4], values));
        // Few enough terms that all are shown.
        parameters.terms.t_apu_s.value = 0.0;
        parameters.terms.offloads.value = 0.0;
        let alpha = |m: u32| {
            let parts = parts(&parameters, Mapping::of(m, 1));
            let part = parts.into_iter().find(|part| part.term.starts_with("alpha")).unwrap();
            (part.term, part.estimate.value, part.estimate.std_error, part.share)
        };
        // Beside 2 s of T_HPU, 1 s of C_APU, and 4 collectives of 0.0625, 0.28125 and 0.5 s.
        assert_eq!(alpha(2), ("alpha(2)".into(), 1.25, Some(0.1), 0.5 / 3.75));
        // Two thirds of what the next is above 1, and of its error.
        assert_eq!(alpha(3), ("alpha(3)".into(), 1.5, Some(0.2 * (0.5 / 0.75)), 1.0 / 5.125));
        assert_eq!(alpha(8), ("alpha(8)".into(), 1.75, Some(0.2), 1.5 / 6.5));
    }

    /// T_APU and C_APU, and nothing else.
    fn of_apus(t_apu_s: f64, c_apu_s: f64) -> Parameters {
        let mut parameters = crate::toy::parameters(Decomposition::Data);
        parameters.terms = crate::models::parameters::Terms::nothing();
        parameters.terms.t_apu_s = Estimate::exact(t_apu_s);
        parameters.terms.c_apu_s = Estimate::exact(c_apu_s);
        parameters
    }

    #[test]
    fn a_formula_leaves_out_what_is_not_there() {
        let told = |t_apu_s, c_apu_s| formula(&of_apus(t_apu_s, c_apu_s));
        assert_eq!(told(32.0, 0.0), "T = 32/(m p) s");
        assert_eq!(told(0.0, 1.5), "T = 1.5 s");
        assert_eq!(told(32.0, 1.5), "T = 1.5 + 32/(m p) s");
        assert_eq!(told(0.0, 0.0), "T = 0 s");
    }

    #[test]
    fn of_mappings_that_take_as_long_the_one_of_fewest_threads_is_the_fastest() {
        assert_eq!(fastest(&of_apus(32.0, 0.0)), Mapping::of(1, 16));
    }
}
