//! Figures of DMA between local store and main memory.

use std::cell::Cell;
use std::rc::Rc;

use super::{Bench, Program};
use mmgp_base::error::Result;
use mmgp_base::units::{Bytes, BytesPerSecond, Seconds, SimSpan};
use mmgp_cell::mfc::{Command, Direction};
use mmgp_cell::{EffectiveAddress, Spe};
use mmgp_machine::Machine;
use mmgp_machine::figures::Quantity;
use mmgp_spu::LocalAddress;

pub(super) const PROGRAMS: [Program; 7] = [
    Program { name: "blocking-get", measure: blocking_get },
    Program { name: "line-latency", measure: blocking_get },
    Program { name: "dma-issue", measure: issue },
    Program { name: "six-readers-2-deep", measure: |machine, at| six(machine, READ, at, 2) },
    Program { name: "six-readers-8-deep", measure: |machine, at| six(machine, READ, at, 8) },
    Program { name: "six-writers-2-deep", measure: |machine, at| six(machine, WRITE, at, 2) },
    Program { name: "six-writers-8-deep", measure: |machine, at| six(machine, WRITE, at, 8) },
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
