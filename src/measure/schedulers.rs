//! One program under several schedulers, by numbers of workers and of tasks.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::threads::on_threads;
use super::{Emulated, Measured as _, Target as _};
use crate::Mapping;
use crate::apps::{Application, Once, Ran};
use crate::error::{Error, Result};
use crate::table::records::Scheduled;

/// What is to be compared: every scheduler at every number of workers and of tasks.
#[derive(Debug, Clone)]
pub struct Plan {
    /// By their names.
    pub schedulers: Vec<String>,
    /// Host processes.
    pub workers: Vec<u32>,
    /// Independent tasks; one for each worker where there is no number.
    pub tasks: Vec<u32>,
    /// SPEs of each worker.
    pub spes_per_task: u32,
}

/// A run of the plan.
struct Cell<'a> {
    scheduler: &'a str,
    workers: u32,
    tasks: u32,
}

impl Plan {
    /// The number of runs.
    pub fn runs(&self) -> usize {
        self.schedulers.len() * self.workers.len() * self.tasks.len().max(1)
    }

    /// Checks that there are such schedulers, that the machine has SPEs for all workers, and that the
    /// program is made of independent tasks.
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
        of_tasks(program, 1).map(drop)
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
        cells
    }
}

/// Runs the program on the machine of `target` as the plan says, on so many threads of this computer;
/// `finished` is called after each run. Rows come by scheduler, workers and tasks.
///
/// # Errors
/// As [`Plan::check`], and the first error of a run in the order of the rows.
pub fn compare(
    target: &Emulated,
    (program, seed): (&dyn Application, u64),
    plan: &Plan,
    threads: usize,
    finished: &(dyn Fn() + Sync),
) -> Result<Vec<Scheduled>> {
    let cells = plan.cells();
    let mut programs = BTreeMap::new();
    for &Cell { tasks, .. } in &cells {
        if let Entry::Vacant(place) = programs.entry(tasks) {
            place.insert(Once::new(of_tasks(program, tasks)?));
        }
    }
    on_threads(&cells, threads, &|cell| {
        let target = target.clone().under(cell.scheduler)?;
        let mapping = Mapping::new(cell.workers, plan.spes_per_task)?;
        let ran = target.run(&programs[&cell.tasks], mapping);
        finished();
        Ok(row(cell, seed, &ran?))
    })
}

fn of_tasks(program: &dyn Application, tasks: u32) -> Result<Box<dyn Application>> {
    program.with_tasks(tasks).ok_or_else(|| Error::OutOfRange {
        name: "the application",
        found: program.name().into(),
        expected: "one whose work is independent tasks".into(),
    })
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
    use crate::apps::pbpi::Pbpi;
    use crate::apps::phylogeny::{Patterns, simulate};
    use crate::apps::synthetic::{Burst, Durations, Synthetic};
    use crate::machine::Machine;
    use crate::units::Seconds;

    fn plan(workers: &[u32], tasks: &[u32]) -> Plan {
        Plan {
            schedulers: vec!["edtlp".into(), "linux".into()],
            workers: workers.into(),
            tasks: tasks.into(),
            spes_per_task: 1,
        }
    }

    fn synthetic() -> Synthetic {
        let each = Burst { host: Seconds(11e-6), offload: Seconds(96e-6) };
        Synthetic::new(1, 100, Durations::constant(each).unwrap(), 7).unwrap()
    }

    fn ps3() -> Emulated {
        Emulated::new(Machine::named("ps3").unwrap())
    }

    #[test]
    fn rows_come_in_order_and_are_the_same_on_any_number_of_threads() {
        let compare = |threads| {
            compare(&ps3(), (&synthetic(), 7), &plan(&[1, 3], &[2, 6]), threads, &|| ()).unwrap()
        };
        let rows = compare(3);
        let places: Vec<_> =
            rows.iter().map(|row| (row.scheduler.as_str(), row.workers, row.tasks)).collect();
        let expected = ["edtlp", "linux"].iter().flat_map(|&name| {
            [(1, 2), (1, 6), (3, 2), (3, 6)].map(|(workers, tasks)| (name, workers, tasks))
        });
        assert_eq!(places, expected.collect::<Vec<_>>());
        assert!(rows.iter().all(|row| row.offloads == 100 * u64::from(row.tasks) && row.seed == 7));
        assert_eq!(rows, compare(1));
    }

    #[test]
    fn without_a_number_each_worker_has_a_task_and_what_is_not_busy_is_idle() {
        let rows = compare(&ps3(), (&synthetic(), 7), &plan(&[1, 6], &[]), 2, &|| ()).unwrap();
        assert_eq!(rows.iter().map(|row| row.tasks).collect::<Vec<_>>(), [1, 6, 1, 6]);
        for row in &rows {
            let turn = 1e6 * row.time_s * f64::from(row.workers) / row.offloads as f64;
            let busy = turn * row.apu_busy_percent / 100.0;
            assert!((turn - busy - row.apu_idle_per_offload_us).abs() < 1e-6 * turn, "{row:?}");
        }
        // Six workers on two threads that spin, beside six that give them away.
        assert!(rows[3].time_s > 2.5 * rows[1].time_s);
    }

    #[test]
    fn a_program_of_one_job_is_refused() {
        let tree = simulate::tree(4, 0.1, 1).unwrap();
        let alignment = simulate::alignment(&tree, &simulate::names(4), 40, 1).unwrap();
        let pbpi = Pbpi::new(Patterns::compress(&alignment), None, 1, 1).unwrap();
        let error = compare(&ps3(), (&pbpi, 1), &plan(&[1], &[]), 1, &|| ()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the application: found pbpi, expected one whose work is independent tasks"
        );
    }
}
