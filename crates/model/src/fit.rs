//! The parameters of the model, from whatever was measured.
//!
//! Micro-benchmarks and a sequential profile each determine terms of equation 11 directly, timed
//! runs of the program at several (m, p) determine some of their combinations: [`Inputs`] holds
//! the rows of both. All enter one likelihood, each value with its own standard error: runs correct
//! what they can see, files split what runs cannot.
//!
//! Runs alone cannot tell all terms apart. With `alpha_m = 1 + a*(m - 1)`, equation 11 holds four
//! combinations of them: what costs the same at every (m, p), `T_HPU + C_APU + N*(O_offload +
//! T_CSW + O_COL)`; what grows with m, `a*T_HPU`; what is shared, `T_APU`; and what grows with p,
//! `N*g`. A sum that cannot be split is estimated as one and put on one term, which is marked
//! ([`combined_with`]), so that predictions lose nothing. Where the runs cannot even
//! tell the combinations apart, the error names the configuration to time next.
//!
//! Noise is relative. Its size comes from repetitions; where the model misses the runs by more than
//! that, standard errors follow the misfit ([`noise`]); where runs and files contradict each other,
//! files are trusted less ([`conflict`]). Where runs choose the shape of alpha, standard errors know
//! that another may be right. How sure the terms are, and how their errors go together,
//! is part of the parameters.
//!
//! [`combined_with`]: crate::model::parameters::Estimate::combined_with
//!
//! ```
//! use mmgp_model::fit::{Inputs, Runs, Settings, fit};
//! use mmgp_model::model::parameters::Decomposition;
//! use mmgp_base::table::Source;
//!
//! // 2 + 12/(m*p) + p/2 seconds, and nothing that grows with m.
//! let text = "m,p,repetition,time_s\n1,1,1,14.5\n1,2,1,9\n2,1,1,8.5\n2,2,1,6\n1,4,1,7\n";
//! let (runs, _) = Runs::read(&Source::new("runs.csv", text))?;
//! let settings = Settings::new("toy", Decomposition::Data, 4);
//! let fitted = fit(&Inputs { runs: Some(runs), ..Inputs::default() }, &settings)?;
//! let terms = &fitted.parameters.terms;
//! assert!((terms.t_apu_s.value - 12.0).abs() < 1e-9);
//! assert!((terms.t_hpu_s.value - 2.0).abs() < 1e-9);
//! assert!(terms.t_hpu_s.combined_with.contains(&"c_apu_s".to_string()));
//! # Ok::<(), mmgp_base::Error>(())
//! ```

mod alpha;
mod averaging;
mod beside;
mod bounds;
mod collective;
pub mod comparison;
pub mod conflict;
mod context_switch;
pub mod data;
mod design;
pub mod diagnosis;
mod estimate;
mod evidence;
mod growth;
#[cfg(test)]
mod held_out;
mod host_time;
pub mod identifiability;
mod identify;
mod inputs;
mod joint;
mod joint_fit;
mod known;
pub mod laws;
mod least_squares;
mod likelihood;
pub mod loggp;
mod measurement;
pub mod noise;
mod offload;
pub mod online;
mod outcome;
mod prior;
mod profile;
mod range;
#[cfg(test)]
mod recovery;
pub mod refined;
pub mod report;
mod request;
pub mod require;
pub mod runs;
mod sample;
mod settings;
pub mod shape;
#[cfg(test)]
mod soundness;
pub mod summary;
mod term;
mod threads;
#[cfg(test)]
mod trials;
mod unknowns;
mod wavefront;

pub use inputs::{Inputs, Measured};
pub use refined::Counts;
pub use report::Report;
pub use runs::{Reading, Runs, WarmUp};
pub use settings::{Options, Settings};
pub use threads::estimate_threads;
pub use wavefront::estimate_wavefront;

use crate::model::Parameters;
use crate::model::parameters::Decomposition;
use known::Known;
use mmgp_base::error::{Error, Result, Warning};
use request::Request;

/// Parameters, how they were obtained, and warnings.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// The terms, each with standard error and source where they are known.
    pub parameters: Parameters,
    /// How each term was obtained, and how well the model meets the runs.
    pub report: Report,
    /// The refined model beside it, where its counts were given: terms of its own, and refinements.
    pub refined: Option<Parameters>,
    /// Runs that tell of times and not of terms: those are as files have them, and predictions rest on
    /// the runs all the same. A warning says what cannot be told.
    pub untold: Option<Untold>,
    /// Warnings about the result.
    pub warnings: Vec<Warning>,
}

/// Runs that do not tell the terms of equation 11.
#[derive(Debug, Clone, PartialEq)]
pub struct Untold {
    /// How many configurations were timed.
    pub configurations: usize,
    /// The file that they are in.
    pub file: String,
}

/// Estimates all terms from what was measured.
///
/// # Errors
///
/// [`Error::TooLittleData`] where neither a profile nor runs are given, or where a file lacks the
/// rows that its term needs; [`Error::Fit`] where
/// the least squares do not converge; [`Error::OutOfRange`] for no APUs or no tasks.
pub fn fit(inputs: &Inputs, settings: &Settings) -> Result<Fitted> {
    check(inputs, settings)?;
    range::check(inputs)?;
    let known = Known::from(inputs, settings)?;
    let mut warnings = known.warnings.clone();
    let mut base = known.parameters(settings);
    let mut unknown = known.unknown_terms();
    let mut correlations = known.correlations.clone();
    if let Some(prior) = &inputs.prior {
        correlations.extend(known::believe(prior, &mut base, &mut unknown));
    }
    let request = inputs.runs.as_ref().map(|runs| Request {
        runs,
        correlations: &correlations,
        options: &settings.options,
    });
    let mut untold = None;
    let (mut parameters, mut in_runs, left) = match request {
        Some(request) => {
            joint::check(&base, request.runs)?;
            match joint::fit(&base, &unknown, request) {
                Ok(joint) => {
                    warnings.extend(joint.warnings);
                    (joint.parameters, Some(joint.report), joint.undetermined)
                }
                // What they tell of times is more than what they tell of terms.
                Err(error @ Error::TooLittleData { .. }) => {
                    let runs = request.runs;
                    let (count, file) = (runs.cells.len(), runs.file.clone());
                    untold = Some(Untold { configurations: count, file });
                    warnings.push(Warning::Note(error.to_string()));
                    (base.clone(), None, unknown.clone())
                }
                Err(error) => return Err(error),
            }
        }
        None => (base.clone(), None, unknown.clone()),
    };
    let mut refined = match untold {
        Some(_) => None,
        None => beside::refined((&base, &unknown), &parameters, inputs, settings, request)?,
    };
    if let Some(runs) = &inputs.runs {
        let evidence = evidence::evidence(runs, &base, &unknown, inputs.prior.as_ref());
        if let Some(refined) = &mut refined {
            refined.parameters.evidence = Some(evidence.clone());
        }
        parameters.evidence = Some(evidence);
    }
    if let (Some(report), Some(request)) = (&mut in_runs, request) {
        let values = report.estimated;
        report.comparison = beside::comparison(request.runs, report, refined.as_ref(), values)?;
    }
    warnings.extend(bounds::slowdowns(&mut parameters));
    if untold.is_none() {
        warnings.extend(left.iter().map(|term| term.not_measured()));
    }
    let terms = report::terms(&parameters, &known, inputs.runs.as_ref());
    let loggp = inputs.offload.as_ref().map(loggp::loggp).transpose()?;
    let name = settings.name.clone();
    let report = Report { name, terms, choices: known.choices, loggp, runs: in_runs };
    let refined = refined.map(|mut refined| {
        warnings.extend(refined.warnings);
        // What equation 11 warns of, the refined model has too.
        bounds::slowdowns(&mut refined.parameters);
        refined.parameters
    });
    Ok(Fitted { parameters, report, refined, untold, warnings })
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
    if inputs.profile.is_none() && inputs.runs.is_none() && inputs.prior.is_none() {
        return Err(Error::TooLittleData {
            file: "fit".into(),
            found: "neither a profile nor timed runs".into(),
            advice: "give profile.csv or runs.csv".into(),
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests;
