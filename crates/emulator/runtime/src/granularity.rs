//! The test whether a function is worth an off-load (PPoPP 2007).

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::policy::{Completion, Departure, Request};
use mmgp_base::units::{SimSpan, SimTime};

/// Off-loads a function only where `t_spe + t_code + 2 t_comm < t_ppe`.
///
/// The left side is the time from the decision to the moment at which the last SPE is done, with all
/// that has to be loaded for it; the right side is what the host took. The first call is off-loaded,
/// as in the paper. How t_ppe is learnt is not said there: here the second call runs on the host, if
/// it can. A function that fails then stays on the host.
#[derive(Debug, Default)]
pub(crate) struct Granularity {
    state: RefCell<State>,
}

#[derive(Debug, Default)]
struct State {
    functions: BTreeMap<u32, Times>,
    /// When the SPEs of each process were done last.
    completed: BTreeMap<u32, SimTime>,
}

/// The first times of a function.
#[derive(Debug, Clone, Copy, Default)]
struct Times {
    off_loaded: Option<SimSpan>,
    on_host: Option<SimSpan>,
}

impl Granularity {
    /// Whether the task is to run on the host.
    pub fn prefers_host(&self, request: &Request<'_>) -> bool {
        if !request.host_can {
            return false;
        }
        match self.state.borrow().functions.get(&request.function) {
            Some(Times { off_loaded: Some(_), on_host: None }) => true,
            Some(Times { off_loaded: Some(off_loaded), on_host: Some(on_host) }) => {
                off_loaded >= on_host
            }
            _ => false,
        }
    }

    /// An SPE is done.
    pub fn completed(&self, Completion { process, at, .. }: Completion) {
        self.state.borrow_mut().completed.insert(process, at);
    }

    /// A task is done.
    pub fn departs(&self, departure: &Departure) {
        let Departure { process, function, shares, placed, departed, .. } = *departure;
        let State { functions, completed } = &mut *self.state.borrow_mut();
        let times = functions.entry(function).or_default();
        let (time, end) = match shares {
            0 => (&mut times.on_host, Some(departed)),
            _ => (&mut times.off_loaded, completed.get(&process).copied()),
        };
        *time = time.or(end.map(|end| end.since(placed)));
    }
}
