//! Who may off-load now: turns among processes, in the order in which they asked.
//!
//! At most m processes are *admitted*. Who is admitted stays so over its host bursts, for a quantum of
//! off-loads if others wait, then its place goes to the one that has waited longest. Where m is all
//! that are alive, everybody is admitted, and only APUs are waited for. Two rules keep everybody
//! going: whoever has waited longest goes at once when nothing is off-loaded, admitted or not (the
//! admitted may all be waiting for it, at a barrier), and nobody overtakes who waits for APUs.

/// What a process is told that asks to off-load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Lease so many of the idle APUs, at least 1; the off-load counts as under way from now on.
    Go(u32),
    /// Wait, and ask again whenever an off-load ends or a process leaves.
    Hold,
}

/// What a process asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// Function that it off-loads, by any number; those from 15 on count as one.
    pub function: u32,
    /// The most APUs that can share it, at least 1.
    pub most_shares: u32,
    /// APUs that nobody has leased.
    pub idle: u32,
}

/// Off-loads that a process has before its place goes to another that waits: few, so that processes
/// with the same work come to their end at about the same time.
const QUANTUM: u32 = 8;

/// State of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Absent: it has not entered, or has left.
    Away,
    /// Running on the host.
    Host,
    /// Told to hold.
    Waiting,
    /// Waiting for the end of its off-load.
    Running,
}

/// What is remembered of a process. Instants are in seconds, and not numbers where there is none.
#[derive(Debug, Clone, Copy)]
pub(super) struct Process {
    pub stage: Stage,
    /// Whether it off-loads: not before it asks for the first time, nor while it rests.
    is_active: bool,
    admitted: bool,
    /// Off-loads since it was admitted.
    turns: u32,
    /// When it asked, among all who ask: who has the least has waited longest.
    ticket: u64,
    /// The end of its last off-load.
    pub completed_at: f64,
    /// Host time before the off-load that it asks for, or has under way \[s\].
    pub burst_s: f64,
    /// What it had off-loaded before that.
    pub before: u32,
    /// When its off-load started.
    pub started_at: f64,
    /// What it off-loads.
    pub function: u32,
    /// Number of APUs of the off-load.
    pub shares: u32,
    /// Number of the choice under which it began.
    pub choice: u64,
}

impl Process {
    const AWAY: Self = Self {
        stage: Stage::Away,
        is_active: false,
        admitted: false,
        turns: 0,
        ticket: 0,
        completed_at: f64::NAN,
        burst_s: f64::NAN,
        before: 0,
        started_at: f64::NAN,
        function: 0,
        shares: 0,
        choice: 0,
    };
}

/// What may be leased, and to how many.
#[derive(Debug, Clone, Copy)]
pub(super) struct LeaseTerms {
    /// Processes admitted at once.
    pub going: u32,
    /// APUs that this off-load is to get.
    pub wanted: u32,
    /// APUs that nobody has.
    pub idle: u32,
}

/// Processes, and who may go.
#[derive(Debug, Clone)]
pub(super) struct Admission {
    processes: Vec<Process>,
    /// Processes that off-load: that have asked, and neither rest nor have left.
    pub alive: u32,
    admitted: u32,
    pub running: u32,
    waiting: u32,
    tickets: u64,
}

impl Admission {
    pub fn new() -> Self {
        Self { processes: Vec::new(), alive: 0, admitted: 0, running: 0, waiting: 0, tickets: 0 }
    }

    /// A process enters, if it is not there already.
    pub fn enter(&mut self, process: u32) {
        let index = process as usize;
        if self.processes.len() <= index {
            self.processes.resize(index + 1, Process::AWAY);
        }
        let is_new = self.processes[index].stage == Stage::Away;
        if is_new {
            self.processes[index] = Process { stage: Stage::Host, ..Process::AWAY };
        }
    }

    /// A process that is there begins to ask, or does so again after a rest.
    pub fn begin(&mut self, process: u32) -> bool {
        let Some(asking) = self.process(process) else { return false };
        let is_first = !std::mem::replace(&mut asking.is_active, true);
        self.alive += u32::from(is_first);
        is_first
    }

    /// Whoever has been on the host for longer than `burst_s` rests, and gives its place up; whether
    /// anybody does who did not.
    pub fn rest(&mut self, now: f64, burst_s: f64) -> bool {
        let before = self.alive;
        for process in &mut self.processes {
            let is_long = process.stage == Stage::Host && now - process.completed_at > burst_s;
            if process.is_active && is_long {
                process.is_active = false;
                self.alive -= 1;
                self.admitted -= u32::from(std::mem::take(&mut process.admitted));
            }
        }
        self.alive < before
    }

    /// A process leaves; whether it off-loaded.
    pub fn leave(&mut self, process: u32) -> bool {
        let Some(left) = self.process(process).copied() else { return false };
        self.running -= u32::from(left.stage == Stage::Running);
        self.waiting -= u32::from(left.stage == Stage::Waiting);
        self.admitted -= u32::from(left.admitted);
        self.alive -= u32::from(left.is_active);
        self.processes[process as usize] = Process::AWAY;
        left.is_active
    }

    /// A process that is there.
    pub fn process(&mut self, process: u32) -> Option<&mut Process> {
        let found = self.processes.get_mut(process as usize)?;
        (found.stage != Stage::Away).then_some(found)
    }

    /// A process that is there asks, for the first time or again.
    pub fn ask(&mut self, process: u32, terms: LeaseTerms) -> Answer {
        let index = process as usize;
        if self.processes[index].stage != Stage::Waiting {
            self.processes[index].stage = Stage::Waiting;
            self.processes[index].ticket = self.tickets;
            self.tickets += 1;
            self.waiting += 1;
        }
        let asking = self.processes[index];
        let free = terms.going.saturating_sub(self.admitted);
        let (admitted, others) = self.older_than(asking.ticket);
        let is_oldest = admitted + others == 0;
        if terms.idle == 0 {
            return Answer::Hold;
        }
        let shares = if is_oldest && self.running == 0 {
            terms.wanted.min(terms.idle)
        } else {
            let may_go = asking.admitted || free > others;
            // Those that asked before and may go, too, come first.
            let before = u64::from(admitted + others.min(free));
            let enough = u64::from(terms.wanted) * (before + 1) <= u64::from(terms.idle);
            if !(may_go && enough) {
                return Answer::Hold;
            }
            terms.wanted
        };
        if !asking.admitted && free > 0 {
            self.processes[index].admitted = true;
            self.processes[index].turns = 0;
            self.admitted += 1;
        }
        self.processes[index].stage = Stage::Running;
        self.waiting -= 1;
        self.running += 1;
        Answer::Go(shares)
    }

    /// How many of those that wait asked before that ticket: admitted ones, and others.
    fn older_than(&self, ticket: u64) -> (u32, u32) {
        let (mut admitted, mut others) = (0, 0);
        if self.waiting > 1 {
            for process in &self.processes {
                let is_older = process.stage == Stage::Waiting && process.ticket < ticket;
                admitted += u32::from(is_older && process.admitted);
                others += u32::from(is_older && !process.admitted);
            }
        }
        (admitted, others)
    }

    /// An off-load ends; `going` processes may be admitted.
    pub fn complete(&mut self, process: u32, going: u32) {
        let others_wait = self.waiting > 0 && going < self.alive;
        let done = &mut self.processes[process as usize];
        done.stage = Stage::Host;
        done.turns += 1;
        let is_over = self.admitted > going || (others_wait && done.turns >= QUANTUM);
        if done.admitted && is_over {
            done.admitted = false;
            self.admitted -= 1;
        }
        self.running -= 1;
    }
}
