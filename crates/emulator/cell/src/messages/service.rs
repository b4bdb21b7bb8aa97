//! Functions that ranks call on their PPE or on its host.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::memory::Memory;
use crate::ppe::Work;
use mmgp_base::units::Seconds;

/// Words that a call or an answer has at most.
pub const MOST_WORDS: usize = 14;

/// A call as who answers it sees it.
pub struct Request<'a> {
    /// Who called, by its number among all ranks.
    pub rank: u32,
    /// The Cell of the caller, on its blade.
    pub cell: u32,
    /// What it gave.
    pub words: &'a [u64],
    /// The memory of its blade, which a function on the PPE may use; what a host's function does with it it
    /// has copied, and pays for.
    pub memory: &'a Memory,
}

/// A function with what it takes for its answer.
type Function<T> = Box<dyn Fn(&Request<'_>) -> (Vec<u64>, T)>;

/// Who answers calls of a function: with at most [`MOST_WORDS`] words, and what it has executed for them.
pub enum Service {
    /// The PPE of the caller's Cell.
    Ppe(Function<Work>),
    /// The core of the host that this PPE is tied to; the PPE passes the call on, and the answer back.
    Host(Function<Seconds>),
}

/// All services, by the number of their function.
#[derive(Default)]
pub(super) struct Services {
    by_function: RefCell<BTreeMap<u32, Service>>,
}

/// What was executed for an answer.
pub(super) enum Executed {
    Ppe(Work),
    Host(Seconds),
}

impl Services {
    pub fn add(&self, function: u32, service: Service) {
        self.by_function.borrow_mut().insert(function, service);
    }

    /// Answers a call, if there is such a function.
    pub fn answer(&self, function: u32, request: &Request<'_>) -> Option<(Vec<u64>, Executed)> {
        let services = self.by_function.borrow();
        let (mut words, executed) = match services.get(&function)? {
            Service::Ppe(answer) => {
                let (words, work) = answer(request);
                (words, Executed::Ppe(work))
            }
            Service::Host(answer) => {
                let (words, time) = answer(request);
                (words, Executed::Host(time))
            }
        };
        words.truncate(MOST_WORDS);
        Some((words, executed))
    }
}
