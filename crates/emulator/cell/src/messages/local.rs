//! Messages within one address space: from local store to local store.

use super::state::Descriptor;
use super::{Envelope, Rank, Wait};
use crate::memory::EffectiveAddress;
use crate::mfc::{Command, Direction, Order};
use mmgp_base::units::Bytes;
use mmgp_spu::local_store::LocalAddress;
use mmgp_spu::register::Quadword;

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
