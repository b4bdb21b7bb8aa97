//! The SPU that executes and is timed.

use super::block::{Kind, LONGEST_BLOCK, NOTHING, References, Tag};
use super::compiler::Compiler;
use super::instruction::{Class, Destination, for_each_instruction};
use super::local_store::{LOCAL_STORE_BYTES, LocalAddress, LocalStore, quadword_index};
use super::pipeline::Timing;
use super::profile::Profile;
use super::recorder::Recorder;
use super::register::Quadword;
use super::replay::Ending;
use super::{BranchName, Kernel, Spu, dispatch, semantics};

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

    /// As [`time`](super::time).
    ///
    /// # Panics
    /// As [`time`](super::time).
    pub fn time<K: Kernel>(&mut self, kernel: &K, store: &mut LocalStore) -> (K::Output, Profile) {
        let output = dispatch::run(kernel, || self.start(store));
        (output, self.stop())
    }

    /// An SPU at cycle 0, or where [`Stopwatch::stop`] has not been called, at that where the last
    /// one ended.
    #[inline(always)]
    pub fn start<'s>(&'s mut self, store: &'s mut LocalStore) -> TimedSpu<'s> {
        let (start, position) = self.recorder.place();
        let (recorder, accesses) = (&mut self.recorder, &mut self.accesses);
        TimedSpu { store, recorder, accesses, start, position }
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
/// models of compiler and pipeline.
///
/// The place in the current block stands here and not in the recorder, so that the host's compiler
/// keeps it in a register, and where it knows it, as between a label and the next branch, writes
/// down what an instruction refers to as a constant.
#[derive(Debug)]
pub struct TimedSpu<'s> {
    store: &'s mut LocalStore,
    recorder: &'s mut Recorder,
    accesses: &'s mut Accesses,
    /// Tag of the first instruction of the current block.
    start: Tag,
    /// Instructions of the current block so far.
    position: usize,
}

impl Drop for TimedSpu<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.recorder.leave(self.position);
    }
}

/// The value of a register and which instruction computed it.
#[derive(Debug, Clone, Copy)]
pub struct Tagged {
    value: Quadword,
    tag: Tag,
}

impl TimedSpu<'_> {
    /// Records an instruction that reads `operands` and, if there is one, must come after `follows`.
    #[inline(always)]
    fn record<const N: usize>(
        &mut self,
        kind: Kind,
        operands: [Tag; N],
        follows: Option<Tag>,
    ) -> Tag {
        if self.position >= LONGEST_BLOCK {
            self.end_block(Ending::FallsThrough);
        }
        let start = self.start;
        let follows = follows.map_or(NOTHING, |earlier| earlier.after(start));
        let mut references: References = [NOTHING, NOTHING, NOTHING, follows];
        for (reference, operand) in references.iter_mut().zip(operands) {
            *reference = operand.after(start);
        }
        self.recorder.note(self.position, kind, references);
        let tag = Tag(start.0.wrapping_add(self.position as u32));
        self.position += 1;
        tag
    }

    #[inline(always)]
    fn end_block(&mut self, ending: Ending) {
        self.recorder.end_block(self.position, ending);
        self.start = Tag(self.start.0.wrapping_add(self.position as u32));
        self.position = 0;
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
    fn hint(&mut self, branch: Option<BranchName>) {
        let kind = Kind::new(Class::BranchHint, Destination::Nowhere);
        let tag = self.record(kind, [], None);
        self.recorder.hint(tag, branch);
    }

    #[inline(always)]
    fn branch<const N: usize>(&mut self, condition: [Tagged; N], taken: bool) -> bool {
        let ending = if taken { Ending::Taken } else { Ending::NotTaken };
        let hint = self.recorder.take_hint();
        self.record(Kind::branch(hint), condition.map(|condition| condition.tag), Some(hint));
        self.end_block(ending);
        taken
    }
}

macro_rules! execute_and_record {
    ($($(#[$doc:meta])+ $mnemonic:ident($($register:ident),* $(; $immediate:ident: $type:ty)?)
        $class:ident $destination:ident = $result:expr;)*) => {$(
        #[inline(always)]
        fn $mnemonic(&mut self, $($register: Tagged,)* $($immediate: $type)?) -> Tagged {
            let value = semantics::$mnemonic($($register.value,)* $($immediate)?);
            let kind = const { Kind::new(Class::$class, Destination::$destination) };
            self.computed(kind, [$($register),*], value)
        }
    )*};
}

impl Spu for TimedSpu<'_> {
    type Register = Tagged;

    for_each_instruction!(execute_and_record);

    #[inline(always)]
    fn lqr(&mut self, constant: Quadword) -> Tagged {
        self.computed(Kind::new(Class::LoadStore, Destination::New), [], constant)
    }

    #[inline(always)]
    fn lqd(&mut self, displacement: i32, ra: Tagged) -> Tagged {
        self.load([ra], semantics::displaced(ra.value, displacement))
    }

    #[inline(always)]
    fn lqx(&mut self, ra: Tagged, rb: Tagged) -> Tagged {
        self.load([ra, rb], semantics::indexed(ra.value, rb.value))
    }

    #[inline(always)]
    fn lqa(&mut self, address: LocalAddress) -> Tagged {
        self.load([], address)
    }

    #[inline(always)]
    fn stqd(&mut self, rt: Tagged, displacement: i32, ra: Tagged) {
        self.keep([rt, ra], semantics::displaced(ra.value, displacement), rt.value);
    }

    #[inline(always)]
    fn stqx(&mut self, rt: Tagged, ra: Tagged, rb: Tagged) {
        self.keep([rt, ra, rb], semantics::indexed(ra.value, rb.value), rt.value);
    }

    #[inline(always)]
    fn stqa(&mut self, rt: Tagged, address: LocalAddress) {
        self.keep([rt], address, rt.value);
    }

    #[inline(always)]
    fn hbrr(&mut self) {
        self.hint(None);
    }

    #[inline(always)]
    fn hbrr_for(&mut self, branch: BranchName) {
        self.hint(Some(branch));
    }

    #[inline(always)]
    fn name_branch(&mut self, name: BranchName) {
        self.recorder.name_branch(name);
    }

    #[inline(always)]
    fn label(&mut self) {
        if self.position > 0 {
            self.end_block(Ending::FallsThrough);
        }
    }

    #[inline(always)]
    fn br(&mut self) {
        self.branch([], true);
    }

    #[inline(always)]
    fn brz(&mut self, rt: Tagged) -> bool {
        self.branch([rt], rt.value.preferred() == 0)
    }

    #[inline(always)]
    fn brnz(&mut self, rt: Tagged) -> bool {
        self.branch([rt], rt.value.preferred() != 0)
    }

    #[inline(always)]
    fn nop(&mut self) {
        self.record(Kind::new(Class::EvenNop, Destination::Nowhere), [], None);
    }

    #[inline(always)]
    fn lnop(&mut self) {
        self.record(Kind::new(Class::OddNop, Destination::Nowhere), [], None);
    }

    #[inline(always)]
    fn value(&self, register: Tagged) -> Quadword {
        register.value
    }
}

#[cfg(test)]
mod tests {
    use super::super::PlainSpu;
    use super::super::pipeline::tests::CELL_BE;
    use super::*;
    use rand::RngExt as _;
    use rand::SeedableRng as _;
    use rand_xoshiro::Xoshiro256PlusPlus;

    macro_rules! compare_with_plain {
        ($($(#[$doc:meta])+ $mnemonic:ident($($register:ident),* $(; $immediate:ident: $type:ty)?)
            $class:ident $destination:ident = $result:expr;)*) => {
            fn compare_each_instruction(
                plain: &mut PlainSpu<'_>,
                timed: &mut TimedSpu<'_>,
                random: &mut Xoshiro256PlusPlus,
            ) {
                $({
                    $(
                        let $register = timed.lqr(Quadword([random.random(), random.random()]));
                    )*
                    $(let $immediate = random.random_range(0..128) as $type;)?
                    let expected = plain.$mnemonic($($register.value,)* $($immediate)?);
                    let got = timed.$mnemonic($($register,)* $($immediate)?);
                    assert_eq!(got.value, expected, stringify!($mnemonic));
                })*
            }
        };
    }
    for_each_instruction!(compare_with_plain);

    #[test]
    fn every_instruction_computes_the_same_bits_timed_and_plain() {
        let (mut one, mut other) = (LocalStore::new(), LocalStore::new());
        let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
        let mut plain = PlainSpu::new(&mut one);
        let mut stopwatch = Stopwatch::new(CELL_BE, Compiler::PROGRAM_ORDER);
        let mut timed = stopwatch.start(&mut other);
        for _ in 0..100 {
            compare_each_instruction(&mut plain, &mut timed, &mut random);
        }
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
        drop(timed);
        assert_eq!(one, other);
    }

    #[test]
    fn a_block_longer_than_can_be_recorded_is_cut_and_takes_as_long() {
        let mut store = LocalStore::new();
        let mut stopwatch = Stopwatch::new(CELL_BE, Compiler::PROGRAM_ORDER);
        let mut spu = stopwatch.start(&mut store);
        for _ in 0..40_000 {
            spu.fsmbi(0);
        }
        drop(spu);
        let profile = stopwatch.stop();
        assert_eq!(profile.cycles.0, 40_000);
        assert_eq!(profile.instructions(), 40_000);
    }
}
