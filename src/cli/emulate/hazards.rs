//! Looking for hazards.

use crate::cell::{Blade, Hazard};
use crate::error::Result;

/// Runs a program on a machine, and on another one once more, slowly, where it has a hazard: off-loads
/// that are computed before their time goes by know only when they begin.
pub fn find<T>(blade: impl Fn() -> Blade, run: impl Fn(Blade) -> Result<T>) -> Result<T> {
    match run(blade()) {
        Err(error) if error.downcast::<Hazard>().is_some() => {
            let again = run(blade().step_by_step());
            Err(again.err().unwrap_or(error))
        }
        ran => ran,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::KernelTiming;
    use crate::error::Error;
    use crate::machine::Machine;

    fn hazard(later: &str) -> Error {
        let (place, later) = ("local store 0x0 to 0xf of SPE 0".into(), later.into());
        let earlier = "nobody has written it".into();
        Error::other(Hazard { place, later, problem: "but", earlier })
    }

    /// What is said of a program that runs like this, first and step by step.
    fn found(first: fn() -> Result<u32>, by_step: fn() -> Result<u32>) -> String {
        let blade = || Blade::new(&Machine::named("ps3").unwrap(), KernelTiming::Cached, 0.0);
        let run = |blade: Blade| if blade.is_functional_first() { first() } else { by_step() };
        find(blade, run).map_or_else(|error| error.to_string(), |ran| ran.to_string())
    }

    #[test]
    fn a_hazard_is_named_with_its_own_instants() {
        let begin = || Err(hazard("at 1 us"));
        assert!(found(begin, || Err(hazard("at 2 us"))).contains(": at 2 us;"));
        // Whatever the second run says, there was one.
        assert!(found(begin, || Ok(2)).contains(": at 1 us;"));
    }

    #[test]
    fn nothing_else_runs_twice() {
        assert_eq!(found(|| Ok(1), || Ok(2)), "1");
        let other = || Err(Error::Plot("once".into()));
        let again = || Err(Error::Plot("twice".into()));
        assert_eq!(found(other, again), "cannot draw the plot: once");
    }
}
