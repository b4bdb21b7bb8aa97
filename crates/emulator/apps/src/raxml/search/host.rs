//! What the host's code costs between two calls of an engine: operations counted, by what such code
//! does. What an engine does to make its calls (filling in arguments for an SPE, waiting) it counts
//! itself.

use mmgp_cell::ppe::Work;

/// What the host does, and how often.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostTally([u64; COSTS.len()]);

/// A piece of the host's code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Visiting a node: which neighbour it was reached from, the two others, whether it is a tip.
    Visit,
    /// Looking where the vector of a node looks: load it, compare it, choose.
    Look,
    /// An entry of a traversal: a node, its two neighbours and the z towards them are read and
    /// copied, and where the vector looks from now on is noted.
    TraversalEntry,
    /// Reading the ends and the z of a branch for a call on it, and taking the result.
    BranchCall,
    /// Storing z at both ends of a branch, and whether it moved enough to go on.
    SetBranch,
    /// Linking a node into a branch or taking it out: six links, each a node and a z.
    Relink,
    /// Comparing a likelihood with the best one and the cut-off, and keeping sums.
    Compare,
    /// A square root by Newton's method from an estimate, four steps of four operations: the
    /// instruction set leaves it to the library.
    SquareRoot,
    /// Copying one node of a tree: three links of a node and a z each.
    CopyNode,
    /// A random number: some ten integer operations on four words of state, and a conversion.
    Draw,
    /// 64 columns of Fitch's rule: 7 operations for the intersection, 13 for the sets, 12 to count
    /// bits.
    FitchWord,
    /// One trial of Brent's method: a parabola through three points, tests, new bounds.
    Brent,
    /// The eigenvalues and vectors of a symmetric 4 x 4 matrix and what is made of them: some six
    /// sweeps of six rotations, each of a dozen multiplications and additions on four rows.
    EigenSystem,
    /// The four mean rates of a Gamma distribution: three quantiles, each by some six steps of
    /// Newton's method, and three shares of the mean; each takes an incomplete Gamma function, a
    /// series of some 25 terms (a division, a product, a sum, a test), two logarithms of the Gamma
    /// function, a logarithm and an exponential.
    GammaRates,
    /// A logarithm or exponential.
    Transcendental,
    /// One pattern in a loop over patterns: load, compare, keep.
    Pattern,
}

const fn cost(integers: u64, memory: [u64; 2], floats: u64, divides: u64, branches: u64) -> Work {
    let [loads, stores] = memory;
    Work { integers, loads, stores, floats, divides, branches, code: 0 }.in_line()
}

/// The cost of each [`Step`], in their order.
const COSTS: [Work; 16] = [
    cost(4, [4, 0], 0, 0, 3),
    cost(2, [1, 0], 0, 0, 1),
    cost(6, [6, 7], 0, 0, 2),
    cost(4, [4, 3], 0, 0, 1),
    cost(4, [4, 2], 2, 0, 3),
    cost(18, [18, 12], 1, 0, 6),
    cost(2, [4, 3], 4, 0, 4),
    cost(4, [4, 0], 16, 0, 2),
    cost(6, [6, 6], 0, 0, 1),
    cost(12, [4, 4], 2, 0, 0),
    cost(32, [8, 4], 0, 0, 1),
    cost(4, [12, 10], 24, 2, 14),
    // Loops: the code of one rotation and of what is around it.
    Work { code: 2048, ..cost(600, [1500, 1200], 2200, 110, 300) },
    Work { code: 1024, ..cost(21 * 40, [21 * 80, 21 * 10], 21 * 150, 21 * 30, 21 * 45) },
    Work::TRANSCENDENTAL.in_line(),
    cost(3, [2, 1], 2, 0, 2),
];

impl HostTally {
    /// Counts a step so many times.
    pub fn count(&mut self, step: Step, times: u64) {
        self.0[step as usize] += times;
    }

    /// Counts what another tally counted.
    pub fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(count, other)| *count += other);
    }

    /// The work of all that was counted, which starts again from nothing. Each step needs its code once.
    pub fn take(&mut self) -> Work {
        let counts = std::mem::take(&mut self.0);
        let used = COSTS.iter().zip(counts).filter(|(_, count)| *count > 0);
        used.map(|(&cost, count)| cost * count).fold(Work::default(), |sum, work| sum + work)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_add_up_and_need_their_code_once() {
        let mut tally = HostTally::default();
        tally.count(Step::Look, 2);
        tally.count(Step::Look, 1);
        tally.count(Step::Pattern, 1);
        let work = tally.take();
        assert_eq!((work.integers, work.loads, work.stores), (3 * 2 + 3, 3 + 2, 1));
        assert_eq!(work.code, 4 * (4 + 10));
        assert_eq!(tally.take(), Work::default());
    }

    #[test]
    fn every_step_has_its_cost() {
        assert_eq!(Step::Pattern as usize, COSTS.len() - 1);
        assert_eq!(COSTS[Step::EigenSystem as usize].divides, 110);
        assert_eq!(COSTS[Step::SquareRoot as usize].floats, 16);
    }
}
