//! Iterations in which messages are in each other's way.

mod queue;
mod ranks;
mod stations;
#[cfg(test)]
mod tests;

use mmgp_base::units::Seconds;

use super::Cluster;
use super::link::Station;
use super::outcome::{Between, Outcome};

/// What comes out of a run by events.
#[derive(Debug, Clone, PartialEq)]
pub struct Events {
    /// When iterations end, and what ranks did meanwhile.
    pub outcome: Outcome,
    /// What messages met at their stations, by kind; those that were visited.
    pub queues: Vec<Queue>,
}

/// What messages met at the stations of a kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Queue {
    /// Which.
    pub station: Station,
    /// Visits of messages.
    pub visits: u64,
    /// What all of them waited, together.
    pub waited: Seconds,
    /// What the longest of these visits waited.
    pub longest_wait: Seconds,
    /// How long all of them occupied their stations, together.
    pub occupied: Seconds,
}

impl Cluster {
    /// Times so many iterations, of which there is at least one, message by message, where the stations on
    /// their [routes](super::Route) serve them one after the other.
    ///
    /// Ranks are programs: receive, receive, compute, send, send. A message leaves when its sender is ready, passes
    /// the stations of `forward`, meets its receiver, passes those of `delivery`, and word of it goes
    /// back past those of `acknowledgement`. What an exchange takes beyond its stations is spent after
    /// the last of `forward`, before `delivery`, and after the last of `acknowledgement`, so that with
    /// free stations it takes what the [exchange](super::Exchange) says.
    ///
    /// Only arrivals at stations are events on a calendar. What a rank does between them depends on nobody
    /// but its neighbours and is done at once, however far it lies ahead; it can only bring about
    /// arrivals that come later. So the calendar holds one entry for each message that is under way
    /// past stations. This is no process of `mmgp_sim` for each rank, which takes some 30 times as long (0.75 us a rank and step):
    /// the crate's tests have one to compare with.
    pub fn events(&self, iterations: u32, between: Between) -> Events {
        ranks::Run::new(self, iterations.max(1), between).run()
    }
}
