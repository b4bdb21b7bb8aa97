//! What lies between two ranks, and what a message over it costs.

use super::curve::Curve;

/// What two neighbouring ranks share, and so what a message between them passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Link {
    /// Both on one Cell.
    WithinCell,
    /// On two Cells of a blade.
    BetweenCells,
    /// On two blades of a node.
    BetweenBlades,
    /// On two nodes of a unit.
    BetweenNodes,
    /// On two units.
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

    /// Its name in files.
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
    /// From the sender's readiness to the receiver's completion, where the receiver waits.
    pub early: Curve,
    /// From the receiver's posting to its completion, where the message waits.
    pub late: Curve,
    /// From the receiver's completion until the sender goes on.
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
    /// Where.
    pub station: Station,
    /// How long a message of that size occupies it.
    pub occupancy: Curve,
}

/// The stations at which a message may find others before it, in the order of its way. Occupancies
/// are parts of the [`Exchange`]'s costs and add nothing to them where nobody else is there.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Route {
    /// From the sender's readiness on, whether the receiver waits or not; part of `early`.
    pub forward: Vec<Stage>,
    /// From when both the message and the receiver are there; part of `early` and of `late`.
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
    /// Those costs, in the order of [`Link::ALL`], and no station where messages meet.
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

    /// Where messages on that link meet others.
    pub fn route(&self, link: Link) -> &Route {
        &self.routes[link as usize]
    }
}
