//! What a search found, for people and for programs.

use std::collections::BTreeMap;

use super::noise::{interrupted, stolen};
use crate::Mapping;
use crate::answer::Object;
use crate::attempt::{Attempt, Status};
use crate::cli::objective::amount;
use crate::cli::words::Words;
use crate::decide::Ratio;
use crate::fit::{Inputs, Runs, Settings, fit};
use crate::models::parameters::Decomposition;
use crate::models::{Parameters, TimeModel};
use crate::native::{failure_notes, placement_notes};
use crate::objective::Objective;
use crate::quantity::Quantity;
use crate::tune::derived;
use crate::tune::engine::{End, Level, mapping, timed};
use crate::tune::{Search, Verdict};
use crate::units::{Percent, Seconds};

/// What was found at one level of further factors.
pub struct LevelAnswer<'a> {
    /// The level.
    pub level: &'a Level,
    /// What is best, in the unit that the attempts have.
    pub objective: Objective,
    /// What is known of it.
    pub verdict: &'a Verdict,
    /// All attempts of the log.
    pub attempts: &'a [Attempt],
    /// What m and p are called.
    pub words: &'a Words,
    /// The parameters that the runs determine, or why they do not.
    pub parameters: std::result::Result<Parameters, String>,
    /// Processors of the computer on which the search began, where that is known.
    pub processors: Option<u32>,
}

/// The parameters that the runs of a level determine, by this name, or why they do not.
pub fn parameters(
    level: &Level,
    attempts: &[Attempt],
    quantity: &Quantity,
    (name, decomposition): (&str, Decomposition),
) -> std::result::Result<Parameters, String> {
    let rows = derived::runs(&level.factors, attempts);
    if rows.is_empty() {
        return Err("no run ended well".into());
    }
    let runs = Runs::from_rows("runs.csv", &rows).map_err(|error| error.to_string());
    let (mut runs, _) = runs?;
    runs.quantity = quantity.clone();
    let most = level.search.space.iter().map(|it| it.apus()).max().unwrap_or(1);
    let apus = u32::try_from(most).map_err(|_| format!("m*p = {most} is too many"))?;
    let settings = Settings::new(name, decomposition, apus);
    let inputs = Inputs { runs: Some(runs), ..Inputs::default() };
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

/// The most that a printed time of the same run may be, over the wall clock.
const LARGER: f64 = 1.02;

/// The most by which clocks differ that are read one after the other \[s\].
const CLOCK_S: f64 = 0.02;

/// A standard deviation of the logarithm of a run's time that is worth a word.
const NOISY: f64 = 0.08;

/// A part of the time by which a formula is so far off that its terms explain nothing.
const FAR_OFF: f64 = 0.25;

/// The factor by which the printed part of the wall clock may vary before the rest is worth a word.
const VARIES: f64 = 1.5;

impl LevelAnswer<'_> {
    fn search(&self) -> &Search {
        &self.level.search
    }

    pub fn of_level(&self) -> impl Iterator<Item = &Attempt> {
        self.attempts.iter().filter(|it| it.params == self.level.factors)
    }

    fn objective(&self) -> &Objective {
        &self.objective
    }

    /// The product of time and factor of the objective, which is least of the best of several choices.
    pub fn product(&self) -> Option<f64> {
        let (choice, time) = self.verdict.choice.zip(self.verdict.time)?;
        Some(time.0 * self.objective().factor(choice))
    }

    /// The times of every configuration that ran well.
    pub fn times(&self) -> BTreeMap<Mapping, Vec<Seconds>> {
        let mut times: BTreeMap<Mapping, Vec<Seconds>> = BTreeMap::new();
        for run in derived::runs(&self.level.factors, self.attempts) {
            times.entry(Mapping::of(run.m, run.p)).or_default().push(Seconds(run.time_s));
        }
        times
    }

    /// Configurations that were tried, well or not.
    fn tried(&self) -> usize {
        let timed = self.of_level().filter(|it| it.status != Status::Interrupted);
        let all: std::collections::BTreeSet<Mapping> = timed.map(mapping).collect();
        all.len()
    }

    /// The answer as a sentence.
    pub fn sentence(&self) -> String {
        let of = |it: Mapping| self.words.of(it);
        let factors: String =
            self.level.factors.iter().map(|(name, value)| format!("{name} {value}: ")).collect();
        let tried = self.tried();
        let all = self.search().space.len();
        let (Some(choice), Some(time)) = (self.verdict.choice, self.verdict.time) else {
            return format!("{factors}nothing ran well, of {tried} of {all} configurations.");
        };
        let times = self.times();
        let count = times.get(&choice).map_or(0, Vec::len);
        let regret =
            regret(self.verdict).unwrap_or("how far from the best is not known yet".into());
        let beside = self.beside(choice).unwrap_or_default();
        let objective = self.objective();
        let mut amount = objective.shown(objective.amount(choice, time));
        if !objective.is_measured() {
            amount = format!("{} {amount}, {}", objective.name(), objective.quantity().shown(time));
        }
        let count = match count {
            1 => "measured once".to_string(),
            count => format!("measured {count} times"),
        };
        let alike = self.alike(choice).unwrap_or_default();
        format!(
            "{factors}{}: {amount}, {count}; {regret}, after {tried} of {all} configurations{beside}.{alike}",
            of(choice)
        )
    }

    /// What cannot be told from the choice.
    fn alike(&self, choice: Mapping) -> Option<String> {
        let alike = &self.verdict.alike;
        let noise = self.verdict.noise.map(|noise| format!(" of {}", Percent(noise)));
        (alike.len() > 1).then(|| {
            format!(
                " These {} cannot be told apart at this noise{}: {}; {} takes the fewest cores.",
                alike.len(),
                noise.unwrap_or_default(),
                self.listed(alike),
                self.words.of(choice)
            )
        })
    }

    /// What the choice is to what the user runs today, where that is sure.
    fn beside(&self, choice: Mapping) -> Option<String> {
        let baseline = self.search().baseline.filter(|&it| it != choice)?;
        let Ratio { low, middle, high } = self.verdict.of_baseline?;
        let fast = self.objective().positive();
        Some(format!(
            "; {middle:.2} times as {fast} as {} ({low:.2} to {high:.2}, 95 %)",
            self.words.of(baseline)
        ))
    }

    /// The answer for programs, as in summary.json. It has no reason to stop where the search goes on.
    pub fn summary(&self, end: Option<End>) -> Object {
        let verdict = self.verdict;
        let measured = verdict.choice.and_then(|it| Some(self.times().get(&it)?.len()));
        let factors = &self.level.factors;
        let params = (!factors.is_empty()).then(|| Object::from_iter(factors.clone()));
        Object::new()
            .with("best", verdict.choice.map(|it| [it.m(), it.p()]))
            .followed_by(amount(self.objective(), verdict.choice.zip(verdict.time)))
            .with("measured", measured.unwrap_or(0))
            .with_some("captured", self.captured_at_choice())
            .with("expected_regret", verdict.expected_regret)
            .with("regret_95", verdict.regret_95)
            .with("noise", verdict.noise)
            .with("alike", verdict.alike.iter().map(|it| vec![it.m(), it.p()]).collect::<Vec<_>>())
            .with("runs", timed(&self.of_level().cloned().collect::<Vec<_>>()))
            .with("tried", self.tried())
            .with("configurations", self.search().space.len())
            .with("stopped", end.map(why))
            .with_some("params", params)
            .with("names", <[String; 2]>::from(self.words.pair()))
            .with("sentence", self.sentence())
    }

    /// What runs that count as good printed of errors.
    fn complaints(&self) -> Option<String> {
        let good = || self.of_level().filter(|it| it.status == Status::Ok);
        let said = || good().filter_map(|it| Some((mapping(it), it.complaint.as_ref()?)));
        let (first, line) = said().next()?;
        Some(format!(
            "{} of {} runs that ended well printed an error, first {}: {line:?}. They count as good; --check \
             REGEX tells good runs by what they print.",
            said().count(),
            good().count(),
            self.words.of(first)
        ))
    }

    /// Configurations that did not run well, with why, those with the same reason together.
    fn failures(&self) -> Vec<String> {
        let of_level: Vec<Attempt> = self.of_level().cloned().collect();
        failure_notes(&of_level, &|mappings| self.listed(mappings))
    }

    /// The first of some configurations, and how many others there are.
    fn listed(&self, mappings: &[Mapping]) -> String {
        let shown: Vec<String> = mappings.iter().take(SHOWN).map(|&it| self.words.of(it)).collect();
        let more = mappings.len().saturating_sub(SHOWN);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        shown.join(", ") + &more
    }

    /// What printed times and the wall clock say of each other, where that is odd.
    fn clocks(&self) -> Option<String> {
        let is_printed = |it: &&Attempt| ["output", "json"].contains(&it.time_source.as_str());
        let timed = self.of_level().filter(|it| is_printed(it) && it.quantity().is_time());
        let share = |it: &'_ Attempt| {
            let (time_s, wall_s) = it.time_s.zip(it.wall_s)?;
            Some((time_s / wall_s, mapping(it), Seconds(time_s), Seconds(wall_s)))
        };
        let mut shares: Vec<_> = timed.filter_map(share).collect();
        shares.sort_by(|one, other| one.0.total_cmp(&other.0));
        let (first, last) = (shares.first()?, shares.last()?);
        let of = |it: Mapping| self.words.of(it);
        if last.0 > LARGER && last.2.0 > last.3.0 + CLOCK_S {
            return Some(format!(
                "What it prints is larger than the wall clock: {} of {} at {}. Is it the time of this run, \
                 in its unit?",
                last.2,
                last.3,
                of(last.1)
            ));
        }
        (last.0 > VARIES * first.0 && first.1 != last.1).then(|| {
            format!(
                "What it prints is {} of the wall clock at {}, {} at {}: what it leaves out depends on the \
                 configuration. Without --time-from the whole counts.",
                Percent(first.0),
                of(first.1),
                Percent(last.0),
                of(last.1)
            )
        })
    }

    /// What stands below the sentence: what limits, what failed, what comes next.
    pub fn details(&self) -> String {
        let mut lines: Vec<String> = self.beside_choice().into_iter().collect();
        if let (Some(choice), Ok(parameters)) = (self.verdict.choice, &self.parameters) {
            lines.extend(self.limit(parameters, choice));
        }
        lines.extend(self.failures());
        lines.extend(self.doubts());
        let taken = &self.verdict.taken_to_fail;
        if !taken.is_empty() {
            lines.push(format!("not run, and taken to fail as others did: {}", self.listed(taken)));
        }
        if let Some((next, _)) = self.verdict.next.first().filter(|_| !self.verdict.is_settled()) {
            let next = self.words.of(*next);
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

    /// What makes the times doubtful, for the warnings of the page.
    pub fn doubts(&self) -> Vec<String> {
        let of_level: Vec<Attempt> = self.of_level().cloned().collect();
        let placement = placement_notes(&of_level, &|it| self.words.of(it));
        let own = [self.noise(), self.complaints(), self.clocks()];
        own.into_iter().flatten().chain(placement).collect()
    }

    /// How far runs of the same configuration differ, and what else ran then, where that is much.
    fn noise(&self) -> Option<String> {
        let scatter = self.verdict.noise.filter(|&it| it >= NOISY);
        let processors = self.processors.map(f64::from);
        let load = self.of_level().filter_map(|it| it.load).fold(0.0, f64::max);
        let crowd = processors.filter(|&it| load > 1.5 * it).map(|processors| {
            format!("The load was up to {load:.1} on {processors:.0} processors before a run.")
        });
        let scatter = scatter.map(|scatter| {
            format!(
                "Runs of the same configuration differ by {} (standard deviation).",
                Percent(scatter)
            )
        });
        let of_level: Vec<&Attempt> = self.of_level().collect();
        let name = |it: Mapping| self.words.of(it);
        let others = [stolen(&of_level, &name), interrupted(&of_level, self.processors, &name)];
        let said: Vec<String> = [scatter, crowd].into_iter().chain(others).flatten().collect();
        (!said.is_empty()).then(|| said.join(" "))
    }

    /// The formula, and the parts of the time at the choice.
    fn limit(&self, parameters: &Parameters, choice: Mapping) -> Option<String> {
        let mut parts = parameters.parts(choice);
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
            return Some(format!(
                "Equation 11 is off by {off} there, and does not tell what limits."
            ));
        }
        let off = if (total / measured - 1.0).abs() > 0.05 {
            format!(", which gives {} there", quantity.shown(Seconds(total)))
        } else {
            String::new()
        };
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
        Some(format!("By equation 11{off}, what limits is {first}{rest}."))
    }
}

/// The budget's share that is left, as a time.
pub fn left(budget: Option<Seconds>, spent: Seconds) -> Option<Seconds> {
    budget.map(|budget| Seconds((budget.0 - spent.0).max(0.0)))
}

/// The most configurations that are named of those that failed for the same reason.
const SHOWN: usize = 6;
