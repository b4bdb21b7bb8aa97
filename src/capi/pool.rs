//! A pool of APUs that threads share: [`Guide`] behind a lock, with the leases counted.
//!
//! The second file of the interface that is `unsafe`, for the same reason and under the same conditions
//! as `capi.rs`. Each function takes the lock once, and holds it while the guide decides.

use std::ffi::{c_char, c_double};
use std::sync::Mutex;

use super::{BAD_ARGUMENT, BUG, Failure, Status, failed, guarded, reference, store};
use crate::error::Result;
use crate::guided::{Answer, Guide, MOST, Request};
use crate::units::Seconds;

/// `mmgp_pool`.
pub struct Pool {
    state: Mutex<State>,
}

struct State {
    guide: Guide,
    /// APUs that nobody has leased.
    idle: u32,
    /// The APUs that each process has leased; `None` where it has not entered.
    leases: Vec<Option<u32>>,
}

/// `mmgp_pool_state`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolState {
    /// Processes that may go at once.
    pub processes: u32,
    /// APUs that an off-load gets at most.
    pub shares: u32,
    /// APUs that nobody has leased.
    pub idle: u32,
    /// How often the workload was found to have changed.
    pub changes: u64,
    /// Off-loads that were completed.
    pub offloads: u64,
    /// How many of them it took until nothing promised more for the first time; 0 before.
    pub settled_after: u64,
}

/// What goes on in a call, the pool being locked.
type Outcome<T> = std::result::Result<T, Failure>;

/// A call that the header does not allow.
fn misuse<T>(text: std::fmt::Arguments<'_>) -> Outcome<T> {
    Err(failed(BAD_ARGUMENT, text))
}

impl Pool {
    fn new(apus: u32, contexts: u32) -> Result<Self> {
        let guide = Guide::new(apus, contexts)?;
        let state = Mutex::new(State { guide, idle: apus, leases: Vec::new() });
        Ok(Self { state })
    }

    /// Does `body` with the pool locked. After a panic in the guide nothing is sure any more.
    fn locked<T>(&self, body: impl FnOnce(&mut State) -> Outcome<T>) -> Outcome<T> {
        match self.state.lock() {
            Ok(mut state) => body(&mut state),
            Err(_) => Err(failed(BUG, format_args!("a mistake in mmgp; please report it"))),
        }
    }
}

impl State {
    fn enter(&mut self, process: u32) -> Outcome<()> {
        if process >= MOST {
            return misuse(format_args!("process = {process}, but it must be below {MOST}"));
        }
        let index = process as usize;
        if self.leases.len() <= index {
            self.leases.resize(index + 1, None);
        }
        if self.leases[index].is_some() {
            return misuse(format_args!("process {process} has entered already"));
        }
        self.guide.enters(process)?;
        self.leases[index] = Some(0);
        Ok(())
    }

    /// The lease of a process that has entered.
    fn lease(&mut self, process: u32) -> Outcome<&mut u32> {
        match self.leases.get_mut(process as usize) {
            Some(Some(lease)) => Ok(lease),
            _ => misuse(format_args!("process {process} has not entered")),
        }
    }

    fn leave(&mut self, process: u32) -> Outcome<()> {
        let lease = *self.lease(process)?;
        self.idle += lease;
        self.leases[process as usize] = None;
        self.guide.leaves(process);
        Ok(())
    }

    fn arrive(&mut self, now: Seconds, process: u32, most: u32, function: u32) -> Outcome<u32> {
        if *self.lease(process)? > 0 {
            return misuse(format_args!("the off-load of process {process} is not complete"));
        }
        let request = Request { function, most_shares: most, idle: self.idle };
        let Answer::Go(shares) = self.guide.arrives(now, process, request) else { return Ok(0) };
        self.idle -= shares;
        *self.lease(process)? = shares;
        Ok(shares)
    }

    fn complete(&mut self, now: Seconds, process: u32) -> Outcome<()> {
        let lease = std::mem::take(self.lease(process)?);
        if lease == 0 {
            return misuse(format_args!("process {process} has no off-load under way"));
        }
        self.idle += lease;
        self.guide.completes(now, process);
        Ok(())
    }

    fn look(&self) -> PoolState {
        let choice = self.guide.choice();
        PoolState {
            processes: choice.m(),
            shares: choice.p(),
            idle: self.idle,
            changes: self.guide.changes(),
            offloads: self.guide.offloads(),
            settled_after: self.guide.settled_after().unwrap_or(0),
        }
    }
}

/// An instant, which must be a number.
fn instant(now_s: c_double) -> Outcome<Seconds> {
    if now_s.is_finite() {
        return Ok(Seconds(now_s));
    }
    misuse(format_args!("now_s = {now_s:?}, but it must be finite"))
}

/// `mmgp_pool_new`: for so many APUs and host contexts.
///
/// # Safety
/// `pool` is null or has room for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmgp_pool_new(apus: u32, contexts: u32, pool: *mut *mut Pool) -> Status {
    guarded(|| {
        if pool.is_null() {
            return misuse(format_args!("pool is null"));
        }
        let made = Box::into_raw(Box::new(Pool::new(apus, contexts)?));
        // SAFETY: not null, and the caller's to be written.
        unsafe { store(pool, "pool", made) }
    })
}

/// `mmgp_pool_free`: gives back a pool; null is none.
///
/// # Safety
/// `pool` comes from [`mmgp_pool_new`], was not given back, and nobody uses it any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmgp_pool_free(pool: *mut Pool) {
    if !pool.is_null() {
        // SAFETY: by the conditions above it is a box that nobody else has.
        drop(unsafe { Box::from_raw(pool) });
    }
}

/// `mmgp_pool_enter`: a process will ask.
///
/// # Safety
/// `pool` is null or made.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmgp_pool_enter(pool: *const Pool, process: u32) -> Status {
    // SAFETY: by the condition above; the lock lets one thread at a time change it.
    guarded(|| unsafe { reference(pool, "pool") }?.locked(|state| state.enter(process)))
}

/// `mmgp_pool_leave`: a process has no more work.
///
/// # Safety
/// As in [`mmgp_pool_enter`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmgp_pool_leave(pool: *const Pool, process: u32) -> Status {
    // SAFETY: as in `mmgp_pool_enter`.
    guarded(|| unsafe { reference(pool, "pool") }?.locked(|state| state.leave(process)))
}

/// `mmgp_pool_arrive`: the APUs that an off-load gets; 0 where it is to wait.
///
/// # Safety
/// As in [`mmgp_pool_enter`]; `shares` is null or has room for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmgp_pool_arrive(
    pool: *const Pool,
    now_s: c_double,
    process: u32,
    function: u32,
    most_shares: u32,
    shares: *mut u32,
) -> Status {
    guarded(|| {
        // SAFETY: as in `mmgp_pool_enter`.
        let pool = unsafe { reference(pool, "pool") }?;
        if shares.is_null() || most_shares == 0 {
            return misuse(format_args!("shares is null, or most_shares is 0"));
        }
        let now = instant(now_s)?;
        let lease = pool.locked(|state| state.arrive(now, process, most_shares, function))?;
        // SAFETY: not null, and the caller's to be written.
        unsafe { store(shares, "shares", lease) }
    })
}

/// `mmgp_pool_complete`: an off-load is complete, and its lease at its end.
///
/// # Safety
/// As in [`mmgp_pool_enter`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmgp_pool_complete(
    pool: *const Pool,
    now_s: c_double,
    process: u32,
) -> Status {
    guarded(|| {
        // SAFETY: as in `mmgp_pool_enter`.
        let pool = unsafe { reference(pool, "pool") }?;
        let now = instant(now_s)?;
        pool.locked(|state| state.complete(now, process))
    })
}

/// `mmgp_pool_look`: the choice as it is now, and how it came about.
///
/// # Safety
/// As in [`mmgp_pool_enter`]; `state` is null or has room for one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmgp_pool_look(pool: *const Pool, state: *mut PoolState) -> Status {
    guarded(|| {
        // SAFETY: as in `mmgp_pool_enter`.
        let found = unsafe { reference(pool, "pool") }?.locked(|state| Ok(state.look()))?;
        // SAFETY: null is refused; else the caller's to be written.
        unsafe { store(state, "state", found) }
    })
}

/// `mmgp_pool_explain`: what is believed, in lines for people; how long they are.
///
/// # Safety
/// As in [`mmgp_pool_enter`]; `text` is null or has room for `size` bytes; `length` is null or has
/// room for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmgp_pool_explain(
    pool: *const Pool,
    text: *mut c_char,
    size: usize,
    length: *mut usize,
) -> Status {
    guarded(|| {
        // SAFETY: as in `mmgp_pool_enter`.
        let pool = unsafe { reference(pool, "pool") }?;
        let lines = pool.locked(|state| Ok(state.guide.explain()))?.to_string();
        if !text.is_null() && size > 0 {
            let fitting = &lines[..lines.floor_char_boundary(size - 1)];
            // SAFETY: it has room for the text, of fewer bytes than `size`, and the zero after it.
            unsafe {
                text.copy_from_nonoverlapping(fitting.as_ptr().cast(), fitting.len());
                text.add(fitting.len()).write(0);
            }
        }
        // SAFETY: null is passed by; else the caller's to be written.
        if length.is_null() { Ok(()) } else { unsafe { store(length, "length", lines.len()) } }
    })
}
