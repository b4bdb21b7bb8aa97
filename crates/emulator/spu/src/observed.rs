//! The SPU that executes and notes what a kernel does, whatever of it: the path that it takes, what it
//! overwrites, what it touches.

use super::channel::Channel;
use super::forward::for_each_other_method;
use super::instruction::for_each_instruction;
use super::local_store::{LocalAddress, LocalStore, QuadwordMemory};
use super::path::{Journal, Path, PathRecorder};
use super::register::Quadword;
use super::watched::Watch;
use super::{BranchName, Kernel, PlainSpu, Spu};

/// Runs `kernel` as [`execute`](super::execute) does, more slowly, and says which path it took; `journal`
/// can undo what it stored. Notes what it touches, if asked to.
pub fn execute_on_path<K: Kernel>(
    kernel: &K,
    store: &mut LocalStore,
    journal: &mut Journal,
    watch: Option<Watch<'_>>,
) -> (K::Output, Path) {
    journal.begin();
    let mut spu = ObservedSpu::new(ObservedStore { store, journal: Some(journal), watch });
    let output = kernel.compiled().observe(&mut spu);
    (output, spu.path())
}

/// Executes instructions as [`PlainSpu`] does, each of them a call of a function of the host: a
/// kernel compiles into far less code so, in far less time, and runs several times slower.
#[derive(Debug)]
pub struct ObservedSpu<'s>(PlainSpu<'s, ObservedStore<'s>, PathRecorder>);

impl<'s> ObservedSpu<'s> {
    pub(super) const fn new(store: ObservedStore<'s>) -> Self {
        Self(PlainSpu::with_observers(store, PathRecorder::new()))
    }

    /// The path that was taken until now.
    const fn path(&self) -> Path {
        self.0.branch_observer().path()
    }
}

/// A local store and who notes accesses to it.
#[derive(Debug)]
pub(super) struct ObservedStore<'s> {
    pub store: &'s mut LocalStore,
    /// Keeps what is overwritten.
    pub journal: Option<&'s mut Journal>,
    /// Notes what is touched.
    pub watch: Option<Watch<'s>>,
}

impl QuadwordMemory for ObservedStore<'_> {
    #[inline(always)]
    fn load(&mut self, address: LocalAddress) -> Quadword {
        if let Some(watch) = &mut self.watch {
            watch.note_read(address);
        }
        self.store.load(address)
    }

    #[inline(always)]
    fn store(&mut self, address: LocalAddress, value: Quadword) {
        if let Some(journal) = &mut self.journal {
            journal.note(address, self.store.load(address));
        }
        if let Some(watch) = &mut self.watch {
            watch.note_written(address);
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
