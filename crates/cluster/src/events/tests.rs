//! Runs by events beside the recurrence, and by hand.
