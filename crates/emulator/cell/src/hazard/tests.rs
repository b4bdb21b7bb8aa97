//! Planted hazards are found and named with both sides; right programs are left alone.

mod edges;
mod random;
mod unwritten;

use std::future::Future;

use super::*;
use crate::channel::Signal;
use crate::mfc::{Command, Direction, LockLine, Order, SendSignal};
use crate::{Blade, HostProcess, KernelTiming, Spe};
use mmgp_base::units::Cycles;
use mmgp_machine::{Layout, Machine};
use mmgp_spu::{Kernel, Quadword, Shape, Spu};

const DATA: LocalAddress = LocalAddress(0x1000);
const LINE: LocalAddress = LocalAddress(0x2000);
const FLAG: LocalAddress = LocalAddress(0x3000);

/// Loads a quadword and stores it elsewhere.
struct Copy(LocalAddress, LocalAddress);

impl Kernel for Copy {
    type Output = ();
    fn shape(&self) -> Shape {
        Shape::new("copy", 0)
    }
    #[inline(always)]
    fn run<S: Spu>(&self, spu: &mut S) {
        let value = spu.lqa(self.0);
        spu.stqa(value, self.1);
    }
}

/// A machine with four SPEs, whose programs were loaded with ones up to 0x4000.
fn blade() -> Blade {
    let mut machine = Machine::named("qs20").unwrap();
    machine.layout = Layout { cells: 1, spes_per_cell: 4, threads_per_ppe: 2 };
    let blade = Blade::new(&machine, KernelTiming::Cached, 0.0);
    for spe in 0..4 {
        let mut store = blade.spe(spe).store.borrow_mut();
        store.slice_mut(LocalAddress(0), Bytes(0x4000)).fill(Quadword::splat(1));
    }
    blade
}

fn start(blade: &Blade, life: impl Future<Output = Result<()>> + 'static) {
    let fault = blade.fault();
    blade.sim.spawn("a program", async move {
        if let Err(error) = life.await {
            fault.raise(error);
        }
    });
}

/// What is reported of two SPEs and the host with a place in main memory.
fn report<A, B, C>(
    first: impl FnOnce(Spe, EffectiveAddress) -> A,
    second: impl FnOnce(Spe, EffectiveAddress) -> B,
    host: impl FnOnce(HostProcess, [Spe; 2], EffectiveAddress) -> C,
) -> String
where
    A: Future<Output = Result<()>> + 'static,
    B: Future<Output = Result<()>> + 'static,
    C: Future<Output = Result<()>> + 'static,
{
    let blade = blade();
    let at = blade.memory.allocate(0, Bytes(1024));
    let [one, two] = [0, 1].map(|spe| blade.spe(spe).clone());
    start(&blade, first(one.clone(), at));
    start(&blade, second(two.clone(), at));
    start(&blade, host(blade.host_process(0), [one, two], at));
    blade.run().map_or_else(|error| error.to_string(), |_| String::new())
}

/// The same of SPEs alone.
fn of_spes<A, B>(
    first: impl FnOnce(Spe, EffectiveAddress) -> A,
    second: impl FnOnce(Spe, EffectiveAddress) -> B,
) -> String
where
    A: Future<Output = Result<()>> + 'static,
    B: Future<Output = Result<()>> + 'static,
{
    report(first, second, |_, _, _| async { Ok(()) })
}

fn put(to: EffectiveAddress, tag: u8) -> Command {
    Command::new(Direction::Put, DATA, to, Bytes(128), tag)
}

fn get(from: EffectiveAddress, tag: u8) -> Command {
    Command::new(Direction::Get, DATA, from, Bytes(128), tag)
}

async fn nothing(_: Spe, _: EffectiveAddress) -> Result<()> {
    Ok(())
}

/// Asserts that a report names the place and both sides with their times; `later` and `earlier` each
/// say who and how.
#[track_caller]
fn check(report: &str, place: &str, later: [&str; 2], earlier: [&str; 2]) {
    let parts = report.strip_prefix(&format!("hazard at {place}: "));
    let parts = parts.and_then(|rest| rest.split_once("; unordered with "));
    let Some((first, second)) = parts else { panic!("{report}") };
    for (side, [who, how]) in [(first, later), (second, earlier)] {
        assert!(side.starts_with(who) && side.ends_with(how), "{side} is not {who} .. {how}");
        assert!(side.contains("at ") && side.contains(" us, "), "{side} has no time");
    }
}

const PUT: [&str; 2] = [
    "SPE 0, Put of 128 bytes, local store 0x01000, effective address 0x0, tag 0, given at 0.0031 us",
    "writes it",
];

#[test]
fn a_program_that_ends_with_a_transfer_pending() {
    for (direction, place) in [
        (Direction::Put, "effective address 0x200 to 0x27f"),
        (Direction::Get, "local store 0x1000 to 0x107f of SPE 0"),
    ] {
        let report = of_spes(
            move |spe, at| async move {
                let command = Command::new(direction, DATA, at.offset(512), Bytes(128), 3);
                spe.mfc.enqueue(command).await?;
                // Whoever does much more still has left that one alone.
                for _ in 0..40 {
                    let other = Command::new(Direction::Get, LINE, at.offset(256), Bytes(128), 4);
                    spe.mfc.enqueue(other).await?;
                    spe.mfc.wait_for(4).await;
                }
                Ok(())
            },
            nothing,
        );
        let begin = format!("hazard at {place}: the run ends at ");
        let end = format!(
            "; but nobody has waited for SPE 0, {direction:?} of 128 bytes, local store 0x01000, \
             effective address 0x200, tag 3, given at 0.0031 us"
        );
        assert!(report.starts_with(&begin) && report.ends_with(&end), "{report}");
    }
}

#[test]
fn two_spes_that_put_to_one_place() {
    let life = |wait: u64| {
        move |spe: Spe, at| async move {
            spe.spend(Cycles(wait)).await;
            spe.mfc.enqueue(put(at, 0)).await?;
            spe.mfc.wait_for(0).await;
            Ok(())
        }
    };
    // That the first has long ended is no order.
    let report = of_spes(life(0), life(100_000));
    let later = [
        "SPE 1, Put of 128 bytes, local store 0x01000, effective address 0x0, tag 0, given at 31.2531",
        "writes it",
    ];
    check(&report, "effective address 0x0 to 0x7f", later, PUT);
}

#[test]
fn a_put_into_a_local_store_under_its_running_kernel() {
    let put_there = |wait: u64| {
        move |spe: Spe, _| async move {
            spe.spend(Cycles(wait)).await;
            spe.mfc.enqueue(put(EffectiveAddress::local_store(1, DATA), 0)).await?;
            spe.mfc.wait_for(0).await;
            Ok(())
        }
    };
    let kernel = |wait: u64| {
        move |spe: Spe, _| async move {
            spe.spend(Cycles(wait)).await;
            spe.compute(&Copy(DATA, LINE)).await;
            Ok(())
        }
    };
    let place = "local store 0x1000 to 0x100f of SPE 1";
    let command = "SPE 0, Put of 128 bytes, local store 0x01000, effective address 0x";
    let (command, kernel_side) = ([command, "writes it"], ["SPE 1, kernel copy, at ", "reads it"]);
    check(&of_spes(put_there(5), kernel(0)), place, command, kernel_side);
    check(&of_spes(put_there(0), kernel(1000)), place, kernel_side, command);
}

#[test]
fn a_get_of_one_spe_against_a_put_of_another() {
    let report = of_spes(
        |spe, at| async move {
            spe.mfc.enqueue(put(at, 0)).await?;
            spe.mfc.wait_for(0).await;
            Ok(())
        },
        |spe, at| async move {
            spe.spend(Cycles(1000)).await;
            spe.mfc.enqueue(get(at.offset(112), 5)).await?;
            spe.mfc.wait_for(5).await;
            Ok(())
        },
    );
    let later =
        ["SPE 1, Get of 128 bytes, local store 0x01000, effective address 0x70, tag 5", "reads it"];
    check(&report, "effective address 0x70 to 0x7f", later, PUT);
}

#[test]
fn a_buffer_reused_that_a_proxy_command_still_reads() {
    let run = |is_told: bool| {
        report(
            move |spe, _| async move {
                if is_told {
                    spe.inbound_mailbox().read().await;
                } else {
                    spe.spend(Cycles(1_000_000)).await;
                }
                spe.write(DATA, &[Quadword::ZERO])
            },
            nothing,
            |host, [spe, _], at| async move {
                host.resume().await;
                host.enqueue(&spe, put(at, 2)).await?;
                spe.mfc.proxy().wait_for(2).await;
                host.write_mailbox(&spe, 1).await;
                host.release();
                Ok(())
            },
        )
    };
    let earlier = ["the host by proxy of SPE 0, Put of 128 bytes, local store 0x01000", "reads it"];
    let later = ["SPE 0, the program, at 312.5000 us", "writes it"];
    check(&run(false), "local store 0x1000 to 0x100f of SPE 0", later, earlier);
    assert_eq!(run(true), "");
}

#[test]
fn a_barrier_between_two_free_commands_orders_them() {
    let report = of_spes(
        |spe, at| async move {
            spe.mfc.enqueue(put(at, 0)).await?;
            spe.mfc.enqueue(put(at, 0).ordered(Order::Barrier)).await?;
            spe.mfc.enqueue(put(at, 0)).await?;
            spe.mfc.wait_for(0).await;
            Ok(())
        },
        nothing,
    );
    assert_eq!(report, "");
}
