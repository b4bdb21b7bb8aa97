//! What the host asks of an SPE's program.

use std::future::Future;
use std::pin::Pin;

use mmgp_base::error::Result;
use mmgp_cell::element::Values;
use mmgp_cell::element::{Fingerprint, Writer};
use mmgp_cell::record::Loop;
use mmgp_cell::{EffectiveAddress, Spe};

/// What the host tells an SPE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// Which function of the SPE's program.
    pub function: u32,
    /// Address of its arguments.
    pub arguments: EffectiveAddress,
    /// Which of the SPEs that share the task this one is, from 0.
    pub share: u32,
    /// How many share it.
    pub shares: u32,
    /// How many iterations of its loops the first of them takes beyond its equal part; below 0, fewer.
    pub lead: i32,
}

/// How host and SPE tell each other that a call begins and that it is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signalling {
    /// Flags in local store.
    Memory,
    /// Words through the SPE's inbound and outbound mailbox.
    Mailbox,
}

/// Who tells the SPEs that share a task that it begins, and hears that it is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Teams {
    /// The host, one SPE after the other.
    #[default]
    ByHost,
    /// The host tells the first, the *master*, which tells the others, the *workers*, from local
    /// store to local store, and hears from them (LLP of PPoPP 2007). The others spin until it does;
    /// that is their program's business.
    ByMaster,
}

/// The program that is loaded on every SPE.
pub trait SpeProgram: 'static {
    /// What its functions are called in a trace, in the order of their numbers.
    const FUNCTIONS: &'static [&'static str] = &[];

    /// Who starts the SPEs of a task.
    fn teams(&self) -> Teams {
        Teams::ByHost
    }

    /// Runs one function and says when its shared loops began and ended, in their order; the
    /// results are committed when it returns.
    fn call(&self, spe: &Spe, call: Call) -> impl Future<Output = Result<Vec<Loop>>>;

    /// The same with the clock stopped, where its course does not depend on when things happen:
    /// see [`Element`](mmgp_cell::element::Element).
    fn write<'a>(&'a self, _: &'a Writer, _: Call) -> Option<Writing<'a>> {
        None
    }

    /// Fingerprint of all that the scripts of a task's calls depend on, where nothing is computed. Tasks of the same
    /// fingerprint have the same scripts, and which of them were written leaves no trace. Nothing
    /// where the calls must be written to know.
    fn alike(&self, _: &[(&Spe, Call)]) -> Option<Fingerprint> {
        None
    }

    /// Whether calls that are written down compute anything.
    fn values(&self) -> Values {
        Values::Computed
    }
}

/// What [`SpeProgram::write`] gives.
pub type Writing<'a> = Pin<Box<dyn Future<Output = Result<()>> + 'a>>;
