//! The supervisor's own side: one command after the other, until whoever asks is gone.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};
use regex_lite::Regex;
use wait4::{ResUse, Wait4 as _};

use super::family;
use super::output::{self, Reading};
use super::protocol::{Ended, Request, Run};
use crate::clock::Stopwatch;
use crate::pin;

/// How long what was asked to end may take before it is ended.
const GRACE: Duration = Duration::from_secs(2);

/// How long what a command left behind may take to end by itself.
const LINGERING: Duration = Duration::from_millis(20);

/// What happens to a supervisor.
enum Event {
    Asked(Request),
    /// Whoever asks is gone.
    Alone,
    /// The command has ended, after this time \[s\].
    Ended(io::Result<ResUse>, f64),
}

/// Answers requests until there will be no more, and then leaves nothing that was started.
///
/// # Errors
/// Where an answer cannot be given.
pub fn serve(requests: impl Read + Send + 'static, mut answers: impl Write) -> io::Result<()> {
    family::adopt();
    let (sender, events) = channel();
    let of_requests = sender.clone();
    std::thread::spawn(move || listen(requests, &of_requests));
    let mut is_stopped = false;
    while let Ok(event) = events.recv() {
        match event {
            Event::Asked(Request::Run(run)) => {
                let ended = if is_stopped {
                    Ended { is_stopped, ..Ended::default() }
                } else {
                    let Some(ended) = attend(&run, &sender, &events) else { break };
                    is_stopped = ended.is_stopped;
                    ended
                };
                let line = serde_json::to_string(&ended)?;
                answers.write_all((line + "\n").as_bytes())?;
                answers.flush()?;
            }
            // Between two commands: the next is not to begin.
            Event::Asked(Request::Stop) => is_stopped = true,
            Event::Ended(..) => {}
            Event::Alone => break,
        }
    }
    family::bury();
    Ok(())
}

fn listen(requests: impl Read, events: &Sender<Event>) {
    for line in BufReader::new(requests).lines() {
        let request = line.ok().and_then(|line| serde_json::from_str(&line).ok());
        let Some(request) = request else { break };
        if events.send(Event::Asked(request)).is_err() {
            return;
        }
    }
    let _ = events.send(Event::Alone);
}

/// Runs a command to its end; `None` where whoever asked for it is gone, and so is the command.
fn attend(run: &Run, sender: &Sender<Event>, events: &Receiver<Event>) -> Option<Ended> {
    let patterns: Result<Vec<Regex>, _> = run.patterns.iter().map(|it| Regex::new(it)).collect();
    let patterns = match patterns {
        Ok(patterns) => patterns,
        Err(error) => return Some(not_started(error.to_string())),
    };
    if let Err(error) = pin::restrict(&run.processors) {
        return Some(not_started(format!("its processors cannot be set: {error}")));
    }
    let before = usage();
    let watch = Stopwatch::start();
    let mut child = match command(run).spawn() {
        Ok(child) => child,
        Err(error) => return Some(not_started(error.to_string())),
    };
    let group = child.id();
    let readers = [reader(child.stdout.take(), &patterns), reader(child.stderr.take(), &patterns)];
    wait(child, watch, sender.clone());
    let mut ended = Ended::default();
    let (used, wall_s) = watched(run, group, watch, events, &mut ended)?;
    ended.wall_s = wall_s;
    match used {
        Ok(used) => {
            ended.exit = used.status.code();
            ended.signal = used.status.signal();
            ended.max_rss_kb = used.rusage.maxrss / 1024;
        }
        Err(error) => ended.not_started = Some(format!("it cannot be waited for: {error}")),
    }
    let watch = Stopwatch::start();
    while family::is_left() && !watch.left_of(LINGERING).is_zero() {
        std::thread::sleep(Duration::from_millis(1));
    }
    ended.left_behind = family::bury();
    let [output, errors] = readers.map(|reader| reader.join().unwrap_or_default());
    ended.matches = output.matches.into_iter().zip(errors.matches).map(|(a, b)| a.or(b)).collect();
    (ended.output, ended.errors) = (output.end, errors.end);
    let after = usage();
    ended.cpu_s = after.0 - before.0;
    ended.context_switches = (after.1 - before.1).unsigned_abs();
    Some(ended)
}

/// Waits for the end of a command, and hastens it where that is due.
fn watched(
    run: &Run,
    group: u32,
    watch: Stopwatch,
    events: &Receiver<Event>,
    ended: &mut Ended,
) -> Option<(io::Result<ResUse>, f64)> {
    // No longer than any clock can count.
    let limit = run.limit_s.map(|it| Duration::try_from_secs_f64(it).unwrap_or(Duration::MAX));
    let mut asked: Option<Stopwatch> = None;
    loop {
        let left = match asked {
            Some(asked) => Some(asked.left_of(GRACE)),
            None => limit.map(|limit| watch.left_of(limit)),
        };
        let event = match left {
            Some(left) => events.recv_timeout(left),
            None => events.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match event {
            Ok(Event::Ended(used, wall_s)) => return Some((used, wall_s)),
            Ok(Event::Asked(Request::Stop)) => {
                ended.is_stopped = true;
                if asked.is_none() {
                    family::ask(group);
                    asked = Some(Stopwatch::start());
                }
            }
            Ok(Event::Asked(Request::Run(_))) => {}
            Ok(Event::Alone) | Err(RecvTimeoutError::Disconnected) => {
                family::end(group);
                family::bury();
                return None;
            }
            Err(RecvTimeoutError::Timeout) if asked.is_none() => {
                ended.is_late = true;
                family::ask(group);
                asked = Some(Stopwatch::start());
            }
            Err(RecvTimeoutError::Timeout) => {
                family::end(group);
                asked = Some(Stopwatch::start());
            }
        }
    }
}

fn not_started(why: String) -> Ended {
    Ended { not_started: Some(why), ..Ended::default() }
}

fn command(run: &Run) -> Command {
    let program = run.argv.first().map_or("", String::as_str);
    let mut command = Command::new(program);
    command.args(run.argv.iter().skip(1)).process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    for (name, _) in std::env::vars_os() {
        let is_out = |without: &String| match without.strip_suffix('*') {
            Some(beginning) => name.to_string_lossy().starts_with(beginning),
            None => name == without.as_str(),
        };
        if run.without.iter().any(is_out) {
            command.env_remove(&name);
        }
    }
    command.envs(&run.env);
    if let Some(folder) = &run.folder {
        command.current_dir(folder);
    }
    command
}

fn reader(
    stream: Option<impl Read + Send + 'static>,
    patterns: &[Regex],
) -> std::thread::JoinHandle<Reading> {
    let patterns = patterns.to_vec();
    std::thread::spawn(move || stream.map(|it| output::read(it, &patterns)).unwrap_or_default())
}

fn wait(child: Child, watch: Stopwatch, events: Sender<Event>) {
    std::thread::spawn(move || {
        let used = child.wait4();
        let wall_s = watch.elapsed().0;
        let _ = events.send(Event::Ended(used, wall_s));
    });
}

/// CPU time \[s\] and context switches of all commands that have ended so far.
fn usage() -> (f64, i64) {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_CHILDREN) else { return (0.0, 0) };
    let seconds = |it: nix::sys::time::TimeVal| it.tv_sec() as f64 + 1e-6 * it.tv_usec() as f64;
    let cpu_s = seconds(usage.user_time()) + seconds(usage.system_time());
    let switches = usage.voluntary_context_switches() + usage.involuntary_context_switches();
    (cpu_s, switches)
}
