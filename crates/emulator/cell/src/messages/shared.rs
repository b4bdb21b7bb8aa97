//! What the ranks of a program have in common.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::group::{Group, Location};
use super::state::RankState;
use super::station::Stations;
use crate::context::Loading;
use crate::event::Timebase;
use crate::memory::Memory;
use crate::messages::group::Wait;
use crate::messages::state::Listener;
use crate::nodes::Seat;
use crate::ppe::Work;
use crate::{Blade, Fault, Spe};
use mmgp_base::error::{Error, Result};
use mmgp_base::units::Seconds;
use mmgp_base::units::{Bytes, Cycles};
use mmgp_sim::{Reason, Sim, Watch};
use mmgp_spu::local_store::{LOCAL_STORE_BYTES, LocalAddress};

/// What all ranks have in common.
pub(super) struct Shared {
    pub sim: Sim,
    pub fault: Fault,
    pub costs: mmgp_machine::Messages,
    /// The largest transfer of one command.
    pub largest: Bytes,
    /// A copied quadword.
    pub load: Cycles,
    pub channel: Cycles,
    pub timebase: Timebase,
    pub ports: Vec<Port>,
    pub world: Rc<Group>,
    /// The ranks of each blade.
    pub domains: Vec<Rc<Group>>,
    /// What ranks have waited for.
    pub reasons: RefCell<BTreeMap<Wait, Reason>>,
    pub observer: RefCell<Option<Listener>>,
    /// The PPEs that take part.
    pub stations: Stations,
    pub services: Services,
}

/// Place that a rank is to have.
#[derive(Clone, Copy)]
pub(super) struct RankPlace<'a> {
    pub blade: &'a Blade,
    pub seat: Seat,
    pub at: Location,
}

/// What the messages know of a rank.
pub(super) struct Port {
    pub spe: Spe,
    pub at: Location,
    pub seat: Seat,
    /// Loading of the programs of its blade.
    pub loading: Watch<Loading>,
    /// Number among the ranks of its blade.
    pub place: u32,
    pub state: RankState,
}

impl Port {
    /// Ports of all ranks, and the ranks of each blade.
    pub fn of_all(
        places: &[RankPlace<'_>],
        base: LocalAddress,
    ) -> Result<(Vec<Self>, Vec<Vec<u32>>)> {
        let mut blades: Vec<u32> = places.iter().map(|place| place.at.blade).collect();
        blades.sort_unstable();
        blades.dedup();
        let mut domains: Vec<Vec<u32>> = vec![Vec::new(); blades.len()];
        let mut ports: Vec<Self> = Vec::with_capacity(places.len());
        for (rank, &RankPlace { blade, seat, at }) in (0..).zip(places) {
            let spes = blade.machine.layout.spes();
            if at.spe >= spes {
                return Err(out_of_range(format!("SPE {}", at.spe), format!("one below {spes}")));
            }
            if ports.iter().any(|port| port.at == at) {
                return Err(out_of_range(format!("SPE {} twice", at.spe), "each once"));
            }
            let domain = &mut domains[blades.partition_point(|&other| other < at.blade)];
            let (place, state) = (domain.len() as u32, RankState::new(base));
            domain.push(rank);
            let (spe, loading) = (blade.spe(at.spe).clone(), blade.loading.clone());
            ports.push(Self { spe, at, seat, loading, place, state });
        }
        for domain in &domains {
            let room = RankState::bytes(domain.len() as u32);
            let available = Bytes(u64::from(LOCAL_STORE_BYTES));
            if u64::from(base.0) + room.0 > available.0 || !base.0.is_multiple_of(128) {
                let found = format!("{} bytes from {:#x} on", room.0, base.0);
                return Err(out_of_range(found, "room in local store from a multiple of 128 on"));
            }
            domain.iter().for_each(|&rank| {
                let Self { spe, state, .. } = &ports[rank as usize];
                state.clear(spe, room);
            });
        }
        Ok((ports, domains))
    }
}

impl Shared {
    /// What a rank waits for, as a report of a deadlock calls it.
    pub fn reason(&self, wait: Wait) -> Reason {
        let known = self.reasons.borrow().get(&wait).copied();
        known.unwrap_or_else(|| {
            let reason = self.sim.reason(&wait.name());
            self.reasons.borrow_mut().insert(wait, reason);
            reason
        })
    }
}

pub(super) fn out_of_range(found: impl Into<String>, expected: impl Into<String>) -> Error {
    Error::out_of_range("SPEs", found, expected)
}

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
