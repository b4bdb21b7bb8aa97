use std::cell::Cell;
use std::rc::Rc;

use super::Disturbance;
use crate::mfc::{Command, Direction, Hazards};
use crate::{Blade, KernelTiming};
use mmgp_base::units::{Bytes, Cycles, SimSpan, SimTime};
use mmgp_machine::Machine;
use mmgp_spu::Quadword;
use mmgp_spu::local_store::LocalAddress;

fn blade(faults: &[&str]) -> Blade {
    let blade = Blade::new(&Machine::named("qs20").unwrap(), KernelTiming::Cached, 0.0);
    let faults: Vec<Disturbance> = faults.iter().map(|text| text.parse().unwrap()).collect();
    blade.inject(&faults).unwrap();
    blade
}

/// When an SPE is done that begins 10,000 cycles of 312.5 ps after 1 us.
fn end_of_work(faults: &[&str]) -> u64 {
    let blade = blade(faults);
    let (spe, end) = (blade.spe(3).clone(), Rc::new(Cell::new(SimTime::ZERO)));
    let seen = Rc::clone(&end);
    blade.sim.spawn("SPE 3", async move {
        spe.sim.sleep(SimSpan::from_ticks(1_000_000_000)).await;
        spe.spend(Cycles(10_000)).await;
        seen.set(spe.sim.now());
    });
    blade.run().unwrap();
    end.get().ticks()
}

#[test]
fn a_slow_spe_takes_longer_for_what_is_left_when_it_becomes_slow() {
    // 3.125 us of work from 1 us on.
    const NS: u64 = 1_000_000;
    assert_eq!(end_of_work(&[]), 4125 * NS);
    // 1 us of it is done at 2 us; twice 2.125 us more.
    assert_eq!(end_of_work(&["spe 3 at 1/2 from 2 us"]), 6250 * NS);
    // Half a microsecond is done from 2 to 3 us, 1.625 us more.
    assert_eq!(end_of_work(&["spe 3 at 1/2 from 2 us to 3 us"]), 4625 * NS);
    // A third of a half of it from 3 us on: half a microsecond is done until then, after one; 6 times 1.625.
    let both = ["spe 3 at 1/2 from 2 us", "spe 3 at 1/3 from 3 us"];
    assert_eq!(end_of_work(&both), (3000 + 6 * 1625) * NS);
    // Others, and later faults, change nothing.
    let others = ["spe 2 at 1/2 from 2 us", "spe 3 at 1/2 from 5 us", "memory at 1/2 from 0 s"];
    assert_eq!(end_of_work(&others), 4125 * NS);
}

/// When the data have come that SPE 3 asks for at 1.97 us, before it computes for so many cycles.
fn end_of_transfer(faults: &[&str], cycles: u64) -> (Result<SimTime, String>, Quadword) {
    let blade = blade(faults);
    let (spe, memory) = (blade.spe(3).clone(), blade.memory.allocate(0, Bytes(4096)));
    let store = Rc::clone(&spe.store);
    blade.memory.write(memory.offset(4080), [Quadword::splat(7)]);
    blade.sim.spawn("SPE 3", async move {
        spe.spend(Cycles(6_300)).await;
        let get = Command::new(Direction::Get, LocalAddress(0), memory, Bytes(4096), 0);
        spe.mfc.enqueue(get).await.unwrap();
        if cycles > 0 {
            spe.spend(Cycles(cycles)).await;
            spe.sim.sleep(SimSpan::from_ticks(1_000_000_000_000)).await;
        }
    });
    // Nobody waits for the transfer.
    blade.set_hazards(crate::hazard::Hazards::Ignored);
    let ended = blade.run().map_err(|error| error.to_string());
    let last = store.borrow().load(LocalAddress(4080));
    (ended, last)
}

#[test]
fn a_stopped_spe_does_nothing_more_while_its_mfc_goes_on_and_a_deadlock_says_so() {
    // The last event of both is the end of the transfer, after the stop.
    let (ended, last) = end_of_transfer(&[], 0);
    let end = ended.unwrap();
    assert!(end.ticks() > 2_000_000_000 && last == Quadword::splat(7));
    let (deadlock, last) = end_of_transfer(&["spe 3 stops at 2 us"], 1000);
    let message = format!(
        "deadlock at {end}: SPE 3 waits for its SPU, which has stopped; after: spe 3 stopped at 2 us"
    );
    assert_eq!((deadlock, last), (Err(message), Quadword::splat(7)));
}

#[test]
fn a_word_in_the_interrupt_mailbox_whose_interrupt_is_lost_wakes_nobody() {
    let run = |faults: &[&str]| {
        let blade = blade(faults);
        let (spe, mailbox) = (blade.spe(2).clone(), blade.spe(2).interrupt_mailbox().clone());
        blade.sim.spawn("SPE 2", async move {
            spe.interrupt_mailbox().write(1).await;
            spe.interrupt_mailbox().write(2).await;
        });
        blade.sim.spawn("rank 0", async move {
            for word in [1, 2] {
                mailbox.arrival().await;
                assert_eq!(mailbox.take(), Some(word));
            }
        });
        blade.run().map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(run(&[]), Ok(()));
    assert_eq!(run(&["interrupt 3 of spe 2 lost", "interrupt 1 of spe 1 lost"]), Ok(()));
    let message = run(&["interrupt 2 of spe 2 lost"]).unwrap_err();
    let (_, message) = message.split_once(": ").unwrap();
    assert_eq!(
        message,
        "rank 0 waits for the outbound interrupt mailbox of SPE 2; after: interrupt 2 of spe 2 lost"
    );
}

/// How long 8 SPEs take to get 64 times 16 KiB each.
fn time_of_streams(faults: &[&str]) -> f64 {
    let blade = blade(faults);
    blade.set_hazards(Hazards::Ignored);
    for index in 0..8 {
        let (spe, memory) = (blade.spe(index).clone(), blade.memory.allocate(0, Bytes(1 << 20)));
        blade.sim.spawn(format!("SPE {index}"), async move {
            for number in 0..64 {
                let to = LocalAddress(16384 * (number % 8));
                let from = memory.offset(16384 * u64::from(number));
                let get = Command::new(Direction::Get, to, from, Bytes(16384), 0);
                spe.mfc.enqueue(get).await.unwrap();
            }
            spe.mfc.wait_for(0).await;
        });
    }
    blade.run().unwrap().seconds().0
}

#[test]
fn a_long_stream_takes_twice_from_memory_at_half_its_rate() {
    let usual = time_of_streams(&[]);
    let half = time_of_streams(&["memory at 1/2 from 0 s"]);
    // All but the first latency, under 1 % of it.
    assert!((half / usual - 2.0).abs() < 0.01, "{usual} {half}");
    // A third of the time at half the rate, and what is left at the whole one.
    let at = |part: f64| format!("{} us", 1e6 * usual * part);
    let fault = format!("memory at 1/2 from {} to {}", at(0.25), at(0.75));
    let for_a_while = time_of_streams(&[&fault]);
    assert!((for_a_while / usual - 1.25).abs() < 0.01, "{usual} {for_a_while}");
    // A fault that begins after the end: to the tick.
    assert_eq!(time_of_streams(&["memory at 1/2 from 1 s"]), usual);
}

#[test]
fn a_fault_that_does_not_strike_is_known_as_such() {
    let blade =
        blade(&["spe 3 stops at 2 us", "spe 3 at 1/2 from 1 us", "interrupt 1 of spe 0 lost"]);
    let spe = blade.spe(3).clone();
    blade.sim.spawn("SPE 3", async move { spe.spend(Cycles(3_600)).await });
    let end = blade.run().unwrap();
    // 1.125 us of work.
    assert_eq!(end.ticks(), 1_250_000_000);
    let at = |us: u64| SimTime::ZERO + SimSpan::from_ticks(1_000_000_000 * us);
    let struck: Vec<_> = blade.strikes().iter().map(|strike| (strike.struck, strike.met)).collect();
    assert_eq!(struck, [(None, None), (Some(at(1)), Some(at(1))), (None, None)]);
}

#[test]
fn an_spe_that_the_machine_lacks_is_refused_with_the_range() {
    let blade = Blade::new(&Machine::named("ps3").unwrap(), KernelTiming::Cached, 0.0);
    let error = blade.inject(&["spe 6 stops at 1 ms".parse().unwrap()]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "fault to inject: found SPE 6 in \"spe 6 stops at 1 ms\", expected an SPE that the machine \
         has: 0 to 5"
    );
}
