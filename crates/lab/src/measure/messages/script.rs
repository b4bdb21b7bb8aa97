//! Programs of ranks as lists of steps, and when their calls began and ended.

use std::cell::RefCell;
use std::rc::Rc;

use mmgp_base::error::Result;
#[cfg(test)]
use mmgp_base::units::Cycles;
use mmgp_base::units::{Bytes, Seconds, SimSpan, SimTime};
use mmgp_cell::messages::{Messages, Rank};
use mmgp_cell::nodes::Nodes;
use mmgp_cell::{Blade, KernelTiming};
use mmgp_machine::Machine;
use mmgp_spu::LocalAddress;

/// The place of a rank: the number of its blade in the whole machine, and its own on that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub blade: u32,
    pub spe: u32,
}

/// What a rank does.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step {
    /// Waits until an instant of the run.
    Until(Seconds),
    /// Sends to a rank.
    Send(u32, Bytes),
    /// Receives from a rank.
    Receive(u32, Bytes),
    /// Computes.
    #[cfg(test)]
    Compute(Cycles),
}

/// When a step began and ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct Took {
    pub begin: Seconds,
    pub end: Seconds,
}

/// The places of things in each local store.
const STATE: LocalAddress = LocalAddress(0x4000);
const DATA: LocalAddress = LocalAddress(0x8000);

/// Runs the steps of each rank; when each of them began and ended. Blades without ranks are idle.
pub(super) fn run(machine: &Machine, ranks: &[(Place, Vec<Step>)]) -> Result<Vec<Vec<Took>>> {
    let mut blades: Vec<u32> = ranks.iter().map(|(place, _)| place.blade).collect();
    blades.sort_unstable();
    blades.dedup();
    let first = Rc::new(Blade::new(machine, KernelTiming::Cached, 0.0));
    let steps: Rc<[Vec<Step>]> = ranks.iter().map(|(_, steps)| steps.clone()).collect();
    let log = Rc::new(RefCell::new(vec![Vec::new(); ranks.len()]));
    let program = |rank: Rank| live(rank, Rc::clone(&steps), Rc::clone(&log));
    if blades.len() == 1 {
        let spes = ranks.iter().map(|(place, _)| place.spe);
        Messages::on_blade(&first, spes, STATE)?.start(program);
        first.run()?;
    } else {
        let nodes = Nodes::at(first, blades.clone())?;
        let seat = |place: &Place| (blades.partition_point(|&it| it < place.blade), place.spe);
        let seats = ranks.iter().map(|(place, _)| seat(place));
        Messages::on_nodes(&nodes, seats, STATE)?.start(program);
        nodes.run()?;
    }
    Ok(log.take())
}

async fn live(rank: Rank, steps: Rc<[Vec<Step>]>, log: Rc<RefCell<Vec<Vec<Took>>>>) -> Result<()> {
    let (own, sim) = (rank.rank() as usize, rank.spe().sim.clone());
    for step in &steps[own] {
        let begin = sim.now().seconds();
        match *step {
            Step::Until(time) => {
                sim.sleep_until(SimTime::ZERO + SimSpan::from_seconds(time)).await;
            }
            Step::Send(to, bytes) => rank.send(DATA, bytes, to, 0).await,
            Step::Receive(from, bytes) => {
                rank.receive(DATA, bytes, from, 0).await;
            }
            #[cfg(test)]
            Step::Compute(cycles) => rank.spe().spend(cycles).await,
        }
        log.borrow_mut()[own].push(Took { begin, end: sim.now().seconds() });
    }
    Ok(())
}
