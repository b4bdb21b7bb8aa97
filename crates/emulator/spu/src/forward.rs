//! Tables of the methods of an SPU, and the SPUs that hand each instruction to another: the one that notes what a kernel does, whatever of it (the
//! path that it takes, what it overwrites, what it touches), and the one whose compiler fuses nothing.

use crate::channel::Channel;
use crate::instruction::for_each_instruction;
use crate::local_store::{LocalAddress, LocalStore, QuadwordMemory};
use crate::observation::{Journal, Path, PathRecorder, Watch};
use crate::register::Quadword;
use crate::{BranchName, Kernel, PlainSpu, Spu};

/// Runs `kernel` as [`execute`](super::execute) does, more slowly but where [`Kernel::BRANCHES`] depend on data,
/// and says which path it took; `journal` can undo what it stored. Notes what it touches, if asked to.
pub fn execute_on_path<K: Kernel>(
    kernel: &K,
    store: &mut LocalStore,
    journal: &mut Journal,
    watch: Option<Watch<'_>>,
) -> (K::Output, Path) {
    journal.begin();
    if watch.is_none() {
        return kernel.compiled().follow(store, journal);
    }
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
    pub(super) const fn path(&self) -> Path {
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

/// Methods of an SPU with that attribute, each with what it does: `mnemonic(operands) -> result = what`.
macro_rules! methods {
    ($attribute:meta $spu:ident:
        $($mnemonic:ident($($operand:ident: $type:ty),*) $(-> $result:ty)? = $what:expr;)*) => {$(
        #[$attribute]
        fn $mnemonic(&mut self, $($operand: $type),*) $(-> $result)? {
            let $spu = self;
            let _ = &$spu;
            $what
        }
    )*};
}
pub(super) use methods;

/// Methods of an SPU that call those of another, `self.0`, with that attribute.
macro_rules! forward {
    ($attribute:meta $($(#[$doc:meta])+
        $mnemonic:ident($($register:ident),* $(; $immediate:ident: $type:ty)?)
        $class:ident $destination:ident $([$processor:ident])? = $result:expr;)*) => {$(
        #[$attribute]
        fn $mnemonic(
            &mut self,
            $($register: Self::Register,)*
            $($immediate: $type)?
        ) -> Self::Register {
            self.0.$mnemonic($($register,)* $($immediate)?)
        }
    )*};
    ($attribute:meta $($mnemonic:ident($($operand:ident: $type:ty),*) $(-> $result:ty)?;)*) => {$(
        #[$attribute]
        fn $mnemonic(&mut self, $($operand: $type),*) $(-> $result)? {
            self.0.$mnemonic($($operand),*)
        }
    )*};
}

macro_rules! forward_as_calls {
    ($($table:tt)*) => {
        forward! { inline(never) $($table)* }
    };
}

macro_rules! forward_inline {
    ($($table:tt)*) => {
        forward! { inline(always) $($table)* }
    };
}

/// Calls a macro with every method that is no instruction from registers to a register, but those that look at the host's side.
macro_rules! for_each_other_method {
    ($macro:ident) => {
        $macro! {
            lqr(constant: Quadword) -> Self::Register;
            lqd(displacement: i32, ra: Self::Register) -> Self::Register;
            lqx(ra: Self::Register, rb: Self::Register) -> Self::Register;
            lqa(address: LocalAddress) -> Self::Register;
            stqd(rt: Self::Register, displacement: i32, ra: Self::Register);
            stqx(rt: Self::Register, ra: Self::Register, rb: Self::Register);
            stqa(rt: Self::Register, address: LocalAddress);
            stqr(rt: Self::Register, address: LocalAddress);
            heq(ra: Self::Register, rb: Self::Register) -> bool;
            heqi(ra: Self::Register, i10: i16) -> bool;
            hgt(ra: Self::Register, rb: Self::Register) -> bool;
            hgti(ra: Self::Register, i10: i16) -> bool;
            hlgt(ra: Self::Register, rb: Self::Register) -> bool;
            hlgti(ra: Self::Register, i10: i16) -> bool;
            label();
            hbrr();
            hbra();
            hbr(ra: Self::Register);
            hbrp();
            hbrr_for(branch: BranchName);
            name_branch(name: BranchName);
            br();
            bra();
            brsl(link: LocalAddress) -> Self::Register;
            brasl(link: LocalAddress) -> Self::Register;
            bi(ra: Self::Register);
            bisl(ra: Self::Register, link: LocalAddress) -> Self::Register;
            bisled(ra: Self::Register, link: LocalAddress) -> (Self::Register, bool);
            iret();
            brz(rt: Self::Register) -> bool;
            brnz(rt: Self::Register) -> bool;
            brhz(rt: Self::Register) -> bool;
            brhnz(rt: Self::Register) -> bool;
            biz(rt: Self::Register, ra: Self::Register) -> bool;
            binz(rt: Self::Register, ra: Self::Register) -> bool;
            bihz(rt: Self::Register, ra: Self::Register) -> bool;
            bihnz(rt: Self::Register, ra: Self::Register) -> bool;
            rdch(channel: Channel) -> Self::Register;
            rchcnt(channel: Channel) -> Self::Register;
            wrch(channel: Channel, ra: Self::Register);
            mfspr() -> Self::Register;
            mtspr(ra: Self::Register);
            fscrrd() -> Self::Register;
            fscrwr(ra: Self::Register);
            stop(signal: u16);
            stopd(rt: Self::Register, ra: Self::Register, rb: Self::Register);
            sync();
            syncc();
            dsync();
            nop();
            lnop();
        }
    };
}

impl Spu for ObservedSpu<'_> {
    type Register = Quadword;

    for_each_instruction!(forward_as_calls);
    for_each_other_method!(forward_as_calls);

    #[inline(never)]
    fn value(&self, register: Quadword) -> Quadword {
        self.0.value(register)
    }
}

/// Another SPU, for a kernel whose source multiplies and adds apart: what is written as
/// [`Spu::multiply_add`] or [`Spu::subtract_product`] becomes two instructions, each of which rounds.
/// A `dfma` that the kernel writes itself stays one.
#[derive(Debug)]
pub struct Unfused<'s, S>(&'s mut S);

impl<'s, S> Unfused<'s, S> {
    /// Around another SPU.
    #[inline(always)]
    pub const fn new(spu: &'s mut S) -> Self {
        Self(spu)
    }
}

impl<S: Spu> Spu for Unfused<'_, S> {
    type Register = S::Register;

    for_each_instruction!(forward_inline);
    for_each_other_method!(forward_inline);

    #[inline(always)]
    fn multiply_add(
        &mut self,
        ra: Self::Register,
        rb: Self::Register,
        rc: Self::Register,
    ) -> Self::Register {
        let product = self.0.dfm(ra, rb);
        self.0.dfa(product, rc)
    }

    #[inline(always)]
    fn subtract_product(
        &mut self,
        ra: Self::Register,
        rb: Self::Register,
        rc: Self::Register,
    ) -> Self::Register {
        let product = self.0.dfm(ra, rb);
        self.0.dfs(rc, product)
    }

    #[inline(always)]
    fn value(&self, register: Self::Register) -> Quadword {
        self.0.value(register)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::tests::CELL_BE;
    use crate::{Kernel, LocalStore, Profile, Shape, execute, time};

    /// 1/3 * 3 - 1 and 1 - 1/3 * 3, which are 0 where the product is rounded first.
    struct Thirds {
        fused: bool,
    }

    fn thirds<S: Spu>(spu: &mut S) -> [f64; 2] {
        let mut both = |x| spu.lqr(Quadword::from_doubles([x; 2]));
        let (third, three, one, minus_one) = (both(1.0 / 3.0), both(3.0), both(1.0), both(-1.0));
        let below = spu.multiply_add(third, three, minus_one);
        let above = spu.subtract_product(third, three, one);
        [below, above].map(|it| spu.value(it).doubles()[0])
    }

    impl Kernel for Thirds {
        type Output = [f64; 2];
        fn shape(&self) -> Shape {
            Shape::new("thirds", 0)
        }
        #[inline(always)]
        fn run<S: Spu>(&self, spu: &mut S) -> [f64; 2] {
            if self.fused { thirds(spu) } else { thirds(&mut Unfused::new(spu)) }
        }
    }

    #[test]
    fn a_product_and_a_sum_are_two_instructions_and_two_roundings() {
        let check = |fused, expected: [f64; 2], double_precision| {
            let kernel = Thirds { fused };
            assert_eq!(execute(&kernel, &mut LocalStore::new()), expected);
            let compiler = kernel.shape().compiler;
            let (found, profile): (_, Profile) =
                time(&kernel, &mut LocalStore::new(), &CELL_BE, compiler);
            assert_eq!((found, profile.double_precision()), (expected, double_precision));
        };
        check(false, [0.0, 0.0], 4);
        // 1/3 is 2^-54/3 * ... too small by a sixth of 2^-52: three of them are 2^-54 short of 1.
        check(true, [-(2.0f64.powi(-54)), 2.0f64.powi(-54)], 2);
    }
}
