//! How the parameters were obtained, and how well the model meets the runs.

use mmgp_base::Mapping;
use std::fmt;

use super::comparison::Comparison;
use super::conflict::Conflict;
use super::diagnosis::Diagnosis;
use super::identifiability::Identifiability;
use super::known::Known;
use super::loggp::LogGp;
use super::noise::{Noise, Origin};
use super::runs::Runs;
use super::shape::Choice;
use crate::model::Parameters;
use crate::model::parameters::Estimate;
use crate::model::terms::{Term, Value};

/// Everything a reader needs to judge a fit; prints as text for people.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Name of the parameter set.
    pub name: String,
    /// Every term of equation 11, in the order of parameter files.
    pub terms: Vec<TermReport>,
    /// How the shapes of the terms over m were chosen.
    pub choices: Vec<Choice>,
    /// What `offload.csv` determines of LogGP, where it was given.
    pub loggp: Option<LogGp>,
    /// The model beside the runs, where runs were given.
    pub runs: Option<RunsReport>,
}

/// One term.
#[derive(Debug, Clone, PartialEq)]
pub struct TermReport {
    /// Its name in parameter files.
    pub term: &'static str,
    /// The values, each with its m where the term is a table over m. Where they came from stands
    /// in [`Estimate::source`].
    pub values: Vec<(Option<u32>, Estimate)>,
    /// Rows of the file that the term came from; 0 where it came from none.
    pub observations: u64,
}

/// The model beside the runs.
#[derive(Debug, Clone, PartialEq)]
pub struct RunsReport {
    /// The file they came from.
    pub file: String,
    /// Runs.
    pub runs: u64,
    /// Configurations among them.
    pub configurations: usize,
    /// Values that were estimated from them; with 0, the runs only check the model.
    pub estimated: usize,
    /// Sums that the runs cannot split.
    pub combined: Vec<Sum>,
    /// The size of the noise, and where it was taken from.
    pub noise: Noise,
    /// 1 - (weighted squared residuals of the model) / (those of the best constant time), over
    /// the means of the configurations; `None` where there is but one configuration.
    pub r_squared: Option<f64>,
    /// Mean over the configurations of |predicted - measured|/measured [%].
    pub mean_error_percent: f64,
    /// The largest of these [%].
    pub max_error_percent: f64,
    /// The configuration that has it.
    pub worst: (u32, u32),
    /// The configuration whose measured time is the least.
    pub fastest: (u32, u32),
    /// Largest over smallest singular value of the scaled sensitivities; the nearer to 1, the
    /// better the configurations tell the terms apart.
    pub condition: Option<f64>,
    /// How the least squares ended.
    pub convergence: Option<Convergence>,
    /// Which shape alpha was given, where only the runs tell of it.
    pub growth: Option<Choice>,
    /// Whether the runs and what files say agree, where both say something of the same.
    pub conflict: Option<Conflict>,
    /// What the residuals say.
    pub diagnosis: Diagnosis,
    /// What the runs can say at all.
    pub identifiability: Identifiability,
    /// The time of each configuration, in the order of the runs, predicted from all others \[s\];
    /// empty where one cannot be spared.
    pub left_out_s: Vec<f64>,
    /// Other models beside this one, by the error at configurations left out.
    pub comparison: Option<Comparison>,
}

/// A sum of terms that was estimated as one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sum {
    /// The term that carries it.
    pub on: &'static str,
    /// What each term contributes, as written in equation 11.
    pub terms: Vec<String>,
}

/// How the least squares ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Convergence {
    /// Steps of the solver.
    pub iterations: u64,
    /// Half the sum of squared residuals, each in its own standard deviation.
    pub cost: f64,
    /// Why it ended.
    pub termination: String,
    /// From how many starts.
    pub starts: usize,
    /// How many of them ended at the same minimum.
    pub agreeing: usize,
}

impl RunsReport {
    /// Compares the parameters with the runs; `estimated` values of them came from the runs.
    pub(crate) fn new(
        parameters: &Parameters,
        runs: &Runs,
        estimated: usize,
        (noise, diagnosis): (Noise, Diagnosis),
    ) -> Self {
        let relative_error = |cell: &super::runs::Cell| {
            (parameters.time(Mapping::of(cell.m, cell.p)).0 - cell.mean_s) / cell.mean_s
        };
        let errors: Vec<f64> = runs.cells.iter().map(|cell| relative_error(cell).abs()).collect();
        let worst = (0..errors.len())
            .max_by(|&one, &other| errors[one].total_cmp(&errors[other]).then(other.cmp(&one)))
            .expect("invariant: there are runs");
        let by_time = |one: &&super::runs::Cell, other: &&super::runs::Cell| {
            one.mean_s.total_cmp(&other.mean_s)
        };
        let fastest = runs.cells.iter().min_by(by_time).expect("invariant: there are runs");
        let squares: f64 =
            runs.cells.iter().map(|cell| cell.count as f64 * relative_error(cell).powi(2)).sum();
        let of_constant = squares_of_constant(runs);
        Self {
            file: runs.file.clone(),
            runs: runs.count(),
            configurations: runs.cells.len(),
            estimated,
            combined: Vec::new(),
            noise,
            r_squared: (of_constant > 0.0).then(|| 1.0 - squares / of_constant),
            mean_error_percent: 100.0 * errors.iter().sum::<f64>() / errors.len() as f64,
            max_error_percent: 100.0 * errors[worst],
            worst: (runs.cells[worst].m, runs.cells[worst].p),
            fastest: (fastest.m, fastest.p),
            condition: None,
            convergence: None,
            growth: None,
            conflict: None,
            diagnosis,
            identifiability: Identifiability::of(parameters, runs),
            left_out_s: Vec::new(),
            comparison: None,
        }
    }
}

/// The weighted squared residuals of the constant that leaves the fewest.
fn squares_of_constant(runs: &Runs) -> f64 {
    // sum of n*(c/t - 1)^2 is least at c = sum(n/t) / sum(n/t^2).
    let sum = |power: i32| -> f64 {
        runs.cells.iter().map(|cell| cell.count as f64 * cell.mean_s.powi(power)).sum()
    };
    let constant = sum(-1) / sum(-2);
    runs.cells.iter().map(|cell| cell.count as f64 * (constant / cell.mean_s - 1.0).powi(2)).sum()
}

/// The lines of all terms.
pub(crate) fn terms(
    parameters: &Parameters,
    known: &Known,
    runs: Option<&Runs>,
) -> Vec<TermReport> {
    let line = |(term, value): (Term, Value<'_>)| {
        let rows = match term {
            Term::OffloadOverhead => known.o_offload_s.as_ref().map(|known| known.1),
            Term::ContextSwitch => known.t_csw_s.as_ref().map(|known| known.1),
            Term::Alpha => known.alpha.as_ref().map(|known| known.1),
            Term::CollectiveCost => known.o_col_s.as_ref().map(|known| known.1),
            _ => known.program.as_ref().map(|known| known.1),
        };
        let values = value.numbers().map(|(m, estimate)| (m, estimate.clone())).collect();
        self::line(term.name(), values, rows, runs)
    };
    parameters.terms.values().map(line).collect()
}

/// A term that no file determines came from the runs if it says so.
fn line(
    term: &'static str,
    values: Vec<(Option<u32>, Estimate)>,
    rows: Option<u64>,
    runs: Option<&Runs>,
) -> TermReport {
    let from = |runs: &&Runs| {
        values.iter().any(|(_, estimate)| estimate.source.as_ref() == Some(&runs.file))
    };
    let observations = rows.or_else(|| runs.filter(from).map(Runs::count)).unwrap_or(0);
    TermReport { term, values, observations }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What the runs cannot say comes before any number.
        if let Some(runs) = &self.runs {
            writeln!(f, "{}", runs.identifiability)?;
        }
        writeln!(f, "Parameters of {}", self.name)?;
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
        if let Some(loggp) = &self.loggp {
            writeln!(f, "  {}", loggp.to_string().replace('\n', "\n  "))?;
        }
        match &self.runs {
            Some(runs) => write!(f, "\n{runs}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Noise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let origin = match self.origin {
            Origin::Repetitions => "by repetitions",
            Origin::Residuals if self.misses() => "by repetitions",
            Origin::Residuals => "by what the model leaves",
            Origin::Assumed => "assumed",
        };
        write!(f, "  noise of a run        {:.3} %, {origin}", 100.0 * self.run)?;
        if self.misses() {
            write!(f, "; the model misses by {:.3} % more", 100.0 * self.model)?;
        }
        write!(f, " ({:.0} degrees of freedom)", self.degrees_of_freedom)?;
        if let Some(lack) = self.lack_of_fit {
            let (of_residuals, of_repetitions) = lack.degrees_of_freedom;
            if lack.ratio.is_infinite() {
                let text = "repetitions agree to the last digit, so that any misfit is one";
                return write!(f, "\n  lack of fit           {text}");
            }
            write!(
                f,
                "\n  lack of fit           F({of_residuals:.0}, {of_repetitions:.0}) = {:.2}, \
                 probability {:.2e}",
                lack.ratio, lack.probability
            )?;
        }
        Ok(())
    }
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.is_significant() { "contradict each other" } else { "agree" };
        let (shared, of_noise) = self.degrees_of_freedom;
        write!(
            f,
            "  runs and files        {verdict}: F({shared:.0}, {of_noise:.0}) = {:.2}, probability \
             {:.2e}",
            self.ratio, self.probability
        )
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
        let Self { file, runs, configurations, estimated, worst, .. } = self;
        writeln!(f, "{runs} runs of {configurations} configurations in {file}")?;
        writeln!(f, "  values estimated      {estimated}")?;
        writeln!(
            f,
            "  error of the model    mean {:.3} %, largest {:.3} % at (m, p) = ({}, {})",
            self.mean_error_percent, self.max_error_percent, worst.0, worst.1
        )?;
        writeln!(f, "{}", self.noise)?;
        write!(f, "{}", self.diagnosis)?;
        if let Some(conflict) = &self.conflict {
            writeln!(f, "{conflict}")?;
        }
        if let Some(growth) = &self.growth {
            let tried = growth
                .tried
                .iter()
                .filter_map(|trial| Some(format!("{} {:.2} %", trial.shape, 100.0 * trial.error?)));
            writeln!(
                f,
                "  alpha over m          {}, {}; at configurations left out: {}",
                growth.chosen,
                growth.reason,
                tried.collect::<Vec<_>>().join(", ")
            )?;
        }
        if let Some(r_squared) = self.r_squared {
            writeln!(f, "  R^2, relative         {r_squared:.6}")?;
        }
        if let Some(condition) = self.condition {
            writeln!(f, "  condition number      {condition:.1}")?;
        }
        for Sum { on, terms } in &self.combined {
            writeln!(f, "  {on} stands for {}", terms.join(" + "))?;
        }
        if let Some(convergence) = &self.convergence {
            let Convergence { iterations, cost, termination, starts, agreeing } = convergence;
            writeln!(
                f,
                "  least squares         {iterations} iterations, cost {cost:.6e}: {termination}; \
                 {agreeing} of {starts} starts agree"
            )?;
        }
        if let Some(comparison) = &self.comparison {
            write!(f, "\n{comparison}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::noise::LackOfFit;
    use super::super::runs::Cell;
    use super::super::trials::{TERMS, fitted, measured, truth};
    use super::*;
    use crate::model::parameters::Decomposition;

    #[test]
    fn the_squares_of_a_constant_by_hand() {
        // c = (1 + 1/2)/(1 + 1/4) = 1.2 leaves 0.2^2 + 0.4^2.
        let cells = vec![Cell::of((1, 1), &[1.0]), Cell::of((1, 2), &[2.0])];
        let runs = Runs { file: "runs.csv".into(), cells };
        approx::assert_relative_eq!(squares_of_constant(&runs), 0.2, max_relative = 1e-12);
    }

    #[test]
    fn every_term_counts_the_rows_of_its_own_file() {
        let truth = truth(Decomposition::Data, 0.08, TERMS);
        let terms = fitted(&measured(&truth), Decomposition::Data).unwrap().report.terms;
        let rows = |name: &str| terms.iter().find(|it| it.term == name).unwrap().observations;
        // Two repetitions: of the program, of a switch, of two sizes, and of 16 numbers of processes.
        let found = ["t_hpu_s", "g_s", "t_csw_s", "o_offload_s", "alpha", "o_col_s"].map(rows);
        assert_eq!(found, [2, 2, 2, 4, 32, 32]);
    }

    #[test]
    fn a_term_is_told_with_its_error_and_what_that_is_of_the_value() {
        let line = |value: f64, std_error: Option<f64>| {
            let values = vec![(Some(4), Estimate { std_error, ..Estimate::exact(value) })];
            let text = TermReport { term: "alpha", values, observations: 7 }.to_string();
            text.split_whitespace().map(str::to_string).collect::<Vec<_>>()
        };
        let expected = ["alpha", "4", "2.000000e0", "5.000e-1", "25.00", "%", "7", "-"];
        assert_eq!(line(2.0, Some(0.5)), expected);
        // Of nothing there is no part.
        assert_eq!(line(0.0, Some(0.5)), ["alpha", "4", "0.000000e0", "5.000e-1", "-", "7", "-"]);
        assert_eq!(line(2.0, None), ["alpha", "4", "2.000000e0", "-", "-", "7", "-"]);
    }

    #[test]
    fn the_noise_is_told_with_where_it_was_taken_from() {
        let check = |model: f64, ratio: Option<f64>, expected: &str| {
            let lack_of_fit = ratio.map(|ratio| LackOfFit {
                ratio,
                degrees_of_freedom: (4.0, 20.0),
                probability: 0.125,
            });
            let origin = Origin::Residuals;
            let noise = Noise { run: 0.01, model, degrees_of_freedom: 4.0, origin, lack_of_fit };
            assert_eq!(noise.to_string(), format!("  noise of a run        1.000 %, {expected}"));
        };
        check(0.0, None, "by what the model leaves (4 degrees of freedom)");
        let misses = "by repetitions; the model misses by 5.000 % more (4 degrees of freedom)";
        check(0.05, None, misses);
        let lack = "  lack of fit           F(4, 20) = 3.00, probability 1.25e-1";
        check(0.05, Some(3.0), &format!("{misses}\n{lack}"));
        let exact = "  lack of fit           repetitions agree to the last digit, so that any misfit is one";
        check(0.05, Some(f64::INFINITY), &format!("{misses}\n{exact}"));
    }

    #[test]
    fn runs_and_files_agree_or_contradict_each_other() {
        let check = |probability: f64, expected: &str| {
            let conflict = Conflict {
                ratio: 2.5,
                degrees_of_freedom: (3.0, 40.0),
                probability,
                stretch: 1.0,
                values: Vec::new(),
            };
            assert_eq!(conflict.to_string(), format!("  runs and files        {expected}"));
        };
        check(0.25, "agree: F(3, 40) = 2.50, probability 2.50e-1");
        check(0.001, "contradict each other: F(3, 40) = 2.50, probability 1.00e-3");
    }
}
