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
    /// Time per off-load and APU for which its memory is busy with the first and the last block, which no
    /// computation overlaps \[s\]. What a single APU waits for there is in C_APU, where a profile finds it;
    /// of several on one memory each has the blocks of all before it to wait for, but starts g later than
    /// the last, so `exposed - g` is what a further one adds, if anything.
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
    /// Name in files.
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
                return Err(Error::unknown_name("refined term", name, Self::NAMES));
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
    /// Terms of equation 11. Where hardware contexts are given, `hpu_s` has the slowdown by contention
    /// among contexts alone, and `context_switch_s` is 0 for m up to H.
    pub terms: Breakdown,
    /// Time by which the slowest APU's share of the loop is more than the even one.
    pub uneven_division_s: f64,
    /// Time by which memory takes longer to deliver than APUs to compute.
    pub memory_contention_s: f64,
    /// First and last data of an off-load that wait for those of other APUs.
    pub exposed_transfer_s: f64,
    /// Work that grows with p.
    pub work_growth_s: f64,
    /// Waiting for a hardware context.
    pub host_queueing_s: f64,
}

impl RefinedBreakdown {
    /// Parts of equation 11, then the others.
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
            Some(contexts) => model::with_contexts(self, refined, m, contexts),
            None => refined,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::parameters::{Decomposition, OverM};
    use super::super::sensitivity::Correlation;
    use super::super::terms::Term;
    use super::super::time_model::TimeModel;
    use super::*;
    use crate::toy;

    fn parameters(decomposition: Decomposition, refinements: Refinements) -> Parameters {
        Parameters { refinements: Some(refinements), ..toy::parameters(decomposition) }
    }

    const DATA: Decomposition = Decomposition::Data;
    const TASK: Decomposition = Decomposition::Task { tasks: 6 };

    #[test]
    fn without_refined_terms_it_is_equation_11_bit_by_bit() {
        for decomposition in [DATA, TASK] {
            let mut parameters = parameters(decomposition, Refinements::default());
            for (m, p) in [(1, 1), (3, 5), (7, 2), (16, 1)] {
                assert_eq!(
                    parameters.refined_time(Mapping::of(m, p)),
                    parameters.time(Mapping::of(m, p))
                );
                parameters.refinements = None;
                assert_eq!(
                    parameters.refined_time(Mapping::of(m, p)),
                    parameters.time(Mapping::of(m, p))
                );
                parameters.refinements = Some(Refinements::default());
            }
        }
    }

    fn iterations(count: u32) -> Refinements {
        Refinements { iterations: Some(count), ..Refinements::default() }
    }

    /// Two memories that deliver 10 bytes a second each.
    fn memory(demand: f64, placement: Placement) -> Refinements {
        let memory = Memory {
            demand_bytes_per_s: Estimate::exact(demand),
            bandwidth_bytes_per_s: Estimate::exact(10.0),
            memories: 2,
            placement,
        };
        Refinements { memory: Some(memory), ..Refinements::default() }
    }

    /// Checks by how much the refined time exceeds equation 11.
    fn check_excess(
        decomposition: Decomposition,
        refinements: Refinements,
        (m, p): (u32, u32),
        expected: f64,
    ) {
        let parameters = parameters(decomposition, refinements);
        let excess =
            parameters.refined_time(Mapping::of(m, p)).0 - parameters.time(Mapping::of(m, p)).0;
        approx::assert_abs_diff_eq!(excess, expected, epsilon = 1e-13);
    }

    #[test]
    fn the_slowest_apu_runs_a_whole_number_of_iterations() {
        // 32 s in 10 iterations on 4 APUs: 3 on the slowest, 9.6 s instead of 8.
        check_excess(DATA, iterations(10), (2, 2), 1.6);
        check_excess(DATA, iterations(12), (2, 2), 0.0);
        // One iteration keeps one APU busy and the others idle: 32 s instead of 2.
        check_excess(DATA, iterations(1), (4, 4), 30.0);
        // Two of six tasks one after the other, 32/3 s, each over 4 APUs: 3.2 s instead of 8/3.
        check_excess(TASK, iterations(10), (4, 4), 3.2 - 8.0 / 3.0);
    }

    #[test]
    fn memory_binds_where_its_apus_ask_for_more_than_it_has() {
        // Of three processes two share a memory: four APUs ask for 12 of 10 bytes a second.
        check_excess(DATA, memory(3.0, Placement::ByProcess), (3, 2), 32.0 / 6.0 * 0.2);
        // Dealt by APU, three are on each memory and ask for 9.
        check_excess(DATA, memory(3.0, Placement::ByApu), (3, 2), 0.0);
        check_excess(DATA, memory(2.5, Placement::ByProcess), (2, 4), 0.0);
        // A third of the tasks' 32 s over 3 APUs, six of them on a memory: 18 of 10.
        check_excess(TASK, memory(3.0, Placement::ByProcess), (4, 3), 32.0 / 9.0 * 0.8);
    }

    #[test]
    fn an_apu_that_waits_for_memory_does_not_also_wait_for_the_slowest() {
        // Even shares are 32/6 s; the slowest has 1.2 of that, memory takes 1.6.
        let both = Refinements { iterations: Some(10), ..memory(4.0, Placement::ByProcess) };
        let breakdown = parameters(DATA, both).refined_breakdown(Mapping::of(3, 2));
        approx::assert_relative_eq!(breakdown.uneven_division_s, 32.0 / 6.0 * 0.2, epsilon = 1e-13);
        approx::assert_relative_eq!(
            breakdown.memory_contention_s,
            32.0 / 6.0 * 0.4,
            epsilon = 1e-13
        );
    }

    #[test]
    fn the_ends_of_an_off_load_wait_for_those_of_other_apus() {
        // 0.51 s on the memory, of which 0.5 s pass until the next APU starts.
        let exposed = Some(Estimate::exact(0.51));
        let alone = Refinements { exposed_transfer_s: exposed.clone(), ..Refinements::default() };
        // 8 off-loads; (3, 2) has one further APU of the thread, or three further on the memory.
        check_excess(DATA, alone.clone(), (3, 2), 0.08);
        check_excess(DATA, alone.clone(), (16, 1), 0.0);
        let short = Some(Estimate::exact(0.49));
        let short = Refinements { exposed_transfer_s: short, ..Refinements::default() };
        check_excess(DATA, short, (1, 16), 0.0);
        let of_memory =
            Refinements { exposed_transfer_s: exposed, ..memory(0.0, Placement::ByProcess) };
        check_excess(DATA, of_memory, (3, 2), 0.24);
        check_excess(TASK, alone, (3, 2), 0.08 / 3.0);
    }

    #[test]
    fn work_grows_with_every_further_apu() {
        let growth = Some(Estimate::exact(0.5));
        let growth = Refinements { work_growth_s: growth, ..Refinements::default() };
        check_excess(DATA, growth.clone(), (3, 1), 0.0);
        check_excess(DATA, growth.clone(), (1, 4), 1.5);
        check_excess(TASK, growth, (4, 4), 0.5);
    }

    /// Host code alone, so that all threads always are at the host.
    fn busy_host(contexts: u32) -> Parameters {
        let contexts = Some(contexts);
        let refinements = Refinements { hardware_contexts: contexts, ..Refinements::default() };
        let mut parameters = parameters(DATA, refinements);
        let terms = &mut parameters.terms;
        for term in [&mut terms.t_apu_s, &mut terms.c_apu_s, &mut terms.o_offload_s] {
            *term = Estimate::exact(0.0);
        }
        terms.o_col_s = OverM::Constant(Estimate::exact(0.0));
        parameters
    }

    #[test]
    fn a_host_that_is_always_busy_is_equation_11_without_switches_up_to_its_contexts() {
        for (m, p) in [(1, 1), (2, 3), (4, 2)] {
            let parameters = busy_host(4);
            let found = parameters.refined_breakdown(Mapping::of(m, p));
            let switches = parameters.breakdown(Mapping::of(m, p)).context_switch_s;
            let expected = parameters.time(Mapping::of(m, p)).0 - switches;
            approx::assert_relative_eq!(found.total().0, expected, max_relative = 1e-14);
            assert_eq!((found.host_queueing_s, found.terms.context_switch_s), (0.0, 0.0));
        }
    }

    #[test]
    fn threads_beyond_the_contexts_take_turns_and_switch() {
        // Each of 6 threads computes 1.25*2 + 8*(0.25 + 2*0.5) s, two at a time.
        let found = busy_host(2).refined_breakdown(Mapping::of(6, 2));
        approx::assert_relative_eq!(found.total().0, 12.5 * 3.0, max_relative = 1e-14);
        approx::assert_relative_eq!(found.host_queueing_s, 25.0, max_relative = 1e-14);
        approx::assert_relative_eq!(found.terms.hpu_s, 2.5, max_relative = 1e-14);
        assert_eq!(found.terms.context_switch_s, 2.0);
    }

    #[test]
    fn a_thread_that_computes_little_is_seldom_disturbed() {
        let contexts = Refinements { hardware_contexts: Some(4), ..Refinements::default() };
        let mut parameters = parameters(DATA, contexts);
        parameters.terms.t_apu_s = Estimate::exact(1e6);
        parameters.terms.t_csw_s = Estimate::exact(0.0);
        let found = parameters.refined_breakdown(Mapping::of(4, 1));
        approx::assert_relative_eq!(found.terms.hpu_s, 2.0, max_relative = 1e-3);
        // No host code, no off-loads: nothing to wait for.
        parameters.terms.t_hpu_s = Estimate::exact(0.0);
        parameters.terms.offloads = Estimate::exact(0.0);
        let time = parameters.time(Mapping::of(4, 1));
        approx::assert_relative_eq!(
            parameters.refined_time(Mapping::of(4, 1)).0,
            time.0,
            max_relative = 1e-15
        );
    }

    #[test]
    fn each_term_can_be_turned_off_by_its_name() {
        let number = || Some(Estimate::exact(0.5));
        let all = Refinements {
            iterations: Some(10),
            hardware_contexts: Some(2),
            exposed_transfer_s: number(),
            work_growth_s: number(),
            ..memory(4.0, Placement::ByProcess)
        };
        assert_eq!(all.names(), Refinements::NAMES);
        let mut rest = all;
        for (index, name) in Refinements::NAMES.into_iter().enumerate() {
            rest = rest.without(name).unwrap();
            assert_eq!(rest.names(), Refinements::NAMES[index + 1..]);
        }
        assert_eq!(rest, Refinements::default());
        assert_eq!(
            rest.without("memorys").unwrap_err().to_string(),
            "there is no refined term \"memorys\"; did you mean \"memory\"? known: iterations, \
             hardware_contexts, exposed_transfer_s, memory, work_growth_s"
        );
    }

    /// Everything on.
    fn refined() -> Parameters {
        let mut all = memory(4.0, Placement::ByProcess);
        all.iterations = Some(100);
        all.hardware_contexts = Some(2);
        all.exposed_transfer_s = Some(Estimate::exact(0.75));
        all.work_growth_s = Some(Estimate { std_error: Some(0.25), ..Estimate::exact(0.5) });
        parameters(DATA, all)
    }

    #[test]
    fn the_gradient_is_that_of_equation_11_where_nothing_is_refined() {
        let parameters = parameters(DATA, Refinements::default());
        let found = parameters.refined_gradient(Mapping::of(3, 4));
        for (entry, slope) in parameters.gradient(Mapping::of(3, 4)) {
            let (_, found) = found.iter().find(|(known, _)| *known == entry).unwrap();
            // Rounding of a time of 30 s over a step of 1e-5 of the smallest value, 0.0625.
            approx::assert_relative_eq!(*found, slope, max_relative = 1e-8, epsilon = 1e-8);
        }
    }

    #[test]
    fn the_gradient_of_the_network_does_not_hang_on_the_step() {
        let parameters = refined();
        for (entry, slope) in parameters.refined_gradient(Mapping::of(5, 3)) {
            let value = parameters.terms.estimate(entry).unwrap().value;
            let at = |factor: f64| {
                let mut moved = parameters.clone();
                moved.terms.estimate_mut(entry).unwrap().value = value * factor;
                moved.refined_time(Mapping::of(5, 3)).0
            };
            // Four points: an error of fourth order in a step of 1/100.
            let wide =
                (8.0 * (at(1.01) - at(0.99)) - (at(1.02) - at(0.98))) / (0.12 * value.max(1e-9));
            approx::assert_relative_eq!(slope, wide, max_relative = 1e-6, epsilon = 1e-8);
        }
    }

    #[test]
    fn the_model_answers_to_terms_and_refined_terms_that_are_measured() {
        let mut parameters = refined();
        parameters.refinements.as_mut().unwrap().hardware_contexts = None;
        let model = Refined::of(&parameters).unwrap();
        let values = model.values();
        let slopes = TimeModel::gradient(&model, Mapping::of(2, 4));
        let slope = |name: &str| {
            let place = values.iter().position(|value| value.name == name).unwrap();
            slopes.iter().find(|(known, _)| *known == place).unwrap().1
        };
        // C_APU once, and what 3 further APUs add.
        approx::assert_relative_eq!(slope("work_growth_s"), 3.0, max_relative = 1e-8);
        let of_terms = parameters.refined_gradient(Mapping::of(2, 4));
        let (_, expected) =
            of_terms.iter().find(|(entry, _)| entry.term == Term::ApuSerialTime).unwrap();
        assert_eq!(slope("c_apu_s"), *expected);
        assert_eq!(values.last().unwrap().std_error, Some(0.25));
        let sum: f64 = model.parts(Mapping::of(5, 3)).iter().map(|part| part.time.0).sum();
        approx::assert_relative_eq!(sum, model.time(Mapping::of(5, 3)).0, max_relative = 1e-14);
        let none = Parameters { refinements: None, ..parameters };
        assert!(Refined::of(&none).is_none());
    }

    #[test]
    fn the_refined_model_names_what_has_no_standard_error_and_what_goes_together() {
        let mut parameters = refined();
        for entry in parameters.terms.entries() {
            parameters.terms.estimate_mut(entry).unwrap().std_error = Some(0.125);
        }
        let entries = vec![Term::HpuTime.entry(0), Term::Gap.entry(0)];
        let matrix = vec![1.0, -0.5, -0.5, 1.0];
        parameters.correlation = Some(Correlation::new(entries, matrix).unwrap());
        let model = Refined::of(&parameters).unwrap();
        assert_eq!((model.name(), model.apus()), ("refined", 16));
        // T_HPU is the first value, T_APU the second, the gap the seventh.
        assert_eq!(
            [(0, 6), (0, 1), (1, 1)].map(|(a, b)| model.correlation(a, b)),
            [-0.5, 0.0, 1.0]
        );
        // That of work growth is known.
        let terms =
            vec!["exposed_transfer_s", "memory_demand_bytes_per_s", "memory_bandwidth_bytes_per_s"];
        assert_eq!(model.warnings(1..=4), [Warning::NoStandardError { terms }]);
    }

    #[test]
    fn the_fullest_memory_serves_the_apus_that_its_placement_deals_to_it() {
        let fullest =
            |placement, m, p| memory(1.0, placement).memory.unwrap().apus_of_the_fullest(m, p);
        // Two memories, of which one has the odd process, or the odd APU.
        let by_process = [(3, 2), (4, 4), (5, 3)].map(|(m, p)| fullest(Placement::ByProcess, m, p));
        assert_eq!(by_process, [4, 8, 9]);
        let by_apu = [(3, 2), (4, 4), (5, 3)].map(|(m, p)| fullest(Placement::ByApu, m, p));
        assert_eq!(by_apu, [3, 8, 8]);
    }

    #[test]
    fn refined_terms_that_are_on_are_named_where_equation_11_leaves_them_out() {
        let warning = |refinements| parameters(DATA, refinements).refined_left_out();
        assert_eq!(
            warning(iterations(10)),
            Some(Warning::RefinedLeftOut { terms: vec!["iterations"] })
        );
        assert_eq!(warning(Refinements::default()), None);
    }
}
