//! How long each host burst and each off-load takes.

use std::sync::Arc;

use crate::phylogeny::Stream;
use mmgp_base::error::{Error, Result};
use mmgp_base::units::Seconds;

/// A turn: a host burst, and the off-load after it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Burst {
    /// Of the host alone, with warm caches.
    pub host: Seconds,
    /// Of one SPE.
    pub offload: Seconds,
}

/// The longest burst or off-load \[s\].
const LONGEST: f64 = 1e3;

/// The durations of all turns.
#[derive(Debug, Clone)]
pub struct Durations(Kind);

#[derive(Debug, Clone)]
enum Kind {
    Constant(Burst),
    /// Off-loads of that mean; bursts are constant.
    Exponential(Burst),
    Trace(Arc<[Burst]>),
}

impl Durations {
    /// All turns alike.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] where a time is negative, or longer than a thousand seconds.
    pub fn constant(each: Burst) -> Result<Self> {
        check(&[each])?;
        Ok(Self(Kind::Constant(each)))
    }

    /// Host bursts alike, off-loads exponential with that mean.
    ///
    /// # Errors
    /// As [`Durations::constant`].
    pub fn exponential(mean: Burst) -> Result<Self> {
        check(&[mean])?;
        Ok(Self(Kind::Exponential(mean)))
    }

    /// As they were recorded, over and over: a task goes on where the one before it would end.
    ///
    /// # Errors
    /// As [`Durations::constant`], and where there are none.
    pub fn trace(bursts: Vec<Burst>) -> Result<Self> {
        if bursts.is_empty() {
            let found = "no row";
            return Err(Error::out_of_range("trace", found, "one or more"));
        }
        check(&bursts)?;
        Ok(Self(Kind::Trace(bursts.into())))
    }

    /// The turns of a task.
    pub(super) fn of_task(&self, seed: u64, task: u32, turns: u32) -> impl Iterator<Item = Burst> {
        let mut stream = Stream::new(seed, task);
        let before = u64::from(task) * u64::from(turns);
        (0..u64::from(turns)).map(move |turn| match &self.0 {
            Kind::Constant(each) => *each,
            Kind::Exponential(mean) => {
                let drawn = stream.exponential(mean.offload.0).min(LONGEST);
                Burst { offload: Seconds(drawn), ..*mean }
            }
            Kind::Trace(bursts) => bursts[((before + turn) % bursts.len() as u64) as usize],
        })
    }
}

fn check(bursts: &[Burst]) -> Result<()> {
    let times =
        bursts.iter().flat_map(|burst| [("host burst", burst.host), ("off-load", burst.offload)]);
    for (name, time) in times {
        if !(0.0..=LONGEST).contains(&time.0) {
            let (found, expected) = (format!("{} s", time.0), "0 to 1000 s");
            return Err(Error::out_of_range(name, found, expected));
        }
    }
    Ok(())
}
