//! What the choice may cost, so that it holds however often it was asked.
//!
//! The choice c is wrong by more than q where some other configuration x is faster by more than q.
//! Its probability is at most the sum over all x of `P(ln T(c) - ln T(x) > ln(1 + q))`, in which no
//! mean is taken to be right, a configuration that never ran has a discrepancy of its own, and noise
//! that few repetitions tell of has the tails of Student's t. The regret is the q where that sum is
//! [`LEFT`].
//!
//! Whoever asks after every run and stops at the first good answer stops at the luckiest. Held
//! against programs whose second best is just not good enough, which is the worst case, a tenth of
//! the 5 % is what may be left for each single question: see the test of `search`.

use mmgp_model::solve::Outlook;

/// What is left of the probability at the regret that is stated.
const LEFT: f64 = 0.005;

/// A regret beyond this says nothing.
const MOST: f64 = 10.0;

/// With 95 % the choice at this place takes no more than this longer than the fastest of all that are
/// weighed, relative to that; `None` where nothing of use can be said.
///
/// It is never below the standard error of the choice's own time.
pub(crate) fn regret_95(outlook: &Outlook, choice: usize) -> Option<f64> {
    let doubt = |regret: f64| -> f64 {
        let others = (0..outlook.mappings().len()).filter(|&place| place != choice);
        others.map(|place| outlook.slower(choice, place, regret)).sum()
    };
    if doubt(MOST) > LEFT {
        return None;
    }
    let (mut low, mut high) = (0.0, MOST);
    if outlook.mappings().len() == 1 || doubt(low) <= LEFT {
        high = low;
    }
    while high - low > RESOLUTION {
        let middle = f64::midpoint(low, high);
        if doubt(middle) > LEFT {
            low = middle;
        } else {
            high = middle;
        }
    }
    let alone = if outlook.mappings().len() == 1 { 0.0 } else { outlook.standard_error(choice) };
    Some(high.max(alone))
}

/// Regrets are as exact as this.
const RESOLUTION: f64 = 1e-5;
