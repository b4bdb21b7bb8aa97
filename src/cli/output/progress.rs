//! How far a command is, on a terminal only.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::Verbosity;
use crate::cell::Progress;

/// What ends sooner shows no progress: a line that comes and goes at once is only a flicker.
const PATIENCE: Duration = Duration::from_millis(500);
/// How often the line moves where nothing else moves it.
const TICK: Duration = Duration::from_millis(250);

/// A line on standard error that tells how far a job is, until it is dropped.
pub struct ProgressLine {
    bar: ProgressBar,
    /// Shows the line after a while; gone where there is nobody to see it.
    curtain: Option<Curtain>,
}

struct Curtain {
    finished: Sender<()>,
    thread: JoinHandle<()>,
}

/// A line with a bar and an estimate of the time that is left, for a job of so many steps.
pub fn progress(what: &'static str, steps: u64, verbosity: Verbosity) -> ProgressLine {
    let bar = ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::hidden());
    ProgressLine::new(bar, "{msg:<22} {bar:30} {pos}/{len}  {elapsed}, {eta} left", what, verbosity)
}

/// A line with the time that has passed, for a job whose steps cannot be counted.
pub fn waiting(what: &'static str, verbosity: Verbosity) -> ProgressLine {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
    ProgressLine::new(bar, "{msg:<22} {spinner} {elapsed}", what, verbosity)
}

/// A line with what is going on and for how long, until it is dropped.
pub struct Spinner(ProgressBar);

/// Shows such a line at once.
pub fn spinner(what: String) -> Spinner {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{msg} {spinner} {elapsed}");
    bar.set_style(style.expect("invariant: the template is one"));
    bar.set_message(what);
    bar.enable_steady_tick(TICK);
    Spinner(bar)
}

impl Drop for Spinner {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

impl ProgressLine {
    fn new(bar: ProgressBar, template: &str, what: &'static str, verbosity: Verbosity) -> Self {
        let style = ProgressStyle::with_template(template);
        let bar = bar.with_style(style.expect("invariant: the template is one")).with_message(what);
        let target = ProgressDrawTarget::stderr();
        if verbosity == Verbosity::Quiet || target.is_hidden() {
            return Self { bar, curtain: None };
        }
        let (finished, wait) = channel();
        let shown = bar.clone();
        let thread = std::thread::spawn(move || {
            if wait.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                shown.set_draw_target(target);
                shown.enable_steady_tick(TICK);
            }
        });
        Self { bar, curtain: Some(Curtain { finished, thread }) }
    }

    /// Counts further steps that are done.
    pub fn inc(&self, steps: u64) {
        self.bar.inc(steps);
    }

    /// What an emulated program tells its steps, one for each.
    pub fn steps(&self) -> Progress {
        let bar = self.bar.clone();
        Progress::new(move || bar.inc(1))
    }

    /// Takes the line away, as dropping it does.
    pub fn finish_and_clear(self) {}
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        if let Some(Curtain { finished, thread }) = self.curtain.take() {
            drop(finished);
            // It sleeps no longer, and whether it showed the line no longer matters.
            let _ = thread.join();
        }
        self.bar.finish_and_clear();
    }
}
