//! Figures of transfers: DMA between local store and main memory, the element interconnect bus between local
//! stores, and words that go between processors: lock lines, mailboxes, flags in local store.

use std::cell::Cell;
use std::rc::Rc;

use mmgp_base::error::Result;
use mmgp_base::units::{Bytes, BytesPerSecond, Seconds, SimSpan};
use mmgp_cell::mfc::{AtomicStatus, Command, Direction, LockLine};
use mmgp_cell::{EffectiveAddress, Spe};
use mmgp_machine::Machine;
use mmgp_machine::figures::Quantity;
use mmgp_spu::{Branches, Kernel, LocalAddress, Shape, Spu};

use super::super::{ClockPhases, micro};
use super::{Bench, Program};

pub(super) const PROGRAMS: [Program; 16] = [
    Program { name: "blocking-get", measure: blocking_get },
    Program { name: "line-latency", measure: blocking_get },
    Program { name: "dma-issue", measure: issue },
    Program { name: "six-readers-2-deep", measure: |machine, at| six(machine, READ, at, 2) },
    Program { name: "six-readers-8-deep", measure: |machine, at| six(machine, READ, at, 8) },
    Program { name: "six-writers-2-deep", measure: |machine, at| six(machine, WRITE, at, 2) },
    Program { name: "six-writers-8-deep", measure: |machine, at| six(machine, WRITE, at, 8) },
    Program { name: "local-store-readers", measure: readers },
    Program { name: "disjoint-pairs", measure: disjoint_pairs },
    Program { name: "best-pattern", measure: best_pattern },
    Program { name: "best-pairing", measure: |machine, _| bandwidth(pairings(machine, f64::max)?) },
    Program {
        name: "worst-pairing",
        measure: |machine, _| bandwidth(pairings(machine, f64::min)?),
    },
    Program { name: "other-chip", measure: other_chip },
    Program { name: "line-handover", measure: line_handover },
    Program { name: "mailbox-round-trip", measure: mailbox_round_trip },
    Program { name: "flag-round-trip", measure: flag_round_trip },
];

const READ: Direction = Direction::Get;
const WRITE: Direction = Direction::Put;

/// Repetitions of a blocking transfer.
const REPETITIONS: u32 = 100;

/// What each of six SPEs moves: its slice of 1 MB.
const SLICE: u64 = 1 << 20;

/// Time from the issue of a transfer out of memory until its tag is seen complete.
fn blocking_get(machine: &Machine, bytes: u32) -> Result<Quantity> {
    let bench = Bench::new(machine);
    let spe = bench.blade.spe(0).clone();
    let from = bench.blade.memory.allocate(0, Bytes(u64::from(bytes)));
    bench.start("SPE 0", async move {
        for _ in 0..REPETITIONS {
            spe.mfc.enqueue(command(READ, 0, from, bytes, 0)).await?;
            spe.mfc.wait_for(0).await;
        }
        Ok(())
    });
    Ok(Quantity::Time(Seconds(bench.run()?.0 / f64::from(REPETITIONS))))
}

/// Time that an SPE spends to enqueue a command while the queue has room.
pub(super) fn issue(machine: &Machine, _: u32) -> Result<Quantity> {
    const COMMANDS: u32 = 8;
    let bench = Bench::new(machine);
    let spe = bench.blade.spe(0).clone();
    let from = bench.blade.memory.allocate(0, Bytes(128));
    let spent = Rc::new(Cell::new(SimSpan::ZERO));
    let noted = Rc::clone(&spent);
    bench.start("SPE 0", async move {
        let start = spe.sim.now();
        for buffer in 0..COMMANDS {
            spe.mfc.enqueue(command(READ, 128 * buffer, from, 128, 0)).await?;
        }
        noted.set(spe.sim.now().since(start));
        spe.mfc.wait_for(0).await;
        Ok(())
    });
    bench.run()?;
    Ok(Quantity::Time(Seconds(spent.get().seconds().0 / f64::from(COMMANDS))))
}

/// Rate of six SPEs together that stream their slices of memory in chunks of that many bytes
/// through a ring of `depth` buffers.
fn six(machine: &Machine, direction: Direction, chunk: u32, depth: u8) -> Result<Quantity> {
    const SPES: u32 = 6;
    let bench = Bench::with_spes(machine, SPES)?;
    for index in 0..SPES {
        let spe = bench.blade.spe(index).clone();
        let slice = bench.blade.memory.allocate(0, Bytes(SLICE));
        bench.start(&format!("SPE {index}"), stream(spe, direction, slice, chunk, depth));
    }
    let moved = f64::from(SPES) * SLICE as f64;
    Ok(Quantity::Bandwidth(BytesPerSecond(moved / bench.run()?.0)))
}

/// Streams a slice of memory chunk by chunk. Each buffer of the ring has a tag of its own and is
/// used again when that is complete.
async fn stream(
    spe: Spe,
    direction: Direction,
    slice: EffectiveAddress,
    chunk: u32,
    depth: u8,
) -> Result<()> {
    let chunks = SLICE / u64::from(chunk);
    for (number, buffer) in (0..chunks).zip((0..depth).cycle()) {
        spe.mfc.wait_for(buffer).await;
        let at = slice.offset(number * u64::from(chunk));
        let local = u32::from(buffer) * chunk;
        spe.mfc.enqueue(command(direction, local, at, chunk, buffer)).await?;
    }
    for buffer in 0..depth {
        spe.mfc.wait_for(buffer).await;
    }
    Ok(())
}

pub(super) fn command(
    direction: Direction,
    local: u32,
    effective: EffectiveAddress,
    bytes: u32,
    tag: u8,
) -> Command {
    let (local, bytes) = (LocalAddress(local), Bytes(u64::from(bytes)));
    Command::new(direction, local, effective, bytes, tag)
}

/// One transfer, and how many of them are under way at once.
const CHUNK: u32 = 16384;
const DEPTH: u8 = 2;

/// Rate of so many SPEs together that read the local store of one other.
fn readers(machine: &Machine, readers: u32) -> Result<Quantity> {
    let flows: Vec<(u32, u32)> = (1..=readers).map(|reader| (reader, 0)).collect();
    bandwidth(rate(machine, &flows, 256)?)
}

/// Rate of so many pairs of SPEs together, 0 and 1, 2 and 3 and so on, each of which reads its
/// partner's local store.
fn disjoint_pairs(machine: &Machine, pairs: u32) -> Result<Quantity> {
    let flows: Vec<(u32, u32)> = (0..2 * pairs).map(|spe| (spe, spe ^ 1)).collect();
    bandwidth(rate(machine, &flows, 256)?)
}

/// Rate of all SPEs together, each reading from one other and read by one, for the fastest of these
/// patterns: all pairings, and all in which everybody reads from the SPE so many numbers on.
fn best_pattern(machine: &Machine, _: u32) -> Result<Quantity> {
    let spes = machine.layout.spes_per_cell;
    let mut best = pairings(machine, f64::max)?;
    for step in 1..spes {
        let flows: Vec<(u32, u32)> = (0..spes).map(|spe| (spe, (spe + step) % spes)).collect();
        best = best.max(rate(machine, &flows, 32)?);
    }
    bandwidth(best)
}

/// Rate of all SPEs together, each reading from its partner's local store, for the pairing that
/// `choose` takes of all there are.
fn pairings(machine: &Machine, choose: fn(f64, f64) -> f64) -> Result<f64> {
    let spes: Vec<u32> = (0..machine.layout.spes_per_cell).collect();
    let mut rates = Vec::new();
    for pairs in all_pairings(&spes) {
        let flows: Vec<(u32, u32)> = pairs.iter().flat_map(|&(i, j)| [(i, j), (j, i)]).collect();
        rates.push(rate(machine, &flows, 32)?);
    }
    Ok(rates.into_iter().reduce(choose).unwrap_or_default())
}

/// All ways to part an even number of SPEs into pairs.
fn all_pairings(spes: &[u32]) -> Vec<Vec<(u32, u32)>> {
    let [first, others @ ..] = spes else { return vec![Vec::new()] };
    let mut pairings = Vec::new();
    for index in 0..others.len() {
        let mut rest = others.to_vec();
        let partner = rest.remove(index);
        for mut pairing in all_pairings(&rest) {
            pairing.push((*first, partner));
            pairings.push(pairing);
        }
    }
    pairings
}

/// Rate of all flows together \[byte/s\]; each is a reader and whose local store it reads, so many
/// chunks.
fn rate(machine: &Machine, flows: &[(u32, u32)], chunks: u32) -> Result<f64> {
    let bench = Bench::with_spes(machine, flows.len() as u32)?;
    for &(reader, source) in flows {
        let spe = bench.blade.spe(reader).clone();
        let at = EffectiveAddress::local_store(source, LocalAddress(0));
        bench.start(&format!("SPE {reader}"), read(spe, at, chunks));
    }
    let moved = flows.len() as f64 * f64::from(chunks) * f64::from(CHUNK);
    Ok(moved / bench.run()?.0)
}

/// Rate of one SPE that reads the memory of the other Cell.
fn other_chip(machine: &Machine, _: u32) -> Result<Quantity> {
    const CHUNKS: u32 = 256;
    let bench = Bench::new(machine);
    let spe = bench.blade.spe(0).clone();
    let at = bench.blade.memory.allocate(1, Bytes(u64::from(CHUNK)));
    bench.start("SPE 0", read(spe, at, CHUNKS));
    bandwidth(f64::from(CHUNKS) * f64::from(CHUNK) / bench.run()?.0)
}

/// The rate of the figure \[byte/s\].
fn bandwidth(rate: f64) -> Result<Quantity> {
    Ok(Quantity::Bandwidth(BytesPerSecond(rate)))
}

/// Reads the same chunk again and again, through a ring of buffers above it.
async fn read(spe: Spe, at: EffectiveAddress, chunks: u32) -> Result<()> {
    for (_, buffer) in (0..chunks).zip((0..DEPTH).cycle()) {
        spe.mfc.wait_for(buffer).await;
        let local = CHUNK * (u32::from(buffer) + 1);
        spe.mfc.enqueue(command(Direction::Get, local, at, CHUNK, buffer)).await?;
    }
    for buffer in 0..DEPTH {
        spe.mfc.wait_for(buffer).await;
    }
    Ok(())
}

/// Turns of each player.
const TURNS: u32 = 200;

/// Time from one increment of a counter to the next, which two SPEs increment in turn by `getllar`
/// and `putllc`.
fn line_handover(machine: &Machine, _: u32) -> Result<Quantity> {
    let bench = Bench::with_spes(machine, 2)?;
    let effective = bench.blade.memory.allocate(0, Bytes(128));
    let line = LockLine { local: LocalAddress(0x1000), effective };
    for parity in 0..2 {
        let spe = bench.blade.spe(parity).clone();
        bench.start(&format!("SPE {parity}"), increment_in_turn(spe, line, parity));
    }
    Ok(Quantity::Time(Seconds(bench.run()?.0 / f64::from(2 * TURNS))))
}

async fn increment_in_turn(spe: Spe, line: LockLine, parity: u32) -> Result<()> {
    let mut done = 0;
    while done < TURNS {
        spe.mfc.getllar(line).await?;
        if !spe.compute(&IncrementInTurn { at: line.local, parity }).await {
            continue;
        }
        if spe.mfc.putllc(line).await? == AtomicStatus::Stored {
            done += 1;
        }
    }
    Ok(())
}

/// Increments the word at an address if it has that parity, and says whether it did.
struct IncrementInTurn {
    at: LocalAddress,
    parity: u32,
}

impl Kernel for IncrementInTurn {
    type Output = bool;

    fn shape(&self) -> Shape {
        Shape { branches: Branches::OnData, ..Shape::new("increment in turn", 0) }
    }

    #[inline(always)]
    fn run<S: Spu>(&self, spu: &mut S) -> bool {
        let word = spu.lqa(self.at);
        let parity = spu.andi(word, 1);
        let mine = spu.ceqi(parity, self.parity as i16);
        if spu.brz(mine) {
            return false;
        }
        let next = spu.ai(word, 1);
        spu.stqa(next, self.at);
        true
    }
}

/// A word from the PPE to the inbound mailbox of an SPE and one back through its outbound mailbox,
/// which the PPE polls.
fn mailbox_round_trip(machine: &Machine, _: u32) -> Result<Quantity> {
    let bench = Bench::new(machine);
    let spe = bench.blade.spe(0).clone();
    let (process, partner) = (bench.blade.host_process(0), spe.clone());
    bench.start("rank 0", async move {
        process.resume().await;
        for turn in 0..TURNS {
            process.write_mailbox(&partner, turn).await;
            while process.read_mailbox(partner.outbound_mailbox()).await.is_none() {}
        }
        process.release();
        Ok(())
    });
    bench.start("SPE 0", async move {
        for _ in 0..TURNS {
            let word = spe.inbound_mailbox().read().await;
            spe.outbound_mailbox().write(word).await;
        }
        Ok(())
    });
    Ok(Quantity::Time(Seconds(bench.run()?.0 / f64::from(TURNS))))
}

/// A message of so many bytes from the PPE to an SPE and back, through memory-mapped local store.
fn flag_round_trip(machine: &Machine, bytes: u32) -> Result<Quantity> {
    let rows = micro::offload(machine, 1, &mut ClockPhases::new(0))?;
    let row = rows.iter().find(|row| row.bytes == u64::from(bytes));
    let row = row.expect("invariant: the micro-benchmark sends a doubleword");
    Ok(Quantity::Time(Seconds(row.time_s / row.round_trips as f64)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_spes_can_be_paired_in_a_hundred_and_five_ways() {
        // 7 * 5 * 3 * 1.
        let pairings = all_pairings(&[0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(pairings.len(), 105);
        for pairing in &pairings {
            let mut all: Vec<u32> = pairing.iter().flat_map(|&(i, j)| [i, j]).collect();
            all.sort_unstable();
            assert_eq!(all, [0, 1, 2, 3, 4, 5, 6, 7]);
        }
    }
}
