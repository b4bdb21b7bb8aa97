//! A task that a scheduler leaves on the host of a program that off-loads.
//!
//! The functions of the [host](super::host) work on what the SPEs have left in main memory, where
//! vectors lie alike, and leave there what SPEs would: but for rounding, as their sums run in another
//! order and their exponentials are others.

use super::arguments::Terms;
use super::engine::NewView;
use super::host::HostFunctions;
use super::memory::ProcessMemory;
use crate::likelihood::Vector;
use mmgp_cell::HostProcess;
use mmgp_cell::ppe::Plain;
use mmgp_spu::Quadword;

/// The functions of a process that off-loads, as it runs them itself.
pub struct OnHost(pub HostFunctions);

/// Whose data they work on.
pub type Own<'a> = (&'a HostProcess, &'a ProcessMemory);

impl OnHost {
    /// Reads the vectors of those nodes that are no tips.
    fn read(&mut self, memory: &ProcessMemory, nodes: [usize; 2]) {
        let Self(HostFunctions { likelihoods, .. }) = self;
        for node in nodes {
            if let Some(inner) = node.checked_sub(likelihoods.taxa()) {
                memory.read_vector(memory.inner[inner], likelihoods.vectors_mut(node));
            }
        }
    }

    /// The vector of a node, which goes to `out`.
    pub async fn newview(&mut self, (process, memory): Own<'_>, call: NewView, out: Vector) {
        self.read(memory, call.children);
        let Self(functions) = self;
        functions.newview(process, call).await;
        memory.write_vector(out, functions.likelihoods.vectors(call.node));
    }

    /// The ln likelihood, or those of all patterns.
    pub async fn evaluate(
        &mut self,
        (process, memory): Own<'_>,
        ends: [usize; 2],
        (z, kept): (f64, Terms),
    ) {
        self.read(memory, ends);
        let Self(functions) = self;
        functions.charge_evaluate(process, ends, z).await;
        let likelihoods = &functions.likelihoods;
        let sum = likelihoods.evaluate(&mut Plain, ends, z);
        memory.write_result(Quadword::from_doubles([sum, 0.0]));
        if kept == Terms::Kept {
            memory.write_terms(&likelihoods.evaluate_patterns(ends, z));
        }
    }

    /// The length of a branch, and the number of steps to it.
    pub async fn makenewz(
        &mut self,
        (process, memory): Own<'_>,
        ends: [usize; 2],
        (z, steps): (f64, u32),
    ) {
        self.read(memory, ends);
        let Self(functions) = self;
        let newton = functions.makenewz(process, ends, (z, steps)).await;
        memory.write_result(Quadword([newton.z.to_bits(), newton.tried.len() as u64]));
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::super::engine::{Columns, Engine};
    use super::super::tests::{
        assert_alike, categories, exercise, gamma, on_host, random_tree, sim12,
    };
    use super::*;
    use crate::Port;
    use crate::phylogeny::tests::qs20;
    use crate::raxml::offloaded::{OffloadedEngine, run_alone};
    use mmgp_cell::linux::Sharing;
    use mmgp_machine::Machine;
    use mmgp_runtime::{BusyMap, Decision, Pending, Policy, Request, Runtime, Steps};

    /// Leaves every second task on the host.
    #[derive(Default)]
    struct Alternating {
        placed: Cell<u32>,
    }

    impl Policy for Alternating {
        fn name(&self) -> &'static str {
            "alternating"
        }

        fn summary(&self) -> &'static str {
            "Leaves every second task on the host"
        }

        fn sharing(&self, machine: &Machine) -> Sharing {
            Sharing::cooperative(machine)
        }

        fn leases_own_only(&self) -> bool {
            true
        }

        fn place(&self, request: &Request<'_>, spes: &BusyMap) -> Decision {
            assert!(request.host_can);
            self.placed.set(self.placed.get() + 1);
            if self.placed.get().is_multiple_of(2) {
                Decision::Host
            } else {
                request.lease_own(spes)
            }
        }

        fn wait<'a>(&'a self, process: &'a HostProcess, pending: &'a Pending) -> Steps<'a> {
            Box::pin(pending.stand_aside(process))
        }
    }

    #[test]
    fn what_the_host_leaves_in_memory_is_what_spes_go_on_with() {
        let patterns = sim12();
        let tree = random_tree(&patterns);
        // Every fourth pattern is not computed, so that the last group is filled up.
        let weights: Vec<u32> = (0..patterns.len() as u32).map(|index| index % 4).collect();
        for model in [gamma(), categories(&patterns)] {
            let expected = on_host(&patterns, (&weights, Columns::Drawn), &tree, &model);
            let (own, tree, weights) = (patterns.clone(), tree.clone(), weights.clone());
            let life = async move |engine: &mut OffloadedEngine| {
                engine.has_on_host(HostFunctions::new(&own));
                engine.set_weights(&weights, Columns::Drawn).await;
                exercise(engine, &tree, &model).await
            };
            let on = Runtime::new(qs20(), Box::new(Alternating::default()));
            let found = run_alone(&on, (3, Port::Tuned), &patterns, life).unwrap();
            assert_alike(&found, &expected);
        }
    }
}
