use super::super::bound::{Bound, Part};
use super::*;
use approx::assert_relative_eq;
use mmgp_base::units::{BytesPerSecond, Hertz, Seconds};

/// As measured on the Cell: 90 ns, 22.8 GB/s, 14.4 GB/s of one SPE.
const CONSTANTS: Constants = Constants {
    clock: Hertz(3.2e9),
    latency: Seconds(90e-9),
    memory: BytesPerSecond(22.8e9),
    accelerator: BytesPerSecond(14.4e9),
    line: 128.0,
    penalty: 18.0,
    double_block: 6.0,
};

#[test]
fn the_matrix_product_hides_its_latency_but_not_all_of_its_transfers() {
    let product = Algorithm::named("matrix-product").unwrap();
    let facts = product.facts(&product.sizes, &CONSTANTS).unwrap();
    // T_D grows with n, and so does what is computed for each request.
    assert_eq!((facts.requests.grows, facts.per_request.grows), (Some(true), Some(true)));
    let at = |p: f64| {
        let mut sizes = product.sizes.clone();
        sizes.set("p".into(), p);
        Bound::of(&product.demand(&sizes, &CONSTANTS).unwrap(), &CONSTANTS)
    };
    // On four SPEs computation binds, as the paper says: 1024^3 multiply-adds, four at once.
    assert_eq!(at(4.0).dominating(), Some(Part::Issue));
    assert_relative_eq!(at(4.0).time().0, 1024_f64.powi(3) / 16.0 / 3.2e9, max_relative = 1e-9);
    // Eight of them move n^2/b^2 blocks of 64 KB in as long as they compute: the order of growth
    // does not tell that.
    assert_eq!(at(8.0).dominating(), None);
    let memory = 64.0_f64.powi(2) * 65536.0 / 22.8e9;
    assert_relative_eq!(at(8.0).part(Part::Bandwidth).0, memory, max_relative = 1e-9);
    assert!(at(8.0).part(Part::Latency).0 < 0.01 * at(8.0).time().0);
}

#[test]
fn list_ranking_needs_about_four_requests_and_the_memory_binds_eight_spes() {
    let ranking = Algorithm::named("list-ranking").unwrap();
    let facts = ranking.facts(&ranking.sizes, &CONSTANTS).unwrap();
    assert_eq!((facts.requests.grows, facts.per_request.grows), (Some(true), Some(false)));
    assert!(facts.steps(&CONSTANTS)[2].contains("ceil((L + C)/C) = 5"), "{:?}", facts);
    let at = |p: f64| {
        let mut sizes = ranking.sizes.clone();
        sizes.set("p".into(), p);
        Bound::of(&ranking.demand(&sizes, &CONSTANTS).unwrap(), &CONSTANTS)
    };
    // Eight SPEs, each a line of 128 bytes in 75 cycles: 43.7 GB/s of 22.8.
    assert_eq!(at(8.0).dominating(), Some(Part::Bandwidth));
    assert_eq!(at(1.0).dominating(), Some(Part::Issue));
}

const FILE: &str = "name = \"toy\"\ndescription = \"a toy\"\nsource = \"none\"\n\
                    [sizes]\nn = 100\np = 4\n[constants]\nc = 3\n\
                    [computation]\naccelerator = \"c * n / p\"\n\
                    [[requests]]\ncount = \"n\"\nbytes = \"200\"\n";

#[test]
fn a_file_by_hand() {
    let toy = Algorithm::read(&Source::new("toy.toml", FILE)).unwrap();
    let demand = toy.demand(&toy.sizes, &CONSTANTS).unwrap();
    // 3 x 100 / 4 cycles; 100 requests of two lines each, by each of four SPEs.
    let expected = Demand {
        issue: 75.0,
        requests: 100.0,
        outstanding: 1.0,
        lines: 200.0,
        all_lines: 800.0,
        ..Demand::default()
    };
    assert_eq!(demand, expected);
}

fn refused(from: &str, to: &str, message: &str) {
    assert!(FILE.contains(from), "{from}");
    let file = FILE.replace(from, to);
    let read = Algorithm::read(&Source::new("toy.toml", &file));
    let error = read.and_then(|toy| toy.demand(&toy.sizes, &CONSTANTS).map(|_| ())).unwrap_err();
    assert_eq!(error.to_string(), message);
}

#[test]
fn a_mistake_is_shown_at_its_place_in_the_file() {
    let names = "expected n, p, a number or the constant c";
    refused("c * n / p", "c * m / p", &format!("toy.toml:10:20: found \"m\", {names}"));
    refused("\"200\"", "\"200 +\"", &format!("toy.toml:13:15: found the end, {names}"));
    refused(
        "\"200\"",
        "200",
        "toy.toml:13:9: found the number 200 for \"requests[0].bytes\", expected a string",
    );
    refused("n = 100\n", "", "toy.toml:4:1: found no size n, expected n, the size of the input");
    refused("n = 100", "n = -1", "toy.toml:5:5: found -1, expected a number of 0 or more");
    refused(
        "c * n / p",
        "c - n / p",
        "toy.toml:10:15: found c - n / p = -22 at n = 100, p = 4, expected a number of 0 or more",
    );
    refused(
        "accelerator",
        "acelerator",
        "toy.toml:10:14: found \"computation.acelerator\", expected one of host, accelerator; did \
         you mean \"accelerator\"?",
    );
}

#[test]
fn every_algorithm_that_is_built_in_can_be_read_and_names_its_source() {
    for name in names() {
        let algorithm = Algorithm::named(name).unwrap();
        assert_eq!(algorithm.name, name);
        assert!(algorithm.source.contains("IPDPS 2007"), "{name}: {}", algorithm.source);
    }
    let unknown = Algorithm::named("list-rank").unwrap_err().to_string();
    assert!(unknown.contains("did you mean \"list-ranking\"?"), "{unknown}");
}
