//! What the host executes: how programs write it down, and what is alike in them.

use mmgp_cell::HostProcess;
use mmgp_cell::ppe::Work;

/// Declares what bursts of host code execute, an operation in line after the other:
/// `CALL: 16 integers, 20 loads;`.
macro_rules! work {
    ($($(#[$doc:meta])* $visibility:vis $name:ident: $($count:literal $operations:ident),+;)+) => {$(
        $(#[$doc])*
        $visibility const $name: mmgp_cell::ppe::Work = {
            let mut work = $crate::work::NOTHING;
            $(work.$operations = $count;)+
            work.in_line()
        };
    )+};
}

/// No operation.
pub(crate) const NOTHING: Work =
    Work { integers: 0, loads: 0, stores: 0, floats: 0, divides: 0, branches: 0, code: 0 };

work! {
    /// Calling a function: its arguments, the addresses of its vectors, saving registers.
    pub(crate) CALL: 16 integers, 20 loads, 20 stores, 8 branches;
    /// Adding what one SPE found.
    ADD_RESULT: 1 integers, 1 loads, 1 floats, 1 branches;
}

/// Adds what so many SPEs have each put into a quadword of main memory.
pub(crate) async fn add_results(process: &HostProcess, results: u32) {
    process.load_put_lines(u64::from(results).div_ceil(RESULTS_IN_LINE)).await;
    process.work(ADD_RESULT * u64::from(results)).await;
}

/// Quadwords in a line.
const RESULTS_IN_LINE: u64 = 8;
