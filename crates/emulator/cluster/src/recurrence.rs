//! Iterations where no message is in another's way.

use super::Cluster;
use super::Cost;
use super::wavefront::{CORNERS, ticks};
use crate::{Between, Books, Outcome};

impl Cluster {
    /// Times so many iterations, of which there is at least one, by a recurrence over ranks in the order of
    /// the sweep.
    ///
    /// With `free` when a rank is ready for its step, `ready` when it has computed, `sent` when it has sent
    /// along x, and W its block:
    ///
    /// ```text
    /// e     = max(free + late_x, ready(west) + early_x)      sent(west)  = e + release_x
    /// n     = max(e    + late_y, sent(north) + early_y)      free(north) = n + release_y
    /// ready = n + W
    /// ```
    ///
    /// where west and north are upstream. Without one its step is left out; without an east neighbour `sent`
    /// is `ready`, and without a south one `free` is `sent`. With `early = late` and `release = 0` this
    /// is the recurrence of which Hoisie, Lubeck and Wasserman's kind of model is the closed form.
    /// [Stations](super::Station) are taken to be free.
    pub fn recurrence(&self, iterations: u32, between: Between) -> Outcome {
        let ranks = self.wavefront.grid.ranks() as usize;
        let mut books = Books::new(ranks);
        let mut free = vec![0.0; ranks];
        let corners = CORNERS.map(|towards| Corner::new(self, towards));
        for _ in 0..iterations.max(1) {
            for (corner, first) in corners.iter().zip(0..) {
                corner.sweep(self, first, (&mut free, &mut books.received));
            }
            let last = free.iter().copied().fold(0.0, later);
            books.ends.push(match between {
                Between::Nothing => last,
                Between::Reductions(time) => {
                    let end = last + ticks(time);
                    books.idle.iter_mut().zip(&free).for_each(|(idle, free)| *idle += end - free);
                    free.fill(end);
                    end
                }
            });
        }
        let iterations = f64::from(iterations.max(1));
        let compute: Vec<f64> = self.compute().into_iter().map(|time| time * iterations).collect();
        books.close(&free, &compute)
    }
}

/// The sweeps from one corner: what each rank's messages from upstream cost \[ticks\], in the order of the
/// sweep.
struct Corner {
    /// The rank that comes first, and so on.
    order: Vec<u32>,
    columns: usize,
    along_x: Axis,
    along_y: Axis,
}

/// Costs of messages along an axis by rank; nothing where there is no neighbour upstream.
struct Axis {
    early: Vec<f64>,
    late: Vec<f64>,
    release: Vec<f64>,
}

impl Axis {
    fn new<'a>(costs: impl Iterator<Item = Option<&'a Cost>>) -> Self {
        let mut axis = Self { early: Vec::new(), late: Vec::new(), release: Vec::new() };
        for cost in costs {
            axis.early.push(cost.map_or(0.0, |cost| cost.early));
            axis.late.push(cost.map_or(0.0, |cost| cost.late));
            axis.release.push(cost.map_or(0.0, |cost| cost.release));
        }
        axis
    }
}

/// When a neighbour that is not there would have sent.
const NEVER: f64 = f64::NEG_INFINITY;

/// The later of two instants; unlike [`f64::max`], one instruction.
fn later(one: f64, other: f64) -> f64 {
    if one > other { one } else { other }
}

impl Corner {
    fn new(cluster: &Cluster, [up_x, up_y]: [bool; 2]) -> Self {
        let grid = cluster.wavefront.grid;
        let (px, py) = (grid.px(), grid.py());
        let place = |[column, row]: [u32; 2]| {
            [if up_x { column } else { px - 1 - column }, if up_y { row } else { py - 1 - row }]
        };
        let order = grid.all().map(|turn| grid.rank(place(turn))).collect();
        // A cost stands with the rank at the lower end of its edge.
        let cost = |costs: &[u16], rank: u32| &cluster.costs[costs[rank as usize] as usize];
        let along_x = Axis::new(grid.all().map(|[column, row]| {
            let [x, y] = place([column, row]);
            let lower = if up_x { x.wrapping_sub(1) } else { x };
            (column > 0).then(|| cost(&cluster.along_x, grid.rank([lower, y])))
        }));
        let along_y = Axis::new(grid.all().map(|[column, row]| {
            let [x, y] = place([column, row]);
            let lower = if up_y { y.wrapping_sub(1) } else { y };
            (row > 0).then(|| cost(&cluster.along_y, grid.rank([x, lower])))
        }));
        Self { order, columns: px as usize, along_x, along_y }
    }

    /// Sweeps through the steps of this corner, the so-maniest of an iteration; `free` and `received` are
    /// by rank.
    fn sweep(&self, cluster: &Cluster, corner: usize, (free, received): (&mut [f64], &mut [f64])) {
        let wavefront = &cluster.wavefront;
        let steps = 2 * wavefront.steps.in_octant() as usize;
        let blocks = &wavefront.blocks;
        let in_order = |by_rank: &[f64]| -> Vec<f64> {
            self.order.iter().map(|&rank| by_rank[rank as usize]).collect()
        };
        let (mut own_free, mut own_received) = (in_order(free), in_order(received));
        let mut times = vec![0.0; self.order.len()];
        let mut rows = Rows::new(self.columns);
        for step in corner * steps..(corner + 1) * steps {
            if blocks.vary() || step == corner * steps {
                let ranks = self.order.iter().map(|&rank| rank as usize);
                times.iter_mut().zip(ranks).for_each(|(time, rank)| *time = blocks.at(rank, step));
            }
            self.step(&times, &mut rows, (&mut own_free, &mut own_received));
        }
        for (place, &rank) in self.order.iter().enumerate() {
            free[rank as usize] = own_free[place];
            received[rank as usize] = own_received[place];
        }
    }

    /// One step of all ranks.
    fn step(&self, blocks: &[f64], rows: &mut Rows, (free, received): (&mut [f64], &mut [f64])) {
        let columns = self.columns;
        rows.sent.fill(NEVER);
        for first in (0..free.len()).step_by(columns) {
            let (north, own) = free.split_at_mut(first);
            let free_north = match north.len().checked_sub(columns) {
                Some(start) => &mut north[start..],
                None => &mut rows.nobody[..],
            };
            let row = first..first + columns;
            let x = self.along_x.row(row.clone());
            let y = self.along_y.row(row.clone());
            let (own, blocks) = (&own[..columns], &blocks[row.clone()]);
            let received = &mut received[row];
            let (sent, sending) = (&rows.sent[1..=columns], &mut rows.sending[..=columns]);
            let mut ready = NEVER;
            for i in 0..columns {
                let east_west = later(own[i] + x.late[i], ready + x.early[i]);
                sending[i] = east_west + x.release[i];
                let north_south = later(east_west + y.late[i], sent[i] + y.early[i]);
                free_north[i] = north_south + y.release[i];
                received[i] += north_south - own[i];
                ready = north_south + blocks[i];
            }
            sending[columns] = ready;
            std::mem::swap(&mut rows.sent, &mut rows.sending);
        }
        let last = free.len() - columns;
        free[last..].copy_from_slice(&rows.sent[1..]);
    }
}

/// A row of an [`Axis`].
struct AxisRow<'a> {
    early: &'a [f64],
    late: &'a [f64],
    release: &'a [f64],
}

impl Axis {
    fn row(&self, row: std::ops::Range<usize>) -> AxisRow<'_> {
        let Self { early, late, release } = self;
        AxisRow { early: &early[row.clone()], late: &late[row.clone()], release: &release[row] }
    }
}

/// What rows hand on: when each rank has sent along x, one place further on, for it is known when the next
/// rank has received.
struct Rows {
    sent: Vec<f64>,
    sending: Vec<f64>,
    /// Row in place of the one before the first.
    nobody: Vec<f64>,
}

impl Rows {
    fn new(columns: usize) -> Self {
        Self {
            sent: vec![NEVER; columns + 1],
            sending: vec![NEVER; columns + 1],
            nobody: vec![0.0; columns],
        }
    }
}
