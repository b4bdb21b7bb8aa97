//! The formula that the model carries on.

use super::{Choice, Division, SoftwareThreads, ThreadTerms, load, slopes};
use crate::models::time_model::{TimeModel, Value};
use mmgp_base::Mapping;
use mmgp_base::units::Seconds;

/// `T(b) ~ (n/p) A(s) max(C + e, (L + C + e)/b)`: the ranking of sublists alone, with b requests of each
/// accelerator under way all the time.
///
/// C + e is `turn_s + list_turn_s`, a node that is a list of its own. A(s) is the expected load of the
/// accelerator with the most nodes over the mean. No more requests are under way than there are
/// threads.
#[derive(Debug, Clone)]
pub struct Formula(SoftwareThreads);

impl Formula {
    /// For a list of so many nodes.
    pub fn new(terms: ThreadTerms, nodes: u32, division: Division, choice: Choice) -> Self {
        Self(SoftwareThreads::new(terms, nodes, division, choice))
    }
}

impl TimeModel for Formula {
    fn name(&self) -> &str {
        "formula"
    }

    fn apus(&self) -> u32 {
        self.0.apus()
    }

    fn time(&self, mapping: Mapping) -> Seconds {
        let SoftwareThreads { terms, nodes, division, choice } = &self.0;
        let ThreadTerms { turn_s, list_turn_s, latency_s, .. } = terms;
        let &Choice { sublists, buffers } = choice;
        let active = mapping.p().min(sublists);
        let threads = f64::from(sublists) / f64::from(active);
        let longest = match division {
            Division::Even => threads.ceil() / threads,
            Division::Random => load::ordered(active, threads)[active as usize - 1],
        };
        let node = turn_s.value + list_turn_s.value;
        let under_way = threads.min(buffers.into());
        let each = node.max((latency_s.value + node) / under_way);
        Seconds(nodes / f64::from(active) * longest * each)
    }

    fn values(&self) -> Vec<Value> {
        self.0.values()
    }

    fn gradient(&self, mapping: Mapping) -> Vec<(usize, f64)> {
        let with = |terms| Self(SoftwareThreads { terms, ..self.0.clone() });
        slopes(&self.0.terms, |terms| with(terms).time(mapping).0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::parameters::Estimate;

    #[test]
    fn six_requests_hide_five_times_the_time_of_a_node() {
        let terms = ThreadTerms {
            turn_s: Estimate::exact(15e-9),
            list_turn_s: Estimate::exact(5e-9),
            latency_s: Estimate::exact(100e-9),
            ..ThreadTerms::nothing(&[1])
        };
        let time = |p, sublists, buffers| {
            let choice = Choice { sublists, buffers };
            Formula::new(terms.clone(), 1_000_000, Division::Even, choice).time(Mapping::of(1, p)).0
        };
        for (p, sublists, buffers, expected) in [
            (1, 16, 1, 0.12),
            (1, 16, 3, 0.04),
            (1, 16, 6, 0.02),
            (1, 16, 16, 0.02),
            // Two threads each; 3 sublists on 2 accelerators: 2 of 1.5.
            (8, 16, 16, 0.06 / 8.0),
            (2, 3, 16, 0.12 / 1.5 / 2.0 * 2.0 / 1.5),
        ] {
            let found = time(p, sublists, buffers);
            assert!((found / expected - 1.0).abs() < 1e-9, "{p} {sublists} {buffers}: {found}");
        }
    }
}
