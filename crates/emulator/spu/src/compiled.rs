//! A kernel as machine code of the host.
//!
//! A kernel is generic over the [`Spu`] that runs it, and compiling one into the host's code is most
//! of what a build has to do. So it is compiled four times and no more, five where its branches
//! depend on data, each time by a method of [`Compiled`], for
//!
//! | SPU | its instructions | used |
//! |---|---|---|
//! | [`PlainSpu`] | part of the kernel's code, with the host's fused multiply-add; or none, where the kernel [runs on the host](Kernel::run_on_host) | by [`execute`], and so by most of an emulation |
//! | [`PlainSpu`] with a watched local store | part of the kernel's code, likewise | by [`execute_watched`], where hazards are looked for |
//! | [`PlainSpu`] that records the path | part of the kernel's code, likewise | by [`execute_on_path`](super::execute_on_path), for kernels whose [`BRANCHES`](Kernel::BRANCHES) depend on data |
//! | [`ObservedSpu`] | calls | to find out the path of others, and on old hosts |
//! | [`TimedSpu`] | calls | to time a kernel |
//!
//! Instructions that are calls are compiled once for all kernels, here, and make a kernel run
//! several times slower.
//!
//! `dfma` rounds once. Where the compiler may not use the host's instruction, `f64::mul_add` is a
//! call of a library function that takes tens of nanoseconds and returns the same bits; a kernel
//! then runs about ten times slower. A build for the oldest host must not use it, so whether it is
//! there is asked when the program runs. This is the one place of the library that needs `unsafe`.

#![allow(unsafe_code)]

use super::forward::ObservedStore;
use super::local_store::LocalStore;
use super::observation::{PathRecorder, WatchedStore};
use super::{Branches, Journal, Kernel, ObservedSpu, Path, PlainSpu, TimedSpu, Watch};

/// Runs `kernel` on `store` as fast as the host can.
pub fn execute<K: Kernel>(kernel: &K, store: &mut LocalStore) -> K::Output {
    kernel.compiled().execute(store)
}

/// Runs `kernel` as [`execute`] does, and notes what it touches.
pub fn execute_watched<K: Kernel>(
    kernel: &K,
    store: &mut LocalStore,
    watch: Watch<'_>,
) -> K::Output {
    kernel.compiled().watch(store, watch)
}

/// A kernel, whichever it is, on each of the SPUs that it is compiled for. It is implemented for
/// every [`Kernel`]; whoever runs one calls [`execute`] and its like.
pub trait Compiled {
    /// Output, as [`Kernel::Output`].
    type Output;

    /// Runs it on the SPU that only executes.
    fn execute(&self, store: &mut LocalStore) -> Self::Output;

    /// Runs it on the SPU that only executes, and notes what it touches.
    fn watch(&self, store: &mut LocalStore, watch: Watch<'_>) -> Self::Output;

    /// Runs it, keeping in the journal what it overwrites, and says which path it took.
    fn follow(&self, store: &mut LocalStore, journal: &mut Journal) -> (Self::Output, Path);

    /// Runs it on an SPU that notes what it does.
    fn observe(&self, spu: &mut ObservedSpu<'_>) -> Self::Output;

    /// Runs it on the SPU that takes time.
    fn time(&self, spu: &mut TimedSpu<'_>) -> Self::Output;
}

impl<K: Kernel> Compiled for K {
    type Output = K::Output;

    fn execute(&self, store: &mut LocalStore) -> K::Output {
        #[cfg(target_arch = "x86_64")]
        {
            if fuses() {
                // SAFETY: the only condition of the call is that the host has the features for
                // which `execute_fused` is compiled, which were just found. It has no other unsafe
                // operation.
                return unsafe { self.execute_fused(store) };
            }
            self.observe(&mut ObservedSpu::new(ObservedStore { store, journal: None, watch: None }))
        }
        // Every other architecture has a fused multiply-add that may always be used.
        #[cfg(not(target_arch = "x86_64"))]
        run(self, store)
    }

    fn watch(&self, store: &mut LocalStore, watch: Watch<'_>) -> K::Output {
        #[cfg(target_arch = "x86_64")]
        {
            if fuses() {
                // SAFETY: as in `execute`.
                return unsafe { self.watch_fused(store, watch) };
            }
            let watch = Some(watch);
            self.observe(&mut ObservedSpu::new(ObservedStore { store, journal: None, watch }))
        }
        #[cfg(not(target_arch = "x86_64"))]
        run_watched(self, store, watch)
    }

    fn follow(&self, store: &mut LocalStore, journal: &mut Journal) -> (K::Output, Path) {
        if const { matches!(K::BRANCHES, Branches::OnData) } {
            #[cfg(target_arch = "x86_64")]
            if fuses() {
                // SAFETY: as in `execute`.
                return unsafe { self.follow_fused(store, journal) };
            }
            #[cfg(not(target_arch = "x86_64"))]
            return run_on_path(self, store, journal);
        }
        let journal = Some(journal);
        let mut spu = ObservedSpu::new(ObservedStore { store, journal, watch: None });
        let output = self.observe(&mut spu);
        (output, spu.path())
    }

    fn observe(&self, spu: &mut ObservedSpu<'_>) -> K::Output {
        self.run(spu)
    }

    fn time(&self, spu: &mut TimedSpu<'_>) -> K::Output {
        self.run(spu)
    }
}

/// Whether the host has what the fused versions are compiled for.
#[cfg(target_arch = "x86_64")]
fn fuses() -> bool {
    std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma")
}

#[inline(always)]
fn run<K: Kernel>(kernel: &K, store: &mut LocalStore) -> K::Output {
    match kernel.run_on_host(store) {
        Some(output) => output,
        None => kernel.run(&mut PlainSpu::new(store)),
    }
}

#[inline(always)]
fn run_watched<K: Kernel>(kernel: &K, store: &mut LocalStore, watch: Watch<'_>) -> K::Output {
    kernel.run(&mut PlainSpu::with_observers(WatchedStore { store, watch }, ()))
}

#[inline(always)]
fn run_on_path<K: Kernel>(
    kernel: &K,
    store: &mut LocalStore,
    journal: &mut Journal,
) -> (K::Output, Path) {
    let store = ObservedStore { store, journal: Some(journal), watch: None };
    let mut spu = PlainSpu::with_observers(store, PathRecorder::new());
    let output = kernel.run(&mut spu);
    (output, spu.branch_observer().path())
}

/// The versions with the host's fused multiply-add. They are methods, not functions, because rustc
/// puts a method into the unit of the module in which its type stands: kernels are compiled side by
/// side, and a change of one compiles one anew. Functions would be in one unit, of this module.
#[cfg(target_arch = "x86_64")]
trait Fused: Kernel {
    /// Safe where the host [`fuses`].
    unsafe fn execute_fused(&self, store: &mut LocalStore) -> Self::Output;

    /// Safe where the host [`fuses`].
    unsafe fn watch_fused(&self, store: &mut LocalStore, watch: Watch<'_>) -> Self::Output;

    /// Safe where the host [`fuses`].
    unsafe fn follow_fused(
        &self,
        store: &mut LocalStore,
        journal: &mut Journal,
    ) -> (Self::Output, Path);
}

#[cfg(target_arch = "x86_64")]
impl<K: Kernel> Fused for K {
    #[target_feature(enable = "avx2,fma")]
    unsafe fn execute_fused(&self, store: &mut LocalStore) -> K::Output {
        run(self, store)
    }

    #[target_feature(enable = "avx2,fma")]
    unsafe fn watch_fused(&self, store: &mut LocalStore, watch: Watch<'_>) -> K::Output {
        run_watched(self, store, watch)
    }

    #[target_feature(enable = "avx2,fma")]
    unsafe fn follow_fused(
        &self,
        store: &mut LocalStore,
        journal: &mut Journal,
    ) -> (K::Output, Path) {
        run_on_path(self, store, journal)
    }
}
