//! Equation 11 over any number of levels of parallelism.
//!
//! The paper derives it for two, threads on the host and accelerators below them, and says that it
//! extends to more. A level has a width, by which it divides the parallel part among equal units;
//! a part of its own that it does not divide and that its width slows down; and what it pays for
//! handing work down, for each message and for each unit of a message. From the outermost level
//! on,
//!
//! `T_l(W) = slowdown_l*own_l + messages_l*(overhead_l + width_l*gap_l) + T_(l+1)(W/width_l)`,
//!
//! and below the last level what is left of W is computed. Two levels with the terms of the paper
//! are equation 11: HPU threads with `own = T_HPU`, `slowdown = alpha_m` and for each off-load
//! `T_CSW + O_COL`; APUs with `own = C_APU` and for each off-load `O_offload + p*g`.
//!
//! [`NodeLevel`] puts nodes around them. That is an extension of ours, which no publication has
//! measured; on two emulated Cells taken for nodes it adds little to the error of equation 11
//! (`docs/emulator/programs.md`).

use std::ops::RangeInclusive;

use super::parameters::{Decomposition, Parameters};
use super::sensitivity::Entry;
use super::terms::Term;
use super::time_model::{TimeModel, Value};
use mmgp_base::Mapping;
use mmgp_base::error::Warning;
use mmgp_base::units::Seconds;

/// Level of parallelism.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level {
    /// Units that work at once, at least 1; the parallel part is divided among them.
    pub width: u32,
    /// Time of the part that the level runs itself and does not divide.
    pub own: Seconds,
    /// How much slower that part is with so many units at once: 1 is not at all.
    pub slowdown: f64,
    /// How often it hands work down.
    pub messages: f64,
    /// What each time costs, whatever the width.
    pub overhead: Seconds,
    /// What each time costs for each unit.
    pub gap: Seconds,
}

/// The time of a parallel part under these levels, the outermost first.
pub fn time(levels: &[Level], parallel: Seconds) -> Seconds {
    let Some((level, below)) = levels.split_first() else { return parallel };
    let handing_down = (level.overhead + level.gap * f64::from(level.width)) * level.messages;
    let of_below = time(below, parallel / f64::from(level.width));
    level.own * level.slowdown + handing_down + of_below
}

/// Nodes around the threads of equation 11, each with the machine's APUs.
///
/// A data decomposition is cut into `n*m` pieces, one for each thread of each node; B tasks are
/// dealt to `n*m` workers. Every collective (every off-load, where collectives are not counted)
/// also goes over the nodes and costs, for n > 1, `per_message + per_step*ceil(log2 n)`: the
/// second part is a tree of messages between nodes. alpha and O_COL stay those of m threads on one
/// node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NodeLevel {
    /// Added to every collective that spans nodes, 0 or more.
    pub per_message: Seconds,
    /// Time of each step of the tree over the nodes, 0 or more.
    pub per_step: Seconds,
}

impl NodeLevel {
    /// What one collective pays for n nodes.
    pub fn cost(&self, n: u32) -> Seconds {
        match n.checked_next_power_of_two().map(u32::trailing_zeros).unwrap_or(32) {
            0 => Seconds(0.0),
            steps => self.per_message + self.per_step * f64::from(steps),
        }
    }

    /// The levels of a run on n nodes with m threads each and p APUs for each thread, the fraction
    /// of the totals that the slowest thread runs, and the part that all divide.
    fn levels(&self, parameters: &Parameters, n: u32, mapping: Mapping) -> ([Level; 3], f64) {
        let (m, p) = (mapping.m(), mapping.p());
        let terms = &parameters.terms;
        let offloads = terms.offloads.value;
        let messages = terms.collectives.as_ref().map_or(offloads, |estimate| estimate.value);
        let nothing = Seconds(0.0);
        let nodes = Level {
            width: n,
            own: nothing,
            slowdown: 1.0,
            messages,
            overhead: self.cost(n),
            gap: nothing,
        };
        let per_offload = |count: f64| if offloads == 0.0 { 0.0 } else { count / offloads };
        let collective = Seconds(terms.o_col_at(m));
        // O_COL is paid for each collective; spread over the off-loads where there are any.
        let (threads_messages, threads_overhead) = match offloads {
            0.0 => (messages, collective),
            _ => {
                let switch = Seconds(terms.t_csw_s.value);
                (offloads, switch + collective * per_offload(messages))
            }
        };
        let threads = Level {
            width: m,
            own: Seconds(terms.t_hpu_s.value),
            slowdown: terms.alpha_at(m),
            messages: threads_messages,
            overhead: threads_overhead,
            gap: nothing,
        };
        let accelerators = Level {
            width: p,
            own: Seconds(terms.c_apu_s.value),
            slowdown: 1.0,
            messages: offloads,
            overhead: Seconds(terms.o_offload_s.value),
            gap: Seconds(terms.g_s.value),
        };
        let levels = [nodes, threads, accelerators];
        match parameters.decomposition {
            Decomposition::Data => (levels, 1.0),
            Decomposition::Task { tasks } => {
                let workers = u64::from(n) * u64::from(m);
                let rounds = u64::from(tasks).div_ceil(workers);
                (levels, rounds as f64 / f64::from(tasks))
            }
        }
    }

    /// The time of a run on n nodes, at least 1, with the same mapping on each.
    pub fn time(&self, parameters: &Parameters, n: u32, mapping: Mapping) -> Seconds {
        let (levels, fraction) = self.levels(parameters, n, mapping);
        let parallel = Seconds(parameters.terms.t_apu_s.value);
        match parameters.decomposition {
            Decomposition::Data => time(&levels, parallel),
            // Whole tasks are dealt to nodes and threads, so only APUs divide one.
            Decomposition::Task { .. } => {
                let dealt = parallel * (f64::from(n) * f64::from(mapping.m()));
                time(&levels, dealt) * fraction
            }
        }
    }

    /// The derivative of [`Self::time`] with respect to every entry that it depends on.
    pub fn gradient(&self, parameters: &Parameters, n: u32, mapping: Mapping) -> Vec<(Entry, f64)> {
        let (_, fraction) = self.levels(parameters, n, mapping);
        let (_, on_one_node) = self.levels(parameters, 1, mapping);
        let is_data = parameters.decomposition == Decomposition::Data;
        let counted = match parameters.terms.collectives {
            Some(_) => Term::Collectives.entry(0),
            None => Term::Offloads.entry(0),
        };
        let mut gradient = parameters.gradient(mapping);
        for (entry, slope) in &mut gradient {
            *slope *= fraction / on_one_node;
            if *entry == Term::ApuTime.entry(0) && is_data {
                *slope /= f64::from(n);
            }
            if *entry == counted {
                *slope += fraction * self.cost(n).0;
            }
        }
        gradient
    }
}

/// Equation 11 on so many nodes as a model of (m, p) on each; what messages between nodes cost
/// counts as exact.
#[derive(Debug, Clone, Copy)]
pub struct OnNodes<'a> {
    /// The terms, and the APUs of each node.
    pub parameters: &'a Parameters,
    /// What the nodes cost.
    pub level: NodeLevel,
    /// Nodes, at least 1.
    pub nodes: u32,
}

impl TimeModel for OnNodes<'_> {
    fn name(&self) -> &str {
        "levels"
    }

    fn apus(&self) -> u32 {
        self.parameters.apus
    }

    fn time(&self, mapping: Mapping) -> Seconds {
        self.level.time(self.parameters, self.nodes, mapping)
    }

    fn values(&self) -> Vec<Value> {
        self.parameters.values()
    }

    fn gradient(&self, mapping: Mapping) -> Vec<(usize, f64)> {
        let gradient = self.level.gradient(self.parameters, self.nodes, mapping);
        self.parameters.by_place(gradient, [mapping.m(); 2])
    }

    fn correlation(&self, one: usize, other: usize) -> f64 {
        self.parameters.correlation(one, other)
    }

    fn warnings(&self, ms: RangeInclusive<u32>) -> Vec<Warning> {
        self.parameters.warnings(ms)
    }
}

#[cfg(test)]
mod tests {
    use super::super::parameters::{Estimate, OverM};
    use super::*;
    use crate::toy;

    const NODES: NodeLevel = NodeLevel { per_message: Seconds(0.5), per_step: Seconds(0.25) };

    fn parameters(decomposition: Decomposition, collectives: Option<f64>) -> Parameters {
        let mut parameters = toy::parameters(decomposition);
        parameters.terms.collectives = collectives.map(Estimate::exact);
        parameters.terms.alpha = OverM::Constant(Estimate::exact(1.25));
        parameters
    }

    #[test]
    fn two_levels_with_the_terms_of_the_paper_are_equation_11() {
        for decomposition in [Decomposition::Data, Decomposition::Task { tasks: 6 }] {
            for collectives in [None, Some(4.0)] {
                let parameters = parameters(decomposition, collectives);
                for (m, p) in [(1, 1), (1, 7), (2, 4), (3, 5), (16, 1)] {
                    approx::assert_relative_eq!(
                        NODES.time(&parameters, 1, Mapping::of(m, p)).0,
                        parameters.time(Mapping::of(m, p)).0,
                        max_relative = 1e-14
                    );
                }
            }
        }
    }

    #[test]
    fn three_levels_by_hand() {
        // Three nodes: 1.25*2 + 32/(3*2*4) + 1 + 8*(0.125 + 0.25 + 4*0.5) + 4*0.0625 for one
        // node, and each of 4 collectives goes over a tree of two steps: 4*(0.5 + 2*0.25).
        let parameters = parameters(Decomposition::Data, Some(4.0));
        let expected = 2.5 + 32.0 / 24.0 + 1.0 + 19.0 + 0.25 + 4.0;
        let found = NODES.time(&parameters, 3, Mapping::of(2, 4)).0;
        approx::assert_relative_eq!(found, expected, max_relative = 1e-15);
        assert_eq!([1, 2, 3, 4, 5].map(|n| NODES.cost(n).0), [0.0, 0.75, 1.0, 1.0, 1.25]);
    }

    #[test]
    fn tasks_are_dealt_to_the_threads_of_all_nodes() {
        // Six tasks on 2*2 workers: two rounds, a third of the totals.
        let parameters = parameters(Decomposition::Task { tasks: 6 }, Some(4.0));
        let expected = (2.5 + 32.0 / 4.0 + 1.0 + 19.0 + 0.25 + 4.0 * 0.75) / 3.0;
        let found = NODES.time(&parameters, 2, Mapping::of(2, 4)).0;
        approx::assert_relative_eq!(found, expected, max_relative = 1e-15);
    }

    #[test]
    fn every_derivative_over_nodes_is_the_central_difference() {
        for decomposition in [Decomposition::Data, Decomposition::Task { tasks: 7 }] {
            for collectives in [None, Some(4.0)] {
                let parameters = parameters(decomposition, collectives);
                for (entry, slope) in NODES.gradient(&parameters, 2, Mapping::of(3, 2)) {
                    let at = |shift: f64| {
                        let mut moved = parameters.clone();
                        moved.terms.estimate_mut(entry).unwrap().value += shift;
                        NODES.time(&moved, 2, Mapping::of(3, 2)).0
                    };
                    let difference = (at(0.03125) - at(-0.03125)) / 0.0625;
                    approx::assert_relative_eq!(
                        slope,
                        difference,
                        max_relative = 1e-11,
                        epsilon = 1e-11
                    );
                }
            }
        }
    }

    #[test]
    fn nodes_are_a_model_of_the_values_and_warnings_of_equation_11() {
        let parameters = parameters(Decomposition::Data, None);
        let model = OnNodes { parameters: &parameters, level: NODES, nodes: 3 };
        assert_eq!((model.name(), model.apus()), ("levels", 16));
        assert_eq!(model.values(), parameters.values());
        assert_eq!(model.warnings(1..=8), TimeModel::warnings(&parameters, 1..=8));
        assert!(!model.warnings(1..=8).is_empty());
        assert_eq!([model.correlation(1, 1), model.correlation(1, 2)], [1.0, 0.0]);
    }

    #[test]
    fn collectives_of_a_program_without_off_loads_cost_what_they_cost() {
        let mut parameters = parameters(Decomposition::Data, Some(4.0));
        parameters.terms.offloads = Estimate::exact(0.0);
        // 1.25*2 + 32/(2*2*4) + 1 and 4*(0.0625 + 0.5 + 0.25).
        let found = NODES.time(&parameters, 2, Mapping::of(2, 4)).0;
        approx::assert_relative_eq!(found, 2.5 + 2.0 + 1.0 + 3.25, max_relative = 1e-15);
    }
}
