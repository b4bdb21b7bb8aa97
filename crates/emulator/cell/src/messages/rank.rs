//! What the program of a rank calls.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::context::Loading;
use crate::event::Timebase;
use crate::fault::MpiError;
use crate::memory::Memory;
use crate::messages::group::{Envelope, Group, Location, Purpose, Wait};
use crate::messages::state::{Call, Listener, OpenCall, RankState};
use crate::messages::station::Stations;
use crate::nodes::Seat;
use crate::ppe::Work;
use crate::spe::Spe;
use crate::trace::{Category, Track};
use crate::{Blade, Fault};
use mmgp_base::error::{Error, Result};
use mmgp_base::units::{Bytes, Cycles, Seconds};
use mmgp_sim::{Reason, Sim, Watch};
use mmgp_spu::local_store::{LOCAL_STORE_BYTES, LocalAddress};

/// A rank's own view of a communicator: what its program calls; clones refer to the same.
#[derive(Clone)]
pub struct Rank {
    pub(super) shared: Rc<Shared>,
    pub(super) group: Rc<Group>,
    /// Number in the group.
    pub(super) rank: u32,
    /// Number among all.
    pub(super) world: u32,
    pub(super) spe: Spe,
}

impl Rank {
    /// `MPI_Comm_rank`.
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// `MPI_Comm_size`.
    pub fn size(&self) -> u32 {
        self.group.size()
    }

    /// The SPE that it is.
    pub fn spe(&self) -> &Spe {
        &self.spe
    }

    /// Location of the rank.
    pub fn location(&self) -> Location {
        self.port().at
    }

    /// `COMM_MEM_DOMAIN`: the communicator of the ranks that share its address space, those of its
    /// blade.
    pub fn memory_domain(&self) -> Self {
        let port = self.port();
        let own = |group: &&Rc<Group>| group.members().contains(&self.world);
        let domain = self.shared.domains.iter().find(own);
        let group = domain.expect("invariant: every rank is in a domain");
        Self { group: Rc::clone(group), rank: port.place, ..self.clone() }
    }

    /// `MPI_Send`: comes back when the receiver has matched the message and the data have left the
    /// buffer.
    pub async fn send(&self, from: LocalAddress, bytes: Bytes, to: u32, tag: u32) {
        let call = self.call_of("MPI_Send", Some(to), bytes);
        self.transmit((from, bytes), to, self.envelope(Purpose::Point, tag)).await;
        call.returned();
    }

    /// `MPI_Recv`: waits for the next message of that rank with that tag, of at most `bytes`; how long
    /// it is.
    pub async fn receive(&self, into: LocalAddress, bytes: Bytes, from: u32, tag: u32) -> Bytes {
        let call = self.call_of("MPI_Recv", Some(from), bytes);
        let bytes = self.accept((into, bytes), from, self.envelope(Purpose::Point, tag)).await;
        call.returned();
        bytes
    }

    /// `MPI_Wtime`: what the timebase shows.
    pub async fn wtime(&self) -> Seconds {
        self.spe.spend(self.shared.channel).await;
        let timebase = self.shared.timebase;
        timebase.ticks(timebase.at(self.shared.sim.now()))
    }

    /// `MPI_Wtick`: a tick of it.
    pub fn wtick(&self) -> Seconds {
        self.shared.timebase.ticks(1)
    }

    /// `MPI_Abort`: ends the run; never comes back.
    pub async fn abort(&self, code: i32) {
        let rule = format!("the program has ended itself with code {code}");
        self.fatal::<()>("MPI_Abort", rule).await;
    }

    /// Sends a message to a rank of the group.
    pub(super) async fn transmit(&self, data: (LocalAddress, Bytes), to: u32, envelope: Envelope) {
        let to = self.checked("MPI_Send", data, to).await;
        if self.is_near(to) {
            self.send_local(data, to, envelope).await;
        } else {
            self.send_far(data, to, envelope).await;
        }
    }

    /// Receives a message of a rank of the group.
    pub(super) async fn accept(
        &self,
        room: (LocalAddress, Bytes),
        from: u32,
        envelope: Envelope,
    ) -> Bytes {
        let from = self.checked("MPI_Recv", room, from).await;
        if self.is_near(from) {
            self.receive_local(room, from, envelope).await
        } else {
            self.receive_far(room, from, envelope).await
        }
    }

    /// Whether another rank shares its address space.
    fn is_near(&self, other: u32) -> bool {
        self.shared.ports[other as usize].at.blade == self.port().at.blade
    }

    /// The number among all of another rank of the group; a call that breaks a rule ends the run.
    pub(super) async fn checked(
        &self,
        operation: &'static str,
        (at, bytes): (LocalAddress, Bytes),
        other: u32,
    ) -> u32 {
        let Some(&world) = self.group.members().get(other as usize) else {
            let rule = format!("there is no rank {other} among {}", self.size());
            return self.fatal(operation, rule).await;
        };
        if bytes.0 > 0 && at.0 % 16 != 0 {
            let rule = format!("the buffer at {:#x} does not begin at a multiple of 16", at.0);
            return self.fatal(operation, rule).await;
        }
        world
    }

    pub(super) fn envelope(&self, purpose: Purpose, tag: u32) -> Envelope {
        Envelope { context: self.group.context(), purpose, tag }
    }

    pub(super) fn port(&self) -> &Port {
        &self.shared.ports[self.world as usize]
    }

    /// Ends the program; never comes back.
    pub(super) async fn fatal<T>(&self, operation: &str, rule: String) -> T {
        let operation = operation.to_string();
        self.shared.fault.raise(Error::other(MpiError { rank: self.world, operation, rule }));
        std::future::pending().await
    }

    /// What comes of a command of the MFC; one that breaks a rule ends the run.
    pub(super) async fn done<T>(&self, result: Result<T>) -> T {
        match result {
            Ok(value) => value,
            Err(error) => {
                self.shared.fault.raise(error);
                std::future::pending().await
            }
        }
    }

    /// The span of a call, of which the observer hears when it ends.
    pub(super) fn call_of(&self, name: &'static str, peer: Option<u32>, bytes: Bytes) -> OpenCall {
        let span = self.spe.trace.span(Track::Spu(self.spe.index), Category::Mpi, name);
        let span = span.with("bytes", bytes.0);
        let observer = self.shared.observer.borrow().clone();
        let start = self.shared.sim.now();
        let call = Call { rank: self.world, name, peer, bytes, start, end: start };
        OpenCall::new(span, observer, call, &self.shared.sim)
    }
}

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
