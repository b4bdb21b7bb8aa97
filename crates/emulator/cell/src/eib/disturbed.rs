//! Memory that an injected fault has made slow.

use std::rc::Rc;

use super::Eib;
use crate::disturbance::{Disturbances, Rate};
use crate::memory::Banks;
use crate::unit::Unit;
use mmgp_base::units::{SimSpan, SimTime};
use mmgp_sim::{Flow, first_of};

impl Eib {
    /// The faults that are injected into the machine.
    pub(crate) const fn disturbances(&self) -> &Rc<Disturbances> {
        &self.disturbances
    }

    /// For how long a bank is busy with an access that is asked for now.
    pub(super) fn bank_cycle(&self, banks: &Banks) -> SimSpan {
        if !self.disturbances.any() {
            return banks.cycle();
        }
        self.disturbances.memory().0.stretch(banks.cycle())
    }

    /// Waits until all of a flow between two units has passed.
    pub(super) async fn end_of(&self, flow: Flow, ends: [Unit; 2]) {
        let is_memory = |unit: &Unit| matches!(unit, Unit::Memory { .. });
        if !self.disturbances.any() || !ends.iter().any(is_memory) {
            return self.flows.end(flow).await;
        }
        self.adjust_memory();
        self.of_memory.update(|flows| *flows += 1);
        self.flows.end(flow).await;
        self.of_memory.update(|flows| *flows -= 1);
    }

    /// Sees to it that the rate of memory changes while it is used. At other times nobody can tell,
    /// and a run does not last until a change that is still to come.
    pub(crate) fn keep_adjusting(self: &Rc<Self>) {
        let own = Rc::clone(self);
        self.sim.spawn_daemon("the rate of memory", async move {
            loop {
                own.of_memory.wait_until(|&flows| flows > 0).await;
                let Some(change) = own.adjust_memory() else { return };
                let unused = own.of_memory.wait_until(|&flows| flows == 0);
                first_of(unused, own.sim.sleep_until(change)).await;
            }
        });
    }

    /// Gives memory the rate that it has now; when that changes.
    fn adjust_memory(&self) -> Option<SimTime> {
        let (rate, until) = self.disturbances.memory();
        if self.memory_rate.replace(rate) != rate {
            self.set_memory_rate(rate);
        }
        until
    }

    fn set_memory_rate(&self, rate: Rate) {
        for (capacity, limit) in self.buses.of_memory() {
            self.flows.resize(capacity, limit * rate.value());
        }
    }
}
