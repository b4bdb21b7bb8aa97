//! Chooses, when the program runs, the version of a kernel that uses the host's fused multiply-add.
//!
//! `dfma` rounds once. Where the compiler may not use the host's instruction, `f64::mul_add` is a
//! call of a library function that takes tens of nanoseconds and returns the same bits; a kernel
//! then runs about ten times slower. A build for the oldest host must not use it, so the same
//! kernel is compiled twice, the second time into calls ([`Outlined`]), as few hosts need it. This is
//! the one place of the library that needs `unsafe`.
//!
//! There are two modules of the same content because a compiler works on modules side by side, and
//! kernels are most of what it has to do.

#![allow(unsafe_code)]

use super::outlined::Outlined;
use super::{Kernel, Spu};

macro_rules! versions {
    ($(#[$doc:meta])+ $module:ident) => {
        $(#[$doc])+
        pub(super) mod $module {
            use super::{Kernel, Spu, run_outlined};

            /// Runs `kernel` with the host's fused multiply-add where there is one, on an SPU that is
            /// made where the kernel is compiled into, so that its own fields may stand in registers
            /// of the host.
            pub fn run<K: Kernel, S: Spu>(kernel: &K, start: impl FnOnce() -> S) -> K::Output {
                #[cfg(target_arch = "x86_64")]
                if std::arch::is_x86_feature_detected!("avx2")
                    && std::arch::is_x86_feature_detected!("fma")
                {
                    // SAFETY: the only condition of the call is that the host has the features for
                    // which `run_fused` is compiled, and both have just been found. It has no other
                    // unsafe operation.
                    return unsafe { run_fused(kernel, start) };
                }
                // Every other architecture has a fused multiply-add that may always be used.
                if cfg!(target_arch = "x86_64") {
                    run_outlined(kernel, start())
                } else {
                    kernel.run(&mut start())
                }
            }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            fn run_fused<K: Kernel, S: Spu>(kernel: &K, start: impl FnOnce() -> S) -> K::Output {
                kernel.run(&mut start())
            }
        }
    };
}

versions! {
    /// For an SPU that only executes.
    plain
}

versions! {
    /// For an SPU that also takes time.
    timed
}

/// Runs `kernel` slowly, but without the time that compiling it for speed takes.
pub(super) fn run_outlined<K: Kernel, S: Spu>(kernel: &K, spu: S) -> K::Output {
    kernel.run(&mut Outlined(spu))
}
