//! Sums and maxima of all ranks.

use mmgp_base::units::{Bytes, Seconds};

use super::Cluster;
use super::link::Link;

impl Cluster {
    /// What a sum or a maximum of `bytes` over all ranks takes until every rank has it, from when the last
    /// one is there: over a tree that follows the machine, up and down again.
    ///
    /// Among n parts of a whole (SPEs of a Cell, Cells of a blade, blades of a node, nodes of a unit,
    /// units) a binomial tree has `ceil(log2 n)` messages one after the other, each an exchange whose
    /// receiver waits. Up, a rank's next message comes from another rank, so a sender's `release` is
    /// not waited for; down, a rank sends one message after the other, and its release is. Stations are taken to be free.
    pub fn reduction(&self, bytes: Bytes) -> Seconds {
        let levels = Link::ALL.into_iter().zip(self.in_use);
        let times = levels.map(|(link, parts)| {
            let exchange = self.network.exchange(link);
            let (early, release) = (exchange.early.at(bytes), exchange.release.at(bytes));
            let rounds = f64::from(parts.next_power_of_two().trailing_zeros());
            // The last part is reached over as many messages, of which all but one wait for a release.
            early * (2.0 * rounds) + release * (rounds - 1.0).max(0.0)
        });
        times.sum()
    }
}
