//! The complexity model of an algorithm on a machine with local stores: the triplet
//! <T_C, T_D, T_B> of Bader, Agarwal and Madduri (IPDPS 2007), with constants.
//!
//! * **T_C**, computation: that of the host, and that of the accelerator that does most.
//! * **T_D**, the DMA requests of one accelerator.
//! * **T_B**, its conditional branches; it has no branch predictor.
//!
//! The paper gives asymptotics and a procedure of four steps. Here the numbers come from runs that
//! counted what they executed ([`Counts`]): [`growth`] says how each count grows with the sizes of the
//! runs, [`bound`] what time the counts of a run need at least on a machine of known [`Constants`],
//! and which part of it binds, [`steps`] goes through the procedure. [`formulas`] take the place of
//! runs where the triplet is known by hand.
//!
//! Nothing here knows an emulator: counts are plain numbers, whoever counted them.
//! A count may grow by products of powers of the sizes and of their logarithms ([`GrowthForm`]).

pub mod bound;
pub mod formulas;
pub mod growth;
pub mod steps;

use std::collections::BTreeSet;
use std::fmt;

use mmgp_base::units::Seconds;

pub use bound::{Bound, BoundPart, Constants, Demand};
pub use formulas::Algorithm;
pub use growth::{Forms, Growth};
pub use steps::{CountedRuns, Facts};

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

    /// Names and sizes, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.0.iter().map(|(name, size)| (name.as_str(), *size))
    }

    /// How many values the size of that name takes among these.
    pub(crate) fn values<'a>(all: impl IntoIterator<Item = &'a Self>, name: &str) -> usize {
        let all = all.into_iter().filter_map(|sizes| sizes.of(name));
        all.map(f64::to_bits).collect::<BTreeSet<u64>>().len()
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
    /// Instructions of its odd pipe.
    pub odd: f64,
    /// Double-precision instructions among those of the even pipe.
    pub double_precision: f64,
    /// Cycles of its kernels in which nothing issued, by cause.
    pub stalls: Vec<(&'static str, f64)>,
    /// Cycles of the program around its kernels.
    pub outside: f64,
    /// Cycles in which it waited for its DMA.
    pub waited: f64,
    /// Cycles in which it was at work, stalls of its pipeline among them.
    pub busy: f64,
    /// Conditional branches.
    pub branches: f64,
    /// Conditional branches that were taken.
    pub taken: f64,
    /// Conditional branches that were hinted.
    pub hinted: f64,
    /// Branches of any kind that paid the penalty.
    pub wrong: f64,
    /// DMA commands.
    pub commands: f64,
    /// Lists among them.
    pub lists: f64,
    /// DMA requests: transfers and elements of lists.
    pub requests: f64,
    /// DMA requests that go to other accelerators and not to memory.
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
    /// Name in files.
    pub name: &'static str,
    /// What it is, for people.
    pub meaning: &'static str,
    /// Part of the triplet that it belongs to.
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
    /// Name as the paper writes it.
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

/// Counts that can grow, in the order in which they are printed.
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

/// A product of factors; of none, 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrowthForm(Vec<Factor>);

/// A power of a size, times its logarithm or not.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Factor {
    size: String,
    power: i32,
    logarithm: bool,
}

/// Powers and logarithms of the first size, that of the input.
const OF_INPUT: [(i32, bool); 6] =
    [(0, false), (0, true), (1, false), (1, true), (2, false), (3, false)];
/// Powers and logarithms of the number of processors.
const OF_PROCESSORS: [(i32, bool); 4] = [(0, false), (-1, false), (1, false), (0, true)];
/// Powers and logarithms of other sizes, as of a buffer.
const OF_OTHERS: [(i32, bool); 4] = [(0, false), (-1, false), (1, false), (-2, false)];

/// Most factors of a form, as in n^2/(p b^2).
const MOST_FACTORS: usize = 3;

impl GrowthForm {
    /// Forms over sizes of these names, of which `p` counts processors and the first other is
    /// that of the input; the simple ones first.
    pub fn all<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<Self> {
        let mut forms = vec![Self(Vec::new())];
        let mut has_input = false;
        for name in names {
            let powers: &[_] = match name {
                "p" => &OF_PROCESSORS,
                _ if has_input => &OF_OTHERS,
                _ => &OF_INPUT,
            };
            has_input |= name != "p";
            let with = |form: &Self| -> Vec<Self> {
                powers
                    .iter()
                    .map(|&(power, logarithm)| form.times(name, power, logarithm))
                    .collect()
            };
            forms = forms.iter().flat_map(with).collect();
        }
        forms.retain(|form| form.0.len() <= MOST_FACTORS);
        forms.sort_by_key(Self::cost);
        forms
    }

    fn times(&self, name: &str, power: i32, logarithm: bool) -> Self {
        let mut factors = self.0.clone();
        if power != 0 || logarithm {
            factors.push(Factor { size: name.into(), power, logarithm });
        }
        Self(factors)
    }

    /// How far from simple it is.
    pub fn cost(&self) -> u32 {
        let of = |factor: &Factor| factor.power.unsigned_abs() + u32::from(factor.logarithm);
        self.0.iter().map(of).sum()
    }

    /// Value at these sizes; none where one of its sizes is not among them, or where it is not finite
    /// there.
    pub fn at(&self, sizes: &Sizes) -> Option<f64> {
        let mut value = 1.0;
        for Factor { size, power, logarithm } in &self.0 {
            let size = sizes.of(size)?;
            value *= size.powi(*power) * if *logarithm { size.log2() } else { 1.0 };
        }
        value.is_finite().then_some(value)
    }

    /// Whether it becomes larger with the size of that name.
    pub fn grows_with(&self, name: &str) -> bool {
        let grows = |factor: &Factor| factor.power > 0 || factor.power == 0 && factor.logarithm;
        self.0.iter().any(|factor| factor.size == name && grows(factor))
    }
}

/// `1`, `n log n`, `n/p`, `n^2/(p b^2)`.
impl fmt::Display for GrowthForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let power = |size: &str, power: u32| match power {
            1 => size.to_string(),
            _ => format!("{size}^{power}"),
        };
        let (mut above, mut below) = (Vec::new(), Vec::new());
        for factor in &self.0 {
            let magnitude = factor.power.unsigned_abs();
            if factor.power < 0 {
                below.push(power(&factor.size, magnitude));
            } else if factor.power > 0 {
                above.push(power(&factor.size, magnitude));
            }
            if factor.logarithm {
                above.push(format!("log {}", factor.size));
            }
        }
        let above = if above.is_empty() { "1".into() } else { above.join(" ") };
        match &below[..] {
            [] => f.write_str(&above),
            [only] => write!(f, "{above}/{only}"),
            _ => write!(f, "{above}/({})", below.join(" ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(text: &str) -> GrowthForm {
        let all = GrowthForm::all(["n", "p", "b", "s"]);
        all.into_iter().find(|form| form.to_string() == text).expect("it is a form")
    }

    fn check(text: &str, by_hand: f64) {
        let sizes = Sizes::new([("n", 64.0), ("p", 4.0), ("b", 2.0), ("s", 32.0)]);
        assert_eq!(form(text).at(&sizes), Some(by_hand), "{text}");
    }

    #[test]
    fn a_form_has_the_value_that_it_shows() {
        check("1", 1.0);
        check("n", 64.0);
        check("log n", 6.0);
        check("n log n", 384.0);
        check("n/p", 16.0);
        check("n^2/p", 1024.0);
        check("n^3/p", 65536.0);
        check("n^2/(p b^2)", 256.0);
        check("n b/s", 4.0);
    }

    #[test]
    fn a_form_knows_what_it_grows_with() {
        assert!(form("n b/s").grows_with("n") && form("log n").grows_with("n"));
        assert!(!form("n/p").grows_with("p") && !form("1").grows_with("n"));
    }
}
