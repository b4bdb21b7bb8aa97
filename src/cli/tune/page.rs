//! What the page of a search shows, from its log.

use std::collections::BTreeMap;

use super::answer::SearchAnswer;
use super::captured::CapturedKey;
use crate::attempt::{Attempt, PlacedProcesses, Status};
use crate::cli::words::assigned;
use crate::error::Result;
use crate::launch::{command_line, quoted};
use crate::plot::SpeedUp;
use crate::report::search::{Row, Search, SearchedConfiguration, geometric_mean};
use crate::tune::engine::mapping;
use crate::units::Seconds;
use crate::{Mapping, Site};

/// The most states of a search that are found again for its page, and where there are further factors, of which each
/// takes some ten times as long.
const MOST_JUDGED: [usize; 2] = [100, 20];

impl SearchAnswer<'_> {
    /// What a page shows of the search; what is known after each attempt is found again. `absent` says what
    /// the page lacks, and why.
    ///
    /// # Errors
    /// The errors of [`judge`](crate::tune::Search::judge).
    pub fn page(&self, command: &str, mut absent: Vec<String>) -> Result<Search> {
        let all: Vec<Attempt> = self.of_search().cloned().collect();
        let speed_up = self.speed_up();
        if speed_up.is_none() {
            absent.push(match self.objective.quantity().is_speed() {
                true => "Speed-up is not here: it asks for runs on two numbers of cores.".into(),
                false => "Speed-up is not here: what was measured is no time and no rate.".into(),
            });
        }
        Ok(Search {
            sentence: self.sentence(),
            details: self.details().lines().map(str::to_string).collect(),
            names: self.words.pair(),
            quantity: self.objective.quantity().clone(),
            limit: self.plan.search.goal.regret(),
            origin: self.origin(command, &all),
            warnings: self.doubts(),
            captured: self.captured().iter().map(CapturedKey::heading).collect(),
            pictured: self.with(self.verdict.level()),
            configurations: self.configurations()?,
            speed_up,
            attempts: self.rows(&all)?,
            absent,
        })
    }

    /// The command, the computer, the days, and what else was set.
    fn origin(&self, command: &str, all: &[Attempt]) -> Vec<(String, String)> {
        let ran = all.iter().find(|it| !it.argv.is_empty());
        let own = |it: &Attempt| -> String {
            let set = it.env.iter().filter(|(name, _)| !name.starts_with("MMGP_"));
            set.map(|(name, value)| format!("{name}={} ", quoted(value))).collect()
        };
        let typed = ran.map(|it| own(it) + &command_line(&it.argv));
        let several = |mut values: Vec<String>| {
            values.retain(|it| !it.is_empty());
            values.sort_unstable();
            values.dedup();
            (!values.is_empty()).then(|| values.join(", "))
        };
        let days = || all.iter().map(|it| it.start.as_str()).filter(|it| !it.is_empty());
        let day = |of: Option<&str>| of.map(str::to_string);
        let when = day(days().min()).zip(day(days().max()));
        let loads = || all.iter().filter_map(|it| it.load);
        let load = loads().reduce(f64::min).zip(loads().reduce(f64::max));
        let facts = [
            ("Command", (!command.is_empty()).then(|| command.to_string())),
            ("A run, as it was started", typed),
            ("Threads and their processors", self.placed(all)),
            ("Computer", several(all.iter().map(|it| it.host.clone()).collect())),
            ("Processors", self.processors.map(|it| it.to_string())),
            ("From, to (UTC)", when.map(|(from, to)| format!("{from}, {to}"))),
            ("Load before a run", load.map(|(low, high)| format!("{low:.1} to {high:.1}"))),
        ];
        let fact = |(name, value): (&str, Option<String>)| Some((name.to_string(), value?));
        facts.into_iter().filter_map(fact).collect()
    }

    /// Where the threads of the choice were, or else those of the first run of which that was seen.
    fn placed(&self, all: &[Attempt]) -> Option<String> {
        let is_chosen = |it: &&Attempt| self.plan.site(it) == self.verdict.choice;
        let seen = || all.iter().filter(|it| it.placement.is_some());
        let attempt = seen().rfind(is_chosen).or_else(|| seen().next())?;
        let of = |it: &PlacedProcesses| {
            let threads = if it.working == 1 { "thread" } else { "threads" };
            let processes = if it.count == 1 { "process" } else { "processes" };
            let (count, working, processors) = (it.count, it.working, &it.processors);
            format!("{count} {processes} of {working} {threads} on {processors}")
        };
        let processes = attempt.placement.iter().flat_map(|it| &it.processes);
        let placed: Vec<String> = processes.map(of).collect();
        Some(format!(
            "{}: {}",
            self.words.of_both(mapping(attempt), &attempt.params),
            placed.join("; ")
        ))
    }

    /// Everything that may be chosen, with what is believed of it and what came of its runs.
    fn configurations(&self) -> Result<Vec<SearchedConfiguration>> {
        let search = &self.plan.search;
        let believed: BTreeMap<Site, [Seconds; 3]> = search
            .believed(&self.plan.tried(self.attempts))?
            .into_iter()
            .map(|it| (it.site, [it.time, it.interval.0, it.interval.1]))
            .collect();
        let times = self.times();
        let row = |&of: &Site| {
            let times = times.get(&of).cloned().unwrap_or_default();
            SearchedConfiguration {
                mapping: of.mapping,
                with: self.with(of.level),
                believed: believed.get(&of).copied(),
                trouble: self.trouble(of, &times),
                times,
            }
        };
        Ok(search.space.iter().map(row).collect())
    }

    /// Why a configuration has no time, where it was tried.
    fn trouble(&self, of: Site, times: &[Seconds]) -> Option<String> {
        if !times.is_empty() {
            return None;
        }
        let bad = [Status::Failed, Status::Wrong, Status::Timeout];
        let is_bad = |it: &&Attempt| self.plan.site(it) == Some(of) && bad.contains(&it.status);
        let last = self.attempts.iter().rfind(is_bad)?;
        let reason = last.reason.as_ref().map_or(String::new(), |why| format!(": {why}"));
        Some(format!("{}{reason}", last.status))
    }

    /// The further factors of a level, as they are typed.
    fn with(&self, level: u32) -> String {
        assigned(&self.plan.levels[level as usize])
    }

    /// The runs as speed-ups against the smallest number of cores, by the choice: those with its further
    /// factors.
    fn speed_up(&self) -> Option<SpeedUp> {
        if !self.objective.quantity().is_speed() {
            return None;
        }
        let level = self.verdict.level();
        let times = self.times().into_iter().filter(|(site, _)| site.level == level);
        let times: BTreeMap<Mapping, Vec<Seconds>> =
            times.map(|(site, times)| (site.mapping, times)).collect();
        let middle = |of: &Mapping| Some(geometric_mean(times.get(of)?));
        let fewest = times.keys().map(|it| it.apus()).min()?;
        let of_fewest = times.keys().filter(|it| it.apus() == fewest);
        let by_time = |one: &&Mapping, other: &&Mapping| {
            let time = |it: &Mapping| middle(it).map_or(f64::INFINITY, |time| time.0);
            time(one).total_cmp(&time(other))
        };
        let reference = *of_fewest.min_by(by_time)?;
        if times.keys().all(|it| it.apus() == fewest) {
            return None;
        }
        let runs = times.iter().flat_map(|(&of, times)| times.iter().map(move |&it| (of, it)));
        let baseline = self.plan.search.baseline.filter(|&it| Some(it) != self.verdict.choice);
        let marked = [("chosen", self.verdict.choice), ("run today", baseline)];
        let marked = marked.into_iter().filter_map(|(words, of)| {
            let of = of.filter(|it: &Site| it.level == level)?.mapping;
            Some((words.to_string(), of, middle(&of)?))
        });
        Some(SpeedUp {
            runs: runs.collect(),
            reference: (reference, middle(&reference)?),
            marked: marked.collect(),
        })
    }

    /// Every attempt, with what was known after it.
    fn rows(&self, all: &[Attempt]) -> Result<Vec<Row>> {
        let has_levels = self.plan.levels.len() > 1;
        let step = all.len().div_ceil(MOST_JUDGED[usize::from(has_levels)]);
        let (quantity, captured) = (self.objective.quantity(), self.captured());
        let row = |(place, it): (usize, &Attempt)| -> Result<Row> {
            let is_judged = (place + 1).is_multiple_of(step) || place + 1 == all.len();
            let verdict = is_judged.then(|| self.plan.judge(&all[..=place])).transpose()?;
            let reason = it.reason.as_ref().map_or(String::new(), |why| format!(": {why}"));
            Ok(Row {
                order: place as u64 + 1,
                m: it.m,
                p: it.p,
                with: assigned(&it.params),
                kind: match it.repetition {
                    0 => "warm-up".into(),
                    repetition => format!("run {repetition}"),
                },
                status: format!("{}{reason}", it.status),
                number: it.time_s.map(|time| quantity.number(Seconds(time))),
                wall_s: it.wall_s,
                cpu_s: it.cpu_s,
                max_rss_kb: it.max_rss_kb,
                load: it.load,
                captured: captured.iter().map(|key| key.of(it)).collect(),
                best: verdict.as_ref().and_then(|it| it.choice).map(|it| self.name(it)),
                expected: verdict.as_ref().and_then(|it| it.expected_regret),
                regret: verdict.as_ref().and_then(|it| it.regret_95),
            })
        };
        all.iter().enumerate().map(row).collect()
    }
}
