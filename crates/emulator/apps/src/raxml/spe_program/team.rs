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

use std::ops::Range;

use super::super::arguments::{ARGUMENTS_BYTES, Arguments};
use super::{EXCHANGE_TAG, RaxmlProgram, Task};
use crate::layout::InMemory as _;
use crate::pbpi::block;
use mmgp_base::error::Result;
use mmgp_base::units::{Bytes, Cycles};
use mmgp_cell::EffectiveAddress;
use mmgp_cell::element::{Element, Number};
use mmgp_cell::mfc::{Command, Direction};
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
    pub(super) async fn wait_for_pass(&self, spe: &impl Element) -> Result<Arguments> {
        let pass = self.map.pass;
        let Quadword([master, _]) = spe.message(pass, Number::Any).await;
        // So that the next one is seen to come.
        spe.write(pass.offset(Bytes(16)), &[Quadword::ZERO])?;
        let local = self.map.arguments;
        let from = EffectiveAddress::local_store(master as u32, local);
        let get = Command::new(Direction::Get, local, from, ARGUMENTS_BYTES, EXCHANGE_TAG);
        self.transfer(spe, get).await?;
        Ok(Arguments::from_quadwords(&spe.read(local, ARGUMENTS_BYTES)?))
    }

    /// The master has computed what stands at these places of local store; its workers fetch it.
    ///
    /// A master passes the loop on to each worker before it fetches anything else; where the host has
    /// started all SPEs, each has computed the same.
    pub(super) async fn share_tables(
        &self,
        task: &Task<'_, impl Element>,
        tables: &[(LocalAddress, Bytes)],
    ) -> Result<()> {
        let Task { spe, call, arguments, .. } = task;
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
    async fn pass(&self, task: &Task<'_, impl Element>) -> Result<()> {
        let Task { spe, call, arguments, .. } = task;
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
    pub(super) async fn join(&self, task: &Task<'_, impl Element>) -> Result<()> {
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
