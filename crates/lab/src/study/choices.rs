//! Choices of a space in the order in which they are predicted to be good, as files have them; those of list ranking.

use std::ops::Range;

use mmgp_apps::list_ranking::ListRanking;
use mmgp_base::table::csv::{self, write_fields};
use mmgp_base::table::records::Maybe;
use mmgp_base::table::{self};
use mmgp_base::{Mapping, Result};
use mmgp_lists::Order;
use mmgp_model::belief::Posterior;
use mmgp_model::decide::{Configuration, Sampling, rank};
use mmgp_model::fit::estimate_threads;
use mmgp_model::models::TimeModel as _;
use mmgp_model::models::parameters::Estimate;
use mmgp_model::models::threads::{self, Division, SoftwareThreads, ThreadFormula, ThreadTerms};
use serde::Serialize;

use super::{SUMMARY, Subject, Workbench};
use crate::measure::ApplicationTarget;
use crate::measure::list_ranking::{run_thread_plan, thread_plans};
use crate::space::{Point, Space, doublings};
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
        Ok((beside, Summary { configurations: self.rows.len(), models, said: None }))
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

/// Numbers of sublists that are studied.
const SUBLISTS: [u32; 7] = [8, 16, 32, 64, 128, 256, 512];
/// Numbers of DMA lists under way that are studied.
const BUFFERS: [u32; 5] = [1, 2, 4, 8, 16];

/// The file of the short runs that terms are estimated from.
const SHORT_RUNS: &str = "threads.csv";

/// How much longer a choice may be predicted to take to be as good as the fastest.
const AS_GOOD: f64 = 0.01;

/// A list, and how many accelerators rank it with how many sublists and DMA lists under way.
pub struct ThreadChoices<'a> {
    /// The list.
    pub ranking: &'a ListRanking,
    /// How the nodes of the list lie.
    pub order: Order,
    /// The machine.
    pub target: &'a ApplicationTarget,
}

impl ThreadChoices<'_> {
    /// How long the sublists are whose heads are chosen for the order of the list.
    fn division(&self) -> Division {
        match self.order {
            Order::Ordered => Division::Even,
            Order::Random => Division::Random,
        }
    }

    /// All p, sublists and DMA lists under way; each accelerator has a sublist.
    fn space(&self, ps: &[u32]) -> Space {
        let mut sublists = SUBLISTS.map(|count| count.min(self.ranking.list().nodes())).to_vec();
        sublists.dedup();
        let dimensions = &["p", "sublists", "buffers"];
        Space::of(dimensions, [ps, &sublists, &BUFFERS], |[p, sublists, _]| p <= sublists)
    }

    /// What is predicted of the points that differ in p alone.
    fn predict_each(
        &self,
        terms: &ThreadTerms,
        points: &[&Point],
        bench: &Workbench<'_>,
    ) -> Result<Vec<Choice>> {
        let (nodes, division) = (self.ranking.list().nodes(), self.division());
        let (sublists, buffers) = (points[0].0[1], points[0].0[2]);
        let choice = threads::SublistChoice { sublists, buffers };
        let formula = ThreadFormula::new(terms.clone(), nodes, division, choice);
        let model = SoftwareThreads::new(terms.clone(), nodes, division, choice);
        let mappings: Vec<Mapping> =
            points.iter().map(|point| Mapping::new(1, point.0[0])).collect::<Result<_>>()?;
        let sampling = Sampling::new(Sampling::USUAL_DRAWS, bench.seed);
        let ranking = rank(&Posterior::of_model(model), &mappings, sampling)?;
        bench.doubt(ranking.warnings);
        let choice = |believed: &Configuration| {
            let point = Point(vec![believed.mapping.p(), sublists, buffers]);
            Choice::of(point, believed, Some(formula.time(believed.mapping).0))
        };
        Ok(ranking.configurations.iter().map(choice).collect())
    }
}

impl Subject for ThreadChoices<'_> {
    type Predictions = Choices;
    type Comparison = Choices;

    const FILES: &'static [&'static str] = &[SHORT_RUNS, TERMS, PREDICTIONS, VALIDATION, SUMMARY];
    const RUNS: &'static str = "emulating all choices";

    fn predict(&self, bench: &Workbench<'_>) -> Result<Choices> {
        let ps = doublings(self.target.layout().apus);
        let plans = thread_plans(&ps, self.order);
        let seed = bench.seed;
        let run = |plan: &_| run_thread_plan(self.target, plan, seed);
        let short = bench.each("short runs", &plans, &run)?;
        bench.write(SHORT_RUNS, csv::write(&short))?;
        let terms = estimate_threads(&short, self.division(), SHORT_RUNS)?;
        let named = terms.named().into_iter().map(Term::new).collect();
        bench.write(TERMS, table::json(&Terms { terms: named }))?;
        let space = self.space(&ps);
        let mut by_threads: Vec<&Point> = space.points.iter().collect();
        by_threads.sort_by_key(|point| (point.0[1], point.0[2], point.0[0]));
        let mut rows = Vec::with_capacity(by_threads.len());
        for points in by_threads.chunk_by(|one, other| one.0[1..] == other.0[1..]) {
            rows.extend(self.predict_each(&terms, points, bench)?);
        }
        rows.sort_by(|one, other| {
            one.time_s().total_cmp(&other.time_s()).then(one.point.cmp(&other.point))
        });
        let chosen = chosen(&rows);
        rows[..=chosen].rotate_right(1);
        let choices = Choices {
            dimensions: space.dimensions,
            model: threads::NAME,
            beside: Some("formula"),
            named: 0..3,
            group: None,
            rows,
        };
        bench.write(PREDICTIONS, choices.csv())?;
        Ok(choices)
    }

    fn points(&self, predictions: &Choices) -> Vec<Point> {
        predictions.points()
    }

    fn at_once(&self) -> usize {
        self.target.at_once()
    }

    fn run(&self, _: &Choices, point: &Point) -> Result<Outcome> {
        let [p, sublists, buffers] = point.0[..] else {
            unreachable!("invariant: {point} is p, sublists and buffers")
        };
        let ranking = self.ranking.with_choice([sublists, buffers])?;
        Ok(self.target.run(&ranking, Mapping::new(1, p)?)?.into())
    }

    fn compare(
        &self,
        predictions: &Choices,
        outcomes: &[Outcome],
        bench: &Workbench<'_>,
    ) -> Result<(Choices, Summary)> {
        predictions.compare(outcomes, bench)
    }
}

/// The place of the choice to take, the fastest of which comes first. Of those that are as good, the one with
/// the most lists under way, for they cost nothing that the model knows and hide what it does not; and
/// of these the one with the fewest accelerators.
fn chosen(rows: &[Choice]) -> usize {
    let limit = (1.0 + AS_GOOD) * rows[0].time_s();
    let near = rows.iter().take_while(|row| row.time_s() <= limit);
    let best = near.enumerate().min_by_key(|(_, row)| (u32::MAX - row.point.0[2], row.point.0[0]));
    best.map_or(0, |(place, _)| place)
}
