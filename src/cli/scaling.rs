//! `mmgp scaling`

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::Answer;
use super::files::Guard;
use super::input::programs::sweep3d::Extents;
use super::input::{MachineArguments, ThreadArguments};
use super::output::{Format, Verbosity, data, json, progress};
use super::plot::write_picture;
use crate::answer::{Style, Table};
use crate::cluster::{Between, Cluster, Grid, Network, Placement, Shape, Tiles};
use crate::error::{Error, Result};
use crate::lab::space::doublings;
use crate::machine::Machine;
use crate::measure::hosts::Hosts;
use crate::measure::messages;
use crate::measure::on_threads;
use crate::measure::wavefront::{BlockPlan, block_time};
use crate::plot::{CurvePanel, Curves, Kind, Picture};
use crate::table::{
    self, csv,
    records::{Maybe, ScalingRow},
};
use crate::units::Seconds;

/// Simulate Sweep3D on more and more ranks, up to a whole machine of nodes
#[derive(Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    /// Machine: a built-in name (roadrunner, qs22, ..) or a TOML file
    #[arg(long, value_name = "NAME|FILE", default_value = "roadrunner")]
    machine: String,
    /// Numbers of ranks [default: 1, 2, 4 and so on to a node, then nodes up to all]
    #[arg(long, value_name = "N,..", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..))]
    ranks: Vec<u32>,
    /// Cells of each rank along i, j and k: weak scaling
    #[arg(long, value_name = "IxJxK", default_value = "5x5x400", conflicts_with = "cells")]
    cells_of_rank: Extents<3>,
    /// Cells of the whole grid: strong scaling
    #[arg(long, value_name = "IxJxK")]
    cells: Option<Extents<3>>,
    /// Planes of k of a block
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    mk: u32,
    /// Angles of a block: 1, 2, 3 or 6 of the 6 of an octant
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = super::input::programs::sweep3d::angles_of_block)]
    mmi: u32,
    /// Time of a cell and angle on a core of the host, of which all run the problem without Cells [ns] [default:
    /// the least that its peak rate allows]
    #[arg(long, value_name = "T")]
    host_ns: Option<f64>,
    /// Ranks along i and j on a node [default: two columns]
    #[arg(long, value_name = "IxJ")]
    tile: Option<Extents<2>>,
    /// How to print
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    /// Folder for scaling.csv and the picture; without it, none is written
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    threads: ThreadArguments,
    /// No progress
    #[arg(long)]
    quiet: bool,
}

const HELP: &str = "\
Examples:
  mmgp scaling
  mmgp scaling --ranks 32,1024,97920 --mk 10 --format json
  mmgp scaling --cells 612x640x400 --out strong

What blocks and messages take is measured on emulated Cells first; then an \
iteration is simulated on each number of ranks: by recurrence, as if no message \
were in another's way; by events, where messages queue up at PPEs, hosts and \
adapters; and on an ideal network, whose messages take no time. Efficiency is \
the ideal time over that by events.

Of whole nodes the same iteration is simulated on the cores of their hosts alone, a \
rank for each Cell, with blocks of as many planes or half, a quarter and so on, whichever \
is the fastest. No measured time of a cell on these hosts is at hand: without --host-ns a \
core computes at its peak rate, which no program does.

With --out it writes scaling.csv, scaling.svg and scaling.png.";

/// The files that it leaves.
const FILES: [&str; 3] = ["scaling.csv", "scaling.svg", "scaling.png"];

/// Angles of an octant.
const ANGLES: u32 = 6;

pub fn run(arguments: &Arguments) -> Result<Answer> {
    let machine = MachineArguments { machine: arguments.machine.clone() };
    let guard = machine.guarded(Guard::default());
    let guard = match &arguments.out {
        Some(folder) => guard.writes_into("--out", folder, &FILES),
        None => guard,
    };
    guard.check()?;
    let machine = machine.read()?;
    let scaling = Scaling::new(arguments, &machine)?;
    let hosts = scaling.hosts(&machine)?;
    let sizes = scaling.runs()?;
    if let Some(folder) = &arguments.out {
        table::create_folder(folder)?;
    }
    let verbosity = Verbosity::from(arguments.quiet);
    let bar = progress("measuring, simulating", 1 + 2 * sizes.len() as u64, verbosity);
    let threads = arguments.threads.count();
    let network = messages::network(&machine, &messages::SIZES, threads)?;
    bar.inc(1);
    let blocks = on_threads(&sizes, threads, &|size: &RankGrid| {
        let time = block_time(&machine, &scaling.block(size));
        bar.inc(1);
        time
    })?;
    let mut rows = Vec::with_capacity(sizes.len());
    for (size, block) in sizes.iter().zip(blocks) {
        rows.push(scaling.row(size, block, &network, hosts.as_ref())?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    if let Some(folder) = &arguments.out {
        table::write(&folder.join(FILES[0]), csv::write(&rows))?;
        let title = format!("Sweep3D on {}", machine.name);
        let curves = curves(&rows);
        let picture = Picture { title: &title, kind: Kind::Curves(&curves) };
        write_picture(folder, "scaling", &picture)?;
    }
    let text = match arguments.format {
        Format::Table => text(&rows) + &basis(arguments, hosts.as_ref()),
        Format::Csv => csv::write(&rows),
        Format::Json => {
            let host_cell_s = hosts.as_ref().map(|hosts| hosts.cell_and_angle().0);
            let basis = if arguments.host_ns.is_some() { "given" } else { "least at peak rate" };
            let host_cell_is = hosts.is_some().then_some(basis);
            json(&Rows { machine: &machine.name, host_cell_s, host_cell_is, rows: &rows })
        }
    };
    data(None, &text)?;
    Ok(Answer::Done)
}

#[derive(Serialize)]
struct Rows<'a> {
    machine: &'a str,
    /// Time of a cell and angle on a core of the hosts \[s\], and where it is from.
    #[serde(skip_serializing_if = "Option::is_none")]
    host_cell_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    host_cell_is: Option<&'static str>,
    rows: &'a [ScalingRow],
}

/// How many ranks share which grid.
#[derive(Debug, Clone, Copy)]
struct RankGrid {
    grid: [u32; 2],
    /// Cells of a rank, the largest where they differ.
    of_rank: [u32; 3],
}

/// What is scaled.
struct Scaling<'a> {
    arguments: &'a Arguments,
    shape: Shape,
    tile: [u32; 2],
}

impl<'a> Scaling<'a> {
    fn new(arguments: &'a Arguments, machine: &Machine) -> Result<Self> {
        let shape = messages::shape(machine);
        let node = shape.spes_per_node();
        let tile = match arguments.tile {
            Some(Extents(tile)) => tile,
            None if node.is_multiple_of(2) => [2, node / 2],
            None => [1, node],
        };
        if tile[0] * tile[1] != node {
            return Err(Error::out_of_range(
                "--tile",
                format!("{}x{}", tile[0], tile[1]),
                format!("as many ranks as a node has SPEs, {node}"),
            ));
        }
        Ok(Self { arguments, shape, tile })
    }

    /// The numbers of ranks, and how each shares the grid.
    fn runs(&self) -> Result<Vec<RankGrid>> {
        let mut ranks = self.arguments.ranks.clone();
        if ranks.is_empty() {
            let node = self.shape.spes_per_node();
            let all = self.shape.spes();
            ranks = doublings(node);
            ranks.extend(doublings(all / node).iter().map(|nodes| nodes * node));
            ranks.push(all);
            ranks.dedup();
        }
        ranks.iter().map(|&ranks| self.size(ranks)).collect()
    }

    fn size(&self, ranks: u32) -> Result<RankGrid> {
        let all = self.shape.spes();
        let refuse =
            |expected: String| Err(Error::out_of_range("--ranks", ranks.to_string(), expected));
        if ranks > all {
            return refuse(format!("at most {all}, the SPEs of the machine"));
        }
        let grid = match self.grid(ranks) {
            Some(grid) => grid,
            None => {
                let node = self.shape.spes_per_node();
                return refuse(format!("a part of a node's {node} ranks, or a multiple of them"));
            }
        };
        let of_rank = match self.arguments.cells {
            None => self.arguments.cells_of_rank.0,
            Some(Extents([it, jt, kt])) => {
                if grid[0] > it || grid[1] > jt {
                    let [px, py] = grid;
                    return refuse(format!("fewer: they share the grid as {px} x {py}"));
                }
                [it.div_ceil(grid[0]), jt.div_ceil(grid[1]), kt]
            }
        };
        Ok(RankGrid { grid, of_rank })
    }

    /// Tiles as near to a square of ranks as they come; of a part of a node its first rows.
    fn grid(&self, ranks: u32) -> Option<[u32; 2]> {
        let [tx, ty] = self.tile;
        let node = tx * ty;
        if ranks < node {
            let px = tx.min(ranks);
            return ranks.is_multiple_of(px).then_some([px, ranks / px]);
        }
        let nodes = ranks.is_multiple_of(node).then_some(ranks / node)?;
        let divisors = (1..=nodes).filter(|nx| nodes.is_multiple_of(*nx));
        let grids = divisors.map(|nx| [nx * tx, nodes / nx * ty]);
        grids.min_by_key(|[px, py]| px.abs_diff(*py))
    }

    /// The block whose time is measured.
    fn block(&self, size: &RankGrid) -> BlockPlan {
        let [it, jt, kt] = size.of_rank;
        let [px, py] = size.grid;
        BlockPlan {
            cells: [it, jt],
            planes: self.arguments.mk.min(kt),
            angles: [self.arguments.mmi, ANGLES],
            ranks: (px * py).min(self.shape.spes_per_node()),
        }
    }

    /// The hosts alone, on which a cell takes what the user says or the least that it can.
    fn hosts(&self, machine: &Machine) -> Result<Option<Hosts>> {
        let given = self.arguments.host_ns.map(|time| Seconds(1e-9 * time));
        match (given, Hosts::least(machine)) {
            (None, None) => Ok(None),
            (Some(_), None) => Err(Error::out_of_range(
                "--host-ns",
                format!("the machine {}", machine.name),
                "a machine of nodes with hosts, such as roadrunner",
            )),
            (given, Some(least)) => {
                let time = given.unwrap_or(least);
                Hosts::new(machine, time).map_err(|error| error.renamed(|_| "--host-ns"))
            }
        }
    }

    fn row(
        &self,
        size: &RankGrid,
        block: Seconds,
        network: &Network,
        hosts: Option<&Hosts>,
    ) -> Result<ScalingRow> {
        let ([px, py], [it, jt, kt]) = (size.grid, size.of_rank);
        let grid = Grid::new(px, py)?;
        let plan = self.block(size);
        let wavefront = plan.wavefront(grid, kt, block)?;
        let placement = self.placement(grid)?;
        let cluster = Cluster::new(wavefront, &placement, network)?;
        let recurrence = cluster.recurrence(2, Between::Nothing);
        let events = cluster.events(2, Between::Nothing);
        let ideal = cluster.on_ideal_network().recurrence(2, Between::Nothing);
        let tiles = Tiles::cut(self.tile, self.shape)?;
        let on_hosts = hosts.map(|hosts| hosts.iteration(grid, tiles, &plan, kt)).transpose()?;
        Ok(ScalingRow {
            ranks: px * py,
            px,
            py,
            it: px * it,
            jt: py * jt,
            kt,
            block_s: block.0,
            ideal_s: ideal.next().0,
            recurrence_s: recurrence.next().0,
            events_s: events.outcome.next().0,
            efficiency: ideal.next().0 / events.outcome.next().0,
            hosts_s: Maybe(on_hosts.flatten().map(|time| time.0)),
        })
    }

    /// A placement on nodes tile by tile; of a part of a node row by row.
    fn placement(&self, grid: Grid) -> Result<Placement> {
        if grid.ranks() < self.shape.spes_per_node() {
            return Placement::row_major(grid, self.shape);
        }
        Placement::tiled(grid, self.shape, Tiles::cut(self.tile, self.shape)?)
    }
}

fn text(rows: &[ScalingRow]) -> String {
    Table::of(rows)
        .column("ranks", Style::Plain, |row| row.ranks)
        .people("grid", |row| format!("{} x {}", row.px, row.py))
        .headed("block_s", "block", Style::Time, |row| row.block_s)
        .headed("ideal_s", "ideal", Style::Time, |row| row.ideal_s)
        .headed("recurrence_s", "recurrence", Style::Time, |row| row.recurrence_s)
        .headed("events_s", "events", Style::Time, |row| row.events_s)
        .column("efficiency", Style::Percent(1), |row| row.efficiency)
        .headed("hosts_s", "hosts alone", Style::Time, |row| row.hosts_s.0)
        .headed("hosts_over_cells", "over Cells", Style::Digits(2), |row| {
            row.hosts_s.0.map(|hosts| hosts / row.events_s)
        })
        .text()
}

/// Basis of the column of the hosts, in words.
fn basis(arguments: &Arguments, hosts: Option<&Hosts>) -> String {
    let Some(time) = hosts.map(Hosts::cell_and_angle) else { return String::new() };
    if arguments.host_ns.is_some() {
        return format!("\nHosts alone: {time} for a cell and angle on each core, as given.\n");
    }
    format!(
        "\nHosts alone: no measured time is at hand. They take at least so long, with {time} for a cell and angle at the \
         peak rate of each core, which no program reaches; --host-ns takes a measured one.\n"
    )
}

/// Times and efficiency by ranks.
fn curves(rows: &[ScalingRow]) -> Curves {
    let series = |of: fn(&ScalingRow) -> f64| rows.iter().map(|row| (row.ranks, of(row))).collect();
    let panel = |caption: &str, quantity: &str, series| CurvePanel {
        caption: caption.into(),
        quantity: quantity.into(),
        series,
    };
    let of_block =
        |of: fn(&ScalingRow) -> f64| rows.iter().map(|row| (row.ranks, 100.0 * of(row))).collect();
    Curves {
        names: ["with queues", "without queues", "ideal network"].map(String::from).to_vec(),
        panels: vec![
            panel(
                "time of an iteration",
                "time_s",
                vec![
                    series(|row| row.events_s),
                    series(|row| row.recurrence_s),
                    series(|row| row.ideal_s),
                ],
            ),
            panel(
                "of the ideal network's time",
                "efficiency [%]",
                vec![
                    of_block(|row| row.efficiency),
                    of_block(|row| row.ideal_s / row.recurrence_s),
                    of_block(|_| 1.0),
                ],
            ),
        ],
        x_title: "ranks".into(),
    }
}
