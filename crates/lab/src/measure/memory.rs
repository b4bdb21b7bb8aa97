//! How much all accelerators together get out of one memory.

use mmgp_base::error::Result;
use mmgp_base::table::records::MemoryStream;
use mmgp_base::units::{Bytes, BytesPerSecond, Seconds, SimTime};
use mmgp_cell::mfc::{Command, Direction};
use mmgp_cell::{Blade, EffectiveAddress, KernelTiming, Spe};
use mmgp_machine::Machine;
use mmgp_spu::LocalAddress;

use super::ClockPhases;

/// What each accelerator copies onto itself: it reads so much and writes it back.
const SLICE: u64 = 256 << 10;

/// What it moves at a time, through a ring of so many buffers.
const CHUNK: u64 = 4096;
const BUFFERS: u8 = 4;

/// The first 1, 2, 3... SPEs of the machine copy slices of the first Cell's memory: the time until
/// the last of them is done.
pub fn streams(
    machine: &Machine,
    repetitions: u32,
    phases: &mut ClockPhases,
) -> Result<Vec<MemoryStream>> {
    let mut rows = Vec::new();
    for accelerators in 1..=machine.layout.spes() {
        let readings = phases.readings(machine, end(machine, accelerators, SLICE)?, repetitions);
        for (repetition, time_s) in (1..).zip(readings) {
            rows.push(MemoryStream { accelerators, bytes: 2 * SLICE, repetition, time_s });
        }
    }
    Ok(rows)
}

/// What so many SPEs of the first Cell get out of its memory and put into it, together, once they are
/// under way: by slices of two sizes.
///
/// # Errors
/// What the measurement runs into.
pub fn rate(machine: &Machine, accelerators: u32) -> Result<BytesPerSecond> {
    let moved = f64::from(accelerators) * (2 * SLICE) as f64;
    let [one, two] = [SLICE, 2 * SLICE].map(|slice| end(machine, accelerators, slice));
    Ok(BytesPerSecond(moved / two?.since(one?).seconds().0))
}

/// The time from a request of one SPE for so many bytes of memory until they have arrived; nothing else is
/// under way.
///
/// # Errors
/// What the measurement runs into.
pub fn latency(machine: &Machine, bytes: Bytes) -> Result<Seconds> {
    let blade = Blade::new(machine, KernelTiming::Cached, 0.0).counting();
    let (spe, fault, from) = (blade.spe(0).clone(), blade.fault(), blade.memory.allocate(0, bytes));
    blade.sim.spawn("SPE 0", async move {
        let get = Command::new(Direction::Get, LocalAddress(0), from, bytes, 0);
        if let Err(error) = spe.mfc.enqueue(get).await {
            fault.raise(error);
        }
    });
    blade.run()?;
    let counts = blade.counts().map(|counts| counts.spes[0].dma.busy.seconds());
    Ok(counts.expect("invariant: the machine counts"))
}

/// When the last of so many SPEs is done that each copy so much.
fn end(machine: &Machine, accelerators: u32, bytes: u64) -> Result<SimTime> {
    let blade = Blade::new(machine, KernelTiming::Cached, 0.0);
    for index in 0..accelerators {
        let (spe, fault) = (blade.spe(index).clone(), blade.fault());
        let slice = blade.memory.allocate(0, Bytes(bytes));
        blade.sim.spawn(format!("SPE {index}"), async move {
            if let Err(error) = copy(spe, slice, bytes).await {
                fault.raise(error);
            }
        });
    }
    blade.run()
}

/// Copies a slice onto itself. Each buffer has a tag; it is written back as soon as it is read, and
/// read into again when that is done.
async fn copy(spe: Spe, slice: EffectiveAddress, bytes: u64) -> Result<()> {
    let chunks = bytes / CHUNK;
    let command = |direction, number: u64, buffer: u8| {
        let local = LocalAddress(u32::from(buffer) * CHUNK as u32);
        Command::new(direction, local, slice.offset(number * CHUNK), Bytes(CHUNK), buffer)
    };
    let ahead = u64::from(BUFFERS) / 2;
    for number in 0..chunks + ahead {
        if number < chunks {
            let buffer = (number % u64::from(BUFFERS)) as u8;
            spe.mfc.wait_for(buffer).await;
            spe.mfc.enqueue(command(Direction::Get, number, buffer)).await?;
        }
        if number >= ahead {
            let buffer = ((number - ahead) % u64::from(BUFFERS)) as u8;
            spe.mfc.wait_for(buffer).await;
            spe.mfc.enqueue(command(Direction::Put, number - ahead, buffer)).await?;
        }
    }
    for buffer in 0..BUFFERS {
        spe.mfc.wait_for(buffer).await;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_accelerators_get_more_until_the_memory_gives_no_more() {
        let machine = Machine::named("qs20").unwrap();
        let rows = streams(&machine, 1, &mut ClockPhases::new(1)).unwrap();
        assert_eq!(rows.len(), 16);
        let rate =
            |row: &MemoryStream| f64::from(row.accelerators) * row.bytes as f64 / row.time_s / 1e9;
        let rates: Vec<f64> = rows.iter().map(rate).collect();
        // One alone waits for its lines. Half of the bytes are read and half written, so all together
        // get what lies between the published rates of reading and writing.
        assert!(rates[0] < 0.75 * rates[15], "{rates:?}");
        assert!(rates[3..].iter().all(|rate| (22.13..22.83).contains(rate)), "{rates:?}");
    }
}
