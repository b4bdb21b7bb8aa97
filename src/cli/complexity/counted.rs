//! What a machine counted of a run, as the complexity model takes it.

use crate::apps::run::Run;
use crate::cell::counts::{Counts as Counted, DmaCounts, HostCounts, SpeCounts};
use crate::cell::mfc::Direction;
use crate::complexity::Counts;
use crate::complexity::Requests;
use crate::complexity::Sizes;
use crate::machine::Machine;
use crate::spu::{Class, Pipe, Stall};

/// The counts of a run of those sizes; none where the machine did not count.
pub fn counts(sizes: Sizes, run: &Run, machine: &Machine) -> Option<Counts> {
    let counted = run.counts.as_ref()?;
    let SpeCounts { executed, outside, channels, dma, .. } = most_at_work(counted);
    let host = busiest(counted);
    let stall = |stall: Stall| (stall.name(), executed.stalls.of(stall) as f64);
    Some(Counts {
        sizes,
        even: executed.of_pipe(Pipe::Even) as f64,
        odd: executed.of_pipe(Pipe::Odd) as f64,
        double_precision: executed.of(Class::DoublePrecision) as f64,
        stalls: Stall::ALL.map(stall).to_vec(),
        outside: (outside.0 + channels.0) as f64,
        waited: most_at_work(counted).waited.seconds().0 * machine.clock.0,
        busy: most_at_work(counted).computed().0 as f64,
        branches: executed.conditional.executed as f64,
        taken: executed.conditional.taken as f64,
        hinted: executed.conditional.hinted as f64,
        wrong: executed.wrong_branches() as f64,
        commands: dma.commands as f64,
        lists: dma.lists as f64,
        requests: dma.all_requests() as f64,
        other_requests: dma.other_requests as f64,
        bytes: dma.bytes().0 as f64,
        by_size: by_size(dma),
        lines: dma.memory_lines.iter().sum::<u64>() as f64,
        all_lines: lines_of_busiest_memory(counted, machine),
        meanwhile: dma.mean_computed().unwrap_or(0.0),
        most_outstanding: dma.most_outstanding as f64,
        mean_outstanding: dma.mean_outstanding,
        host: host.cycles().0 as f64,
        signalling: signalling(host, machine),
        bursts: counted.hosts.values().map(|host| host.bursts).sum::<u64>() as f64,
        time: Some(run.time),
    })
}

/// The SPE that does most.
fn most_at_work(counted: &Counted) -> &SpeCounts {
    // The first of several.
    let by_work = counted.spes.iter().rev().max_by_key(|spe| spe.computed());
    by_work.expect("invariant: a machine has SPEs")
}

/// The process that does most.
fn busiest(counted: &Counted) -> HostCounts {
    let by_work = counted.hosts.values().rev().max_by_key(|host| host.cycles());
    by_work.copied().unwrap_or_default()
}

/// Cycles of a process's words to and from SPEs.
fn signalling(host: HostCounts, machine: &Machine) -> f64 {
    let stores = host.spe_stores as f64 * machine.ppe.mmio_store.0;
    (stores + host.spe_loads as f64 * machine.ppe.mmio_load.0) * machine.clock.0
}

fn lines_of_busiest_memory(counted: &Counted, machine: &Machine) -> f64 {
    let of_spe = |spe: &SpeCounts, cell: usize| spe.dma.memory_lines.get(cell).copied();
    let cells = 0..machine.layout.cells as usize;
    let sum = |cell| counted.spes.iter().filter_map(|spe| of_spe(spe, cell)).sum::<u64>();
    cells.map(sum).max().unwrap_or(0) as f64
}

fn by_size(dma: &DmaCounts) -> Vec<Requests> {
    let requests =
        |(&(direction, bytes), &count): (&(Direction, crate::units::Bytes), &u64)| Requests {
            direction: match direction {
                Direction::Get => "get",
                Direction::Put => "put",
            },
            bytes: bytes.0 as f64,
            count: count as f64,
        };
    dma.requests.iter().map(requests).collect()
}
