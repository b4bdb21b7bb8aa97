//! What a search found, for people and for programs.

use std::collections::{BTreeMap, BTreeSet};

use super::doubts::NOISY;
use crate::answer::Object;
use crate::attempt::{Attempt, Status};
use crate::cli::objective::amount;
use crate::cli::words::{Words, assigned};
use crate::decide::Ratio;
use crate::fit::{FileRows, Inputs, Runs, Settings, fit};
use crate::models::parameters::Decomposition;
use crate::models::{Parameters, TimeModel};
use crate::native::failure_notes;
use crate::objective::Objective;
use crate::quantity::Quantity;
use crate::report::search::geometric_mean;
use crate::table::records::TermRow;
use crate::tune::derived;
use crate::tune::engine::{End, Plan, timed};
use crate::tune::{Search, Verdict};
use crate::units::{Percent, Seconds};
use crate::{Mapping, Site};

/// What a search found.
pub struct SearchAnswer<'a> {
    /// The search, and its levels.
    pub plan: &'a Plan,
    /// What is best, in the unit that the attempts have.
    pub objective: Objective,
    /// What is known.
    pub verdict: &'a Verdict,
    /// All attempts of the log.
    pub attempts: &'a [Attempt],
    /// What m and p are called.
    pub words: &'a Words,
    /// The parameters that the runs with the further factors of the choice determine, or why they do not.
    pub parameters: std::result::Result<Parameters, String>,
    /// Processors of the computer on which the search began, where that is known.
    pub processors: Option<u32>,
}

/// The parameters that the runs with these further factors determine, and what was traced, by this name, or why
/// they do not.
pub fn parameters(
    (plan, factors): (&Plan, &BTreeMap<String, String>),
    (attempts, terms): (&[Attempt], Option<FileRows<TermRow>>),
    quantity: &Quantity,
    (name, decomposition): (&str, Decomposition),
) -> std::result::Result<Parameters, String> {
    let rows = derived::runs(factors, attempts);
    if rows.is_empty() {
        return Err("no run ended well".into());
    }
    let runs = Runs::from_rows("runs.csv", &rows).map_err(|error| error.to_string());
    let (mut runs, _) = runs?;
    runs.quantity = quantity.clone();
    let most = plan.search.space.iter().map(|it| it.apus()).max().unwrap_or(1);
    let apus = u32::try_from(most).map_err(|_| format!("m*p = {most} is too many"))?;
    let settings = Settings::new(name, decomposition, apus);
    let inputs = Inputs { runs: Some(runs), terms, ..Inputs::default() };
    let fitted = fit(&inputs, &settings).map_err(|error| error.to_string())?;
    if fitted.traded.is_empty() {
        return Ok(fitted.parameters);
    }
    Err("these runs cannot tell its terms apart".into())
}

/// What the choice may cost, in words; `None` where nothing is said of it yet.
pub fn regret(verdict: &Verdict) -> Option<String> {
    let (expected, most) = (verdict.expected_regret?, verdict.regret_95?);
    if most < 5e-4 {
        return Some("the fastest (95 %)".into());
    }
    // Of few large regrets the mean may lie beyond the quantile.
    let (expected, most) = (Percent(expected), Percent(most.max(expected)));
    Some(format!("expected to cost {expected}, at most {most} (95 %)"))
}

/// Why a search stopped, as programs are told.
pub fn why(end: End) -> &'static str {
    match end {
        End::Settled => "settled",
        End::Alike => "alike",
        End::NotWorth => "not worth it",
        End::Runs => "runs",
        End::Time => "time",
        End::Exhausted => "exhausted",
        End::Interrupted => "interrupted",
    }
}

/// A part of the time by which a formula is so far off that its terms explain nothing: where it was off by 6 to 13 %,
/// three tunes of one program called its largest part 44, 69 and 73 % (`tests/real`).
const FAR_OFF: f64 = 0.05;

impl SearchAnswer<'_> {
    fn search(&self) -> &Search {
        &self.plan.search
    }

    /// Attempts whose further factors have values that may be chosen.
    pub fn of_search(&self) -> impl Iterator<Item = &Attempt> {
        self.attempts.iter().filter(|it| self.plan.site(it).is_some())
    }

    /// A configuration in the user's words.
    pub fn name(&self, site: Site) -> String {
        self.words.of_both(site.mapping, self.plan.factors(site))
    }

    pub fn objective(&self) -> &Objective {
        &self.objective
    }

    /// The times of every configuration that ran well.
    pub fn times(&self) -> BTreeMap<Site, Vec<Seconds>> {
        let mut times: BTreeMap<Site, Vec<Seconds>> = BTreeMap::new();
        for (level, factors) in (0..).zip(&self.plan.levels) {
            for run in derived::runs(factors, self.attempts) {
                let site = Site::new(Mapping::of(run.m, run.p), level);
                times.entry(site).or_default().push(Seconds(run.time_s));
            }
        }
        times
    }

    /// Configurations that were tried, well or not.
    fn tried(&self) -> BTreeSet<Site> {
        let timed = self.of_search().filter(|it| it.status != Status::Interrupted);
        timed.filter_map(|it| self.plan.site(it)).collect()
    }

    /// The product of time and factor of the objective, which is least of what is best.
    fn product(&self, (site, time): (Site, Seconds)) -> f64 {
        time.0 * self.objective.factor(site.mapping)
    }

    /// What ran well with the least mean of each level, of the objective, by the place of the level.
    fn best_of_levels(&self) -> BTreeMap<u32, (Site, Seconds)> {
        let mut best: BTreeMap<u32, (Site, Seconds)> = BTreeMap::new();
        for (site, times) in self.times() {
            let found = (site, geometric_mean(&times));
            let is_better = |&before: &(Site, Seconds)| self.product(found) < self.product(before);
            if best.get(&site.level).is_none_or(is_better) {
                best.insert(site.level, found);
            }
        }
        best
    }

    /// What other values of further factors took at best.
    fn others(&self) -> Option<String> {
        let best = self.best_of_levels();
        let mut others: Vec<(Site, Seconds)> =
            best.into_values().filter(|(site, _)| site.level != self.verdict.level()).collect();
        others.sort_by(|&one, &other| self.product(one).total_cmp(&self.product(other)));
        let shown = |(site, time): (Site, Seconds)| {
            format!("{} {}", self.name(site), self.objective.quantity().shown(time))
        };
        let told = listed(&others, "; ", shown);
        (!others.is_empty()).then(|| format!("At best with other values: {told}."))
    }

    /// The answer as a sentence.
    pub fn sentence(&self) -> String {
        let tried = self.tried().len();
        let all = self.search().space.len();
        let (Some(choice), Some(time)) = (self.verdict.choice, self.verdict.time) else {
            return format!("nothing ran well, of {tried} of {all} configurations.");
        };
        let times = self.times();
        let count = times.get(&choice).map_or(0, Vec::len);
        let regret =
            regret(self.verdict).unwrap_or("how far from the best is not known yet".into());
        let beside = self.beside(choice).unwrap_or_default();
        let objective = self.objective();
        let mut amount = objective.shown(objective.amount(choice.mapping, time));
        if !objective.is_measured() {
            amount = format!("{} {amount}, {}", objective.name(), objective.quantity().shown(time));
        }
        let count = match count {
            1 => "measured once".to_string(),
            count => format!("measured {count} times"),
        };
        let alike = self.alike(choice).unwrap_or_default();
        format!(
            "{}: {amount}, {count}; {regret}, after {tried} of {all} configurations{beside}.{alike}",
            self.name(choice)
        )
    }

    /// What cannot be told from the choice.
    fn alike(&self, choice: Site) -> Option<String> {
        let alike = &self.verdict.alike;
        let noise = self.verdict.noise.map(|noise| format!(" of {}", Percent(noise)));
        let why = match alike.iter().all(|it| it.apus() == choice.apus()) {
            true => format!("all take {} cores", choice.apus()),
            false => format!("{} takes the fewest cores", self.name(choice)),
        };
        (alike.len() > 1).then(|| {
            format!(
                " These {} cannot be told apart at this noise{}: {}; {why}.",
                alike.len(),
                noise.unwrap_or_default(),
                listed(alike, ", ", |it| self.name(it))
            )
        })
    }

    /// What the choice is to what the user runs today, where that is sure.
    fn beside(&self, choice: Site) -> Option<String> {
        let baseline = self.search().baseline.filter(|&it| it != choice)?;
        let Ratio { low, middle, high } = self.verdict.of_baseline?;
        let fast = self.objective().positive();
        Some(format!(
            "; {middle:.2} times as {fast} as {} ({low:.2} to {high:.2}, 95 %)",
            self.name(baseline)
        ))
    }

    /// The answer for programs, as in summary.json. It has no reason to stop where the search goes on.
    pub fn summary(&self, end: Option<End>) -> Object {
        let verdict = self.verdict;
        let measured = verdict.choice.and_then(|it| Some(self.times().get(&it)?.len()));
        let choice = verdict.choice.zip(verdict.time).map(|(site, time)| (site.mapping, time));
        let pair = |site: Site| [site.mapping.m(), site.mapping.p()];
        let has_factors = !self.plan.levels[0].is_empty();
        let params = verdict.choice.filter(|_| has_factors).map(|it| self.plan.factors(it));
        let alike_params = |site: &Site| Object::from_iter(self.plan.factors(*site).clone());
        Object::new()
            .with("best", verdict.choice.map(pair))
            .followed_by(amount(self.objective(), choice))
            .with("measured", measured.unwrap_or(0))
            .with_some("captured", self.captured_at_choice())
            .with("expected_regret", verdict.expected_regret)
            .with("regret_95", verdict.regret_95)
            .with("noise", verdict.noise)
            .with("alike", verdict.alike.iter().map(|it| pair(*it).to_vec()).collect::<Vec<_>>())
            .with_some(
                "alike_params",
                has_factors.then(|| verdict.alike.iter().map(alike_params).collect::<Vec<_>>()),
            )
            .with("runs", timed(&self.of_search().cloned().collect::<Vec<_>>()))
            .with("tried", self.tried().len())
            .with("configurations", self.search().space.len())
            .with("stopped", end.map(why))
            .with_some("params", params.map(|it| Object::from_iter(it.clone())))
            .with_some("levels", has_factors.then(|| self.levels()))
            .with("names", <[String; 2]>::from(self.words.pair()))
            .with("sentence", self.sentence())
    }

    /// What was found with each combination of further factors, for programs.
    fn levels(&self) -> Vec<Object> {
        let (best, tried) = (self.best_of_levels(), self.tried());
        let of_level = |(level, factors): (u32, &BTreeMap<String, String>)| {
            let found = best.get(&level).map(|&(site, time)| (site.mapping, time));
            let runs = derived::runs(factors, self.attempts);
            Object::new()
                .with("params", Object::from_iter(factors.clone()))
                .with("best", found.map(|(it, _)| [it.m(), it.p()]))
                .followed_by(amount(self.objective(), found))
                .with("runs", runs.len())
                .with("tried", tried.iter().filter(|it| it.level == level).count())
        };
        (0..).zip(&self.plan.levels).map(of_level).collect()
    }

    /// Configurations that did not run well, with why, those with the same reason together.
    fn failures(&self) -> Vec<String> {
        let of_level = |factors: &BTreeMap<String, String>| {
            let all = self.attempts.iter().filter(|it| it.params == *factors);
            let all: Vec<Attempt> = all.cloned().collect();
            let with = assigned(factors);
            let with = if with.is_empty() { with } else { format!("with {with}, ") };
            let notes =
                failure_notes(&all, &|mappings| listed(mappings, ", ", |it| self.words.of(it)));
            notes.into_iter().map(|note| with.clone() + &note).collect::<Vec<String>>()
        };
        self.plan.levels.iter().flat_map(of_level).collect()
    }

    /// What stands below the sentence: what limits, what failed, what comes next.
    pub fn details(&self) -> String {
        let mut lines: Vec<String> = self.beside_choice().into_iter().collect();
        if let (Some(choice), Ok(parameters)) = (self.verdict.choice, &self.parameters) {
            lines.extend(self.limit(parameters, choice.mapping));
        }
        lines.extend(self.others());
        lines.extend(self.failures());
        lines.extend(self.doubts());
        let taken = &self.verdict.taken_to_fail;
        if !taken.is_empty() {
            lines.push(format!(
                "not run, and taken to fail as others did: {}",
                listed(taken, ", ", |it| self.name(it))
            ));
        }
        if let Some((next, _)) = self.verdict.next.first().filter(|_| !self.verdict.is_settled()) {
            let next = self.name(*next);
            lines.push(match self.verdict.gain {
                Some(gain) if gain >= 5e-4 => format!(
                    "The next run would be {next}: it is expected to save {} of the time.",
                    Percent(gain)
                ),
                Some(_) => format!("The next run would be {next}, to be surer of the choice."),
                None => format!("The next run would be {next}."),
            });
        }
        lines.iter().map(|line| format!("{line}\n")).collect()
    }

    /// The formula, and the parts of the time at the choice.
    fn limit(&self, parameters: &Parameters, choice: Mapping) -> Option<String> {
        let traced = self.plan.search.prior.of_files();
        let mut parts = traced.map_or_else(|| parameters.parts(choice), |it| it.parts(choice));
        let by = if traced.is_some() { "what was traced" } else { "equation 11" };
        let total: f64 = parts.iter().map(|part| part.time.0).sum();
        // The shares are those of the formula, which is off.
        let measured = self.verdict.time.map_or(total, |time| time.0);
        let quantity = self.objective().quantity();
        // Shares of a formula that is far off, or of runs that scatter, are told otherwise by the next runs.
        if self.verdict.noise.is_some_and(|noise| noise >= NOISY) {
            return Some("What limits is not told by runs that scatter so.".into());
        }
        if (total / measured - 1.0).abs() > FAR_OFF {
            let off = Percent((total / measured - 1.0).abs());
            let by = by[..1].to_uppercase() + &by[1..];
            return Some(format!("{by} is off by {off} there, and does not tell what limits."));
        }
        parts.retain(|part| part.time.0 > 0.005 * total);
        parts.sort_by(|one, other| other.time.0.total_cmp(&one.time.0));
        let told: Vec<String> = parts
            .iter()
            .map(|part| {
                let share = format!("{:.0} %", 100.0 * part.time.0 / total);
                match quantity.unit() {
                    None => format!("{} {} ({share})", part.name, part.time),
                    Some(_) => format!("{} ({share})", part.name),
                }
            })
            .collect();
        let first = told.first()?;
        let rest = told[1..].join(", ");
        let rest = if rest.is_empty() { rest } else { format!(", then {rest}") };
        Some(format!("By {by}, what limits is {first}{rest}."))
    }
}

/// The budget's share that is left, as a time.
pub fn left(budget: Option<Seconds>, spent: Seconds) -> Option<Seconds> {
    budget.map(|budget| Seconds((budget.0 - spent.0).max(0.0)))
}

/// The first of some configurations, and how many others there are.
fn listed<C: Copy>(all: &[C], between: &str, name: impl Fn(C) -> String) -> String {
    let shown: Vec<String> = all.iter().take(SHOWN).map(|&it| name(it)).collect();
    let more = all.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    shown.join(between) + &more
}

/// The most configurations that are named of those that failed for the same reason.
const SHOWN: usize = 6;
