//! What a thread of the PPE sees of the caches: latency and bandwidth by footprint.

use crate::cell::ppe::{Access, AccessKind, Core};
use crate::machine::Machine;
use crate::units::{Bytes, BytesPerSecond};

/// What a vector load moves.
const VECTOR: u64 = 16;

/// Load to use in a chase of pointers from line to line through `footprint`, again and again
/// \[cycles\].
pub fn load_latency(machine: &Machine, footprint: Bytes) -> f64 {
    cycles_per_load(machine, footprint, machine.ppe.line)
}

/// Rate at which one thread loads vectors one after the other from `footprint`, again and again,
/// without prefetching.
pub fn read_bandwidth(machine: &Machine, footprint: Bytes) -> BytesPerSecond {
    let cycles = cycles_per_load(machine, footprint, Bytes(VECTOR));
    BytesPerSecond(VECTOR as f64 * machine.clock.0 / cycles)
}

/// Cycles of each load of a walk in steps of `stride`, the second time.
fn cycles_per_load(machine: &Machine, footprint: Bytes, stride: Bytes) -> f64 {
    let loads = (footprint.0 / stride.0.max(1)).max(1);
    let load = |index| Access {
        address: stride.0 * index,
        kind: AccessKind::Load,
        cycles: machine.ppe.load,
    };
    let mut core = Core::new(machine);
    core.run(&mut [&mut (0..loads).map(load)]);
    core.run(&mut [&mut (0..loads).map(load)]) / loads as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    #[test]
    fn each_level_shows_in_the_latency_of_a_footprint_that_it_holds() {
        let machine = Machine::named("qs20").unwrap();
        let latencies =
            [28, 256, 1024].map(|kilobytes| load_latency(&machine, Bytes(kilobytes << 10)));
        assert_eq!(latencies, [5.0, 36.0, 500.0]);
    }

    #[test]
    fn bandwidth_is_a_vector_for_each_load_and_a_wait_for_each_line() {
        let machine = Machine::named("qs20").unwrap();
        let gigabytes = |kilobytes: u64| read_bandwidth(&machine, Bytes(kilobytes << 10)).0 / 1e9;
        // 16 bytes in 5 cycles: 10.24; measured on a PlayStation 3: 10.3.
        assert_relative_eq!(gigabytes(16), 10.24, max_relative = 1e-9);
        // 128 bytes in 8 * 5 + 31 cycles: 5.77; measured without prefetching: 2.75, of which
        // nothing here explains the rest.
        assert_relative_eq!(gigabytes(256), 128.0 / 71.0 * 3.2, max_relative = 1e-9);
    }
}
