//! What the program of a rank calls.

use std::rc::Rc;

use crate::fault::MpiError;
use crate::messages::group::{Envelope, Group, Location, Purpose};
use crate::messages::shared::{Port, Shared};
use crate::messages::state::{Call, OpenCall};
use crate::spe::Spe;
use crate::trace::{Category, Track};
use mmgp_base::error::{Error, Result};
use mmgp_base::units::{Bytes, Seconds};
use mmgp_spu::local_store::LocalAddress;

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
