use std::collections::BTreeMap;

use mmgp_spu::{Accesses, Kernel as _, execute, execute_watched};

use super::*;

const SIGNS: [Sign; 2] = [Sign::Minus, Sign::Plus];

/// Sweeps by the kernel and plainly, and compares all that is written.
fn check(data: &Data, sign: Sign, fix_up: FixUp) -> (Data, u64) {
    let kernel = data.kernel(sign, fix_up);
    kernel.validate().expect("it lies right");
    let mut store = data.packed();
    let fixed = execute(&kernel, &mut store);
    let found = data.unpacked(&store);
    let (expected, plainly_fixed) = data.swept(sign, fix_up);
    let what = format!("{} cells, {} angles", kernel.cells, kernel.angles);
    assert_eq!(u64::from(fixed), plainly_fixed, "{what}");
    // An outflow is a difference: its error is as large as that of what it is made of.
    let largest = largest(data).max(largest(&expected));
    let arrays = |it: &Data| [it.flux.as_flattened(), &it.i_face, &it.j_face, &it.k_face].concat();
    for (found, expected) in arrays(&found).into_iter().zip(arrays(&expected)) {
        let off = (found - expected).abs();
        assert!(off <= 1e-14 * largest, "{what}: {found:e}, expected {expected:e}");
    }
    (expected, plainly_fixed)
}

/// The largest of all inflows, outflows and moments.
fn largest(data: &Data) -> f64 {
    let all = [data.flux.as_flattened(), &data.i_face, &data.j_face, &data.k_face];
    all.into_iter().flatten().fold(0.0, |largest, value| value.abs().max(largest))
}

#[test]
fn a_line_is_swept_as_plainly() {
    for seed in 0..400 {
        let (cells, angles) = (1 + seed as usize * 7 % 50, 1 + seed as usize % 6);
        for sign in SIGNS {
            let (_, fixed) = check(&Data::random(seed, cells, angles, 0.1), sign, FixUp::Off);
            assert_eq!(fixed, 0);
        }
    }
}

#[test]
fn negative_outflows_are_set_to_zero_as_plainly() {
    let mut fixed_in_all = 0;
    for seed in 0..400 {
        let (cells, angles) = (1 + seed as usize * 11 % 50, 1 + seed as usize % 6);
        for sign in SIGNS {
            let data = Data::random(1000 + seed, cells, angles, 4.0);
            check(&data, sign, FixUp::Off);
            fixed_in_all += check(&data, sign, FixUp::On).1;
        }
    }
    assert!(fixed_in_all > 10_000, "{fixed_in_all}");
}

#[test]
fn every_combination_of_axes_is_set_to_zero() {
    let mut met = BTreeMap::new();
    for seed in 0..600 {
        for angles in 1..=6 {
            let (after, _) =
                check(&Data::random(2000 + seed, 1, angles, 4.0), Sign::Plus, FixUp::On);
            for angle in 0..angles {
                let is_zero =
                    [&after.i_face, &after.j_face, &after.k_face].map(|it| it[angle] == 0.0);
                *met.entry((is_zero, angle)).or_insert(0) += 1;
            }
        }
    }
    // Eight for each angle.
    assert_eq!(met.len(), 8 * 6, "{met:?}");
    assert!(met.values().all(|&count| count > 2), "{met:?}");
}

#[test]
fn the_lane_beside_an_odd_angle_stays_zero() {
    for angles in [1, 3, 5] {
        for fix_up in [FixUp::Off, FixUp::On] {
            let data = Data::random(5, 9, angles, 4.0);
            let mut store = data.packed();
            execute(&data.kernel(Sign::Plus, fix_up), &mut store);
            let element = face_bytes(angles as u32);
            for (at, count) in [(I_FACE, 1), (J_FACE, 9), (K_FACE, 9)] {
                let face = get(&store, at, element, count);
                for element in face.chunks_exact(pairs(angles as u32) as usize) {
                    assert_eq!(element.last().map(|it| it.0[1]), Some(0));
                }
            }
        }
    }
}

#[test]
fn nothing_but_the_line_is_touched() {
    for cells in [1, 2, 3, 9] {
        for sign in SIGNS {
            let data = Data::random(6, cells, 5, 4.0);
            let kernel = data.kernel(sign, FixUp::On);
            let mut accesses = Accesses::default();
            execute_watched(&kernel, &mut data.packed(), accesses.watch(1));
            let is_of_it = |at: u64| {
                kernel.blocks().iter().any(|block| {
                    let start = u64::from(block.address.0);
                    (start..start + block.size.0).contains(&at)
                })
            };
            for at in (0..0x40000).step_by(16).filter(|&at| !is_of_it(at)) {
                assert_eq!(accesses.read().first_bytes(1, &(at..at + 16)), None);
                assert_eq!(accesses.written().first_bytes(1, &(at..at + 16)), None);
            }
        }
    }
}

#[test]
fn what_is_packed_comes_back() {
    let data = Data::random(7, 13, 5, 1.0);
    assert_eq!(data.unpacked(&data.packed()), data);
    let (external, old) = (vec![1.0, 2.0, 3.0], vec![4.0, 5.0, 6.0]);
    assert_eq!(unpack_external(&pack_external(&external, &old)), (external, old));
    assert_eq!(2 * MOMENTS_BYTES.0 + TOTAL_BYTES.0 + EXTERNAL_BYTES.0, 96);
}
