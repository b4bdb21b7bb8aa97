//! Wavefronts over many ranks and links: what a sweep takes where blocks and messages take what was
//! measured of them.
//!
//! A [`Wavefront`] is a grid of ranks, each of which receives two faces, computes a block and sends two
//! faces on, step after step. A [`Placement`] says where each rank runs, and so what lies between two
//! neighbours; a [`Network`] what a message costs there. Together they are a [`Cluster`], whose
//! iterations are timed in two ways:
//!
//! * [`Cluster::recurrence`], where no message is in another's way: each rank's times follow from those of
//!   its neighbours upstream, exactly;
//! * [`Cluster::events`], where messages queue up at PPEs, host cores and adapters. Without such
//!   [stations](Station) it gives the same times, to the tick.
//!
//! This crate knows no kernel and no Cell. All times are put in, and come from elsewhere: kernels,
//! emulated messages, or a published table.
//!
//! ```
//! use mmgp_base::units::{Bytes, Seconds};
//! use mmgp_cluster::{
//!     Between, Blocks, Cluster, Curve, Exchange, Faces, Grid, Network, Placement, Shape, Steps,
//!     Wavefront,
//! };
//!
//! // 4 x 3 ranks on two Cells; a block takes 10 us and a message 1 us, wherever it goes.
//! let grid = Grid::new(4, 3)?;
//! let shape = Shape {
//!     spes_per_cell: 8,
//!     cells_per_blade: 2,
//!     blades_per_node: 1,
//!     nodes_per_unit: 1,
//!     units: 1,
//! };
//! let steps = Steps { angle_blocks: 2, plane_blocks: 5 };
//! let faces = Faces::same(grid, Bytes(800), Bytes(800));
//! let wavefront = Wavefront::new(grid, steps, Blocks::same(Seconds(10e-6)), faces)?;
//! let network = Network::uniform(&Exchange::symmetric(Curve::constant(Seconds(1e-6))?));
//! let cluster = Cluster::new(wavefront, &Placement::row_major(grid, shape)?, &network)?;
//!
//! let outcome = cluster.recurrence(1, Between::Nothing);
//! // S = 80 steps and F = 2 x 3 + 4 x 2 to fill: W (S + F) + c (4 S + 2 F - 10).
//! assert!((outcome.first().0 - (94.0 * 10e-6 + 338.0 * 1e-6)).abs() < 1e-15);
//! assert_eq!(cluster.events(1, Between::Nothing).outcome, outcome);
//! # Ok::<(), mmgp_base::Error>(())
//! ```
//!
//! # Ordering guarantee
//!
//! 1. Stations serve messages in the order in which they arrive.
//! 2. Messages that arrive at the same instant are served in the order of their ranks, first those along
//!    x.

mod cluster;
mod events;
mod link;
mod placement;
mod recurrence;
mod wavefront;

pub use cluster::{Between, Cluster, Outcome, Split};
pub use events::{Events, Queue};
pub use link::{Curve, Exchange, Link, Network, Route, Stage, Station};
pub use placement::{Placement, Shape, Tiles};
pub use wavefront::{Blocks, Faces, Grid, Steps, Wavefront};
