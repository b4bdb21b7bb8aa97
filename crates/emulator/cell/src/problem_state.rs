//! What the host does to the registers of an SPE: mailboxes, signal notification, proxy commands.

use crate::channel::{OutboundMailbox, Signal};
use crate::host::HostProcess;
use crate::mfc::Command;
use crate::spe::Spe;
use mmgp_base::error::Result;

impl HostProcess {
    /// Stores a word into an SPE's inbound mailbox.
    pub async fn write_mailbox(&self, spe: &Spe, word: u32) {
        self.store_to_spe().await;
        spe.inbound_mailbox().write(word);
    }

    /// Loads a word from an SPE's outbound mailbox; nothing where it is empty.
    pub async fn read_mailbox(&self, mailbox: &OutboundMailbox) -> Option<u32> {
        self.load_from_spe().await;
        mailbox.take()
    }

    /// Stores a word into a signal-notification register.
    pub async fn signal(&self, spe: &Spe, signal: Signal, value: u32) {
        self.store_to_spe().await;
        spe.detector().signalled_by_host(signal);
        spe.signal(signal).write(value);
    }

    /// Gives a transfer to the MFC of an SPE: stores of the local address, of the effective
    /// address, of size and tag with the command itself, and a load of the status that says
    /// whether it was taken.
    ///
    /// # Errors
    /// As [`Mfc::enqueue`](crate::mfc::Mfc::enqueue).
    pub async fn enqueue(&self, spe: &Spe, command: Command) -> Result<()> {
        for _ in 0..3 {
            self.store_to_spe().await;
        }
        self.load_from_spe().await;
        spe.mfc.proxy().enqueue(command).await
    }
}
