//! What was measured under one choice.

use super::mix::{Expected, Functions, Restated};
use super::window::{FUNCTIONS, Window};
use mmgp_base::Mapping;

/// The least relative error of a round: its ends fall anywhere into the rhythm of the processes. And
/// of any number of rounds.
const OF_A_ROUND: f64 = 0.05;
const LEAST_ERROR: f64 = 0.002;
/// Windows from which a record counts as many as these at most, so that it follows slow drifts.
const MOST_OFFLOADS: f64 = 4096.0;
/// A window that differs from earlier ones by so many standard errors, and by so much, is of
/// another workload.
const OTHER: (f64, f64) = (6.0, 0.15);

/// What was measured under one choice.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record {
    pub mapping: Mapping,
    /// How many processes were alive: more than went, if some were held.
    pub alive: u32,
    /// What its windows are worth.
    pub offloads: f64,
    /// Of an off-load in the stream of all, with the mix of all windows \[s\].
    pub time_s: f64,
    /// The same over a cycle, which is a burst and an off-load: 1/m where nothing is waited for.
    pub per_cycle: f64,
    /// Mean host burst \[s\].
    pub burst_s: f64,
    /// Standard deviation of one cycle, relative.
    pub deviation: f64,
    pub by_function: Functions,
    /// Host time after off-loads of each function.
    pub bursts: Functions,
    /// The most APUs that each function had, or has from now on.
    pub caps: [u32; FUNCTIONS],
    /// Where there are several functions.
    pub restated: Option<Restated>,
}

impl Record {
    /// Standard error of its time, relative.
    pub fn relative_error(&self) -> f64 {
        let of_ends = OF_A_ROUND * f64::from(self.mapping.m()) / self.offloads;
        let of_work = self.restated.map_or(self.deviation / self.offloads.sqrt(), |it| it.error);
        of_work.hypot(of_ends.max(LEAST_ERROR))
    }

    /// Whether it has seen each function of a window, and what follows it on the host: of others it says
    /// nothing.
    fn has_seen(&self, window: &Window) -> bool {
        let seen = self.by_function.iter().zip(&self.bursts);
        seen.zip(&window.by_function).all(|((offload, burst), of_window)| {
            of_window.offload.count == 0.0 || (offload.count > 0.0 && burst.count > 0.0)
        })
    }

    /// Whether the time of a window contradicts it.
    pub fn is_contradicted(&self, window: &Window, time_s: f64) -> bool {
        if !self.has_seen(window) {
            return false;
        }
        let expected = self.expects(window);
        let distance = (time_s / (self.time_s * expected.of_time)).ln().abs();
        // Either may have begun and ended anywhere in a round.
        let m = f64::from(self.mapping.m());
        let ends = (m / self.offloads).hypot(m / f64::from(window.completions)) / 2.0;
        let of_window = window.relative_error().max(expected.error);
        let error = of_window.hypot(self.relative_error()).hypot(ends);
        distance > OTHER.0 * error && distance > OTHER.1
    }

    /// What is expected of a window with the mix that it has.
    pub fn expects(&self, window: &Window) -> Expected {
        let of = |restated: &Restated| restated.expects(&window.by_function);
        self.restated.as_ref().map_or(Expected::SAME, of)
    }

    /// A further window of the same choice.
    pub fn add(&mut self, new: &Self) {
        let part = new.offloads / (self.offloads + new.offloads);
        let mean = |value: &mut f64, new: f64| *value += part * (new - *value);
        mean(&mut self.time_s, new.time_s);
        mean(&mut self.per_cycle, new.per_cycle);
        mean(&mut self.burst_s, new.burst_s);
        mean(&mut self.deviation, new.deviation);
        let all = self.by_function.iter_mut().chain(&mut self.bursts);
        for (sample, new) in all.zip(new.by_function.iter().chain(&new.bursts)) {
            sample.merge(new, 1.0);
            *sample = sample.of_at_most(MOST_OFFLOADS);
        }
        self.offloads = (self.offloads + new.offloads).min(MOST_OFFLOADS);
        self.alive = new.alive;
        self.caps = new.caps;
    }
}
