//! What ran on a machine, as counts: see [`Blade::counting`](crate::Blade::counting).

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use crate::command::{Direction, MfcOperation};
use crate::ppe::Work;
use crate::timing::{KernelTime, KernelTimings};
use mmgp_base::units::{Bytes, Cycles, Hertz, SimSpan, SimTime};
use mmgp_spu::Executed;

/// What ran since the SPEs had their programs.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Counts {
    /// SPEs by number of the SPE, those that did nothing among them.
    pub spes: Vec<SpeCounts>,
    /// Hosts by number of the process.
    pub hosts: BTreeMap<u32, HostCounts>,
}

/// What one SPE did.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct SpeCounts {
    /// Runs of kernels.
    pub kernels: u64,
    /// What they executed, with DMA leaving the local store alone.
    pub executed: Executed,
    /// Cycles in which DMA took the port of the local store from a kernel.
    pub port_conflicts: Cycles,
    /// Cycles of the program around its kernels.
    pub outside: Cycles,
    /// Cycles of its channel commands to the MFC: enqueueing, and looking whether a tag group is
    /// complete.
    pub channels: Cycles,
    /// Time in which it waited for its MFC: for a tag group, a place in the queue, a list.
    pub waited: SimSpan,
    /// DMA.
    pub dma: DmaCounts,
}

impl SpeCounts {
    /// Cycles in which the SPU was at work, stalls of its pipeline among them.
    pub fn computed(&self) -> Cycles {
        let Self { executed, port_conflicts, outside, channels, .. } = self;
        Cycles(executed.cycles + port_conflicts.0 + outside.0 + channels.0)
    }
}

/// The DMA of one MFC. A request is a transfer, or an element of a list.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct DmaCounts {
    /// Commands, lists among them, and those that move nothing.
    pub commands: u64,
    /// Lists.
    pub lists: u64,
    /// Commands on lock lines.
    pub atomics: u64,
    /// Requests by direction and size.
    pub requests: BTreeMap<(Direction, Bytes), u64>,
    /// Lines of the main memory of each Cell that they touched, the first and the last of a request
    /// perhaps in part.
    pub memory_lines: Vec<u64>,
    /// The same of other local stores and of registers.
    pub other_lines: u64,
    /// Requests of those.
    pub other_requests: u64,
    /// The most requests that were under way at once. One of a list is from when the list was
    /// enqueued.
    pub most_outstanding: u64,
    /// The mean number while there was any.
    pub mean_outstanding: f64,
    /// Time in which there was any.
    pub busy: SimSpan,
    /// Cycles of the SPU between the enqueueing of a request and its arrival, summed over requests.
    pub computed_meanwhile: Cycles,
}

impl DmaCounts {
    /// All requests.
    pub fn all_requests(&self) -> u64 {
        self.requests.values().sum()
    }

    /// What they moved.
    pub fn bytes(&self) -> Bytes {
        Bytes(self.requests.iter().map(|((_, bytes), count)| bytes.0 * count).sum())
    }

    /// Cycles of the SPU between the enqueueing of a request and its arrival, as a mean; none
    /// without requests.
    pub fn mean_computed(&self) -> Option<f64> {
        let requests = self.all_requests();
        (requests > 0).then(|| self.computed_meanwhile.0 as f64 / requests as f64)
    }
}

/// What one process of the host did.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct HostCounts {
    /// Bursts of counted operations.
    pub bursts: u64,
    /// Operations of those bursts.
    pub work: Work,
    /// What they take alone and with everything in the first-level caches.
    pub work_cycles: Cycles,
    /// The same of code that is timed instruction by instruction.
    pub computed_cycles: Cycles,
    /// Words that it stored into local stores and registers of SPEs.
    pub spe_stores: u64,
    /// Words that it loaded from them.
    pub spe_loads: u64,
}

impl HostCounts {
    /// Cycles of all its code.
    pub fn cycles(&self) -> Cycles {
        Cycles(self.work_cycles.0 + self.computed_cycles.0)
    }
}

/// What one SPE has done so far.
pub(crate) struct Meter {
    on: Cell<bool>,
    clock: Hertz,
    noted: RefCell<Noted>,
}

#[derive(Default)]
struct Noted {
    /// Runs of kernels by the number of what they execute, [`KernelTimings::executed`].
    runs: Vec<u64>,
    counts: SpeCounts,
    channels: SimSpan,
    waited: SimSpan,
    computed: Computed,
    meanwhile: SimSpan,
    outstanding: Outstanding,
}

/// The time for which the SPU has computed.
#[derive(Default)]
struct Computed {
    /// Up to `until`.
    total: SimSpan,
    until: SimTime,
}

impl Computed {
    fn add(&mut self, now: SimTime, span: SimSpan) {
        self.total += span;
        self.until = now + span;
    }

    fn at(&self, now: SimTime) -> SimSpan {
        let ahead = if self.until > now { self.until.since(now) } else { SimSpan::ZERO };
        SimSpan::from_ticks(self.total.ticks() - ahead.ticks())
    }
}

/// How many requests are under way, over time.
#[derive(Default)]
struct Outstanding {
    now: u64,
    since: SimTime,
    /// Requests times time.
    sum: u128,
    /// Time with any.
    busy: SimSpan,
}

impl Outstanding {
    fn change(&mut self, now: SimTime, change: impl FnOnce(u64) -> u64) {
        let span = now.since(self.since);
        if self.now > 0 {
            self.sum += u128::from(self.now) * u128::from(span.ticks());
            self.busy += span;
        }
        (self.now, self.since) = (change(self.now), now);
    }
}

impl Meter {
    pub fn new(clock: Hertz) -> Self {
        Self { on: Cell::new(false), clock, noted: RefCell::default() }
    }

    pub fn start(&self) {
        self.on.set(true);
    }

    pub fn is_on(&self) -> bool {
        self.on.get()
    }

    /// Forgets what came before: the loading of a program.
    pub fn reset(&self) {
        self.noted.take();
    }

    fn note(&self, change: impl FnOnce(&mut Noted)) {
        if self.on.get() {
            change(&mut self.noted.borrow_mut());
        }
    }

    /// A kernel begins.
    pub fn kernel(&self, now: SimTime, time: KernelTime) {
        self.note(|noted| {
            noted.computed.add(now, time.cycles.at(self.clock));
            let Some(number) = time.executed else { return };
            let number = number as usize;
            if noted.runs.len() <= number {
                noted.runs.resize(number + 1, 0);
            }
            noted.runs[number] += 1;
        });
    }

    /// DMA takes the port of the local store from a kernel for so long from now on.
    pub fn port_conflicts(&self, now: SimTime, cycles: Cycles) {
        self.note(|noted| {
            noted.computed.add(now, cycles.at(self.clock));
            noted.counts.port_conflicts += cycles;
        });
    }

    /// The program around the kernels runs for so long from now on.
    pub fn outside(&self, now: SimTime, cycles: Cycles) {
        self.note(|noted| {
            noted.computed.add(now, cycles.at(self.clock));
            noted.counts.outside += cycles;
        });
    }

    /// A channel command takes so long from now on.
    pub fn channel(&self, now: SimTime, span: SimSpan) {
        self.note(|noted| {
            noted.computed.add(now, span);
            noted.channels += span;
        });
    }

    /// The SPU has waited for its MFC since then.
    pub fn waited(&self, since: SimTime, now: SimTime) {
        self.note(|noted| noted.waited += now.since(since));
    }

    /// Time for which the SPU has computed; zero where nobody counts.
    pub fn computed(&self, now: SimTime) -> SimSpan {
        if self.on.get() { self.noted.borrow().computed.at(now) } else { SimSpan::ZERO }
    }

    /// A command enters its queue.
    pub fn enters(&self, now: SimTime, operation: &MfcOperation) {
        self.note(|noted| {
            let Noted { counts: SpeCounts { dma, .. }, outstanding, .. } = noted;
            dma.commands += 1;
            let requests = match operation {
                MfcOperation::List(list) => u64::from(list.elements),
                MfcOperation::Transfer(_)
                | MfcOperation::Moved(_)
                | MfcOperation::SendSignal(_) => 1,
                MfcOperation::LockLine(_) | MfcOperation::Barrier | MfcOperation::Synchronise => 0,
            };
            dma.lists += u64::from(matches!(operation, MfcOperation::List(_)));
            dma.atomics += u64::from(matches!(operation, MfcOperation::LockLine(_)));
            outstanding.change(now, |before| before + requests);
            dma.most_outstanding = dma.most_outstanding.max(outstanding.now);
        });
    }

    /// A command on a lock line that has no queue.
    pub fn atomic(&self) {
        self.note(|noted| noted.counts.dma.atomics += 1);
    }

    /// A request has arrived, when its command was enqueued the SPU having computed so long.
    pub fn arrived(&self, now: SimTime, request: (Direction, Bytes), computed_before: SimSpan) {
        self.note(|noted| {
            let computed = noted.computed.at(now);
            noted.meanwhile +=
                SimSpan::from_ticks(computed.ticks().saturating_sub(computed_before.ticks()));
            noted.outstanding.change(now, |before| before.saturating_sub(1));
            *noted.counts.dma.requests.entry(request).or_default() += 1;
        });
    }

    /// Counts lines that a request touched of the memory of a Cell, or of what is no memory.
    pub fn lines(&self, cell: Option<u32>, lines: u64) {
        self.note(|noted| {
            let dma = &mut noted.counts.dma;
            let Some(cell) = cell.map(|cell| cell as usize) else {
                dma.other_lines += lines;
                dma.other_requests += 1;
                return;
            };
            if dma.memory_lines.len() <= cell {
                dma.memory_lines.resize(cell + 1, 0);
            }
            dma.memory_lines[cell] += lines;
        });
    }

    /// All of it.
    pub fn counts(&self, timings: &KernelTimings) -> SpeCounts {
        let Noted { runs, counts, channels, waited, meanwhile, outstanding, .. } =
            &*self.noted.borrow();
        let cycles = |span: SimSpan| Cycles((span.seconds().0 * self.clock.0).round() as u64);
        let mean = match outstanding.busy.ticks() {
            0 => 0.0,
            busy => outstanding.sum as f64 / busy as f64,
        };
        let executed = (0..).zip(runs).map(|(number, &runs)| timings.executed(number) * runs);
        SpeCounts {
            kernels: runs.iter().sum(),
            executed: executed.fold(Default::default(), |sum, each| sum + each),
            channels: cycles(*channels),
            waited: *waited,
            dma: DmaCounts {
                mean_outstanding: mean,
                busy: outstanding.busy,
                computed_meanwhile: cycles(*meanwhile),
                ..counts.dma.clone()
            },
            ..counts.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::command::{AfterElement, Command, ListCommand, ListElement, Order, write_list};
    use crate::{Blade, EffectiveAddress, KernelTiming, Spe};
    use mmgp_base::error::Result;
    use mmgp_machine::Machine;
    use mmgp_spu::local_store::LocalAddress;

    /// What a program on SPE 0 does, which is told where 4 KB of memory lie.
    fn counts<F: Future<Output = Result<()>> + 'static>(
        program: impl FnOnce(Spe, EffectiveAddress) -> F,
    ) -> Counts {
        let machine = Machine::named("qs20").unwrap();
        let blade = Blade::new(&machine, KernelTiming::Cached, 0.0).counting();
        let memory = blade.memory.allocate(0, Bytes(4096));
        let program = program(blade.spe(0).clone(), memory);
        blade.sim.spawn("SPE 0", async move { program.await.unwrap() });
        blade.run().unwrap();
        blade.counts().unwrap()
    }

    const fn get(effective: EffectiveAddress, bytes: u64, local: u32) -> Command {
        Command::new(Direction::Get, LocalAddress(local), effective, Bytes(bytes), 0)
    }

    #[test]
    fn requests_are_counted_by_size_and_by_the_lines_that_they_touch() {
        let counts = counts(|spe, memory| async move {
            // One line; two lines, from 64 bytes into the first on; 64 + 256 bytes are three.
            spe.mfc.enqueue(get(memory, 128, 0)).await?;
            spe.mfc.enqueue(get(memory.offset(64), 128, 128)).await?;
            spe.mfc.enqueue(get(memory.offset(64), 256, 256)).await?;
            // A list of three quadwords of three lines.
            let element = |number: u64| {
                let at = memory.offset(512 * number + 112);
                ListElement::new(at, Bytes(16), AfterElement::Continue)
            };
            write_list(&mut spe.store.borrow_mut(), LocalAddress(1024), &[1, 2, 3].map(element));
            let list = ListCommand {
                direction: Direction::Get,
                local: LocalAddress(2048),
                list: LocalAddress(1024),
                elements: 3,
                high: memory,
                tag: 0,
                order: Order::Free,
            };
            spe.mfc.enqueue_list(list).await?;
            spe.mfc.wait_for(0).await;
            let other = EffectiveAddress::local_store(1, LocalAddress(0));
            spe.mfc.enqueue(Command { direction: Direction::Put, ..get(other, 16, 0) }).await?;
            spe.mfc.wait_for(0).await;
            Ok(())
        });
        let dma = &counts.spes[0].dma;
        let by_size = |direction, bytes| dma.requests.get(&(direction, Bytes(bytes))).copied();
        assert_eq!(by_size(Direction::Get, 128), Some(2));
        assert_eq!(by_size(Direction::Get, 256), Some(1));
        assert_eq!(by_size(Direction::Get, 16), Some(3));
        assert_eq!(by_size(Direction::Put, 16), Some(1));
        assert_eq!((dma.commands, dma.lists, dma.all_requests()), (5, 1, 7));
        assert_eq!(dma.bytes(), Bytes(2 * 128 + 256 + 4 * 16));
        assert_eq!((&dma.memory_lines[..], dma.other_lines), (&[1 + 2 + 3 + 3][..], 1));
        assert_eq!(dma.other_requests, 1);
        assert_eq!(dma.most_outstanding, 6);
        assert_eq!(counts.spes[1], SpeCounts::default());
    }

    #[test]
    fn lines_are_those_of_the_cell_on_which_their_page_lies() {
        let machine = Machine::named("qs20").unwrap();
        let blade = Blade::new(&machine, KernelTiming::Cached, 0.0).counting();
        let page = machine.numa.page.0;
        // Two pages on Cell 0, one on Cell 1, one on Cell 0.
        let home = |first: Bytes| u32::from(first.0 / page == 2);
        let memory = blade.memory.allocate_pages(Bytes(4 * page), home);
        let spe = blade.spe(0).clone();
        blade.sim.spawn("SPE 0", async move {
            // The last two lines of a page, and the first three of the next one.
            for next in 1..4_u32 {
                let from = memory.offset(u64::from(next) * page - 256);
                spe.mfc.enqueue(get(from, 640, 1024 * next)).await.unwrap();
            }
            spe.mfc.wait_for(0).await;
        });
        blade.run().unwrap();
        let lines = &blade.counts().unwrap().spes[0].dma.memory_lines;
        assert_eq!(lines[..], [5 + 2 + 3, 3 + 2]);
    }

    #[test]
    fn computation_behind_a_request_is_what_the_spu_did_until_its_arrival() {
        let counts = |before: u64, after: u64| {
            let counts = counts(move |spe, memory| async move {
                spe.spend(Cycles(before)).await;
                spe.mfc.enqueue(get(memory, 128, 0)).await?;
                spe.spend(Cycles(after)).await;
                spe.mfc.wait_for(0).await;
                Ok(())
            });
            counts.spes[0].clone()
        };
        // It arrives before 400 cycles are over: 104.3 ns of latency, 5.6 ns for a line.
        let [short, long] = [counts(70, 100), counts(70, 1000)];
        assert_eq!(short.dma.mean_computed(), Some(100.0));
        let by_hand = (104.3 + 5.6) * 3.2;
        let mean = long.dma.mean_computed().unwrap();
        assert!((mean - by_hand).abs() < 2.0, "{mean} against {by_hand}");
        assert_eq!((short.outside, long.outside), (Cycles(170), Cycles(1070)));
        // Nothing is waited for that is there; else as long as the request takes longer.
        assert_eq!(long.waited, SimSpan::ZERO);
        let waited = short.waited.seconds().0 * 3.2e9;
        assert!((waited - (by_hand - 100.0)).abs() < 2.0, "{waited}");
        assert_eq!(long.dma.mean_outstanding, 1.0);
    }

    #[test]
    fn the_mean_number_of_requests_is_over_the_time_with_any() {
        let counts = counts(|spe, memory| async move {
            for number in 0..2 {
                spe.mfc.enqueue(get(memory.offset(128 * number), 128, 128 * number as u32)).await?;
            }
            spe.mfc.wait_for(0).await;
            spe.spend(Cycles(5000)).await;
            Ok(())
        });
        let dma = &counts.spes[0].dma;
        assert_eq!(dma.most_outstanding, 2);
        // Both are under way but for the few cycles between their enqueueings and arrivals.
        assert!(dma.mean_outstanding > 1.8 && dma.mean_outstanding < 2.0);
        assert!(dma.busy.seconds().0 < 200e-9);
    }

    #[test]
    fn who_is_not_asked_counts_nothing() {
        let machine = Machine::named("ps3").unwrap();
        let blade = Blade::new(&machine, KernelTiming::Cached, 0.0);
        let spe = Rc::new(blade.spe(0).clone());
        blade.sim.spawn("SPE 0", async move { spe.spend(Cycles(100)).await });
        blade.run().unwrap();
        assert_eq!((blade.counts(), blade.is_counting()), (None, false));
    }
}
