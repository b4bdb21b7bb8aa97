//! The refined model: equation 11 with terms that the paper names as left out.
//!
//! It stands beside equation 11 ([`Parameters::time`]) and never in its place:
//! [`Parameters::refined_time`] is another function of the same parameters. Every term is off until
//! it is given, and [`Refinements::without`] turns one off by name; with none it is equation 11, bit
//! by bit.
//!
//! | term | what equation 11 takes for granted | what it is measured by |
//! |---|---|---|
//! | `iterations` | loops divide evenly | a count: what the program deals to its APUs |
//! | `hardware_contexts` | host threads never wait for the host | the machine's description |
//! | `exposed_transfer_s` | the ends of an off-load cost the same however many APUs ask at once | a count: bytes of the first and the last block, over the bandwidth of `memory.csv` |
//! | `memory` | every APU has the bandwidth that one has | `memory.csv` for the bandwidth; bytes of the application's description over T_APU for the demand |
//! | `work_growth_s` | p APUs do the work of one | APU time of a profile with p = 2 beside that with p = 1 |
//!
//! The time of the slowest thread, `f` being 1 or R/B and `q` being m\*p or p (eq. 11, data or
//! task decomposition):
//!
//! ```text
//! T = host + shared + f*C_APU + f*N*(O_offload + max(exposed - g, 0)*(a - 1))
//!       + f*collectives*O_COL + f*growth*(p - 1)
//! shared = f*T_APU * max( ceil(I/q)/I, a*demand/bandwidth/q )
//! ```
//!
//! where `a` is how many APUs stream from the memory that has to serve the most. `host` is
//! `f*(alpha_m*T_HPU + N*(T_CSW + p*g))` as in equation 11, or what the closed network of
//! `host` makes of it.

mod host;
mod model;

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use super::parameters::{Estimate, Parameters};
use super::run::{Breakdown, Share};
use super::time_model::Part;
use mmgp_base::Mapping;
use mmgp_base::error::{Error, Result, Warning};
use mmgp_base::units::Seconds;

pub use model::Refined;

/// The refined terms, each of which is off where it is `None`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "RefinedTable")]
pub struct Refinements {
    /// I: iterations of the shared loop, or other indivisible pieces that the program deals out; at
    /// least 1. The slowest APU runs `ceil(I/(m*p))` of them; of a task decomposition, where each
    /// task has I of them, `ceil(I/p)`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iterations: Option<u32>,
    /// H: hardware contexts of the host, at least 1. Up to H threads no context switch is paid;
    /// more than H queue for the host (see `host`). `alpha` then is the slowdown of host code
    /// while that many contexts compute at once, and only its values up to m = H are used: what
    /// threads beyond H lose by taking turns is the queue's and not alpha's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hardware_contexts: Option<u32>,
    /// Per off-load and APU, how long its memory is busy with the first and the last block, which
    /// no computation overlaps \[s\]. What a single APU waits for there is in C_APU, where a profile
    /// finds it; of several on one memory each has the blocks of all before it to wait for, but
    /// starts g later than the last, so `exposed - g` is what a further one adds, if anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exposed_transfer_s: Option<Estimate>,
    /// APUs that ask their memory for more bandwidth than it has.
    #[serde(flatten)]
    pub memory: Option<Memory>,
    /// APU time per run that every further APU of a thread adds \[s\]: redundant computation,
    /// reductions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work_growth_s: Option<Estimate>,
}

/// Bandwidth of memory, asked for and given.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Memory {
    /// Bytes that an APU streams in a second of T_APU, both directions together \[byte/s\].
    #[serde(rename = "memory_demand_bytes_per_s")]
    pub demand_bytes_per_s: Estimate,
    /// Bytes that one memory delivers in a second to as many APUs as ask \[byte/s\].
    #[serde(rename = "memory_bandwidth_bytes_per_s")]
    pub bandwidth_bytes_per_s: Estimate,
    /// Memories of that bandwidth, at least 1.
    pub memories: u32,
    /// How the data are dealt to them.
    #[serde(rename = "memory_of")]
    pub placement: Placement,
}

/// The refined terms under the keys of `[refined]` in a parameter file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RefinedTable {
    iterations: Option<NonZeroU32>,
    hardware_contexts: Option<NonZeroU32>,
    exposed_transfer_s: Option<Estimate>,
    memory_demand_bytes_per_s: Option<Estimate>,
    memory_bandwidth_bytes_per_s: Option<Estimate>,
    memories: Option<NonZeroU32>,
    memory_of: Option<Placement>,
    work_growth_s: Option<Estimate>,
}

impl TryFrom<RefinedTable> for Refinements {
    type Error = &'static str;

    fn try_from(file: RefinedTable) -> std::result::Result<Self, Self::Error> {
        let of_memory = (
            file.memory_demand_bytes_per_s,
            file.memory_bandwidth_bytes_per_s,
            file.memories,
            file.memory_of,
        );
        let memory = match of_memory {
            (None, None, None, None) => None,
            (_, Some(bandwidth), ..) if bandwidth.value == 0.0 => {
                return Err("no memory_bandwidth_bytes_per_s, expected more than 0 byte/s");
            }
            (Some(demand), Some(bandwidth), Some(memories), Some(placement)) => Some(Memory {
                demand_bytes_per_s: demand,
                bandwidth_bytes_per_s: bandwidth,
                memories: memories.get(),
                placement,
            }),
            _ => {
                return Err("a part of what a memory is, expected memory_demand_bytes_per_s, \
                            memory_bandwidth_bytes_per_s, memories and memory_of together");
            }
        };
        Ok(Self {
            iterations: file.iterations.map(NonZeroU32::get),
            hardware_contexts: file.hardware_contexts.map(NonZeroU32::get),
            exposed_transfer_s: file.exposed_transfer_s,
            memory,
            work_growth_s: file.work_growth_s,
        })
    }
}

/// How data are dealt to the memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Placement {
    /// Processes are dealt to the memories in turn, and all APUs of a process stream from that one.
    #[serde(rename = "process")]
    ByProcess,
    /// APUs are dealt to the memories in turn, each with its part of the data.
    #[serde(rename = "apu")]
    ByApu,
}

impl Placement {
    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::ByProcess => "process",
            Self::ByApu => "apu",
        }
    }
}

impl Memory {
    /// How many APUs stream from the memory that has to serve the most.
    pub fn apus_of_the_fullest(&self, m: u32, p: u32) -> u64 {
        let (m, p, memories) = (u64::from(m), u64::from(p), u64::from(self.memories));
        match self.placement {
            Placement::ByProcess => m.div_ceil(memories) * p,
            Placement::ByApu => (m * p).div_ceil(memories),
        }
    }
}

impl Refinements {
    /// The names of all terms.
    pub const NAMES: [&'static str; 5] =
        ["iterations", "hardware_contexts", "exposed_transfer_s", "memory", "work_growth_s"];

    /// The same without one term.
    ///
    /// # Errors
    /// [`Error::UnknownName`] with the names that there are.
    pub fn without(&self, name: &str) -> Result<Self> {
        let mut rest = self.clone();
        match name {
            "iterations" => rest.iterations = None,
            "hardware_contexts" => rest.hardware_contexts = None,
            "exposed_transfer_s" => rest.exposed_transfer_s = None,
            "memory" => rest.memory = None,
            "work_growth_s" => rest.work_growth_s = None,
            _ => {
                let known = Self::NAMES.map(String::from).to_vec();
                return Err(Error::UnknownName { kind: "refined term", name: name.into(), known });
            }
        }
        Ok(rest)
    }

    /// The terms that are on.
    pub fn names(&self) -> Vec<&'static str> {
        let on = [
            self.iterations.is_some(),
            self.hardware_contexts.is_some(),
            self.exposed_transfer_s.is_some(),
            self.memory.is_some(),
            self.work_growth_s.is_some(),
        ];
        Self::NAMES.into_iter().zip(on).filter_map(|(name, on)| on.then_some(name)).collect()
    }

    /// APUs that share the fullest memory; where memories are unknown, those of one thread.
    fn apus_together(&self, m: u32, p: u32) -> f64 {
        self.memory.as_ref().map_or(f64::from(p), |it| it.apus_of_the_fullest(m, p) as f64)
    }
}

/// The terms of the refined model at one (m, p) \[s\]; their sum is the time of the run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RefinedBreakdown {
    /// Those of equation 11. Where hardware contexts are given, `hpu_s` has the slowdown by
    /// contention among contexts alone, and `context_switch_s` is 0 for m up to H.
    pub terms: Breakdown,
    /// By how much the slowest APU's share of the loop is more than the even one.
    pub uneven_division_s: f64,
    /// By how much memory takes longer to deliver than APUs to compute.
    pub memory_contention_s: f64,
    /// First and last data of an off-load that wait for those of other APUs.
    pub exposed_transfer_s: f64,
    /// Work that grows with p.
    pub work_growth_s: f64,
    /// Waiting for a hardware context.
    pub host_queueing_s: f64,
}

impl RefinedBreakdown {
    /// Those of equation 11, then the others.
    pub fn parts(&self) -> [Part; 12] {
        let further = [
            ("uneven division", self.uneven_division_s),
            ("memory contention", self.memory_contention_s),
            ("exposed transfers", self.exposed_transfer_s),
            ("work growth", self.work_growth_s),
            ("host queueing", self.host_queueing_s),
        ];
        let further = further.map(|(name, time_s)| Part { name, time: Seconds(time_s) });
        let of_equation_11 = self.terms.parts();
        std::array::from_fn(|index| match index.checked_sub(of_equation_11.len()) {
            None => of_equation_11[index],
            Some(index) => further[index],
        })
    }

    /// The sum of all terms.
    pub fn total(&self) -> Seconds {
        Seconds(
            self.terms.total().0
                + self.uneven_division_s
                + self.memory_contention_s
                + self.exposed_transfer_s
                + self.work_growth_s
                + self.host_queueing_s,
        )
    }
}

impl Parameters {
    /// The time of a run by the refined model. Without refined terms it is [`Self::time`], bit by
    /// bit.
    pub fn refined_time(&self, mapping: Mapping) -> Seconds {
        match &self.refinements {
            Some(refinements) if !refinements.names().is_empty() => {
                self.refined_breakdown(mapping).total()
            }
            _ => self.time(mapping),
        }
    }

    /// What to say beside a result of equation 11 alone, where refined terms are on.
    pub fn refined_left_out(&self) -> Option<Warning> {
        let terms = self.refinements.as_ref()?.names();
        (!terms.is_empty()).then_some(Warning::RefinedLeftOut { terms })
    }

    /// The terms of the refined time, as the module's text defines them.
    pub fn refined_breakdown(&self, mapping: Mapping) -> RefinedBreakdown {
        let (m, p) = (mapping.m(), mapping.p());
        let none = Refinements::default();
        let refinements = self.refinements.as_ref().unwrap_or(&none);
        let Share { fraction, pieces } = self.share(m, p);
        let terms = self.breakdown(mapping);
        let together = refinements.apus_together(m, p);
        let value = |term: &Option<Estimate>| term.as_ref().map_or(0.0, |it| it.value);

        let uneven = refinements.iterations.map_or(terms.apu_s, |iterations| {
            let iterations = f64::from(iterations);
            terms.apu_s * ((iterations / pieces).ceil() * pieces / iterations)
        });
        let delivered = refinements.memory.as_ref().map_or(0.0, |memory| {
            let asked = together * memory.demand_bytes_per_s.value;
            terms.apu_s * (asked / memory.bandwidth_bytes_per_s.value)
        });
        let offloads = fraction * self.terms.offloads.value;
        let refined = RefinedBreakdown {
            terms,
            uneven_division_s: uneven - terms.apu_s,
            memory_contention_s: (delivered - uneven).max(0.0),
            exposed_transfer_s: offloads
                * (value(&refinements.exposed_transfer_s) - self.terms.g_s.value).max(0.0)
                * (together - 1.0),
            work_growth_s: fraction * value(&refinements.work_growth_s) * f64::from(p - 1),
            host_queueing_s: 0.0,
        };
        match refinements.hardware_contexts {
            Some(contexts) => host::with_contexts(self, refined, m, contexts),
            None => refined,
        }
    }
}

#[cfg(test)]
mod tests;
