use super::*;
use mmgp_base::error::Error;
use mmgp_cell::mfc::Hazards;
use mmgp_cell::{Blade, KernelTiming};
use mmgp_kernels::sgemm::FLOPS;
use mmgp_machine::Machine;
use mmgp_runtime::Edtlp;

fn run(sgemm: &Sgemm, p: u32, hazards: Hazards) -> Ran {
    let blade = Blade::new(&Machine::named("qs20").unwrap(), KernelTiming::Cached, 0.0);
    blade.set_hazards(hazards);
    sgemm.run(&Runtime::new(blade, Box::new(Edtlp::default())), Mapping::of(1, p)).unwrap()
}

fn product(ran: &Ran) -> &Matrix {
    &ran.findings::<Findings>().unwrap().product
}

#[test]
fn the_product_is_that_of_doubles_for_any_order_and_number_of_spes() {
    // Panels that stay whole, in pieces, and A in pieces, too.
    for (order, all) in [(64, &[1, 3][..]), (128, &[1, 16]), (320, &[3, 8]), (576, &[8])] {
        let sgemm = Sgemm::random(order, 1).unwrap();
        let runs: Vec<Ran> = all.iter().map(|&p| run(&sgemm, p, Hazards::Checked)).collect();
        for ran in &runs {
            let error = sgemm.largest_error(product(ran));
            // Truncation leaves an error of some order, and no more than is explained.
            let most = f64::from(order) / f64::from(1 << 23);
            assert!((1e-9..most).contains(&error), "{order}: {error}");
            assert_eq!(ran.fingerprint.differs_from(&runs[0].fingerprint), None);
        }
    }
}

#[test]
fn the_product_of_whole_numbers_is_exact() {
    // Row i of A holds i + 1 at column i + 1, of which the last wraps: a shift of the rows of B.
    let order = 192;
    let shift =
        Matrix::new(
            order,
            |row, column| {
                if column == (row + 1) % order { row as f32 + 1.0 } else { 0.0 }
            },
        );
    let b = Matrix::new(order, |row, column| (3 * row) as f32 - column as f32).unwrap();
    let sgemm = Sgemm::new(shift.unwrap(), b.clone()).unwrap();
    let by_hand =
        Matrix::new(order, |row, column| (row + 1) as f32 * b.entry((row + 1) % order, column));
    assert_eq!(product(&run(&sgemm, 2, Hazards::Ignored)), &by_hand.unwrap());
}

#[test]
fn an_error_is_told_in_parts_of_the_terms_magnitudes() {
    let [one, two] = [1.0, 2.0].map(|value| Matrix::new(64, |_, _| value).unwrap());
    let sgemm = Sgemm::new(one, two).unwrap();
    let product = |at_corner| {
        let entry = |row, column| if (row, column) == (63, 63) { at_corner } else { 128.0 };
        Matrix::new(64, entry).unwrap()
    };
    assert_eq!(sgemm.largest_error(&product(128.0)), 0.0);
    assert_eq!(sgemm.largest_error(&product(96.0)), 0.25);
    assert_eq!(sgemm.largest_error(&product(f32::NAN)), f64::INFINITY);
}

#[test]
fn requests_are_those_counted_by_hand() {
    let check = |order: u32, p: u32, of_rows: u64| {
        let sgemm = Sgemm::random(order, 1).unwrap();
        let commands = run(&sgemm, p, Hazards::Ignored).run.dma_commands;
        // Each of 16 SPEs fetches the program, each of p the arguments.
        assert_eq!(commands, 16 + u64::from(p) + of_rows, "{order}, {p}");
    };
    // Two rows: a panel of A, and for each of two blocks of C a panel of B and a put.
    check(128, 1, 2 * (1 + 2 * (1 + 1)));
    // More SPEs than rows: the others fetch their arguments and have no row.
    check(128, 16, 2 * (1 + 2 * (1 + 1)));
    // The largest panels that come whole, and the smallest that come in two pieces.
    check(256, 4, 4 * (1 + 4 * (1 + 1)));
    check(320, 2, 5 * (1 + 5 * (2 + 1)));
    // A and B in three pieces each.
    check(576, 8, 9 * 9 * (3 + 3 + 1));
}

#[test]
fn products_take_nearly_all_the_time_and_rows_share_it() {
    let sgemm = Sgemm::random(256, 1).unwrap();
    let [one, two, four, sixteen] =
        [1, 2, 4, 16].map(|p| run(&sgemm, p, Hazards::Ignored).run.time.0);
    // One SPE reaches 99.90 % of its peak of 25.6 GFLOP/s in the kernel; what is around it takes a
    // few per cent more, above all the first panels of each row.
    let kernel = 64.0 * FLOPS as f64 / 25.6e9;
    assert!((0.93..0.999).contains(&(kernel / one)), "{}", kernel / one);
    assert!((1.9..=2.0).contains(&(one / two)), "{}", one / two);
    assert!((3.7..=4.0).contains(&(one / four)), "{}", one / four);
    // Four rows keep no more than four SPEs busy.
    assert!((0.9..=1.01).contains(&(four / sixteen)), "{}", four / sixteen);
}

#[test]
fn orders_and_processes_that_it_cannot_do_are_refused() {
    let check = |error: Error, message: &str| assert_eq!(error.to_string(), message);
    for order in [0, 100, 4160] {
        let message = format!(
            "order of the matrices: found {order}, expected a multiple of 64 from 64 to 4096"
        );
        check(Sgemm::random(order, 1).unwrap_err(), &message);
    }
    let on = |mapping| {
        let blade = Blade::new(&Machine::named("ps3").unwrap(), KernelTiming::Cached, 0.0);
        let on = Runtime::new(blade, Box::new(Edtlp::default()));
        Sgemm::random(64, 1).unwrap().run(&on, mapping).unwrap_err()
    };
    check(
        on(Mapping::of(2, 1)),
        "processes of the product: found 2, expected 1, which starts all SPEs: p is how many",
    );
    check(on(Mapping::of(1, 7)), "m = 1, p = 7 needs 7 APUs, but there are 6");
}
