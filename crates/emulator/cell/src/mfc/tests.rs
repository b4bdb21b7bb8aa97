//! Commands as programs give them: on a whole machine, with hazards looked for.

mod atomics;

use std::cell::RefCell;
use std::future::Future;
use std::rc::Rc;

use crate::channel::{Signal, SignalMode};
use crate::event::Events;
use crate::memory::{EffectiveAddress, Memory};
use crate::mfc::*;
use crate::{Blade, KernelTiming, Spe};
use AfterElement::{Continue, StallAndNotify};
use approx::assert_relative_eq;
use mmgp_base::units::{Bytes, Seconds};
use mmgp_machine::Machine;
use mmgp_spu::local_store::LocalAddress;
use mmgp_spu::register::Quadword;

fn blade() -> Blade {
    Blade::new(&Machine::named("qs20").unwrap(), KernelTiming::Cached, 0.0)
}

fn command(direction: Direction, local: u32, effective: EffectiveAddress, bytes: u64) -> Command {
    Command::new(direction, LocalAddress(local), effective, Bytes(bytes), 0)
}

fn get(local: u32, effective: EffectiveAddress, bytes: u64) -> Command {
    command(Direction::Get, local, effective, bytes)
}

fn put(local: u32, effective: EffectiveAddress, bytes: u64) -> Command {
    command(Direction::Put, local, effective, bytes)
}

impl Command {
    fn tagged(self, tag: u8) -> Self {
        Self { tag, ..self }
    }
}

/// Adds a program to an SPE; what it fails with is what the run fails with.
fn spawn<F>(blade: &Blade, spe: u32, program: impl FnOnce(Spe) -> F)
where
    F: Future<Output = Result<()>> + 'static,
{
    let (life, fault) = (program(blade.spe(spe).clone()), blade.fault.clone());
    blade.sim.spawn(format!("SPE {spe}"), async move {
        if let Err(error) = life.await {
            fault.raise(error);
        }
    });
}

/// Runs a program on an SPE of a fresh machine, with 64 KiB of memory of Cell 0; its time \[s\].
fn run<F>(spe: u32, program: impl FnOnce(Spe, Rc<Memory>, EffectiveAddress) -> F) -> Result<f64>
where
    F: Future<Output = Result<()>> + 'static,
{
    let blade = blade();
    let memory = Rc::clone(&blade.memory);
    let from = memory.allocate(0, Bytes(65536));
    spawn(&blade, spe, |spe| program(spe, memory, from));
    blade.run().map(|end| end.seconds().0)
}

/// Time of one transfer from the memory of Cell 0 that the SPE waits for \[s\].
fn blocking(spe: u32, bytes: u64) -> f64 {
    let time = run(spe, |spe, _, from| async move {
        spe.mfc.enqueue(get(0, from, bytes)).await?;
        spe.mfc.wait_for(0).await;
        Ok(())
    });
    time.unwrap()
}

#[test]
fn a_blocking_transfer_takes_what_was_published() {
    // scotts/cellgen linear_model(): 352 ns for 4 KB, 633 for 8 KB, 1171 for 16 KB.
    for (bytes, published) in [(4096, 352e-9), (8192, 633e-9), (16384, 1171e-9)] {
        assert_relative_eq!(blocking(0, bytes), published, max_relative = 0.1);
    }
}

#[test]
fn the_data_arrive_with_the_tag() {
    let program = |spe: Spe, memory: Rc<Memory>, from| async move {
        memory.write(from, (0..8).map(Quadword::splat));
        spe.mfc.enqueue(get(256, from, 128).tagged(3)).await?;
        assert_eq!(spe.store.borrow().load(LocalAddress(256 + 112)), Quadword::ZERO);
        spe.mfc.wait_for(3).await;
        assert_eq!(spe.store.borrow().load(LocalAddress(256 + 112)), Quadword::splat(7));
        spe.mfc.enqueue(put(256 + 112, from, 16).tagged(4)).await?;
        spe.mfc.wait_for(4).await;
        assert_eq!(memory.read(from), Quadword::splat(7));
        Ok(())
    };
    run(0, program).unwrap();
}

#[test]
fn the_seventeenth_command_waits_for_a_place() {
    let alone = blocking(0, 16384);
    let program = move |spe: Spe, _, from| async move {
        spe.mfc.enqueue(get(0, from, 16384)).await?;
        for number in 1..16 {
            spe.mfc.enqueue(get(16384 + 16 * number, from, 16)).await?;
        }
        // Sixteen issues of 10 cycles at 3.2 GHz.
        assert_relative_eq!(spe.sim.now().seconds().0, 50e-9, max_relative = 1e-9);
        spe.mfc.enqueue(get(0x20000, from, 16)).await?;
        // When the first is complete, which a program that waits for it learns by one channel
        // access of 6 cycles.
        let first = alone - 6.0 / 3.2e9;
        assert_relative_eq!(spe.sim.now().seconds().0, first, max_relative = 1e-9);
        spe.mfc.wait_for(0).await;
        Ok(())
    };
    run(0, program).unwrap();
}

#[test]
fn a_program_can_wait_for_any_or_all_tag_groups_or_look() {
    let program = |spe: Spe, _, from: EffectiveAddress| async move {
        let mfc = &spe.mfc;
        mfc.enqueue(get(0x8000, from.offset(32768), 16).tagged(2)).await?;
        spe.zero(LocalAddress(0), Bytes(16384));
        mfc.enqueue(put(0, from, 16384).tagged(1)).await?;
        assert_eq!(mfc.status(0b110).await, 0);
        assert_eq!(mfc.status(0b1110).await, 0b1000, "an empty group is complete");
        assert_eq!(mfc.wait_for_any(0b110).await, 0b100);
        mfc.wait_for_all(0b110).await;
        assert_eq!(mfc.wait_for_any(0b110).await, 0b110);
        assert_eq!(mfc.wait_for_any(0).await, 0);
        Ok(())
    };
    run(0, program).unwrap();
}

#[test]
fn the_proxy_queue_has_eight_places_and_tag_groups_of_its_own() {
    let blade = blade();
    let from = blade.memory.allocate(0, Bytes(65536));
    blade.memory.write(from, [Quadword::splat(9)]);
    let (process, spe) = (blade.host_process(0), blade.spe(1).clone());
    let issued = Rc::new(RefCell::new(Vec::new()));
    let seen = Rc::clone(&issued);
    blade.sim.spawn("rank 0", async move {
        for number in 0..9 {
            let to = 16384 * (number % 2) + 1024 * number;
            spe.mfc.proxy().enqueue(get(to, from, 1024).tagged(number as u8)).await.unwrap();
            seen.borrow_mut().push(spe.sim.now().seconds().0);
        }
        assert_eq!(spe.mfc.status(0x1FF).await, 0x1FF, "the SPU has no pending command");
        let before = spe.sim.now();
        for tag in 0..9 {
            spe.mfc.proxy().wait_for(tag).await;
        }
        assert!(spe.sim.now() > before, "but the PPE has");
        assert_eq!(spe.store.borrow().load(LocalAddress(0)), Quadword::splat(9));
        // Three stores of 100 ns and a load of 150 ns before the command is on its way.
        let before = spe.sim.now().seconds().0;
        process.enqueue(&spe, get(0, from, 16)).await.unwrap();
        assert_relative_eq!(spe.sim.now().seconds().0 - before, 450e-9, max_relative = 1e-9);
        spe.mfc.proxy().wait_for(0).await;
    });
    blade.run().unwrap();
    let issued = issued.borrow();
    assert_eq!(issued[7], 0.0);
    assert!(issued[8] > 0.0, "the ninth waits for the first");
}

#[test]
fn signals_of_several_spes_gather_in_or_mode() {
    let blade = blade();
    blade.spe(2).signal(Signal::Two).set_mode(SignalMode::Or);
    for (spe, bit) in [(0, 0b001), (1, 0b100)] {
        spawn(&blade, spe, |spe| async move {
            spe.write(LocalAddress(0x100), &[Quadword::from_words([7, 7, 7, bit])])?;
            let (local, register) = (LocalAddress(0x10C), Signal::Two.address(2));
            let signal = SendSignal { local, register, tag: 5, order: Order::Free };
            spe.mfc.send_signal(signal).await?;
            spe.mfc.wait_for(5).await;
            Ok(())
        });
    }
    spawn(&blade, 2, |spe| async move {
        spe.sim.sleep(mmgp_base::units::SimSpan::from_seconds(Seconds(1e-6))).await;
        assert_eq!(spe.signal(Signal::Two).read().await, 0b101);
        assert_eq!(spe.signal(Signal::One).count().await, 0);
        Ok(())
    });
    blade.run().unwrap();
}

#[test]
fn a_deadlock_names_the_spe_and_what_it_waits_for() {
    let blade = blade();
    spawn(&blade, 3, |spe| async move {
        spe.inbound_mailbox().read().await;
        Ok(())
    });
    spawn(&blade, 4, |spe| async move {
        spe.mfc.stalled_lists().await;
        Ok(())
    });
    assert_eq!(
        blade.run().unwrap_err().to_string(),
        "deadlock at 0.000 s: SPE 3 waits for its inbound mailbox; \
         SPE 4 waits for the stall of a DMA list"
    );
}

/// The error of a transfer that is right but for one thing.
#[track_caller]
fn check_rule(change: fn(&mut Command), rule: &str) {
    let program = |spe: Spe, _, from| async move {
        let mut command = get(0, from, 32);
        change(&mut command);
        spe.mfc.enqueue(command).await
    };
    let text = run(2, program).map_or_else(|error| error.to_string(), |_| "accepted".into());
    assert!(text.starts_with("SPE 2: Get of "), "{text}");
    assert!(text.ends_with(rule), "{text}");
}

#[test]
fn each_broken_rule_names_spe_command_and_rule() {
    check_rule(|c| c.bytes = Bytes(24), "a transfer is 1, 2, 4, 8 or a multiple of 16 bytes");
    check_rule(|c| c.bytes = Bytes(0), "a transfer is 1, 2, 4, 8 or a multiple of 16 bytes");
    check_rule(|c| c.bytes = Bytes(16400), "a transfer is at most 16384 bytes");
    check_rule(|c| c.local = LocalAddress(8), "both addresses are multiples of 16");
    check_rule(
        |c| (c.bytes, c.local) = (Bytes(4), LocalAddress(8)),
        "a small transfer is naturally aligned, at the same offset in a quadword on both sides",
    );
    check_rule(|c| c.local = LocalAddress(262_128), "a transfer stays within the local store");
    check_rule(|c| c.effective = EffectiveAddress(1 << 39), "the effective address is mapped");
    check_rule(|c| c.effective = c.effective.offset(65536), "the effective address is mapped");
    check_rule(
        |c| c.effective = EffectiveAddress::problem_state(1, 0),
        "the effective address is mapped",
    );
    check_rule(|c| c.tag = 32, "a tag is below 32");
}

#[track_caller]
fn check_signal_rule(change: fn(&mut SendSignal), rule: &str) {
    let program = |spe: Spe, _, _| async move {
        let (local, register) = (LocalAddress(0xC), Signal::One.address(3));
        let mut signal = SendSignal { local, register, tag: 0, order: Order::Fence };
        change(&mut signal);
        spe.mfc.send_signal(signal).await
    };
    let text = run(2, program).map_or_else(|error| error.to_string(), |_| "accepted".into());
    assert!(text.starts_with("SPE 2: Sndsigf of the word at 0x"), "{text}");
    assert!(text.ends_with(rule), "{text}");
}

#[test]
fn each_rule_of_a_signal_is_asked_for() {
    let not_a_register = "the effective address is that of a signal-notification register";
    check_signal_rule(|s| s.register = EffectiveAddress(0), not_a_register);
    check_signal_rule(|s| s.register = Signal::One.address(16), not_a_register);
    check_signal_rule(
        |s| s.local = LocalAddress(0x8),
        "the word is at the register's offset in a quadword",
    );
    check_signal_rule(|s| s.local = LocalAddress(0x4000C), "a word lies within the local store");
    check_signal_rule(|s| s.tag = 40, "a tag is below 32");
}

#[test]
fn commands_without_addresses_have_a_tag_below_32_too() {
    let check = |text: Result<f64>, expected: &str| {
        let text = text.map_or_else(|error| error.to_string(), |_| "accepted".into());
        assert!(text.starts_with(expected) && text.ends_with("a tag is below 32"), "{text}");
    };
    check(run(2, |spe, _, _| async move { spe.mfc.barrier(32).await }), "SPE 2: Barrier, tag 32");
    check(run(2, |spe, _, _| async move { spe.mfc.mfcsync(32).await }), "SPE 2: Mfcsync, tag 32");
}

#[test]
fn every_command_is_counted_and_so_is_what_is_counted_by_hand() {
    let program = |spe: Spe, _, from| async move {
        for commands in 1..=3 {
            spe.mfc.enqueue(get(0, from, 16)).await?;
            spe.mfc.wait_for(0).await;
            assert_eq!(spe.mfc.commands(), commands);
        }
        spe.mfc.count(5);
        assert_eq!(spe.mfc.commands(), 8);
        Ok(())
    };
    run(0, program).unwrap();
}

#[test]
fn a_trace_calls_commands_as_the_manual_does() {
    use crate::command::MfcOperation;
    let memory = EffectiveAddress(0);
    for (command, name) in [(get(0, memory, 16), "get"), (put(0, memory, 16), "put")] {
        assert_eq!(MfcOperation::Transfer(command).name(), name);
        assert_eq!(MfcOperation::Moved(command).name(), name);
    }
    let (local, register) = (LocalAddress(0xC), Signal::One.address(3));
    let signal = SendSignal { local, register, tag: 0, order: Order::Fence };
    assert_eq!(MfcOperation::SendSignal(signal).name(), "sndsig");
    assert_eq!(MfcOperation::Barrier.name(), "barrier");
    assert_eq!(MfcOperation::Synchronise.name(), "mfcsync");
}

#[test]
fn many_readers_share_the_memory_at_its_published_rate() {
    let blade = blade();
    let (readers, rounds) = (6, 100);
    for spe in 0..readers {
        let from = blade.memory.allocate(0, Bytes(16384));
        spawn(&blade, spe, |spe| async move {
            for round in 0..rounds {
                let set = round % 2;
                let command = get(16384 * set, from, 16384).tagged(set as u8);
                spe.mfc.enqueue(command).await?;
                spe.mfc.wait_for(1 - set as u8).await;
            }
            spe.mfc.wait_for_all(0b11).await;
            Ok(())
        });
    }
    let Seconds(time) = blade.run().unwrap().seconds();
    let rate = 16384.0 * f64::from(readers) * f64::from(rounds) / time;
    // cellmark: six SPEs.
    assert_relative_eq!(rate, 22.83e9, max_relative = 0.02);
}

/// What ends up in memory where a program puts 16 KB out of a buffer and, without waiting, gets new
/// data into the end of that buffer, while another put is still moving.
fn what_is_put(
    enqueue: impl AsyncFnOnce(&Spe, Command, Command) -> Result<()> + 'static,
) -> Quadword {
    let blade = blade();
    // The program has a hazard where nothing orders the two.
    blade.set_hazards(Hazards::Ignored);
    let memory = Rc::clone(&blade.memory);
    let (out, fresh) = (memory.allocate(0, Bytes(32768)), memory.allocate(0, Bytes(16)));
    memory.write(fresh, [Quadword::splat(2)]);
    spawn(&blade, 0, |spe| async move {
        spe.write(LocalAddress(16368), &[Quadword::splat(OLD)])?;
        let (first, second) = (put(0, out, 16384).tagged(1), get(16368, fresh, 16).tagged(1));
        spe.mfc.enqueue(put(0x8000, out.offset(16384), 16384).tagged(3)).await?;
        enqueue(&spe, first, second).await?;
        spe.mfc.wait_for_all(0b110).await;
        assert_eq!(spe.read(LocalAddress(16368), Bytes(16))?, [Quadword::splat(2)]);
        Ok(())
    });
    blade.run().unwrap();
    memory.read(out.offset(16368))
}

/// Asserts that the old data are put, or that the get overtakes the put.
#[track_caller]
fn check(
    name: &str,
    in_order: u32,
    enqueue: impl AsyncFnOnce(&Spe, Command, Command) -> Result<()> + 'static,
) {
    assert_eq!(what_is_put(enqueue), Quadword::splat(in_order), "{name}");
}

const OLD: u32 = 1;
const OVERTAKEN: u32 = 2;

async fn both(spe: &Spe, first: Command, second: Command) -> Result<()> {
    spe.mfc.enqueue(first).await?;
    spe.mfc.enqueue(second).await
}

#[test]
fn a_get_overtakes_a_put_of_its_tag_group_unless_a_fence_or_a_barrier_is_between() {
    check("get", OVERTAKEN, async |spe, put, get| both(spe, put, get).await);
    check("getf", OLD, async |spe, put, get| both(spe, put, get.ordered(Order::Fence)).await);
    check("getb", OLD, async |spe, put, get| both(spe, put, get.ordered(Order::Barrier)).await);
    check("putb", OLD, async |spe, put, get| both(spe, put.ordered(Order::Barrier), get).await);
    // A fence orders a command after earlier ones only.
    check("putf", OVERTAKEN, async |spe, put, get| both(spe, put.ordered(Order::Fence), get).await);
}

#[test]
fn fences_and_barriers_hold_within_a_tag_group_and_the_barrier_command_across() {
    let fenced = |get: Command| get.ordered(Order::Fence).tagged(2);
    check("another group", OVERTAKEN, async move |spe, put, get| both(spe, put, fenced(get)).await);
    check("barrier", OLD, async |spe, put, get| {
        spe.mfc.enqueue(put).await?;
        spe.mfc.barrier(0).await?;
        spe.mfc.enqueue(get.tagged(2)).await
    });
    check("mfcsync", OLD, async |spe, put, get| {
        spe.mfc.enqueue(put).await?;
        spe.mfc.mfcsync(1).await?;
        spe.mfc.enqueue(get).await
    });
    check("mfcsync, another group", OVERTAKEN, async |spe, put, get| {
        spe.mfc.enqueue(put).await?;
        spe.mfc.mfcsync(1).await?;
        spe.mfc.enqueue(get.tagged(2)).await
    });
}

#[test]
fn a_command_that_waits_for_a_fence_is_overtaken_by_other_groups() {
    let program = |spe: Spe, _, from: EffectiveAddress| async move {
        let mfc = &spe.mfc;
        spe.zero(LocalAddress(0), Bytes(16384));
        mfc.enqueue(put(0, from, 16384).tagged(1)).await?;
        mfc.enqueue(get(0, from, 16).tagged(1).ordered(Order::Fence)).await?;
        mfc.enqueue(get(32768, from.offset(32768), 16).tagged(2)).await?;
        assert_eq!(mfc.wait_for_any(0b110).await, 0b100);
        mfc.wait_for(1).await;
        Ok(())
    };
    run(0, program).unwrap();
}

#[test]
fn commands_that_waited_begin_in_the_order_of_the_queue() {
    let blade = blade();
    // Several puts to one address without order among them: whoever comes last is found there.
    blade.set_hazards(Hazards::Ignored);
    let memory = Rc::clone(&blade.memory);
    let at = memory.allocate(0, Bytes(65536));
    spawn(&blade, 0, |spe| async move {
        for value in 1..4 {
            spe.write(LocalAddress(16 * value), &[Quadword::splat(value)])?;
        }
        let mfc = &spe.mfc;
        let value = |value: u32| put(16 * value, at, 16).tagged(1);
        // The first two places are free again when the last two commands enter, so the later
        // commands have the lower places. All wait for one barrier, and then nothing.
        mfc.enqueue(get(1024, at, 16).tagged(3)).await?;
        mfc.enqueue(get(2048, at, 16).tagged(3)).await?;
        let barrier = put(16384, at.offset(16384), 16384).tagged(1).ordered(Order::Barrier);
        mfc.enqueue(barrier).await?;
        mfc.enqueue(value(1)).await?;
        mfc.wait_for(3).await;
        mfc.enqueue(value(2)).await?;
        mfc.enqueue(value(3)).await?;
        mfc.wait_for(1).await;
        Ok(())
    });
    blade.run().unwrap();
    assert_eq!(memory.read(at), Quadword::splat(3));
}

#[test]
fn every_tag_group_and_the_free_places_raise_events() {
    use crate::event::Events;
    let program = |spe: Spe, _, from| async move {
        spe.events().enable(Events::TAG_STATUS | Events::QUEUE_AVAILABLE).await;
        for number in 0..16 {
            spe.mfc.enqueue(get(16 * number, from, 16).tagged(number as u8)).await?;
        }
        assert_eq!(spe.events().wait().await, Events::TAG_STATUS | Events::QUEUE_AVAILABLE);
        spe.mfc.wait_for_all(0xFFFF).await;
        Ok(())
    };
    run(0, program).unwrap();
}

const LIST: LocalAddress = LocalAddress(0x30008);

/// A list of so many bytes from each of some offsets to `from`, into local store 0x1000.
fn list(spe: &Spe, from: EffectiveAddress, elements: &[(u64, u64, AfterElement)]) -> ListCommand {
    let elements: Vec<ListElement> = elements
        .iter()
        .map(|&(offset, bytes, after)| ListElement::new(from.offset(offset), Bytes(bytes), after))
        .collect();
    write_list(&mut spe.store.borrow_mut(), LIST, &elements);
    ListCommand {
        direction: Direction::Get,
        local: LocalAddress(0x1000),
        list: LIST,
        elements: elements.len() as u32,
        high: from,
        tag: 7,
        order: Order::Free,
    }
}

#[test]
fn a_list_gathers_what_lies_scattered_and_scatters_it_again() {
    let program = |spe: Spe, memory: Rc<Memory>, from: EffectiveAddress| async move {
        memory.write(from, (0..64).map(Quadword::splat));
        let elements = [(16 * 40, 16, Continue), (16 * 3, 32, Continue), (16 * 9 + 4, 4, Continue)];
        let gather = list(&spe, from, &elements);
        spe.mfc.enqueue_list(gather).await?;
        spe.mfc.wait_for(7).await;
        let found = spe.read(LocalAddress(0x1000), Bytes(64))?;
        let last = Quadword::from_words([0, 9, 0, 0]);
        assert_eq!(found, [Quadword::splat(40), Quadword::splat(3), Quadword::splat(4), last]);
        let scatter =
            ListCommand { direction: Direction::Put, ..list(&spe, from.offset(1024), &elements) };
        spe.mfc.enqueue_list(scatter).await?;
        spe.mfc.wait_for(7).await;
        assert_eq!(memory.read(from.offset(1024 + 16 * 40)), Quadword::splat(40));
        assert_eq!(memory.read(from.offset(1024 + 16 * 9)), last);
        Ok(())
    };
    run(0, program).unwrap();
}

/// Time of a list of so many quadwords, each from a line of its own, that the SPE waits for \[s\].
fn time_of(elements: u64) -> f64 {
    let program = |spe: Spe, _, from| async move {
        let elements: Vec<_> = (0..elements).map(|n| (128 * n, 16, Continue)).collect();
        spe.mfc.enqueue_list(list(&spe, from, &elements)).await?;
        spe.mfc.wait_for(7).await;
        Ok(())
    };
    run(0, program).unwrap()
}

#[test]
fn a_list_of_one_costs_its_fetch_more_than_a_transfer() {
    // 10 cycles at 3.2 GHz.
    assert_relative_eq!(time_of(1) - blocking(0, 16), 3.125e-9, max_relative = 1e-6);
}

#[test]
fn short_elements_move_at_less_than_the_rate_of_whole_lines() {
    // Each takes a whole line of the bus: 8 times the time of 16 bytes within a line.
    let each = (time_of(257) - time_of(1)) / 256.0;
    let streamed = 16.0 * (blocking(0, 16384) - blocking(0, 8192)) / 8192.0;
    assert!((7.0..9.0).contains(&(each / streamed)), "{each} against {streamed}");
    assert!(each >= 3.12499e-9, "{each} is less than the fetch of an element, 10 cycles");
}

/// Time of an element of a long list whose elements are these lines over and over \[s\].
fn time_of_each(lines: &'static [u64]) -> f64 {
    let time = |elements: usize| {
        let program = move |spe: Spe, _, from| async move {
            let lines = lines.iter().cycle().take(elements);
            let elements: Vec<_> = lines.map(|line| (128 * line, 16, Continue)).collect();
            spe.mfc.enqueue_list(list(&spe, from, &elements)).await?;
            spe.mfc.wait_for(7).await;
            Ok(())
        };
        run(0, program).unwrap()
    };
    (time(1032) - time(520)) / 512.0
}

#[test]
fn elements_wait_for_their_banks_together_and_each_bank_does_one_at_a_time() {
    // All in one of the 16 banks: a cycle of 50 ns each.
    assert_relative_eq!(time_of_each(&[0, 16]), 50e-9, max_relative = 1e-3);
    // In two of them: their cycles overlap, though four are in one before the next four ask the other.
    assert_relative_eq!(time_of_each(&[0, 8]), 25e-9, max_relative = 1e-3);
    assert_relative_eq!(time_of_each(&[0, 16, 32, 48, 8, 24, 40, 56]), 25e-9, max_relative = 1e-3);
}

#[test]
fn a_list_stalls_until_it_is_acknowledged_and_goes_on_as_it_is_then() {
    let program = |spe: Spe, memory: Rc<Memory>, from: EffectiveAddress| async move {
        memory.write(from, (0..64).map(Quadword::splat));
        spe.events().enable(Events::LIST_STALL).await;
        let elements = [(16, 16, Continue), (32, 16, StallAndNotify), (48, 16, Continue)];
        spe.mfc.enqueue_list(list(&spe, from, &elements)).await?;
        assert_eq!(spe.events().wait().await, Events::LIST_STALL);
        assert_eq!(spe.mfc.stalled_lists().await, 1 << 7);
        // Another command of its lane goes on meanwhile.
        spe.mfc.enqueue(get(0x4000, from, 16)).await?;
        spe.mfc.wait_for(0).await;
        assert_eq!(spe.mfc.status(1 << 7).await, 0);
        assert_eq!(spe.store.borrow().load(LocalAddress(0x1010)), Quadword::splat(2));
        list(&spe, from, &[(0, 16, Continue), (0, 16, Continue), (16 * 60, 16, Continue)]);
        spe.mfc.acknowledge_stall(6).await;
        spe.spend(mmgp_base::units::Cycles(10_000)).await;
        assert_eq!(spe.mfc.status(1 << 7).await, 0, "it is stalled in another tag group");
        spe.mfc.acknowledge_stall(7).await;
        let acknowledged = spe.sim.now().seconds();
        spe.mfc.wait_for(7).await;
        // The element that is left is fetched and moved from then on, as if it were the only one; that
        // would have taken 10 cycles at 3.2 GHz to be given.
        let taken = spe.sim.now().seconds() - acknowledged;
        assert_relative_eq!(taken.0, time_of(1) - 3.125e-9, max_relative = 1e-6);
        let found = spe.read(LocalAddress(0x1000), Bytes(48))?;
        assert_eq!(found, [1, 2, 60].map(Quadword::splat));
        Ok(())
    };
    run(0, program).unwrap();
}

/// The error of a list of two elements that is right but for one thing.
#[track_caller]
fn check_list_rule(
    change: fn(&mut ListCommand),
    elements: [(u64, u64); 2],
    start: &str,
    rule: &str,
) {
    let program = |spe: Spe, _, from| async move {
        let mut command = list(&spe, from, &elements.map(|(at, bytes)| (at, bytes, Continue)));
        change(&mut command);
        spe.mfc.enqueue_list(command).await?;
        spe.mfc.wait_for(7).await;
        Ok(())
    };
    let text = run(2, program).map_or_else(|error| error.to_string(), |_| "accepted".into());
    assert!(text.starts_with(start) && text.ends_with(rule), "{text}");
}

#[test]
fn each_rule_of_a_list_is_asked_for() {
    let check = |change: fn(&mut ListCommand), rule: &str| {
        check_list_rule(change, [(0, 16), (64, 16)], "SPE 2: Getl of ", rule);
    };
    check(|c| c.elements = 0, "a list has 1 to 2048 elements");
    check(|c| c.elements = 2049, "a list has 1 to 2048 elements");
    check(|c| c.list = LocalAddress(0x3000C), "a list begins at a multiple of 8");
    let within = "a list and its data stay within the local store";
    check(|c| c.list = LocalAddress(0x3FFF8), within);
    check(|c| c.local = LocalAddress(0x40000), within);
    check(|c| c.tag = 32, "a tag is below 32");
}

#[test]
fn each_element_keeps_to_the_rules_of_a_transfer() {
    let check = |element: (u64, u64), rule: &str| {
        check_list_rule(|_| (), [(0, 16), element], "SPE 2: Get of ", rule);
    };
    check((64, 24), "a transfer is 1, 2, 4, 8 or a multiple of 16 bytes");
    check((64, 16400), "a transfer is at most 16384 bytes");
    check((72, 16), "both addresses are multiples of 16");
    check(
        (66, 4),
        "a small transfer is naturally aligned, at the same offset in a quadword on both sides",
    );
    check((65536, 16), "the effective address is mapped");
    check((0xFFFF_FFF0, 32), "a list element does not cross a multiple of 4 GB");
    check_list_rule(
        |c| c.local = LocalAddress(0x3FFF0),
        [(0, 16), (64, 16)],
        "SPE 2: Get of ",
        "a transfer stays within the local store",
    );
}
