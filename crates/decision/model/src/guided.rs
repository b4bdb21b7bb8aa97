//! A scheduler that follows the model at run time: how many processes off-load at once, and on how
//! many APUs each.
//!
//! A [`Guide`] serves the processes of a machine's host. Each alternates between host code and
//! off-loads; before each off-load it asks ([`Guide::arrives`]) and is told how many APUs to lease, or
//! to hold. What it measures it takes from the instants of these calls. It has no clock, no threads
//! and no lock; who asks is told in the order of asking, whatever the instants.
//!
//! 1. It starts with one APU for each off-load of every process. One counts from its first off-load on,
//!    and not while it computes on the host for longer than some cycles of the others.
//! 2. A *window* is some dozens of off-loads under one choice (m, p). At its end [`Online`] learns
//!    from it, equation 11 of independent tasks; how far that is off is conditioned on all windows.
//!    What is not known of a workload yet (the part of an off-load that APUs cannot share, what a
//!    further APU costs, how much processes slow each other down on the host) starts with wide errors.
//!    Windows are compared at one mix of functions (`mix.rs`): a change of mix is a phase, a change of
//!    the times of a function one of the workload. So that a step of the program is not taken for
//!    several, a window goes on until each process has been through all that takes a tenth of the time.
//! 3. The next window is of the choice with the largest expected gain over the best that was tried,
//!    if it is more than half a percent, and if it costs no more than [`BUDGET`] of the time so
//!    far. Where nothing promises as much, it has *settled*.
//! 4. From then on it watches host bursts, off-loads and throughput. Where one of them leaves its band,
//!    or the best choice contradicts what was measured of it, the workload has changed: all is
//!    forgotten, and learnt again. Another choice that does is measured anew.
//! 5. When a process begins, rests or leaves it chooses again at once, from what it knows.
//!
//! A function that gets no faster with more APUs is given only as many as serve it.
//!
//! Where fewer processes go than are alive, a place is given up for one that waits after some
//! off-loads, so that all of them get on. It never holds everybody: when nothing is off-loaded, who
//! has waited longest goes. *Whoever is held asks again whenever an off-load ends or a process
//! leaves*, all of them; on that rests that each is served.
//!
//! Asking takes tens of nanoseconds and allocates nothing. The last completion of a window takes tens
//! of microseconds, and allocates, as learning does; so does a process that begins or leaves.
//!
//! [`Online`]: crate::fit::online::Online
//!
//! ```
//! use mmgp_model::guided::{Answer, Guide, Request};
//! use mmgp_model::units::Seconds;
//!
//! // Two processes, eight APUs; an off-load takes 8 ms on one APU and is shared perfectly.
//! let mut guide = Guide::new(8, 2)?;
//! let mut instants = [Seconds(0.0); 2];
//! guide.enters(0)?;
//! guide.enters(1)?;
//! for turn in 0..2000 {
//!     let process = turn % 2;
//!     let now = &mut instants[process as usize];
//!     // The other has at most half of the APUs, and is behind by half a turn.
//!     let request = Request { function: 0, most_shares: 4, idle: 8 };
//!     let Answer::Go(shares) = guide.arrives(*now, process, request) else { continue };
//!     *now = *now + Seconds(8e-3 / f64::from(shares));
//!     guide.completes(*now, process);
//!     *now = *now + Seconds(1e-3);
//! }
//! assert_eq!(guide.choice().to_string(), "(2, 4)");
//! # Ok::<(), mmgp_model::Error>(())
//! ```

mod admission;
mod caps;
mod explanation;
mod learnt;
mod mix;
#[cfg(test)]
mod tests;
mod window;

pub use admission::{Answer, Request};
pub use explanation::{GuideExplanation, TriedChoice};

use admission::{Admission, LeaseTerms, Stage};
use learnt::{Knowledge, Promise};
use mmgp_base::Mapping;
use mmgp_base::error::{Error, Result};
use mmgp_base::units::Seconds;
use window::{Watch, Window};

/// What looking at other choices may cost, of the time since it began to learn.
pub const BUDGET: f64 = 0.015;

/// The most processes, and the most APUs, that a guide serves.
pub const MOST: u32 = 1 << 12;

/// Rounds of all processes that go in a window, and off-loads at least.
const ROUNDS: u32 = 8;
const LEAST_WINDOW: u32 = 32;
/// A window goes on until the mean cycle has this relative standard error, but no longer than
/// [`LONGEST`] times its least length.
const PRECISE: f64 = 0.02;
const LONGEST: u32 = 2;
/// Factor of its least length up to which a window waits until it has seen every function that takes a
/// tenth of the time in each process.
const UNTIL_WHOLE: u32 = 4;
/// Cycles of the others for which a process computes on the host before it counts as one that rests.
const RESTING: f64 = 8.0;
/// Rounds after which a window may end that is the first, if its mean cycle has this relative standard
/// error; or that is slower than the best that is known by this factor and so many standard errors.
const ROUGH: u32 = 3;
const ROUGHLY: f64 = 0.1;
const HOPELESS_BEYOND: f64 = 1.1;
const HOPELESS: f64 = 3.0;

/// A run-time scheduler's decisions.
#[derive(Debug, Clone)]
pub struct Guide {
    apus: u32,
    admission: Admission,
    learnt: Knowledge,
    choice: Mapping,
    /// Counts the choices, so that an off-load is known by the one that it began under.
    choices: u64,
    window: Window,
    /// Watch over the choice that it stands for.
    watch: (Mapping, Watch),
    is_settled: bool,
    /// The best of what was tried, when the choice was made.
    best: Option<Promise>,
    /// What looking has cost, and the beginning of the learning \[s\].
    spent_s: f64,
    learning_since: f64,
    offloads: u64,
    settled_after: Option<u64>,
    changes: u64,
}

impl Guide {
    /// Guide for a machine with so many APUs and host contexts (hardware threads that run processes).
    ///
    /// # Errors
    /// [`Error::OutOfRange`] where either is 0 or more than [`MOST`].
    pub fn new(apus: u32, contexts: u32) -> Result<Self> {
        check("apus", apus, 1..=MOST)?;
        check("contexts", contexts, 1..=MOST)?;
        Ok(Self {
            apus,
            admission: Admission::new(),
            learnt: Knowledge::new(apus, contexts),
            choice: Mapping::SEQUENTIAL,
            choices: 0,
            window: Window::new(1),
            watch: (Mapping::SEQUENTIAL, Watch::NEW),
            is_settled: false,
            best: None,
            spent_s: 0.0,
            learning_since: f64::NAN,
            offloads: 0,
            settled_after: None,
            changes: 0,
        })
    }

    /// A process exists that will ask. One that has entered already goes on as it is.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for a number of [`MOST`] or more.
    pub fn enters(&mut self, process: u32) -> Result<()> {
        check("process", process, 0..=MOST - 1)?;
        self.admission.enter(process);
        Ok(())
    }

    /// A process has no more work. Whoever holds asks again.
    pub fn leaves(&mut self, process: u32) {
        // When the last has left, what was chosen stays to be read.
        if self.admission.leave(process) && self.admission.alive > 0 {
            self.choose_from_what_is_known();
        }
    }

    /// A process asks to off-load `function`, which at most `most_shares` APUs can share, at `now`,
    /// when `idle` APUs have no lease. One that has not entered, or has an off-load under way, holds.
    pub fn arrives(&mut self, now: Seconds, process: u32, request: Request) -> Answer {
        let begins = self.admission.begin(process);
        if begins {
            self.choose_from_what_is_known();
        }
        let (choice, choices) = (self.choice, self.choices);
        let Request { function, most_shares, idle } = request;
        let wanted = choice.p().min(self.learnt.caps.of(function)).min(most_shares.max(1));
        let Some(asking) = self.admission.process(process) else { return Answer::Hold };
        match asking.stage {
            Stage::Running => return Answer::Hold,
            // What it did on the host before it began is no part of a cycle.
            Stage::Host if begins => asking.burst_s = f64::NAN,
            Stage::Host => {
                asking.burst_s = (now.0 - asking.completed_at).max(0.0);
                asking.before = asking.function;
            }
            Stage::Waiting | Stage::Away => {}
        }
        let answer = self
            .admission
            .ask(process, LeaseTerms { going: choice.m(), wanted, idle: idle.min(self.apus) });
        if let (Answer::Go(shares), Some(going)) = (answer, self.admission.process(process)) {
            going.started_at = now.0;
            going.function = function;
            going.shares = shares;
            going.choice = choices;
        }
        answer
    }

    /// The off-load of a process starts, if that is later than it was told to go.
    pub fn starts(&mut self, now: Seconds, process: u32) {
        let process = self.admission.process(process);
        if let Some(starting) = process.filter(|it| it.stage == Stage::Running) {
            starting.started_at = now.0;
        }
    }

    /// A process has the result of its off-load and goes on with host code. Whoever holds asks again.
    pub fn completes(&mut self, now: Seconds, process: u32) {
        let Some(done) = self.admission.process(process) else { return };
        if done.stage != Stage::Running {
            return;
        }
        done.completed_at = now.0;
        let done = *done;
        self.admission.complete(process, self.choice.m());
        self.offloads += 1;
        if self.learning_since.is_nan() {
            self.learning_since = now.0;
        }
        self.window.complete(now.0, &done, self.choices);
        if self.window_is_full(now.0) {
            self.end_window(now.0);
        }
    }

    /// How many processes off-load at once, and on how many APUs each, as it is now.
    pub fn choice(&self) -> Mapping {
        self.choice
    }

    /// Off-loads after which nothing promised more for the first time.
    pub fn settled_after(&self) -> Option<u64> {
        self.settled_after
    }

    /// How often the workload was found to have changed.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Off-loads that were completed.
    pub fn offloads(&self) -> u64 {
        self.offloads
    }

    /// What it believes, for people.
    pub fn explain(&self) -> GuideExplanation {
        explanation::explain(self)
    }

    fn window_is_full(&self, now: f64) -> bool {
        let (length, done) = (self.window_length(), self.window.completions);
        if done < ROUGH * self.going() {
            return false;
        }
        let error = self.window.relative_error();
        let is_whole = || self.learnt.is_whole(&self.window, self.going());
        if done >= length {
            let is_precise = error <= PRECISE || done >= LONGEST * length;
            return is_precise && (done >= UNTIL_WHOLE * length || is_whole());
        }
        // One APU for each off-load may be far from the best, and so may what is looked at: neither is
        // worth a whole window.
        match self.best {
            None => error <= ROUGHLY && is_whole(),
            Some(best) if best.mapping == self.choice => false,
            Some(best) => {
                let doubt = HOPELESS * error.hypot(best.error);
                let best_s = best.time_s * self.learnt.expects(best.mapping, &self.window).of_time;
                self.window.time_s(now) > best_s * (HOPELESS_BEYOND + doubt)
            }
        }
    }

    /// Processes that go at once.
    fn going(&self) -> u32 {
        self.choice.m().min(self.admission.alive.max(1))
    }

    /// Whole rounds, so that processes in step do not make a window longer or shorter by their rhythm.
    fn window_length(&self) -> u32 {
        let going = self.going();
        going * ROUNDS.max(LEAST_WINDOW.div_ceil(going))
    }

    fn end_window(&mut self, now: f64) {
        let cycle = &self.window.cycle;
        if cycle.count > 0.0 && self.admission.rest(now, RESTING * cycle.mean) {
            // The window was one of more processes, or of fewer: nobody knows.
            self.window = Window::new(self.going());
            self.choose_from_what_is_known();
            return;
        }
        let time_s = self.window.time_s(now);
        let is_contradicted = self.learnt.is_contradicted(self.choice, &self.window, time_s);
        let is_best = self.best.is_none_or(|best| best.mapping == self.choice);
        let is_other = (is_contradicted && is_best) || self.watch_sees_change(time_s);
        if is_other {
            self.changes += 1;
            self.learn_anew(now);
            return;
        }
        if is_contradicted {
            // If the workload is another one, the best choice will tell.
            self.learnt.forget_one(self.choice);
        }
        let length = f64::from(self.window.completions);
        let of_best =
            |best: Promise| best.time_s * self.learnt.expects(best.mapping, &self.window).of_time;
        let best_s = self.best.map_or(time_s, of_best);
        self.spent_s += (time_s - best_s).max(0.0) * length;
        let cap_changes = self.learnt.caps.changes;
        self.learnt.learn(self.choice, self.admission.alive, &self.window, time_s);
        if self.learnt.caps.changes > cap_changes {
            self.watch = (self.choice, Watch::NEW);
        }
        let elapsed = now - self.learning_since;
        // At first nobody knows what looking costs: one window's time is free.
        let allowance = (BUDGET * elapsed + best_s * length - self.spent_s).max(0.0) / length;
        let next = self.learnt.next(self.admission.alive, allowance);
        let Some(next) = next else {
            self.window = Window::going_on(now);
            return;
        };
        self.best = next.best;
        self.is_settled = next.is_settled;
        if next.is_settled && self.settled_after.is_none() {
            self.settled_after = Some(self.offloads);
        }
        if next.mapping == self.choice {
            self.window = Window::going_on(now);
        } else {
            self.choose(next.mapping);
        }
    }

    /// Takes a window of the settled choice in; whether the workload is another one.
    fn watch_sees_change(&mut self, time_s: f64) -> bool {
        // One that ended early may have ended anywhere in a round.
        if !self.is_settled || self.window.completions < self.window_length() {
            return false;
        }
        if self.watch.0 != self.choice {
            self.watch = (self.choice, Watch::NEW);
        }
        let expected = self.learnt.expects(self.choice, &self.window);
        self.watch.1.sees_change(&self.window, expected, time_s)
    }

    /// Forgets the workload: all that is known is that it is another one.
    fn learn_anew(&mut self, now: f64) {
        self.learnt.forget();
        self.watch = (self.choice, Watch::NEW);
        self.is_settled = false;
        self.best = None;
        self.spent_s = 0.0;
        self.learning_since = now;
        self.choose(Mapping::of(self.admission.alive.max(1), 1));
    }

    /// The processes that there are have changed.
    fn choose_from_what_is_known(&mut self) {
        let alive = self.admission.alive;
        self.learnt.alive(alive);
        let known = self.learnt.safest(alive);
        let mapping = known.unwrap_or(Mapping::of(alive, 1));
        if mapping != self.choice {
            self.choose(mapping);
        }
    }

    fn choose(&mut self, mapping: Mapping) {
        self.learnt.choose(self.choice, mapping);
        self.choice = mapping;
        self.choices += 1;
        self.window = Window::new(self.going());
    }
}

fn check(name: &'static str, found: u32, allowed: std::ops::RangeInclusive<u32>) -> Result<()> {
    if allowed.contains(&found) {
        return Ok(());
    }
    let expected = format!("from {} to {}", allowed.start(), allowed.end());
    Err(Error::out_of_range(name, found.to_string(), expected))
}
