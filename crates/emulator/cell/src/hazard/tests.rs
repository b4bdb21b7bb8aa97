//! Planted hazards are found and named with both sides; right programs are left alone.

mod random;

use std::future::Future;

use crate::channel::Signal;
use crate::context::SpeImage;
use crate::hazard::*;
use crate::mfc::{
    AfterElement, AtomicStatus, Command, Direction, ListCommand, ListElement, LockLine, Order,
    SendSignal, write_list,
};
use crate::{Blade, HostProcess, KernelTiming, Spe};
use mmgp_base::units::{Cycles, Seconds, SimSpan};
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

#[test]
fn a_mailbox_written_before_the_put_was_waited_for() {
    let report = report(
        |spe, at| async move {
            spe.mfc.enqueue(put(at, 0)).await?;
            spe.outbound_mailbox().write(1).await;
            spe.mfc.wait_for(0).await;
            Ok(())
        },
        nothing,
        |host, [spe, _], at| async move {
            host.resume().await;
            host.poll_mailbox(&spe).await;
            host.read_mailbox(spe.outbound_mailbox()).await;
            host.reads(at.offset(64), Bytes(16));
            host.release();
            Ok(())
        },
    );
    check(&report, "effective address 0x40 to 0x4f", ["the host, at ", "reads it"], PUT);
}

/// SPE 0 puts to SPE 1 and signals with that order; what is reported.
fn signalled(order: Order, tag: u8) -> String {
    of_spes(
        move |spe, _| async move {
            spe.mfc.enqueue(put(EffectiveAddress::local_store(1, DATA), 0)).await?;
            let (local, register) = (LocalAddress(0xC), Signal::One.address(1));
            spe.mfc.send_signal(SendSignal { local, register, tag, order }).await?;
            spe.mfc.wait_for_all(1 | 1 << tag).await;
            Ok(())
        },
        |spe, _| async move {
            spe.signal(Signal::One).read().await;
            spe.read(DATA, Bytes(16)).map(|_| ())
        },
    )
}

#[test]
fn a_signal_sent_before_the_put_is_complete() {
    for (order, tag) in [(Order::Free, 0), (Order::Fence, 1)] {
        let later = ["SPE 1, the program, at ", "reads it"];
        let earlier = ["SPE 0, Put of 128 bytes, local store 0x01000", "writes it"];
        let place = "local store 0x1000 to 0x100f of SPE 1";
        check(&signalled(order, tag), place, later, earlier);
    }
    assert_eq!(signalled(Order::Fence, 0), "");
    assert_eq!(signalled(Order::Barrier, 0), "");
}

/// Two SPEs put under a lock, waiting for the put before they give the lock back or afterwards.
fn locked(waits: bool) -> String {
    let life = move |spe: Spe, at: EffectiveAddress| async move {
        let line = LockLine { local: LINE, effective: at.offset(512) };
        loop {
            spe.mfc.getllar(line).await?;
            if spe.read(LINE, Bytes(16))?[0].preferred() == 0 {
                spe.write(LINE, &[Quadword::splat(1)])?;
                if spe.mfc.putllc(line).await? == AtomicStatus::Stored {
                    break;
                }
            }
        }
        spe.mfc.enqueue(put(at, 0)).await?;
        if waits {
            spe.mfc.wait_for(0).await;
        }
        spe.write(LINE, &[Quadword::ZERO])?;
        spe.mfc.putlluc(line).await?;
        spe.mfc.wait_for(0).await;
        Ok(())
    };
    of_spes(life, life)
}

#[test]
fn a_lock_released_before_the_put_inside_is_complete() {
    let side = |spe| [spe, "writes it"];
    let report = locked(false);
    check(
        &report,
        "effective address 0x0 to 0x7f",
        side("SPE 0, Put of 128 bytes"),
        side("SPE 1, Put of 128 bytes"),
    );
    assert_eq!(locked(true), "");
}

#[test]
fn a_message_buffer_reused_before_its_reader_is_done() {
    let run = |acknowledged: bool| {
        of_spes(
            move |spe, _| async move {
                let flag = EffectiveAddress::local_store(1, FLAG);
                for round in 0..2 {
                    if round > 0 && acknowledged {
                        spe.signal(Signal::Two).read().await;
                    }
                    spe.mfc.enqueue(put(EffectiveAddress::local_store(1, DATA), 0)).await?;
                    spe.write(FLAG, &[Quadword([7 + round, 0])])?;
                    let word = Command::new(Direction::Put, FLAG, flag, Bytes(16), 0);
                    spe.mfc.enqueue(word.ordered(Order::Fence)).await?;
                    spe.mfc.wait_for(0).await;
                }
                Ok(())
            },
            move |spe, _| async move {
                for round in 0..2 {
                    // What was there before is more than any round.
                    spe.spin(FLAG, |store| (7 + round..9).contains(&store.load(FLAG).0[0])).await;
                    spe.compute(&Copy(DATA, LINE)).await;
                    let (local, register) = (LocalAddress(0x10C), Signal::Two.address(0));
                    let (tag, order) = (1, Order::Free);
                    if acknowledged {
                        spe.mfc.send_signal(SendSignal { local, register, tag, order }).await?;
                    }
                }
                spe.mfc.wait_for(1).await;
                Ok(())
            },
        )
    };
    let (kernel, command) =
        (["SPE 1, kernel copy, at ", "reads it"], ["SPE 0, Put of 128 bytes", "writes it"]);
    check(&run(false), "local store 0x1000 to 0x100f of SPE 1", kernel, command);
    assert_eq!(run(true), "");
}

const UNWRITTEN: LocalAddress = LocalAddress(0x8000);

/// What is reported of SPE 0.
fn of_one<A>(life: impl FnOnce(Spe, EffectiveAddress) -> A) -> String
where
    A: Future<Output = Result<()>> + 'static,
{
    of_spes(life, nothing)
}

/// A quadword of that place in the local store of SPE 1.
fn there(at: LocalAddress) -> EffectiveAddress {
    EffectiveAddress::local_store(1, at)
}

#[track_caller]
fn check_found(report: &str, place: &str, who: &str) {
    let begin = format!("hazard at local store {place}: {who}");
    let end = "us, reads it; but nobody has written it before";
    assert!(report.starts_with(&begin) && report.ends_with(end), "{report}");
}

#[test]
fn by_a_kernel() {
    let report = of_one(|spe, _| async move {
        spe.compute(&Copy(UNWRITTEN, DATA)).await;
        Ok(())
    });
    check_found(&report, "0x8000 to 0x800f of SPE 0", "SPE 0, kernel copy, at 0.0000 ");
}

#[test]
fn by_a_program_outside_its_kernels() {
    let report = of_one(|spe, _| async move {
        spe.write(UNWRITTEN, &[Quadword::ZERO])?;
        spe.read(UNWRITTEN, Bytes(32)).map(|_| ())
    });
    check_found(&report, "0x8010 to 0x801f of SPE 0", "SPE 0, the program, at 0.0000 ");
}

#[test]
fn by_a_put() {
    let report = of_one(|spe, at| async move {
        spe.write(UNWRITTEN, &[Quadword::ZERO; 2])?;
        spe.mfc.enqueue(Command::new(Direction::Put, UNWRITTEN, at, Bytes(128), 3)).await?;
        spe.mfc.wait_for(3).await;
        Ok(())
    });
    let who =
        "SPE 0, Put of 128 bytes, local store 0x08000, effective address 0x0, tag 3, given at";
    check_found(&report, "0x8020 to 0x802f of SPE 0", who);
}

#[test]
fn by_a_get_of_another_spe() {
    let report = of_one(|spe, _| async move {
        spe.mfc.enqueue(get(there(UNWRITTEN), 3)).await?;
        spe.mfc.wait_for(3).await;
        Ok(())
    });
    check_found(&report, "0x8000 to 0x800f of SPE 1", "SPE 0, Get of 128 bytes");
}

#[test]
fn by_the_host() {
    let report = report(nothing, nothing, |host, _, _| async move {
        host.resume().await;
        host.reads(there(UNWRITTEN), Bytes(4));
        host.release();
        Ok(())
    });
    check_found(&report, "0x8000 to 0x800f of SPE 1", "the host, at");
}

#[test]
fn what_a_kernel_or_a_get_or_the_program_has_written_is_written_zero_or_not() {
    let right = of_one(|spe, at| async move {
        spe.mfc.enqueue(get(at, 0)).await?;
        spe.mfc.wait_for(0).await;
        spe.compute(&Copy(DATA, UNWRITTEN)).await;
        spe.compute(&Copy(UNWRITTEN, DATA)).await;
        spe.write(UNWRITTEN.offset(Bytes(16)), &[Quadword::ZERO])?;
        spe.read(UNWRITTEN, Bytes(32))?;
        spe.mfc.enqueue(Command::new(Direction::Put, UNWRITTEN, at, Bytes(32), 0)).await?;
        spe.mfc.wait_for(0).await;
        Ok(())
    });
    assert_eq!(right, "");
}

/// A kernel that sets the first word of a quadword to zero, as a compiler stores a word.
struct StoreWord(LocalAddress);

impl Kernel for StoreWord {
    type Output = ();
    fn shape(&self) -> Shape {
        Shape::new("store a word", 0)
    }
    #[inline(always)]
    fn run<S: Spu>(&self, spu: &mut S) {
        let (word, at) = (spu.il(0), spu.ila(self.0.0));
        let place = spu.cwd(at, 0);
        let rest = spu.lqa(self.0);
        let whole = spu.shufb(word, rest, place);
        spu.stqa(whole, self.0);
    }
}

#[test]
fn a_store_of_a_word_reads_nothing_though_it_loads_the_quadword() {
    let right = of_one(|spe, _| async move {
        spe.compute(&StoreWord(UNWRITTEN)).await;
        spe.compute(&Copy(UNWRITTEN, DATA)).await;
        Ok(())
    });
    assert_eq!(right, "");
}

#[test]
fn what_the_loader_fills_with_zeros_is_written_and_nothing_beside_it() {
    let read = |at: LocalAddress| {
        let blade = blade();
        let image = SpeImage {
            name: "toy",
            code: Bytes(0x4000),
            data: Vec::new(),
            buffers: Bytes(0x10000),
            zeros: vec![(UNWRITTEN, Bytes(32))],
            stack: Bytes(0),
        };
        blade.create_contexts(&image).unwrap();
        let spe = blade.spe(2).clone();
        spe.store.borrow_mut().store(UNWRITTEN, Quadword::splat(7));
        start(&blade, async move {
            spe.sim.sleep(SimSpan::from_seconds(Seconds(1.0))).await;
            spe.read(at, Bytes(16)).map(|found| assert_eq!(found, [Quadword::ZERO]))
        });
        blade.run().map_or_else(|error| error.to_string(), |_| String::new())
    };
    assert_eq!(read(UNWRITTEN), "");
    assert_eq!(read(UNWRITTEN.offset(Bytes(16))), "");
    let who = "SPE 2, the program, at 1000000.0000 ";
    check_found(&read(UNWRITTEN.offset(Bytes(32))), "0x8020 to 0x802f of SPE 2", who);
    check_found(&read(LocalAddress(0x7FF0)), "0x7ff0 to 0x7fff of SPE 2", who);
}

/// Adds the quadwords at two addresses into the second.
struct Add(u32, u32);

impl Kernel for Add {
    type Output = ();
    fn shape(&self) -> Shape {
        Shape::new("add", 0)
    }
    #[inline(always)]
    fn run<S: Spu>(&self, spu: &mut S) {
        let (first, second) = (spu.lqa(LocalAddress(self.0)), spu.lqa(LocalAddress(self.1)));
        let sum = spu.a(first, second);
        spu.stqa(sum, LocalAddress(self.1));
    }
}

fn get_at(local: u32, from: EffectiveAddress, bytes: u64, tag: u8) -> Command {
    Command::new(Direction::Get, LocalAddress(local), from, Bytes(bytes), tag)
}

fn put_at(local: u32, to: EffectiveAddress, bytes: u64, tag: u8) -> Command {
    Command { direction: Direction::Put, ..get_at(local, to, bytes, tag) }
}

/// Asserts what is reported of one SPE's program, to the letter; nothing where it is right.
#[track_caller]
fn check_alone(
    hazard: &str,
    program: impl AsyncFnOnce(Spe, EffectiveAddress) -> Result<()> + 'static,
) {
    assert_eq!(of_spes(|spe, from| program(spe, from), nothing), hazard);
}

#[test]
fn a_kernel_that_reads_what_a_get_may_still_write_is_found() {
    check_alone(
        "hazard at local store 0x1000 to 0x100f of SPE 0: SPE 0, kernel add, at 0.0031 us, reads it; \
         unordered with SPE 0, Get of 128 bytes, local store 0x01000, effective address 0x0, tag 3, \
         given at 0.0031 us, writes it",
        async |spe, from| {
            spe.mfc.enqueue(get_at(0x1000, from, 128, 3)).await?;
            spe.compute(&Add(0x1000, 0x2000)).await;
            Ok(())
        },
    );
}

#[test]
fn a_kernel_that_overwrites_what_a_put_may_still_read_is_found_even_if_it_has_ended() {
    check_alone(
        "hazard at local store 0x1040 to 0x104f of SPE 0: SPE 0, kernel add, at 312.5031 us, writes it; \
         unordered with SPE 0, Put of 128 bytes, local store 0x01000, effective address 0x0, tag 3, \
         given at 0.0031 us, reads it",
        async |spe, from| {
            spe.mfc.enqueue(put_at(0x1000, from, 128, 3)).await?;
            spe.spend(Cycles(1_000_000)).await;
            spe.compute(&Add(0x2000, 0x1040)).await;
            Ok(())
        },
    );
}

#[test]
fn two_gets_into_one_buffer_are_found() {
    check_alone(
        "hazard at local store 0x1040 to 0x107f of SPE 0: SPE 0, Get of 64 bytes, local store 0x01040, \
         effective address 0x80, tag 1, given at 0.0062 us, writes it; unordered with SPE 0, Get of \
         128 bytes, local store 0x01000, effective address 0x0, tag 0, given at 0.0031 us, writes it",
        async |spe, from| {
            spe.mfc.enqueue(get_at(0x1000, from, 128, 0)).await?;
            spe.mfc.enqueue(get_at(0x1040, from.offset(128), 64, 1)).await
        },
    );
}

#[test]
fn a_get_of_what_a_put_may_still_write_outside_is_found() {
    check_alone(
        "hazard at effective address 0x10 to 0x1f: SPE 0, Get of 16 bytes, local store 0x02000, \
         effective address 0x10, tag 1, given at 0.0062 us, reads it; unordered with SPE 0, Putl of \
         1 elements at 0x00080, local store 0x01000, tag 0, given at 0.0031 us, writes it",
        async |spe, from| {
            let element = ListElement::new(from, Bytes(128), AfterElement::Continue);
            let list = LocalAddress(0x80);
            write_list(&mut spe.store.borrow_mut(), list, &[element]);
            let (direction, local) = (Direction::Put, LocalAddress(0x1000));
            let (elements, high, order) = (1, from, Order::Free);
            let command = ListCommand { direction, local, list, elements, high, tag: 0, order };
            spe.mfc.enqueue_list(command).await?;
            spe.mfc.enqueue(get_at(0x2000, from.offset(16), 16, 1)).await
        },
    );
}

#[test]
fn the_program_outside_its_kernels_is_watched_too() {
    check_alone(
        "hazard at local store 0x1000 to 0x100f of SPE 0: SPE 0, the program, at 0.0031 us, writes it; \
         unordered with SPE 0, Put of 16 bytes, local store 0x01000, effective address 0x0, tag 0, \
         given at 0.0031 us, reads it",
        async |spe, from| {
            spe.mfc.enqueue(put_at(0x1000, from, 16, 0)).await?;
            spe.read(LocalAddress(0x1000), Bytes(16))?;
            spe.write(LocalAddress(0x1000), &[Quadword::ZERO])
        },
    );
}

#[test]
fn who_waits_or_orders_has_no_hazard() {
    check_alone("", async |spe, from| {
        let mfc = &spe.mfc;
        // Reading what a put reads is none.
        mfc.enqueue(put_at(0x1000, from, 128, 0)).await?;
        spe.compute(&Add(0x1000, 0x2000)).await;
        // A fence orders a get after the put, and a look that finds the group complete is as good
        // as a wait.
        mfc.enqueue(get_at(0x1000, from, 128, 0).ordered(Order::Fence)).await?;
        while mfc.status(1).await == 0 {}
        spe.compute(&Add(0x2000, 0x1000)).await;
        // A barrier holds for all that come later, the barrier command for all groups.
        mfc.enqueue(get_at(0x1000, from, 128, 0).ordered(Order::Barrier)).await?;
        mfc.enqueue(put_at(0x1000, from, 128, 0)).await?;
        mfc.barrier(0).await?;
        mfc.enqueue(get_at(0x1000, from, 128, 9)).await?;
        mfc.wait_for_all(0b10_0000_0001).await;
        // Those of a tag group are kept in order by an mfcsync, or a barrier elsewhere, between them.
        mfc.enqueue(put_at(0x1000, from, 128, 0)).await?;
        mfc.mfcsync(0).await?;
        mfc.enqueue(put_at(0x1000, from, 128, 0)).await?;
        mfc.enqueue(get_at(0x2000, from.offset(128), 128, 0).ordered(Order::Barrier)).await?;
        mfc.enqueue(get_at(0x1000, from, 128, 0)).await?;
        mfc.wait_for(0).await;
        Ok(())
    });
}

#[test]
fn a_fence_orders_nothing_that_comes_later() {
    check_alone(
        "hazard at local store 0x1000 to 0x107f of SPE 0: SPE 0, Put of 128 bytes, local store 0x01000, \
         effective address 0x0, tag 0, given at 0.0062 us, reads it; unordered with SPE 0, Getf of \
         128 bytes, local store 0x01000, effective address 0x0, tag 0, given at 0.0031 us, writes it",
        async |spe, from| {
            spe.mfc.enqueue(get_at(0x1000, from, 128, 0).ordered(Order::Fence)).await?;
            spe.mfc.enqueue(put_at(0x1000, from, 128, 0)).await
        },
    );
}

#[test]
fn nobody_looks_where_hazards_are_ignored() {
    let blade = blade();
    blade.set_hazards(Hazards::Ignored);
    let (spe, from) = (blade.spe(0).clone(), blade.memory.allocate(0, Bytes(128)));
    start(&blade, async move {
        spe.mfc.enqueue(get_at(0x1000, from, 128, 0)).await?;
        spe.mfc.enqueue(get_at(0x1000, from, 128, 0)).await?;
        spe.compute(&Add(0x1000, 0x2000)).await;
        Ok(())
    });
    blade.run().unwrap();
}
