//! The `mmgp` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    mmgp::cli::main()
}
