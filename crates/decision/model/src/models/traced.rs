//! The time of a program whose parts were seen in traced runs: what a probe's `terms.csv` holds, each part over
//! (m, p) by the shapes that it may have.
//!
//! ```text
//! T(m,p) = T_HPU(m) + T_APU(m,p)/p + C_APU(m,p) + N(m,p) g(p) + T_COL(m) + W(m,p) + T_P2P(m) + REST(m)
//! ```
//!
//! It has what equation 11 leaves out: host work that ranks share beside what each repeats, regions whose number
//! depends on (m, p), ranks that wait for the slowest (W) and messages point to point. Each part is a sum of
//! shapes with a size each ([`SHAPES`]); sizes of a part have errors that go together, as few runs tell
//! their sum better than what it is made of. Where more threads compute at once than there are processors, a
//! part takes as many times longer ([`Processors`]).
//!
//! ```
//! use mmgp_base::Mapping;
//! use mmgp_model::models::parameters::Estimate;
//! use mmgp_model::models::traced::TracedTerms;
//!
//! let mut terms = TracedTerms::default();
//! terms.set("host_repeated_s", Estimate::exact(1.0))?;
//! terms.set("work_shared_s", Estimate::exact(8.0))?;
//! assert_eq!(terms.time(Mapping::of(2, 2)).0, 1.0 + 8.0 / 4.0);
//! # Ok::<(), mmgp_base::Error>(())
//! ```

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use super::parameters::{Estimate, Parameters};
use super::time_model::{Part, TimeModel, Value};
use mmgp_base::Mapping;
use mmgp_base::error::{Error, Result};
use mmgp_base::units::Seconds;

/// Name of the model.
pub const TRACED: &str = "traced";

/// What a part of the time may look like over (m, p): 1 or less at a size of 1.
pub struct Shape {
    /// Name of its size in files \[s\].
    pub name: &'static str,
    /// The part that it is of.
    pub part: &'static str,
    /// How it depends on them, for people, after the size.
    pub text: &'static str,
    /// Threads that compute while it lasts.
    busy: Busy,
    /// How it depends on (m, p), and on how the number of regions does.
    at: fn(RegionGrowth, f64, f64) -> f64,
}

/// Threads that compute at once during a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Busy {
    /// Nobody is known to: it waits, or is short.
    Nobody,
    /// A thread of each rank.
    Ranks,
    /// All threads of each rank.
    Threads,
}

/// The processors that the threads of a program share, however many threads there are.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Processors {
    /// Number of them.
    pub count: u32,
    /// The share of its time that a rank of one thread computes, from 0 to 1: the rest sleeps or waits, and
    /// needs none of them.
    pub computing: f64,
}

impl Processors {
    /// As many times longer a part takes where so many threads are to compute at once.
    fn stretch(self, threads: f64) -> f64 {
        (self.computing * threads / f64::from(self.count.max(1))).max(1.0)
    }
}

/// 1 where there are several.
fn several(count: f64) -> f64 {
    f64::from(u8::from(count > 1.0))
}

/// A shape with the name of its size, its part, who computes during it, its formula for people and the same for the computer.
macro_rules! shape {
    ($name:literal, $part:literal, $busy:ident, $text:literal, $at:expr) => {
        Shape { name: $name, part: $part, text: $text, busy: Busy::$busy, at: $at }
    };
}

/// All shapes; those of a part one after another.
pub const SHAPES: [Shape; 21] = [
    shape!("host_repeated_s", "T_HPU", Ranks, "", |_, _, _| 1.0),
    shape!("host_shared_s", "T_HPU", Ranks, "/m", |_, m, _| 1.0 / m),
    shape!("work_repeated_s", "T_APU/p", Threads, "/p", |_, _, p| 1.0 / p),
    shape!("work_shared_s", "T_APU/p", Threads, "/(m p)", |_, m, p| 1.0 / (m * p)),
    shape!("serial_repeated_s", "C_APU", Ranks, " (1 - 1/p)", |_, _, p| 1.0 - 1.0 / p),
    shape!("serial_shared_s", "C_APU", Ranks, " (1 - 1/p)/m", |_, m, p| (1.0 - 1.0 / p) / m),
    shape!("uneven_threads_s", "C_APU", Threads, "/(m p) [p > 1]", |_, m, p| several(p) / (m * p)),
    shape!("region_s", "N*g", Nobody, " n", |n, m, p| n.at(m, p)),
    shape!("region_of_several_s", "N*g", Nobody, " n [p > 1]", |n, m, p| n.at(m, p) * several(p)),
    shape!("region_per_thread_s", "N*g", Nobody, " n (p - 1)", |n, m, p| n.at(m, p) * (p - 1.0)),
    shape!("collective_alone_s", "T_COL", Nobody, " [m = 1]", |_, m, _| 1.0 - several(m)),
    shape!("collective_per_step_s", "T_COL", Nobody, " log2 m", |_, m, _| m.log2()),
    shape!("collective_per_rank_s", "T_COL", Nobody, " (m - 1)", |_, m, _| m - 1.0),
    shape!("uneven_ranks_s", "W", Ranks, " (1 - 1/m)", |_, m, _| 1.0 - 1.0 / m),
    shape!("uneven_work_s", "W", Threads, " (1 - 1/m)/(m p)", |_, m, p| (1.0 - 1.0 / m) / (m * p)),
    shape!("messages_alone_s", "T_P2P", Nobody, " [m = 1]", |_, m, _| 1.0 - several(m)),
    shape!("messages_s", "T_P2P", Nobody, " [m > 1]", |_, m, _| several(m)),
    shape!("messages_shared_s", "T_P2P", Nobody, "/m [m > 1]", |_, m, _| several(m) / m),
    shape!("rest_s", "REST", Ranks, "", |_, _, _| 1.0),
    shape!("rest_shared_s", "REST", Ranks, "/m", |_, m, _| 1.0 / m),
    shape!("rest_of_several_s", "REST", Ranks, " [m > 1]", |_, m, _| several(m)),
];

/// How the number of regions of a rank grows: as a power of m, and one of p.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct RegionGrowth {
    /// Power of m.
    pub by_m: f64,
    /// Power of p.
    pub by_p: f64,
}

impl RegionGrowth {
    fn at(self, m: f64, p: f64) -> f64 {
        m.powf(self.by_m) * p.powf(self.by_p)
    }
}

/// The sizes of all shapes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "TracedTable", into = "TracedTable")]
pub struct TracedTerms {
    /// How the number of regions grows.
    pub regions: RegionGrowth,
    /// The processors that all mappings share; `None` where there is one for each thread.
    pub processors: Option<Processors>,
    /// Sizes by the place of their shape among [`SHAPES`].
    sizes: BTreeMap<usize, Estimate>,
    /// Correlations of two sizes, the place of the first below that of the other.
    correlations: BTreeMap<(usize, usize), f64>,
}

/// As a file has it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TracedTable {
    #[serde(default)]
    regions: RegionGrowth,
    #[serde(default)]
    processors: Option<Processors>,
    sizes: BTreeMap<String, Estimate>,
    #[serde(default)]
    correlation: Vec<(String, String, f64)>,
}

fn place(name: &str) -> Result<usize> {
    let place = SHAPES.iter().position(|shape| shape.name == name);
    place.ok_or_else(|| {
        Error::unknown_name("size of a traced part", name, SHAPES.iter().map(|it| it.name))
    })
}

impl TryFrom<TracedTable> for TracedTerms {
    type Error = Error;

    fn try_from(table: TracedTable) -> Result<Self> {
        let mut terms = Self::of(table.regions, table.processors);
        for (name, size) in table.sizes {
            terms.set(&name, size)?;
        }
        for (one, other, correlation) in table.correlation {
            terms.correlate(&one, &other, correlation)?;
        }
        Ok(terms)
    }
}

impl From<TracedTerms> for TracedTable {
    fn from(terms: TracedTerms) -> Self {
        let name = |place: usize| SHAPES[place].name.to_string();
        let pair = |((one, other), correlation): ((usize, usize), f64)| {
            (name(one), name(other), correlation)
        };
        Self {
            regions: terms.regions,
            processors: terms.processors,
            sizes: terms.sizes.into_iter().map(|(place, size)| (name(place), size)).collect(),
            correlation: terms.correlations.into_iter().map(pair).collect(),
        }
    }
}

impl TracedTerms {
    /// No part at all yet, of a program whose regions grow so and that shares these processors.
    pub fn of(regions: RegionGrowth, processors: Option<Processors>) -> Self {
        Self { regions, processors, ..Self::default() }
    }

    /// What a shape of size 1 is at a mapping.
    pub fn at(&self, shape: &Shape, mapping: Mapping) -> f64 {
        let (m, p) = (f64::from(mapping.m()), f64::from(mapping.p()));
        let threads = match shape.busy {
            Busy::Nobody => 0.0,
            Busy::Ranks => m,
            Busy::Threads => m * p,
        };
        let stretch = self.processors.map_or(1.0, |processors| processors.stretch(threads));
        (shape.at)(self.regions, m, p) * stretch
    }

    /// Sets the size of a shape \[s\], by its name.
    ///
    /// # Errors
    /// [`Error::UnknownName`].
    pub fn set(&mut self, name: &str, size: Estimate) -> Result<()> {
        self.sizes.insert(place(name)?, size);
        Ok(())
    }

    /// Says how the errors of two sizes go together.
    ///
    /// # Errors
    /// [`Error::UnknownName`]; [`Error::OutOfRange`] for a correlation that is none.
    pub fn correlate(&mut self, one: &str, other: &str, correlation: f64) -> Result<()> {
        let (one, other) = (place(one)?, place(other)?);
        if !(-1.0..=1.0).contains(&correlation) || one == other {
            let expected = "a number from -1 to 1, of two sizes";
            return Err(Error::out_of_range("correlation", correlation.to_string(), expected));
        }
        self.correlations.insert((one.min(other), one.max(other)), correlation);
        Ok(())
    }

    /// The sizes that there are, with their shapes.
    pub fn sizes(&self) -> impl Iterator<Item = (&'static Shape, &Estimate)> {
        self.sizes.iter().map(|(&place, size)| (&SHAPES[place], size))
    }

    /// The pairs of sizes whose errors go together, by name.
    pub fn correlations(&self) -> impl Iterator<Item = (&'static str, &'static str, f64)> {
        let pair = |(&(one, other), &by): (&(usize, usize), &f64)| {
            (SHAPES[one].name, SHAPES[other].name, by)
        };
        self.correlations.iter().map(pair)
    }

    /// The time of a run.
    pub fn time(&self, mapping: Mapping) -> Seconds {
        Seconds(self.sizes().map(|(shape, size)| size.value * self.at(shape, mapping)).sum())
    }

    /// What the time is made of.
    pub fn parts(&self, mapping: Mapping) -> Vec<Part> {
        let mut parts: Vec<Part> = Vec::new();
        for (shape, size) in self.sizes() {
            let time = size.value * self.at(shape, mapping);
            match parts.last_mut().filter(|part| part.name == shape.part) {
                Some(part) => part.time.0 += time,
                None => parts.push(Part { name: shape.part, time: Seconds(time) }),
            }
        }
        parts
    }
}

/// A traced program on a machine of so many APUs.
#[derive(Debug, Clone)]
pub struct Traced {
    terms: TracedTerms,
    apus: u32,
}

impl Traced {
    /// The model, where parameters have what traced runs told.
    pub fn of(parameters: &Parameters) -> Option<Self> {
        let terms = parameters.traced.clone()?;
        Some(Self { terms, apus: parameters.apus })
    }
}

impl TimeModel for Traced {
    fn name(&self) -> &str {
        TRACED
    }

    fn apus(&self) -> u32 {
        self.apus
    }

    fn time(&self, mapping: Mapping) -> Seconds {
        self.terms.time(mapping)
    }

    fn values(&self) -> Vec<Value> {
        self.terms.sizes().map(|(shape, size)| Value::new(shape.name, size)).collect()
    }

    fn gradient(&self, mapping: Mapping) -> Vec<(usize, f64)> {
        let slopes = self.terms.sizes().map(|(shape, _)| self.terms.at(shape, mapping));
        slopes.enumerate().filter(|(_, slope)| *slope != 0.0).collect()
    }

    fn correlation(&self, one: usize, other: usize) -> f64 {
        if one == other {
            return 1.0;
        }
        let place = |index: usize| self.terms.sizes.keys().nth(index).copied();
        let (one, other) = (place(one.min(other)), place(one.max(other)));
        let pair = one.zip(other);
        pair.and_then(|pair| self.terms.correlations.get(&pair)).copied().unwrap_or(0.0)
    }

    fn parts(&self, mapping: Mapping) -> Vec<Part> {
        self.terms.parts(mapping)
    }
}
