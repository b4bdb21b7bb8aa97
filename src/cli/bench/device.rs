//! Off-loads to a device of OpenCL: `launch_opencl.csv` and `offload_opencl.csv`.

use std::collections::BTreeMap;

use super::runner::Runner;
use crate::error::{Error, Result, Warning};
use crate::native;
use crate::native::bench::{Repetitions, Timed, doubts_of};
use crate::probe::device::{self, Device, NO_DEVICE};
use crate::table::records::{Offload, OffloadMode};

/// Least batches of each kind.
const LEAST_BATCHES: u32 = 30;

/// What was measured of a device.
pub struct Measured {
    /// Its name.
    pub name: String,
    /// Empty kernels, launched and waited for: rows of 0 bytes.
    pub launches: Vec<Offload>,
    /// Empty kernels between copies there and back, by bytes.
    pub copies: Vec<Offload>,
    /// What is doubtful.
    pub warnings: Vec<Warning>,
}

/// Files of both.
pub const FILES: [&str; 2] = ["launch_opencl.csv", "offload_opencl.csv"];

/// Times off-loads to the first device of OpenCL; without one, why.
///
/// # Errors
/// Where a device is there and fails, with the last words of its driver.
pub fn measure(
    runner: &mut Runner,
    repetitions: u32,
) -> Result<std::result::Result<Measured, String>> {
    let program = device::timer()?.to_string_lossy().into_owned();
    let count = repetitions.max(LEAST_BATCHES).to_string();
    let ended = runner.run(&[program, count], BTreeMap::new())?;
    if ended.exit == Some(NO_DEVICE) {
        return Ok(Err(ended.errors.lines().last().unwrap_or_default().into()));
    }
    if let Some(why) = native::reason(&ended) {
        return Err(Error::Program { program: "OpenCL".into(), why });
    }
    Ok(Ok(measured(&device::read(&ended.output)?)))
}

fn measured(device: &Device) -> Measured {
    let launches = device.launches.iter().map(|&(calls, time_s)| (0, calls, time_s));
    let (launches, doubts) = rows(FILES[0], launches);
    let (copies, more) = rows(FILES[1], device.copies.iter().copied());
    Measured { name: device.name.clone(), launches, copies, warnings: [doubts, more].concat() }
}

/// Rows of batches: bytes, calls and the time of all \[s\].
fn rows(
    file: &str,
    batches: impl Iterator<Item = (u64, u64, f64)>,
) -> (Vec<Offload>, Vec<Warning>) {
    let mut all: BTreeMap<u64, Repetitions> = BTreeMap::new();
    for (bytes, count, time_s) in batches {
        // Who waits for a device may sleep: nothing tells what others had meanwhile.
        all.entry(bytes).or_default().push(Timed { time_s, count, lost_s: 0.0 });
    }
    let of = |(&bytes, repetitions): (&u64, &Repetitions)| {
        let row = move |(timed, repetition): (Timed, u32)| Offload {
            bytes,
            repetition,
            round_trips: timed.count,
            time_s: timed.time_s,
            mode: OffloadMode::PingPong,
        };
        repetitions.rows().into_iter().zip(1..).map(row).collect::<Vec<_>>()
    };
    let rows = all.iter().flat_map(of).collect();
    (rows, doubts_of(file, &all.into_values().collect::<Vec<_>>()))
}
