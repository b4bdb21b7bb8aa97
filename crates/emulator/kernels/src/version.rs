//! The ways in which a kernel is written.

use mmgp_spu::{Branches, Compiler, Shape};

/// How a kernel is written. All versions compute the same function from the same layout of data;
/// their results differ by rounding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// The first port: scalar, with branches, [`Compiler::NAIVE`].
    Naive,
    /// The code vectorised by hand with the intrinsics of 2006: the tuned kernels, whose sources multiply
    /// and add apart, and whose compiler fuses nothing. What they call of the library (logarithm,
    /// exponential, reciprocal) is written with fused instructions, as the SDK's was.
    Unfused,
    /// The code for the SPU: vectorised, without branches on data, [`Compiler::LIST_SCHEDULING`].
    Tuned,
}

impl Version {
    /// Which compiler orders the kernels of that version.
    pub(crate) const fn compiler(self) -> Compiler {
        match self {
            Self::Naive => Compiler::NAIVE,
            Self::Unfused | Self::Tuned => Compiler::LIST_SCHEDULING,
        }
    }

    /// The shape of a kernel of that version.
    pub(crate) const fn shape(self, name: &'static str, turns: u32) -> Shape {
        Shape { name, turns, compiler: self.compiler(), branches: self.branches() }
    }

    /// What the branches of the kernels of that version depend on, unless they know better.
    pub(crate) const fn branches(self) -> Branches {
        match self {
            Self::Naive => Branches::OnData,
            Self::Unfused | Self::Tuned => Branches::OnShape,
        }
    }
}

/// The name of a kernel of its version: that of its function, and the version; the tuned one has none
/// unless it is given.
macro_rules! named {
    ($kernel:expr, $($function:literal)+) => {
        named!($kernel, $($function)+, "")
    };
    ($kernel:expr, $($function:literal)+, $tuned:literal) => {
        match $kernel.version {
            $crate::version::Version::Naive => concat!($($function,)+ ", naive"),
            $crate::version::Version::Unfused => concat!($($function,)+ ", 2006"),
            $crate::version::Version::Tuned => concat!($($function,)+ $tuned),
        }
    };
}

pub(crate) use named;
