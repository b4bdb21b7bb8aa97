//! One case at a time: what panics, what hangs, and what is wrong.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use mmgp::native::Stopwatch;

use crate::target::{Input, Outcome, Target};

thread_local! {
    /// Place and message of this thread's last panic.
    static PANIC: RefCell<Option<(String, String)>> = const { RefCell::new(None) };
}

/// What is wrong with a case.
#[derive(Debug, Clone, PartialEq)]
pub struct Wrong {
    /// By which it is told from others: the place of a panic, or the message without its numbers.
    pub kind: String,
    /// What there is to say.
    pub message: String,
}

/// From here on a panic is kept and not printed.
pub fn keep_panics() {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map_or_else(String::new, |at| {
            let (file, line) = (at.file(), at.line());
            format!("{file}:{line}")
        });
        let payload = info.payload();
        let message = payload.downcast_ref::<String>().map(String::as_str);
        let message = message.or(payload.downcast_ref::<&str>().copied()).unwrap_or("no message");
        PANIC.with(|panic| *panic.borrow_mut() = Some((place, message.to_string())));
    }));
}

/// The case that runs, for who waits for it: what to say of it, and since when.
static RUNNING: Mutex<Option<(String, f64, Stopwatch)>> = Mutex::new(None);

/// What to say of the case that runs where it takes longer than it may, and how long that is.
pub fn hanging() -> Option<(String, f64)> {
    let running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    let (what, most, since) = running.as_ref()?;
    let took = since.elapsed().0;
    // What took long is told when it ends, unless it never does.
    (took > 20.0 * most).then(|| (what.clone(), took))
}

/// Tries an input, of a case that `what` is said of where it hangs.
pub fn tried(target: &dyn Target, input: &Input, what: &str) -> Result<Outcome, Wrong> {
    let first = timed(target, input, what);
    // A computer that is busy with other things is slow once, but not each time.
    let is_slow = |tried: &(f64, Result<Outcome, Wrong>)| tried.0 > target.most_seconds();
    if !is_slow(&first) || first.1.is_err() {
        return first.1;
    }
    let again = [timed(target, input, what), timed(target, input, what)];
    if again.iter().all(is_slow) {
        let least = again.iter().fold(first.0, |least, it| least.min(it.0));
        let message = format!("takes {least:.1} s, at least, of three tries");
        return Err(Wrong { kind: "hang".into(), message });
    }
    first.1
}

fn timed(target: &dyn Target, input: &Input, what: &str) -> (f64, Result<Outcome, Wrong>) {
    let watch = Stopwatch::start();
    let running = |it| *RUNNING.lock().unwrap_or_else(PoisonError::into_inner) = it;
    running(Some((what.to_string(), target.most_seconds(), watch)));
    let outcome = catch_unwind(AssertUnwindSafe(|| target.check(input)));
    running(None);
    let outcome = match outcome {
        Ok(outcome) => outcome.map_err(|message| Wrong { kind: kind_of(&message), message }),
        Err(_) => {
            let panic = PANIC.with(|panic| panic.borrow_mut().take());
            let (place, message) = panic.unwrap_or_default();
            let message = format!("panic at {place}: {message}");
            Err(Wrong { kind: place, message })
        }
    };
    (watch.elapsed().0, outcome)
}

/// A message up to its first number or quotation.
fn kind_of(message: &str) -> String {
    let end = message.find(|letter: char| letter.is_ascii_digit() || "\"`{[(".contains(letter));
    message[..end.unwrap_or(message.len())].trim().to_string()
}

/// A smaller input with which the same is wrong.
pub fn minimised(target: &dyn Target, input: &Input, wrong: &Wrong) -> Input {
    let mut smaller = Smaller { target, wrong, tries_left: MOST_TRIES, watch: Stopwatch::start() };
    let mut input = input.clone();
    for part in 0..input.0.len() {
        smaller.shrink(&mut input, part, |text| {
            text.split_inclusive('\n').map(String::from).collect()
        });
    }
    for part in 0..input.0.len() {
        smaller.shrink(&mut input, part, |text| text.chars().map(String::from).collect());
    }
    input
}

/// So many inputs are tried on the way to a small one,
const MOST_TRIES: u32 = 5000;
/// and for so long.
const MOST_SECONDS: f64 = 20.0;

struct Smaller<'a> {
    target: &'a dyn Target,
    wrong: &'a Wrong,
    tries_left: u32,
    watch: Stopwatch,
}

impl Smaller<'_> {
    /// Leaves out as many pieces of a part as can be, halves first, then quarters, at last each.
    fn shrink(&mut self, input: &mut Input, part: usize, cut: impl Fn(&str) -> Vec<String>) {
        let mut pieces = cut(&input.0[part].text);
        let mut length = pieces.len().div_ceil(2);
        while length > 0 {
            let mut start = 0;
            while start < pieces.len() {
                let mut fewer = pieces.clone();
                fewer.drain(start..(start + length).min(pieces.len()));
                let mut candidate = input.clone();
                candidate.0[part].text = fewer.concat();
                if self.is_as_wrong(&candidate) {
                    (pieces, *input) = (fewer, candidate);
                } else {
                    start += length;
                }
            }
            length = if length == 1 { 0 } else { length.div_ceil(2) };
        }
    }

    fn is_as_wrong(&mut self, input: &Input) -> bool {
        if self.tries_left == 0 || self.watch.elapsed().0 > MOST_SECONDS {
            return false;
        }
        self.tries_left -= 1;
        let wrong = timed(self.target, input, "a smaller input").1.err();
        wrong.is_some_and(|wrong| wrong.kind == self.wrong.kind)
    }
}
