//! The rows of messages among accelerators.

use super::Maybe;
use crate::error::Result;
use crate::table::csv::{Record, Row};

record! {
    /// A row of `messages.csv`: what a message of a size costs over a kind of link.
    MessageTime by (link: String, bytes: u64) {
        /// The kind of link: `within-cell`, `between-cells`, `between-blades`, `between-nodes` or
        /// `between-units`.
        link: String = word(),
        /// The size of the message.
        bytes: u64 = large_count(0),
        /// From the sender's call to the receiver's completion, where the receiver has waited \[s\].
        early_s: f64 = seconds(),
        /// From the receiver's call to its completion, where the sender has waited \[s\].
        late_s: f64 = seconds(),
        /// From the receiver's completion to the sender's; less than 0 where the sender is first
        /// \[s\].
        release_s: f64 = number(),
        /// Half of the time of a message and one back \[s\].
        half_round_trip_s: f64 = seconds(),
        /// Of messages that follow one another \[byte/s\]; none of those without bytes.
        rate_bytes_per_s: Maybe = maybe_number(),
    }
}
