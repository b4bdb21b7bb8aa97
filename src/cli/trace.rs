//! The file of a trace.

use std::cell::RefCell;
use std::io::{self, Stdout, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use clap::ValueEnum;

use super::output::{line, warn};
use crate::cell::trace::chrome::ChromeTrace;
use crate::cell::trace::chrome::Outline;
use crate::cell::trace::{Event, Sink};
use crate::error::{Error, Result, Warning};
use crate::machine::Machine;
use crate::table::StreamedFile;
use crate::units::Bytes;

/// A trace that is written while a program runs.
pub struct TraceFile {
    path: PathBuf,
    writer: Rc<RefCell<DetailedTrace>>,
}

/// How much of what happens goes into a trace.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Detail {
    /// What the host does, off-loads, messages
    Offloads,
    /// Kernels, transfers, waits and what starts what, too: some 30 times as much
    All,
}

/// A trace with that much detail.
enum DetailedTrace {
    Offloads(Outline<ChromeTrace<Destination>>),
    All(ChromeTrace<Destination>),
}

impl DetailedTrace {
    fn chrome(&mut self) -> &mut ChromeTrace<Destination> {
        match self {
            Self::Offloads(outline) => outline.sink(),
            Self::All(chrome) => chrome,
        }
    }
}

impl Sink for DetailedTrace {
    fn record(&mut self, event: &Event) {
        match self {
            Self::Offloads(outline) => outline.record(event),
            Self::All(chrome) => chrome.record(event),
        }
    }
}

enum Destination {
    Streamed(StreamedFile),
    /// Standard output, which gathers lines only; the trace comes in larger pieces.
    StandardOutput(Stdout),
}

impl TraceFile {
    /// Opens the file, or standard output for `-`.
    pub fn create(path: &Path, machine: &Machine, detail: Detail, limit: Bytes) -> Result<Self> {
        let destination = if path == Path::new("-") {
            Destination::StandardOutput(io::stdout())
        } else {
            Destination::Streamed(StreamedFile::create(path)?)
        };
        let chrome = ChromeTrace::new(destination, machine.layout).limited(limit);
        let writer = match detail {
            Detail::Offloads => DetailedTrace::Offloads(Outline::new(chrome)),
            Detail::All => DetailedTrace::All(chrome),
        };
        Ok(Self { path: path.into(), writer: Rc::new(RefCell::new(writer)) })
    }

    /// The sink of the machine's events.
    pub fn sink(&self) -> Rc<RefCell<dyn Sink>> {
        Rc::clone(&self.writer) as Rc<RefCell<dyn Sink>>
    }

    /// Whether the trace goes to standard output.
    pub fn is_standard_output(&self) -> bool {
        matches!(self.writer.borrow_mut().chrome().out(), Destination::StandardOutput(_))
    }

    /// Completes the trace, puts the file in its place and says how long it is.
    pub fn commit(&self) -> Result<()> {
        let mut writer = self.writer.borrow_mut();
        let writer = writer.chrome();
        let finished = writer.finish();
        let events = finished.map_err(|source| {
            writer.out().discard();
            Error::Write { file: self.path.clone(), source }
        })?;
        if let Destination::Streamed(file) = writer.out() {
            file.commit()?;
            line(&format!("{events} events written to {}", self.path.display()));
        }
        if let Some(end) = writer.ended_early() {
            let milliseconds = 1e3 * end.seconds().0;
            warn(&[Warning::Note(format!(
                "the trace ends at {milliseconds:.3} ms of the run: it has reached its limit, which \
                 --trace-limit raises"
            ))]);
        }
        Ok(())
    }

    /// Leaves no file. Nothing does so by itself: a machine whose program failed may still hold the
    /// sink.
    pub fn discard(&self) {
        self.writer.borrow_mut().chrome().out().discard();
    }
}

impl Destination {
    fn discard(&mut self) {
        if let Self::Streamed(file) = self {
            file.discard();
        }
    }
}

impl Write for Destination {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Streamed(file) => file.write(bytes),
            Self::StandardOutput(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Streamed(file) => file.flush(),
            Self::StandardOutput(out) => out.flush(),
        }
    }
}
