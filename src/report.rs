//! The page: one self-contained HTML file with the answer, the pictures and the tables of a study.
//!
//! [`page`] ranks the configurations, sums up the errors of both models and puts all of it as JSON
//! into a page that draws itself: no file beside it, no network. The page evaluates the model's
//! equations itself, so that a reader can ask what if, and compares what it finds with what this
//! crate wrote.
//!
//! ```
//! use mmgp::report::{Study, page};
//!
//! let study = Study::new(mmgp::model::published("pbpi-qs20")?);
//! let html = page(&study)?;
//! assert!(html.contains("(m, p) = (4, 4)"));
//! # Ok::<(), mmgp::Error>(())
//! ```

mod answer;
mod data;
pub mod provenance;
mod template;

use crate::error::Result;
use crate::model::Parameters;
use crate::plot::benchmarks::Panel;
use crate::posterior::{Basis, Posterior};
use crate::solve::{
    Configuration, Constraints, NextMeasurement, Ranking, Sampling, candidates, next_measurement,
    rank,
};
use crate::table::records::{Split, Validation};
use crate::validate::{Comparison, ModelSummary};
use provenance::Provenance;

/// What is known of a study. Everything but the parameters may be missing.
#[derive(Debug, Clone)]
pub struct Study {
    /// Stands above the page. Any text.
    pub title: String,
    /// The terms of equation 11, and of the refined model where there are any.
    pub parameters: Parameters,
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
    /// Where it comes from.
    pub provenance: Provenance,
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
            validation: Vec::new(),
            splits: Vec::new(),
            benchmarks: Vec::new(),
            figures: Vec::new(),
            sampling: Sampling::new(Sampling::USUAL_DRAWS, 1),
            provenance: Provenance::default(),
        }
    }
}

/// What follows from a study.
struct Known {
    ranking: Ranking,
    models: Vec<ModelSummary>,
    /// What to measure next.
    next: NextMeasurement,
    basis: Basis,
    warnings: Vec<String>,
}

impl Known {
    fn new(study: &Study) -> Result<Self> {
        let posterior = Posterior::of(&study.parameters)?;
        let mappings = candidates(&posterior, &Constraints::NONE, study.parameters.apus)?;
        let ranking = rank(&posterior, &mappings, study.sampling)?;
        let models = if study.validation.is_empty() {
            Vec::new()
        } else {
            Comparison::new(study.validation.clone()).summary.models
        };
        let next = next_measurement(&posterior, &mappings, None)?;
        let mut warnings = study.provenance.warnings.clone();
        let own = ranking.warnings.iter().map(ToString::to_string);
        warnings.extend(own.filter(|text| !study.provenance.warnings.contains(text)));
        Ok(Self { ranking, models, next, basis: posterior.basis(), warnings })
    }

    fn best(&self) -> &Configuration {
        &self.ranking.configurations[0]
    }
}

/// The page of a study: the content of an HTML file, the same bytes for the same study.
///
/// # Errors
/// Those of [`rank`]: no draws, or no feasible configuration.
pub fn page(study: &Study) -> Result<String> {
    let mut sorted = study.clone();
    sorted.validation.sort_by_key(|row| (row.m, row.p));
    sorted.splits.sort_by_key(|row| (row.m, row.p));
    let known = Known::new(&sorted)?;
    let data = serde_json::to_string(&data::Data::new(&sorted, &known));
    let figure = |(number, it): (usize, &Picture)| {
        format!(
            "<figure class=\"static scroller\" tabindex=\"0\" id=\"figure-{number}\">\n<figcaption>{}</figcaption>\n{}\n\
             </figure>\n",
            template::escaped(&it.title),
            it.svg
        )
    };
    Ok(template::filled(&template::Filling {
        title: &sorted.title,
        answer: &answer::html(&sorted, &known),
        figures: &sorted.figures.iter().enumerate().map(figure).collect::<String>(),
        data: &data.expect("invariant: the page's data has string keys only"),
    }))
}
