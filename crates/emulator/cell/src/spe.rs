//! A synergistic processing element: an SPU with its local store, its MFC and its channels.
//!
//! # A tour
//! DMA lists, fences, signals, lock lines, events, the decrementer, mailboxes and the proxy queue at
//! work:
//!
//! ```
#![doc = include_str!("../examples/spe_program.rs")]
//! ```

use std::cell::RefCell;
use std::rc::Rc;

use super::blade::Board;
use super::element::{Script, ScriptOperation};
use super::fault::Fault;
use super::hazard::{Detector, Hazards, Touch};
use super::memory::{EffectiveAddress, Memory};
use super::mfc::{Command, Direction, Mfc, TAGS};
use super::record::{Loop, Loops};
use super::timing::{KernelTime, KernelTimings};
use super::trace::{Category, Span, Tracer, Track};
use crate::channel::{Arrivals, Channels};
use crate::channel::{InboundMailbox, OutboundMailbox, Signal, SignalRegister};
use crate::counts::Meter;
use crate::event::{Decrementer, EventFacility};
use mmgp_base::error::Result;
use mmgp_base::units::{Bytes, Cycles, Hertz};
use mmgp_sim::{Reason, Sim};
use mmgp_spu::local_store::{LocalAddress, LocalStore};
use mmgp_spu::{Kernel, Quadword, Watch};

/// One SPE; clones refer to the same.
#[derive(Clone)]
pub struct Spe {
    /// Number, counted through all Cells.
    pub index: u32,
    /// DMA.
    pub mfc: Mfc,
    /// Local store, as the host sees it; an SPE's program uses [`Spe::read`] and
    /// [`Spe::write`], which look for hazards.
    pub store: Rc<RefCell<LocalStore>>,
    /// Virtual time.
    pub sim: Sim,
    clock: Hertz,
    /// Cycles from a change in local store to the end of the loop that waits for it.
    poll: Cycles,
    pub(super) timings: Rc<RefCell<KernelTimings>>,
    channels: Rc<[Channels]>,
    detector: Detector,
    pub(super) meter: Rc<Meter>,
    fault: Fault,
    /// What happened when, for a viewer.
    pub trace: Tracer,
}

impl Spe {
    pub(super) fn new(board: &Board, timings: &Rc<RefCell<KernelTimings>>, index: u32) -> Self {
        let detector = board.detector.of(index);
        Self {
            index,
            mfc: Mfc::new(board, &detector, index),
            store: Rc::clone(board.eib.memory().local_store(index)),
            sim: board.sim.clone(),
            clock: board.machine.clock,
            poll: board.machine.spu.poll,
            timings: Rc::clone(timings),
            channels: Rc::clone(&board.channels),
            detector,
            meter: Rc::clone(&board.meters[index as usize]),
            fault: board.fault.clone(),
            trace: board.trace.clone(),
        }
    }

    /// Runs a kernel; virtual time goes on by what the pipeline says it takes, and by a cycle more whenever DMA takes the port of the local store
    /// from it. That is known when the kernel is done: a transfer counts as a whole for the kernel
    /// during which it ends, and what moves during the cycles that are added is not counted again.
    ///
    /// Where hazards are looked for and the kernel meets one, the SPE stops, and the run of
    /// the machine ends with [`Hazard`](crate::Hazard).
    pub async fn compute<K: Kernel>(&self, kernel: &K) -> K::Output {
        let _span = self.trace.span(Track::Spu(self.index), Category::Kernel, kernel.name());
        let before = self.mfc.local_store_lines();
        let (output, time) = self.execute(kernel).await;
        self.take(time, before).await;
        output
    }

    /// Lets the time of a kernel go by before which DMA had accessed the local store so often.
    async fn take(&self, time: KernelTime, lines_before: u64) {
        self.meter.kernel(self.sim.now(), time);
        self.pass(time.cycles).await;
        let lines = self.mfc.local_store_lines() - lines_before;
        if lines > 0 {
            let conflicts = time.dma_conflicts(lines);
            self.meter.port_conflicts(self.sim.now(), conflicts);
            self.pass(conflicts).await;
        }
    }

    /// Executes a kernel with the clock stopped; the time that it takes when DMA leaves its local
    /// store alone. Does not end where hazards are looked for and there is one.
    pub(crate) async fn execute<K: Kernel>(&self, kernel: &K) -> (K::Output, KernelTime) {
        if self.detector.mode() == Hazards::Ignored {
            return self.timings.borrow_mut().run(kernel, &mut self.store.borrow_mut());
        }
        let run = |store: &mut LocalStore, watch: Watch<'_>| {
            self.timings.borrow_mut().run_watched(kernel, store, watch)
        };
        match self.detector.kernel(kernel.name(), &self.store, run) {
            Ok(ran) => ran,
            Err(hazard) => {
                self.fault.raise(hazard);
                std::future::pending().await
            }
        }
    }

    /// The time that a kernel would take whose branches depend on its shape alone.
    pub(crate) fn time<K: Kernel>(&self, kernel: &K) -> KernelTime {
        self.timings.borrow_mut().time(kernel, &self.store.borrow())
    }

    /// Forgets what other SPEs have put into its local store, so that the scripts of a task find none
    /// of what came before it.
    pub fn forget_messages(&self) {
        self.channels().arrivals.update(Arrivals::forget);
    }

    /// Lets the time of a script go by; when its loops began and ended. Hazards were looked for as it was
    /// written.
    pub async fn play(&self, script: &Script) -> Vec<Loop> {
        let mut loops = Loops::default();
        for &operation in &script.operations {
            match operation {
                ScriptOperation::Enqueue(command) => self.mfc.enqueue_moved(command).await,
                ScriptOperation::Wait(tag) => self.mfc.pass_wait(1 << tag).await,
                ScriptOperation::Compute(name, time) => {
                    let _span = self.trace.span(Track::Spu(self.index), Category::Kernel, name);
                    self.take(time, self.mfc.local_store_lines()).await;
                }
                ScriptOperation::Spend(cycles) => self.spend(cycles).await,
                ScriptOperation::Message { at, count } => {
                    let span = self.waits_for_put();
                    let arrivals = &self.channels().arrivals;
                    arrivals.wait_until(|arrivals| arrivals.at(at) >= count).await;
                    drop(span);
                    self.spend(self.poll).await;
                }
                ScriptOperation::LoopBegins => loops.begin(self.sim.now()),
                ScriptOperation::LoopEnds => loops.end(self.sim.now()),
            }
        }
        loops.into_done()
    }

    /// How many DMA commands there were.
    pub fn commands(&self) -> u64 {
        self.mfc.commands()
    }

    /// Counts the DMA commands of a script whose time is known.
    pub fn count_commands(&self, commands: u64) {
        self.mfc.count(commands);
    }

    /// What the memories hold, local stores and all.
    pub fn memory(&self) -> &Memory {
        self.mfc.memory()
    }

    /// What the program outside its kernels loads from local store; `bytes` are rounded outwards to
    /// whole quadwords. The time is the caller's to spend.
    ///
    /// # Errors
    /// [`Hazard`](crate::Hazard), where hazards are looked for.
    pub fn read(&self, at: LocalAddress, bytes: Bytes) -> Result<Vec<Quadword>> {
        self.detector.program("the program", Touch::Reads, (at, bytes), &self.store)?;
        Ok(self.store.borrow().slice(at, bytes).to_vec())
    }

    /// Stores of the program outside its kernels, from a multiple of 16 on.
    ///
    /// # Errors
    /// As [`Spe::read`].
    pub fn write(&self, at: LocalAddress, quadwords: &[Quadword]) -> Result<()> {
        let bytes = Bytes(16 * quadwords.len() as u64);
        self.detector.program("the program", Touch::Writes, (at, bytes), &self.store)?;
        self.store.borrow_mut().slice_mut(at, bytes).copy_from_slice(quadwords);
        Ok(())
    }

    /// Spins on its local store until what another SPE has put at `at` is as wanted; what it wants is
    /// read without looking for hazards, since a spinning program reads while others write. It has then
    /// been told what that put comes after.
    pub async fn spin(&self, at: LocalAddress, mut wanted: impl FnMut(&LocalStore) -> bool) {
        let span = self.waits_for_put();
        self.channels().arrivals.wait_until(|_| wanted(&self.store.borrow())).await;
        drop(span);
        self.detector.saw(at);
        self.spend(self.poll).await;
    }

    /// The same, for a reason that says in the report of a deadlock whose put it is.
    pub(crate) async fn spin_for(
        &self,
        reason: Reason,
        at: LocalAddress,
        mut wanted: impl FnMut(&LocalStore) -> bool,
    ) {
        let span = self.waits_for_put();
        self.channels().arrivals.wait_for(reason, |_| wanted(&self.store.borrow())).await;
        drop(span);
        self.detector.saw(at);
        self.spend(self.poll).await;
    }

    /// What is looked at for hazards.
    pub(crate) const fn detector(&self) -> &Detector {
        &self.detector
    }

    /// Tells the host something by a flag in memory, such as that a task is done: what it knows to
    /// be complete, the host knows at [`HostProcess::hears`](crate::HostProcess::hears). Takes no time.
    pub fn tells_host(&self) {
        self.detector.tells_host();
    }

    /// Learns what the host knows now: of what it does with the clock stopped before the host has told
    /// it by [`HostProcess::tells`](crate::HostProcess::tells).
    pub fn hears_what_host_knows(&self) {
        self.detector.host_tells();
        self.detector.hears_host();
    }

    /// Notes that it has seen what the host has told it by [`HostProcess::tells`](crate::HostProcess::tells).
    pub fn hears_host(&self) {
        self.detector.hears_host();
    }

    /// The host has stored something into its local store: if it spins, it looks again.
    pub(crate) fn stored_by_host(&self, at: LocalAddress, bytes: Bytes) {
        let place = EffectiveAddress::local_store(self.index, at);
        if let Err(hazard) = self.detector.host(Touch::Writes, place, bytes) {
            self.fault.raise(hazard);
        }
        self.channels().arrivals.update(|arrivals| arrivals.add(at));
    }

    fn waits_for_put(&self) -> Span {
        self.trace.span(Track::Spu(self.index), Category::Wait, "a put of another SPE")
    }

    /// Puts a word into main memory, by which a program tells the host something, and waits until it is
    /// there. What it says is its caller's to know: no data are moved.
    ///
    /// # Errors
    /// [`BusError`](crate::BusError) where `to` is no word of a memory.
    pub async fn put_word(&self, to: EffectiveAddress) -> Result<()> {
        const TAG: u8 = TAGS - 1;
        // The same place within a quadword on both sides.
        let from = LocalAddress((to.0 % 16) as u32);
        let put = Command::new(Direction::Put, from, to, Bytes(4), TAG);
        self.mfc.check(&put)?;
        self.mfc.enqueue_moved(put).await;
        self.mfc.wait_for(TAG).await;
        Ok(())
    }

    /// Cycles from a change in local store to the end of the loop that waits for it.
    pub fn poll(&self) -> Cycles {
        self.poll
    }

    /// Takes `cycles` of the SPU.
    pub async fn spend(&self, cycles: Cycles) {
        self.meter.outside(self.sim.now(), cycles);
        self.pass(cycles).await;
    }

    async fn pass(&self, cycles: Cycles) {
        self.sim.sleep(cycles.at(self.clock)).await;
    }

    /// Words from the host and other SPEs to the SPU.
    pub fn inbound_mailbox(&self) -> &InboundMailbox {
        &self.channels().inbound_mailbox
    }

    /// Words from the SPU that the host polls for.
    pub fn outbound_mailbox(&self) -> &OutboundMailbox {
        &self.channels().outbound_mailbox
    }

    /// Words from the SPU that interrupt the host.
    pub fn interrupt_mailbox(&self) -> &OutboundMailbox {
        &self.channels().interrupt_mailbox
    }

    /// One of the two signal-notification registers.
    pub fn signal(&self, signal: Signal) -> &SignalRegister {
        self.channels().signal(signal)
    }

    /// The SPU's decrementer.
    pub fn decrementer(&self) -> &Decrementer {
        &self.channels().decrementer
    }

    /// The SPU's events.
    pub fn events(&self) -> &EventFacility {
        &self.channels().events
    }

    fn channels(&self) -> &Channels {
        &self.channels[self.index as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::super::mfc::{Command, Direction};
    use super::super::{Blade, KernelTiming};
    use super::*;
    use std::cell::Cell;

    use mmgp_base::units::Seconds;
    use mmgp_machine::Machine;
    use mmgp_spu::{Compiler, Shape, Spu};

    /// Loads a quadword and adds to it 4096 times, in the order of the program.
    struct Sums;

    impl Kernel for Sums {
        type Output = ();

        fn shape(&self) -> Shape {
            Shape { compiler: Compiler::PROGRAM_ORDER, ..Shape::new("sums", 0) }
        }

        #[inline(always)]
        fn run<S: Spu>(&self, spu: &mut S) {
            for _ in 0..4096 {
                let value = spu.lqa(LocalAddress(0x20000));
                spu.ai(value, 1);
            }
        }
    }

    /// Cycles of a kernel during which SPE `owner` gets 1024 bytes from SPE 0.
    fn cycles(owner: u32) -> u64 {
        let blade = Blade::new(&Machine::named("qs20").unwrap(), KernelTiming::Cached, 0.0);
        blade.spe(0).zero(LocalAddress(0), Bytes(1024));
        let spe = blade.spe(owner).clone();
        blade.sim.spawn("mover", async move {
            let from = super::super::EffectiveAddress::local_store(0, LocalAddress(0));
            let to = LocalAddress(4096);
            let get = Command::new(Direction::Get, to, from, Bytes(1024), 0);
            spe.mfc.enqueue(get).await.unwrap();
            spe.mfc.wait_for(0).await;
        });
        let (spe, taken) = (blade.spe(1).clone(), Rc::new(Cell::new(0)));
        spe.store.borrow_mut().store(LocalAddress(0x20000), Quadword::splat(1));
        let seen = Rc::clone(&taken);
        blade.sim.spawn("kernel", async move {
            spe.compute(&Sums).await;
            let Seconds(seconds) = spe.sim.now().seconds();
            seen.set((seconds * 3.2e9).round() as u64);
        });
        blade.run().unwrap();
        taken.get()
    }

    #[test]
    fn dma_into_a_local_store_takes_cycles_from_its_kernel_and_no_other() {
        // An addition waits 6 cycles for its load, and the next load issues in the cycle after it. So
        // one cycle of 7 has a load, which meets each of the 1024 / 128 = 8 lines with probability
        // 1/7: 8/7 of a cycle, rounded up.
        let alone = cycles(2);
        assert_eq!(cycles(1), alone + 2);
    }
}
