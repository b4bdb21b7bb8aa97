//! How the SPEs of a task share its loops.
//!
//! The shared loops are those over patterns: that of `newview`, that of `evaluate`, and of `makenewz`
//! that of the sums and, at each step of Newton's method, that of the derivatives.
//!
//! With [`Teams::ByHost`] every SPE is told of the call by the host, fetches its arguments, and
//! computes for itself what depends on a branch alone. With [`Teams::ByMaster`] (loop-level
//! parallelism of Blagojevic et al., PPoPP 2007) one SPE, the master, does all but the loops:
//!
//! ```text
//!   master | arguments, tables | a pass to each | its share of the loop | hears of each |
//!   worker |     spins on its pass      | fetches arguments and tables | its share | reports |
//! ```
//!
//! A *pass* tells a worker that a loop begins. The worker fetches the arguments and what the master
//! has computed from the master's local store, and its share of the vectors from main memory, to
//! where it commits what it computes; what it adds up goes back with its report. The master takes as
//! many groups beyond its equal part as the scheduler says ([`Call::lead`]).
//!
//! How the SPEs of a task agree on a step of Newton's method, from local store to local store.
//!
//! ```text
//! first SPE     | derivatives | spins until all have come | adds, decides | puts z to each |
//! another SPE   | derivatives | puts {g, h} | spins until the decision is there            |
//! ```
//!
//! As in the loop-level parallelism of Blagojevic et al. (PPoPP 2007), each message carries what the
//! other spins on: the number of the step, which no other step of the run has. Neither the host nor
//! main memory has to do with it. A message of two quadwords lies in one cache line and arrives as
//! a whole.

use std::ops::Range;

use super::{EXCHANGE_TAG, MESSAGE_BYTES, RaxmlProgram, SharedCall};
use crate::layout::InMemory as _;
use crate::pbpi::block;
use crate::raxml::memory::{ARGUMENTS_BYTES, RaxmlArguments};
use mmgp_base::error::Result;
use mmgp_base::units::{Bytes, Cycles};
use mmgp_cell::EffectiveAddress;
use mmgp_cell::element::{Element, Number};
use mmgp_cell::mfc::{Command, Direction};
use mmgp_kernels::raxml::{NewtonStep, Progress};
use mmgp_runtime::{Call, Teams};
use mmgp_spu::{LocalAddress, Quadword};

/// Filling in a pass: the addresses of the arguments, the number, and the place that it goes to, each
/// an address computed and a quadword built by loads, inserts and a store, one after the other.
const FILL: Cycles = Cycles(40);

/// The groups of patterns that an SPE works on: contiguous blocks, which differ by one at most but for
/// what the first takes more or fewer.
pub(super) fn share(groups: u32, call: Call) -> Range<u32> {
    let deal = |count: u32, index: u32, shares: u32| {
        let dealt = block(count as usize, index as usize, shares as usize);
        dealt.start as u32..dealt.end as u32
    };
    let equal = deal(groups, 0, call.shares).end;
    let first =
        if call.shares == 1 { equal } else { equal.saturating_add_signed(call.lead).min(groups) };
    match call.share.checked_sub(1) {
        None => 0..first,
        Some(worker) => {
            let own = deal(groups - first, worker, call.shares - 1);
            first + own.start..first + own.end
        }
    }
}

impl RaxmlProgram {
    /// Whether this SPE works for the master of a team.
    pub(super) fn is_worker(&self, call: Call) -> bool {
        self.teams == Teams::ByMaster && call.share > 0
    }

    /// A worker waits for its pass and fetches the arguments.
    pub(super) async fn wait_for_pass(&self, spe: &impl Element) -> Result<RaxmlArguments> {
        let pass = self.map.pass;
        let Quadword([master, _]) = spe.message(pass, Number::Any).await;
        // So that the next one is seen to come.
        spe.write(pass.offset(Bytes(16)), &[Quadword::ZERO])?;
        let local = self.map.arguments;
        let from = EffectiveAddress::local_store(master as u32, local);
        let get = Command::new(Direction::Get, local, from, ARGUMENTS_BYTES, EXCHANGE_TAG);
        self.transfer(spe, get).await?;
        Ok(RaxmlArguments::from_quadwords(&spe.read(local, ARGUMENTS_BYTES)?))
    }

    /// The master has computed what stands at these places of local store; its workers fetch it.
    ///
    /// A master passes the loop on to each worker before it fetches anything else; where the host has
    /// started all SPEs, each has computed the same.
    pub(super) async fn share_tables(
        &self,
        task: &SharedCall<'_, impl Element>,
        tables: &[(LocalAddress, Bytes)],
    ) -> Result<()> {
        let SharedCall { spe, call, arguments, .. } = task;
        if self.teams == Teams::ByHost || call.shares == 1 {
            return Ok(());
        }
        if call.share == 0 {
            return self.pass(task).await;
        }
        let master = u32::from(arguments.peers[0]);
        for &(at, bytes) in tables {
            let from = EffectiveAddress::local_store(master, at);
            let get = Command::new(Direction::Get, at, from, bytes, EXCHANGE_TAG);
            spe.enqueue_operands(get).await?;
        }
        spe.wait_for(EXCHANGE_TAG).await;
        Ok(())
    }

    /// Tells each worker that the first loop begins.
    async fn pass(&self, task: &SharedCall<'_, impl Element>) -> Result<()> {
        let SharedCall { spe, call, arguments, .. } = task;
        let master = u64::from(arguments.peers[0]);
        let message = [Quadword([master, 0]), Quadword([arguments.sequence, 0])];
        spe.write(self.map.outgoing, &message)?;
        for &peer in &arguments.peers[1..call.shares as usize] {
            spe.spend(FILL).await;
            self.send(*spe, peer, self.map.pass).await?;
        }
        spe.wait_for(EXCHANGE_TAG).await;
        Ok(())
    }

    /// Ends a loop whose sums of this SPE stand at `result`: a worker reports them, the master has
    /// them all added there. Where the host has started all SPEs, each keeps its own.
    pub(super) async fn join(&self, task: &SharedCall<'_, impl Element>) -> Result<()> {
        if self.teams == Teams::ByHost || task.call.shares == 1 {
            return Ok(());
        }
        match task.call.share {
            0 => self.gather(task, task.arguments.sequence).await,
            _ => {
                self.report(task, task.arguments.sequence).await?;
                task.spe.wait_for(EXCHANGE_TAG).await;
                Ok(())
            }
        }
    }
}

/// What follows a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Another one.
    Step,
    /// No further step.
    Stop,
}

impl RaxmlProgram {
    /// Ends the step with that number, of which the SPE's own derivatives stand at `result`: the
    /// branch then has the new z everywhere, and where a master has computed them, the factors. `left` counts the steps that may still be made.
    pub(super) async fn agree(
        &self,
        task: &SharedCall<'_, impl Element>,
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
    pub(super) async fn report(
        &self,
        task: &SharedCall<'_, impl Element>,
        number: u64,
    ) -> Result<()> {
        let spe = task.spe;
        let sums = spe.read(self.map.result, Bytes(16))?[0];
        let slot = self.slot(task.call.share);
        spe.write(self.map.outgoing, &[sums, Quadword([number, 0])])?;
        self.send(spe, task.arguments.peers[0], slot).await
    }

    /// Adds what all SPEs report, in their order, as it has come.
    pub(super) async fn gather(
        &self,
        task: &SharedCall<'_, impl Element>,
        number: u64,
    ) -> Result<()> {
        let SharedCall { spe, call, .. } = task;
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

    /// The address that what the SPE with that number reports comes to.
    fn slot(&self, share: u32) -> LocalAddress {
        self.map.partial_sums.offset(Bytes(MESSAGE_BYTES.0 * u64::from(share)))
    }

    async fn decide(&self, task: &SharedCall<'_, impl Element>, left: &mut u32) -> Next {
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
    async fn scatter(
        &self,
        task: &SharedCall<'_, impl Element>,
        number: u64,
        next: Next,
    ) -> Result<()> {
        let SharedCall { spe, call, arguments, .. } = task;
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

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(groups: u32, shares: u32, lead: i32) -> Vec<Range<u32>> {
        let arguments = EffectiveAddress(0);
        let of = |share| Call { function: 0, arguments, share, shares, lead };
        (0..shares).map(|number| share(groups, of(number))).collect()
    }

    #[test]
    fn the_first_takes_its_lead_and_the_others_divide_the_rest() {
        assert_eq!(shares(10, 3, 0), [0..4, 4..7, 7..10]);
        assert_eq!(shares(10, 3, 2), [0..6, 6..8, 8..10]);
        assert_eq!(shares(10, 3, -1), [0..3, 3..7, 7..10]);
        assert_eq!(shares(3, 3, 9), [0..3, 3..3, 3..3]);
        assert_eq!(shares(3, 3, -9), [0..0, 0..2, 2..3]);
        assert_eq!(shares(5, 1, -2).first(), Some(&(0..5)), "alone");
    }
}
