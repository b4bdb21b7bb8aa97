//! What a rank gives to its PPE, and waits for: messages to and from other blades, and calls.

use std::rc::Rc;

use crate::memory::EffectiveAddress;
use crate::messages::group::{Envelope, Wait};
use crate::messages::rank::{MOST_WORDS, Rank};
use crate::messages::state::{Descriptor, Post};
use crate::messages::station::{Station, Task};
use crate::mfc::{Command, Direction, Order};
use mmgp_base::units::Bytes;
use mmgp_spu::local_store::LocalAddress;
use mmgp_spu::register::Quadword;

impl Rank {
    /// Puts data and descriptor into its place in the queue of its PPE, and spins until that says that the
    /// receiver has matched them.
    pub(super) async fn send_far(
        &self,
        (from, bytes): (LocalAddress, Bytes),
        to: u32,
        envelope: Envelope,
    ) {
        let (own, spe) = (&*self.shared, &self.spe);
        spe.spend(own.costs.send).await;
        let station = self.station("MPI_Send").await;
        self.copy(Direction::Put, (from, station.outgoing(spe.index)), bytes).await;
        let number = self.last_answer() + 1;
        let post =
            Post { envelope: envelope.encode(), number, peer: to, bytes, target: LocalAddress(0) };
        self.post(station.sends(spe.index), &post).await;
        spe.tells_host();
        station.tell(Task::Send(self.world));
        self.wait_for_answer(Wait::Receiver(to, envelope), number).await;
    }

    /// Puts a descriptor into its place in the queue of its PPE, and spins until the message is there or
    /// can be got.
    pub(super) async fn receive_far(
        &self,
        (into, bytes): (LocalAddress, Bytes),
        from: u32,
        envelope: Envelope,
    ) -> Bytes {
        let (own, spe, state) = (&*self.shared, &self.spe, self.port().state);
        spe.spend(own.costs.receive).await;
        let station = self.station("MPI_Recv").await;
        let flag = state.flag();
        let number = spe.store.borrow().load(flag).0[0] + 1;
        let post = Post { envelope: envelope.encode(), number, peer: from, bytes, target: into };
        self.post(station.receives(spe.index), &post).await;
        spe.tells_host();
        station.tell(Task::Receive(self.world));
        let reason = own.reason(Wait::Sender(from, envelope));
        spe.spin_for(reason, flag, |store| store.load(flag).0[0] == number).await;
        let Quadword([_, bytes]) = spe.store.borrow().load(flag);
        let bytes = Bytes(bytes);
        if bytes > station.stored() {
            let Quadword([buffer, _]) = spe.store.borrow().load(state.note());
            self.copy(Direction::Get, (into, EffectiveAddress(buffer)), bytes).await;
            spe.mfc.wait_for(DATA).await;
            // The PPE may use the buffer again.
            let done = Command::new(
                Direction::Put,
                flag,
                station.fetched(spe.index),
                QUADWORD,
                DESCRIPTOR,
            );
            self.put(done).await;
            spe.mfc.wait_for(DESCRIPTOR).await;
            spe.tells_host();
            station.tell(Task::Fetched(EffectiveAddress(buffer)));
        }
        spe.spend(own.costs.complete).await;
        bytes
    }

    /// Calls a function of the PPE of its Cell, or by that one of the host, and waits for its answer: a
    /// remote procedure call. Of more than [`MOST_WORDS`] words the rest is left out.
    ///
    /// A call of a function that nobody serves ends the run.
    pub async fn call(&self, function: u32, words: &[u64]) -> Vec<u64> {
        let call = self.call_of("call", None, Bytes(8 * words.len() as u64));
        let (own, spe, state) = (&*self.shared, &self.spe, self.port().state);
        spe.spend(own.costs.send).await;
        let station = self.station("call").await;
        let (number, count) = (self.last_answer() + 1, words.len().min(MOST_WORDS));
        let mut request = vec![u64::from(function) | (count as u64) << 32, number];
        request.extend(&words[..count]);
        let line = quadwords(&request);
        let (local, slot) = (state.scratch(), station.calls(spe.index));
        self.done(spe.write(local, &line)).await;
        let bytes = Bytes(16 * line.len() as u64);
        self.put(Command::new(Direction::Put, local, slot, bytes, DESCRIPTOR)).await;
        spe.mfc.wait_for(DESCRIPTOR).await;
        spe.tells_host();
        station.tell(Task::Call(self.world));
        self.wait_for_answer(Wait::Service(function), number).await;
        let count = spe.store.borrow().load(state.answer()).0[1];
        let answer = self.done(spe.read(state.scratch(), Bytes(8 * count))).await;
        call.returned();
        answer.iter().flat_map(|quadword| quadword.0).take(count as usize).collect()
    }

    /// Gives the PPE a descriptor, behind the data that are on their way, and waits until all is there.
    async fn post(&self, slot: EffectiveAddress, post: &Post) {
        let (spe, local) = (&self.spe, self.port().state.descriptor());
        self.done(spe.write(local, &post.encode())).await;
        let put = Command::new(Direction::Put, local, slot, Descriptor::BYTES, DATA);
        self.put(put.ordered(Order::Fence)).await;
        spe.mfc.wait_for(DATA).await;
    }

    /// Moves data between local store and main memory, rounded up to whole quadwords.
    async fn copy(
        &self,
        direction: Direction,
        (local, effective): (LocalAddress, EffectiveAddress),
        bytes: Bytes,
    ) {
        let whole = bytes.0.next_multiple_of(QUADWORD.0);
        let mut done = 0;
        while done < whole {
            let piece = Bytes((whole - done).min(self.shared.largest.0));
            let (local, effective) = (local.offset(Bytes(done)), effective.offset(done));
            self.put(Command::new(direction, local, effective, piece, DATA)).await;
            done += piece.0;
        }
    }

    /// The number of the last request that its PPE has answered.
    fn last_answer(&self) -> u64 {
        self.spe.store.borrow().load(self.port().state.answer()).0[0]
    }

    async fn wait_for_answer(&self, wait: Wait, number: u64) {
        let (reason, answer) = (self.shared.reason(wait), self.port().state.answer());
        self.spe.spin_for(reason, answer, |store| store.load(answer).0[0] == number).await;
        self.spe.spend(self.shared.costs.complete).await;
    }

    /// PPE, where that takes part.
    async fn station(&self, operation: &'static str) -> Rc<Station> {
        match self.shared.stations.at(self.port().seat) {
            Some(station) => station,
            None => self.fatal(operation, "no process of its PPE attends to it".into()).await,
        }
    }
}

/// Doublewords as they lie in memory.
pub(super) fn quadwords(words: &[u64]) -> Vec<Quadword> {
    let quadword = |pair: &[u64]| Quadword([pair[0], pair.get(1).copied().unwrap_or(0)]);
    words.chunks(2).map(quadword).collect()
}

/// The tag groups of the MFC that are the messages' own: data with their flags, and descriptors.
pub(super) const DATA: u8 = 30;
pub(super) const DESCRIPTOR: u8 = 29;

/// A quadword: what a flag is, and what sizes are rounded up to.
pub(super) const QUADWORD: Bytes = Bytes(16);

impl Rank {
    /// Waits for the descriptor of rank `to` and puts the data where it says.
    pub(super) async fn send_local(
        &self,
        (from, bytes): (LocalAddress, Bytes),
        to: u32,
        envelope: Envelope,
    ) {
        let (own, spe, state) = (&*self.shared, &self.spe, self.port().state);
        spe.spend(own.costs.send).await;
        let slot = state.slot(own.ports[to as usize].place);
        let wanted = envelope.encode();
        let reason = own.reason(Wait::Receiver(to, envelope));
        spe.spin_for(reason, slot, |store| Descriptor::find(store, slot, wanted).is_some()).await;
        let found = Descriptor::find(&spe.store.borrow(), slot, wanted);
        let descriptor = found.expect("invariant: nobody else takes a descriptor away");
        // The receiver fills the slot again when it has this message.
        self.done(spe.write(slot, &[Quadword::ZERO])).await;
        spe.spend(own.costs.matched).await;
        if bytes > descriptor.bytes {
            let room = descriptor.bytes.0;
            let rule = format!("{} bytes for rank {to}, which has room for {room}", bytes.0);
            return self.fatal("MPI_Send", rule).await;
        }
        let mut done = 0;
        let whole = bytes.0.next_multiple_of(QUADWORD.0);
        while done < whole {
            let piece = Bytes((whole - done).min(own.largest.0));
            let (local, target) = (from.offset(Bytes(done)), descriptor.target.offset(done));
            self.put(Command::new(Direction::Put, local, target, piece, DATA)).await;
            done += piece.0;
        }
        let flag = state.flag_source();
        self.done(spe.write(flag, &[Quadword([descriptor.receive, bytes.0])])).await;
        let put = Command::new(Direction::Put, flag, descriptor.flag, QUADWORD, DATA);
        self.put(put.ordered(Order::Fence)).await;
        spe.mfc.wait_for(DATA).await;
    }

    /// Puts a descriptor into its slot in the local store of rank `from`, and spins until the message is
    /// there.
    pub(super) async fn receive_local(
        &self,
        (into, bytes): (LocalAddress, Bytes),
        from: u32,
        envelope: Envelope,
    ) -> Bytes {
        let (own, spe, port) = (&*self.shared, &self.spe, self.port());
        spe.spend(own.costs.receive).await;
        let (local, flag) = (port.state.descriptor(), port.state.flag());
        let Quadword([last, _]) = spe.store.borrow().load(flag);
        let descriptor = Descriptor {
            target: EffectiveAddress::local_store(spe.index, into),
            bytes,
            envelope: envelope.encode(),
            receive: last + 1,
            flag: EffectiveAddress::local_store(spe.index, flag),
        };
        self.done(spe.write(local, &descriptor.encode())).await;
        let sender = &own.ports[from as usize];
        let slot = EffectiveAddress::local_store(sender.spe.index, sender.state.slot(port.place));
        self.put(Command::new(Direction::Put, local, slot, Descriptor::BYTES, DESCRIPTOR)).await;
        let reason = own.reason(Wait::Sender(from, envelope));
        spe.spin_for(reason, flag, |store| store.load(flag).0[0] == descriptor.receive).await;
        spe.mfc.wait_for(DESCRIPTOR).await;
        spe.spend(own.costs.complete).await;
        let Quadword([_, bytes]) = spe.store.borrow().load(flag);
        Bytes(bytes)
    }

    /// Gives its MFC a put.
    pub(super) async fn put(&self, command: Command) {
        self.spe.spend(self.shared.costs.put).await;
        self.done(self.spe.mfc.enqueue(command).await).await;
    }
}
