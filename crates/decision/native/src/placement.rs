//! What the processors that runs used say of how they were started.
//!
//! A sentence is said where it follows from what was seen, and nothing where it may be otherwise.

use std::collections::{BTreeMap, BTreeSet};

use mmgp_base::Mapping;
use mmgp_base::attempt::{Attempt, Placement, Status};

use crate::binding::{MpiLauncher, is_bound, launcher_in};
use crate::cpu_list;

/// CPU times that are the same but for so much are equal.
const ALIKE: f64 = 1.25;

/// What is odd about where the threads of these runs were, a sentence each; `name` says what a
/// configuration is called. A launcher that they share is asked for its version.
pub fn placement_notes(attempts: &[Attempt], name: &dyn Fn(Mapping) -> String) -> Vec<String> {
    let advice = || attempts.iter().find_map(|it| MpiLauncher::of(&it.argv)).map(|it| it.advice());
    let seen = Seen::new(attempts);
    let crowded = seen.crowded().map(|it| it.sentence(name, advice));
    let all = [crowded, seen.copies(), seen.idle_threads(), seen.too_many(name)];
    all.into_iter().flatten().collect()
}

/// Runs of which it is known where their threads were.
struct Seen<'a>(Vec<(&'a Attempt, &'a Placement)>);

/// Threads that share fewer processors than they are, while others have nothing to do.
struct Crowd<'a> {
    attempt: &'a Attempt,
    processors: String,
    threads: u32,
    processes: u32,
    /// Configurations of which this can be said.
    configurations: usize,
}

impl<'a> Seen<'a> {
    fn new(attempts: &'a [Attempt]) -> Self {
        let is_known = |it: &'a Attempt| {
            let is_over = matches!(it.status, Status::Ok | Status::Wrong | Status::Timeout);
            is_over.then_some((it, it.placement.as_ref()?))
        };
        Self(attempts.iter().filter_map(is_known).collect())
    }

    /// Runs that had a processor for each thread that was asked for.
    fn with_room(&self) -> impl Iterator<Item = &(&'a Attempt, &'a Placement)> {
        self.0.iter().filter(|(attempt, seen)| {
            let places = mapping(attempt).apus().div_ceil(u64::from(attempt.nodes));
            places <= u64::from(seen.processors)
        })
    }

    /// The worst crowd.
    fn crowded(&self) -> Option<Crowd<'a>> {
        let all: Vec<Crowd<'a>> =
            self.with_room().filter_map(|(attempt, seen)| crowd(attempt, seen)).collect();
        let configurations: BTreeSet<Mapping> = all.iter().map(|it| mapping(it.attempt)).collect();
        let share = |it: &Crowd<'_>| {
            f64::from(it.threads) / cpu_list::read(&it.processors).len().max(1) as f64
        };
        let worst = all.into_iter().max_by(|one, other| share(one).total_cmp(&share(other)))?;
        Some(Crowd { configurations: configurations.len(), ..worst })
    }

    /// Processes of a program that has no MPI, started by a launcher of it, of which each does what one alone
    /// does.
    fn copies(&self) -> Option<String> {
        let launched = self.0.iter().filter(|(it, _)| launcher_in(&it.argv).is_some());
        let launched: Vec<_> = launched.filter(|(_, seen)| seen.has_mpi == Some(false)).collect();
        let of = |it: &Attempt| Some(it.cpu_s? / f64::from(it.m));
        let fewest = launched.iter().min_by_key(|(it, _)| it.m)?.0;
        let most = launched.iter().filter(|(it, _)| it.p == fewest.p).max_by_key(|(it, _)| it.m)?.0;
        let (one, each) = (of(fewest)?, of(most)?);
        let is_all = most.m > fewest.m && each * ALIKE > one;
        is_all.then(|| {
            format!(
                "The processes look like copies of one program, each of which does all of the work: none has a \
                 library of MPI, and each took {each:.2} s of a processor where there are {}, {one:.2} s where \
                 there {}. Is the program built with the MPI of its launcher?",
                most.m,
                if fewest.m == 1 { "is 1".into() } else { format!("are {}", fewest.m) }
            )
        })
    }

    /// That p changes nothing: as many threads, as many at work, and as much CPU time.
    fn idle_threads(&self) -> Option<String> {
        let mut by_m: BTreeMap<u32, BTreeMap<u32, (u32, u32, f64)>> = BTreeMap::new();
        for (attempt, seen) in &self.0 {
            let cpu_s = attempt.cpu_s?;
            let of_p = by_m.entry(attempt.m).or_default().entry(attempt.p).or_default();
            *of_p = (of_p.0.max(seen.threads), of_p.1.max(seen.working()), of_p.2.max(cpu_s));
        }
        let several = || by_m.iter().filter(|(_, of_p)| of_p.len() > 1);
        let is_same = |(&m, of_p): (&u32, &BTreeMap<u32, (u32, u32, f64)>)| {
            let ((_, one), (&p, other)) =
                of_p.first_key_value().zip(of_p.last_key_value()).expect("invariant: two of them");
            let is_alike = one.2 < ALIKE * other.2 && other.2 < ALIKE * one.2;
            (one.0, one.1) == (other.0, other.1) && is_alike && other.1 < m.saturating_mul(p)
        };
        let (&m, of_p) = several().next()?;
        let ((few, _), (many, &(_, working, _))) =
            of_p.first_key_value().zip(of_p.last_key_value())?;
        several().all(is_same).then(|| {
            format!(
                "p does nothing: at m = {m} {} with p = {few} and with p = {many}. Does the command have {{p}}, \
                 or --env OMP_NUM_THREADS={{p}} for OpenMP?",
                match working {
                    1 => "1 thread works".into(),
                    _ => format!("{working} threads work"),
                }
            )
        })
    }

    /// Runs with more threads at work than there are processors.
    fn too_many(&self, name: &dyn Fn(Mapping) -> String) -> Option<String> {
        let is_one = |(attempt, seen): &&(&Attempt, &Placement)| {
            let asked = mapping(attempt).apus();
            let working = seen.working_at_once();
            // A thread more than was asked for helps the others.
            let is_due = asked > u64::from(seen.processors) || u64::from(working) >= 2 * asked;
            attempt.nodes == 1 && working > seen.processors && is_due
        };
        let all: Vec<_> = self.0.iter().filter(is_one).collect();
        let (attempt, seen) = all.iter().max_by_key(|(_, seen)| seen.working_at_once())?;
        let count: BTreeSet<Mapping> = all.iter().map(|(it, _)| mapping(it)).collect();
        let (working, processors) = (seen.working_at_once(), seen.processors);
        let asked = mapping(attempt).apus();
        let of = match count.len() {
            1 => String::new(),
            count => format!(", the most of {count} such configurations"),
        };
        let ran = format!(
            "{}: {working} threads worked on {processors} processors{of}",
            name(mapping(attempt))
        );
        Some(if u64::from(working) < 2 * asked {
            ran + "."
        } else if attempt.env.contains_key("OMP_NUM_THREADS") {
            format!(
                "{ran}, where {asked} were asked for. Does the program take their number from {{p}}?"
            )
        } else {
            format!(
                "{ran}, where {asked} were asked for. --env OMP_NUM_THREADS={{p}}, or --as mpi+openmp, tells \
                 programs with OpenMP."
            )
        })
    }
}

/// Threads of a run that share too few processors.
fn crowd<'a>(attempt: &'a Attempt, seen: &'a Placement) -> Option<Crowd<'a>> {
    let of = |list: &str| cpu_list::read(list).into_iter().collect::<BTreeSet<usize>>();
    seen.processes.iter().find_map(|it| {
        let there = of(&it.processors);
        // Whoever may use these alone: more threads than these are, with others to go to.
        let within = seen.processes.iter().filter(|it| of(&it.processors).is_subset(&there));
        let (processes, threads) = within.fold((0, 0), |(processes, threads), it| {
            (processes + it.count, threads + it.count.saturating_mul(it.working))
        });
        let is_crowded = there.len() < threads as usize && there.len() < seen.processors as usize;
        // A launcher beside a rank, or a thread that helps, is no crowd.
        let asked = attempt.p.saturating_mul(processes);
        (is_crowded && there.len() < asked as usize).then(|| Crowd {
            attempt,
            processors: it.processors.clone(),
            threads,
            processes,
            configurations: 0,
        })
    })
}

impl Crowd<'_> {
    fn sentence(
        &self,
        name: &dyn Fn(Mapping) -> String,
        advice: impl Fn() -> Option<&'static str>,
    ) -> String {
        let Self { attempt, processors, threads, processes, configurations } = self;
        let who = match processes {
            1 => format!("the {threads} threads of a process"),
            _ => format!("{threads} threads of {processes} processes"),
        };
        let kind = if processors.parse::<usize>().is_ok() { "processor" } else { "processors" };
        let of = match configurations {
            1 => String::new(),
            count => format!(", and so in {count} configurations"),
        };
        let binds = attempt.env.get("OMP_PROC_BIND").is_some_and(|it| it != "false");
        let how = match advice() {
            Some(options) if !is_bound(&attempt.argv) => {
                let launcher = launcher_in(&attempt.argv).map_or("it", |it| &attempt.argv[it]);
                format!("add {options} to {launcher}, or --as mpi+openmp here")
            }
            Some(options) => format!("where the command binds ranks now, put {options}"),
            None if binds => "without OMP_PROC_BIND each thread takes what is free".into(),
            None => "give each process p processors of its own".into(),
        };
        format!("{}: {who} share {kind} {processors}{of}: {how}.", name(mapping(attempt)))
    }
}

fn mapping(attempt: &Attempt) -> Mapping {
    Mapping::of(attempt.m, attempt.p)
}

#[cfg(test)]
mod tests {
    use mmgp_base::attempt::PlacedProcesses;

    use super::*;

    /// A run of a command on so many processors, with processes as `2x4 on 0`: two of four threads that work.
    fn run(command: &str, (m, p): (u32, u32), processors: u32, processes: &[&str]) -> Attempt {
        let process = |text: &&str| {
            let (counts, list) = text.split_once(" on ").expect("processors");
            let (count, working) = counts.split_once('x').expect("counts");
            let [count, working] = [count, working].map(|it| it.parse().expect("a count"));
            PlacedProcesses { processors: list.into(), working, threads: working, count }
        };
        let processes: Vec<_> = processes.iter().map(process).collect();
        let mut attempt = Attempt::new(1, m, p, Status::Ok);
        attempt.argv = command.split(' ').map(String::from).collect();
        attempt.cpu_s = Some(10.0);
        let threads = processes.iter().map(|it| it.count * it.threads).sum();
        let has_mpi = Some(true);
        attempt.placement =
            Some(Placement { at_s: 0.5, processors, has_mpi, threads, at_once: None, processes });
        attempt
    }

    fn check(attempts: &[Attempt], expected: &[&str]) {
        let notes = placement_notes(attempts, &|it| it.to_string());
        assert_eq!(notes.len(), expected.len(), "{notes:#?}");
        for (note, expected) in notes.iter().zip(expected) {
            assert!(note.contains(expected), "{note}");
        }
    }

    #[test]
    fn threads_that_share_a_core_while_others_are_free_are_told() {
        let trap = run("./app", (2, 4), 8, &["1x4 on 0", "1x4 on 1"]);
        let said = "(2, 4): the 4 threads of a process share processor 0: give each process p";
        check(std::slice::from_ref(&trap), &[said]);
        let hyperthreads = run("./app", (2, 4), 16, &["1x4 on 0,8", "1x4 on 1,9"]);
        check(&[hyperthreads], &["share processors 0,8"]);
        // All ranks with their threads at the same places.
        // Nobody is free.
        check(
            &[run("./app", (1, 4), 4, &["3x4 on 0-3"])],
            &["12 threads worked on 4 processors, where"],
        );
        let mut same = run("./app", (2, 2), 8, &["2x2 on 0-1"]);
        same.env.insert("OMP_PROC_BIND".into(), "true".into());
        check(&[same], &["4 threads of 2 processes share processors 0-1: without OMP_PROC_BIND"]);
    }

    #[test]
    fn right_binding_is_passed_over_in_silence() {
        check(&[run("./app", (2, 4), 8, &["1x4 on 0-3", "1x4 on 4-7"])], &[]);
        check(&[run("./app", (2, 4), 8, &["2x4 on 0-7"])], &[]);
        check(&[run("./app", (4, 1), 8, &["1x1 on 0", "1x1 on 1", "1x1 on 2", "1x1 on 3"])], &[]);
        // A thread that helps the one that computes.
        check(&[run("./app", (2, 1), 8, &["1x2 on 0", "1x2 on 1"])], &[]);
        // No room, but asked for.
        check(&[run("./app", (2, 2), 2, &["1x1 on 0", "1x1 on 1"])], &[]);
        check(&[Attempt::new(1, 2, 2, Status::Ok)], &[]);
    }

    #[test]
    fn more_threads_than_processors_are_told_with_why_where_that_was_not_asked_for() {
        check(
            &[run("./app", (4, 3), 2, &["4x3 on 0-1"])],
            &["(4, 3): 12 threads worked on 2 processors."],
        );
        // Those that start the others do so before these work.
        let mut started = run("./app", (2, 4), 2, &["2x5 on 0-1"]);
        let seen = started.placement.as_mut().expect("it is there");
        seen.at_once = Some(8.2);
        check(std::slice::from_ref(&started), &["(2, 4): 8 threads worked on 2 processors."]);
        started.placement.as_mut().expect("it is there").at_once = Some(1.9);
        check(&[started], &[]);
        let unset = run("./app", (4, 1), 8, &["4x8 on 0-7"]);
        // One that helps.
        check(&[run("./app", (2, 4), 8, &["2x5 on 0-7"])], &[]);
        check(
            &[unset],
            &["32 threads worked on 8 processors, where 4 were asked for. --env OMP_NUM"],
        );
    }

    #[test]
    fn a_p_that_changes_nothing_is_told() {
        let one = run("./app", (2, 1), 8, &["2x1 on 0-7"]);
        let four = run("./app", (2, 4), 8, &["2x1 on 0-7"]);
        check(
            &[one.clone(), four],
            &["p does nothing: at m = 2 2 threads work with p = 1 and with p"],
        );
        check(&[one.clone(), run("./app", (2, 4), 8, &["2x4 on 0-7"])], &[]);
        let mut elsewhere = run("./app", (2, 4), 8, &["2x1 on 0-7"]);
        elsewhere.cpu_s = Some(5.0);
        check(&[one, elsewhere], &[]);
    }

    #[test]
    fn processes_without_mpi_that_each_do_all_are_told() {
        let of = |m: u32, cpu_s: f64, has_mpi| {
            let mut run = run("mpirun ./app", (m, 1), 8, &[&format!("{m}x1 on 0-7")]);
            run.cpu_s = Some(cpu_s);
            run.placement.as_mut().expect("it is there").has_mpi = has_mpi;
            run
        };
        let said = "each took 10.00 s of a processor where there are 4, 10.00 s where there is 1.";
        check(&[of(1, 10.0, Some(false)), of(4, 40.0, Some(false))], &[said]);
        // The work is divided; or it is a program of MPI, with as much work for each.
        check(&[of(1, 10.0, Some(false)), of(4, 10.0, Some(false))], &[]);
        check(&[of(1, 10.0, Some(true)), of(4, 40.0, Some(true))], &[]);
        check(&[of(1, 10.0, None), of(4, 40.0, None)], &[]);
    }
}
