//! The file of a trace.

use std::cell::RefCell;
use std::io::{self, Stdout, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::cell::trace::Sink;
use crate::cell::trace::chrome::ChromeTrace;
use crate::error::{Error, Result};
use crate::machine::Machine;
use crate::table::StreamedFile;

/// A trace that is written while a program runs.
pub struct TraceFile {
    path: PathBuf,
    writer: Rc<RefCell<ChromeTrace<Destination>>>,
}

enum Destination {
    Streamed(StreamedFile),
    /// It gathers lines only; the trace comes in larger pieces.
    StandardOutput(Stdout),
}

impl TraceFile {
    /// Opens the file, or standard output for `-`.
    pub fn create(path: &Path, machine: &Machine) -> Result<Self> {
        let destination = if path == Path::new("-") {
            Destination::StandardOutput(io::stdout())
        } else {
            Destination::Streamed(StreamedFile::create(path)?)
        };
        let writer = ChromeTrace::new(destination, machine.layout);
        Ok(Self { path: path.into(), writer: Rc::new(RefCell::new(writer)) })
    }

    /// Where the machine sends its events.
    pub fn sink(&self) -> Rc<RefCell<dyn Sink>> {
        Rc::clone(&self.writer) as Rc<RefCell<dyn Sink>>
    }

    /// Whether the trace goes to standard output.
    pub fn is_standard_output(&self) -> bool {
        matches!(self.writer.borrow_mut().out(), Destination::StandardOutput(_))
    }

    /// Completes the trace, puts the file in its place and says how long it is.
    pub fn commit(&self) -> Result<()> {
        let mut writer = self.writer.borrow_mut();
        let finished = writer.finish();
        let events = finished.map_err(|source| {
            writer.out().discard();
            Error::Write { file: self.path.clone(), source }
        })?;
        if let Destination::Streamed(file) = writer.out() {
            file.commit()?;
            eprintln!("{events} events written to {}", self.path.display());
        }
        Ok(())
    }

    /// Leaves no file. Nothing does so by itself: a machine whose program failed may still hold the
    /// sink.
    pub fn discard(&self) {
        self.writer.borrow_mut().out().discard();
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
