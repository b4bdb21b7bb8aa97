//! Choices of a space in the order in which they are predicted to be good, as files have them.

use std::ops::Range;

use mmgp_base::Result;
use mmgp_base::table::csv::write_fields;
use mmgp_base::table::records::Maybe;
use mmgp_model::decide::Configuration;
use mmgp_model::models::parameters::Estimate;
use serde::Serialize;

use super::Workbench;
use crate::space::Point;
use crate::validate::{Outcome, Summary, TimesOf, percent, summarize};

/// The files of every study of choices.
pub(super) const PREDICTIONS: &str = "predictions.csv";
pub(super) const VALIDATION: &str = "validation.csv";
pub(super) const TERMS: &str = "terms.json";

/// A choice with what is predicted of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// What is chosen.
    pub point: Point,
    /// Predicted time, with the ends of its 95 % interval \[s\].
    pub predicted_s: [f64; 3],
    /// Predicted time by a second model, where there is one \[s\].
    pub beside_s: Option<f64>,
    /// Measured time, where it ran \[s\].
    pub measured_s: Option<f64>,
}

impl Choice {
    /// A point beside what is believed of its time.
    pub(super) fn of(point: Point, believed: &Configuration, beside_s: Option<f64>) -> Self {
        let predicted_s = [believed.time.0, believed.low.0, believed.high.0];
        Self { point, predicted_s, beside_s, measured_s: None }
    }

    /// Predicted time \[s\].
    pub fn time_s(&self) -> f64 {
        self.predicted_s[0]
    }

    fn error_percent(&self) -> Option<f64> {
        self.measured_s.map(|measured_s| percent(self.time_s(), measured_s))
    }
}

/// All choices of a space, the one to take first.
#[derive(Debug, Clone)]
pub struct Choices {
    /// The names of the dimensions of points, as columns have them.
    pub dimensions: &'static [&'static str],
    /// The name of the model.
    pub model: &'static str,
    /// The name of the second model, where there is one; its column is the name with its unit.
    pub beside: Option<&'static str>,
    /// The dimensions by which summaries call a choice.
    pub named: Range<usize>,
    /// What choices are compared within, where not all of them are: the number of ranks.
    pub group: Option<fn(&Point) -> u32>,
    /// The choices, each with its rank by its place.
    pub rows: Vec<Choice>,
}

impl Choices {
    /// The value of a dimension of a choice.
    pub fn value(&self, choice: &Choice, dimension: &str) -> u32 {
        let place = self.dimensions.iter().position(|name| *name == dimension);
        choice.point.0[place.expect("invariant: it is a dimension of the space")]
    }

    /// The points.
    pub fn points(&self) -> Vec<Point> {
        self.rows.iter().map(|row| row.point.clone()).collect()
    }

    /// The choice to take of each group, in the order of the groups.
    pub fn best_of_each(&self) -> Vec<&Choice> {
        let group = self.group.unwrap_or(|_| 0);
        let mut groups: Vec<u32> = self.rows.iter().map(|row| group(&row.point)).collect();
        groups.sort_unstable();
        groups.dedup();
        let best = |of: &u32| self.rows.iter().find(|row| group(&row.point) == *of);
        groups.iter().filter_map(best).collect()
    }

    /// The text of `predictions.csv`, and of `validation.csv` once all ran.
    pub fn csv(&self) -> String {
        let beside = self.beside.map(|name| format!("{name}_s"));
        let mut header = vec!["rank"];
        header.extend(self.dimensions);
        header.extend(["time_s", "low_s", "high_s"]);
        header.extend(beside.as_deref());
        header.extend(["measured_s", "error_percent"]);
        let fields = |(rank, row): (usize, &Choice)| {
            let mut fields = vec![rank.to_string()];
            fields.extend(row.point.0.iter().map(u32::to_string));
            fields.extend(row.predicted_s.iter().map(f64::to_string));
            fields.extend(row.beside_s.iter().map(f64::to_string));
            fields.extend([row.measured_s, row.error_percent()].map(|it| Maybe(it).to_string()));
            fields
        };
        write_fields(&header, (1..).zip(&self.rows).map(fields))
    }

    /// Sets the times of all points beside their predictions, and writes the rows down.
    pub(super) fn compare(
        &self,
        outcomes: &[Outcome],
        bench: &Workbench<'_>,
    ) -> Result<(Self, Summary)> {
        let mut beside = self.clone();
        for (row, outcome) in beside.rows.iter_mut().zip(outcomes) {
            row.measured_s = Some(outcome.time_s);
        }
        bench.write(VALIDATION, beside.csv())?;
        let measured: Vec<f64> = outcomes.iter().map(|it| it.time_s).collect();
        let names = self.rows.iter().map(|row| Point(row.point.0[self.named.clone()].to_vec()));
        let names: Vec<Point> = names.collect();
        let groups: Option<Vec<u32>> =
            self.group.map(|group| self.rows.iter().map(|row| group(&row.point)).collect());
        let of = |model, times, is_ranked| {
            let times = TimesOf { model, times, is_ranked };
            summarize(&names, groups.as_deref(), &times, &measured)
        };
        let mut models = vec![of(self.model, self.rows.iter().map(Choice::time_s).collect(), true)];
        if let Some(name) = self.beside {
            models.push(of(name, self.rows.iter().filter_map(|row| row.beside_s).collect(), false));
        }
        Ok((beside, Summary { configurations: self.rows.len(), models }))
    }
}

/// A term of a model with its error, as `terms.json` has it.
#[derive(Serialize)]
pub(super) struct Term {
    name: String,
    value: f64,
    std_error: Option<f64>,
}

impl Term {
    pub(super) fn new((name, estimate): (String, &Estimate)) -> Self {
        Self { name, value: estimate.value, std_error: estimate.std_error }
    }
}

/// The terms that predictions are made of.
#[derive(Serialize)]
pub(super) struct Terms<T> {
    pub(super) terms: Vec<T>,
}
