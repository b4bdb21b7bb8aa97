//! Memory: how much all accelerators together get out of it, and what the caches of the host do for loads.

use mmgp_base::error::Result;
use mmgp_base::table::records::MemoryStream;
use mmgp_base::units::{Bytes, BytesPerSecond, Cycles, Seconds, SimTime};
use mmgp_cell::mfc::{Command, Direction};
use mmgp_cell::ppe::{Assembler, Core, Place, Step, Steps};
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

/// What a vector load moves.
const VECTOR: u64 = 16;
/// What a pointer takes.
const POINTER: u64 = 8;
/// Loads in a turn of each loop.
const UNROLLED: u64 = 8;
/// Turns that are timed.
const TURNS: u64 = 2048;

/// How a loop over an array of vectors gets their addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Indexing {
    /// One pointer that advances once in a turn, and offsets in registers.
    Pointer,
    /// An index, each address by an addition and an extension to 64 bits of its own.
    Index,
}

/// Load to use in a chase of pointers through all of `footprint` in a random order, again and again
/// \[cycles\].
pub fn load_latency(machine: &Machine, footprint: Bytes) -> f64 {
    let chase = chase(Assembler::new(machine), footprint);
    let turns = footprint.0 / POINTER / UNROLLED;
    steady(machine, chase, turns, UNROLLED + 2).0 as f64 / (TURNS * UNROLLED) as f64
}

/// Rate at which one thread loads vectors one after the other from `footprint` and adds them up,
/// again and again, without prefetching.
pub fn read_bandwidth(machine: &Machine, footprint: Bytes, indexing: Indexing) -> BytesPerSecond {
    let assembler = Assembler::new(machine);
    let turn = move |from| reading(assembler, indexing, from);
    let (steps, bytes) = (turn(0).len() as u64, UNROLLED * VECTOR);
    let turns = footprint.0 / bytes;
    let stream = (0..turns).cycle().flat_map(move |index| turn(index * bytes));
    let cycles = steady(machine, Box::new(stream), turns, steps);
    BytesPerSecond((TURNS * bytes) as f64 * machine.clock.0 / cycles.0 as f64)
}

/// Time of the timed turns after so many others, of so many steps each.
fn steady(machine: &Machine, mut stream: Steps, turns: u64, steps: u64) -> Cycles {
    let mut core = Core::new(machine, Vec::new());
    let once = stream.by_ref().take((turns * steps) as usize);
    core.touch(once.filter_map(|step| step.access()));
    core.switch(vec![stream]);
    core.run(TURNS * steps)
}

/// A turn extends the pointer to 64 bits, follows eight of them, and branches.
fn chase(ppe: Assembler, footprint: Bytes) -> Steps<'static> {
    const POINTER_REGISTER: Place = Place(0);
    let next = single_cycle((footprint.0 / POINTER).max(1));
    let mut at = 0;
    Box::new((0..=UNROLLED + 1).cycle().map(move |step| match step {
        0 => ppe.integer(POINTER_REGISTER, POINTER_REGISTER),
        step if step <= UNROLLED => {
            let load = ppe.load_word(POINTER_REGISTER, POINTER_REGISTER, POINTER * at);
            at = next[at as usize];
            load
        }
        _ => ppe.branch(),
    }))
}

/// Who follows whom in a random order of so many, in which all follow one after the other (Sattolo).
fn single_cycle(count: u64) -> Vec<u64> {
    let mut next: Vec<u64> = (0..count).collect();
    let mut state = 1_u64;
    for last in (1..count).rev() {
        // Knuth's generator for MMIX; its upper bits are the random ones.
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        next.swap(last as usize, ((state >> 33) % last) as usize);
    }
    next
}

/// A turn of the loop that adds up vectors: eight are loaded, and added to four sums.
fn reading(ppe: Assembler, indexing: Indexing, from: u64) -> Vec<Step> {
    const INDEX: Place = Place(0);
    const BASE: Place = Place(1);
    let [sum, vector, address] = [2, 6, 14].map(|first| move |of: u64| Place(first + of as u8));
    let load = |of: u64, base| ppe.load_vector(vector(of), base, from + of * VECTOR);
    let compute =
        |of: u64| [ppe.integer(address(of), INDEX), ppe.integer(address(of), address(of))];
    let mut steps = Vec::new();
    match indexing {
        Indexing::Pointer => {
            steps.push(ppe.integer(BASE, INDEX));
            steps.extend((0..UNROLLED).map(|of| load(of, BASE)));
        }
        Indexing::Index => {
            // Four addresses, then four loads among the computation of the next four.
            let [first, second] = [0..UNROLLED / 2, UNROLLED / 2..UNROLLED];
            let computed = |of: std::ops::Range<u64>| {
                let (added, extended): (Vec<_>, Vec<_>) =
                    of.map(compute).map(|[added, extended]| (added, extended)).unzip();
                [added, extended].concat()
            };
            steps.extend(computed(first.clone()));
            let mut loads = first.map(|of| load(of, address(of)));
            for step in computed(second.clone()) {
                steps.push(step);
                steps.extend(loads.next());
            }
            steps.extend(second.map(|of| load(of, address(of))));
        }
    }
    steps.extend((0..UNROLLED).map(|of| ppe.add_vectors(sum(of % 4), sum(of % 4), vector(of))));
    steps.extend([ppe.integer(INDEX, INDEX), ppe.branch()]);
    steps
}

#[cfg(test)]
mod tests {
    use approx::assert_relative_eq;

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

    fn qs20() -> Machine {
        Machine::named("qs20").unwrap()
    }

    #[test]
    fn all_follow_one_after_the_other() {
        let next = single_cycle(1000);
        let mut at = 0;
        let turn = (1..=1000).find(|_| {
            at = next[at as usize];
            at == 0
        });
        assert_eq!(turn, Some(1000));
    }

    #[test]
    fn a_chase_waits_for_the_levels_in_which_its_pointers_are() {
        let cycles = |kilobytes: u64| load_latency(&qs20(), Bytes(kilobytes << 10));
        // Seven loads wait 5 cycles for the one before, the eighth 2 + 5 with the extension.
        assert_relative_eq!(cycles(28), 5.25, max_relative = 1e-3);
        // Of 256 KB the first level has 32, so one load in eight finds its line there.
        assert_relative_eq!(cycles(256), 5.25 + 31.0 * 7.0 / 8.0, max_relative = 0.02);
        // Of 4 MB the second level has an eighth.
        assert_relative_eq!(
            cycles(4096),
            5.25 + 31.0 / 8.0 + 495.0 * 7.0 / 8.0,
            max_relative = 0.03
        );
    }

    #[test]
    fn vectors_are_added_as_fast_as_their_chains_allow_and_a_line_is_waited_for_once() {
        let turn = |kilobytes: u64, indexing| {
            let rate = read_bandwidth(&qs20(), Bytes(kilobytes << 10), indexing);
            128.0 * 3.2e9 / rate.0
        };
        // With the extension at 0 the loads issue from 5 to 12; the sums from 12 to 15 and, 11 cycles
        // after those, from 23 to 26; the pointer with the last one, and the next extension at 28.
        assert_relative_eq!(turn(28, Indexing::Pointer), 28.0, max_relative = 1e-9);
        // Sixteen integers: four additions and four extensions, the last at 7, the next four of each
        // from 8 to 15 with four loads among them from 9 on, the other four loads by 20, and the sums
        // from 20 to 23 and from 31 to 34; the index with the last, and its sums at 36.
        assert_relative_eq!(turn(28, Indexing::Index), 36.0, max_relative = 1e-9);
        // From the second level the first load, at 5 or 9, has its vector 33 cycles later, where the
        // first sum would have gone at 12 or 20: 26 and 22 more.
        assert_relative_eq!(turn(400, Indexing::Pointer), 54.0, max_relative = 1e-9);
        assert_relative_eq!(turn(400, Indexing::Index), 58.0, max_relative = 1e-9);
    }
}
