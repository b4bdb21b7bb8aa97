//! What lies between two ranks, and what a message over it costs.

use mmgp_base::error::{Error, Result};
use mmgp_base::units::{Bytes, BytesPerSecond, Seconds};

/// What two neighbouring ranks share, and so what a message between them passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Link {
    /// Both on one Cell.
    WithinCell,
    /// Ranks on two Cells of a blade.
    BetweenCells,
    /// Ranks on two blades of a node.
    BetweenBlades,
    /// Ranks on two nodes of a unit.
    BetweenNodes,
    /// Ranks on two units.
    BetweenUnits,
}

impl Link {
    /// All of them, from near to far.
    pub const ALL: [Self; 5] = [
        Self::WithinCell,
        Self::BetweenCells,
        Self::BetweenBlades,
        Self::BetweenNodes,
        Self::BetweenUnits,
    ];

    /// Name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::WithinCell => "within-cell",
            Self::BetweenCells => "between-cells",
            Self::BetweenBlades => "between-blades",
            Self::BetweenNodes => "between-nodes",
            Self::BetweenUnits => "between-units",
        }
    }
}

/// What a synchronous message costs where nobody else is in its way:
///
/// ```text
/// completion = max(sender ready + early, receiver posted + late)
/// sender goes on = completion + release
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Exchange {
    /// Time from the sender's readiness to the receiver's completion, where the receiver waits.
    pub early: Curve,
    /// Time from the receiver's posting to its completion, where the message waits.
    pub late: Curve,
    /// Time from the receiver's completion until the sender goes on.
    pub release: Curve,
}

impl Exchange {
    /// The later of both and a cost, at which both go on.
    pub fn symmetric(cost: Curve) -> Self {
        Self { early: cost.clone(), late: cost, release: Curve::nothing() }
    }

    /// A message that takes no time.
    pub fn ideal() -> Self {
        Self::symmetric(Curve::nothing())
    }
}

/// Who serves one message after another on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Station {
    /// The PPE of the sender's Cell.
    SenderPpe,
    /// The host core that the sender's Cell is tied to.
    SenderHost,
    /// The adapter of the sender's node, outwards.
    SenderAdapter,
    /// The adapter of the receiver's node, inwards.
    ReceiverAdapter,
    /// The host core that the receiver's Cell is tied to.
    ReceiverHost,
    /// The PPE of the receiver's Cell.
    ReceiverPpe,
}

impl Station {
    /// All of them, in the order of a message's way.
    pub const ALL: [Self; 6] = [
        Self::SenderPpe,
        Self::SenderHost,
        Self::SenderAdapter,
        Self::ReceiverAdapter,
        Self::ReceiverHost,
        Self::ReceiverPpe,
    ];

    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SenderPpe => "sender's PPE",
            Self::SenderHost => "sender's host core",
            Self::SenderAdapter => "sender's adapter",
            Self::ReceiverAdapter => "receiver's adapter",
            Self::ReceiverHost => "receiver's host core",
            Self::ReceiverPpe => "receiver's PPE",
        }
    }
}

/// A station on a message's way, and how long it is occupied.
#[derive(Debug, Clone, PartialEq)]
pub struct Stage {
    /// Time line.
    pub station: Station,
    /// How long a message of that size occupies it.
    pub occupancy: Curve,
}

/// The stations at which a message may find others before it, in the order of its way. Occupancies
/// are parts of the [`Exchange`]'s costs and add nothing to them where nobody else is there.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Route {
    /// Stations from the sender's readiness on, whether the receiver waits or not; part of `early`.
    pub forward: Vec<Stage>,
    /// Stations from when both the message and the receiver are there; part of `early` and of `late`.
    pub delivery: Vec<Stage>,
    /// Word to the sender that the receiver has it all; part of `release`.
    pub acknowledgement: Vec<Stage>,
}

/// What messages cost on each kind of link.
#[derive(Debug, Clone, PartialEq)]
pub struct Network {
    exchanges: [Exchange; 5],
    routes: [Route; 5],
}

impl Network {
    /// Network of those costs, in the order of [`Link::ALL`], and no station where messages meet.
    pub fn new(exchanges: [Exchange; 5]) -> Self {
        Self { exchanges, routes: Default::default() }
    }

    /// The same costs on all links.
    pub fn uniform(exchange: &Exchange) -> Self {
        Self::new(std::array::from_fn(|_| exchange.clone()))
    }

    /// All messages take no time.
    pub fn ideal() -> Self {
        Self::uniform(&Exchange::ideal())
    }

    /// The same with the stations of a link's messages, which
    /// [`Cluster::events`](super::Cluster::events) knows.
    #[must_use]
    pub fn with_route(mut self, link: Link, route: Route) -> Self {
        self.routes[link as usize] = route;
        self
    }

    /// What a message costs on that link.
    pub fn exchange(&self, link: Link) -> &Exchange {
        &self.exchanges[link as usize]
    }

    /// Stations at which messages on that link meet others.
    pub fn route(&self, link: Link) -> &Route {
        &self.routes[link as usize]
    }
}

/// A time by the size of a message: straight lines between measured points.
///
/// A smaller message takes as long as the smallest that was measured; of larger ones than the largest,
/// the last line goes on.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// Points by size \[bytes, s\], increasing; at least one.
    points: Vec<(f64, f64)>,
}

impl Curve {
    /// No time at all.
    pub fn nothing() -> Self {
        Self { points: vec![(0.0, 0.0)] }
    }

    /// The same time for every size.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for a time that is negative or not finite.
    pub fn constant(time: Seconds) -> Result<Self> {
        Self::through(&[(Bytes(0), time)])
    }

    /// A latency, and then a time for each byte.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for a negative latency, and a rate that is not positive.
    pub fn line(latency: Seconds, rate: BytesPerSecond) -> Result<Self> {
        let end = Bytes(1 << 20);
        let transfer = Seconds(end.0 as f64 / rate.0);
        Self::through(&[(Bytes(0), latency), (end, latency + transfer)])
    }

    /// Through measured points.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] where there is none, where sizes do not increase, and for a time that is
    /// negative or not finite.
    pub fn through(points: &[(Bytes, Seconds)]) -> Result<Self> {
        let refuse = |found: String, expected: &str| {
            Err(Error::out_of_range("times by size", found, expected))
        };
        if points.is_empty() {
            return refuse("no point".into(), "at least one");
        }
        if let Some((_, time)) = points.iter().find(|(_, time)| !time.0.is_finite() || time.0 < 0.0)
        {
            return refuse(time.0.to_string(), "a time that is not negative");
        }
        if let Some(pair) = points.windows(2).find(|pair| pair[0].0 >= pair[1].0) {
            return refuse(format!("{} after {}", pair[1].0.0, pair[0].0.0), "increasing sizes");
        }
        let points = points.iter().map(|(bytes, time)| (bytes.0 as f64, time.0));
        Ok(Self { points: points.collect() })
    }

    /// The time of a message of that size.
    pub fn at(&self, bytes: Bytes) -> Seconds {
        let size = bytes.0 as f64;
        let after = self.points.partition_point(|&(measured, _)| measured < size);
        let last = self.points.len() - 1;
        if after == 0 || last == 0 {
            return Seconds(self.points[0].1);
        }
        let (low, high) = (self.points[after.min(last) - 1], self.points[after.min(last)]);
        let part = (size - low.0) / (high.0 - low.0);
        Seconds((low.1 + part * (high.1 - low.1)).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(curve: &Curve, bytes: u64, expected: f64) {
        let found = curve.at(Bytes(bytes)).0;
        assert!((found - expected).abs() < 1e-12, "{bytes} bytes: {found}, {expected}");
    }

    #[test]
    fn times_lie_on_lines_between_points_and_beyond_the_last() {
        let points = [(16, 1.0), (32, 2.0), (64, 6.0)];
        let points = points.map(|(bytes, time)| (Bytes(bytes), Seconds(time)));
        let curve = Curve::through(&points).unwrap();
        for (bytes, expected) in [(0, 1.0), (16, 1.0), (24, 1.5), (32, 2.0), (40, 3.0), (96, 10.0)]
        {
            check(&curve, bytes, expected);
        }
        check(&Curve::line(Seconds(1.0), BytesPerSecond(10.0)).unwrap(), 20, 3.0);
        check(&Curve::constant(Seconds(0.5)).unwrap(), 1 << 30, 0.5);
    }

    #[test]
    fn points_that_are_no_curve_are_refused() {
        let error = |points: &[(u64, f64)]| {
            let points: Vec<_> =
                points.iter().map(|&(bytes, time)| (Bytes(bytes), Seconds(time))).collect();
            Curve::through(&points).unwrap_err().to_string()
        };
        assert_eq!(error(&[]), "times by size: found no point, expected at least one");
        assert_eq!(
            error(&[(8, 1.0), (8, 2.0)]),
            "times by size: found 8 after 8, expected increasing sizes"
        );
        assert_eq!(
            error(&[(8, -1.0)]),
            "times by size: found -1, expected a time that is not negative"
        );
    }
}
