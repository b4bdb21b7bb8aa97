//! The page: one self-contained HTML file with the answer, the pictures and the tables of a study.
//!
//! [`page`] ranks the configurations, sums up the errors of both models and puts all of it as JSON
//! into a page with its pictures: no file beside it, no network. The page lets the pictures answer to a
//! pointer, evaluates the model's equations itself, so that a reader can ask what if, and compares what
//! it finds with what this crate wrote.
//!
//! ```
//! use mmgp::report::{Study, page};
//!
//! let study = Study::new(mmgp::models::published("pbpi-qs20")?);
//! let html = page(&study)?;
//! assert!(html.contains("(m, p) = (4, 4)"));
//! # Ok::<(), mmgp::Error>(())
//! ```

mod answer;
mod data;
mod pictures;
pub mod provenance;
pub mod schedulers;
pub mod search;
mod template;

pub(crate) use answer::ranking_table;

use crate::Mapping;
use crate::answer::escaped;
use crate::belief::{Basis, Posterior, Prior};
use crate::decide::{
    Configuration, Constraints, NextMeasurement, Ranking, Sampling, candidates, next_measurement,
    rank,
};
use crate::error::Result;
use crate::models::Parameters;
use crate::models::observations::{Observation, Observations, Range};
use crate::models::time_model;
use crate::objective::Objective;
use crate::plot::benchmarks::Panel;
use crate::table::records::{Split, Validation};
use crate::units::Seconds;
use crate::validate::{Comparison, ModelSummary};
pub(crate) use pictures::measure;
use provenance::Provenance;

/// What is known of a study. Everything but the parameters may be missing.
#[derive(Debug, Clone)]
pub struct Study {
    /// Stands above the page. Any text.
    pub title: String,
    /// The terms of equation 11, and of the refined model where there are any.
    pub parameters: Parameters,
    /// Timed runs of the program, beside those that the parameters were fitted with.
    pub observations: Option<Observations>,
    /// The rows of `validation.csv`.
    pub validation: Vec<Validation>,
    /// The rows of `split.csv`.
    pub splits: Vec<Split>,
    /// The micro-benchmarks beside their fits.
    pub benchmarks: Vec<Panel>,
    /// Pictures that the page shows as they are: a title and an SVG each.
    pub figures: Vec<Picture>,
    /// How the parameters are drawn for probabilities and regrets.
    pub sampling: Sampling,
    /// The origin of the study.
    pub provenance: Provenance,
    /// What is best; `None`: the least time, or the largest rate.
    pub objective: Option<Objective>,
}

/// A picture with its title.
#[derive(Debug, Clone)]
pub struct Picture {
    /// What it shows. Any text.
    pub title: String,
    /// The picture, as [`crate::plot`] draws it: it is put into the page as it stands.
    pub svg: String,
}

impl Study {
    /// A study that knows no more than parameters.
    pub fn new(parameters: Parameters) -> Self {
        Self {
            title: parameters.name.clone(),
            parameters,
            observations: None,
            validation: Vec::new(),
            splits: Vec::new(),
            benchmarks: Vec::new(),
            figures: Vec::new(),
            sampling: Sampling::new(Sampling::USUAL_DRAWS, 1),
            provenance: Provenance::default(),
            objective: None,
        }
    }
}

/// What follows from a study.
struct Evaluation {
    ranking: Ranking,
    models: Vec<ModelSummary>,
    /// What to measure next.
    next: NextMeasurement,
    basis: Basis,
    /// The smallest and the largest m and p that were timed, and the fastest; `None` without runs.
    timed: Option<(Range, Observation)>,
    /// What the configurations are ranked by: each time one standard deviation on.
    ranked_by: Vec<Seconds>,
    warnings: Vec<String>,
}

impl Evaluation {
    fn new(study: &Study) -> Result<Self> {
        let posterior = posterior(study)?;
        let apus = study.parameters.apus;
        let in_question = candidates(&posterior, &Constraints::NONE, apus)?;
        let mappings = &in_question.mappings;
        let ranking = rank(&posterior, mappings, study.sampling)?;
        let models = if study.validation.is_empty() {
            Vec::new()
        } else {
            Comparison::new(study.validation.clone()).summary.models
        };
        let next = next_measurement(&posterior, mappings, None)?;
        let mut warnings = study.provenance.warnings.clone();
        let own = in_question.warning().into_iter().chain(ranking.warnings.clone());
        let own = own.map(|warning| warning.to_string());
        warnings.extend(own.filter(|text| !study.provenance.warnings.contains(text)));
        let timed = posterior.range().zip(posterior.observations().fastest());
        let ranked: Vec<Mapping> = ranking.configurations.iter().map(|it| it.mapping).collect();
        let marginals = posterior.marginals(&ranked);
        let cautious = |index: usize| Seconds(marginals.caution(index).exp());
        let ranked_by = (0..ranked.len()).map(cautious).collect();
        let basis = posterior.basis();
        Ok(Self { ranking, models, next, basis, timed, ranked_by, warnings })
    }

    fn best(&self) -> &Configuration {
        self.ranking.chosen().expect("invariant: the choice is ranked")
    }
}

/// What is believed of the times: given the runs, or by equation 11 where there are none. Refined
/// terms would stand in its place then, with nothing to tell whether they should.
fn posterior(study: &Study) -> Result<Posterior> {
    let prior = Prior::of(&study.parameters);
    let posterior = match study.observations.is_none() && study.parameters.evidence.is_none() {
        true => Posterior::new(&prior.only(time_model::EQUATION_11)?, None)?,
        false => Posterior::new(&prior, study.observations.clone())?,
    };
    Ok(match &study.objective {
        Some(objective) => posterior.towards(objective.clone()),
        None => posterior,
    })
}

/// The page of a study: the content of an HTML file, the same bytes for the same study.
///
/// # Errors
/// The errors of [`rank`] and [`candidates`]: no draws, or no feasible configuration.
pub fn page(study: &Study) -> Result<String> {
    let mut sorted = study.clone();
    sorted.validation.sort_by_key(|row| (row.m, row.p));
    sorted.splits.sort_by_key(|row| (row.m, row.p));
    let known = Evaluation::new(&sorted)?;
    let objective = &known.ranking.choice.objective;
    if !objective.is_time() || objective.tolerance().is_some() {
        return template::page(&sorted, &known);
    }
    let data = serde_json::to_string(&data::Data::new(&sorted, &known));
    let figures = figures(&sorted.figures);
    let answer = answer::html(&sorted, &known);
    Ok(template::filled(&template::Filling {
        title: &sorted.title,
        answer: &answer,
        plots: &pictures::of_times(&sorted, &known)?,
        figures: &figures,
        benchmarks: &pictures::of_benchmarks(&sorted)?,
        data: &data.expect("invariant: the page's data has string keys only"),
    }))
}

/// Pictures as they stand.
fn figures(pictures: &[Picture]) -> String {
    let figure = |(number, it): (usize, &Picture)| {
        format!(
            "<figure class=\"static scroller\" tabindex=\"0\" id=\"figure-{number}\">\n<figcaption>{}</figcaption>\n{}\n\
             </figure>\n",
            escaped(&it.title),
            it.svg
        )
    };
    pictures.iter().enumerate().map(figure).collect()
}

#[cfg(test)]
mod tests;
