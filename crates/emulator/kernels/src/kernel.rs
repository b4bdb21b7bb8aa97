//! How kernels are declared, and the [versions](Version) in which they are written.

use mmgp_spu::{Branches, Compiler, Shape, Spu};

/// Declares a kernel: its [`Kernel`](mmgp_spu::Kernel) is its shape, its blocks and the code of its
/// versions, and nothing else.
///
/// ```text
/// kernel! {
///     LikelihoodSum -> f64, |kernel, spu|                     its name, what it returns, names to use below
///     shape: kernel.version.shape("sum", kernel.groups);      an expression
///     branches: Branches::OnData;                             `Kernel::BRANCHES`, if not on shape
///     on host: host::run;                                     code in the host's vectors, if there is
///     blocks: {
///         input weights[WEIGHT_BYTES; kernel.groups];         the field, bytes of each, how many
///         output result[Bytes(16); 1];
///         each = kernel.more_blocks();                        others
///     }
///     versions: naive::sum, tuned;                            functions of the SPU and the kernel
/// }
/// ```
///
/// The tuned code with [`Unfused`](mmgp_spu::Unfused) instructions is the version of 2006. Where it
/// does not multiply and add, both are the same: `versions: naive::sum, unfused and tuned`. `of` an
/// expression at the end has functions take it in place of the kernel. A kernel without versions
/// has `run:` and an expression.
macro_rules! kernel {
    (
        $kernel:ident -> $output:ty, |$this:ident, $spu:ident|
        shape: $shape:expr;
        $(branches: $branches:expr;)?
        $(on host: $on_host:path;)?
        blocks: {
            $($access:ident $($block:ident[$bytes:expr; $count:expr])? $(= $blocks:expr)?;)*
        }
        $($run:tt)*
    ) => {
        impl mmgp_spu::Kernel for $kernel {
            type Output = $output;

            $(const BRANCHES: mmgp_spu::Branches = $branches;)?

            #[allow(unused_variables)]
            fn shape(&self) -> mmgp_spu::Shape {
                let $this = self;
                $shape
            }

            fn blocks(&self) -> Vec<mmgp_spu::local_store::Block> {
                use mmgp_spu::local_store::Block;
                let $this = self;
                let mut blocks = Vec::new();
                $(
                    $(blocks.extend([
                        Block::$access(stringify!($block), $this.$block, $count, $bytes),
                    ]);)?
                    $(blocks.extend($blocks);)?
                )*
                blocks
            }

            #[inline(always)]
            fn run<S: mmgp_spu::Spu>(&self, $spu: &mut S) -> $output {
                let $this = self;
                kernel!(@run $this $spu $($run)*)
            }

            $(
                #[inline(always)]
                fn run_on_host(&self, store: &mut mmgp_spu::LocalStore) -> Option<$output> {
                    $on_host(self, store)
                }
            )?

            #[inline(never)]
            fn compiled(&self) -> &dyn mmgp_spu::Compiled<Output = $output> {
                self
            }
        }
    };
    (@run $kernel:ident $spu:ident run: $run:expr;) => {
        $run
    };
    (@run $kernel:ident $spu:ident versions: $naive:path, unfused and $tuned:path;) => {
        match $kernel.version {
            $crate::Version::Naive => $naive($spu, $kernel),
            _ => $tuned($spu, $kernel),
        }
    };
    (@run $kernel:ident $spu:ident versions: $naive:path, $tuned:path;) => {
        kernel!(@run $kernel $spu versions: $naive, $tuned, of $kernel;)
    };
    (@run $kernel:ident $spu:ident versions: $naive:path, $tuned:path, of $argument:expr;) => {
        match $kernel.version {
            $crate::Version::Naive => $naive($spu, $argument),
            $crate::Version::Unfused => {
                $tuned(&mut mmgp_spu::Unfused::new($spu), $argument)
            }
            $crate::Version::Tuned => $tuned($spu, $argument),
        }
    };
}

/// The name of a kernel of its version: that of its function, and the version; the tuned one has none
/// unless it is given.
macro_rules! named {
    ($kernel:expr, $($function:literal)+) => {
        named!($kernel, $($function)+, "")
    };
    ($kernel:expr, $($function:literal)+, $tuned:literal) => {
        match $kernel.version {
            $crate::Version::Naive => concat!($($function,)+ ", naive"),
            $crate::Version::Unfused => concat!($($function,)+ ", 2006"),
            $crate::Version::Tuned => concat!($($function,)+ $tuned),
        }
    };
}

/// Stores `value` from `at` on, `STORES` quadwords a turn, for `left` turns, at least one: the odd pipe stores,
/// the even pipe counts beside it.
#[inline(always)]
pub fn store_turns<S: Spu, const STORES: u32>(
    spu: &mut S,
    value: S::Register,
    mut at: S::Register,
    mut left: S::Register,
) {
    loop {
        spu.label();
        spu.hbrr();
        for place in 0..STORES as i32 {
            spu.stqd(value, 16 * place, at);
        }
        at = spu.ai(at, 16 * STORES as i16);
        left = spu.ai(left, -1);
        if !spu.brnz(left) {
            break;
        }
    }
}

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
