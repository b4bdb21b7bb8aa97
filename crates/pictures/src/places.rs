//! How the values of m, or of p, divide a side of a map into tiles.

/// The most values that have tiles of the same size.
const EQUAL: usize = 24;

/// No tile of a logarithmic side is narrower, in units of the picture.
const NARROWEST: f64 = 6.0;

/// The places of values along a side, from 0 to 1.
pub(super) struct Places {
    /// Increasing, each once; there is at least one.
    values: Vec<u32>,
    division: Division,
    /// The index of the first value of each tile.
    firsts: Vec<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Division {
    /// Each value takes the same room.
    Equal,
    /// Equal ratios take the same room; values that are near one another share a tile.
    Logarithmic,
}

impl Places {
    /// Divides a side of so many units among values in any order, of which there is at least one.
    pub fn new(mut values: Vec<u32>, length: f64) -> Self {
        values.sort_unstable();
        values.dedup();
        let division = if values.len() <= EQUAL { Division::Equal } else { Division::Logarithmic };
        let firsts = (0..values.len()).collect();
        let mut places = Self { values, division, firsts };
        if division == Division::Logarithmic {
            let mut firsts = vec![0];
            for index in 1..places.values.len() {
                let begin = places.border(*firsts.last().expect("invariant: it begins with one"));
                if (places.border(index) - begin) * length >= NARROWEST {
                    firsts.push(index);
                }
            }
            // What is left at the end is no narrower than the others.
            let last = firsts[firsts.len() - 1];
            if firsts.len() > 1 && (1.0 - places.border(last)) * length < NARROWEST {
                firsts.pop();
            }
            places.firsts = firsts;
        }
        places
    }

    pub fn division(&self) -> Division {
        self.division
    }

    /// The largest value.
    pub fn last(&self) -> Option<u32> {
        self.values.last().copied()
    }

    /// The place at which the value with that index begins; after the last one, the end of the side.
    fn border(&self, index: usize) -> f64 {
        match self.division {
            Division::Equal => index as f64 / self.values.len() as f64,
            Division::Logarithmic => self.logarithmic(match (index.checked_sub(1), index) {
                (None, _) => f64::from(self.values[0]) - 0.5,
                (Some(before), index) if index < self.values.len() => {
                    f64::from(self.values[before]).midpoint(f64::from(self.values[index]))
                }
                (Some(last), _) => f64::from(self.values[last]) + 0.5,
            }),
        }
    }

    fn logarithmic(&self, value: f64) -> f64 {
        let low = f64::from(self.values[0]) - 0.5;
        let high = f64::from(self.values[self.values.len() - 1]) + 0.5;
        ((value / low).ln() / (high / low).ln()).clamp(0.0, 1.0)
    }

    fn index(&self, value: u32) -> usize {
        self.values.partition_point(|&known| known < value).min(self.values.len() - 1)
    }

    /// The tile that a value lies in.
    pub fn tile(&self, value: u32) -> usize {
        let index = self.index(value);
        self.firsts.partition_point(|&first| first <= index) - 1
    }

    /// Both ends of a tile.
    pub fn ends(&self, tile: usize) -> [f64; 2] {
        let end = self.firsts.get(tile + 1).copied().unwrap_or(self.values.len());
        [self.border(self.firsts[tile]), self.border(end)]
    }

    /// The middle of what is a value's own.
    pub fn middle(&self, value: u32) -> f64 {
        let index = self.index(value);
        self.border(index).midpoint(self.border(index + 1))
    }

    /// The place of a value that need not be one of those, or `None` beyond the ends.
    pub fn at(&self, value: f64) -> Option<f64> {
        let first = f64::from(self.values[0]);
        let last = f64::from(*self.values.last()?);
        if !(first..=last).contains(&value) {
            return None;
        }
        let after = self.values.partition_point(|&known| f64::from(known) < value);
        let middle = |index: usize| self.middle(self.values[index]);
        let high = f64::from(self.values[after]);
        let Some(below) = after.checked_sub(1).filter(|_| high > value) else {
            return Some(middle(after));
        };
        let low = f64::from(self.values[below]);
        let part = match self.division {
            Division::Equal => (value - low) / (high - low),
            Division::Logarithmic => (value / low).ln() / (high / low).ln(),
        };
        Some(middle(below) + part * (middle(after) - middle(below)))
    }

    /// The values that have room for a label every `least` of the side: all, or powers of two.
    pub fn labelled(&self, least: f64) -> Vec<u32> {
        let is_named = |value: &&u32| self.division == Division::Equal || value.is_power_of_two();
        let mut labelled: Vec<u32> = Vec::new();
        let mut free_from = f64::NEG_INFINITY;
        for &value in self.values.iter().filter(is_named) {
            let middle = self.middle(value);
            if middle >= free_from {
                labelled.push(value);
                free_from = middle + least;
            }
        }
        labelled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every value lies in its tile, and the tiles fill the side without a gap.
    fn check(values: Vec<u32>) -> Places {
        let places = Places::new(values.clone(), 600.0);
        let tiles = places.firsts.len();
        assert_eq!((places.ends(0)[0], places.ends(tiles - 1)[1]), (0.0, 1.0));
        for tile in 1..tiles {
            assert_eq!(places.ends(tile - 1)[1], places.ends(tile)[0]);
        }
        for value in values {
            let [low, high] = places.ends(places.tile(value));
            assert!((low..=high).contains(&places.middle(value)), "{value}");
        }
        places
    }

    #[test]
    fn few_values_have_tiles_of_the_same_size() {
        let places = check(vec![1, 2, 3, 16]);
        assert_eq!(places.ends(3), [0.75, 1.0]);
        assert_eq!(places.labelled(0.0), [1, 2, 3, 16]);
    }

    #[test]
    fn near_values_share_a_tile_that_can_be_seen() {
        let places = check((1..=4096).collect());
        let tiles = places.firsts.len();
        assert!(tiles <= 100, "{tiles} tiles in 600 units");
        for tile in 0..tiles {
            let [low, high] = places.ends(tile);
            assert!((high - low) * 600.0 >= NARROWEST, "{tile}");
        }
        assert!(places.tile(4000) == places.tile(4001) && places.tile(1) != places.tile(2));
        assert_eq!(places.labelled(0.0), (0..13).map(|k| 1 << k).collect::<Vec<u32>>());
    }

    #[test]
    fn values_with_gaps_between_them_fill_the_side() {
        check((0..40).map(|k| 1 + k * k).collect());
    }
}
