//! Who is beside a rank.

use mmgp_sweep::{Decomposition, I, J, Sign};

/// The ranks beside a rank along i and j: towards the low and the high face.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Neighbours {
    beside: [[Option<u32>; 2]; 2],
}

impl Neighbours {
    /// Those of a rank.
    pub fn of(decomposition: &Decomposition, rank: u32) -> Self {
        let (place, processes) = (decomposition.place(rank as usize), decomposition.processes());
        let at = |axis: usize, side: Sign| {
            let mut other = place;
            other[axis] = match side {
                Sign::Minus => place[axis].checked_sub(1)?,
                Sign::Plus => Some(place[axis] + 1).filter(|&it| it < processes[axis])?,
            };
            Some(decomposition.rank(other) as u32)
        };
        Self { beside: [I, J].map(|axis| [Sign::Minus, Sign::Plus].map(|side| at(axis, side))) }
    }

    /// The one on that side along an axis; none at the boundary of the grid, and along k.
    pub fn towards(&self, axis: usize, side: Sign) -> Option<u32> {
        self.beside.get(axis)?[usize::from(side == Sign::Plus)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mmgp_base::table::Source;
    use mmgp_sweep::{Input, K, Problem};

    #[test]
    fn ranks_at_the_boundary_have_none_there() {
        let text = "2 3 10 3 16\n50 50 50 6 1\n.1 .1 .1 -12.0\n0 0 0\n0 1 -7\n";
        let problem = Problem::new(&Input::read(&Source::new("input.50", text)).unwrap());
        let decomposition = Decomposition::new(&problem, [2, 3]).unwrap();
        // 4 5
        // 2 3
        // 0 1
        let of = |rank| {
            let own = Neighbours::of(&decomposition, rank);
            [(I, Sign::Minus), (I, Sign::Plus), (J, Sign::Minus), (J, Sign::Plus)]
                .map(|(axis, side)| own.towards(axis, side))
        };
        assert_eq!(of(0), [None, Some(1), None, Some(2)]);
        assert_eq!(of(3), [Some(2), None, Some(1), Some(5)]);
        assert_eq!(Neighbours::of(&decomposition, 3).towards(K, Sign::Plus), None);
    }
}
