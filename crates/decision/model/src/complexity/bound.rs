//! The least time that the counts of a run need.
//!
//! ```text
//! T >= max(issue + wrong branches x penalty, latency, bandwidth) + host
//! ```
//!
//! * *issue*: an instruction takes a cycle of its pipe, and the pipes work side by side; a
//!   double-precision instruction has both for itself, and blocks them after it. What the program
//!   does around its kernels comes on top.
//! * *latency*: so many requests were under way at most, each for L at least.
//! * *bandwidth*: lines of all accelerators through the memory, or of one through its own way to it.
//!
//! * *branches*: what a wrong one costs, the accelerator does not issue; transfers go on meanwhile, so
//!   that this adds to the issue and to nothing else.
//! * *host*: an accelerator rests while its process computes, and while that starts and collects the
//!   accelerators one after the other. Exact where these have equal work; where the one that is
//!   started first has most, the starts of the others are hidden behind it.
//!
//! Stalls for operands are no part of it: another order of the instructions may
//! do without them.

use mmgp_base::units::{BytesPerSecond, Hertz, Seconds};

use super::Counts;

/// What a machine's numbers are: measured on it by programs of their own, or documented; never
/// taken from the run that is judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Constants {
    /// The clock of host and accelerators.
    pub clock: Hertz,
    /// L: from a request for a line until it has arrived.
    pub latency: Seconds,
    /// What the memory delivers to all accelerators that share it.
    pub memory: BytesPerSecond,
    /// What one accelerator moves.
    pub accelerator: BytesPerSecond,
    /// Bytes that a memory access takes at least.
    pub line: f64,
    /// Cycles lost by a wrong branch.
    pub penalty: f64,
    /// Cycles in which nothing issues after a double-precision instruction.
    pub double_block: f64,
}

impl Constants {
    /// L in cycles.
    pub fn latency_cycles(&self) -> f64 {
        self.latency.0 * self.clock.0
    }

    fn cycles(&self, cycles: f64) -> Seconds {
        Seconds(cycles / self.clock.0)
    }
}

/// What an algorithm asks of a machine: from the counts of a run, or by formulas.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Demand {
    /// Cycles in which the pipes of the accelerator that does most are taken.
    pub issue: f64,
    /// Requests of memory by that accelerator.
    pub requests: f64,
    /// How many of them are under way at most.
    pub outstanding: f64,
    /// Lines of memory that it asks for.
    pub lines: f64,
    /// The same of all accelerators that share a memory.
    pub all_lines: f64,
    /// Branches of that accelerator that pay the penalty.
    pub wrong: f64,
    /// Cycles of the host that nothing overlaps: its code, and its words to and from accelerators.
    pub host: f64,
}

impl Demand {
    /// Demand of a run.
    pub fn of(counts: &Counts, constants: &Constants) -> Self {
        let Counts { even, odd, double_precision, outside, .. } = *counts;
        let alone = double_precision * (1.0 + constants.double_block);
        Self {
            issue: (even - double_precision).max(odd) + alone + outside,
            requests: counts.requests - counts.other_requests,
            outstanding: counts.most_outstanding,
            lines: counts.lines,
            all_lines: counts.all_lines,
            wrong: counts.wrong,
            host: counts.host + counts.signalling,
        }
    }
}

/// What can bind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoundPart {
    /// The pipes.
    Issue,
    /// Requests, one behind the other.
    Latency,
    /// The memory, or the way to it.
    Bandwidth,
    /// Wrong branches.
    Branches,
    /// Host code.
    Host,
}

impl BoundPart {
    /// All, in the order in which they are printed.
    pub const ALL: [Self; 5] =
        [Self::Issue, Self::Latency, Self::Bandwidth, Self::Branches, Self::Host];

    /// Name of the part.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Issue => "issue",
            Self::Latency => "latency",
            Self::Bandwidth => "bandwidth",
            Self::Branches => "branches",
            Self::Host => "host",
        }
    }
}

/// Factor by which a part must exceed the next to dominate.
pub const DOMINANCE: f64 = 1.2;

/// The least times of the parts of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    times: [Seconds; BoundPart::ALL.len()],
}

impl Bound {
    /// What a machine of these constants needs for it.
    pub fn of(demand: &Demand, constants: &Constants) -> Self {
        let outstanding = demand.outstanding.max(1.0);
        let through = |lines: f64, rate: BytesPerSecond| lines * constants.line / rate.0;
        let all = through(demand.all_lines, constants.memory);
        let own = through(demand.lines, constants.accelerator);
        let times = BoundPart::ALL.map(|part| match part {
            BoundPart::Issue => constants.cycles(demand.issue),
            BoundPart::Latency => constants.latency * (demand.requests / outstanding),
            BoundPart::Bandwidth => Seconds(all.max(own)),
            BoundPart::Branches => constants.cycles(demand.wrong * constants.penalty),
            BoundPart::Host => constants.cycles(demand.host),
        });
        Self { times }
    }

    /// The least time of a part alone.
    pub const fn part(&self, part: BoundPart) -> Seconds {
        self.times[part as usize]
    }

    /// The least time of all together.
    pub fn time(&self) -> Seconds {
        let work = self.part(BoundPart::Issue) + self.part(BoundPart::Branches);
        let waits = [BoundPart::Latency, BoundPart::Bandwidth].map(|it| self.part(it).0);
        let longest = waits.into_iter().fold(work.0, f64::max);
        Seconds(longest) + self.part(BoundPart::Host)
    }

    /// The part that takes longest, and by what factor it exceeds the next; infinite where no other
    /// takes any time.
    pub fn binding(&self) -> (BoundPart, f64) {
        let mut parts = BoundPart::ALL.map(|part| (part, self.part(part).0));
        parts.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        let [(first, most), (_, next), ..] = parts;
        let factor = if next > 0.0 { most / next } else { f64::INFINITY };
        (first, factor)
    }

    /// The part that dominates: it exceeds the next by more than [`DOMINANCE`].
    pub fn dominating(&self) -> Option<BoundPart> {
        let (part, factor) = self.binding();
        (factor > DOMINANCE).then_some(part)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use approx::assert_relative_eq;

    /// Constants of the Cell as measured: 90 ns, 22.8 GB/s, 14.4 GB/s of one SPE.
    pub const CELL: Constants = Constants {
        clock: Hertz(3.2e9),
        latency: Seconds(90e-9),
        memory: BytesPerSecond(22.8e9),
        accelerator: BytesPerSecond(14.4e9),
        ..CONSTANTS
    };

    /// A gigahertz, so that a cycle is a nanosecond; 100 ns; 10 GB/s, and 4 of one.
    const CONSTANTS: Constants = Constants {
        clock: Hertz(1e9),
        latency: Seconds(100e-9),
        memory: BytesPerSecond(10e9),
        accelerator: BytesPerSecond(4e9),
        line: 128.0,
        penalty: 18.0,
        double_block: 6.0,
    };

    #[test]
    fn the_bound_of_a_run_by_hand() {
        let counts = Counts {
            even: 5000.0,
            odd: 2000.0,
            double_precision: 500.0,
            outside: 300.0,
            requests: 240.0,
            other_requests: 40.0,
            most_outstanding: 4.0,
            lines: 100.0,
            all_lines: 800.0,
            wrong: 50.0,
            host: 600.0,
            signalling: 100.0,
            ..Counts::default()
        };
        let bound = Bound::of(&Demand::of(&counts, &CONSTANTS), &CONSTANTS);
        // 4,500 cycles of the even pipe, more than the 2,000 of the odd one, 500 x 7, and 300 more;
        // 200 requests of memory of 100 ns, four at once; 800 lines at 12.8 ns, more than 100 at
        // 32 ns; 50 x 18 cycles; 600 and 100.
        let by_hand = [8300.0, 5000.0, 10240.0, 900.0, 700.0];
        for (part, by_hand) in BoundPart::ALL.into_iter().zip(by_hand) {
            assert_relative_eq!(1e9 * bound.part(part).0, by_hand, max_relative = 1e-12);
        }
        assert_relative_eq!(1e9 * bound.time().0, 10240.0 + 700.0, max_relative = 1e-12);
        let more = Counts { odd: 9000.0, ..counts };
        let bound_of_issue = Bound::of(&Demand::of(&more, &CONSTANTS), &CONSTANTS);
        // 9,000 cycles of the odd pipe, 500 x 7 and 300 more.
        assert_relative_eq!(1e9 * bound_of_issue.time().0, 12800.0 + 900.0 + 700.0);
        let (part, factor) = bound.binding();
        assert_eq!(part, BoundPart::Bandwidth);
        assert_relative_eq!(factor, 10240.0 / 8300.0, max_relative = 1e-12);
        assert_eq!(bound.dominating(), Some(BoundPart::Bandwidth));
    }

    #[test]
    fn what_exceeds_the_next_by_a_fifth_or_less_does_not_dominate() {
        let dominating = |issue: f64| {
            let demand = Demand { issue, host: 1000.0, ..Demand::default() };
            Bound::of(&demand, &CONSTANTS).dominating()
        };
        assert_eq!(dominating(1190.0), None);
        assert_eq!(dominating(1210.0), Some(BoundPart::Issue));
        assert_eq!(dominating(840.0), None);
        assert_eq!(dominating(0.0), Some(BoundPart::Host));
    }

    #[test]
    fn one_accelerator_has_its_own_way_to_memory() {
        let demand = Demand { lines: 1000.0, all_lines: 1000.0, ..Demand::default() };
        let bound = Bound::of(&demand, &CONSTANTS);
        assert_relative_eq!(bound.time().0, 1000.0 * 128.0 / 4e9, max_relative = 1e-12);
    }
}
