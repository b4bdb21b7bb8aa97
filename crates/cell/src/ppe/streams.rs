//! The hardware threads of a PPE at work on streams of memory accesses, access by access.
//!
//! A program whose data do not fit the caches is timed by its real addresses: each access goes
//! through the caches that the threads share, and each thread has its own clock. The thread that is
//! furthest behind goes on. It computes at full speed, or slowed down while the other one computes
//! too; while it waits for a line the other one has the pipeline to itself.

use super::hierarchy::Hierarchy;
use mmgp_base::units::Cycles;
use mmgp_machine::Machine;

/// An access of a stream, and what the thread computes with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// Physical address.
    pub address: u64,
    /// Whether it loads or stores.
    pub kind: AccessKind,
    /// What the access and the operations up to the next one take with the line at hand.
    pub cycles: Cycles,
}

/// What an access does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessKind {
    /// Load.
    Load,
    /// Store.
    Store,
}

/// The caches and the threads' clocks.
pub struct Core {
    caches: Hierarchy,
    slowdown: f64,
    /// Cycles.
    clocks: Vec<f64>,
    /// Up to when each thread waits for a line.
    waits_until: Vec<f64>,
}

impl Core {
    /// A core with cold caches.
    pub fn new(machine: &Machine) -> Self {
        let threads = machine.layout.threads_per_ppe as usize;
        Self {
            caches: Hierarchy::new(machine),
            slowdown: super::threads::slowdown(machine),
            clocks: vec![0.0; threads],
            waits_until: vec![0.0; threads],
        }
    }

    /// Runs a stream on each of the first threads until the first stream has ended, and says how
    /// long that took \[cycles\]. The others go on from where they are for as long.
    pub fn run(&mut self, streams: &mut [&mut dyn Iterator<Item = Access>]) -> f64 {
        let begin = self.clocks.iter().copied().fold(0.0, f64::max);
        self.clocks.fill(begin);
        loop {
            let clock = |thread: &usize| self.clocks[*thread];
            let furthest = (0..streams.len()).min_by(|a, b| clock(a).total_cmp(&clock(b)));
            let thread = furthest.unwrap_or(0);
            match streams[thread].next() {
                Some(access) => self.step(thread, streams.len(), access),
                None if thread == 0 => return self.clocks[0] - begin,
                None => self.clocks[thread] = f64::INFINITY,
            }
        }
    }

    fn step(&mut self, thread: usize, threads: usize, access: Access) {
        let now = self.clocks[thread];
        let stall = match access.kind {
            AccessKind::Load => {
                let level = self.caches.load(access.address);
                self.caches.stall(level)
            }
            AccessKind::Store => {
                self.caches.store(access.address);
                Cycles(0)
            }
        };
        let stall = stall.0 as f64;
        self.waits_until[thread] = now + stall;
        let begin = now + stall;
        let other_busy = (0..threads).any(|other| {
            other != thread && self.clocks[other].is_finite() && self.waits_until[other] <= begin
        });
        let slowdown = if other_busy { self.slowdown } else { 1.0 };
        self.clocks[thread] = begin + access.cycles.0 as f64 * slowdown;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    /// Loads of 8 bytes at so many addresses `stride` apart, 10 cycles each, from `base` on.
    fn walk(base: u64, stride: u64, count: u64) -> impl Iterator<Item = Access> {
        (0..count).map(move |index| Access {
            address: base + stride * index,
            kind: AccessKind::Load,
            cycles: Cycles(10),
        })
    }

    fn core() -> Core {
        Core::new(&Machine::named("qs20").unwrap())
    }

    #[test]
    fn a_walk_waits_once_for_each_line_that_is_not_there() {
        let mut core = core();
        // 160 loads on 10 lines from memory: 160 * 10 + 10 * 495; again: all there.
        assert_eq!(core.run(&mut [&mut walk(0, 8, 160)]), 6550.0);
        assert_eq!(core.run(&mut [&mut walk(0, 8, 160)]), 1600.0);
        // 512 lines are twice the first-level cache: each from L2 when the walk comes again.
        core.run(&mut [&mut walk(0, 128, 512)]);
        assert_eq!(core.run(&mut [&mut walk(0, 128, 512)]), 512.0 * 41.0);
    }

    #[test]
    fn threads_that_compute_slow_each_other_down_and_one_that_waits_does_not() {
        let mut core = core();
        core.run(&mut [&mut walk(0, 8, 160)]);
        core.run(&mut [&mut walk(1 << 20, 8, 160)]);
        let both = core.run(&mut [&mut walk(0, 8, 160), &mut walk(1 << 20, 8, 160)]);
        assert_relative_eq!(both, 1600.0 * 1.28, max_relative = 1e-2);
        // The other one waits for a line at each access: 495 of 505 cycles.
        let other = &mut walk(1 << 30, 128, 160);
        let alone = core.run(&mut [&mut walk(0, 8, 160), other]);
        assert!(alone < 1600.0 * 1.02, "{alone}");
    }
}
