//! How the parameters were obtained, and how well the model meets the runs.

use mmgp_base::Mapping;
use std::fmt;

use super::identifiability::{Group, Identifiability};
use super::known::FileTerms;
use super::runs::{Cell, Runs};
use super::shape::{Shape, ShapeChoice};
pub use super::terms::Contradiction;
use super::terms::{LAWS, TermBelief, TermsGivenRuns};
use crate::belief::{Basis, View};
use crate::models::Parameters;
use crate::models::observations::Observations;
use crate::models::parameters::Estimate;
use crate::models::terms::{Term, TermValue};
use crate::models::time_model::EQUATION_11;
use mmgp_base::quantity::Quantity;

/// Everything a reader needs to judge a fit; prints as text for people.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Name of the parameter set.
    pub name: String,
    /// What runs are of; of rates, terms are shares of the time of one unit of work, not seconds.
    pub quantity: Quantity,
    /// Every term of equation 11, in the order of parameter files.
    pub terms: Vec<TermReport>,
    /// How the shapes of the terms over m were chosen.
    pub choices: Vec<ShapeChoice>,
    /// The model beside the runs, where runs were given.
    pub runs: Option<RunsReport>,
}

/// Term of equation 11, and how it was obtained.
#[derive(Debug, Clone, PartialEq)]
pub struct TermReport {
    /// Name in parameter files.
    pub term: &'static str,
    /// The values, each with its m where the term is a table over m. Where they came from stands
    /// in [`Estimate::source`].
    pub values: Vec<(Option<u32>, Estimate)>,
    /// Rows of the file that the term came from; 0 where it came from none.
    pub observations: u64,
}

/// What is believed, beside the runs.
#[derive(Debug, Clone, PartialEq)]
pub struct RunsReport {
    /// The file they came from.
    pub file: String,
    /// Runs.
    pub runs: u64,
    /// Configurations among them.
    pub configurations: usize,
    /// Numbers that they tell; with 0, the runs only check what files say.
    pub estimated: usize,
    /// Sums that the runs cannot split.
    pub combined: Vec<TermSum>,
    /// What predictions rest on: how much runs scatter, how far means are off, and how much each mean
    /// counts.
    pub basis: Basis,
    /// How likely equation 11 is exactly right, but for the noise of the runs.
    pub exact: f64,
    /// Mean over the configurations of |T - measured|/measured, T by equation 11 with these terms.
    pub mean_error: f64,
    /// The largest of these.
    pub max_error: f64,
    /// The configuration that has it.
    pub worst: (u32, u32),
    /// The configuration whose measured time is the least.
    pub fastest: (u32, u32),
    /// The shapes that alpha may have, with how likely each is, the likeliest first; none where a file
    /// knows it.
    pub growths: Vec<(Shape, f64)>,
    /// How far files are from the runs, where they say something of the program.
    pub agreement: Option<Agreement>,
    /// What the runs can say at all.
    pub identifiability: Identifiability,
    /// What is predicted of each configuration by all others, beside what it took: equation 11 with its
    /// misfit, laws of scaling, and what predictions weigh.
    pub left_out: Vec<LeftOut>,
}

/// Whether files hold for the program.
#[derive(Debug, Clone, PartialEq)]
pub struct Agreement {
    /// How likely they do not but to within some per cent.
    pub contradicted: f64,
    /// The values that are farthest apart, first, where they likely do not.
    pub values: Vec<Contradiction>,
}

/// Relative errors at configurations that were left out.
#[derive(Debug, Clone, PartialEq)]
pub struct LeftOut {
    /// The mean that predicts.
    pub mean: String,
    /// Mean of |predicted - measured|/measured.
    pub mean_error: f64,
    /// The largest of these.
    pub max_error: f64,
    /// The configuration that has it.
    pub worst: (u32, u32),
}

/// A sum of terms that was estimated as one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TermSum {
    /// The term that carries it.
    pub on: &'static str,
    /// What each term contributes, as written in equation 11.
    pub terms: Vec<String>,
}

/// What predictions weigh, all of it, among what is left out.
pub const ALL: &str = "all";

impl RunsReport {
    /// Report of terms given these runs, and of what is believed.
    pub(crate) fn new(given: &TermsGivenRuns, believed: &TermBelief, runs: &Runs) -> Self {
        let parameters = &given.parameters;
        let relative_error = |cell: &Cell| {
            (parameters.time(Mapping::of(cell.m, cell.p)).0 - cell.mean_s) / cell.mean_s
        };
        let errors: Vec<f64> = runs.cells.iter().map(|cell| relative_error(cell).abs()).collect();
        let (mean_error, max_error, worst) = sizes(&errors).expect("invariant: there are runs");
        let place = |place: usize| (runs.cells[place].m, runs.cells[place].p);
        let by_time = |one: &&Cell, other: &&Cell| one.mean_s.total_cmp(&other.mean_s);
        let fastest = runs.cells.iter().min_by(by_time).expect("invariant: there are runs");
        let (all, equation_11) = (&believed.all, believed.equation_11());
        let observations = all.observations();
        let mut left_out = vec![LeftOut::of(EQUATION_11, &equation_11, observations)];
        if !all.has_files() {
            let of_law = |law| LeftOut::of(law, &all.view(Some(law)), observations);
            left_out.extend(LAWS.map(of_law));
        }
        left_out.push(LeftOut::of(ALL, &all.view(None), observations));
        let agreement = all.has_files().then(|| Agreement {
            contradicted: equation_11.contradicted(),
            values: given.contradictions.clone(),
        });
        Self {
            file: runs.file.clone(),
            runs: runs.count(),
            configurations: runs.cells.len(),
            estimated: given.estimated,
            combined: given.sums(),
            basis: all.basis(),
            exact: equation_11.exact(),
            mean_error,
            max_error,
            worst: place(worst),
            fastest: (fastest.m, fastest.p),
            growths: given.growths.clone(),
            agreement,
            identifiability: Identifiability::of(parameters, runs),
            left_out: left_out.into_iter().flatten().collect(),
        }
    }
}

impl LeftOut {
    fn of(mean: &str, view: &View<'_>, observations: &Observations) -> Option<Self> {
        let errors: Vec<f64> = view.left_out().into_iter().map(f64::abs).collect();
        let (mean_error, max_error, worst) = sizes(&errors)?;
        let worst = observations.configurations[worst].mapping;
        let worst = (worst.m(), worst.p());
        Some(Self { mean: mean.into(), mean_error, max_error, worst })
    }
}

impl TermSum {
    pub(crate) fn of(group: &Group) -> Self {
        let terms = [group.carrier].into_iter().chain(group.carried.iter().copied());
        let mut names: Vec<String> = terms.map(|term| term.contribution().to_string()).collect();
        names.dedup();
        Self { on: group.carrier.name(), terms: names }
    }
}

/// Mean, largest and the first place of the largest.
fn sizes(errors: &[f64]) -> Option<(f64, f64, usize)> {
    let by_size =
        |&one: &usize, &other: &usize| errors[one].total_cmp(&errors[other]).then(other.cmp(&one));
    let worst = (0..errors.len()).max_by(by_size)?;
    Some((errors.iter().sum::<f64>() / errors.len() as f64, errors[worst], worst))
}

/// The lines of all terms.
pub(crate) fn terms(
    parameters: &Parameters,
    known: &FileTerms,
    runs: Option<&Runs>,
) -> Vec<TermReport> {
    let line = |(term, value): (Term, TermValue<'_>)| {
        // A term that no file determines came from the runs if it says so.
        let from = |runs: &&Runs| {
            value.estimates.iter().any(|estimate| estimate.source.as_ref() == Some(&runs.file))
        };
        let rows = known.rows(term).or_else(|| runs.filter(from).map(Runs::count));
        let values = value.numbers().map(|(m, estimate)| (m, estimate.clone())).collect();
        TermReport { term: term.name(), values, observations: rows.unwrap_or(0) }
    };
    parameters.terms.values().map(line).collect()
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What the runs cannot say comes before any number.
        if let Some(runs) = &self.runs {
            writeln!(f, "{}", runs.identifiability)?;
        }
        writeln!(f, "Parameters of {}", self.name)?;
        if let Some(said) = self.quantity.said_of_terms() {
            writeln!(f, "  {said}")?;
        }
        writeln!(
            f,
            "  {:<12} {:>4} {:>13} {:>12} {:>9} {:>9}  from",
            "term", "m", "estimate", "std error", "relative", "rows"
        )?;
        for term in &self.terms {
            write!(f, "{term}")?;
        }
        for choice in &self.choices {
            writeln!(f, "  {}", choice.to_string().replace('\n', "\n  "))?;
        }
        match &self.runs {
            Some(runs) => write!(f, "\n{runs}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for TermReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (m, estimate) in &self.values {
            let m = m.map(|m| m.to_string()).unwrap_or_default();
            let std_error = estimate.std_error.map(|error| format!("{error:.3e}"));
            let relative = estimate.std_error.filter(|_| estimate.value != 0.0);
            let relative = relative.map(|error| format!("{:.2} %", 100.0 * error / estimate.value));
            writeln!(
                f,
                "  {:<12} {m:>4} {:>13} {:>12} {:>9} {:>9}  {}",
                self.term,
                format!("{:.6e}", estimate.value),
                std_error.as_deref().unwrap_or("-"),
                relative.as_deref().unwrap_or("-"),
                self.observations,
                estimate.source.as_deref().unwrap_or("-"),
            )?;
        }
        Ok(())
    }
}

impl fmt::Display for RunsReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, runs, configurations, estimated, basis, worst, .. } = self;
        writeln!(f, "{runs} runs of {configurations} configurations in {file}")?;
        writeln!(f, "  numbers told          {estimated}")?;
        writeln!(
            f,
            "  error of equation 11  mean {:.3} %, largest {:.3} % at (m, p) = ({}, {})",
            100.0 * self.mean_error,
            100.0 * self.max_error,
            worst.0,
            worst.1
        )?;
        writeln!(f, "  noise of a run        {:.3} %", 100.0 * basis.noise)?;
        writeln!(
            f,
            "  lack of fit           equation 11 is exactly right with {:.1} %",
            100.0 * self.exact
        )?;
        if let Some(agreement) = &self.agreement {
            writeln!(
                f,
                "  runs and files        files hold for the program with {:.1} %",
                100.0 * (1.0 - agreement.contradicted)
            )?;
        }
        let percent = |(name, share): (String, f64)| format!("{name} {:.1} %", 100.0 * share);
        if !self.growths.is_empty() {
            let growths =
                self.growths.iter().map(|&(shape, share)| percent((shape.to_string(), share)));
            writeln!(f, "  alpha over m          {}", growths.collect::<Vec<_>>().join(", "))?;
        }
        let means = basis.means.iter().map(|share| percent((share.mean.clone(), share.weight)));
        writeln!(f, "  predictions weigh     {}", means.collect::<Vec<_>>().join(", "))?;
        for LeftOut { mean, mean_error, max_error, worst: (m, p) } in &self.left_out {
            writeln!(
                f,
                "  left out, {mean:<10}  mean {:.3} %, largest {:.3} % at ({m}, {p})",
                100.0 * mean_error,
                100.0 * max_error
            )?;
        }
        for TermSum { on, terms } in &self.combined {
            writeln!(f, "  {on} stands for {}", terms.join(" + "))?;
        }
        Ok(())
    }
}
