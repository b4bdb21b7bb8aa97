//! The SPU that executes and notes what a kernel does: the path that it takes, and what it touches.

use super::channel::Channel;
use super::forward::for_each_other_method;
use super::instruction::for_each_instruction;
use super::local_store::{LocalAddress, LocalStore, QuadwordMemory};
use super::path::{Journal, Path, PathRecorder};
use super::register::Quadword;
use super::watched::Accesses;
use super::{BranchName, Kernel, PlainSpu, Spu};

/// Runs `kernel` as [`execute`](super::execute) does, and says which path it took; `journal` can
/// undo what it stored.
pub fn execute_on_path<K: Kernel>(
    kernel: &K,
    store: &mut LocalStore,
    journal: &mut Journal,
) -> (K::Output, Path) {
    journal.begin();
    let mut spu = ObservedSpu::journaled(store, journal);
    let output = kernel.compiled().observe(&mut spu);
    (output, spu.path())
}

/// Runs `kernel` as [`execute`](super::execute) does, more slowly, and notes what it touches.
pub fn execute_watched<K: Kernel>(kernel: &K, store: &mut LocalStore) -> (K::Output, Accesses) {
    let mut accesses = Accesses::new();
    let output = kernel.compiled().observe(&mut ObservedSpu::watched(store, &mut accesses));
    (output, accesses)
}

/// Executes instructions as [`PlainSpu`] does, each of them a call of a function of the host: a
/// kernel compiles into far less code so, in far less time, and runs several times slower.
#[derive(Debug)]
pub struct ObservedSpu<'s>(PlainSpu<'s, ObservedStore<'s>, PathRecorder>);

impl<'s> ObservedSpu<'s> {
    /// An SPU with that local store, of which nothing is noted but the path.
    pub(super) const fn unobserved(store: &'s mut LocalStore) -> Self {
        Self::new(store, Observer::None)
    }

    /// The same, whose journal keeps what is overwritten.
    const fn journaled(store: &'s mut LocalStore, journal: &'s mut Journal) -> Self {
        Self::new(store, Observer::Journal(journal))
    }

    /// The same, where the quadwords that are touched are noted.
    const fn watched(store: &'s mut LocalStore, accesses: &'s mut Accesses) -> Self {
        Self::new(store, Observer::Accesses(accesses))
    }

    const fn new(store: &'s mut LocalStore, observer: Observer<'s>) -> Self {
        Self(PlainSpu::with_observers(ObservedStore { store, observer }, PathRecorder::new()))
    }

    /// The path that was taken until now.
    const fn path(&self) -> Path {
        self.0.branch_observer().path()
    }
}

/// A local store and who notes accesses to it.
#[derive(Debug)]
struct ObservedStore<'s> {
    store: &'s mut LocalStore,
    observer: Observer<'s>,
}

#[derive(Debug)]
enum Observer<'s> {
    None,
    Journal(&'s mut Journal),
    Accesses(&'s mut Accesses),
}

impl QuadwordMemory for ObservedStore<'_> {
    #[inline(always)]
    fn load(&mut self, address: LocalAddress) -> Quadword {
        if let Observer::Accesses(accesses) = &mut self.observer {
            accesses.note_read(address);
        }
        self.store.load(address)
    }

    #[inline(always)]
    fn store(&mut self, address: LocalAddress, value: Quadword) {
        match &mut self.observer {
            Observer::None => {}
            Observer::Journal(journal) => journal.note(address, self.store.load(address)),
            Observer::Accesses(accesses) => accesses.note_written(address),
        }
        self.store.store(address, value);
    }
}

macro_rules! forward_instructions {
    ($($(#[$doc:meta])+ $mnemonic:ident($($register:ident),* $(; $immediate:ident: $type:ty)?)
        $class:ident $destination:ident $([$processor:ident])? = $result:expr;)*) => {$(
        #[inline(never)]
        fn $mnemonic(
            &mut self,
            $($register: Quadword,)*
            $($immediate: $type)?
        ) -> Quadword {
            self.0.$mnemonic($($register,)* $($immediate)?)
        }
    )*};
}

macro_rules! forward {
    ($($mnemonic:ident($($operand:ident: $type:ty),*) $(-> $result:ty)?;)*) => {$(
        #[inline(never)]
        fn $mnemonic(&mut self, $($operand: $type),*) $(-> $result)? {
            self.0.$mnemonic($($operand),*)
        }
    )*};
}

impl Spu for ObservedSpu<'_> {
    type Register = Quadword;

    for_each_instruction!(forward_instructions);

    for_each_other_method!(forward);

    #[inline(never)]
    fn value(&self, register: Quadword) -> Quadword {
        self.0.value(register)
    }
}
