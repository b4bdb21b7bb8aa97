//! SPE contexts: creating them and loading their programs.
//!
//! As in the papers' run-time system, each SPE gets its context and its thread once, at start-up,
//! before a program's time begins to be taken ([`Blade::create_contexts`] returns what it took). The
//! main process creates one context after the other; each SPE then fetches its program by DMA.

use super::Blade;
use super::memory::EffectiveAddress;
use super::mfc::{Command, Direction};
use super::spe::Spe;
use crate::error::{Error, Result};
use crate::spu::LocalAddress;
use crate::units::{Bytes, Seconds, SimSpan};

/// A program for SPEs, as far as it takes room. Code lies at the bottom of the local store, the
/// stack at the top.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpeImage {
    /// Its name.
    pub name: &'static str,
    /// Instructions.
    pub code: Bytes,
    /// Data that come with the program.
    pub data: Bytes,
    /// Data that do not: buffers.
    pub buffers: Bytes,
    /// The most that its stack grows to.
    pub stack: Bytes,
}

impl SpeImage {
    /// What travels to an SPE, in whole cache lines.
    pub fn loaded(&self) -> Bytes {
        Bytes((self.code.0 + self.data.0).next_multiple_of(128))
    }

    /// Checks that everything fits a local store of `available`.
    ///
    /// # Errors
    /// [`Error::LocalStoreFull`], which names the parts and their sizes.
    pub fn check(&self, available: Bytes) -> Result<()> {
        let Self { name, code, data, buffers, stack } = *self;
        let needed = code.0 + data.0 + buffers.0 + stack.0;
        if needed > available.0 {
            let what = format!(
                "{name} with {} bytes of code, {} of data, {} of buffers and {} of stack",
                code.0, data.0, buffers.0, stack.0
            );
            return Err(Error::LocalStoreFull { what, needed, available: available.0 });
        }
        Ok(())
    }
}

impl Blade {
    /// Creates a context on every SPE and loads the image, which lies in the memory of the first
    /// Cell; what that took. To be called before any process begins.
    ///
    /// Left out: reading the program from a disk.
    ///
    /// # Errors
    /// [`Error::LocalStoreFull`] where the image does not fit.
    pub fn create_contexts(&self, image: &SpeImage) -> Result<Seconds> {
        image.check(self.machine.spu.local_store)?;
        let source = self.memory.allocate(0, image.loaded());
        let largest = self.machine.mfc.largest;
        let creation = SimSpan::from_seconds(self.machine.linux.spe_context);
        let begin = self.sim.now();
        for (turn, spe) in (1..).zip(&self.spes) {
            let (spe, fault, image) = (spe.clone(), self.fault.clone(), *image);
            self.sim.spawn(format!("loader of SPE {}", spe.index), async move {
                spe.sim.sleep(creation * turn).await;
                if let Err(error) = fetch(&spe, source, image.loaded(), largest).await {
                    fault.raise(error);
                }
            });
        }
        self.started.set(self.run()?);
        Ok(self.started.get().since(begin).seconds())
    }
}

/// Fetches a program into a local store, from its bottom on.
async fn fetch(spe: &Spe, source: EffectiveAddress, size: Bytes, largest: Bytes) -> Result<()> {
    for offset in (0..size.0).step_by(largest.0 as usize) {
        let (local, bytes) = (LocalAddress(offset as u32), Bytes(largest.0.min(size.0 - offset)));
        let command = Command::new(Direction::Get, local, source.offset(offset), bytes, 0);
        spe.mfc.enqueue(command).await?;
    }
    spe.mfc.wait_for(0).await;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::KernelTiming;
    use super::*;
    use crate::machine::{Layout, Machine};

    fn image(code: u64) -> SpeImage {
        let bytes = Bytes;
        SpeImage {
            name: "toy",
            code: bytes(code),
            data: bytes(1000),
            buffers: bytes(100_000),
            stack: bytes(2000),
        }
    }

    #[test]
    fn the_module_of_raxml_takes_the_time_of_its_dma() {
        // 117 KB and 1000 bytes, 16 lines in each round trip of 142 ns, 8.2 us, after 109 ns and the
        // creation.
        let mut machine = Machine::named("qs20").unwrap();
        machine.layout = Layout { cells: 1, spes_per_cell: 1, threads_per_ppe: 2 };
        let blade = Blade::new(&machine, KernelTiming::Cached, 0.0);
        let time = blade.create_contexts(&image(117 * 1024)).unwrap().0 - 500e-6;
        let by_hand = 109.3e-9 + f64::from(117 * 1024 + 1000) / (16.0 * 128.0 / 142e-9);
        assert!((time / by_hand - 1.0).abs() < 0.03, "{time} against {by_hand}");
    }

    #[test]
    fn what_does_not_fit_is_refused_with_its_parts() {
        assert!(image(262_144 - 103_000).check(Bytes(262_144)).is_ok());
        assert_eq!(
            image(262_144 - 102_999).check(Bytes(262_144)).unwrap_err().to_string(),
            "the local store has 262144 bytes, but toy with 159145 bytes of code, 1000 of data, \
             100000 of buffers and 2000 of stack needs 262145"
        );
    }
}
