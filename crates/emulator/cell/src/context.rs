//! SPE contexts: creating them and loading their programs.
//!
//! As in the papers' run-time system, each SPE gets its context and its thread once, at start-up,
//! before a program's time begins to be taken: the processes of the host begin when all SPEs have
//! their program ([`Blade::started`](crate::Blade::started)). The main process creates one context after the other; each
//! SPE then fetches its program by DMA.

use super::element::Element;
use super::memory::EffectiveAddress;
use super::mfc::{Command, Direction};
use super::spe::Spe;
use mmgp_base::error::{Error, Result};
use mmgp_base::units::{Bytes, SimTime};
use mmgp_spu::{LocalAddress, LocalStoreFull, Quadword};

/// A program for SPEs, as far as it takes room: from the bottom of the local store on its code,
/// data and buffers, and the stack at the top. What the code does is not here.
#[derive(Debug, Clone, PartialEq)]
pub struct SpeImage {
    /// Name.
    pub name: &'static str,
    /// Instructions: whole quadwords.
    pub code: Bytes,
    /// Data that come with the program, behind the code.
    pub data: Vec<Quadword>,
    /// Data that do not: buffers.
    pub buffers: Bytes,
    /// The parts of the buffers that the loader fills with zeros (.bss): where each begins and its size,
    /// in whole quadwords. What else is in the buffers is unwritten until somebody writes it.
    pub zeros: Vec<(LocalAddress, Bytes)>,
    /// The most that its stack grows to.
    pub stack: Bytes,
}

impl SpeImage {
    /// What travels to an SPE, in whole cache lines.
    pub(crate) fn loaded(&self) -> Bytes {
        Bytes((self.code.0 + self.data_size()).next_multiple_of(128))
    }

    fn data_size(&self) -> u64 {
        16 * self.data.len() as u64
    }

    /// Checks that everything fits a local store of `available`, and that zeros are in the buffers.
    ///
    /// # Errors
    /// [`LocalStoreFull`], which names the parts and their sizes; [`Error::OutOfRange`].
    pub(crate) fn check(&self, available: Bytes) -> Result<()> {
        let Self { name, code, buffers, zeros, stack, .. } = self;
        let data = self.data_size();
        let needed = code.0 + data + buffers.0 + stack.0;
        if needed > available.0 {
            let what = format!(
                "{name} with {} bytes of code, {data} of data, {} of buffers and {} of stack",
                code.0, buffers.0, stack.0
            );
            let available = available.0;
            return Err(Error::other(LocalStoreFull { what, needed, available }));
        }
        let within = code.0 + data..code.0 + data + buffers.0;
        for &(at, bytes) in zeros {
            let (start, end) = (u64::from(at.0), u64::from(at.0) + bytes.0);
            let is_whole = start.is_multiple_of(16) && end.is_multiple_of(16);
            if start < within.start || within.end < end || !is_whole {
                return Err(Error::out_of_range(
                    "what a loader fills with zeros",
                    format!("local store {start:#x} to {end:#x} of {name}"),
                    format!("quadwords within {:#x} to {:#x}", within.start, within.end),
                ));
            }
        }
        Ok(())
    }
}

/// The contexts that are being created.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Loading {
    /// How many.
    pub under_way: u32,
    /// When the last one was ready.
    pub ended: SimTime,
}

/// Place of the code of the SPEs' program in main memory.
#[derive(Debug, Clone, Copy)]
pub struct Code {
    pub(crate) source: EffectiveAddress,
    pub(crate) size: Bytes,
    pub(crate) largest: Bytes,
}

impl Code {
    /// An SPE fetches the code, or that of a program as large, to the bottom of its local store.
    ///
    /// # Errors
    /// What a transfer may run into.
    pub async fn fetch(&self, spe: &impl Element) -> Result<()> {
        for offset in (0..self.size.0).step_by(self.largest.0 as usize) {
            let local = LocalAddress(offset as u32);
            let bytes = Bytes(self.largest.0.min(self.size.0 - offset));
            let from = self.source.offset(offset);
            spe.enqueue_operands(Command::new(Direction::Get, local, from, bytes, 0)).await?;
        }
        spe.wait_for(0).await;
        Ok(())
    }
}

impl Spe {
    /// The loader of its program fills whole quadwords of its local store with zeros, in no time.
    pub(crate) fn zero(&self, at: LocalAddress, bytes: Bytes) {
        self.store.borrow_mut().slice_mut(at, bytes).fill(Quadword::ZERO);
        self.detector().loaded(at, bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::super::KernelTiming;
    use super::*;
    use crate::Blade;
    use mmgp_machine::{Layout, Machine};

    fn image(code: u64) -> SpeImage {
        SpeImage {
            name: "toy",
            code: Bytes(code),
            data: vec![Quadword([1, 2]); 60],
            buffers: Bytes(100_000),
            zeros: Vec::new(),
            stack: Bytes(2000),
        }
    }

    #[test]
    fn the_module_of_raxml_takes_the_time_of_its_dma() {
        // 117 KB and 960 bytes are 944 lines, 59 windows of 16: the last comes 58 round trips of
        // 142 ns after the first, which takes 2 KB at 22.83 GB/s; after the creation and the latency
        // of 104.3 ns.
        let mut machine = Machine::named("qs20").unwrap();
        machine.layout = Layout { cells: 1, spes_per_cell: 1, threads_per_ppe: 2 };
        let blade = Blade::new(&machine, KernelTiming::Cached, 0.0);
        blade.create_contexts(&image(117 * 1024)).unwrap();
        blade.run().unwrap();
        let time = blade.started().seconds().0 - 500e-6;
        let by_hand = 104.3e-9 + 2048.0 / 22.83e9 + 58.0 * 142e-9;
        assert!((time / by_hand - 1.0).abs() < 0.002, "{time} against {by_hand}");
        // The data lie behind the code.
        let store = blade.spe(0).store.borrow();
        let data = store.slice(LocalAddress(117 * 1024), Bytes(960));
        assert!(data.iter().all(|&quadword| quadword == Quadword([1, 2])));
    }

    #[test]
    fn zeros_outside_the_buffers_are_refused() {
        // 960 bytes of data behind 4096 of code, then 100,000 of buffers.
        let check = |at: u32, bytes: u64| {
            let zeros = vec![(LocalAddress(at), Bytes(bytes))];
            SpeImage { zeros, ..image(4096) }.check(Bytes(262_144))
        };
        for (at, bytes) in [(5056, 16), (5056, 100_000), (105_040, 16)] {
            check(at, bytes).unwrap();
        }
        for (at, bytes) in [(5040, 16), (5056, 100_016), (5056, 8), (5064, 8)] {
            assert!(check(at, bytes).is_err(), "{bytes} from {at} on");
        }
        assert_eq!(
            check(0, 262_144).unwrap_err().to_string(),
            "what a loader fills with zeros: found local store 0x0 to 0x40000 of toy, expected \
             quadwords within 0x13c0 to 0x19a60"
        );
    }

    #[test]
    fn what_does_not_fit_is_refused_with_its_parts() {
        assert!(image(262_144 - 102_960).check(Bytes(262_144)).is_ok());
        assert_eq!(
            image(262_144 - 102_944).check(Bytes(262_144)).unwrap_err().to_string(),
            "the local store has 262144 bytes, but toy with 159200 bytes of code, 960 of data, \
             100000 of buffers and 2000 of stack needs 262160"
        );
    }
}
