//! Off-loads to a device of OpenCL, timed by a program that is compiled where it is used.

use std::path::PathBuf;

use mmgp_base::error::{Error, Result};

use crate::library::{c_compiler, program};

const OPENCL: &str = include_str!("c/opencl.c");

/// The exit code of the program where there is no device: its last line says why.
pub const NO_DEVICE: i32 = 3;

/// The file of the program, which takes the number of batches of each kind as its argument and prints what [`read`]
/// takes.
///
/// # Errors
/// [`Error::Program`] where there is no compiler, or it refuses.
pub fn timer() -> Result<PathBuf> {
    program("opencl", OPENCL, (&c_compiler()?, false), &["-ldl"])
}

/// A device, and what off-loads to it took.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Device {
    /// Its name, and that of its platform.
    pub name: String,
    /// Calls of each batch of empty kernels, each waited for, and the time of all \[s\].
    pub launches: Vec<(u64, f64)>,
    /// Bytes copied there and back around an empty kernel, calls of the batch, and the time of all \[s\].
    pub copies: Vec<(u64, u64, f64)>,
}

/// What the program printed.
///
/// # Errors
/// [`Error::Program`] for anything else.
pub fn read(printed: &str) -> Result<Device> {
    let mut device = Device::default();
    let other = |line: &str| {
        let why = format!("printed {line:?}, which it does not in this version");
        Error::Program { program: "opencl".into(), why }
    };
    for line in printed.lines() {
        let words: Vec<&str> = line.split('\t').collect();
        let number = |word: &str| word.parse::<u64>().map_err(|_| other(line));
        let seconds = |word: &str| Ok::<f64, Error>(number(word)? as f64 * 1e-9);
        match words[..] {
            ["device", name, platform] => device.name = format!("{name} ({platform})"),
            ["launch", calls, time] => {
                device.launches.push((number(calls)?, seconds(time)?));
            }
            ["copies", bytes, calls, time] => {
                device.copies.push((number(bytes)?, number(calls)?, seconds(time)?));
            }
            // A driver may print what it likes.
            _ if device.name.is_empty() => {}
            _ => return Err(other(line)),
        }
    }
    if device.launches.is_empty() { Err(other("")) } else { Ok(device) }
}
