//! The supervisor's own side: one command after the other, until whoever asks is gone.
//!
//! One thread waits for everything at once, the end of the command, what it prints, requests and the
//! clock, so that nobody has to be woken by anybody when a command ends: that would count as its
//! time.

use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::resource::{UsageWho, getrusage};
use wait4::{ResUse, Wait4 as _};

use super::family::{self, GRACE};
use super::line_regex::LineRegex;
use super::looks::Looks;
use super::output::Output;
use super::{CommandEnd, Request, Run};
use crate::clock::Stopwatch;
use crate::host::Ticks;
use crate::pin;

/// Whoever ends everything at once may reach the command before its supervisor: so long after one that
/// did not end well a stop still counts as what ended it.
const AFTERMATH: Duration = Duration::from_millis(200);

/// How long the end of the output of a command that has ended is waited for.
const PATIENCE: Duration = Duration::from_secs(1);

/// Answers requests until there will be no more. Commands have a variable in their environment.
///
/// # Errors
/// Where nobody can be waited for, or an answer cannot be given.
pub(super) fn serve(
    requests: impl Read + AsFd,
    mut answers: impl Write,
    mark: (&str, &OsStr),
) -> io::Result<()> {
    let mut desk = Desk::new(requests)?;
    let mut is_stopped = false;
    while let Some(request) = desk.next()? {
        match request {
            Request::Run(run) => {
                let ended = if is_stopped && !run.concludes {
                    CommandEnd { is_stopped, ..CommandEnd::default() }
                } else {
                    attend(&run, mark, &mut desk)?
                };
                is_stopped |= ended.is_stopped;
                if desk.is_alone {
                    break;
                }
                let line = serde_json::to_string(&ended)?;
                answers.write_all((line + "\n").as_bytes())?;
                answers.flush()?;
            }
            // Between two commands: the next is not to begin.
            Request::Stop => is_stopped = true,
        }
    }
    Ok(())
}

/// The ends at which requests come in, and news of processes that ended.
struct Desk<R> {
    requests: R,
    /// What was read and is no whole line yet.
    unread: Vec<u8>,
    /// Readable when a process has ended.
    ended: UnixStream,
    /// Whether whoever asks is gone.
    is_alone: bool,
}

impl<R: Read + AsFd> Desk<R> {
    fn new(requests: R) -> io::Result<Self> {
        let (ended, told) = UnixStream::pair()?;
        ended.set_nonblocking(true)?;
        signal_hook::low_level::pipe::register(signal_hook::consts::SIGCHLD, told)?;
        Ok(Self { requests, unread: Vec::new(), ended, is_alone: false })
    }

    /// The next request; `None` where there will be none. What cannot be understood ends it, too.
    fn next(&mut self) -> io::Result<Option<Request>> {
        loop {
            if let Some(request) = self.taken() {
                return Ok(Some(request));
            }
            if self.is_alone {
                return Ok(None);
            }
            self.read()?;
        }
    }

    /// A request that was read.
    fn taken(&mut self) -> Option<Request> {
        let end = self.unread.iter().position(|&byte| byte == b'\n')?;
        let line: Vec<u8> = self.unread.drain(..=end).collect();
        let request = serde_json::from_slice(&line).ok();
        self.is_alone |= request.is_none();
        request
    }

    /// Reads what there is, or waits for it.
    fn read(&mut self) -> io::Result<()> {
        let mut bytes = [0; 8192];
        match self.requests.read(&mut bytes) {
            Ok(0) => self.is_alone = true,
            Ok(count) => self.unread.extend(&bytes[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Whether a stop is among the requests that were read; there are no others while a command runs.
    fn is_stop_asked_for(&mut self) -> bool {
        std::iter::from_fn(|| self.taken()).any(|request| matches!(request, Request::Stop))
    }

    /// Takes notice of processes that ended.
    fn heed(&mut self) {
        let mut bytes = [0; 64];
        while matches!(self.ended.read(&mut bytes), Ok(count) if count > 0) {}
    }
}

/// Runs a command to its end; where whoever asked for it is gone, that comes soon.
fn attend<R: Read + AsFd>(
    run: &Run,
    mark: (&str, &OsStr),
    desk: &mut Desk<R>,
) -> io::Result<CommandEnd> {
    let patterns: Result<Vec<LineRegex>, _> =
        run.patterns.iter().map(|it| LineRegex::new(it)).collect();
    let patterns = match patterns {
        Ok(patterns) => patterns,
        Err(error) => return Ok(not_started(error)),
    };
    if let Err(error) = pin::restrict(&run.processors) {
        return Ok(not_started(format!("its processors cannot be set: {error}")));
    }
    let (before, ticks) = (usage(), Ticks::now());
    let mut command = command(run);
    command.env(mark.0, mark.1);
    let watch = Stopwatch::start();
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return Ok(not_started(why_not(&error, run))),
    };
    let mut outputs =
        [Output::new(child.stdout.take(), &patterns), Output::new(child.stderr.take(), &patterns)];
    let mut ended = CommandEnd::default();
    let (used, grace) = watched(run, &mut child, watch, desk, &mut outputs, &mut ended)?;
    match used {
        Some(used) => {
            ended.exit = used.status.code();
            ended.signal = used.status.signal();
            ended.max_rss_kb = used.rusage.maxrss / 1024;
            ended.steal = ticks.and_then(|before| Ticks::now()?.stolen_since(before));
        }
        None => ended.not_started = Some("it does not let itself be ended".into()),
    }
    ended.left_behind = family::wind_up(grace);
    if ended.exit != Some(0) && !ended.is_late && !ended.is_stopped {
        ended.is_stopped = is_stop_due(desk)?;
    }
    let watch = Stopwatch::start();
    while outputs.iter().any(Output::is_open) && !watch.left_of(PATIENCE).is_zero() {
        wait(&mut outputs, None::<&Desk<R>>, Some(watch.left_of(PATIENCE)))?;
    }
    let [output, errors] = outputs.map(Output::finish);
    ended.matches = output.matches.into_iter().zip(errors.matches).map(|(a, b)| a.or(b)).collect();
    (ended.output, ended.errors) = (output.end, errors.end);
    let after = usage();
    ended.cpu_s = after.cpu_s - before.cpu_s;
    ended.involuntary_switches = (after.involuntary - before.involuntary).unsigned_abs();
    ended.context_switches =
        ended.involuntary_switches + (after.voluntary - before.voluntary).unsigned_abs();
    Ok(ended)
}

/// Whether a stop is asked for in the next moments.
fn is_stop_due<R: Read + AsFd>(desk: &mut Desk<R>) -> io::Result<bool> {
    let watch = Stopwatch::start();
    while !desk.is_alone && !watch.left_of(AFTERMATH).is_zero() {
        if wait(&mut [], Some(desk), Some(watch.left_of(AFTERMATH)))? {
            desk.read()?;
        }
        desk.heed();
        if desk.is_stop_asked_for() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What was done to end a command.
#[derive(Clone, Copy)]
enum Stage {
    Nothing,
    Asked(Stopwatch),
    CommandEnd(Stopwatch),
}

impl Stage {
    /// How much longer it, and what it left, may take.
    fn grace(self) -> Duration {
        match self {
            Self::Nothing => GRACE,
            Self::Asked(since) => since.left_of(GRACE),
            Self::CommandEnd(_) => Duration::ZERO,
        }
    }
}

/// Waits for the end of a command, and hastens it where that is due: how it ended, if it did, and how
/// long what it left may take.
fn watched<R: Read + AsFd>(
    run: &Run,
    child: &mut Child,
    watch: Stopwatch,
    desk: &mut Desk<R>,
    outputs: &mut [Output; 2],
    ended: &mut CommandEnd,
) -> io::Result<(Option<ResUse>, Duration)> {
    let group = child.id();
    // No longer than any clock can count.
    let limit = run.limit_s.map(|it| Duration::try_from_secs_f64(it).unwrap_or(Duration::MAX));
    let mut stage = Stage::Nothing;
    let mut looks = Looks::new(watch);
    loop {
        if let Some(used) = child.try_wait4()? {
            ended.wall_s = watch.elapsed().0;
            ended.placement = looks.finish();
            return Ok((Some(used), stage.grace()));
        }
        let left = match stage {
            Stage::Nothing => limit.map(|limit| watch.left_of(limit)),
            Stage::Asked(since) | Stage::CommandEnd(since) => Some(since.left_of(GRACE)),
        };
        let is_over = left.is_some_and(|left| left.is_zero());
        match stage {
            Stage::Nothing => {
                ended.is_late |= is_over;
                let is_stopped = ended.is_stopped && !run.concludes;
                if is_over || is_stopped || desk.is_alone {
                    family::ask(group);
                    stage = Stage::Asked(Stopwatch::start());
                    continue;
                }
            }
            Stage::Asked(_) if is_over => {
                family::end(group);
                stage = Stage::CommandEnd(Stopwatch::start());
                continue;
            }
            Stage::CommandEnd(_) if is_over => {
                ended.wall_s = watch.elapsed().0;
                return Ok((None, stage.grace()));
            }
            Stage::Asked(_) | Stage::CommandEnd(_) => {}
        }
        looks.look_if_due();
        let next = looks.due_in();
        if wait(outputs, Some(desk), Some(left.map_or(next, |left| left.min(next))))? {
            desk.read()?;
        }
        desk.heed();
        ended.is_stopped |= desk.is_stop_asked_for();
    }
}

/// Waits until something comes in, no longer than `most`, and reads what is printed; whether a
/// request is there.
fn wait<R: Read + AsFd>(
    outputs: &mut [Output],
    desk: Option<&Desk<R>>,
    most: Option<Duration>,
) -> io::Result<bool> {
    let timeout = match most {
        // A millisecond more than what is left, or it would wake up just before the time.
        Some(most) => {
            PollTimeout::try_from(most.as_millis().saturating_add(1)).unwrap_or(PollTimeout::MAX)
        }
        None => PollTimeout::NONE,
    };
    let is_alone = desk.is_none_or(|desk| desk.is_alone);
    let of_desk = desk.map(|desk| [desk.requests.as_fd(), desk.ended.as_fd()]);
    let ready = {
        let of_outputs = outputs.iter().map(Output::fd);
        let of_requests = of_desk.map(|[requests, _]| requests).filter(|_| !is_alone);
        let all = of_outputs.chain([of_requests, of_desk.map(|[_, ended]| ended)]);
        ready(&all.collect::<Vec<_>>(), timeout)?
    };
    for (output, is_ready) in outputs.iter_mut().zip(&ready) {
        if *is_ready {
            output.read();
        }
    }
    Ok(ready[outputs.len()])
}

/// Which of these have something to be read, or have ended.
fn ready(all: &[Option<BorrowedFd<'_>>], timeout: PollTimeout) -> io::Result<Vec<bool>> {
    let open = all.iter().flatten();
    let mut polled: Vec<PollFd<'_>> =
        open.map(|&file| PollFd::new(file, PollFlags::POLLIN)).collect();
    match poll(&mut polled, timeout) {
        Ok(_) | Err(Errno::EINTR) => {}
        Err(error) => return Err(error.into()),
    }
    let mut polled = polled.iter();
    let is_ready = |file: &Option<BorrowedFd<'_>>| {
        let events = file.and_then(|_| polled.next()?.revents());
        events.is_some_and(|events| !events.is_empty())
    };
    Ok(all.iter().map(is_ready).collect())
}

/// Why a command was not started, in words that say what is missing.
fn why_not(error: &io::Error, run: &Run) -> String {
    let program = run.argv.first().map_or("", String::as_str);
    match &run.folder {
        Some(folder) if !folder.is_dir() => {
            format!("the folder {} to run it in is not there", folder.display())
        }
        _ => format!("{program} cannot be started: {error}"),
    }
}

fn not_started(why: String) -> CommandEnd {
    CommandEnd { not_started: Some(why), ..CommandEnd::default() }
}

fn command(run: &Run) -> Command {
    let program = run.argv.first().map_or("", String::as_str);
    let mut command = Command::new(program);
    command.args(run.argv.iter().skip(1)).process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    run.without.iter().for_each(|name| {
        command.env_remove(name);
    });
    command.envs(&run.env);
    if let Some(folder) = &run.folder {
        command.current_dir(folder);
    }
    command
}

/// What all commands used that have ended so far.
#[derive(Clone, Copy, Default)]
struct Usage {
    /// CPU time \[s\].
    cpu_s: f64,
    /// Context switches for which they asked.
    voluntary: i64,
    /// Context switches for which they did not.
    involuntary: i64,
}

fn usage() -> Usage {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_CHILDREN) else { return Usage::default() };
    let seconds = |it: nix::sys::time::TimeVal| it.tv_sec() as f64 + 1e-6 * it.tv_usec() as f64;
    Usage {
        cpu_s: seconds(usage.user_time()) + seconds(usage.system_time()),
        voluntary: usage.voluntary_context_switches(),
        involuntary: usage.involuntary_context_switches(),
    }
}
