//! What programs on SPEs and the host do by themselves, beneath off-loads: SPE 0 fetches what lies
//! scattered and sends it to SPE 1, both count on a lock line, and the host takes part.

use std::future::Future;

use mmgp_base::error::Result;
use mmgp_base::units::{Bytes, Cycles};
use mmgp_cell::channel::{Signal, SignalMode};
use mmgp_cell::event::Events;
use mmgp_cell::mfc::*;
use mmgp_cell::{Blade, EffectiveAddress, HostProcess, KernelTiming, Spe};
use mmgp_machine::Machine;
use mmgp_spu::{LocalAddress, Quadword};

// Where things lie in a local store.
const LIST: LocalAddress = LocalAddress(0x100);
const WORDS: LocalAddress = LocalAddress(0x200);
const LINE: LocalAddress = LocalAddress(0x280);
const DATA: LocalAddress = LocalAddress(0x1000);
const PARAMETERS: LocalAddress = LocalAddress(0x2000);
const BLOCK: LocalAddress = LocalAddress(0x8000);

/// Addresses in main memory.
#[derive(Clone, Copy)]
struct Places {
    scattered: EffectiveAddress,
    parameters: EffectiveAddress,
    result: EffectiveAddress,
    count: EffectiveAddress,
    done: EffectiveAddress,
}

/// SPE 0: fetches, sends, stores.
async fn producer(spe: Spe, at: Places) -> Result<()> {
    let mfc = &spe.mfc;
    // A list gathers three quadwords that lie a kilobyte apart. After the second one it stalls.
    let element =
        |number: u64, after| ListElement::new(at.scattered.offset(1024 * number), Bytes(16), after);
    let stalling = element(1, AfterElement::StallAndNotify);
    let elements =
        [element(0, AfterElement::Continue), stalling, element(2, AfterElement::Continue)];
    write_list(&mut spe.store.borrow_mut(), LIST, &elements);
    let (direction, high, order) = (Direction::Get, at.scattered, Order::Free);
    let list = ListCommand { direction, local: DATA, list: LIST, elements: 3, high, tag: 1, order };
    spe.events().enable(Events::LIST_STALL).await;
    mfc.enqueue_list(list).await?;
    mfc.enqueue(Command::new(direction, BLOCK, at.scattered, Bytes(16384), 2)).await?;
    assert_eq!(spe.events().wait().await, Events::LIST_STALL);
    spe.events().acknowledge(Events::LIST_STALL).await;
    assert_eq!(spe.events().poll().await, Events::NONE);
    assert_eq!(mfc.stalled_lists().await, 1 << 1);
    mfc.acknowledge_stall(1).await;
    // While the list was stalled, the block began to move; any of the two tags ends this wait.
    assert_eq!(mfc.wait_for_any(0b110).await, 0b100);
    mfc.wait_for_all(0b110).await;

    // A message: the data, and a signal that the fence keeps behind them.
    let there = EffectiveAddress::local_store(1, DATA);
    mfc.enqueue(Command::new(Direction::Put, DATA, there, Bytes(48), 3)).await?;
    spe.write(WORDS, &[Quadword::from_words([0, 0, 0, 0b10])])?;
    for register in Signal::ALL.map(|signal| signal.address(1)) {
        let local = WORDS.offset(Bytes(12));
        mfc.send_signal(SendSignal { local, register, tag: 3, order: Order::Fence }).await?;
    }
    mfc.wait_for(3).await;
    add_one(&spe, at.count).await?;

    // Results: a fence keeps the get that fills the buffer anew behind the put out of it, and mfcsync
    // the second put behind both. The line that tells of the results comes last.
    let put = |bytes| Command::new(Direction::Put, DATA, at.result, bytes, 4);
    mfc.enqueue(put(Bytes(48))).await?;
    let refill = Command::new(Direction::Get, DATA, at.parameters, Bytes(16), 4);
    mfc.enqueue(refill.ordered(Order::Fence)).await?;
    mfc.mfcsync(4).await?;
    mfc.enqueue(put(Bytes(16))).await?;
    mfc.barrier(5).await?;
    spe.write(LINE, &[Quadword::splat(1)])?;
    mfc.putqlluc(LockLine { local: LINE, effective: at.done }, 6).await?;
    mfc.wait_for_all(0b111 << 4).await;
    spe.interrupt_mailbox().write(7).await;
    Ok(())
}

/// SPE 1: is told of the message by an event.
async fn consumer(spe: Spe, at: Places) -> Result<()> {
    spe.decrementer().write(1000).await;
    spe.events().enable(Events::SIGNAL_1 | Events::DECREMENTER).await;
    assert_eq!(spe.events().wait().await, Events::SIGNAL_1);
    let [one, two] = Signal::ALL.map(|signal| spe.signal(signal));
    assert_eq!((one.count().await, one.read().await), (1, 0b10));
    assert_eq!(spe.read(DATA, Bytes(48))?, [0, 1, 2].map(Quadword::splat));
    // The decrementer goes down by one in 70 ns.
    let ticks = 1000 - spe.decrementer().read().await;
    assert!((15..40).contains(&ticks), "{ticks} ticks until the message");
    add_one(&spe, at.count).await?;
    // Each of two senders sets a bit of its own in the second register.
    let mut bits = 0;
    while bits != 0b11 {
        bits |= two.read().await;
    }
    // A pause of ten ticks, ended by the decrementer.
    spe.events().enable(Events::DECREMENTER).await;
    spe.decrementer().write(9).await;
    assert_eq!(spe.events().wait().await, Events::DECREMENTER);
    // Looks for a word of the host instead of waiting for it.
    while spe.inbound_mailbox().count().await == 0 {
        spe.spend(Cycles(100)).await;
    }
    let parameters = LocalAddress(spe.inbound_mailbox().read().await);
    assert_eq!(spe.read(parameters, Bytes(16))?, [Quadword::splat(9)]);
    Ok(())
}

/// Adds one to a count that several SPEs share: again, where another one was faster.
async fn add_one(spe: &Spe, count: EffectiveAddress) -> Result<()> {
    let line = LockLine { local: LINE, effective: count };
    loop {
        spe.mfc.getllar(line).await?;
        let count = spe.read(LINE, Bytes(16))?[0].preferred();
        spe.write(LINE, &[Quadword::splat(count + 1)])?;
        if spe.mfc.putllc(line).await? == AtomicStatus::Stored {
            return Ok(());
        }
    }
}

/// The host: a signal, a transfer by the MFC of SPE 1 (proxy), words.
async fn host(process: HostProcess, [first, second]: [Spe; 2], at: Places) -> Result<()> {
    process.resume().await;
    process.signal(&second, Signal::Two, 0b01).await;
    let get = Command::new(Direction::Get, PARAMETERS, at.parameters, Bytes(16), 0);
    process.enqueue(&second, get).await?;
    second.mfc.proxy().wait_for(0).await;
    process.write_mailbox(&second, PARAMETERS.0).await;
    process.release();
    first.interrupt_mailbox().arrival().await;
    process.resume().await;
    assert_eq!(process.read_mailbox(first.interrupt_mailbox()).await, Some(7));
    process.release();
    Ok(())
}

fn main() -> Result<()> {
    let blade = Blade::new(&Machine::named("qs20")?, KernelTiming::Cached, 0.0);
    blade.set_hazards(Hazards::Checked);
    blade.spe(1).signal(Signal::Two).set_mode(SignalMode::Or);
    let memory = blade.memory.clone();
    let scattered = memory.allocate(0, Bytes(16384));
    (0..3).for_each(|n| memory.write(scattered.offset(1024 * n), [Quadword::splat(n as u32)]));
    let [parameters, result, count, done] = [(); 4].map(|()| memory.allocate(0, Bytes(128)));
    memory.write(parameters, [Quadword::splat(9)]);
    let at = Places { scattered, parameters, result, count, done };
    let [first, second] = [0, 1].map(|index| blade.spe(index).clone());
    start(&blade, "SPE 0", producer(first.clone(), at));
    start(&blade, "SPE 1", consumer(second.clone(), at));
    start(&blade, "rank 0", host(blade.host_process(0), [first, second], at));
    blade.run()?;
    let found = [result, result.offset(16), count, done].map(|at| memory.read(at).preferred());
    assert_eq!(found, [9, 1, 2, 1]);
    Ok(())
}

/// A process that ends the run where it fails.
fn start(blade: &Blade, name: &str, life: impl Future<Output = Result<()>> + 'static) {
    let fault = blade.fault();
    blade.sim.spawn(name, async move {
        if let Err(error) = life.await {
            fault.raise(error);
        }
    });
}
