//! Eight SPEs of a blade: each sends a number to the next one round a ring, and all add them up.

use mmgp_base::error::Result;
use mmgp_base::units::Bytes;
use mmgp_cell::messages::{Messages, Operation, Rank, Reduction, Word};
use mmgp_cell::{Blade, KernelTiming};
use mmgp_machine::Machine;
use mmgp_spu::{LocalAddress, Quadword};

// Where things lie in each local store.
const OWN: LocalAddress = LocalAddress(0x8000);
const OTHER: LocalAddress = LocalAddress(0x8010);
const SUM: LocalAddress = LocalAddress(0x8020);
const STATE: LocalAddress = LocalAddress(0x9000);

async fn program(rank: Rank) -> Result<()> {
    let (own, size) = (rank.rank(), rank.size());
    let (next, previous) = ((own + 1) % size, (own + size - 1) % size);
    rank.spe().write(OWN, &[Quadword::from_doubles([f64::from(own), 0.0])])?;
    // A send waits for its receive: somebody has to receive first.
    if own == 0 {
        rank.receive(OTHER, Bytes(8), previous, 7).await;
        rank.send(OWN, Bytes(8), next, 7).await;
    } else {
        rank.send(OWN, Bytes(8), next, 7).await;
        rank.receive(OTHER, Bytes(8), previous, 7).await;
    }
    let sum = Reduction { operation: Operation::Sum, word: Word::F64 };
    rank.all_reduce((OTHER, SUM), 1, sum).await;
    assert_eq!(rank.spe().read(OTHER, Bytes(8))?[0].doubles()[0], f64::from(previous));
    assert_eq!(rank.spe().read(SUM, Bytes(8))?[0].doubles()[0], 28.0);
    Ok(())
}

fn main() -> Result<()> {
    let blade = Blade::new(&Machine::named("qs20")?, KernelTiming::Cached, 0.0);
    let messages = Messages::on_blade(&blade, 0..8, STATE)?;
    messages.start(program);
    blade.run()?;
    Ok(())
}
