//! The proxy queue: commands that the PPE gives to the MFC of an SPE.

use super::command::{Command, Operation};
use super::shared::Shared;
use crate::hazard::Origin;
use mmgp_base::error::Result;

/// The proxy queue of an MFC. It takes transfers but no lists, and its tag groups are its own.
pub struct Proxy<'a> {
    shared: &'a Shared,
}

impl<'a> Proxy<'a> {
    pub(super) const fn new(shared: &'a Shared) -> Self {
        Self { shared }
    }

    /// Puts a transfer into the queue, waiting for a place where it is full. What telling the MFC
    /// costs is the caller's: see [`HostProcess::enqueue`](crate::HostProcess::enqueue).
    ///
    /// # Errors
    /// As [`Mfc::enqueue`](super::Mfc::enqueue).
    pub async fn enqueue(&self, command: Command) -> Result<()> {
        self.shared.rules().transfer(&command)?;
        let place = self.shared.proxy.place().await;
        let operation = Operation::Transfer(command);
        self.shared.look(Origin::Proxy, (&operation, command.tag))?;
        self.shared.enter(Origin::Proxy, place, (operation, command.tag));
        Ok(())
    }

    /// Waits until every command of the tag group is complete.
    pub async fn wait_for(&self, tag: u8) {
        self.shared.proxy.all(1 << tag).await;
        self.shared.detector.waited(Origin::Proxy, 1 << tag);
    }
}
