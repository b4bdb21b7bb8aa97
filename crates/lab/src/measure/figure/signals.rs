//! Figures of words that go between processors: lock lines, mailboxes, flags in local store.

use super::super::{ClockPhases, micro};
use super::{Bench, Program};
use mmgp_base::error::Result;
use mmgp_base::units::{Bytes, Seconds};
use mmgp_cell::Spe;
use mmgp_cell::mfc::{AtomicStatus, LockLine};
use mmgp_machine::Machine;
use mmgp_machine::figures::Quantity;
use mmgp_spu::{Branches, Kernel, LocalAddress, Shape, Spu};

pub(super) const PROGRAMS: [Program; 3] = [
    Program { name: "line-handover", measure: line_handover },
    Program { name: "mailbox-round-trip", measure: mailbox_round_trip },
    Program { name: "flag-round-trip", measure: flag_round_trip },
];

/// Turns of each player.
const TURNS: u32 = 200;

/// Time from one increment of a counter to the next, which two SPEs increment in turn by `getllar`
/// and `putllc`.
fn line_handover(machine: &Machine, _: u32) -> Result<Quantity> {
    let bench = Bench::with_spes(machine, 2)?;
    let effective = bench.blade.memory.allocate(0, Bytes(128));
    let line = LockLine { local: LocalAddress(0x1000), effective };
    for parity in 0..2 {
        let spe = bench.blade.spe(parity).clone();
        bench.start(&format!("SPE {parity}"), increment_in_turn(spe, line, parity));
    }
    Ok(Quantity::Time(Seconds(bench.run()?.0 / f64::from(2 * TURNS))))
}

async fn increment_in_turn(spe: Spe, line: LockLine, parity: u32) -> Result<()> {
    let mut done = 0;
    while done < TURNS {
        spe.mfc.getllar(line).await?;
        if !spe.compute(&IncrementInTurn { at: line.local, parity }).await {
            continue;
        }
        if spe.mfc.putllc(line).await? == AtomicStatus::Stored {
            done += 1;
        }
    }
    Ok(())
}

/// Increments the word at an address if it has that parity, and says whether it did.
struct IncrementInTurn {
    at: LocalAddress,
    parity: u32,
}

impl Kernel for IncrementInTurn {
    type Output = bool;

    fn shape(&self) -> Shape {
        Shape { branches: Branches::OnData, ..Shape::new("increment in turn", 0) }
    }

    #[inline(always)]
    fn run<S: Spu>(&self, spu: &mut S) -> bool {
        let word = spu.lqa(self.at);
        let parity = spu.andi(word, 1);
        let mine = spu.ceqi(parity, self.parity as i16);
        if spu.brz(mine) {
            return false;
        }
        let next = spu.ai(word, 1);
        spu.stqa(next, self.at);
        true
    }
}

/// A word from the PPE to the inbound mailbox of an SPE and one back through its outbound mailbox,
/// which the PPE polls.
fn mailbox_round_trip(machine: &Machine, _: u32) -> Result<Quantity> {
    let bench = Bench::new(machine);
    let spe = bench.blade.spe(0).clone();
    let (process, partner) = (bench.blade.host_process(0), spe.clone());
    bench.start("rank 0", async move {
        process.resume().await;
        for turn in 0..TURNS {
            process.write_mailbox(&partner, turn).await;
            while process.read_mailbox(partner.outbound_mailbox()).await.is_none() {}
        }
        process.release();
        Ok(())
    });
    bench.start("SPE 0", async move {
        for _ in 0..TURNS {
            let word = spe.inbound_mailbox().read().await;
            spe.outbound_mailbox().write(word).await;
        }
        Ok(())
    });
    Ok(Quantity::Time(Seconds(bench.run()?.0 / f64::from(TURNS))))
}

/// A message of so many bytes from the PPE to an SPE and back, through memory-mapped local store.
fn flag_round_trip(machine: &Machine, bytes: u32) -> Result<Quantity> {
    let rows = micro::offload(machine, 1, &mut ClockPhases::new(0))?;
    let row = rows.iter().find(|row| row.bytes == u64::from(bytes));
    let row = row.expect("invariant: the micro-benchmark sends a doubleword");
    Ok(Quantity::Time(Seconds(row.time_s / row.round_trips as f64)))
}
