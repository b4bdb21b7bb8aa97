//! How data lie in memory: the arguments of off-loads in main memory, declared as structs and packed
//! word by word, what a program keeps in local store, part behind part, and how the host adds up what
//! SPEs leave.

use mmgp_base::units::Bytes;
use mmgp_cell::{EffectiveAddress, HostProcess};
use mmgp_spu::{LocalAddress, Quadword};

/// What of local store has not been given out yet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    /// The first byte of it.
    next: u32,
    /// Parts begin at multiples of so many bytes.
    unit: u32,
}

impl Room {
    /// Local store from there on, for parts that begin at lines.
    pub const fn of_lines(next: u32) -> Self {
        Self { next, unit: 128 }
    }

    /// Local store from there on, for parts that begin at quadwords.
    pub const fn of_quadwords(next: u32) -> Self {
        Self { next, unit: 16 }
    }

    /// The next part of so many bytes.
    pub fn take(&mut self, bytes: Bytes) -> LocalAddress {
        let start = self.end();
        self.next = start.saturating_add(u32::try_from(bytes.0).unwrap_or(u32::MAX));
        LocalAddress(start)
    }

    /// The beginning of the next part.
    pub const fn end(&self) -> u32 {
        self.next.next_multiple_of(self.unit)
    }
}

/// What lies in memory as words, one after the other.
pub(crate) trait InMemory: Copy {
    /// What is passed over where words are read.
    const BLANK: Self;

    /// Passes over its words in their order: writes them, or becomes what they say.
    fn pass(&mut self, words: &mut Words<'_>);

    /// The quadwords of so many bytes that begin with it; zeros follow.
    fn quadwords(self, bytes: Bytes) -> Vec<Quadword> {
        self.placed(bytes, &|at| at)
    }

    /// The same with `place` of each address.
    fn placed(
        mut self,
        bytes: Bytes,
        place: &dyn Fn(EffectiveAddress) -> EffectiveAddress,
    ) -> Vec<Quadword> {
        let mut words =
            Words { words: vec![0; bytes.0 as usize / 4], next: 0, written: Some(place) };
        self.pass(&mut words);
        let four = |four: &[u32]| Quadword::from_words([four[0], four[1], four[2], four[3]]);
        words.words.chunks_exact(4).map(four).collect()
    }

    /// What quadwords begin with.
    fn from_quadwords(quadwords: &[Quadword]) -> Self {
        let words = quadwords.iter().flat_map(|quadword| quadword.words()).collect();
        let mut read = Self::BLANK;
        read.pass(&mut Words { words, next: 0, written: None });
        read
    }
}

/// Words that are written, or read.
pub(crate) struct Words<'p> {
    words: Vec<u32>,
    next: usize,
    /// What addresses are written as, where words are written.
    written: Option<&'p dyn Fn(EffectiveAddress) -> EffectiveAddress>,
}

impl Words<'_> {
    /// Passes over a number of 64 bits, whatever it means.
    pub fn number(&mut self, number: u64) -> u64 {
        let mut halves = [(number >> 32) as u32, number as u32];
        halves.pass(self);
        u64::from(halves[0]) << 32 | u64::from(halves[1])
    }

    /// Passes over a word that says which of two it is.
    pub fn either<T: PartialEq>(&mut self, it: T, [first, second]: [T; 2]) -> T {
        let mut word = u32::from(it == second);
        word.pass(self);
        if word == 0 { first } else { second }
    }
}

impl InMemory for u32 {
    const BLANK: Self = 0;

    fn pass(&mut self, words: &mut Words<'_>) {
        let word = &mut words.words[words.next];
        match words.written {
            Some(_) => *word = *self,
            None => *self = *word,
        }
        words.next += 1;
    }
}

impl InMemory for u64 {
    const BLANK: Self = 0;

    fn pass(&mut self, words: &mut Words<'_>) {
        *self = words.number(*self);
    }
}

impl InMemory for f64 {
    const BLANK: Self = 0.0;

    fn pass(&mut self, words: &mut Words<'_>) {
        *self = Self::from_bits(words.number(self.to_bits()));
    }
}

impl InMemory for EffectiveAddress {
    const BLANK: Self = Self(0);

    fn pass(&mut self, words: &mut Words<'_>) {
        let place = words.written.map_or(*self, |place| place(*self));
        *self = Self(words.number(place.0));
    }
}

/// No address: arrays begin at lines.
const NOWHERE: EffectiveAddress = EffectiveAddress(1);

impl InMemory for Option<EffectiveAddress> {
    const BLANK: Self = None;

    fn pass(&mut self, words: &mut Words<'_>) {
        let mut at = self.unwrap_or(NOWHERE);
        at.pass(words);
        *self = Some(at).filter(|&at| at != NOWHERE);
    }
}

impl InMemory for [u8; 16] {
    const BLANK: Self = [0; 16];

    fn pass(&mut self, words: &mut Words<'_>) {
        let mut four = Quadword::from_bytes(*self).words();
        four.pass(words);
        *self = Quadword::from_words(four).bytes();
    }
}

impl<T: InMemory, const N: usize> InMemory for [T; N] {
    const BLANK: Self = [T::BLANK; N];

    fn pass(&mut self, words: &mut Words<'_>) {
        self.iter_mut().for_each(|each| each.pass(words));
    }
}

/// Declares arguments: a struct whose fields lie in memory in their order.
macro_rules! arguments {
    ($(#[$doc:meta])* $visibility:vis struct $name:ident {
        $($(#[$field_doc:meta])* pub $field:ident: $type:ty,)+
    }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq)]
        $visibility struct $name {
            $($(#[$field_doc])* pub $field: $type,)+
        }

        impl $crate::layout::InMemory for $name {
            const BLANK: Self = Self { $($field: $crate::layout::InMemory::BLANK,)+ };

            fn pass(&mut self, words: &mut $crate::layout::Words<'_>) {
                $(self.$field.pass(words);)+
            }
        }
    };
}

work! {
    /// Calling a function: its arguments, the addresses of its vectors, saving registers.
    pub(crate) CALL: 16 integers, 20 loads, 20 stores, 8 branches;
    /// Adding what one SPE found.
    ADD_RESULT: 1 integers, 1 loads, 1 floats, 1 branches;
}

/// Adds what so many SPEs have each put into a quadword of main memory.
pub(crate) async fn add_results(process: &HostProcess, results: u32) {
    process.load_put_lines(u64::from(results).div_ceil(RESULTS_IN_LINE)).await;
    process.work(ADD_RESULT * u64::from(results)).await;
}

/// Quadwords in a line.
const RESULTS_IN_LINE: u64 = 8;
