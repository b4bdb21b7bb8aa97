//! Lists of transfers.

use super::*;
use crate::event::Events;

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

use AfterElement::{Continue, StallAndNotify};

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
fn check_rule(change: fn(&mut ListCommand), elements: [(u64, u64); 2], start: &str, rule: &str) {
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
        check_rule(change, [(0, 16), (64, 16)], "SPE 2: Getl of ", rule);
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
        check_rule(|_| (), [(0, 16), element], "SPE 2: Get of ", rule);
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
    check_rule(
        |c| c.local = LocalAddress(0x3FFF0),
        [(0, 16), (64, 16)],
        "SPE 2: Get of ",
        "a transfer stays within the local store",
    );
}
