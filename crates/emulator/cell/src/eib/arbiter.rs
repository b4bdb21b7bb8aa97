//! The arbiter of the data rings, bus cycle by bus cycle: what it grants to flows of lines that are
//! in one another's way.
//!
//! A line has one ring to itself on all segments from its source to its destination, for as many
//! cycles as the ring takes to carry it past a place, and perhaps some more for each place on its way;
//! and its source's port out and its destination's port in. It goes the shorter way round, of two
//! equal ones either. A ring starts no line within so many cycles of the one before, and carries no
//! more than so many at once. In each cycle the units with priority go first, then the others; among
//! equals who was served longest ago; whoever finds a ring free takes the first there is. Nobody
//! waits for the sake of another.

use super::super::memory::LINE;
use mmgp_machine::{Eib, Participant};

/// What a port carries is counted in so many parts.
pub(super) const PARTS: u8 = 64;

/// Lines that a port could carry while the flows get into step, and while they are counted.
const LEAD: u32 = 24;
const COUNTED: u32 = 120;

/// The rules of the rings of one Cell.
#[derive(Debug, Clone)]
pub(super) struct Arbiter {
    /// Units around a ring.
    pub places: usize,
    /// Rings each way round.
    pub rings: usize,
    /// Cycles in which a ring carries a line past a place.
    pub beats: u32,
    /// Cycles by which a line keeps its way for longer, for each place between its ends.
    pub hop: u32,
    /// Cycles from one start on a ring to the next, at least.
    pub interval: u32,
    /// Lines that a ring carries at once, at most.
    pub most: usize,
    /// The places whose lines go first, a bit for each.
    pub urgent: u32,
}

/// A flow of lines: from place to place, so many parts of what a port carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Offer {
    pub from: u8,
    pub to: u8,
    pub parts: u8,
}

/// A way round from one place to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Way {
    /// 0 clockwise, 1 counterclockwise.
    pub direction: usize,
    /// A bit for each segment; the one from a place to the next clockwise has the place's number.
    pub segments: u32,
}

/// A flow in the course of arbitration.
struct Source {
    ways: [Option<Way>; 2],
    from: usize,
    to: usize,
    /// Parts of lines that have been offered and not granted.
    waiting: u32,
    granted: u32,
}

/// What is on a ring: the segments of each line, and the cycle in which they are free again.
struct Ring {
    lines: Vec<(u32, u32)>,
    next_start: u32,
}

/// The rings and ports of one Cell with what is on them.
struct RingTraffic {
    /// Rings of each direction.
    rings: [Vec<Ring>; 2],
    /// When the ports of each place are free.
    out: Vec<u32>,
    into: Vec<u32>,
}

impl Arbiter {
    pub fn new(eib: &Eib) -> Self {
        let bit = |(place, unit): (usize, &Participant)| {
            if eib.priority.contains(unit) { 1 << place } else { 0 }
        };
        Self {
            places: eib.order.len(),
            rings: (eib.rings / 2) as usize,
            beats: LINE.div_ceil(eib.width.0) as u32,
            hop: eib.hop,
            interval: eib.start_interval,
            most: eib.transfers_per_ring as usize,
            urgent: eib.order.iter().enumerate().map(bit).sum(),
        }
    }

    /// The shorter way round, or both if they are equal.
    pub fn ways(&self, from: usize, to: usize) -> [Option<Way>; 2] {
        let clockwise = (to + self.places - from) % self.places;
        let counterclockwise = self.places - clockwise;
        let ahead = (0..clockwise).map(|step| 1 << ((from + step) % self.places));
        let back =
            (1..=counterclockwise).map(|step| 1 << ((from + self.places - step) % self.places));
        [
            (clockwise <= counterclockwise).then(|| Way { direction: 0, segments: ahead.sum() }),
            (counterclockwise <= clockwise).then(|| Way { direction: 1, segments: back.sum() }),
        ]
    }

    /// Cycles for which a line has all segments of its way to itself.
    pub fn kept(&self, segments: u32) -> u32 {
        self.beats + self.hop * segments.count_ones().saturating_sub(1)
    }

    /// Factor by which that is longer than its beats.
    pub fn lengthening(&self, segments: u32) -> f64 {
        f64::from(self.kept(segments)) / f64::from(self.beats)
    }

    /// The share of each offer that is granted in the long run, at most one.
    pub fn grants(&self, offers: &[Offer]) -> Vec<f64> {
        let line = u32::from(PARTS) * self.beats;
        let mut sources: Vec<Source> = offers.iter().map(|offer| self.source(offer)).collect();
        // They do not all begin in the same cycle.
        for (index, source) in sources.iter_mut().enumerate() {
            source.waiting = line * index as u32 / offers.len() as u32;
        }
        let mut traffic = RingTraffic::new(self);
        let is_urgent = |&index: &usize| self.urgent >> offers[index].from & 1 == 1;
        // Whoever was served longest ago comes first.
        let (mut urgent, mut others): (Vec<usize>, Vec<usize>) =
            (0..offers.len()).partition(is_urgent);
        let mut served = Vec::new();
        for now in 0..(LEAD + COUNTED) * self.beats {
            if now == LEAD * self.beats {
                sources.iter_mut().for_each(|source| source.granted = 0);
            }
            for (source, offer) in sources.iter_mut().zip(offers) {
                source.waiting += u32::from(offer.parts);
            }
            for queue in [&mut urgent, &mut others] {
                queue.retain(|&index| {
                    let source = &mut sources[index];
                    let waits = source.waiting < line || !traffic.start(self, source, now);
                    if !waits {
                        (source.waiting, source.granted) =
                            (source.waiting - line, source.granted + 1);
                        served.push(index);
                    }
                    waits
                });
                queue.append(&mut served);
            }
        }
        sources
            .iter()
            .zip(offers)
            .map(|(source, offer)| share(source.granted, offer.parts))
            .collect()
    }

    fn source(&self, offer: &Offer) -> Source {
        let (from, to) = (usize::from(offer.from), usize::from(offer.to));
        Source { ways: self.ways(from, to), from, to, waiting: 0, granted: 0 }
    }
}

/// The share of `parts` of a port's lines that was granted. A line that is just waiting is no loss,
/// and nobody is kept from the rings for good.
fn share(granted: u32, parts: u8) -> f64 {
    let offered = f64::from(COUNTED) * f64::from(parts) / f64::from(PARTS);
    let granted = f64::from(granted.max(1));
    if granted + 1.0 >= offered { 1.0 } else { granted / offered }
}

impl RingTraffic {
    fn new(arbiter: &Arbiter) -> Self {
        let rings = || {
            let ring = |_| Ring { lines: Vec::with_capacity(arbiter.most), next_start: 0 };
            (0..arbiter.rings).map(ring).collect()
        };
        let ports = vec![0; arbiter.places];
        Self { rings: [rings(), rings()], out: ports.clone(), into: ports }
    }

    /// Starts a line if its ports and a ring are free.
    fn start(&mut self, arbiter: &Arbiter, source: &mut Source, now: u32) -> bool {
        if self.out[source.from] > now || self.into[source.to] > now {
            return false;
        }
        for way in source.ways.into_iter().flatten() {
            let mut rings = self.rings[way.direction].iter_mut();
            if rings.any(|ring| ring.start(arbiter, way.segments, now)) {
                self.out[source.from] = now + arbiter.beats;
                self.into[source.to] = now + arbiter.beats;
                // Of two equal ways round the other one is tried first next time.
                source.ways.swap(0, 1);
                return true;
            }
        }
        false
    }
}

impl Ring {
    fn start(&mut self, arbiter: &Arbiter, segments: u32, now: u32) -> bool {
        if self.next_start > now {
            return false;
        }
        self.lines.retain(|&(_, end)| end > now);
        let is_free = self.lines.len() < arbiter.most
            && self.lines.iter().all(|&(others, _)| others & segments == 0);
        if is_free {
            self.lines.push((segments, now + arbiter.kept(segments)));
            self.next_start = now + arbiter.interval;
        }
        is_free
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;
    use mmgp_machine::Machine;

    /// Places of the QS20: ppe 0, SPEs 0 to 3 at 1 to 4, ioif1 5, bif 6, SPEs 4 to 7 at 7 to 10,
    /// mic 11.
    fn qs20() -> Arbiter {
        Arbiter::new(&Machine::named("qs20").unwrap().eib)
    }

    /// What is granted of as much as a port carries, from place to place \[lines of a port\].
    fn check(arbiter: &Arbiter, ways: &[(u8, u8)], by_hand: &[f64]) {
        let offer = |&(from, to): &(u8, u8)| Offer { from, to, parts: PARTS };
        let grants = arbiter.grants(&ways.iter().map(offer).collect::<Vec<_>>());
        for (grant, by_hand) in grants.iter().zip(by_hand) {
            assert_abs_diff_eq!(*grant, *by_hand, epsilon = 0.01);
        }
    }

    #[test]
    fn the_shorter_way_round_is_taken_and_of_two_equal_ones_either() {
        let arbiter = qs20();
        let [clockwise, other] = arbiter.ways(10, 1);
        assert_eq!((clockwise.unwrap().segments, other), (0b1100_0000_0001, None));
        let [other, counterclockwise] = arbiter.ways(1, 10);
        assert_eq!((other, counterclockwise.unwrap().segments), (None, 0b1100_0000_0001));
        let [clockwise, counterclockwise] = arbiter.ways(1, 7).map(Option::unwrap);
        assert_eq!(clockwise.segments, 0b0000_0111_1110);
        assert_eq!(counterclockwise.segments, 0b1111_1000_0001);
    }

    #[test]
    fn lines_whose_ways_do_not_overlap_share_a_ring() {
        let single = Arbiter { rings: 1, ..qs20() };
        check(&single, &[(1, 3), (3, 6)], &[1.0, 1.0]);
        // Segment 2 is on both ways.
        check(&single, &[(1, 3), (2, 6)], &[0.5, 0.5]);
    }

    #[test]
    fn three_lines_over_a_segment_get_what_two_rings_carry() {
        check(&qs20(), &[(2, 7), (3, 8), (4, 9)], &[2.0 / 3.0; 3]);
        // Two of them have a ring each.
        check(&qs20(), &[(2, 7), (3, 8)], &[1.0; 2]);
    }

    #[test]
    fn a_ring_starts_a_line_in_every_third_cycle() {
        // Three starts in nine cycles; a line takes eight.
        let single = Arbiter { rings: 1, ..qs20() };
        check(&single, &[(1, 2), (3, 4), (7, 8)], &[8.0 / 9.0; 3]);
        let quick = Arbiter { interval: 1, ..single };
        check(&quick, &[(1, 2), (3, 4), (7, 8)], &[1.0; 3]);
    }

    #[test]
    fn a_ring_carries_three_lines_at_once() {
        let neighbours = [(1, 2), (3, 4), (7, 8), (9, 10)];
        let single = Arbiter { rings: 1, interval: 1, ..qs20() };
        check(&single, &neighbours, &[0.75; 4]);
        check(&Arbiter { most: 4, ..single }, &neighbours, &[1.0; 4]);
    }

    #[test]
    fn a_line_may_keep_its_way_until_its_last_beat_has_arrived() {
        // Over five segments, four places, twelve cycles.
        let slow = Arbiter { hop: 1, ..qs20() };
        check(&slow, &[(2, 7), (3, 8), (4, 9)], &[2.0 * 8.0 / 12.0 / 3.0; 3]);
        // One alone takes both rings in turn.
        check(&slow, &[(2, 7)], &[1.0]);
        check(&Arbiter { rings: 1, ..slow }, &[(2, 7)], &[8.0 / 12.0]);
    }

    #[test]
    fn a_port_holds_one_line_each_way() {
        check(&qs20(), &[(1, 2), (1, 3)], &[0.5, 0.5]);
        check(&qs20(), &[(2, 1), (3, 1)], &[0.5, 0.5]);
        check(&qs20(), &[(1, 2), (2, 1)], &[1.0, 1.0]);
    }

    #[test]
    fn the_memory_controller_goes_first() {
        // Both want the port into SPE 0 (1); what the memory does not take is left to the SPE.
        let memory = Offer { from: 11, to: 1, parts: PARTS / 2 };
        let spe = Offer { from: 2, to: 1, parts: PARTS };
        let arbiter = qs20();
        let grants = arbiter.grants(&[memory, spe]);
        assert_abs_diff_eq!(grants[0], 1.0);
        assert_abs_diff_eq!(grants[1], 0.5, epsilon = 0.01);
        // As an equal among equals it would get less than it wants beside two others.
        let third = Offer { from: 3, ..spe };
        assert_abs_diff_eq!(arbiter.grants(&[memory, spe, third])[0], 1.0);
        let equal = Arbiter { urgent: 0, ..arbiter };
        assert_abs_diff_eq!(equal.grants(&[memory, spe, third])[0], 2.0 / 3.0, epsilon = 0.01);
    }

    #[test]
    fn two_equal_ways_round_are_taken_in_turn() {
        let arbiter = qs20();
        let mut traffic = RingTraffic::new(&arbiter);
        let mut source = arbiter.source(&Offer { from: 1, to: 7, parts: PARTS });
        for now in [0, 8, 16, 24] {
            assert!(traffic.start(&arbiter, &mut source, now));
        }
        // The last start on each, 16 and 24, and the interval.
        let next_starts = [0, 1].map(|direction: usize| traffic.rings[direction][0].next_start);
        assert_eq!(next_starts, [19, 27]);
        // If only one is free, that one.
        let single = Arbiter { rings: 1, ..arbiter };
        check(&single, &[(1, 7), (2, 6)], &[1.0; 2]);
    }

    #[test]
    fn what_is_offered_and_fits_is_granted_to_the_last_line() {
        let arbiter = qs20();
        for parts in 1..=PARTS {
            let offers = [Offer { from: 1, to: 4, parts }, Offer { from: 2, to: 7, parts }];
            assert_eq!(arbiter.grants(&offers), [1.0, 1.0], "{parts}");
        }
    }
}
