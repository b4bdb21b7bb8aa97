//! What makes the times of a search doubtful, in words.

use super::answer::SearchAnswer;
use super::noise::{interrupted, stolen};
use crate::Mapping;
use crate::attempt::{Attempt, Status};
use crate::native::placement_notes;
use crate::units::{Percent, Seconds};

/// The most that a printed time of the same run may be, over the wall clock.
const LARGER: f64 = 1.02;

/// The most by which clocks differ that are read one after the other \[s\].
const CLOCK_S: f64 = 0.02;

/// A standard deviation of the logarithm of a run's time that is worth a word.
pub const NOISY: f64 = 0.08;

/// The factor by which the printed part of the wall clock may vary before the rest is worth a word.
const VARIES: f64 = 1.5;

impl SearchAnswer<'_> {
    /// What makes the times doubtful, for the warnings of the page.
    pub fn doubts(&self) -> Vec<String> {
        let all: Vec<Attempt> = self.of_search().cloned().collect();
        let placement = placement_notes(&all, &|it| self.words.of(it));
        let own = [self.noise(), self.complaints(), self.clocks()];
        own.into_iter().flatten().chain(placement).collect()
    }

    /// How far runs of the same configuration differ, and what else ran then, where that is much.
    fn noise(&self) -> Option<String> {
        let scatter = self.verdict.noise.filter(|&it| it >= NOISY);
        let processors = self.processors.map(f64::from);
        let load = self.of_search().filter_map(|it| it.load).fold(0.0, f64::max);
        let crowd = processors.filter(|&it| load > 1.5 * it).map(|processors| {
            format!("The load was up to {load:.1} on {processors:.0} processors before a run.")
        });
        let scatter = scatter.map(|scatter| {
            format!(
                "Runs of the same configuration differ by {} (standard deviation).",
                Percent(scatter)
            )
        });
        let of_search: Vec<&Attempt> = self.of_search().collect();
        let name = |it: Mapping| self.words.of(it);
        let others = [stolen(&of_search, &name), interrupted(&of_search, self.processors, &name)];
        let said: Vec<String> = [scatter, crowd].into_iter().chain(others).flatten().collect();
        (!said.is_empty()).then(|| said.join(" "))
    }

    /// What runs that count as good printed of errors.
    fn complaints(&self) -> Option<String> {
        let good = || self.of_search().filter(|it| it.status == Status::Ok);
        let said = || good().filter_map(|it| Some((self.plan.site(it)?, it.complaint.as_ref()?)));
        let (first, line) = said().next()?;
        Some(format!(
            "{} of {} runs that ended well printed an error, first {}: {line:?}. They count as good; --check \
             REGEX tells good runs by what they print.",
            said().count(),
            good().count(),
            self.name(first)
        ))
    }

    /// What printed times and the wall clock say of each other, where that is odd.
    fn clocks(&self) -> Option<String> {
        let is_printed = |it: &&Attempt| ["output", "json"].contains(&it.time_source.as_str());
        let timed = self.of_search().filter(|it| is_printed(it) && it.quantity().is_time());
        let share = |it: &'_ Attempt| {
            let (time_s, wall_s) = it.time_s.zip(it.wall_s)?;
            Some((time_s / wall_s, self.plan.site(it)?, Seconds(time_s), Seconds(wall_s)))
        };
        let mut shares: Vec<_> = timed.filter_map(share).collect();
        shares.sort_by(|one, other| one.0.total_cmp(&other.0));
        let (first, last) = (shares.first()?, shares.last()?);
        if last.0 > LARGER && last.2.0 > last.3.0 + CLOCK_S {
            return Some(format!(
                "What it prints is larger than the wall clock: {} of {} at {}. Is it the time of this run, \
                 in its unit?",
                last.2,
                last.3,
                self.name(last.1)
            ));
        }
        (last.0 > VARIES * first.0 && first.1 != last.1).then(|| {
            format!(
                "What it prints is {} of the wall clock at {}, {} at {}: what it leaves out depends on the \
                 configuration. Without --time-from the whole counts.",
                Percent(first.0),
                self.name(first.1),
                Percent(last.0),
                self.name(last.1)
            )
        })
    }
}
