//! A workload of the user's own: tasks that repeat { host burst, off-load }, each as long as it is
//! told.
//!
//! It computes nothing. What it is for is everything around: how a scheduler keeps accelerators busy
//! (the idle-time micro-benchmark of Blagojevic et al., Computing Frontiers 2009), and which (m, p)
//! suits work of which only durations are known.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use crate::application::Fingerprint;
use crate::application::{Application, Division, Ran};
use crate::phylogeny::Stream;
use crate::run::Run;
use crate::run::require;
use mmgp_base::Mapping;
use mmgp_base::error::Result;
use mmgp_base::units::{Bytes, Cycles, Seconds};
use mmgp_cell::element::Writer;
use mmgp_cell::element::{Element, Timed};
use mmgp_cell::memory::Memory;
use mmgp_cell::mfc::{Command, Direction};
use mmgp_cell::{EffectiveAddress, Placement, Progress, Spe};
use mmgp_runtime::{Call, Loop, Process, Runtime, Signalling, SpeProgram, Task, Writing};
use mmgp_spu::{LocalAddress, Quadword};

/// The name of the program.
pub const NAME: &str = "synthetic";

/// Most off-loads of a run.
pub const MOST_OFFLOADS: u64 = 1 << 32;

work! {
    /// Taking the next task: a counter that all processes share, under its lock.
    TAKE: 8 integers, 4 loads, 3 stores, 4 branches;
}

/// The workload.
#[derive(Debug, Clone)]
pub struct Synthetic {
    /// Independent tasks, which processes take one after the other.
    tasks: u32,
    /// Off-loads of a task, one after the other.
    offloads: u32,
    durations: Durations,
    /// The part of an off-load that SPEs can share, 0 to 1.
    shared: f64,
    /// How many times as long the host takes as an SPE, where it can do an off-load itself.
    on_host: Option<f64>,
    seed: u64,
}

impl Synthetic {
    /// A workload of so many tasks of so many off-loads; what is random is drawn from the seed, by the
    /// number of the task.
    ///
    /// # Errors
    /// [`Error::OutOfRange`](mmgp_base::Error::OutOfRange) where there are no tasks or no off-loads, or more than
    /// [`MOST_OFFLOADS`] in all.
    pub fn new(tasks: u32, offloads: u32, durations: Durations, seed: u64) -> Result<Self> {
        let all = u64::from(tasks) * u64::from(offloads);
        require((1..=MOST_OFFLOADS).contains(&all), "off-loads of all tasks", all, "1 to 2^32")?;
        Ok(Self { tasks, offloads, durations, shared: 0.0, on_host: None, seed })
    }

    /// The same with a part of each off-load in a loop that the SPEs of a process share.
    ///
    /// # Errors
    /// [`Error::OutOfRange`](mmgp_base::Error::OutOfRange) where it is not a part.
    pub fn sharing(self, part: f64) -> Result<Self> {
        require(
            (0.0..=1.0).contains(&part),
            "part of an off-load that can be shared",
            part,
            "0 to 1",
        )?;
        Ok(Self { shared: part, ..self })
    }

    /// The same where the host can do an off-load itself, which takes it so many times as long as one
    /// SPE.
    ///
    /// # Errors
    /// [`Error::OutOfRange`](mmgp_base::Error::OutOfRange) where it is not a number from 0 to 1000.
    pub fn on_host(self, times: f64) -> Result<Self> {
        require(
            (0.0..=1e3).contains(&times),
            "time of the host's version",
            times,
            "0 to 1000 times that of an SPE",
        )?;
        Ok(Self { on_host: Some(times), ..self })
    }

    /// The life of a worker, whose arguments lie at `at`.
    async fn work(&self, worker: &Worker) {
        let Worker { process, memory, at, next, progress } = worker;
        let machine = process.machine();
        let cycles = |time: Seconds| Cycles((time.0 * machine.clock.0).round() as u64);
        let most = if self.shared > 0.0 { machine.layout.spes() } else { 1 };
        process.resume().await;
        loop {
            process.work(TAKE).await;
            let task = next.replace(next.get() + 1);
            if task >= self.tasks {
                break;
            }
            for Burst { host, offload } in self.durations.of_task(self.seed, task, self.offloads) {
                process.compute(cycles(host), &[]).await;
                let shared = cycles(offload * self.shared);
                let alone = Cycles(cycles(offload).0 - shared.0);
                let arguments = |_: &[u32]| {
                    memory.write(*at, [Quadword([alone.0, shared.0])]);
                    *at
                };
                let task = Task::new(FUNCTION, most, &arguments);
                let task = match self.on_host {
                    None => task,
                    Some(times) => {
                        task.or_on_host(Box::pin(process.compute(cycles(offload * times), &[])))
                    }
                };
                process.off_load(task).await;
                progress.step();
            }
        }
        process.finish(FUNCTION);
    }
}

/// Who takes tasks.
struct Worker {
    process: Process,
    memory: Rc<Memory>,
    at: EffectiveAddress,
    /// The next task that nobody has taken.
    next: Rc<Cell<u32>>,
    progress: Progress,
}

impl Application for Synthetic {
    fn name(&self) -> &'static str {
        NAME
    }

    fn division(&self) -> Division {
        Division::Tasks(self.tasks)
    }

    fn steps(&self) -> u64 {
        u64::from(self.tasks) * u64::from(self.offloads)
    }

    fn with_tasks(&self, tasks: u32) -> Option<Box<dyn Application>> {
        Some(Box::new(Self { tasks, ..self.clone() }))
    }

    fn run(&self, on: &Runtime, mapping: Mapping) -> Result<Ran> {
        let blade = on.blade();
        on.load(&Rc::new(SyntheticProgram), Signalling::Memory);
        let next = Rc::new(Cell::new(0));
        for (rank, own) in (0..).zip(on.assign(mapping)?) {
            let homes = blade.homes(Placement::default(), rank, &own);
            let worker = Worker {
                process: on.process(rank, own),
                memory: Rc::clone(&blade.memory),
                at: homes.allocate_own(ARGUMENTS_BYTES),
                next: Rc::clone(&next),
                progress: blade.progress.clone(),
            };
            let synthetic = self.clone();
            blade.sim.spawn(format!("rank {rank}"), async move { synthetic.work(&worker).await });
        }
        blade.run()?;
        let run = Run::collect(on, mapping, &FUNCTIONS);
        let fingerprint = Fingerprint::default().counting("off-loads", run.offloads());
        Ok(Ran::new(run, fingerprint, ()))
    }
}

/// A turn: a host burst, and the off-load after it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Burst {
    /// The time of the host alone, with warm caches.
    pub host: Seconds,
    /// The time of one SPE.
    pub offload: Seconds,
}

/// The longest burst or off-load \[s\].
const LONGEST: f64 = 1e3;

/// The durations of all turns.
#[derive(Debug, Clone)]
pub struct Durations(Distribution);

#[derive(Debug, Clone)]
enum Distribution {
    Constant(Burst),
    /// Off-loads of that mean; bursts are constant.
    Exponential(Burst),
    Trace(Arc<[Burst]>),
}

impl Durations {
    /// Durations that are alike in all turns.
    ///
    /// # Errors
    /// [`Error::OutOfRange`](mmgp_base::Error::OutOfRange) where a time is negative, or longer than a thousand seconds.
    pub fn constant(each: Burst) -> Result<Self> {
        check(&[each])?;
        Ok(Self(Distribution::Constant(each)))
    }

    /// Host bursts alike, off-loads exponential with that mean.
    ///
    /// # Errors
    /// The errors of [`Durations::constant`].
    pub fn exponential(mean: Burst) -> Result<Self> {
        check(&[mean])?;
        Ok(Self(Distribution::Exponential(mean)))
    }

    /// Durations as they were recorded, over and over: a task goes on where the one before it would end.
    ///
    /// # Errors
    /// The errors of [`Durations::constant`], and where there are none.
    pub fn trace(bursts: Vec<Burst>) -> Result<Self> {
        require(!bursts.is_empty(), "trace", "no row", "one or more")?;
        check(&bursts)?;
        Ok(Self(Distribution::Trace(bursts.into())))
    }

    /// The turns of a task.
    fn of_task(&self, seed: u64, task: u32, turns: u32) -> impl Iterator<Item = Burst> {
        let mut stream = Stream::new(seed, task);
        let before = u64::from(task) * u64::from(turns);
        (0..u64::from(turns)).map(move |turn| match &self.0 {
            Distribution::Constant(each) => *each,
            Distribution::Exponential(mean) => {
                let drawn = stream.exponential(mean.offload.0).min(LONGEST);
                Burst { offload: Seconds(drawn), ..*mean }
            }
            Distribution::Trace(bursts) => bursts[((before + turn) % bursts.len() as u64) as usize],
        })
    }
}

fn check(bursts: &[Burst]) -> Result<()> {
    let times =
        bursts.iter().flat_map(|burst| [("host burst", burst.host), ("off-load", burst.offload)]);
    for (name, time) in times {
        let (found, expected) = (format!("{} s", time.0), "0 to 1000 s");
        require((0.0..=LONGEST).contains(&time.0), name, found, expected)?;
    }
    Ok(())
}

/// What its function is called.
const FUNCTIONS: [&str; 1] = ["task"];
/// The number of the function.
const FUNCTION: u32 = 0;

/// Bytes of the arguments: a quadword.
const ARGUMENTS_BYTES: Bytes = Bytes(16);
/// The place of the arguments in local store.
const ARGUMENTS: LocalAddress = LocalAddress(0);
const TAG: u8 = 0;

/// The program.
#[derive(Debug)]
struct SyntheticProgram;

impl SyntheticProgram {
    async fn serve(&self, spe: &impl Element, call: Call) -> Result<()> {
        let get = Command::new(Direction::Get, ARGUMENTS, call.arguments, ARGUMENTS_BYTES, TAG);
        spe.enqueue(get).await?;
        spe.wait_for(TAG).await;
        let Quadword([alone, shared]) = spe.read(ARGUMENTS, ARGUMENTS_BYTES)?[0];
        if call.share == 0 {
            spe.spend(Cycles(alone)).await;
        }
        if shared > 0 {
            // The first of them has what does not divide.
            let (shares, share) = (u64::from(call.shares), u64::from(call.share));
            let rest = u64::from(share < shared % shares);
            spe.loop_begins();
            spe.spend(Cycles(shared / shares + rest)).await;
            spe.loop_ends();
        }
        Ok(())
    }
}

impl SpeProgram for SyntheticProgram {
    const FUNCTIONS: &'static [&'static str] = &FUNCTIONS;

    async fn call(&self, spe: &Spe, call: Call) -> Result<Vec<Loop>> {
        let timed = Timed::new(spe);
        self.serve(&timed, call).await?;
        Ok(timed.into_loops())
    }

    fn write<'a>(&'a self, writer: &'a Writer, call: Call) -> Option<Writing<'a>> {
        Some(Box::pin(self.serve(writer, call)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mmgp_cell::{Blade, KernelTiming};
    use mmgp_machine::Machine;
    use mmgp_runtime::{Edtlp, Linux, Mbox, Policy, Ynr};

    const US: f64 = 1e-6;

    fn burst(host: f64, offload: f64) -> Burst {
        Burst { host: Seconds(host * US), offload: Seconds(offload * US) }
    }

    fn constant(tasks: u32, offloads: u32, host: f64, offload: f64) -> Synthetic {
        Synthetic::new(tasks, offloads, Durations::constant(burst(host, offload)).unwrap(), 1)
            .unwrap()
    }

    fn run(synthetic: &Synthetic, policy: impl Policy + 'static, mapping: (u32, u32)) -> Run {
        let blade = Blade::new(&Machine::named("qs20").unwrap(), KernelTiming::Cached, 0.0);
        let on = Runtime::new(blade, Box::new(policy));
        synthetic.run(&on, Mapping::of(mapping.0, mapping.1)).unwrap().run
    }

    /// Time of a turn \[us\].
    fn turn(run: &Run) -> f64 {
        run.time.0 / US / run.offloads() as f64
    }

    #[test]
    fn a_turn_takes_its_burst_its_off_load_and_what_the_protocol_costs() {
        let run = run(&constant(1, 1000, 11.0, 96.0), Edtlp::default(), (1, 1));
        assert_eq!(run.offloads(), 1000);
        let over = turn(&run) - 107.0;
        // Two stores and a load across the bus, and a blocking get.
        assert!((0.4..1.0).contains(&over), "{over} us");
        assert_eq!(run.functions[0].apu_parallel, Seconds(0.0));
    }

    #[test]
    fn what_the_host_does_faster_stays_there() {
        let synthetic = constant(1, 1000, 11.0, 96.0);
        // Off-loaded once; then 11 and 48 us on the host.
        let faster = run(&synthetic.clone().on_host(0.5).unwrap(), Edtlp::default(), (1, 1));
        assert_eq!(faster.offloads(), 1);
        assert!((faster.time.0 / US / 1000.0 - 59.0).abs() < 0.1, "{}", faster.time);
        // On the host once.
        let slower = run(&synthetic.on_host(2.0).unwrap(), Edtlp::default(), (1, 1));
        assert_eq!(slower.offloads(), 999);
    }

    #[test]
    fn linux_keeps_as_many_accelerators_busy_as_there_are_hardware_threads() {
        let synthetic = constant(16, 100, 11.0, 96.0);
        let [one, four, eight] =
            [(1, 1), (4, 1), (8, 1)].map(|mapping| run(&synthetic, Linux, mapping).time.0);
        assert!((3.5..4.1).contains(&(one / four)), "{}", one / four);
        assert!((0.9..1.1).contains(&(eight / four)), "{}", eight / four);
        let switching = run(&synthetic, Edtlp::default(), (8, 1)).time.0;
        assert!(switching < 0.6 * eight, "{switching} beside {eight}");
    }

    #[test]
    fn whoever_yields_or_sleeps_keeps_more_accelerators_busy_than_there_are_hardware_threads() {
        // Six processes on two hardware threads; a task is as long as two turns of the others.
        let times = |task: f64| {
            let synthetic = constant(6, 100, 5.0, task);
            [Box::new(Linux) as Box<dyn Policy>, Box::new(Ynr), Box::new(Mbox)].map(|policy| {
                let blade = Blade::new(&Machine::named("ps3").unwrap(), KernelTiming::Cached, 0.0);
                synthetic.run(&Runtime::new(blade, policy), Mapping::of(6, 1)).unwrap().run.time.0
            })
        };
        let [spins, yields, sleeps] = times(300.0);
        assert!((2.8..3.2).contains(&(spins / yields)), "{spins} {yields}");
        assert!((2.5..3.2).contains(&(spins / sleeps)), "{spins} {sleeps}");
        // Of short tasks a sleep and an interrupt, of which there is one after the other, take longer than yields do.
        let [_, yields, sleeps] = times(1.0);
        assert!(yields < sleeps, "{yields} {sleeps}");
    }

    #[test]
    fn what_can_be_shared_is_shared_to_the_last_cycle() {
        let synthetic = constant(1, 100, 0.0, 96.0).sharing(0.75).unwrap();
        let [one, three] = [1, 3].map(|p| run(&synthetic, Edtlp::default(), (1, p)));
        let parallel = |run: &Run| run.functions[0].apu_parallel.0 / US / 100.0;
        assert!((parallel(&one) - 72.0).abs() < 0.1, "{}", parallel(&one));
        assert!((parallel(&three) - 72.0).abs() < 0.3, "{}", parallel(&three));
        assert!((turn(&one) - turn(&three) - 48.0).abs() < 2.0);
    }

    #[test]
    fn every_mapping_draws_the_same_times_whoever_takes_a_task() {
        let durations = Durations::exponential(burst(1.0, 50.0)).unwrap();
        let synthetic = Synthetic::new(7, 300, durations, 5).unwrap();
        let busy = |mapping| run(&synthetic, Edtlp::default(), mapping).apu_busy().0;
        let [one, three] = [(1, 1), (3, 1)].map(busy);
        assert!((one / three - 1.0).abs() < 2e-3, "{one} {three}");
        // Each has the mean that it is told, to four of its standard deviations.
        let mean = one / US / 2100.0;
        assert!((mean - 50.0).abs() < 4.0 * 50.0 / 2100.0_f64.sqrt(), "{mean}");
    }

    #[test]
    fn a_trace_goes_on_from_task_to_task_and_begins_again() {
        let bursts: Vec<Burst> = (1..=5).map(|number| burst(0.0, f64::from(number))).collect();
        let durations = Durations::trace(bursts).unwrap();
        let of = |task| durations.of_task(1, task, 3).map(|it| (it.offload.0 / US).round() as u32);
        let all: Vec<u32> = (0..3).flat_map(of).collect();
        assert_eq!(all, [1, 2, 3, 4, 5, 1, 2, 3, 4]);
    }

    #[test]
    fn what_cannot_be_run_is_refused_by_name() {
        let refused = |result: Result<Synthetic>| result.unwrap_err().to_string();
        let durations = || Durations::constant(burst(1.0, 1.0)).unwrap();
        let none = refused(Synthetic::new(0, 5, durations(), 1));
        assert_eq!(none, "off-loads of all tasks: found 0, expected 1 to 2^32");
        let part = refused(constant(1, 1, 1.0, 1.0).sharing(1.5));
        assert!(part.starts_with("part of an off-load that can be shared: found 1.5"), "{part}");
        assert!(Durations::constant(burst(-1.0, 1.0)).is_err());
        assert!(Durations::constant(burst(1.0, f64::NAN)).is_err());
        assert!(Durations::trace(Vec::new()).is_err());
    }
}
