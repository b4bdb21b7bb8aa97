//! Who is due next: the calendar of appointments and those who are ready now.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};

use mmgp_base::units::{SimSpan, SimTime};

/// Something other than time that a process can wait for: a number, because it is noted at every
/// wait, and its name is wanted in the report of a deadlock only.
#[derive(Clone, Copy)]
pub struct Reason(u32);

impl Reason {
    /// The reason whose name is the one with that number.
    pub(super) const fn numbered(number: usize) -> Self {
        Self(number as u32)
    }

    pub(super) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Index of a process in its simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct ProcessId(u32);

impl ProcessId {
    pub(super) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What holds one appointment at a time.
#[derive(Clone, Copy)]
pub(super) struct Timer(usize);

/// A process that goes on, and when.
pub(super) struct Due {
    pub at: SimTime,
    pub process: ProcessId,
}

/// The waits of all processes.
#[derive(Default)]
pub(super) struct Schedule {
    calendar: BinaryHeap<Reverse<Appointment>>,
    /// Due at the present instant, after those whom the calendar has for it.
    ready: VecDeque<Call>,
    waits: Vec<Wait>,
    /// Processes that have ended, whose places can be used again.
    vacant: Vec<ProcessId>,
    /// Appointments of which there is one at a time, apart from the calendar, as they are often put off.
    timers: Vec<Option<Appointment>>,
    /// The first of them.
    first_timer: Option<Appointment>,
    /// Calls so far, to whatever instant.
    calls: u64,
    /// The most appointments that can be void.
    void: usize,
    /// Appointments that were revoked one by one, by their sequence numbers.
    revoked: BTreeSet<u64>,
}

/// A call to a process to go on; void if it was made before the process last went on.
#[derive(Clone, Copy)]
struct Call {
    sequence: u64,
    process: ProcessId,
}

/// A call and its instant: from the highest bit, 64 of the instant, [`SEQUENCE_BITS`] of the
/// sequence number, [`PROCESS_BITS`] of the process. So the order of appointments is that of plain
/// numbers, which is most of the work of a calendar.
type Appointment = u128;

const SEQUENCE_BITS: u32 = 40;
const PROCESS_BITS: u32 = 24;

struct Wait {
    /// The first call that can end the wait: whatever would have ended an earlier one is void, so
    /// a process is never woken from a wait by the end of an earlier one.
    since: u64,
    /// What the process waits for, or last waited for, other than time.
    reason: Option<Reason>,
    /// How many appointments the calendar may have for it since then.
    appointments: usize,
}

/// Fewer void appointments than this are not worth removing.
const FEW: usize = 64;

impl Schedule {
    /// A new process, which waits to be called.
    pub fn add(&mut self) -> ProcessId {
        if let Some(id) = self.vacant.pop() {
            self.waits[id.index()] = Wait { since: self.calls, reason: None, appointments: 0 };
            return id;
        }
        let index = self.waits.len() as u32;
        assert!(
            index >> PROCESS_BITS == 0,
            "a simulation has at most 16 million processes at once"
        );
        self.waits.push(Wait { since: self.calls, reason: None, appointments: 0 });
        ProcessId(index)
    }

    /// Gives the place of a process that has ended to the next new one.
    pub fn remove(&mut self, process: ProcessId) {
        self.vacant.push(process);
    }

    /// All processes.
    pub fn ids(&self) -> impl Iterator<Item = ProcessId> + use<> {
        (0..self.waits.len() as u32).map(ProcessId)
    }

    /// Makes a waiting process ready at the present instant.
    pub fn wake(&mut self, process: ProcessId) {
        let call = self.call(process);
        self.ready.push_back(call);
    }

    /// Puts a waiting process on the calendar for an instant to come; the number of the
    /// appointment.
    pub fn appoint(&mut self, process: ProcessId, at: SimTime) -> u64 {
        let call = self.call(process);
        self.calendar.push(Reverse(call.at(at)));
        self.waits[process.index()].appointments += 1;
        call.sequence
    }

    /// A further timer.
    pub fn add_timer(&mut self) -> Timer {
        self.timers.push(None);
        Timer(self.timers.len() - 1)
    }

    /// Sets a timer for a waiting process and an instant to come, or for nobody.
    pub fn set(&mut self, timer: Timer, due: Option<Due>) {
        self.timers[timer.0] = due.map(|Due { at, process }| self.call(process).at(at));
        self.first_timer = self.timers.iter().flatten().min().copied();
    }

    /// Voids one appointment, if the process has not gone on since it was made.
    pub fn revoke(&mut self, process: ProcessId, appointment: u64) {
        let wait = &mut self.waits[process.index()];
        if appointment >= wait.since {
            wait.appointments = wait.appointments.saturating_sub(1);
            self.void += 1;
            self.revoked.insert(appointment);
        }
    }

    fn call(&mut self, process: ProcessId) -> Call {
        let sequence = self.calls;
        assert!(sequence >> SEQUENCE_BITS == 0, "a simulation has at most 10^12 events");
        self.calls += 1;
        Call { sequence, process }
    }

    /// Voids the calls to a waiting process.
    pub fn cancel(&mut self, process: ProcessId) {
        self.begin_wait(process);
    }

    /// Voids the calls that were made to a process until now.
    ///
    /// They stay on the calendar until their time has come or most of it is void, whichever is
    /// first, so that the calendar is never much longer than what is still to happen.
    #[inline]
    fn begin_wait(&mut self, process: ProcessId) {
        let wait = &mut self.waits[process.index()];
        wait.since = self.calls;
        if wait.appointments > 0 {
            self.void += std::mem::take(&mut wait.appointments);
            if self.void > FEW + self.calendar.len() / 2 {
                self.remove_void();
            }
        }
    }

    #[cold]
    fn remove_void(&mut self) {
        let (waits, revoked) = (&self.waits, &mut self.revoked);
        self.calendar.retain(|&Reverse(appointment)| {
            let call = Call::of(appointment).1;
            call.is_valid(waits) && !revoked.remove(&call.sequence)
        });
        revoked.clear();
        self.void = 0;
    }

    /// An appointment is on the calendar no more; whether it was not void.
    fn has_come(&mut self, call: Call) -> bool {
        let revoked = !self.revoked.is_empty() && self.revoked.remove(&call.sequence);
        let holds = !revoked && call.is_valid(&self.waits);
        let wait = &mut self.waits[call.process.index()];
        let count = if holds { &mut wait.appointments } else { &mut self.void };
        *count = count.saturating_sub(1);
        holds
    }

    /// Notes what a process waits for.
    pub fn waits_for(&mut self, process: ProcessId, reason: Reason) {
        self.waits[process.index()].reason = Some(reason);
    }

    /// What a process last waited for.
    pub fn reason(&self, process: ProcessId) -> Option<Reason> {
        self.waits[process.index()].reason
    }

    /// The first appointment, of the calendar or of a timer.
    #[inline]
    fn first(&self) -> Option<Appointment> {
        match (self.calendar.peek(), self.first_timer) {
            (Some(&Reverse(first)), Some(timer)) => Some(first.min(timer)),
            (first, timer) => first.map(|&Reverse(first)| first).or(timer),
        }
    }

    /// Takes the first appointment away; whether it was not void.
    #[inline]
    fn take(&mut self, first: Appointment) -> bool {
        let (_, call) = Call::of(first);
        if self.first_timer == Some(first) {
            let timer = self.timers.iter().position(|&timer| timer == Some(first));
            self.set(Timer(timer.expect("invariant: the first timer is one of them")), None);
            return call.is_valid(&self.waits);
        }
        self.calendar.pop();
        self.has_come(call)
    }

    /// Whether nobody is due until an instant, nor at it.
    #[inline]
    pub fn is_free_until(&self, instant: SimTime) -> bool {
        self.ready.is_empty() && self.first().is_none_or(|first| Call::of(first).0 > instant)
    }

    /// Who goes on next. All appointments for the present instant were made before it, so they
    /// come before the processes that became ready in it; when both are done, the next instant comes.
    pub fn next(&mut self, now: SimTime) -> Option<Due> {
        loop {
            let (at, call) = match self.first() {
                Some(first) if self.ready.is_empty() || Call::of(first).0 == now => {
                    let (at, call) = Call::of(first);
                    if self.take(first) { (at, call) } else { continue }
                }
                _ => (now, self.ready.pop_front()?),
            };
            if call.is_valid(&self.waits) {
                self.begin_wait(call.process);
                return Some(Due { at, process: call.process });
            }
        }
    }
}

impl Call {
    fn at(self, instant: SimTime) -> Appointment {
        let low = self.sequence << PROCESS_BITS | u64::from(self.process.0);
        u128::from(instant.ticks()) << (SEQUENCE_BITS + PROCESS_BITS) | u128::from(low)
    }

    /// The instant and the call of an appointment.
    fn of(appointment: Appointment) -> (SimTime, Self) {
        let instant = (appointment >> (SEQUENCE_BITS + PROCESS_BITS)) as u64;
        let low = appointment as u64;
        let process = ProcessId(low as u32 & ((1 << PROCESS_BITS) - 1));
        let call = Self { sequence: low >> PROCESS_BITS, process };
        (SimTime::ZERO + SimSpan::from_ticks(instant), call)
    }

    fn is_valid(self, waits: &[Wait]) -> bool {
        self.sequence >= waits[self.process.index()].since
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ticks: u64) -> SimTime {
        SimTime::ZERO + SimSpan::from_ticks(ticks)
    }

    #[test]
    fn an_appointment_gives_back_what_was_put_into_it() {
        let call = Call { sequence: (1 << SEQUENCE_BITS) - 1, process: ProcessId(0xFF_FFFE) };
        let (instant, back) = Call::of(call.at(at(u64::MAX - 1)));
        assert_eq!(instant, at(u64::MAX - 1));
        assert_eq!((back.sequence, back.process), (call.sequence, call.process));
    }

    #[test]
    fn void_appointments_do_not_pile_up() {
        let mut schedule = Schedule::default();
        let process = schedule.add();
        for _ in 0..10_000 {
            schedule.appoint(process, at(1_000_000));
            schedule.cancel(process);
        }
        assert!(schedule.calendar.len() <= 2 * FEW + 2, "{}", schedule.calendar.len());
        schedule.appoint(process, at(2_000_000));
        assert_eq!(schedule.next(SimTime::ZERO).unwrap().at, at(2_000_000));
        assert!(schedule.next(at(2_000_000)).is_none());
    }

    #[test]
    fn appointments_of_a_process_that_goes_on_for_something_else_do_not_pile_up() {
        let mut schedule = Schedule::default();
        let process = schedule.add();
        for _ in 0..10_000 {
            schedule.appoint(process, at(1_000_000));
            schedule.wake(process);
            assert_eq!(schedule.next(SimTime::ZERO).unwrap().at, SimTime::ZERO);
        }
        assert!(schedule.calendar.len() <= 2 * FEW + 2, "{}", schedule.calendar.len());
        // Those that are kept are not taken for void.
        for instant in 1..1000 {
            schedule.appoint(process, at(instant));
            assert_eq!(schedule.next(SimTime::ZERO).unwrap().at, at(instant));
        }
        assert_eq!(schedule.waits[process.index()].appointments, 0);
        assert!(schedule.void <= schedule.calendar.len());
    }
}
