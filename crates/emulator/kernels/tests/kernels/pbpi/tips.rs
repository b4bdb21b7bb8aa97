//! Tips as codes: what their vectors are, and what they take.

use super::*;

/// Codes behind which lies what is no code.
const CODES: LocalAddress = LocalAddress(0xA00);
const TIP_TABLE: LocalAddress = LocalAddress(0x800);

/// The kernel for codes `group` groups behind a quadword's beginning.
fn tip_vectors(version: Version, groups: u32, group: u32) -> TipVectors {
    let codes = CODES.offset(Bytes(4 * u64::from(group)));
    TipVectors { version, groups, codes, tip_table: TIP_TABLE, out: OUT }
}

/// A local store where each byte from [`CODES`] on is `code` of its place.
fn store_of(code: impl Fn(u32) -> u8) -> LocalStore {
    let mut store = LocalStore::new();
    for (at, quadword) in (TIP_TABLE.0..).step_by(16).zip(tip_table()) {
        store.store(LocalAddress(at), quadword);
    }
    for quadword in 0..20 {
        let bytes = std::array::from_fn(|byte| code(16 * quadword + byte as u32));
        store.store(LocalAddress(CODES.0 + 16 * quadword), Quadword::from_bytes(bytes));
    }
    store
}

/// 0 to 15 in an order in which each code comes to each place of a group.
fn code_at(place: u32) -> u8 {
    ((7 * place + place / 16) % 16) as u8
}

#[test]
fn a_tip_has_a_one_for_each_state_that_its_code_allows_and_a_zero_for_each_other() {
    let cases = VERSIONS.into_iter().flat_map(|it| [1, 2, 16, 61].map(|groups| (it, groups)));
    for (version, groups) in cases {
        for first in 0..4 {
            let mut store = store_of(code_at);
            execute(&tip_vectors(version, groups, first), &mut store);
            for pattern in 0..4 * groups {
                let code = code_at(4 * first + pattern);
                let expected = ["A", "C", "G", "T"].iter().zip([1, 2, 4, 8]).map(|(state, bit)| {
                    let allowed = code & bit != 0;
                    (*state, if allowed { 1.0_f64 } else { 0.0 })
                });
                for (entry, (state, expected)) in (4 * pattern..).zip(expected) {
                    let found = double(&store, OUT, entry);
                    assert_eq!(found.to_bits(), expected.to_bits(), "code {code}, {state}");
                }
            }
            assert_eq!(double(&store, OUT, 16 * groups), 0.0, "nothing is written behind");
        }
    }
}

#[test]
fn no_groups_of_a_tip_leave_the_store_as_it_was() {
    for version in VERSIONS {
        let mut store = store_of(code_at);
        execute(&tip_vectors(version, 0, 1), &mut store);
        assert_eq!(store, store_of(code_at));
    }
}

#[test]
fn a_tip_takes_one_time_whatever_its_codes_and_wherever_they_begin() {
    for version in VERSIONS {
        let cycles = |first, store: &mut LocalStore| {
            let kernel = tip_vectors(version, 20, first);
            time(&kernel, store, &cell_be(), kernel.shape().compiler).1.cycles
        };
        let expected = cycles(0, &mut store_of(code_at));
        for first in 0..4 {
            assert_eq!(cycles(first, &mut store_of(|_| 15)), expected, "{version:?}");
        }
    }
}

#[test]
fn a_group_of_a_tip_takes_what_its_loads_and_stores_take_and_the_way_to_their_addresses() {
    let profile = |groups| {
        let kernel = tip_vectors(Version::Tuned, groups, 0);
        time(&kernel, &mut store_of(code_at), &cell_be(), Compiler::LIST_SCHEDULING).1
    };
    let (short, long) = (profile(10), profile(60));
    let each = (long.cycles.0 - short.cycles.0) / 50;
    assert_eq!(long.double_precision(), 0);
    // The odd pipe has one instruction a cycle: the group's codes loaded and rotated, of each pattern
    // a shuffle, two loads and two stores, and the hint and the branch. The shift of each pattern and
    // the three counters of the turn go beside them in the even pipe.
    let odd = 2 + 4 * 5 + 2;
    // The way of the first code: load 6, rotate 4, shuffle 4, shift 4, load 6; then it is stored.
    let way = 6 + 4 + 4 + 4 + 6;
    assert!((odd..=odd + way).contains(&each), "{each} cycles a group");
}

/// A tip in front of a node update gives the bits that its vectors in memory give.
#[test]
fn a_node_over_a_tip_of_codes_is_that_over_its_vectors() {
    let groups = 16;
    for version in VERSIONS {
        let mut from_vectors = random_store(4 * groups);
        let mut from_codes = from_vectors.clone();
        let entries: Vec<f64> = (0..4 * groups)
            .flat_map(|pattern| {
                [1, 2, 4, 8].map(|bit| if code_at(pattern) & bit != 0 { 1.0 } else { 0.0 })
            })
            .collect();
        put(&mut from_vectors, VECTORS[0], &entries);
        let source = store_of(code_at);
        let codes = Bytes(u64::from(4 * groups));
        for (at, bytes) in [(TIP_TABLE, TIP_TABLE_BYTES), (CODES, codes)] {
            from_codes.slice_mut(at, bytes).copy_from_slice(source.slice(at, bytes));
        }
        execute(
            &TipVectors { out: VECTORS[0], ..tip_vectors(version, groups, 0) },
            &mut from_codes,
        );
        for store in [&mut from_vectors, &mut from_codes] {
            store.slice_mut(COUNTS[0], Bytes(u64::from(16 * groups))).fill(Quadword::ZERO);
            execute(&NodeUpdate { version, ..node_update(groups) }, store);
        }
        for (at, bytes) in [(OUT, 128), (OUT_COUNTS, 16)] {
            let bytes = Bytes(bytes * u64::from(groups));
            assert_eq!(from_codes.slice(at, bytes), from_vectors.slice(at, bytes), "{version:?}");
        }
    }
}
