//! What a profiler recorded of a host that has devices work for it: when it launched what, when
//! they worked, when it waited for them.
//!
//! Read from the JSON that PyTorch's profiler and `mmgp emulate --trace` write and, with the
//! feature `nsys`, from the SQLite export of Nsight Systems. Which of them a file is, its first
//! bytes and its events say.

mod chrome;

mod names;
#[cfg(feature = "nsys")]
mod nsys;
mod recording;

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use super::{STANDARD_INPUT, Source};
use crate::error::{Error, Result, Warning};

/// A part of the time of a trace, in femtoseconds since whatever moment its profiler counts from:
/// no format has finer ones, so sums are exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    /// Begin \[fs\].
    pub start_fs: i128,
    /// End, not before the begin \[fs\].
    pub end_fs: i128,
}

/// Something that a device did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Activity {
    /// Begin and end.
    pub when: Stretch,
    /// Which of the functions.
    pub function: usize,
    /// Which of the devices, from 0.
    pub device: usize,
}

/// An off-load: what the host did to have a device work, once, however much that was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Launch {
    /// Time from the decision until the device works or, where that is later, the host goes on. Of a
    /// launch that the trace does not show, nothing but the moment at which the device began.
    pub when: Stretch,
    /// How much of it, from its begin, the host spent in the call; nothing where the host is known
    /// to wait until the device is done.
    pub call: Stretch,
    /// Which of the functions; of several the first.
    pub function: usize,
}

/// A trace of devices at work.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceTrace {
    /// The file.
    pub file: String,
    /// Time from the first to the last thing that the profiler recorded of the host or a device.
    pub window: Stretch,
    /// Names of the off-loaded functions, without arguments of templates and functions.
    pub functions: Vec<String>,
    /// What the devices did, collectives left out, in the order of their begins.
    pub activities: Vec<Activity>,
    /// The off-loads, collectives left out, in the order of their begins.
    pub launches: Vec<Launch>,
    /// When the host did nothing but wait for a device, in the order of their begins.
    pub waits: Vec<Stretch>,
    /// Collective operations, in the order of their begins.
    pub collectives: Vec<Stretch>,
    /// Devices that worked.
    pub devices: usize,
    /// Processes of the host that launched something.
    pub processes: usize,
    /// Which of so many processes it is of, where it says so.
    pub ranks: Option<(u32, u32)>,
    /// What a reader should know of the file.
    pub warnings: Vec<Warning>,
}

/// How an SQLite database begins.
const SQLITE: &[u8] = b"SQLite format 3\0";

/// How a file begins that gzip has compressed.
const GZIP: &[u8] = &[0x1f, 0x8b];

impl DeviceTrace {
    /// Reads a trace from a file; `-` is JSON from standard input.
    ///
    /// # Errors
    /// [`Error::Read`], also for a format that this build does not read; [`Error::Input`] with the
    /// place where a JSON trace is none, and [`Error::TooLittleData`] where a database is none or
    /// nothing in it shows a device at work; [`Error::OutOfRange`] for a version of a database's
    /// schema that is not known.
    pub fn read(path: &Path) -> Result<Self> {
        let start = if path == Path::new(STANDARD_INPUT) { Vec::new() } else { beginning(path)? };
        if start.starts_with(SQLITE) {
            return Self::of_database(path);
        }
        if start.starts_with(GZIP) {
            return Err(unsupported(path, "it is compressed by gzip: decompress it first"));
        }
        Self::of_json(&Source::read(path)?)
    }

    /// Reads a trace from the text of a JSON file.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn of_json(source: &Source) -> Result<Self> {
        chrome::read(source)
    }

    #[cfg(feature = "nsys")]
    fn of_database(path: &Path) -> Result<Self> {
        nsys::read(path)
    }

    #[cfg(not(feature = "nsys"))]
    fn of_database(path: &Path) -> Result<Self> {
        Err(unsupported(
            path,
            "it is an SQLite database, as Nsight Systems exports, which this build of mmgp does not \
             read: build it with the feature nsys, as in `cargo install mmgp --features nsys`",
        ))
    }
}

fn unsupported(path: &Path, why: &str) -> Error {
    Error::Read { file: path.into(), source: io::Error::new(io::ErrorKind::Unsupported, why) }
}

/// The first bytes of a file.
fn beginning(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| {
        // Of a pipe nothing may be read that the reader of the format then misses.
        if file.metadata()?.is_file() {
            file.take(SQLITE.len() as u64).read_to_end(&mut bytes)?;
        }
        Ok(())
    });
    read.map_err(|source| Error::Read { file: path.into(), source })?;
    Ok(bytes)
}
