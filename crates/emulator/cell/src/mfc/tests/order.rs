//! What overtakes what.

use super::*;

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
