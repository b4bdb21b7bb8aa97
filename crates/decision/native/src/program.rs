//! A user's command as a target.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use mmgp_base::attempt::{Attempt, Order, Status};
use mmgp_base::error::Result;
use mmgp_base::target::Target;
use mmgp_base::units::Seconds;
use mmgp_base::{Mapping, table};
use mmgp_intake::Measurand;

use crate::binding::Binding;
use crate::command::{Command, Placeholders};
use crate::complaint::complaint;
use crate::failure::{failure, plain, short};
use crate::pin::Pin;
use crate::printed::{Capture, Units};
use crate::supervisor::{CommandEnd, Match, Run, Supervisor};
use crate::time_source::{FoundTime, MissingTime, TimeSource};
use crate::{clock, host};

/// How a command is run, and how its time is taken.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// What is run.
    pub command: Command,
    /// The source of its time.
    pub time: TimeSource,
    /// What else is taken from its output.
    pub captures: Vec<Capture>,
    /// What is measured instead of its time: an expression over it, m, p and, in this order, `nodes` and
    /// what is captured.
    pub measurand: Option<Measurand>,
    /// A regular expression that its output must have for the run to be right.
    pub check: Option<String>,
    /// The processors on which it runs.
    pub pin: Pin,
    /// The folder in which each run gets a fresh folder, `{dir}`.
    pub folders: Option<PathBuf>,
    /// Whether these folders stay after runs that went well.
    pub keeps_folders: bool,
    /// The folder in which the output of each run is kept; that of runs that did not go well alone, unless
    /// [`Self::keeps_output`].
    pub outputs: Option<PathBuf>,
    /// Whether the output of all runs is kept.
    pub keeps_output: bool,
    /// What each run of a mapping on so many nodes is started with: `srun` and its options.
    pub launcher: Option<fn(Mapping, u32) -> Vec<String>>,
    /// What tells the launcher in the command where ranks go.
    pub binding: Option<Binding>,
    /// Other names of m and p in placeholders.
    pub names: Option<(String, String)>,
}

/// A user's command as a target.
pub struct Program {
    settings: Settings,
    supervisor: Mutex<Supervisor>,
    host: String,
    /// The units of its rates and of what is captured.
    units: Mutex<Units>,
}

impl Program {
    /// The target of these settings, run by a supervisor.
    pub fn new(settings: Settings, supervisor: Supervisor) -> Self {
        let supervisor = Mutex::new(supervisor);
        Self { settings, supervisor, host: host::name(), units: Mutex::default() }
    }

    /// Runs one of the commands.
    fn run_one(&self, run: Run) -> Result<CommandEnd> {
        self.supervisor.lock().unwrap_or_else(PoisonError::into_inner).run(run)
    }
}

impl Settings {
    /// The values of all placeholders.
    fn placeholders(&self, order: &Order, mapping: Mapping, folder: &Path) -> Placeholders {
        let mut places = Placeholders::default()
            .with("m", mapping.m())
            .with("p", mapping.p())
            .with("nodes", order.nodes)
            .with("rep", order.repetition)
            .with("dir", folder.display());
        if let Some((of_m, of_p)) = &self.names {
            places = places.with(of_m, mapping.m()).with(of_p, mapping.p());
        }
        order.factors.iter().fold(places, |places, (name, value)| places.with(name, value))
    }

    /// What is to be run, with all places filled in; without what pins it.
    pub fn filled(
        &self,
        order: &Order,
        mapping: Mapping,
    ) -> (Vec<String>, BTreeMap<String, String>) {
        let folder = self.folder(order.id);
        let places = self.placeholders(order, mapping, &folder);
        let command = &self.command;
        let mut argv = command.filled(&places, &command.argv);
        let mut env: BTreeMap<String, String> = places.variables().collect();
        if let Some(binding) = &self.binding {
            binding.put_into(&mut argv, mapping, order.nodes);
            // Variables that mmgp itself was started with are the user's word.
            let own = binding.variables(mapping, order.nodes).iter();
            let own = own.filter(|(name, _)| std::env::var_os(name).is_none());
            env.extend(own.map(|(name, value)| (name.to_string(), value.to_string())));
        }
        if let Some(launcher) = self.launcher {
            argv.splice(0..0, launcher(mapping, order.nodes));
        }
        let set = command.env.iter().map(|(name, value)| (name.clone(), places.fill(value)));
        env.extend(set);
        (argv, env)
    }

    /// The folder in which an order runs; that where mmgp was started if no other.
    pub fn folder_of(&self, order: &Order, mapping: Mapping) -> Option<PathBuf> {
        let fresh = self.folder(order.id);
        match &self.command.folder {
            Some(folder) => Some(self.placeholders(order, mapping, &fresh).fill(folder).into()),
            None => self.folders.as_ref().map(|_| fresh),
        }
    }

    fn folder(&self, id: u64) -> PathBuf {
        let here = || PathBuf::from(".");
        let folder = self.folders.as_ref().map_or_else(here, |it| it.join(id.to_string()));
        std::path::absolute(&folder).unwrap_or(folder)
    }
}

impl Target for Program {
    type Workload = Order;
    type Ran = Attempt;

    fn name(&self) -> &str {
        "host"
    }

    fn description(&self) -> &str {
        &self.host
    }

    /// Whatever the command does is an attempt; errors are those of mmgp's own files and processes.
    fn run(&self, order: &Order, mapping: Mapping) -> Result<Attempt> {
        let settings = &self.settings;
        let folder = settings.folder(order.id);
        if settings.folders.is_some() {
            table::remove_folder(&folder)?;
            table::create_folder(&folder)?;
        }
        let places = settings.placeholders(order, mapping, &folder);
        let (argv, mut env) = settings.filled(order, mapping);
        let processors = settings.pin.processors(mapping);
        if !processors.is_empty() {
            env.insert("MMGP_PROCESSORS".into(), listed(&processors));
        }
        let run = |argv: Vec<String>| Run {
            argv,
            env: env.clone(),
            without: settings.command.without.clone(),
            folder: settings.folder_of(order, mapping),
            processors: processors.concat(),
            ..Run::default()
        };
        let mut attempt = begun(order, mapping, argv.clone(), env.clone(), &self.host);
        let patterns = [settings.time.pattern(), settings.check.as_deref()].into_iter().flatten();
        let captures = settings.captures.iter().map(Capture::pattern);
        let patterns: Vec<String> = patterns.chain(captures).map(String::from).collect();
        let prepared = match &settings.command.prepare {
            Some(prepare) => Some(self.run_one(run(settings.command.filled(&places, prepare)))?),
            None => None,
        };
        let ended = match prepared.as_ref().and_then(failure) {
            Some(why) => {
                attempt.status = Status::Failed;
                attempt.reason = Some(format!("what prepares it: {why}"));
                prepared.unwrap_or_default()
            }
            None => {
                let ended = self.run_one(Run {
                    limit_s: order.limit.map(|limit| limit.0),
                    patterns,
                    ..run(argv)
                })?;
                self.judge(&mut attempt, &ended, order.limit)?;
                ended
            }
        };
        let mut is_stopped = ended.is_stopped;
        if let Some(conclude) = &settings.command.conclude {
            let concludes =
                Run { concludes: true, ..run(settings.command.filled(&places, conclude)) };
            let concluded = self.run_one(concludes)?;
            if let (Status::Ok, Some(why)) = (attempt.status, failure(&concluded)) {
                attempt.status = Status::Failed;
                attempt.reason = Some(format!("what concludes it: {why}"));
                is_stopped |= concluded.is_stopped;
            }
        }
        if is_stopped {
            (attempt.status, attempt.reason) = (Status::Interrupted, None);
        }
        if attempt.status != Status::Ok {
            attempt.time_s = None;
        } else if settings.check.is_none() {
            let said = [&ended.output, &ended.errors].into_iter().find_map(|it| complaint(it));
            attempt.complaint = said.map(short);
        }
        self.tidy(&attempt, &ended, &folder)?;
        Ok(attempt)
    }
}

impl Program {
    /// Refuses another unit than the first had.
    fn check_unit(&self, name: &str, unit: &str) -> Result<()> {
        self.units.lock().unwrap_or_else(PoisonError::into_inner).check(name, unit)
    }

    /// What is measured of a run whose time or rate was found, with what is captured of it.
    fn measured<'a>(
        &self,
        attempt: &mut Attempt,
        found: FoundTime,
        matches: impl Iterator<Item = &'a Option<Match>>,
    ) -> std::result::Result<FoundTime, MissingTime> {
        let mut captured = vec![f64::from(attempt.nodes)];
        for (capture, found) in self.settings.captures.iter().zip(matches) {
            let (value, word) = capture.read(found.as_ref())?;
            self.check_unit(&capture.name, &word).map_err(MissingTime::NotUnderstood)?;
            attempt.captured.insert(capture.key(), value);
            captured.push(value);
        }
        let Some(measurand) = &self.settings.measurand else { return Ok(found) };
        let quantity = measurand.quantity().clone();
        attempt.captured.insert("time_s".into(), found.time.0);
        let time = measurand.time(found.time.0, (attempt.m, attempt.p), &captured);
        let time = time.ok_or_else(|| {
            format!("{} of it is no number above 0", quantity.unit().unwrap_or_default())
        })?;
        Ok(FoundTime { time: Seconds(time), quantity })
    }

    /// What an end of the command means.
    ///
    /// # Errors
    /// [`mmgp_base::Error::Ambiguous`] where it prints something else than a time.
    fn judge(
        &self,
        attempt: &mut Attempt,
        ended: &CommandEnd,
        limit: Option<Seconds>,
    ) -> Result<()> {
        let settings = &self.settings;
        attempt.wall_s = ended.not_started.is_none().then_some(ended.wall_s);
        (attempt.exit, attempt.signal) = (ended.exit, ended.signal);
        attempt.cpu_s = Some(ended.cpu_s);
        attempt.max_rss_kb = Some(ended.max_rss_kb);
        attempt.context_switches = Some(ended.context_switches);
        attempt.involuntary_switches = Some(ended.involuntary_switches);
        attempt.steal = ended.steal;
        attempt.placement = ended.placement.clone();
        attempt.time_source = settings.time.name().into();
        let mut matches = ended.matches.iter();
        let of_time = settings.time.pattern().and_then(|_| matches.next()?.as_ref());
        let of_check = settings.check.as_ref().and_then(|_| matches.next());
        let time = settings.time.time(Seconds(ended.wall_s), of_time, &ended.output);
        let time = time.and_then(|found| self.measured(attempt, found, matches));
        let (status, reason) = if ended.is_late {
            let limit = limit.map_or(ended.wall_s, |limit| limit.0);
            (Status::Timeout, Some(format!("stopped after {}", Seconds(limit))))
        } else if let Some(why) = failure(ended) {
            (Status::Failed, Some(why))
        } else if let (Some(check), Some(None)) = (&settings.check, of_check) {
            (Status::Wrong, Some(format!("its output does not match {check:?}")))
        } else {
            match time {
                Ok(found) => {
                    if let Some(unit) = found.quantity.unit() {
                        self.check_unit("the rate", unit)?;
                    }
                    attempt.measured(found.time, found.quantity);
                    let left = ended.left_behind;
                    let some = if left == 1 { "a process" } else { &format!("{left} processes") };
                    (Status::Ok, (left > 0).then(|| format!("left {some} behind")))
                }
                Err(MissingTime::NotThere(why)) => (Status::Wrong, Some(why)),
                Err(MissingTime::NotUnderstood(error)) => return Err(error),
            }
        };
        (attempt.status, attempt.reason) = (status, reason.map(|it| plain(&it)));
        Ok(())
    }

    /// Keeps what is to be kept of a run, and nothing else.
    fn tidy(&self, attempt: &Attempt, ended: &CommandEnd, folder: &Path) -> Result<()> {
        let settings = &self.settings;
        let is_ok = attempt.status == Status::Ok;
        if let Some(outputs) = &settings.outputs
            && (!is_ok || settings.keeps_output)
            && !(ended.output.is_empty() && ended.errors.is_empty())
        {
            table::create_folder(outputs)?;
            for (end, text) in [("out", &ended.output), ("err", &ended.errors)] {
                table::write(&outputs.join(format!("{}.{end}", attempt.id)), text)?;
            }
        }
        if settings.folders.is_some() && is_ok && !settings.keeps_folders {
            table::remove_folder(folder)?;
        }
        Ok(())
    }
}

fn begun(
    order: &Order,
    mapping: Mapping,
    argv: Vec<String>,
    env: BTreeMap<String, String>,
    host: &str,
) -> Attempt {
    Attempt {
        argv,
        env,
        start: clock::now(),
        nodes: order.nodes,
        params: order.factors.clone(),
        repetition: order.repetition,
        host: host.into(),
        limit_s: order.limit.map(|limit| limit.0),
        load: host::load(),
        ..Attempt::new(order.id, mapping.m(), mapping.p(), Status::Failed)
    }
}

/// The processors of each process in a text: `0,1;2,3`.
fn listed(processors: &[Vec<usize>]) -> String {
    let of_one = |it: &Vec<usize>| it.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    processors.iter().map(of_one).collect::<Vec<_>>().join(";")
}
