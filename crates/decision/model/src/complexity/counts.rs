//! What a run executed, as plain numbers.

use std::fmt;

use mmgp_base::units::Seconds;

/// The sizes of a run by name: `n`, `p` and what else the program has.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sizes(Vec<(String, f64)>);

impl Sizes {
    /// Those, in this order; a later one of the same name takes the place of an earlier one.
    pub fn new<N: Into<String>>(sizes: impl IntoIterator<Item = (N, f64)>) -> Self {
        let mut all = Self::default();
        sizes.into_iter().for_each(|(name, size)| all.set(name.into(), size));
        all
    }

    /// Sets one of them.
    pub fn set(&mut self, name: String, size: f64) {
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known = size,
            None => self.0.push((name, size)),
        }
    }

    /// The size of that name.
    pub fn of(&self, name: &str) -> Option<f64> {
        self.0.iter().find(|(known, _)| known == name).map(|&(_, size)| size)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.0.iter().map(|(name, size)| (name.as_str(), *size))
    }

    /// Their names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.iter().map(|(name, _)| name)
    }
}

/// `n = 1000, p = 4`.
impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (name, size)) in self.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{name} = {size}")?;
        }
        Ok(())
    }
}

/// What one run executed: on the accelerator that did most, and on the host.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Counts {
    /// The sizes of the run.
    pub sizes: Sizes,
    /// Instructions of its even pipe, as those of all that follows in its kernels.
    pub even: f64,
    /// Of its odd pipe.
    pub odd: f64,
    /// Double-precision instructions among those of the even pipe.
    pub double_precision: f64,
    /// Cycles of its kernels in which nothing issued, by cause.
    pub stalls: Vec<(&'static str, f64)>,
    /// Cycles of the program around its kernels.
    pub outside: f64,
    /// Cycles in which it waited for its DMA.
    pub waited: f64,
    /// All cycles in which it was at work, stalls of its pipeline among them.
    pub busy: f64,
    /// Conditional branches.
    pub branches: f64,
    /// Those that were taken.
    pub taken: f64,
    /// Those that were hinted.
    pub hinted: f64,
    /// Branches of any kind that paid the penalty.
    pub wrong: f64,
    /// DMA commands.
    pub commands: f64,
    /// Lists among them.
    pub lists: f64,
    /// DMA requests: transfers and elements of lists.
    pub requests: f64,
    /// Those of them that go to other accelerators and not to memory.
    pub other_requests: f64,
    /// Bytes that they move.
    pub bytes: f64,
    /// Requests by size.
    pub by_size: Vec<Requests>,
    /// Lines of memory that they touch.
    pub lines: f64,
    /// The same of all accelerators, of the memory that is asked for most.
    pub all_lines: f64,
    /// Cycles that it computes between a request and its completion, as a mean.
    pub meanwhile: f64,
    /// The most requests that were under way at once.
    pub most_outstanding: f64,
    /// The mean number while there was any.
    pub mean_outstanding: f64,
    /// Cycles of the host process that does most.
    pub host: f64,
    /// Cycles that it spends on words to and from accelerators.
    pub signalling: f64,
    /// Bursts of host code, of all processes.
    pub bursts: f64,
    /// What the run took, where that is known.
    pub time: Option<Seconds>,
}

/// Requests of one size.
#[derive(Debug, Clone, PartialEq)]
pub struct Requests {
    /// `get` or `put`.
    pub direction: &'static str,
    /// Their size.
    pub bytes: f64,
    /// How many there were.
    pub count: f64,
}

impl Counts {
    /// Cycles of computation for each request, which can hide the latency of another; none without
    /// requests.
    pub fn cycles_per_request(&self) -> f64 {
        if self.requests > 0.0 { self.busy / self.requests } else { 0.0 }
    }

    /// Cycles of its kernels in which nothing issued, of all causes.
    pub fn stalled(&self) -> f64 {
        self.stalls.iter().map(|(_, cycles)| cycles).sum()
    }
}

/// A count that can grow with the sizes of a run.
pub struct Quantity {
    /// Its name in files.
    pub name: &'static str,
    /// What it is, for people.
    pub meaning: &'static str,
    /// Which part of the triplet it belongs to.
    pub of: Triplet,
    /// The count of a run.
    pub count: fn(&Counts) -> f64,
}

/// The parts of the triplet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Triplet {
    /// T_C.
    Computation,
    /// T_D.
    Requests,
    /// T_B.
    Branches,
}

impl Triplet {
    /// As the paper writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Computation => "T_C",
            Self::Requests => "T_D",
            Self::Branches => "T_B",
        }
    }
}

const fn quantity(
    name: &'static str,
    meaning: &'static str,
    of: Triplet,
    count: fn(&Counts) -> f64,
) -> Quantity {
    Quantity { name, meaning, of, count }
}

/// All of them, in the order in which they are printed.
pub const QUANTITIES: [Quantity; 18] = [
    quantity("host_cycles", "cycles of host code", Triplet::Computation, |it| it.host),
    quantity("signalling", "host cycles of words to and from SPEs", Triplet::Computation, |it| {
        it.signalling
    }),
    quantity("instructions", "instructions of both pipes", Triplet::Computation, |it| {
        it.even + it.odd
    }),
    quantity("even", "those of the even pipe", Triplet::Computation, |it| it.even),
    quantity("odd", "those of the odd pipe", Triplet::Computation, |it| it.odd),
    quantity("double", "double-precision among them", Triplet::Computation, |it| {
        it.double_precision
    }),
    quantity("stalled", "cycles stalled in kernels", Triplet::Computation, Counts::stalled),
    quantity("outside", "cycles around kernels", Triplet::Computation, |it| it.outside),
    quantity("busy", "cycles at work, all", Triplet::Computation, |it| it.busy),
    quantity("requests", "DMA requests", Triplet::Requests, |it| it.requests),
    quantity("bytes", "bytes of DMA", Triplet::Requests, |it| it.bytes),
    quantity("lines", "lines of memory", Triplet::Requests, |it| it.lines),
    quantity("all_lines", "lines, all SPEs", Triplet::Requests, |it| it.all_lines),
    quantity("per_request", "cycles at work a request", Triplet::Requests, |it| {
        it.cycles_per_request()
    }),
    quantity("meanwhile", "cycles while one is under way", Triplet::Requests, |it| it.meanwhile),
    quantity("branches", "conditional branches", Triplet::Branches, |it| it.branches),
    quantity("hinted", "hinted among them", Triplet::Branches, |it| it.hinted),
    quantity("wrong", "wrong, jumps included", Triplet::Branches, |it| it.wrong),
];
