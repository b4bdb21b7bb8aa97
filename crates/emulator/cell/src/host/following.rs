//! How a process follows what it has just loaded, as from node to node of a list.

use super::HostProcess;
use crate::ppe::{Access, Work};
use mmgp_base::units::Seconds;

impl HostProcess {
    /// Executes a burst whose accesses to the process's data need what the one before has loaded, as
    /// when a list is followed: waits for each line that is not in the first-level cache, and for each
    /// translation that is not at hand. An [`Access`]'s address is its place among the data.
    pub async fn follow(&self, work: Work, accesses: impl Iterator<Item = Access>) {
        let stall = self.ppe().follow(self.rank, accesses);
        if stall > Seconds(0.0) {
            let _span = self.span("cold caches");
            self.stall(stall).await;
        }
        self.recorder.host_work(self.rank, work, work.cycles(&self.machine.ppe));
        self.execute_for("host code", self.ppe().alone(work)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ppe::AccessKind;
    use crate::{Blade, KernelTiming};
    use mmgp_machine::Machine;

    /// Cycles of loads from these places, one after the other.
    fn cycles(places: &'static [u64]) -> f64 {
        let blade = Blade::new(&Machine::named("qs20").unwrap(), KernelTiming::Cached, 0.0);
        let process = blade.host_process(0);
        blade.sim.spawn("chase", async move {
            process.resume().await;
            let loads = places.iter().map(|&address| Access { address, kind: AccessKind::Load });
            let work = Work { loads: places.len() as u64, ..Work::default() };
            process.follow(work, loads).await;
            process.release();
        });
        (blade.run().unwrap().seconds().0 * 3.2e9).round()
    }

    #[test]
    fn each_load_waits_for_its_line_and_its_translation() {
        // A load takes 5 cycles. The first finds nothing: 495 more for its line, 60 + 495 for its page.
        assert_eq!(cycles(&[0]), 5.0 + 495.0 + 555.0);
        // Another line of the page, and the first again.
        assert_eq!(cycles(&[0, 128, 64]), 3.0 * 5.0 + 2.0 * 495.0 + 555.0);
    }
}
