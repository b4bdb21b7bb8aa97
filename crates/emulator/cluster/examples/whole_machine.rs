//! An iteration of a wavefront over 97,920 ranks, by recurrence or by events: `recurrence`, `events`, or
//! `queues` for events with stations. The costs are round numbers and stand for no machine.

use std::process::ExitCode;

use mmgp_base::error::Result;
use mmgp_base::units::{Bytes, BytesPerSecond, Seconds};
use mmgp_cluster::{
    Between, Blocks, Cluster, Curve, Exchange, Faces, Grid, Link, Network, Placement, Route, Shape,
    Stage, Station, Steps, Tiles, Wavefront,
};

const SHAPE: Shape = Shape {
    spes_per_cell: 8,
    cells_per_blade: 2,
    blades_per_node: 2,
    nodes_per_unit: 180,
    units: 17,
};

fn network() -> Result<Network> {
    let exchange = |latency: f64, rate: f64| -> Result<Exchange> {
        Ok(Exchange {
            early: Curve::line(Seconds(latency), BytesPerSecond(rate))?,
            late: Curve::line(Seconds(0.6 * latency), BytesPerSecond(rate))?,
            release: Curve::constant(Seconds(0.2 * latency))?,
        })
    };
    Ok(Network::new([
        exchange(0.3e-6, 20e9)?,
        exchange(0.5e-6, 6e9)?,
        exchange(12e-6, 0.4e9)?,
        exchange(12e-6, 0.3e9)?,
        exchange(13e-6, 0.3e9)?,
    ]))
}

/// The PPE and the host core on both sides, and the adapters between nodes.
fn route(link: Link) -> Result<Route> {
    let stage = |station, latency: f64| -> Result<Stage> {
        let occupancy = Curve::line(Seconds(latency), BytesPerSecond(4e9))?;
        Ok(Stage { station, occupancy })
    };
    let mut forward = vec![stage(Station::SenderPpe, 1e-6)?, stage(Station::SenderHost, 1e-6)?];
    if link > Link::BetweenBlades {
        forward.push(stage(Station::SenderAdapter, 0.2e-6)?);
        forward.push(stage(Station::ReceiverAdapter, 0.2e-6)?);
    }
    forward.push(stage(Station::ReceiverHost, 1e-6)?);
    let delivery = vec![stage(Station::ReceiverPpe, 1e-6)?];
    Ok(Route { forward, delivery, acknowledgement: Vec::new() })
}

fn cluster() -> Result<Cluster> {
    let grid = Grid::new(306, 320)?;
    let steps = Steps { angle_blocks: 2, plane_blocks: 20 };
    let faces = Faces::same(grid, Bytes(2400), Bytes(2400));
    let wavefront = Wavefront::new(grid, steps, Blocks::same(Seconds(60e-6)), faces)?;
    let placement = Placement::tiled(grid, SHAPE, Tiles::cut([2, 16], SHAPE)?)?;
    let mut network = network()?;
    if std::env::args().nth(1).as_deref() == Some("queues") {
        for link in [Link::BetweenBlades, Link::BetweenNodes, Link::BetweenUnits] {
            network = network.with_route(link, route(link)?);
        }
    }
    Cluster::new(wavefront, &placement, &network)
}

fn main() -> Result<ExitCode> {
    let cluster = cluster()?;
    let outcome = match std::env::args().nth(1).as_deref() {
        Some("recurrence") => cluster.recurrence(1, Between::Nothing),
        Some("events" | "queues") => {
            let events = cluster.events(1, Between::Nothing);
            for queue in &events.queues {
                println!("{}: {} visits", queue.station.name(), queue.visits);
                println!("  waited {} in all, {} at most", queue.waited, queue.longest_wait);
            }
            events.outcome
        }
        _ => {
            eprintln!("say recurrence, events or queues");
            return Ok(ExitCode::FAILURE);
        }
    };
    println!("{}, efficiency {:.3}", outcome.first(), cluster.efficiency(&outcome));
    Ok(ExitCode::SUCCESS)
}
