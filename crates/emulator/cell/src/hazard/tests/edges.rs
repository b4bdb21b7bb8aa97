//! What one tells another too early: mailboxes, signals, lock lines, messages.

use super::*;
use crate::mfc::AtomicStatus;

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
