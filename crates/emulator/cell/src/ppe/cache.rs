//! One level of cache: sets of lines, of which the least recently used one is replaced.

use mmgp_base::units::Bytes;

/// A set-associative cache with the least recently used line of a set replaced (LRU). It holds no
/// data: only which lines are there.
pub struct Cache {
    /// Lines of each set, the most recently used first; `EMPTY` where there is none.
    lines: Vec<u64>,
    ways: usize,
    sets: u64,
}

/// No line has this number: addresses are far below.
const EMPTY: u64 = u64::MAX;

impl Cache {
    /// An empty cache of `size` in lines of `line`, `ways` of which share a set. The last set of a
    /// size that is no whole number of sets is left out, but there is at least one.
    pub fn new(size: Bytes, line: Bytes, ways: u32) -> Self {
        let ways = ways.max(1) as usize;
        let sets = (size.0 / line.0.max(1) / ways as u64).max(1);
        Self { lines: vec![EMPTY; sets as usize * ways], ways, sets }
    }

    /// Uses the line with that number and brings it in where it is missing; whether it was there.
    pub fn access(&mut self, line: u64) -> bool {
        let set = self.set(line);
        match set.iter().position(|&held| held == line) {
            Some(age) => {
                set[..=age].rotate_right(1);
                true
            }
            None => {
                set.rotate_right(1);
                set[0] = line;
                false
            }
        }
    }

    /// Whether the line is there; that is no use of it.
    pub fn has(&self, line: u64) -> bool {
        let start = self.start(line);
        self.lines[start..start + self.ways].contains(&line)
    }

    /// Uses the line where it is there, and leaves the cache as it is where it is not.
    pub fn refresh(&mut self, line: u64) -> bool {
        let set = self.set(line);
        let age = set.iter().position(|&held| held == line);
        if let Some(age) = age {
            set[..=age].rotate_right(1);
        }
        age.is_some()
    }

    fn set(&mut self, line: u64) -> &mut [u64] {
        let start = self.start(line);
        &mut self.lines[start..start + self.ways]
    }

    /// Where the set of a line begins.
    fn start(&self, line: u64) -> usize {
        // Nearly every cache has a power of two of sets, and a division takes long.
        let mask = self.sets - 1;
        let set = if self.sets & mask == 0 { line & mask } else { line % self.sets };
        set as usize * self.ways
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which of the accesses hit, in a cache of two sets of two lines of 128 bytes.
    fn hits(lines: &[u64]) -> Vec<bool> {
        let mut cache = Cache::new(Bytes(512), Bytes(128), 2);
        lines.iter().map(|&line| cache.access(line)).collect()
    }

    #[test]
    fn the_least_recently_used_line_of_a_set_is_replaced() {
        // 0, 2 and 4 share set 0. 0 is used again before 4 comes, so 4 replaces 2; line 1 lies in
        // the other set and disturbs nobody.
        assert_eq!(
            hits(&[0, 2, 0, 1, 4, 0, 2, 1]),
            [false, false, true, false, false, true, false, true]
        );
    }

    #[test]
    fn a_walk_through_more_lines_than_fit_never_hits() {
        // The line that is needed next is always the one replaced last.
        assert!(hits(&[0, 2, 4, 0, 2, 4, 0, 2, 4]).iter().all(|hit| !hit));
    }

    #[test]
    fn a_refresh_brings_nothing_in() {
        let mut cache = Cache::new(Bytes(256), Bytes(128), 2);
        assert!(!cache.refresh(7) && !cache.access(7) && cache.refresh(7));
        // 8 comes, 7 is refreshed, so 9 replaces 8.
        cache.access(8);
        cache.refresh(7);
        cache.access(9);
        assert!(cache.refresh(7) && !cache.refresh(8));
    }
}
