//! Lines of memory that a process shares with SPEs and with other processes.

use crate::host::HostProcess;
use crate::memory::EffectiveAddress;
use crate::mfc::LockLine;
use mmgp_base::units::{Bytes, Cycles};
use mmgp_machine::Machine;

impl HostProcess {
    /// Takes a lock that nobody holds, and releases it; where its line comes over from the other Cell, after the wait
    /// for that.
    pub async fn lock(&self, comes_over: bool) {
        let _span = self.span("lock");
        let Machine { ppe, cache, flexio, clock, .. } = &*self.machine;
        let pair = Cycles(2 * ppe.lock.0).at(*clock).seconds();
        let line = cache.memory.at(*clock).seconds() + flexio.latency;
        self.stall(if comes_over { pair + line } else { pair }).await;
    }

    /// Waits, as `sync` does, until the caches own the lines of so many bytes that were just stored: SPEs have fetched
    /// them, so that each is claimed on the bus, as many at once as loads may be under way.
    pub async fn claim(&self, bytes: Bytes) {
        if bytes.0 == 0 {
            return;
        }
        let Machine { ppe, cache, mfc, clock, .. } = &*self.machine;
        let lines = bytes.0.div_ceil(ppe.line.0);
        let rounds = lines.div_ceil(u64::from(cache.misses));
        let cycles = Cycles(ppe.barrier.0 + rounds * mfc.claim.0);
        self.stall(cycles.at(*clock).seconds()).await;
    }

    /// Loads lines that an SPE has put into main memory: no cache has them any more.
    pub async fn load_put_lines(&self, lines: u64) {
        let _span = self.span("cold caches");
        let cycles = Cycles(lines * self.machine.cache.memory.0);
        self.stall(cycles.at(self.machine.clock).seconds()).await;
    }

    /// Stores into a line of main memory that SPEs change, too: they have no copy and no reservation of it
    /// any more. The time is the caller's to spend.
    pub fn store_to_lock_line(&self, line: EffectiveAddress) {
        self.detector.host_changes_line(line);
        self.memory.lock_lines().written(line, LockLine::BYTES);
    }
}
