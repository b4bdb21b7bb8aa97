//! The best of what a search has seen.

use super::climber::is_better;

/// Some things by their log likelihoods, the best first; of equal ones only the first seen.
#[derive(Debug, Clone, PartialEq)]
pub struct Best<T> {
    most: usize,
    entries: Vec<(f64, T)>,
}

impl<T> Best<T> {
    /// Of so many things at most.
    pub fn new(most: usize) -> Self {
        Self { most, entries: Vec::new() }
    }

    /// Keeps what `make` makes, if its log likelihood is among the best and differs from those
    /// that are there. Whether it was kept.
    pub fn offer(&mut self, log_likelihood: f64, make: impl FnOnce() -> T) -> bool {
        let place = self.entries.partition_point(|(kept, _)| is_better(*kept, log_likelihood));
        // Whoever stands here is not better: it is the same, or worse.
        let same =
            self.entries.get(place).is_some_and(|(kept, _)| !is_better(log_likelihood, *kept));
        if same || place >= self.most {
            return false;
        }
        self.entries.insert(place, (log_likelihood, make()));
        self.entries.truncate(self.most);
        true
    }

    /// All that are kept, the best first.
    pub fn into_iter(self) -> impl Iterator<Item = T> {
        self.entries.into_iter().map(|(_, thing)| thing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_are_kept_in_order_and_equal_ones_once() {
        let mut best = Best::new(3);
        assert!(best.offer(-5.0, || "e"));
        assert!(best.offer(-3.0, || "c"));
        assert!(!best.offer(-3.0 + 1e-8, || "c again"));
        assert!(!best.offer(-5.0 - 1e-8, || "e again"));
        assert!(best.offer(-1.0, || "a"));
        assert!(best.offer(-4.0, || "d"), "pushes the last out");
        assert!(!best.offer(-6.0, || "f"));
        assert_eq!(best.into_iter().collect::<Vec<_>>(), ["a", "c", "d"]);
    }
}
