//! The Synergistic Processor Unit (SPU) of the Cell Broadband Engine.
//!
//! Read on at [`Kernel`], which is all that a program is.
//!
//! A [`Kernel`] is a program for the SPU, written once against the instructions of [`Spu`], whose
//! methods are the assembler's mnemonics. Two implementations run it: [`execute`] as fast as the
//! host can, [`time`] while counting the cycles that the SPU would take. Both compute every
//! instruction by the same function, so their results agree bit by bit; and what is timed is what
//! was executed, so there is no table of durations that could disagree with the code.
//!
//! ```
//! use mmgp_spu::{Kernel, LocalAddress, LocalStore, Quadword, Shape, Spu, execute};
//!
//! /// Doubles the word at an address and returns it.
//! struct Twice(LocalAddress);
//!
//! impl Kernel for Twice {
//!     type Output = u32;
//!     fn shape(&self) -> Shape {
//!         Shape::new("twice", 0)
//!     }
//!     #[inline(always)]
//!     fn run<S: Spu>(&self, spu: &mut S) -> u32 {
//!         let word = spu.lqa(self.0);
//!         let sum = spu.a(word, word);
//!         spu.stqa(sum, self.0);
//!         spu.value(sum).preferred()
//!     }
//! }
//!
//! let mut store = LocalStore::new();
//! store.store(LocalAddress(0x100), Quadword::splat(21));
//! assert_eq!(execute(&Twice(LocalAddress(0x100)), &mut store), 42);
//! ```
//!
//! # How a kernel is timed
//!
//! The instructions between two branches form a basic block ([`TimedSpu`] records them). A block
//! goes to the model of the compiler ([`Compiler`]), which may reorder it, and then through the
//! model of the issue stage ([`Pipeline`]). Values that are not ready at the end of a block delay
//! their readers in the next.
//!
//! The time depends on the instructions, on which results they read, on which accesses go to the
//! same quadword of local store, and on which branches are taken; never on the values computed.
//! For a kernel that branches on its loop counter alone and keeps its buffers apart, that is its
//! *shape*: such a time may be kept and used again for other data and other addresses. A kernel
//! that branches on data says so ([`Branches`]); its time may be kept for its shape and its *path*,
//! the outcomes of its branches, which the fast execution finds out too ([`execute_on_path`]).

pub mod assembly;
mod block;
mod channel;
mod compiled;
mod forward;
pub mod instruction;
pub mod local_store;
mod observation;
pub mod pipeline;
mod plain;
mod profile;
mod recorder;
pub mod register;
mod replay;
mod schedule;
mod semantics;
mod timed;

pub use channel::{Channel, ChannelRead, Channels};
pub use compiled::{Compiled, execute, execute_watched};
pub use forward::{ObservedSpu, Unfused, execute_on_path};
pub use instruction::{Class, Pipe};
pub use local_store::{LOCAL_STORE_BYTES, LocalAddress, LocalStore, LocalStoreFull};
pub use observation::{Accesses, Branches, Journal, LastRuns, Path, Shape, Watch, quadwords};
pub use pipeline::{ClassTiming, Issue, Pipeline, PortUse, Ready, Single, Stall, Stalls, Timing};
pub use plain::PlainSpu;
pub use profile::{BlockProfile, BranchCounts, Executed, Profile};
pub use register::Quadword;
pub use schedule::{Compiler, Hints, Order, Pairing};
pub use timed::{Stopwatch, TimedSpu, time};

use instruction::for_each_instruction;
use local_store::Block;
use mmgp_base::error::Result;

/// A program for the SPU.
pub trait Kernel {
    /// What the host learns from a run, beside what the kernel leaves in local store.
    type Output;

    /// What the branches of the versions depend on that run often. Where it is data, the kernel is compiled
    /// once more, to find out its [`Path`] as fast as it is executed.
    const BRANCHES: Branches = Branches::OnShape;

    /// All that its time depends on, beside the path where it branches on data.
    fn shape(&self) -> Shape;

    /// Name in reports.
    fn name(&self) -> &'static str {
        self.shape().name
    }

    /// The blocks of local store that it works on, as far as their places are not its own business.
    fn blocks(&self) -> Vec<Block> {
        Vec::new()
    }

    /// Checks that its blocks lie in local store as it needs them.
    ///
    /// # Errors
    /// [`MisplacedBlock`](local_store::MisplacedBlock), see [`check_blocks`](local_store::check_blocks).
    fn validate(&self) -> Result<()> {
        local_store::check_blocks(self.name(), &self.blocks())
    }

    /// Runs it. Implementations are marked `#[inline(always)]`: only then can the version that is
    /// compiled for the host's fused multiply-add use it.
    fn run<S: Spu>(&self, spu: &mut S) -> Self::Output;

    /// The same in the host's own vectors, where that is written down: every bit is the same. `None`
    /// where it is not, or where bits might differ; [`Kernel::run`] then writes all outputs again.
    #[inline(always)]
    fn run_on_host(&self, _store: &mut LocalStore) -> Option<Self::Output> {
        None
    }

    /// The kernel as code of the host. That code belongs to the crate in which this method is
    /// compiled. A library of kernels writes the method down for each of them, `#[inline(never)]`
    /// and with the same body: otherwise every crate that runs a kernel compiles it anew.
    fn compiled(&self) -> &dyn Compiled<Output = Self::Output>
    where
        Self: Sized,
    {
        self
    }
}

/// The name of a branch, as an assembler's label in front of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BranchName(pub u32);

macro_rules! declare {
    ($($(#[$doc:meta])+ $mnemonic:ident($($register:ident),* $(; $immediate:ident: $type:ty)?)
        $class:ident $destination:ident $([$processor:ident])? = $result:expr;)*) => {$(
        $(#[$doc])+
        fn $mnemonic(
            &mut self,
            $($register: Self::Register,)*
            $($immediate: $type)?
        ) -> Self::Register;
    )*};
}

/// The instructions of the SPU, by their mnemonics.
///
/// Operands stand in the assembler's order, without the destination, which is returned. Every
/// result is a new value, as if there were registers without end; [`BlockProfile::max_live`] says
/// how many of the 128 a kernel needs. Instructions that overwrite their last operand take it by
/// value like the others; whoever needs it afterwards copies it first with `ori(ra, 0)`.
///
/// A branch returns whether it is taken, and the kernel follows with an `if` or `loop` of its own:
///
/// ```text
/// loop {
///     spu.label();                      // a branch comes here
///     spu.hbrr();                       // the next branch will be taken
///     ...
///     count = spu.ai(count, -1);
///     if !spu.brnz(count) { break }
/// }
/// ```
///
/// A kernel has no addresses of its own code. So branches take no targets, an indirect branch
/// takes its register only because it waits for it, and a branch that sets a link takes the
/// address to put there.
///
/// `dfceq`, `dfcmeq`, `dfcgt`, `dfcmgt` and `dftsv` are instructions of the PowerXCell 8i alone
/// ([`instruction::Processor`]): a kernel that uses one says so in its documentation and is run
/// only on machines with that processor. Both implementations here execute it.
pub trait Spu {
    /// A handle to the value of a register.
    type Register: Copy;

    for_each_instruction!(declare);

    /// `ra rb + rc` of doubles where a source has a product and a sum: [`Spu::dfma`], unless the
    /// compiler fuses nothing ([`Unfused`]). As if it always overwrote `rc`.
    #[inline(always)]
    fn multiply_add(
        &mut self,
        ra: Self::Register,
        rb: Self::Register,
        rc: Self::Register,
    ) -> Self::Register {
        self.dfma(ra, rb, rc)
    }

    /// `rc - ra rb`, likewise: [`Spu::dfnms`] or two instructions.
    #[inline(always)]
    fn subtract_product(
        &mut self,
        ra: Self::Register,
        rb: Self::Register,
        rc: Self::Register,
    ) -> Self::Register {
        self.dfnms(ra, rb, rc)
    }

    /// Load quadword relative to the instruction: a constant that the compiler put beside the
    /// code. It is given by value, so that the host's compiler sees it too.
    fn lqr(&mut self, constant: Quadword) -> Self::Register;

    /// Load quadword (d-form) from the address in the preferred slot of `ra` plus `displacement`,
    /// a multiple of 16 from -8192 to 8176 \[bytes\].
    fn lqd(&mut self, displacement: i32, ra: Self::Register) -> Self::Register;

    /// Load quadword (x-form) from the sum of the preferred slots.
    fn lqx(&mut self, ra: Self::Register, rb: Self::Register) -> Self::Register;

    /// Load quadword (a-form) from a fixed address.
    fn lqa(&mut self, address: LocalAddress) -> Self::Register;

    /// Store quadword (d-form); the address as for [`Spu::lqd`].
    fn stqd(&mut self, rt: Self::Register, displacement: i32, ra: Self::Register);

    /// Store quadword (x-form); the address as for [`Spu::lqx`].
    fn stqx(&mut self, rt: Self::Register, ra: Self::Register, rb: Self::Register);

    /// Store quadword (a-form) at a fixed address.
    fn stqa(&mut self, rt: Self::Register, address: LocalAddress);

    /// Store quadword relative to the instruction: as [`Spu::stqa`], at an address beside the
    /// code.
    fn stqr(&mut self, rt: Self::Register, address: LocalAddress);

    /// Halt if equal: whether the SPU halts, by the preferred slots; the kernel then returns.
    fn heq(&mut self, ra: Self::Register, rb: Self::Register) -> bool;

    /// Halt if equal immediate.
    fn heqi(&mut self, ra: Self::Register, i10: i16) -> bool;

    /// Halt if greater than: whether the SPU halts, because `ra > rb`, signed.
    fn hgt(&mut self, ra: Self::Register, rb: Self::Register) -> bool;

    /// Halt if greater than immediate, signed.
    fn hgti(&mut self, ra: Self::Register, i10: i16) -> bool;

    /// Halt if logically greater than, unsigned.
    fn hlgt(&mut self, ra: Self::Register, rb: Self::Register) -> bool;

    /// Halt if logically greater than immediate, which is sign-extended and then unsigned.
    fn hlgti(&mut self, ra: Self::Register, i10: i16) -> bool;

    /// A label: the next instruction is the target of a branch, and so begins a basic block, in
    /// the even word of a doubleword. It is no instruction and takes no time; a loop that begins
    /// with one is timed faster by the host, and its first turn like the others.
    fn label(&mut self) {}

    /// Hint for branch (r-form): the next branch that runs will be taken.
    ///
    /// The SPU has one hint buffer: a hint takes the place of the one before it, and is spent when
    /// its branch runs. (Whether the hardware keeps it for the next turn of a loop was not found.)
    /// What becomes of a hint is up to the [`Compiler`]: a kernel asks for it once, and
    /// [`Hints`] leaves it out, places it or keeps it where it is.
    fn hbrr(&mut self);

    /// Hint for branch (a-form).
    fn hbra(&mut self);

    /// Hint for branch, to the address in `ra`.
    fn hbr(&mut self, ra: Self::Register);

    /// Inline prefetch of instructions: lets the fetch of code have the local store for once.
    fn hbrp(&mut self);

    /// Hint for branch (r-form): the next branch named `branch` will be taken, whatever branches
    /// run before it.
    fn hbrr_for(&mut self, _branch: BranchName) {}

    /// Names the branch that runs next, for [`Spu::hbrr_for`]; no instruction.
    fn name_branch(&mut self, _name: BranchName) {}

    /// Branch: always taken.
    fn br(&mut self);

    /// Branch absolute: always taken.
    fn bra(&mut self);

    /// Branch and set link: returns the link, in the preferred slot.
    fn brsl(&mut self, link: LocalAddress) -> Self::Register;

    /// Branch absolute and set link: returns the link.
    fn brasl(&mut self, link: LocalAddress) -> Self::Register;

    /// Branch indirect: to the address in `ra`.
    fn bi(&mut self, ra: Self::Register);

    /// Branch indirect and set link: returns the link.
    fn bisl(&mut self, ra: Self::Register, link: LocalAddress) -> Self::Register;

    /// Branch indirect and set link if external data: the link, which is always set, and whether
    /// the branch is taken, because an event waits to be read ([`Channel::EVENT_STATUS`]).
    fn bisled(&mut self, ra: Self::Register, link: LocalAddress) -> (Self::Register, bool);

    /// Interrupt return: branches to the address that the interrupt left.
    fn iret(&mut self);

    /// Branch if zero word: whether it is taken, by the preferred slot.
    fn brz(&mut self, rt: Self::Register) -> bool;

    /// Branch if not zero word: whether it is taken, by the preferred slot.
    fn brnz(&mut self, rt: Self::Register) -> bool;

    /// Branch if zero halfword: by the lower halfword of the preferred slot.
    fn brhz(&mut self, rt: Self::Register) -> bool;

    /// Branch if not zero halfword: by the lower halfword of the preferred slot.
    fn brhnz(&mut self, rt: Self::Register) -> bool;

    /// Branch indirect if zero: to the address in `ra`, if the word is zero as in [`Spu::brz`].
    fn biz(&mut self, rt: Self::Register, ra: Self::Register) -> bool;

    /// Branch indirect if not zero.
    fn binz(&mut self, rt: Self::Register, ra: Self::Register) -> bool;

    /// Branch indirect if zero halfword.
    fn bihz(&mut self, rt: Self::Register, ra: Self::Register) -> bool;

    /// Branch indirect if not zero halfword.
    fn bihnz(&mut self, rt: Self::Register, ra: Self::Register) -> bool;

    /// Read channel: into the preferred slot. It blocks until the channel has something.
    ///
    /// # Panics
    /// As [`Spu::rchcnt`].
    fn rdch(&mut self, channel: Channel) -> Self::Register;

    /// Read channel count: into the preferred slot. It never blocks.
    ///
    /// # Panics
    /// Where the kernel was started without [`Channels`].
    fn rchcnt(&mut self, channel: Channel) -> Self::Register;

    /// Write channel: the word in the preferred slot. It blocks until the channel has room.
    ///
    /// # Panics
    /// As [`Spu::rchcnt`].
    fn wrch(&mut self, channel: Channel, ra: Self::Register);

    /// Move from special-purpose register. A program finds none on a Cell, so it reads 0.
    fn mfspr(&mut self) -> Self::Register;

    /// Move to special-purpose register: as there is none, `ra` is lost.
    fn mtspr(&mut self, ra: Self::Register);

    /// Floating-point status and control register read: what was written to it, at first 0.
    /// Left out: the exception flags.
    fn fscrrd(&mut self) -> Self::Register;

    /// Floating-point status and control register write. Left out: rounding modes other than the
    /// first, to nearest even.
    fn fscrwr(&mut self, ra: Self::Register);

    /// Stop and signal: the SPU stops, and the kernel returns. The PPE finds `signal`, 14 bits, in
    /// the status; whoever runs the kernel learns it from the kernel's output.
    fn stop(&mut self, signal: u16);

    /// Stop and signal with dependencies: waits for three registers first.
    fn stopd(&mut self, rt: Self::Register, ra: Self::Register, rb: Self::Register);

    /// Synchronize: waits until stores are done, before instructions are fetched from where they
    /// went.
    fn sync(&mut self);

    /// Synchronize channels as well.
    fn syncc(&mut self);

    /// Synchronize data: waits until loads, stores and channels before it are done.
    fn dsync(&mut self);

    /// No operation in the even pipe.
    fn nop(&mut self);

    /// No operation in the odd pipe.
    fn lnop(&mut self);

    /// What a register holds. The host looks; the SPU does nothing.
    fn value(&self, register: Self::Register) -> Quadword;
}
