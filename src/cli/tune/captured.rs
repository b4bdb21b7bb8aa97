//! What was captured of each run beside the number that counts: further times, energy and the like.

use std::collections::BTreeSet;

use super::answer::SearchAnswer;
use crate::answer::Object;
use crate::attempt::{Attempt, Status};
use crate::units::Seconds;

/// The time of runs of which something else counts: it has a column of its own.
const TIME: &str = "time_s";

/// A captured quantity, as a log calls it.
pub struct CapturedKey(String);

impl CapturedKey {
    /// The name, and the unit of a time.
    fn parts(&self) -> (&str, Option<&str>) {
        self.0.strip_suffix("_s").map_or((&self.0, None), |name| (name, Some("s")))
    }

    /// The heading of a column.
    pub fn heading(&self) -> String {
        match self.parts() {
            (name, Some(unit)) => format!("{name} [{unit}]"),
            (name, None) => name.into(),
        }
    }

    /// What it was of a run.
    pub fn of(&self, attempt: &Attempt) -> Option<f64> {
        attempt.captured.get(&self.0).copied()
    }

    /// Its name and a value of it.
    fn shown(&self, value: f64) -> String {
        match self.parts() {
            (name, Some(_)) => format!("{name} {}", Seconds(value)),
            (name, None) => format!("{name} {value:.4}"),
        }
    }
}

impl SearchAnswer<'_> {
    fn good(&self) -> impl Iterator<Item = &Attempt> {
        self.of_search().filter(|it| it.status == Status::Ok)
    }

    /// Everything that was captured but for what counts itself.
    pub fn captured(&self) -> Vec<CapturedKey> {
        let counts = |key: &String| {
            self.good().all(|it| {
                let number = it.time_s.map(|time| it.quantity().number(Seconds(time)));
                it.captured.get(key).copied() == number
            })
        };
        let keys: BTreeSet<&String> = self.good().flat_map(|it| it.captured.keys()).collect();
        let others = keys.into_iter().filter(|key| *key != TIME && !counts(key));
        others.cloned().map(CapturedKey).collect()
    }

    /// Timed runs of the choice that went well.
    fn of_choice(&self) -> Vec<&Attempt> {
        let is_choice = |it: &&Attempt| self.plan.site(it) == self.verdict.choice;
        self.good().filter(|it| it.repetition > 0).filter(is_choice).collect()
    }

    /// The means of what was captured at the choice.
    fn means(&self) -> Vec<(CapturedKey, f64)> {
        let runs = self.of_choice();
        let mean = |key: CapturedKey| {
            let values: Vec<f64> = runs.iter().filter_map(|it| key.of(it)).collect();
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            (!values.is_empty()).then_some((key, mean))
        };
        self.captured().into_iter().filter_map(mean).collect()
    }

    /// What was captured at the choice, in a sentence; `None` where nothing was.
    pub fn beside_choice(&self) -> Option<String> {
        let name = self.name(self.verdict.choice?);
        let told = self.means().into_iter().map(|(key, mean)| key.shown(mean));
        let told: Vec<String> = told.collect();
        let of = match self.of_choice().len() {
            1 => String::new(),
            count => format!(" (means of {count} runs)"),
        };
        (!told.is_empty()).then(|| format!("Beside it, at {name}: {}{of}.", told.join(", ")))
    }

    /// What was captured at the choice, for programs, as a log calls it.
    pub fn captured_at_choice(&self) -> Option<Object> {
        let means: Vec<_> = self.means().into_iter().map(|(key, mean)| (key.0, mean)).collect();
        (!means.is_empty()).then(|| Object::from_iter(means))
    }
}
