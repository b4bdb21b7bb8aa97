//! What the host's code costs between two calls of an engine: operations counted, by what such code
//! does. What an engine does to make its calls (filling in arguments for an SPE, waiting) is its
//! own account.

use crate::cell::ppe::Work;

/// Visiting a node: which neighbour it was reached from, the two others, whether it is a tip.
pub const VISIT: Work =
    Work { integers: 4, loads: 4, stores: 0, floats: 0, divides: 0, branches: 3, code: 0 }
        .in_line();
/// Where the vector of a node looks: load it, compare it, choose.
pub const LOOK: Work =
    Work { integers: 2, loads: 1, stores: 0, floats: 0, divides: 0, branches: 1, code: 0 }
        .in_line();
/// An entry of a traversal: node, its two neighbours and the z towards them are read and copied,
/// and where the vector looks from now on is noted.
pub const TRAVERSAL_ENTRY: Work =
    Work { integers: 6, loads: 6, stores: 7, floats: 0, divides: 0, branches: 2, code: 0 }
        .in_line();
/// Reading the ends and the z of a branch for a call on it, and taking the result.
pub const BRANCH_CALL: Work =
    Work { integers: 4, loads: 4, stores: 3, floats: 0, divides: 0, branches: 1, code: 0 }
        .in_line();
/// Storing z at both ends of a branch, and whether it moved enough to go on.
pub const SET_BRANCH: Work =
    Work { integers: 4, loads: 4, stores: 2, floats: 2, divides: 0, branches: 3, code: 0 }
        .in_line();
/// Linking a node into a branch or taking it out: six links, each a node and a z.
pub const RELINK: Work =
    Work { integers: 18, loads: 18, stores: 12, floats: 1, divides: 0, branches: 6, code: 0 }
        .in_line();
/// Comparing a likelihood with the best one and the cut-off, and keeping sums.
pub const COMPARE: Work =
    Work { integers: 2, loads: 4, stores: 3, floats: 4, divides: 0, branches: 4, code: 0 }
        .in_line();
/// A square root by Newton's method from an estimate: the PPE's instruction set leaves it to the
/// library. Taken as four steps of four operations.
pub const SQUARE_ROOT: Work =
    Work { integers: 4, loads: 4, stores: 0, floats: 16, divides: 0, branches: 2, code: 0 }
        .in_line();
/// Copying one node of a tree: three links of a node and a z.
pub const COPY_NODE: Work =
    Work { integers: 6, loads: 6, stores: 6, floats: 0, divides: 0, branches: 1, code: 0 }
        .in_line();
/// A random number: some ten integer operations on four words of state, and a conversion.
pub const DRAW: Work =
    Work { integers: 12, loads: 4, stores: 4, floats: 2, divides: 0, branches: 0, code: 0 }
        .in_line();
/// 64 columns of Fitch's rule: 4 ANDs and 3 ORs for the intersection, 12 operations for the sets, 12 to count
/// bits, in words of 64 bits.
pub const FITCH_WORD: Work =
    Work { integers: 32, loads: 8, stores: 4, floats: 0, divides: 0, branches: 1, code: 0 }
        .in_line();
/// One trial of Brent's method: a parabola through three points, tests, new bounds.
pub const BRENT_STEP: Work =
    Work { integers: 4, loads: 12, stores: 10, floats: 24, divides: 2, branches: 14, code: 0 }
        .in_line();
/// The eigenvalues and vectors of a symmetric 4 x 4 matrix and what is made of them: some six
/// sweeps of six rotations, each of a dozen multiplications and additions on four rows.
pub const EIGEN_SYSTEM: Work =
    Work { integers: 600, loads: 1500, stores: 1200, floats: 2200, divides: 110, branches: 300, code: 4000 };
/// One pattern in a loop over patterns: load, compare, keep.
pub const PATTERN: Work =
    Work { integers: 3, loads: 2, stores: 1, floats: 2, divides: 0, branches: 2, code: 0 }
        .in_line();
