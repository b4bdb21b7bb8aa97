//! The SPU that executes and is timed.

use super::block::{FREE, Kind, NOTHING, References, Tag};
use super::channel::{Channel, Channels, connected};
use super::forward::methods;
use super::instruction::{Class, Destination, for_each_instruction};
use super::local_store::{LOCAL_STORE_BYTES, LocalAddress, LocalStore, quadword_index};
use super::pipeline::Timing;
use super::profile::Profile;
use super::recorder::Recorder;
use super::register::Quadword;
use super::replay::Ending;
use super::semantics::{self, preferred_slot};
use super::{BranchName, Kernel, Spu};
use crate::schedule::Compiler;
use mmgp_base::units::Cycles;

/// The last instructions that touched each quadword of local store.
type Accesses = [LastAccess; (LOCAL_STORE_BYTES / 16) as usize];

#[derive(Debug, Clone, Copy)]
struct LastAccess {
    /// The last that stored it.
    store: Tag,
    /// The last that loaded or stored it.
    any: Tag,
}

const NEVER: LastAccess = LastAccess { store: Tag::NONE, any: Tag::NONE };

/// Times kernels one after the other on the same machine, and keeps what it has worked out about
/// their basic blocks, which is most of the work where kernels are short.
#[derive(Debug)]
pub struct Stopwatch {
    recorder: Box<Recorder>,
    accesses: Box<Accesses>,
}

impl Stopwatch {
    /// A stopwatch for the machine of that timing and for code ordered by that compiler.
    pub fn new(timing: Timing, compiler: Compiler) -> Self {
        let untouched = vec![NEVER; (LOCAL_STORE_BYTES / 16) as usize].into_boxed_slice();
        Self {
            recorder: Box::new(Recorder::new(timing, compiler)),
            accesses: untouched.try_into().expect("invariant: the slice has that length"),
        }
    }

    /// Times a kernel as [`time`](super::time) does.
    ///
    /// # Panics
    /// As [`time`](super::time).
    pub fn time<K: Kernel>(&mut self, kernel: &K, store: &mut LocalStore) -> (K::Output, Profile) {
        let output = kernel.compiled().time(&mut self.start(store));
        (output, self.stop())
    }

    /// An SPU at cycle 0, or where [`Stopwatch::stop`] has not been called, at that where the last
    /// one ended.
    pub fn start<'s>(&'s mut self, store: &'s mut LocalStore) -> TimedSpu<'s> {
        TimedSpu {
            store,
            recorder: &mut self.recorder,
            accesses: &mut self.accesses,
            channels: None,
            floating_point_status: Quadword::ZERO,
        }
    }

    /// What ran since the last stop, and how long it took.
    pub fn stop(&mut self) -> Profile {
        let profile = self.recorder.finish();
        if self.recorder.rewind() {
            self.accesses.fill(NEVER);
        }
        profile
    }
}

/// Executes instructions as [`PlainSpu`](super::PlainSpu) does and hands each of them to the
/// models of compiler and pipeline. Each instruction is a call of a function of the host, as on
/// [`ObservedSpu`](super::ObservedSpu).
#[derive(Debug)]
pub struct TimedSpu<'s> {
    store: &'s mut LocalStore,
    recorder: &'s mut Recorder,
    accesses: &'s mut Accesses,
    channels: Option<&'s mut dyn Channels>,
    floating_point_status: Quadword,
}

/// The value of a register and which instruction computed it.
#[derive(Debug, Clone, Copy)]
pub struct Tagged {
    value: Quadword,
    tag: Tag,
}

impl<'s> TimedSpu<'s> {
    /// The same SPU with those channels.
    #[must_use]
    pub fn with_channels(mut self, channels: &'s mut dyn Channels) -> Self {
        self.channels = Some(channels);
        self
    }

    /// Records an instruction that reads `operands` and, if there is one, must come after `follows`.
    #[inline(always)]
    fn record<const N: usize>(
        &mut self,
        kind: Kind,
        operands: [Tag; N],
        follows: Option<Tag>,
    ) -> Tag {
        let start = self.recorder.make_room();
        // `Tag::NONE` is before every block, too.
        let follows = follows.map_or(FREE, |earlier| earlier.after(start));
        let mut references: References = [NOTHING, NOTHING, NOTHING, follows];
        for (reference, operand) in references.iter_mut().zip(operands) {
            *reference = operand.after(start);
        }
        self.recorder.note(kind, references)
    }

    #[inline(always)]
    fn computed<const N: usize>(
        &mut self,
        kind: Kind,
        operands: [Tagged; N],
        value: Quadword,
    ) -> Tagged {
        let tag = self.record(kind, operands.map(|operand| operand.tag), None);
        Tagged { value, tag }
    }

    /// A load must follow the last store to its quadword, for which loads do not count.
    #[inline(always)]
    fn load<const N: usize>(&mut self, operands: [Tagged; N], address: LocalAddress) -> Tagged {
        let kind = Kind::new(Class::LoadStore, Destination::New);
        let quadword = quadword_index(address);
        let tags = operands.map(|operand| operand.tag);
        let tag = self.record(kind, tags, Some(self.accesses[quadword].store));
        self.accesses[quadword].any = tag;
        Tagged { value: self.store.load(address), tag }
    }

    /// A store must follow the last access to its quadword, and the loads before that one.
    #[inline(always)]
    fn keep<const N: usize>(
        &mut self,
        operands: [Tagged; N],
        address: LocalAddress,
        value: Quadword,
    ) {
        let kind = Kind::new(Class::LoadStore, Destination::Nowhere);
        let quadword = quadword_index(address);
        let tags = operands.map(|operand| operand.tag);
        let tag = self.record(kind, tags, Some(self.accesses[quadword].any));
        self.accesses[quadword] = LastAccess { store: tag, any: tag };
        self.store.store(address, value);
    }

    #[inline(always)]
    fn hint<const N: usize>(&mut self, target: [Tagged; N], branch: Option<BranchName>) {
        let kind = Kind::new(Class::BranchHint, Destination::Nowhere);
        let tag = self.record(kind, target.map(|target| target.tag), None);
        self.recorder.hints.put(tag, branch);
    }

    /// An instruction that leaves nothing in a register.
    #[inline(always)]
    fn done<const N: usize>(&mut self, class: Class, operands: [Tagged; N]) {
        let tags = operands.map(|operand| operand.tag);
        self.record(Kind::new(class, Destination::Nowhere), tags, None);
    }

    /// A conditional halt: nothing waits for one that does not halt.
    #[inline(always)]
    fn halt<const N: usize>(&mut self, operands: [Tagged; N], halts: bool) -> bool {
        self.done(Class::SimpleFixed, operands);
        halts
    }

    #[inline(always)]
    fn branch<const N: usize>(&mut self, operands: [Tagged; N], taken: bool) -> bool {
        let hint = self.recorder.hints.take();
        let kind = Kind::branch(Destination::Nowhere, hint).conditional();
        self.end_with_branch(kind, hint, operands, taken);
        taken
    }

    /// A branch that is always taken.
    #[inline(always)]
    fn jump<const N: usize>(&mut self, operands: [Tagged; N]) {
        let hint = self.recorder.hints.take();
        self.end_with_branch(Kind::branch(Destination::Nowhere, hint), hint, operands, true);
    }

    /// A branch that leaves a link.
    #[inline(always)]
    fn call<const N: usize>(
        &mut self,
        operands: [Tagged; N],
        link: LocalAddress,
        taken: bool,
    ) -> Tagged {
        let hint = self.recorder.hints.take();
        let tag = self.end_with_branch(Kind::branch(Destination::New, hint), hint, operands, taken);
        Tagged { value: preferred_slot(link.0), tag }
    }

    #[inline(always)]
    fn end_with_branch<const N: usize>(
        &mut self,
        kind: Kind,
        hint: Tag,
        operands: [Tagged; N],
        taken: bool,
    ) -> Tag {
        let ending = if taken { Ending::Taken } else { Ending::NotTaken };
        let tag = self.record(kind, operands.map(|it| it.tag), Some(hint));
        self.recorder.end_block(ending);
        tag
    }

    /// An instruction across which the compiler moves nothing, so that it ends its block, and which
    /// a channel blocks so long.
    #[inline(always)]
    fn barrier<const N: usize>(&mut self, kind: Kind, operands: [Tagged; N], wait: Cycles) -> Tag {
        if wait > Cycles(0) {
            self.recorder.begin_block();
            self.recorder.block(wait);
        }
        let tag = self.record(kind, operands.map(|operand| operand.tag), None);
        self.recorder.begin_block();
        tag
    }
}

macro_rules! execute_and_record {
    ($($(#[$doc:meta])+ $mnemonic:ident($($register:ident),* $(; $immediate:ident: $type:ty)?)
        $class:ident $destination:ident $([$processor:ident])? = $result:expr;)*) => {$(
        #[inline(never)]
        fn $mnemonic(&mut self, $($register: Tagged,)* $($immediate: $type)?) -> Tagged {
            let value = semantics::$mnemonic($($register.value,)* $($immediate)?);
            let kind = const { Kind::new(Class::$class, Destination::$destination) };
            self.computed(kind, [$($register),*], value)
        }
    )*};
}

/// Stops and synchronisation: the pipeline treats them as branches, which end no block with a jump.
const CONTROL: Kind = Kind::new(Class::Branch, Destination::Nowhere);

/// Each instruction, executed and recorded with its class: a function of the host that kernels call,
/// so that a kernel compiles into little code.
impl Spu for TimedSpu<'_> {
    type Register = Tagged;

    for_each_instruction!(execute_and_record);

    methods! { inline(never) spu:
        lqr(constant: Quadword) -> Tagged =
            spu.computed(Kind::new(Class::LoadStore, Destination::New), [], constant);
        lqd(displacement: i32, ra: Tagged) -> Tagged =
            spu.load([ra], semantics::displaced(ra.value, displacement));
        lqx(ra: Tagged, rb: Tagged) -> Tagged =
            spu.load([ra, rb], semantics::indexed(ra.value, rb.value));
        lqa(address: LocalAddress) -> Tagged = spu.load([], address);
        stqd(rt: Tagged, displacement: i32, ra: Tagged) =
            spu.keep([rt, ra], semantics::displaced(ra.value, displacement), rt.value);
        stqx(rt: Tagged, ra: Tagged, rb: Tagged) =
            spu.keep([rt, ra, rb], semantics::indexed(ra.value, rb.value), rt.value);
        stqa(rt: Tagged, address: LocalAddress) = spu.keep([rt], address, rt.value);
        stqr(rt: Tagged, address: LocalAddress) = spu.keep([rt], address, rt.value);

        heq(ra: Tagged, rb: Tagged) -> bool =
            spu.halt([ra, rb], semantics::heq(ra.value, rb.value));
        heqi(ra: Tagged, i10: i16) -> bool = spu.halt([ra], semantics::heqi(ra.value, i10));
        hgt(ra: Tagged, rb: Tagged) -> bool =
            spu.halt([ra, rb], semantics::hgt(ra.value, rb.value));
        hgti(ra: Tagged, i10: i16) -> bool = spu.halt([ra], semantics::hgti(ra.value, i10));
        hlgt(ra: Tagged, rb: Tagged) -> bool =
            spu.halt([ra, rb], semantics::hlgt(ra.value, rb.value));
        hlgti(ra: Tagged, i10: i16) -> bool = spu.halt([ra], semantics::hlgti(ra.value, i10));

        brz(rt: Tagged) -> bool = spu.branch([rt], semantics::brz(rt.value));
        brnz(rt: Tagged) -> bool = spu.branch([rt], semantics::brnz(rt.value));
        brhz(rt: Tagged) -> bool = spu.branch([rt], semantics::brhz(rt.value));
        brhnz(rt: Tagged) -> bool = spu.branch([rt], semantics::brhnz(rt.value));
        biz(rt: Tagged, ra: Tagged) -> bool = spu.branch([rt, ra], semantics::brz(rt.value));
        binz(rt: Tagged, ra: Tagged) -> bool = spu.branch([rt, ra], semantics::brnz(rt.value));
        bihz(rt: Tagged, ra: Tagged) -> bool = spu.branch([rt, ra], semantics::brhz(rt.value));
        bihnz(rt: Tagged, ra: Tagged) -> bool = spu.branch([rt, ra], semantics::brhnz(rt.value));

        hbrr() = spu.hint([], None);
        hbra() = spu.hint([], None);
        hbr(ra: Tagged) = spu.hint([ra], None);
        hbrp() = { spu.record(Kind::PREFETCH, [], None); };
        hbrr_for(branch: BranchName) = spu.hint([], Some(branch));
        name_branch(name: BranchName) = spu.recorder.hints.name_branch(name);
        label() = spu.recorder.begin_block();
        br() = spu.jump([]);
        bra() = spu.jump([]);
        brsl(link: LocalAddress) -> Tagged = spu.call([], link, true);
        brasl(link: LocalAddress) -> Tagged = spu.call([], link, true);
        bi(ra: Tagged) = spu.jump([ra]);
        bisl(ra: Tagged, link: LocalAddress) -> Tagged = spu.call([ra], link, true);
        bisled(ra: Tagged, link: LocalAddress) -> (Tagged, bool) = {
            let taken = connected(&mut spu.channels).count(Channel::EVENT_STATUS) > 0;
            (spu.call([ra], link, taken), taken)
        };
        iret() = spu.jump([]);

        rdch(channel: Channel) -> Tagged = {
            let read = connected(&mut spu.channels).read(channel);
            let tag = spu.barrier(Kind::new(Class::Channel, Destination::New), [], read.wait);
            Tagged { value: preferred_slot(read.word), tag }
        };
        rchcnt(channel: Channel) -> Tagged = {
            let count = connected(&mut spu.channels).count(channel);
            let tag = spu.barrier(Kind::new(Class::Channel, Destination::New), [], Cycles(0));
            Tagged { value: preferred_slot(count), tag }
        };
        wrch(channel: Channel, ra: Tagged) = {
            let wait = connected(&mut spu.channels).write(channel, ra.value.preferred());
            spu.barrier(Kind::new(Class::Channel, Destination::Nowhere), [ra], wait);
        };
        mfspr() -> Tagged = {
            let tag = spu.barrier(Kind::new(Class::Channel, Destination::New), [], Cycles(0));
            Tagged { value: Quadword::ZERO, tag }
        };
        mtspr(ra: Tagged) = {
            spu.barrier(Kind::new(Class::Channel, Destination::Nowhere), [ra], Cycles(0));
        };
        fscrrd() -> Tagged = {
            let kind = Kind::new(Class::DoublePrecision, Destination::New);
            let tag = spu.barrier(kind, [], Cycles(0));
            Tagged { value: spu.floating_point_status, tag }
        };
        fscrwr(ra: Tagged) = {
            let kind = Kind::new(Class::IntegerMultiply, Destination::Nowhere);
            spu.barrier(kind, [ra], Cycles(0));
            spu.floating_point_status = ra.value;
        };

        stop(signal: u16) = {
            debug_assert!(signal < 1 << 14, "a stop signal has 14 bits");
            spu.barrier(CONTROL, [], Cycles(0));
        };
        stopd(rt: Tagged, ra: Tagged, rb: Tagged) = {
            spu.barrier(CONTROL, [rt, ra, rb], Cycles(0));
        };
        sync() = { spu.barrier(CONTROL, [], Cycles(0)); };
        syncc() = { spu.barrier(CONTROL, [], Cycles(0)); };
        dsync() = { spu.barrier(CONTROL, [], Cycles(0)); };
        nop() = spu.done(Class::EvenNop, []);
        lnop() = spu.done(Class::OddNop, []);
    }

    #[inline(never)]
    fn value(&self, register: Tagged) -> Quadword {
        register.value
    }
}

/// Runs `kernel` on `store` and times it: `timing` comes from the description of the machine,
/// `compiler` says who ordered the instructions. Result and local store are those of [`execute`](super::execute).
/// Whoever times often keeps a [`Stopwatch`].
///
/// # Panics
/// Where the kernel reads a register after an instruction such as [`Spu::dfma`](super::Spu::dfma) overwrote it,
/// which is a bug in the kernel.
pub fn time<K: Kernel>(
    kernel: &K,
    store: &mut LocalStore,
    timing: &Timing,
    compiler: Compiler,
) -> (K::Output, Profile) {
    Stopwatch::new(timing.clone(), compiler).time(kernel, store)
}

#[cfg(test)]
mod tests {
    use super::super::instruction::{Immediate, for_each_instruction};
    use super::super::pipeline::tests::CELL_BE;
    use super::super::{PlainSpu, Spu};
    use super::*;
    use rand::RngExt as _;
    use rand::SeedableRng as _;
    use rand_xoshiro::Xoshiro256PlusPlus;

    /// A random quadword that is often special: each word of its own kind.
    fn operand(random: &mut Xoshiro256PlusPlus) -> Quadword {
        const SPECIAL: [u32; 12] = [
            0,
            u32::MAX,
            0x8000_0000,
            0x7FFF_FFFF,
            1,
            0x007F_FFFF,
            0x0080_0000,
            0x3F80_0000,
            0x7F80_0000,
            0xFFF0_0000,
            0x8000_8000,
            0x000F_FFFF,
        ];
        Quadword::from_words([0; 4].map(|_: u32| match random.random_range(0..4) {
            0 => SPECIAL[random.random_range(0..SPECIAL.len())],
            _ => random.random(),
        }))
    }

    macro_rules! compare_with_plain {
        ($($(#[$doc:meta])+ $mnemonic:ident($($register:ident),* $(; $immediate:ident: $type:ty)?)
            $class:ident $destination:ident $([$processor:ident])? = $result:expr;)*) => {$({
            let (mut one, mut other) = (LocalStore::new(), LocalStore::new());
            let mut plain = PlainSpu::new(&mut one);
            let mut stopwatch = Stopwatch::new(CELL_BE, Compiler::PROGRAM_ORDER);
            let mut timed = stopwatch.start(&mut other);
            let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
            for _ in 0..100_000 {
                $(let $register = timed.lqr(operand(&mut random));)*
                $(
                    let range = Immediate::named(stringify!($immediate)).range();
                    let $immediate = random.random_range(range) as $type;
                )?
                let expected = plain.$mnemonic($($register.value,)* $($immediate)?);
                let got = timed.$mnemonic($($register,)* $($immediate)?);
                assert_eq!(got.value, expected, stringify!($mnemonic));
            }
        })*};
    }

    #[test]
    fn every_instruction_computes_the_same_bits_timed_and_plain() {
        for_each_instruction!(compare_with_plain);
    }

    #[test]
    fn loads_and_stores_reach_the_same_quadwords_timed_and_plain() {
        fn run<S: Spu>(spu: &mut S) -> [Quadword; 3] {
            let (base, index) = (spu.ila(0x100), spu.ila(0x48));
            let value = spu.lqr(Quadword::from_words([1, 2, 3, 4]));
            spu.stqd(value, -32, base);
            spu.stqx(base, base, index);
            spu.stqa(index, LocalAddress(0x200));
            let loaded = [spu.lqa(LocalAddress(0xE0)), spu.lqd(64, base), spu.lqx(base, base)];
            loaded.map(|register| spu.value(register))
        }
        let (mut one, mut other) = (LocalStore::new(), LocalStore::new());
        let expected =
            [Quadword::from_words([1, 2, 3, 4]), Quadword::splat(0x100), Quadword::splat(0x48)];
        assert_eq!(run(&mut PlainSpu::new(&mut one)), expected);
        let mut stopwatch = Stopwatch::new(CELL_BE, Compiler::PROGRAM_ORDER);
        let mut timed = stopwatch.start(&mut other);
        assert_eq!(run(&mut timed), expected);
        assert_eq!(one, other);
    }

    /// Every instruction that decides something, on operands for which it does and does not.
    fn decide<S: Spu>(spu: &mut S) -> Vec<bool> {
        // The word is not zero, but its lower halfword is; as a signed word it is negative.
        let [high, zero, one] =
            [0x8001_0000, 0, 1].map(|word| spu.lqr(Quadword::from_words([word, 9, 9, 9])));
        let mut taken = Vec::new();
        for rt in [high, zero, one] {
            taken.extend([spu.brz(rt), spu.brnz(rt), spu.brhz(rt), spu.brhnz(rt)]);
            taken.extend([spu.biz(rt, one), spu.binz(rt, one)]);
            taken.extend([spu.bihz(rt, one), spu.bihnz(rt, one)]);
            taken.extend([spu.heq(rt, one), spu.hgt(rt, zero), spu.hlgt(rt, zero)]);
            taken.extend([spu.heqi(rt, 1), spu.hgti(rt, -1), spu.hlgti(rt, -1)]);
        }
        taken
    }

    #[test]
    fn branches_and_halts_decide_the_same_timed_and_plain() {
        let (mut one, mut other) = (LocalStore::new(), LocalStore::new());
        let (yes, no) = (true, false);
        let expected = [
            [no, yes, yes, no, no, yes, yes, no, no, no, yes, no, no, no],
            [yes, no, yes, no, yes, no, yes, no, no, no, no, no, yes, no],
            [no, yes, no, yes, no, yes, no, yes, yes, yes, yes, yes, yes, no],
        ];
        assert_eq!(decide(&mut PlainSpu::new(&mut one)), expected.concat());
        let mut stopwatch = Stopwatch::new(CELL_BE, Compiler::PROGRAM_ORDER);
        assert_eq!(decide(&mut stopwatch.start(&mut other)), expected.concat());
    }

    /// Links and the registers that are not among the 128.
    fn keep_state<S: Spu>(spu: &mut S) -> Vec<Quadword> {
        let ra = spu.lqr(Quadword::from_words([1, 2, 3, 4]));
        let before = spu.fscrrd();
        spu.fscrwr(ra);
        spu.mtspr(ra);
        let link = LocalAddress(0x1234);
        let left = [
            before,
            spu.fscrrd(),
            spu.mfspr(),
            spu.brsl(link),
            spu.brasl(link),
            spu.bisl(ra, link),
        ];
        left.map(|register| spu.value(register)).to_vec()
    }

    #[test]
    fn links_and_status_are_the_same_timed_and_plain() {
        let (mut one, mut other) = (LocalStore::new(), LocalStore::new());
        let link = Quadword::from_words([0x1234, 0, 0, 0]);
        let status = Quadword::from_words([1, 2, 3, 4]);
        let expected = [Quadword::ZERO, status, Quadword::ZERO, link, link, link];
        assert_eq!(keep_state(&mut PlainSpu::new(&mut one)), expected);
        let mut stopwatch = Stopwatch::new(CELL_BE, Compiler::PROGRAM_ORDER);
        assert_eq!(keep_state(&mut stopwatch.start(&mut other)), expected);
    }

    fn check_cycles(program: impl FnOnce(&mut TimedSpu<'_>), expected: u64) {
        let mut store = LocalStore::new();
        let mut stopwatch = Stopwatch::new(CELL_BE, Compiler::PROGRAM_ORDER);
        program(&mut stopwatch.start(&mut store));
        assert_eq!(stopwatch.stop().cycles.0, expected);
    }

    #[test]
    fn control_instructions_take_the_cycles_of_their_class() {
        // Halts wait for what they compare: a load takes 6 cycles, then one cycle to issue.
        check_cycles(
            |spu| {
                _ = {
                    let ra = spu.lqr(Quadword::ZERO);
                    spu.heqi(ra, 1)
                }
            },
            7,
        );
        // An indirect branch waits for its target and is taken without a hint: 6 + 1 + 18.
        check_cycles(
            |spu| {
                let ra = spu.lqr(Quadword::ZERO);
                spu.bi(ra)
            },
            25,
        );
        // Control goes down the odd pipe, one instruction a cycle.
        check_cycles(
            |spu| {
                spu.sync();
                spu.dsync();
                spu.syncc();
                spu.stop(0)
            },
            4,
        );
        // The double-precision block follows a read of the status: 1 + 6.
        check_cycles(|spu| _ = spu.fscrrd(), 7);
    }

    #[test]
    fn a_block_longer_than_can_be_recorded_is_cut_and_takes_as_long() {
        let mut store = LocalStore::new();
        let mut stopwatch = Stopwatch::new(CELL_BE, Compiler::PROGRAM_ORDER);
        let mut spu = stopwatch.start(&mut store);
        for _ in 0..40_000 {
            spu.fsmbi(0);
        }
        let profile = stopwatch.stop();
        assert_eq!(profile.cycles.0, 40_000);
        assert_eq!(profile.instructions(), 40_000);
    }
}
