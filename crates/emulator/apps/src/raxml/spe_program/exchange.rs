//! How the SPEs of a task agree on a step of Newton's method, from local store to local store.
//!
//! ```text
//!   first SPE     | derivatives | spins until all have come | adds, decides | puts z to each |
//!   another SPE   | derivatives | puts {g, h} | spins until the decision is there            |
//! ```
//!
//! As in the loop-level parallelism of Blagojevic et al. (PPoPP 2007), each message carries what the
//! other spins on: the number of the step, which no other step of the run has. Neither the host nor
//! main memory has to do with it. A message of two quadwords lies in one cache line and arrives as
//! a whole.

use super::local_map::MESSAGE_BYTES;
use super::{EXCHANGE_TAG, RaxmlProgram, Task};
use mmgp_base::error::Result;
use mmgp_base::units::Bytes;
use mmgp_cell::EffectiveAddress;
use mmgp_cell::element::{Element, Number};
use mmgp_cell::mfc::{Command, Direction};
use mmgp_kernels::raxml::{NewtonStep, Progress};
use mmgp_runtime::Teams;
use mmgp_spu::{LocalAddress, Quadword};

/// What follows a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Another one.
    Step,
    /// Nothing.
    Stop,
}

impl RaxmlProgram {
    /// Ends the step with that number, of which the SPE's own derivatives stand at `result`: the
    /// branch then has the new z everywhere, and where a master has computed them, the factors. `left` counts the steps that may still be made.
    pub(super) async fn agree(
        &self,
        task: &Task<'_, impl Element>,
        number: u64,
        left: &mut u32,
    ) -> Result<Next> {
        if task.call.share == 0 {
            self.gather(task, number).await?;
            let next = self.decide(task, left).await;
            if next == Next::Step && self.teams == Teams::ByMaster {
                self.factors(task).await;
            }
            self.scatter(task, number, next).await?;
            return Ok(next);
        }
        let spe = task.spe;
        self.report(task, number).await?;
        let decision = self.map.decision;
        let Quadword([z, stop]) = spe.message(decision, Number::Is(number)).await;
        spe.wait_for(EXCHANGE_TAG).await;
        spe.write(self.branches(), &[Quadword([z, 0])])?;
        if stop == 1 {
            return Ok(Next::Stop);
        }
        self.share_tables(task, &[self.factor_table(task)]).await?;
        Ok(Next::Step)
    }

    /// Puts what stands at `result` to the first SPE.
    pub(super) async fn report(&self, task: &Task<'_, impl Element>, number: u64) -> Result<()> {
        let spe = task.spe;
        let sums = spe.read(self.map.result, Bytes(16))?[0];
        let slot = self.slot(task.call.share);
        spe.write(self.map.outgoing, &[sums, Quadword([number, 0])])?;
        self.send(spe, task.arguments.peers[0], slot).await
    }

    /// Adds what all SPEs report, in their order, as it has come.
    pub(super) async fn gather(&self, task: &Task<'_, impl Element>, number: u64) -> Result<()> {
        let Task { spe, call, .. } = task;
        let result = self.map.result;
        let mut sums = spe.read(result, Bytes(16))?[0].doubles();
        for share in 1..call.shares {
            let slot = self.slot(share);
            let [g, h] = spe.message(slot, Number::Is(number)).await.doubles();
            sums = [sums[0] + g, sums[1] + h];
            spe.spend(self.add).await;
        }
        spe.write(result, &[Quadword::from_doubles(sums)])
    }

    /// Where what the SPE with that number reports comes to.
    fn slot(&self, share: u32) -> LocalAddress {
        self.map.partial_sums.offset(Bytes(MESSAGE_BYTES.0 * u64::from(share)))
    }

    async fn decide(&self, task: &Task<'_, impl Element>, left: &mut u32) -> Next {
        let kernel = NewtonStep {
            version: self.version,
            derivatives: self.map.result,
            branch: self.branches(),
            tables: self.map.tables,
        };
        let progress = task.spe.compute(&kernel).await;
        if progress != Progress::Shortened {
            *left -= 1;
        }
        if progress == Progress::Converged || *left == 0 { Next::Stop } else { Next::Step }
    }

    /// Tells the other SPEs of the task.
    async fn scatter(&self, task: &Task<'_, impl Element>, number: u64, next: Next) -> Result<()> {
        let Task { spe, call, arguments, .. } = task;
        if call.shares == 1 {
            return Ok(());
        }
        let [z, _] = spe.read(self.branches(), Bytes(16))?[0].0;
        let message = [Quadword([z, u64::from(next == Next::Stop)]), Quadword([number, 0])];
        spe.write(self.map.outgoing, &message)?;
        for &peer in &arguments.peers[1..call.shares as usize] {
            self.send(*spe, peer, self.map.decision).await?;
        }
        spe.wait_for(EXCHANGE_TAG).await;
        Ok(())
    }

    /// Puts the outgoing message to a place in the local store of another SPE.
    pub(super) async fn send(&self, spe: &impl Element, to: u8, at: LocalAddress) -> Result<()> {
        let local = self.map.outgoing;
        let place = EffectiveAddress::local_store(u32::from(to), at);
        spe.enqueue(Command::new(Direction::Put, local, place, MESSAGE_BYTES, EXCHANGE_TAG)).await
    }
}
