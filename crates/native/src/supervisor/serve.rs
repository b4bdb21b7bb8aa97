//! The supervisor's own side: one command after the other, until whoever asks is gone.
//!
//! One thread waits for everything at once, the end of the command, what it prints, requests and the
//! clock, so that nobody has to be woken by anybody when a command ends: that would count as its
//! time.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::resource::{UsageWho, getrusage};
use regex_lite::Regex;
use wait4::{ResUse, Wait4 as _};

use super::family;
use super::output::Output;
use super::protocol::{Ended, Request, Run};
use crate::clock::Stopwatch;
use crate::pin;

/// How long what was asked to end may take before it is ended: a launcher has to end its own.
const GRACE: Duration = Duration::from_secs(5);

/// How long what a command left behind may take to end by itself.
const LINGERING: Duration = Duration::from_millis(20);

/// How long the end of the output of a command that has ended is waited for.
const PATIENCE: Duration = Duration::from_secs(1);

/// Answers requests until there will be no more, and then leaves nothing that was started.
///
/// # Errors
/// Where nobody can be waited for, or an answer cannot be given.
pub(super) fn serve(requests: impl Read + AsFd, mut answers: impl Write) -> io::Result<()> {
    family::adopt();
    let mut desk = Desk::new(requests)?;
    let mut is_stopped = false;
    while let Some(request) = desk.next()? {
        match request {
            Request::Run(run) => {
                let ended = if is_stopped {
                    Ended { is_stopped, ..Ended::default() }
                } else {
                    attend(&run, &mut desk)?
                };
                is_stopped = ended.is_stopped;
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
    family::bury();
    Ok(())
}

/// Where requests come in, and news of processes that ended.
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

    /// Takes notice of processes that ended.
    fn heed(&mut self) {
        let mut bytes = [0; 64];
        while matches!(self.ended.read(&mut bytes), Ok(count) if count > 0) {}
    }
}

/// Runs a command to its end; where whoever asked for it is gone, that comes soon.
fn attend<R: Read + AsFd>(run: &Run, desk: &mut Desk<R>) -> io::Result<Ended> {
    let patterns: Result<Vec<Regex>, _> = run.patterns.iter().map(|it| Regex::new(it)).collect();
    let patterns = match patterns {
        Ok(patterns) => patterns,
        Err(error) => return Ok(not_started(error.to_string())),
    };
    if let Err(error) = pin::restrict(&run.processors) {
        return Ok(not_started(format!("its processors cannot be set: {error}")));
    }
    let before = usage();
    let mut command = command(run);
    let watch = Stopwatch::start();
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return Ok(not_started(error.to_string())),
    };
    let mut outputs =
        [Output::new(child.stdout.take(), &patterns), Output::new(child.stderr.take(), &patterns)];
    let mut ended = Ended::default();
    let used = watched(run, &mut child, watch, desk, &mut outputs, &mut ended)?;
    ended.exit = used.status.code();
    ended.signal = used.status.signal();
    ended.max_rss_kb = used.rusage.maxrss / 1024;
    let watch = Stopwatch::start();
    while family::is_left() && !watch.left_of(LINGERING).is_zero() {
        std::thread::sleep(Duration::from_millis(1));
    }
    ended.left_behind = family::bury();
    let watch = Stopwatch::start();
    while outputs.iter().any(Output::is_open) && !watch.left_of(PATIENCE).is_zero() {
        wait(&mut outputs, None::<&Desk<R>>, Some(watch.left_of(PATIENCE)))?;
    }
    let [output, errors] = outputs.map(Output::finish);
    ended.matches = output.matches.into_iter().zip(errors.matches).map(|(a, b)| a.or(b)).collect();
    (ended.output, ended.errors) = (output.end, errors.end);
    let after = usage();
    ended.cpu_s = after.0 - before.0;
    ended.context_switches = (after.1 - before.1).unsigned_abs();
    Ok(ended)
}

/// Waits for the end of a command, and hastens it where that is due.
fn watched<R: Read + AsFd>(
    run: &Run,
    child: &mut Child,
    watch: Stopwatch,
    desk: &mut Desk<R>,
    outputs: &mut [Output; 2],
    ended: &mut Ended,
) -> io::Result<ResUse> {
    let group = child.id();
    // No longer than any clock can count.
    let limit = run.limit_s.map(|it| Duration::try_from_secs_f64(it).unwrap_or(Duration::MAX));
    let mut asked: Option<Stopwatch> = None;
    loop {
        if let Some(used) = child.try_wait4()? {
            ended.wall_s = watch.elapsed().0;
            return Ok(used);
        }
        let left = match asked {
            Some(asked) => Some(asked.left_of(GRACE)),
            None => limit.map(|limit| watch.left_of(limit)),
        };
        if left.is_some_and(|left| left.is_zero()) {
            ended.is_late |= asked.is_none();
            hasten(group, asked.is_some());
            asked = Some(Stopwatch::start());
            continue;
        }
        let said = wait(outputs, Some(desk), left)?;
        if said {
            desk.read()?;
        }
        desk.heed();
        while let Some(request) = desk.taken() {
            ended.is_stopped |= matches!(request, Request::Stop);
        }
        if (ended.is_stopped || desk.is_alone) && asked.is_none() {
            hasten(group, false);
            asked = Some(Stopwatch::start());
        }
    }
}

/// Asks a group to end, or ends it.
fn hasten(group: u32, was_asked: bool) {
    if was_asked {
        family::end(group);
    } else {
        family::ask(group);
    }
}

/// Waits until something comes in, no longer than `most`, and reads what is printed; whether a
/// request is there.
fn wait<R: Read + AsFd>(
    outputs: &mut [Output; 2],
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
    Ok(ready[2])
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

fn not_started(why: String) -> Ended {
    Ended { not_started: Some(why), ..Ended::default() }
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

/// CPU time \[s\] and context switches of all commands that have ended so far.
fn usage() -> (f64, i64) {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_CHILDREN) else { return (0.0, 0) };
    let seconds = |it: nix::sys::time::TimeVal| it.tv_sec() as f64 + 1e-6 * it.tv_usec() as f64;
    let cpu_s = seconds(usage.user_time()) + seconds(usage.system_time());
    let switches = usage.voluntary_context_switches() + usage.involuntary_context_switches();
    (cpu_s, switches)
}
