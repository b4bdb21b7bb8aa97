//! List ranking: which p, how many sublists, how many DMA lists under way?

use mmgp_apps::list_ranking::ListRanking;
use mmgp_base::table::{self, csv};
use mmgp_base::{Mapping, Result};
use mmgp_lists::Order;
use mmgp_model::belief::Posterior;
use mmgp_model::decide::{Configuration, Sampling, rank};
use mmgp_model::fit::estimate_threads;
use mmgp_model::models::TimeModel as _;
use mmgp_model::models::threads::{self, Division, SoftwareThreads, ThreadFormula, ThreadTerms};

use super::choices::{PREDICTIONS, TERMS, Term, Terms, VALIDATION};
use super::{Choice, Choices, SUMMARY, Subject, Workbench};
use crate::measure::ApplicationTarget;
use crate::measure::list_ranking::{run_thread_plan, thread_plans};
use crate::space::{Point, Space, doublings};
use crate::validate::{Outcome, Summary};

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
