//! The window of an MFC: it has so many lines outstanding, and asks for another only when one of
//! them has arrived.
//!
//! So no more bytes arrive within the round trip of a line than the window is wide. An MFC that was
//! idle gets its first window at the rate of the way; from then on each line waits for one before
//! it, and the rate is window / round trip.

use std::collections::VecDeque;

use crate::units::{SimSpan, SimTime};

/// What an MFC has received lately.
#[derive(Default)]
pub(super) struct Window {
    recent: VecDeque<Arrival>,
}

struct Arrival {
    start: SimTime,
    end: SimTime,
    bytes: f64,
}

impl Window {
    /// Bytes that have arrived within `span` before `now`.
    pub fn arrived_within(&mut self, span: SimSpan, now: SimTime) -> f64 {
        let age = |instant: SimTime| now.since(instant);
        while self.recent.front().is_some_and(|first| age(first.end) >= span) {
            self.recent.pop_front();
        }
        let within = |arrival: &Arrival| {
            let (oldest, newest) = (age(arrival.start), age(arrival.end));
            if oldest <= span {
                return arrival.bytes;
            }
            let part = (span - newest).seconds().0 / (oldest - newest).seconds().0;
            arrival.bytes * part
        };
        self.recent.iter().map(within).sum()
    }

    /// Bytes have arrived, evenly from `start` to `end`.
    pub fn note(&mut self, start: SimTime, end: SimTime, bytes: f64) {
        self.recent.push_back(Arrival { start, end, bytes });
    }
}

/// The rate of a transfer of `bytes` that nobody disturbs, from its first byte to its last: as much
/// of it as is `free` in the window comes at the rate of the `way`, the rest at the `sustained` one.
pub(super) fn mean_rate(bytes: f64, free: f64, sustained: f64, way: f64) -> f64 {
    if bytes <= free || sustained >= way {
        return way;
    }
    bytes / (free / way + (bytes - free) / sustained)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ticks: u64) -> SimTime {
        SimTime::ZERO + SimSpan::from_ticks(ticks)
    }

    #[test]
    fn what_arrived_before_the_round_trip_is_forgotten() {
        let mut window = Window::default();
        window.note(at(0), at(100), 1000.0);
        window.note(at(150), at(160), 50.0);
        let span = SimSpan::from_ticks(80);
        // From 20 on: 800 of the first.
        assert_eq!(Window::default().arrived_within(span, at(100)), 0.0);
        for (now, arrived) in [(160, 200.0 + 50.0), (180, 50.0), (235, 25.0), (240, 0.0)] {
            let found = window.arrived_within(span, at(now));
            assert!((found - arrived).abs() < 1e-9, "{found} at {now}");
        }
    }

    #[test]
    fn the_first_window_comes_at_the_rate_of_the_way() {
        // 2 KB at 20 bytes/ns take 102.4 ns, 2 KB more at 10 another 204.8.
        for (bytes, free, rate) in
            [(2048.0, 2048.0, 20.0), (4096.0, 2048.0, 4096.0 / 307.2), (4096.0, 0.0, 10.0)]
        {
            assert!((mean_rate(bytes, free, 10.0, 20.0) - rate).abs() < 1e-12);
        }
        assert_eq!(mean_rate(4096.0, 0.0, 30.0, 20.0), 20.0);
    }
}
