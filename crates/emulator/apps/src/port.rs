//! How the functions of a program that could be off-loaded were brought to the machine.

use mmgp_kernels::version::Version;
use mmgp_runtime::Signalling;

use crate::streaming::Transfers;

/// How the functions of a program were brought to the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Port {
    /// Tuned for the SPU: vectorised kernels, DMA in large pieces that overlaps with them.
    Tuned,
    /// Rewritten for the SPU as in 2006: as [`Self::Tuned`], but compiled by a compiler that fuses no
    /// multiplication with the addition behind it.
    Unfused,
    /// Ported as at first: scalar kernels, one transfer after the other, mailboxes.
    Naive,
    /// Not at all: everything runs on the host.
    Ppe,
}

impl Port {
    /// Whether what its kernels take depends on nothing that they compute.
    pub(crate) const fn is_vectorised(self) -> bool {
        matches!(self, Self::Tuned | Self::Unfused)
    }

    /// The kernels that are loaded; on the host none of them runs.
    pub(crate) const fn version(self) -> Version {
        match self {
            Self::Naive => Version::Naive,
            Self::Unfused => Version::Unfused,
            Self::Tuned | Self::Ppe => Version::Tuned,
        }
    }
}

/// How blocks flow around kernels of a version.
pub(crate) const fn transfers(version: Version) -> Transfers {
    match version {
        Version::Naive => Transfers::OneByOne,
        Version::Unfused | Version::Tuned => Transfers::DoubleBuffered,
    }
}

/// How the host and a program of such kernels tell each other of an off-load.
pub(crate) const fn signalling(version: Version) -> Signalling {
    match version {
        Version::Naive => Signalling::Mailbox,
        Version::Unfused | Version::Tuned => Signalling::Memory,
    }
}
