//! What the host executes around functions, alike in both programs.

use mmgp_cell::HostProcess;
use mmgp_cell::ppe::Work;

/// Calling a function: its arguments, the addresses of its vectors, saving registers.
pub(crate) const CALL: Work =
    Work { integers: 16, loads: 20, stores: 20, floats: 0, divides: 0, branches: 8, code: 0 }
        .in_line();

/// Adding what one SPE found.
const ADD_RESULT: Work =
    Work { integers: 1, loads: 1, stores: 0, floats: 1, divides: 0, branches: 1, code: 0 }
        .in_line();

/// Adds what so many SPEs have each put into a quadword of main memory.
pub(crate) async fn add_results(process: &HostProcess, results: u32) {
    process.load_put_lines(u64::from(results).div_ceil(RESULTS_IN_LINE)).await;
    process.work(ADD_RESULT * u64::from(results)).await;
}

/// Quadwords in a line.
const RESULTS_IN_LINE: u64 = 8;
