//! Figures of the element interconnect bus: transfers between local stores.

use super::dma::command;
use super::{Bench, Program};
use mmgp_base::error::Result;
use mmgp_base::units::{Bytes, BytesPerSecond};
use mmgp_cell::mfc::Direction;
use mmgp_cell::{EffectiveAddress, Spe};
use mmgp_machine::Machine;
use mmgp_machine::figures::Quantity;
use mmgp_spu::LocalAddress;

pub(super) const PROGRAMS: [Program; 6] = [
    Program { name: "local-store-readers", measure: readers },
    Program { name: "disjoint-pairs", measure: disjoint_pairs },
    Program { name: "best-pattern", measure: best_pattern },
    Program { name: "best-pairing", measure: |machine, _| bandwidth(pairings(machine, f64::max)?) },
    Program {
        name: "worst-pairing",
        measure: |machine, _| bandwidth(pairings(machine, f64::min)?),
    },
    Program { name: "other-chip", measure: other_chip },
];

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
