//! The parameters of the model, from whatever was measured.
//!
//! Micro-benchmarks and a sequential profile each determine terms of equation 11 directly:
//! [`Inputs`] holds their rows. Timed runs of the program at several (m, p) estimate, by weighted
//! least squares, the terms that no file measures. What a file measures is held at its value.
//!
//! Runs alone cannot tell all terms apart. With `alpha_m = 1 + a*(m - 1)`, equation 11 holds four
//! combinations of them: what costs the same at every (m, p), `T_HPU + C_APU + N*(O_offload +
//! T_CSW + O_COL)`; what grows with m, `a*T_HPU`; what is shared, `T_APU`; and what grows with p,
//! `N*g`. A sum that cannot be split is estimated as one and put on one term, which is marked
//! ([`Estimate::combined_with`]), so that predictions lose nothing. Where the runs cannot even
//! tell the combinations apart, the error names the configuration to time next.
//!
//! Standard errors of terms from runs take the held terms as exact.
//!
//! ```
//! use mmgp::fit::{Inputs, Runs, Settings, fit};
//! use mmgp::model::parameters::Decomposition;
//! use mmgp::table::Source;
//!
//! // 2 + 12/(m*p) + p/2 seconds, and nothing that grows with m.
//! let text = "m,p,repetition,time_s\n1,1,1,14.5\n1,2,1,9\n2,1,1,8.5\n2,2,1,6\n1,4,1,7\n";
//! let (runs, _) = Runs::read(&Source::new("runs.csv", text))?;
//! let settings =
//!     Settings { name: "toy".into(), decomposition: Decomposition::Data, apus: 4 };
//! let fitted = fit(&Inputs { runs: Some(runs), ..Inputs::default() }, &settings)?;
//! let terms = &fitted.parameters.terms;
//! assert!((terms.t_apu_s.value - 12.0).abs() < 1e-9);
//! assert!((terms.t_hpu_s.value - 2.0).abs() < 1e-9);
//! assert!(terms.t_hpu_s.combined_with.contains(&"c_apu_s".to_string()));
//! # Ok::<(), mmgp::Error>(())
//! ```

mod alpha;
mod collective;
mod context_switch;
mod design;
mod identify;
mod joint;
mod known;
mod least_squares;
pub mod loggp;
mod offload;
mod profile;
pub mod report;
pub mod runs;
mod sample;
mod scatter;
pub mod shape;
mod term;
#[cfg(test)]
mod trials;

pub use report::Report;
pub use runs::Runs;

use crate::error::{Error, Result, Warning};
use crate::model::Parameters;
use crate::model::parameters::{Decomposition, Estimate};
use crate::model::uncertainty::Correlation;
use crate::table::csv::{self, Record};
use crate::table::{Source, records};
use known::Known;
use shape::Choice;

/// The rows of a file, with its name.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured<R> {
    /// The file's name as the user gave it.
    pub file: String,
    /// Its rows; at least one.
    pub rows: Vec<R>,
}

impl<R: Record> Measured<R> {
    /// Reads and checks all rows.
    pub fn read(source: &Source) -> Result<(Self, Vec<Warning>)> {
        let (rows, warnings) = csv::read(source)?;
        Ok((Self { file: source.name.clone(), rows }, warnings))
    }
}

/// Everything that may have been measured; each is optional, but a profile or runs must be there.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Inputs {
    /// `alpha.csv`, which determines alpha.
    pub alpha: Option<Measured<records::Alpha>>,
    /// `offload.csv`, which determines O_offload.
    pub offload: Option<Measured<records::Offload>>,
    /// `context_switch.csv`, which determines T_CSW.
    pub context_switch: Option<Measured<records::ContextSwitch>>,
    /// `collective.csv`, which determines O_COL.
    pub collective: Option<Measured<records::Collective>>,
    /// `profile.csv`, which determines T_HPU, T_APU, C_APU, N, g and the number of collectives.
    pub profile: Option<Measured<records::Profile>>,
    /// `runs.csv`, which estimates what the others leave open, or checks them.
    pub runs: Option<Runs>,
}

/// What the parameters are of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Name of the parameter set.
    pub name: String,
    /// How the program divides its work among host threads.
    pub decomposition: Decomposition,
    /// N_APU: APUs available.
    pub apus: u32,
}

/// Parameters, how they were obtained, and doubts.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// The terms, each with standard error and source where they are known.
    pub parameters: Parameters,
    /// How each term was obtained, and how well the model meets the runs.
    pub report: Report,
    /// Doubts about the result.
    pub warnings: Vec<Warning>,
}

/// A term as one file determines it.
#[derive(Debug)]
struct Measurement<T> {
    value: T,
    /// Rows that went into it.
    observations: u64,
    /// How the shape of a term over m was chosen, for the term and for each of its parts.
    choices: Vec<Choice>,
    /// How the errors of the entries of a term over m go together, where they do.
    correlation: Option<Correlation>,
    warnings: Vec<Warning>,
}

impl<T> Measurement<T> {
    /// Of a term without a shape.
    fn new(value: T, observations: u64, warnings: Vec<Warning>) -> Self {
        Self { value, observations, choices: Vec::new(), correlation: None, warnings }
    }
}

/// Estimates all terms from what was measured.
///
/// # Errors
///
/// [`Error::TooLittleData`] where neither a profile nor runs are given, where a file lacks the
/// rows that its term needs, or where the runs leave the terms undetermined; [`Error::Fit`] where
/// the least squares do not converge; [`Error::OutOfRange`] for no APUs or no tasks.
pub fn fit(inputs: &Inputs, settings: &Settings) -> Result<Fitted> {
    check(inputs, settings)?;
    let known = Known::from(inputs, settings)?;
    let mut warnings = known.warnings.clone();
    let mut parameters = known.parameters(settings);
    let unknown = known.unknown_terms();
    let (in_runs, left) = match &inputs.runs {
        Some(runs) => {
            let joint = joint::fit(&parameters, &unknown, runs)?;
            parameters = joint.parameters;
            warnings.extend(joint.warnings);
            (Some(joint.report), joint.undetermined)
        }
        None => (None, unknown.clone()),
    };
    warnings.extend(left.iter().map(|term| term.not_measured()));
    let terms = report::terms(&parameters, &known, inputs.runs.as_ref());
    let loggp = inputs.offload.as_ref().map(loggp::loggp).transpose()?;
    let name = settings.name.clone();
    let report = Report { name, terms, choices: known.choices, loggp, runs: in_runs };
    Ok(Fitted { parameters, report, warnings })
}

/// Refuses what cannot be fitted whatever the rows say.
fn check(inputs: &Inputs, settings: &Settings) -> Result<()> {
    let at_least_one = |name| Error::OutOfRange {
        name,
        found: "0".into(),
        expected: "a whole number of at least 1".into(),
    };
    if settings.apus == 0 {
        return Err(at_least_one("apus"));
    }
    if settings.decomposition == (Decomposition::Task { tasks: 0 }) {
        return Err(at_least_one("tasks"));
    }
    if inputs.profile.is_none() && inputs.runs.is_none() {
        return Err(Error::TooLittleData {
            file: "fit".into(),
            found: "neither a profile nor timed runs".into(),
            advice: "give --profile FILE or --runs FILE".into(),
        });
    }
    Ok(())
}

/// An estimate of which only the value and the origin are known.
fn stated(value: f64, source: &str) -> Estimate {
    Estimate { source: Some(source.to_string()), ..Estimate::exact(value) }
}

#[cfg(test)]
mod tests {
    use super::trials::*;
    use super::*;
    use crate::model::parameters::OverM;

    const DATA: Decomposition = Decomposition::Data;
    const TASK: Decomposition = Decomposition::Task { tasks: 16 };

    /// Every feasible prediction of the fit is the truth's, to rounding.
    fn check_predictions(fitted: &Fitted, truth: &Parameters) {
        for (m, p) in feasible() {
            let (found, expected) = (fitted.parameters.time(m, p).0, truth.time(m, p).0);
            approx::assert_relative_eq!(found, expected, max_relative = 1e-9);
        }
    }

    fn messages(fitted: &Fitted) -> Vec<String> {
        fitted.warnings.iter().map(Warning::to_string).collect()
    }

    #[test]
    fn all_terms_come_back_from_their_files() {
        for decomposition in [DATA, TASK] {
            let truth = truth(decomposition, 0.08, TERMS);
            let fitted = fitted(&measured(&truth), decomposition).unwrap();
            check_predictions(&fitted, &truth);
            let (found, expected) = (fitted.parameters.terms, truth.terms);
            approx::assert_relative_eq!(found.o_offload_s.value, expected.o_offload_s.value);
            approx::assert_relative_eq!(found.g_s.value, expected.g_s.value);
            assert_eq!(found.t_hpu_s.source.as_deref(), Some("profile.csv"));
            assert_eq!(fitted.warnings, []);
        }
    }

    #[test]
    fn runs_alone_predict_exactly_and_mark_the_sum() {
        for decomposition in [DATA, TASK] {
            let truth = truth(decomposition, 0.08, TERMS);
            let inputs = only(exact_runs(&truth, &feasible()));
            let fitted = fitted(&inputs, decomposition).unwrap();
            check_predictions(&fitted, &truth);
            let terms = &fitted.parameters.terms;
            // 8 + 2 + 1000*(100 + 50 + 150) us, and 1000*200 us for each APU.
            approx::assert_relative_eq!(terms.t_hpu_s.value, 10.3, max_relative = 1e-9);
            approx::assert_relative_eq!(terms.t_apu_s.value, 120.0, max_relative = 1e-9);
            approx::assert_relative_eq!(terms.g_s.value, 0.2, max_relative = 1e-8);
            assert_eq!(
                terms.t_hpu_s.combined_with,
                ["c_apu_s", "o_offload_s", "t_csw_s", "o_col_s"]
            );
            assert_eq!(
                messages(&fitted),
                [
                    "t_hpu_s stands for a sum that these data cannot split: t_hpu_s + c_apu_s + \
                     offloads*o_offload_s + offloads*t_csw_s + collectives*o_col_s",
                    "offloads was not measured and is taken as 1; give --profile FILE to measure it"
                ]
            );
        }
    }

    #[test]
    fn what_a_file_measures_is_held() {
        let truth = truth(DATA, 0.08, TERMS);
        let all = Inputs { runs: Some(exact_runs(&truth, &feasible())), ..measured(&truth) };
        let without_alpha = Inputs { alpha: None, ..all.clone() };
        let without_profile = Inputs { profile: None, ..all.clone() };
        let without_overheads =
            Inputs { offload: None, context_switch: None, collective: None, ..all };
        for inputs in [&without_alpha, &without_profile, &without_overheads] {
            check_predictions(&fitted(inputs, DATA).unwrap(), &truth);
        }
        let slope = fitted(&without_alpha, DATA).unwrap().parameters.terms;
        approx::assert_relative_eq!(slope.alpha_at(11), 1.8, max_relative = 1e-9);
        assert_eq!(slope.t_hpu_s.value, 8.0);
        // With alpha known, host time is the part that alpha slows down.
        let program = fitted(&without_profile, DATA).unwrap().parameters.terms;
        approx::assert_relative_eq!(program.t_hpu_s.value, 8.0, max_relative = 1e-8);
        assert!(program.t_hpu_s.combined_with.is_empty());
        let overhead = fitted(&without_overheads, DATA).unwrap().parameters.terms.o_offload_s;
        approx::assert_relative_eq!(overhead.value, 3e-4, max_relative = 1e-8);
        assert_eq!(overhead.combined_with, ["t_csw_s", "o_col_s"]);
    }

    #[test]
    fn with_everything_measured_the_runs_only_check() {
        let truth = truth(DATA, 0.08, TERMS);
        let mut runs = exact_runs(&truth, &[(1, 1), (2, 2), (4, 4)]);
        runs.cells[1].mean_s *= 1.25;
        let inputs = Inputs { runs: Some(runs), ..measured(&truth) };
        let report = fitted(&inputs, DATA).unwrap().report.runs.unwrap();
        assert_eq!((report.estimated, report.worst, report.convergence), (0, (2, 2), None));
        // The model says 1/1.25 of what was measured.
        approx::assert_relative_eq!(report.max_error_percent, 20.0, max_relative = 1e-9);
        approx::assert_relative_eq!(report.mean_error_percent, 20.0 / 3.0, max_relative = 1e-9);
    }

    #[test]
    fn what_nothing_determines_is_neutral_and_said() {
        let truth = truth(DATA, 0.08, TERMS);
        let inputs = Inputs { profile: measured(&truth).profile, ..Inputs::default() };
        let fitted = fitted(&inputs, DATA).unwrap();
        // 8 + 120/8 + 2 + 1000*4*200 us
        approx::assert_relative_eq!(fitted.parameters.time(2, 4).0, 25.8, max_relative = 1e-12);
        let taken = |(term, taken, flag)| {
            format!("{term} was not measured and is taken as {taken}; give {flag} to measure it")
        };
        let expected = [
            ("alpha", 1, "--alpha FILE, or --runs FILE with several m,"),
            ("o_offload_s", 0, "--offload FILE"),
            ("t_csw_s", 0, "--context-switch FILE"),
            ("o_col_s", 0, "--collective FILE"),
        ];
        assert_eq!(messages(&fitted), expected.map(taken));
    }

    #[test]
    fn nothing_gives_nothing() {
        let inputs = Inputs { profile: None, ..measured(&truth(DATA, 0.08, TERMS)) };
        assert_eq!(
            fitted(&inputs, DATA).unwrap_err().to_string(),
            "fit: neither a profile nor timed runs; give --profile FILE or --runs FILE"
        );
        let settings = Settings { name: String::new(), decomposition: DATA, apus: 0 };
        assert_eq!(
            fit(&inputs, &settings).unwrap_err().to_string(),
            "apus: found 0, expected a whole number of at least 1"
        );
        let error = fitted(&inputs, Decomposition::Task { tasks: 0 }).unwrap_err().to_string();
        assert_eq!(error, "tasks: found 0, expected a whole number of at least 1");
    }

    #[test]
    fn a_truth_under_noise_comes_back_within_its_standard_errors() {
        let mut deviations: [Vec<f64>; 4] = Default::default();
        let truths = [
            (DATA, 0.08, TERMS),
            (DATA, 0.3, [20.0, 360.0, 0.6, 1500.0, 7e-5, 2e-6, 3e-4, 1e-5]),
            (TASK, 0.1, [30.0, 118.0, 50.0, 100.0, 1e-4, 2e-6, 2e-2, 0.0]),
        ];
        for (seed, (decomposition, slope, terms)) in
            (1..=20).flat_map(|seed| truths.map(|truth| (seed, truth)))
        {
            let truth = truth(decomposition, slope, terms);
            let inputs = only(noisy_runs(&truth, &feasible(), 0.02, seed));
            let found = fitted(&inputs, decomposition).unwrap().parameters.terms;
            let [t_hpu, t_apu, c_apu, offloads, o_offload, t_csw, g, o_col] = terms;
            let sum = t_hpu + c_apu + offloads * (o_offload + t_csw + o_col);
            let OverM::Table(alpha) = &found.alpha else { panic!("a table") };
            let last = alpha.values.last().unwrap();
            let pairs = [
                (&found.t_hpu_s, sum),
                (&found.t_apu_s, t_apu),
                (&found.g_s, offloads * g),
                (last, 1.0 + 15.0 * slope * t_hpu / sum),
            ];
            for ((estimate, truth), all) in pairs.into_iter().zip(&mut deviations) {
                all.push((estimate.value - truth) / estimate.std_error.unwrap());
            }
        }
        // In units of its standard error, a deviation squared is 1 on average; the mean of 60 has
        // the standard error sqrt(2/60) = 0.18, of which three are allowed.
        for all in deviations {
            let mean_square = all.iter().map(|each| each * each).sum::<f64>() / all.len() as f64;
            assert!((0.46..1.54).contains(&mean_square), "{mean_square}");
            assert!(all.iter().all(|each| each.abs() < 4.0));
        }
    }

    #[test]
    fn a_term_that_would_be_negative_ends_at_its_bound() {
        // Every further APU saves time that no sharing explains.
        let truth = truth(DATA, 0.08, [8.0, 120.0, 2.0, 1000.0, 0.0, 0.0, 0.0, 0.0]);
        let mut runs = exact_runs(&truth, &feasible());
        for cell in &mut runs.cells {
            cell.mean_s -= 0.02 * f64::from(cell.p);
        }
        let fitted_gap = fitted(&only(runs), DATA).unwrap();
        assert_eq!(fitted_gap.parameters.terms.g_s.value, 0.0);
        assert_eq!(fitted_gap.parameters.terms.g_s.std_error, None);
        assert!(fitted_gap.warnings.contains(&Warning::AtBound { term: "g_s", bound: 0.0 }));
        assert!(fitted_gap.parameters.terms.t_apu_s.std_error.is_some());
    }

    #[test]
    fn threads_that_speed_the_host_up_end_at_alpha_1() {
        let mut runs = exact_runs(&truth(DATA, 0.0, TERMS), &feasible());
        for cell in &mut runs.cells {
            cell.mean_s -= 0.05 * f64::from(cell.m);
        }
        let fitted = fitted(&only(runs), DATA).unwrap();
        assert_eq!(fitted.parameters.terms.alpha_at(16), 1.0);
        assert!(fitted.warnings.contains(&Warning::AtBound { term: "alpha", bound: 1.0 }));
    }

    #[test]
    fn where_no_bound_holds_it_is_the_weighted_normal_equations() {
        let truth = truth(DATA, 0.2, TERMS);
        let runs = noisy_runs(&truth, &feasible(), 0.02, 7);
        let found = fitted(&only(runs.clone()), DATA).unwrap().parameters.terms;
        // The same four combinations, written out: 1, m - 1, 1/(m*p), p, each over the time.
        let mut normal = nalgebra::Matrix4::zeros();
        let mut right = nalgebra::Vector4::zeros();
        for cell in &runs.cells {
            let (m, p) = (f64::from(cell.m), f64::from(cell.p));
            let row = nalgebra::Vector4::new(1.0, m - 1.0, 1.0 / (m * p), p) / cell.mean_s;
            normal += row * row.transpose();
            right += row;
        }
        let solution = normal.cholesky().unwrap().solve(&right);
        let t_hpu = found.t_hpu_s.value;
        let slope = t_hpu * (found.alpha_at(16) - 1.0) / 15.0;
        let joint = [t_hpu, slope, found.t_apu_s.value, found.g_s.value];
        for (found, expected) in joint.iter().zip(solution.iter()) {
            approx::assert_relative_eq!(found, expected, max_relative = 1e-8);
        }
    }

    /// What runs of these configurations are refused with.
    fn check_refused(configurations: &[(u32, u32)], expected: &str) {
        let truth = truth(DATA, 0.08, TERMS);
        let error = fitted(&only(exact_runs(&truth, configurations)), DATA).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn too_few_configurations_name_the_one_to_time_next() {
        check_refused(
            &[(1, 1)],
            "runs.csv: runs at (m, p) = (1, 1) cannot tell apart t_hpu_s, t_apu_s; also time \
             (m, p) = (1, 16), or give --profile FILE",
        );
        // T_HPU - 17, T_APU + 16, a*T_HPU + 1, N*g + 1 leaves these three times as they are. It
        // changes that of (2, 3) by 31/3 s of the 71/3 s that its parts add up to, 44 %, and no
        // other by as much.
        check_refused(
            &[(1, 1), (1, 16), (16, 1)],
            "runs.csv: runs at (m, p) = (1, 1), (1, 16), (16, 1) cannot tell apart t_hpu_s, \
             t_apu_s, (alpha - 1)*t_hpu_s, offloads*p*g_s; also time (m, p) = (2, 3), or give \
             --profile FILE",
        );
    }

    #[test]
    fn who_follows_the_advice_gets_a_fit_from_few_configurations() {
        for decomposition in [DATA, TASK] {
            let truth = truth(decomposition, 0.08, TERMS);
            let mut configurations = vec![(1, 1), (2, 1)];
            let fitted = loop {
                match fitted(&only(exact_runs(&truth, &configurations)), decomposition) {
                    Ok(fitted) => break fitted,
                    Err(error) => configurations.push(advised(&error.to_string())),
                }
                assert!(configurations.len() <= 5, "{configurations:?}");
            };
            check_predictions(&fitted, &truth);
        }
    }

    /// The (m, p) that a message says to time.
    fn advised(message: &str) -> (u32, u32) {
        let advice = message.split("also time (m, p) = (").nth(1).unwrap();
        let (m, rest) = advice.split_once(", ").unwrap();
        (m.parse().unwrap(), rest.split_once(')').unwrap().0.parse().unwrap())
    }

    #[test]
    fn runs_at_one_m_leave_alpha_open() {
        let truth = truth(DATA, 0.08, TERMS);
        let runs = exact_runs(&truth, &[(1, 1), (1, 2), (1, 4), (1, 8)]);
        let fitted = fitted(&only(runs), DATA).unwrap();
        approx::assert_relative_eq!(
            fitted.parameters.time(1, 16).0,
            truth.time(1, 16).0,
            max_relative = 1e-9
        );
        assert_eq!(fitted.parameters.terms.alpha_at(4), 1.0);
        let alpha = "alpha was not measured and is taken as 1";
        assert!(messages(&fitted).iter().any(|message| message.starts_with(alpha)));
    }

    #[test]
    fn runs_at_one_p_cannot_split_the_gap_off() {
        let truth = truth(DATA, 0.08, TERMS);
        let runs = exact_runs(&truth, &[(1, 2), (2, 2), (4, 2), (8, 2)]);
        let fitted = fitted(&only(runs), DATA).unwrap();
        approx::assert_relative_eq!(
            fitted.parameters.time(6, 2).0,
            truth.time(6, 2).0,
            max_relative = 1e-9
        );
        let terms = &fitted.parameters.terms;
        assert_eq!(terms.g_s.value, 0.0);
        assert_eq!(terms.g_s.source.as_deref(), Some("carried by t_hpu_s"));
        assert!(terms.t_hpu_s.combined_with.contains(&"g_s".to_string()));
        assert!(
            messages(&fitted).iter().any(|message| message.starts_with("g_s was not measured"))
        );
    }

    #[test]
    fn a_run_must_take_some_time() {
        let mut runs = exact_runs(&truth(DATA, 0.08, TERMS), &[(1, 1), (1, 2)]);
        runs.cells[1].mean_s = 0.0;
        assert_eq!(
            fitted(&only(runs), DATA).unwrap_err().to_string(),
            "runs.csv: a time of 0 s for (m, p) = (1, 2); time longer runs, so that the clock can \
             see them"
        );
    }

    #[test]
    fn a_model_that_misses_the_runs_is_doubted() {
        // Noise of 0.1 %, but every even m is 5 % slower than the model can say.
        let mut runs = noisy_runs(&truth(DATA, 0.08, TERMS), &feasible(), 0.001, 3);
        for cell in runs.cells.iter_mut().filter(|cell| cell.m % 2 == 0) {
            cell.mean_s *= 1.05;
        }
        let mut repeated = runs.clone();
        let fitted = fitted(&only(runs), DATA).unwrap();
        let message = "the model misses the means of the runs by ";
        assert!(messages(&fitted).iter().any(|each| each.starts_with(message)));
        // About half of the configurations are 5 % off, so all of them 2.5 %, at worst.
        let deviation = fitted.report.runs.unwrap().residual_deviation.unwrap();
        assert!((0.01..0.025).contains(&deviation), "{deviation}");
        // Repeating the same runs a thousand times teaches nothing about such a model.
        let error = fitted.parameters.terms.t_apu_s.std_error.unwrap();
        for cell in &mut repeated.cells {
            cell.count *= 1000;
            cell.squared_deviations_s2 *= 1000.0;
        }
        let again = super::trials::fitted(&only(repeated), DATA).unwrap();
        let again = again.parameters.terms.t_apu_s.std_error.unwrap();
        approx::assert_relative_eq!(again, error, max_relative = 1e-6);
    }

    #[test]
    fn as_many_runs_as_terms_leave_no_standard_error() {
        let mut runs = exact_runs(&truth(DATA, 0.08, TERMS), &[(1, 1), (1, 4), (2, 2), (8, 1)]);
        for cell in &mut runs.cells {
            cell.count = 1;
        }
        let fitted = fitted(&only(runs), DATA).unwrap();
        assert_eq!(fitted.parameters.terms.t_apu_s.std_error, None);
        assert!(messages(&fitted).iter().any(|each| each.starts_with("as many terms as runs")));
    }

    #[test]
    fn runs_beyond_the_machine_are_used_and_named() {
        let truth = truth(DATA, 0.08, TERMS);
        let runs = exact_runs(&truth, &[(1, 1), (1, 4), (2, 2), (8, 1), (4, 8)]);
        assert!(messages(&fitted(&only(runs), DATA).unwrap()).contains(
            &"runs.csv: 1 configurations need more than 16 APUs, the first (m, p) = (4, 8); they \
              were used"
                .to_string()
        ));
    }

    #[test]
    fn the_report_says_how_every_term_was_obtained() {
        let truth = truth(DATA, 0.08, TERMS);
        let inputs = Inputs {
            profile: None,
            runs: Some(noisy_runs(&truth, &feasible(), 0.02, 5)),
            ..measured(&truth)
        };
        let report = fitted(&inputs, DATA).unwrap().report;
        let rows = |term| report.terms.iter().find(|line| line.term == term).unwrap().observations;
        assert_eq!(["alpha", "t_csw_s", "t_hpu_s", "offloads"].map(rows), [32, 2, 150, 0]);
        let text = report.to_string();
        for part in [
            "Parameters of trial",
            "alpha",
            "runs.csv",
            "context_switch.csv",
            "carried by c_apu_s",
            "150 runs of 50 configurations",
            "residual deviation",
            "c_apu_s stands for c_apu_s + (offloads - 1)*(o_offload_s + t_csw_s)",
            "Solver converged",
        ] {
            assert!(text.contains(part), "{part:?} is missing in\n{text}");
        }
    }

    #[test]
    fn standard_errors_are_those_of_the_normal_equations() {
        let cell = |p, mean_s| runs::Cell {
            m: 1,
            p,
            count: 8,
            mean_s,
            squared_deviations_s2: mean_s * mean_s * 1e-4,
        };
        let runs = Runs {
            file: "runs.csv".into(),
            cells: vec![cell(1, 10.0), cell(2, 6.5), cell(4, 5.5)],
        };
        let found = fitted(&only(runs), DATA).unwrap().parameters.terms;
        // T = K + T_APU/p + p*N*g at three p: the terms are linear in the three means.
        let inverse = nalgebra::Matrix3::new(1.0, 1.0, 1.0, 1.0, 0.5, 2.0, 1.0, 0.25, 4.0)
            .try_inverse()
            .unwrap();
        // Each mean has variance s^2*t^2/8 with s^2 = 3*1e-4/21.
        let variance = 3e-4 / 21.0 / 8.0;
        let error = |row: usize| {
            let terms = [10.0_f64, 6.5, 5.5].iter().enumerate();
            terms
                .map(|(column, t)| (inverse[(row, column)] * t).powi(2) * variance)
                .sum::<f64>()
                .sqrt()
        };
        approx::assert_relative_eq!(
            found.t_hpu_s.std_error.unwrap(),
            error(0),
            max_relative = 1e-8
        );
        approx::assert_relative_eq!(
            found.t_apu_s.std_error.unwrap(),
            error(1),
            max_relative = 1e-8
        );
    }

    #[test]
    fn growth_with_m_is_kept_where_nothing_else_is_constant() {
        let truth = truth(DATA, 0.0, [1e-30, 120.0, 0.0, 1.0, 0.0, 0.0, 0.1, 0.0]);
        let mut runs = exact_runs(&truth, &feasible());
        for cell in &mut runs.cells {
            cell.mean_s += 0.5 * f64::from(cell.m - 1);
        }
        let expected = runs.clone();
        let fitted = fitted(&only(runs), DATA).unwrap();
        for cell in expected.cells {
            let found = fitted.parameters.time(cell.m, cell.p).0;
            approx::assert_relative_eq!(found, cell.mean_s, max_relative = 1e-7);
        }
    }
}
