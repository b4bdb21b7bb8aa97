//! One program under several schedulers, by numbers of workers and of tasks.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Shard;
use super::on_threads;
use super::{Emulated, Measured as _, Target as _, Watch};
use mmgp_apps::{Application, Once, Ran};
use mmgp_base::Mapping;
use mmgp_base::error::{Error, Result};
use mmgp_base::table::Source;
use mmgp_base::table::records::Scheduled;
use mmgp_base::table::trace::Trace;
use mmgp_base::units::{Seconds, SimSpan, SimTime};

/// What is to be compared: every scheduler at every number of workers and of tasks.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The names of the schedulers.
    pub schedulers: Vec<String>,
    /// Host processes.
    pub workers: Vec<u32>,
    /// Independent tasks; one for each worker where there is no number, as for a program of one job,
    /// of which each worker has a part.
    pub tasks: Vec<u32>,
    /// SPEs of each worker.
    pub spes_per_task: u32,
    /// The share of the runs that is made.
    pub shard: Shard,
}

/// A run of the plan.
#[derive(Clone, Copy)]
struct Cell<'a> {
    scheduler: &'a str,
    workers: u32,
    tasks: u32,
}

impl Cell<'_> {
    /// The numbers of its workers and tasks.
    fn place(&self) -> (u32, u32) {
        (self.workers, self.tasks)
    }
}

impl Plan {
    /// The number of runs.
    pub fn runs(&self) -> usize {
        self.schedulers.len() * self.workers.len() * self.tasks.len().max(1)
    }

    /// Checks that there are such schedulers, that the machine has SPEs for all workers, and that the
    /// program is made of independent tasks where there are numbers of them.
    ///
    /// # Errors
    /// [`Error::UnknownName`], [`Error::Infeasible`] and [`Error::OutOfRange`].
    pub fn check(&self, target: &Emulated, program: &dyn Application) -> Result<()> {
        self.schedulers.iter().try_for_each(|name| target.clone().under(name).map(drop))?;
        let (p, apus) = (self.spes_per_task, target.layout().apus);
        for &m in &self.workers {
            if Mapping::new(m, p)?.apus() > u64::from(apus) {
                return Err(Error::Infeasible { m, p, apus });
            }
        }
        match program.with_tasks(1) {
            None if !self.tasks.is_empty() => Err(Error::out_of_range(
                "the application",
                format!("{}, which is one job", program.name()),
                "one whose work is independent tasks, or no number of tasks",
            )),
            _ => Ok(()),
        }
    }

    fn cells(&self) -> Vec<Cell<'_>> {
        let mut cells = Vec::with_capacity(self.runs());
        for scheduler in &self.schedulers {
            for &workers in &self.workers {
                let own = [workers];
                let tasks = if self.tasks.is_empty() { &own[..] } else { &self.tasks };
                cells.extend(tasks.iter().map(|&tasks| Cell { scheduler, workers, tasks }));
            }
        }
        self.shard.of(&cells).copied().collect()
    }
}

/// A comparison on the machine of a target.
pub struct SchedulerComparison<'a> {
    target: &'a Emulated,
    plan: &'a Plan,
    programs: Programs,
    seed: u64,
    threads: usize,
}

/// What runs.
enum Programs {
    /// Programs by numbers of independent tasks.
    OfTasks(BTreeMap<u32, Once>),
    /// One job, whoever shares it.
    OneJob(Once),
}

impl Programs {
    fn new(program: Box<dyn Application>, plan: &Plan) -> Self {
        let mut programs = BTreeMap::new();
        for Cell { tasks, .. } in plan.cells() {
            let Some(of_tasks) = program.with_tasks(tasks) else {
                return Self::OneJob(Once::new(program));
            };
            programs.entry(tasks).or_insert_with(|| Once::new(of_tasks));
        }
        Self::OfTasks(programs)
    }

    fn of(&self, cell: &Cell<'_>) -> &Once {
        match self {
            Self::OfTasks(programs) => &programs[&cell.tasks],
            Self::OneJob(program) => program,
        }
    }
}

impl<'a> SchedulerComparison<'a> {
    /// A comparison of a program with its seed, on so many threads of this computer.
    ///
    /// # Errors
    /// As [`Plan::check`].
    pub fn new(
        target: &'a Emulated,
        (program, seed): (Box<dyn Application>, u64),
        plan: &'a Plan,
        threads: usize,
    ) -> Result<Self> {
        plan.check(target, &*program)?;
        Ok(Self { target, plan, programs: Programs::new(program, plan), seed, threads })
    }

    /// The number of runs that are not among rows that are known already.
    pub fn missing(&self, known: &[Scheduled]) -> usize {
        self.plan.cells().iter().filter(|cell| self.row_of(cell, known).is_none()).count()
    }

    /// All rows, by scheduler, workers and tasks. Those that are known, of the same program on the same
    /// machine, are not run again; `finished` is called with each of the others, from any thread.
    ///
    /// # Errors
    /// The first error of a run, or of `finished`, in the order of the rows.
    pub fn rows(
        &self,
        known: &[Scheduled],
        finished: &(dyn Fn(&Scheduled) -> Result<()> + Sync),
    ) -> Result<Vec<Scheduled>> {
        on_threads(&self.plan.cells(), self.threads, &|cell| {
            if let Some(row) = self.row_of(cell, known) {
                return Ok(row.clone());
            }
            let target = self.target.clone().under(cell.scheduler)?;
            let row = row(cell, self.seed, &self.run(&target, cell)?);
            finished(&row)?;
            Ok(row)
        })
    }

    /// The row of a run, where it is known.
    fn row_of<'r>(&self, cell: &Cell<'_>, known: &'r [Scheduled]) -> Option<&'r Scheduled> {
        known.iter().find(|row| {
            (row.scheduler.as_str(), row.workers, row.tasks, row.seed)
                == (cell.scheduler, cell.workers, cell.tasks, self.seed)
        })
    }

    fn run(&self, target: &Emulated, cell: &Cell<'_>) -> Result<Ran> {
        let mapping = Mapping::new(cell.workers, self.plan.spes_per_task)?;
        target.run(self.programs.of(cell), mapping)
    }

    /// The same part of the run with the most workers, and of these with the most tasks, under every
    /// scheduler: it begins in the middle of the fastest.
    ///
    /// # Errors
    /// The first error of a run, in the order of the schedulers.
    pub fn excerpts(&self, rows: &[Scheduled]) -> Result<Excerpts> {
        let last = rows.iter().map(|row| (row.workers, row.tasks)).max();
        let (workers, tasks) = last.expect("invariant: a plan has runs");
        let mut cells = self.plan.cells();
        cells.retain(|it| it.place() == (workers, tasks) && self.row_of(it, rows).is_some());
        let here = rows.iter().filter(|row| (row.workers, row.tasks) == (workers, tasks));
        let fastest = here.min_by(|one, other| one.time_s.total_cmp(&other.time_s));
        let fastest = fastest.expect("invariant: a row has that place");
        let active = f64::from(workers.min(tasks));
        let of_each = fastest.offloads as f64 / active;
        let length = fastest.time_s * OFFLOADS_SHOWN / of_each.max(OFFLOADS_SHOWN);
        let length = SimSpan::from_seconds(Seconds(length));
        let mapping = Mapping::new(workers, self.plan.spes_per_task)?;
        let before = active * (of_each - OFFLOADS_SHOWN).max(0.0) / 2.0;
        let first = cells.iter().find(|cell| cell.scheduler == fastest.scheduler);
        let first = first.expect("invariant: every row is of a cell");
        let opened = self.watched(first, Watch::new(mapping, before as u64, length))?;
        let from_s = start(&opened);
        let from = SimTime::ZERO + SimSpan::from_seconds(Seconds(from_s));
        let traces = on_threads(&cells, self.threads, &|cell| {
            let trace = match cell.scheduler == first.scheduler {
                true => opened.clone(),
                false => self.watched(cell, Watch::at(mapping, from, length))?,
            };
            Ok((cell.scheduler.to_string(), trace))
        })?;
        let window = [from_s, from_s + length.seconds().0].map(Seconds);
        Ok(Excerpts { workers, tasks, window, traces })
    }

    /// A part of a run.
    fn watched(&self, cell: &Cell<'_>, watch: Watch) -> Result<Trace> {
        let watch = Arc::new(watch);
        let target = self.target.clone().under(cell.scheduler)?.watched(&watch);
        self.run(&target, cell)?;
        let bytes = watch.take().expect("invariant: the mapping was run");
        let text = String::from_utf8(bytes).expect("invariant: a trace is text");
        Trace::read(&Source { name: cell.scheduler.into(), text, encoding: None })
    }
}

/// Off-loads of a process that an excerpt has.
const OFFLOADS_SHOWN: f64 = 12.0;

/// The same part of a run under several schedulers.
#[derive(Debug, Clone)]
pub struct Excerpts {
    /// Host processes.
    pub workers: u32,
    /// Independent tasks.
    pub tasks: u32,
    /// The begin and the end of the part, since the start of the simulation.
    pub window: [Seconds; 2],
    /// What happened in it, with the name of the scheduler.
    pub traces: Vec<(String, Trace)>,
}

/// When the first span of a trace begins \[s\].
fn start(trace: &Trace) -> f64 {
    let spans = trace.tracks.iter().flat_map(|track| &track.spans);
    spans.map(|span| span.start_s).fold(f64::INFINITY, f64::min)
}

fn row(cell: &Cell<'_>, seed: u64, ran: &Ran) -> Scheduled {
    let run = &ran.run;
    Scheduled {
        scheduler: cell.scheduler.into(),
        workers: cell.workers,
        tasks: cell.tasks,
        spes_per_task: run.mapping.p(),
        time_s: run.time.0,
        apu_busy_percent: 100.0 * run.apu_busy().0 / run.apu_whole().0,
        apu_idle_per_offload_us: 1e6 * run.mean_apu_idle().0,
        context_switches: run.context_switches,
        offloads: run.offloads(),
        seed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mmgp_apps::pbpi::Pbpi;
    use mmgp_apps::phylogeny::{Patterns, simulate};
    use mmgp_apps::synthetic::{Burst, Durations, Synthetic};
    use mmgp_machine::Machine;

    fn plan(workers: &[u32], tasks: &[u32]) -> Plan {
        Plan {
            schedulers: vec!["edtlp".into(), "linux".into()],
            workers: workers.into(),
            tasks: tasks.into(),
            spes_per_task: 1,
            shard: Shard::WHOLE,
        }
    }

    fn synthetic() -> Synthetic {
        let each = Burst { host: Seconds(11e-6), offload: Seconds(96e-6) };
        Synthetic::new(1, 100, Durations::constant(each).unwrap(), 7).unwrap()
    }

    fn ps3() -> Emulated {
        Emulated::new(Machine::named("ps3").unwrap())
    }

    fn rows(plan: &Plan, threads: usize) -> Vec<Scheduled> {
        let ps3 = ps3();
        let comparison =
            SchedulerComparison::new(&ps3, (Box::new(synthetic()), 7), plan, threads).unwrap();
        comparison.rows(&[], &|_| Ok(())).unwrap()
    }

    #[test]
    fn rows_come_in_order_and_are_the_same_on_any_number_of_threads() {
        let of_three = rows(&plan(&[1, 3], &[2, 6]), 3);
        let rows = &of_three;
        let places: Vec<_> =
            rows.iter().map(|row| (row.scheduler.as_str(), row.workers, row.tasks)).collect();
        let expected = ["edtlp", "linux"].iter().flat_map(|&name| {
            [(1, 2), (1, 6), (3, 2), (3, 6)].map(|(workers, tasks)| (name, workers, tasks))
        });
        assert_eq!(places, expected.collect::<Vec<_>>());
        assert!(rows.iter().all(|row| row.offloads == 100 * u64::from(row.tasks) && row.seed == 7));
        assert_eq!(of_three, super::tests::rows(&plan(&[1, 3], &[2, 6]), 1));
    }

    #[test]
    fn what_is_known_is_not_run_again() {
        let (ps3, plan) = (ps3(), plan(&[1, 3], &[2]));
        let comparison =
            SchedulerComparison::new(&ps3, (Box::new(synthetic()), 7), &plan, 1).unwrap();
        let all = rows(&plan, 1);
        // One that nobody ran, one of another seed and one that is not asked for.
        let mut known = vec![all[1].clone(), all[2].clone(), all[3].clone()];
        known[0].time_s = 5.0;
        known[1].seed = 8;
        known[2].scheduler = "mbox".into();
        assert_eq!(comparison.missing(&known), 3);
        let run = std::sync::Mutex::new(Vec::new());
        let found = comparison.rows(&known, &|row| {
            run.lock().unwrap().push(row.clone());
            Ok(())
        });
        let expected = [all[0].clone(), known[0].clone(), all[2].clone(), all[3].clone()];
        assert_eq!(found.unwrap(), expected);
        assert_eq!(run.into_inner().unwrap(), [&all[0], &all[2], &all[3]].map(Clone::clone));
    }

    #[test]
    fn excerpts_are_of_the_same_time_and_reach_from_end_to_end() {
        let (ps3, plan) = (ps3(), plan(&[2, 6], &[]));
        let comparison =
            SchedulerComparison::new(&ps3, (Box::new(synthetic()), 7), &plan, 2).unwrap();
        let rows = rows(&plan, 2);
        let excerpts = comparison.excerpts(&rows).unwrap();
        assert_eq!((excerpts.workers, excerpts.tasks), (6, 6));
        let names: Vec<&str> = excerpts.traces.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["edtlp", "linux"]);
        let [from, until] = excerpts.window.map(|end| end.0);
        // The fastest is EDTLP, with twelve of a hundred off-loads of each process.
        approx::assert_relative_eq!(until - from, 0.12 * rows[1].time_s, max_relative = 1e-6);
        assert!(from > 0.3 * rows[1].time_s && until < 0.7 * rows[1].time_s, "{from} {until}");
        for (name, trace) in &excerpts.traces {
            let spans = || trace.tracks.iter().flat_map(|track| &track.spans);
            let end = spans().map(|span| span.end_s).fold(0.0, f64::max);
            assert!((start(trace) - from).abs() < 1e-9 && (end - until).abs() < 1e-9, "{name}");
        }
    }

    #[test]
    fn without_a_number_each_worker_has_a_task_and_what_is_not_busy_is_idle() {
        let rows = rows(&plan(&[1, 6], &[]), 2);
        assert_eq!(rows.iter().map(|row| row.tasks).collect::<Vec<_>>(), [1, 6, 1, 6]);
        for row in &rows {
            let turn = 1e6 * row.time_s * f64::from(row.workers) / row.offloads as f64;
            let busy = turn * row.apu_busy_percent / 100.0;
            assert!((turn - busy - row.apu_idle_per_offload_us).abs() < 1e-6 * turn, "{row:?}");
        }
        // Six workers on two threads that spin, beside six that give them away.
        assert!(rows[3].time_s > 2.5 * rows[1].time_s);
    }

    fn pbpi() -> Pbpi {
        let tree = simulate::tree(4, 0.1, 1).unwrap();
        let alignment = simulate::alignment(&tree, &simulate::names(4), 40, 1).unwrap();
        Pbpi::new(Patterns::compress(&alignment), None, 1, 3).unwrap()
    }

    #[test]
    fn workers_share_a_program_of_one_job() {
        let (ps3, plan) = (ps3(), plan(&[1, 2], &[]));
        let comparison = SchedulerComparison::new(&ps3, (Box::new(pbpi()), 1), &plan, 1).unwrap();
        let rows = comparison.rows(&[], &|_| Ok(())).unwrap();
        let places: Vec<_> = rows.iter().map(|row| (row.workers, row.tasks)).collect();
        assert_eq!(places, [(1, 1), (2, 2), (1, 1), (2, 2)]);
        // Every process follows the whole control flow, with a part of the data.
        assert_eq!(rows[1].offloads, 2 * rows[0].offloads);
        assert_eq!(comparison.excerpts(&rows).unwrap().traces.len(), 2);
    }

    #[test]
    fn a_program_of_one_job_has_no_number_of_tasks() {
        let (ps3, plan) = (ps3(), plan(&[1], &[4]));
        let error = SchedulerComparison::new(&ps3, (Box::new(pbpi()), 1), &plan, 1).err().unwrap();
        let expected = "the application: found pbpi, which is one job, expected one whose work is \
                        independent tasks, or no number of tasks";
        assert_eq!(error.to_string(), expected);
    }
}
