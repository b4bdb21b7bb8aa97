//! The lines of a block that do not depend on one another.

use mmgp_sweep::{J, K, Step};

arguments! {
    /// A line of cells along i for a pair of angles.
    #[derive(Eq)]
    pub struct LineOfPair {
        /// Which pair of the block's angles.
        pub pair: u32,
        /// Its plane, counted within the block.
        pub plane: u32,
        /// Its j.
        pub j: u32,
    }
}

/// The diagonals of a block of so many lines a plane and pairs of angles, in their order: on each all lines
/// whose j, plane and pair, counted in the order of the sweep, add up to its number.
pub fn diagonals(
    step: &Step,
    [jt, pairs]: [usize; 2],
) -> impl Iterator<Item = Vec<LineOfPair>> + use<> {
    let (signs, planes) = (step.octant.signs, step.planes.len());
    (0..jt + planes + pairs - 2).map(move |number| {
        let of_pair = |pair: usize| {
            let of_plane = move |visited: usize| {
                let before = number.checked_sub(pair + visited)?;
                (before < jt).then(|| LineOfPair {
                    pair: pair as u32,
                    plane: signs[K].nth(visited, planes) as u32,
                    j: signs[J].nth(before, jt) as u32,
                })
            };
            (0..planes).filter_map(of_plane)
        };
        (0..pairs).flat_map(of_pair).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use mmgp_base::table::Source;
    use mmgp_sweep::{Input, Problem};

    /// Rounds of eight lines on the diagonals of a block of input.50, by pairs of angles that follow one
    /// another, and the lines of the longest.
    fn rounds(pairs: usize) -> (usize, usize, usize) {
        let text = "1 1 10 3 1\n50 50 50 6 1\n.1 .1 .1 -12.0\n0 0 0\n0 1 -7\n";
        let problem = Problem::new(&Input::read(&Source::new("input.50", text)).unwrap());
        let step = problem.steps().nth(7).unwrap();
        let lengths: Vec<usize> = diagonals(&step, [50, pairs]).map(|it| it.len()).collect();
        let rounds = lengths.iter().map(|lines| lines.div_ceil(8)).sum();
        assert_eq!(lengths.iter().sum::<usize>(), 50 * 10 * pairs);
        (lengths.len(), *lengths.iter().max().unwrap(), rounds)
    }

    #[test]
    fn lines_of_a_pair_share_better_than_lines_of_all_angles() {
        assert_eq!(rounds(1), (59, 10, 102));
        assert_eq!(rounds(2), (60, 20, 156));
    }

    #[test]
    fn a_line_comes_after_those_that_flow_into_it_and_never_beside_another_pair_of_its_own() {
        let text = "1 1 3 3 1\n4 5 7 6 1\n.1 .1 .1 -12.0\n0 0 0\n0 1 -7\n";
        let problem = Problem::new(&Input::read(&Source::new("small", text)).unwrap());
        for step in problem.steps() {
            let all: Vec<Vec<LineOfPair>> = diagonals(&step, [5, 2]).collect();
            let when = |line: LineOfPair| all.iter().position(|it| it.contains(&line)).unwrap();
            let planes = step.planes.len();
            for (pair, visited_k, visited_j) in (0..2)
                .flat_map(|pair| (0..planes).map(move |k| (pair, k)))
                .flat_map(|(pair, k)| (0..5).map(move |j| (pair, k, j)))
            {
                let line = |pair: usize, k: usize, j: usize| LineOfPair {
                    pair: pair as u32,
                    plane: step.octant.signs[K].nth(k, planes) as u32,
                    j: step.octant.signs[J].nth(j, 5) as u32,
                };
                let own = when(line(pair, visited_k, visited_j));
                if visited_k > 0 {
                    assert!(own > when(line(pair, visited_k - 1, visited_j)));
                }
                if visited_j > 0 {
                    assert!(own > when(line(pair, visited_k, visited_j - 1)));
                }
                assert_ne!(own, when(line(1 - pair, visited_k, visited_j)));
            }
        }
    }
}
