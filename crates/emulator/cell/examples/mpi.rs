//! Four ranks, two on each Cell of a QS20, agree on something in each of the ways that MPI has.

use mmgp_base::error::Result;
use mmgp_cell::mpi::{Communicator, Data, Reduction};
use mmgp_cell::{Blade, HostProcess, KernelTiming};
use mmgp_machine::Machine;

const RANKS: u32 = 4;

async fn rank(world: Communicator, process: HostProcess) {
    process.resume().await;
    // Rank 1 tells all the parameters of the run.
    let own = if process.rank == 1 { b"200 taxa".to_vec() } else { Vec::new() };
    let told = world.broadcast(&process, 1, Data::Bytes(own)).await;
    assert_eq!(told, Data::Bytes(b"200 taxa".to_vec()));
    // The largest of all at rank 0, the smallest and the sum everywhere.
    let own = Data::Integers(vec![10 * i64::from(process.rank)]);
    let largest = world.reduce(&process, 0, own.clone(), Reduction::Maximum).await;
    assert_eq!(largest, (process.rank == 0).then(|| Data::Integers(vec![30])));
    let smallest = world.allreduce(&process, own.clone(), Reduction::Minimum).await;
    assert_eq!(smallest, Data::Integers(vec![0]));
    assert_eq!(world.allreduce_sum(&process, 0.5).await, 2.0);
    // What each has, in the order of ranks, at rank 3.
    if let Some(all) = world.gather(&process, 3, own).await {
        assert_eq!((process.rank, all.len()), (3, RANKS as usize));
        assert_eq!(all[2], Data::Integers(vec![20]));
    }
    world.barrier(&process).await;
    process.release();
}

fn main() -> Result<()> {
    let blade = Blade::new(&Machine::named("qs20")?, KernelTiming::Cached, 0.0);
    let world = Communicator::new(&blade, RANKS);
    for number in 0..RANKS {
        let life = rank(world.clone(), blade.host_process(number));
        blade.sim.spawn(format!("rank {number}"), life);
    }
    // Three operations by recursive doubling, and three trees.
    let microseconds = 1e6 * blade.run()?.seconds().0;
    assert!((50.0..120.0).contains(&microseconds), "{microseconds} us");
    Ok(())
}
