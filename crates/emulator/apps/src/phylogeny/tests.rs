//! What the tests of this crate share: alignments to compute on, and an end to what never waits.

use std::path::{Path, PathBuf};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use super::substitution::Substitution;
use super::{Alignment, Patterns, Stream};
use mmgp_base::table::Source;

/// Simulated alignments of 12 and of 24 taxa, each with the tree that it evolved on.
pub(crate) const SIM12: [&str; 2] =
    [include_str!("../../data/sim12.phy"), include_str!("../../data/sim12.nwk")];
pub(crate) const SIM24: [&str; 2] =
    [include_str!("../../data/sim24.phy"), include_str!("../../data/sim24.nwk")];

/// The patterns of an alignment in PHYLIP or FASTA.
pub(crate) fn patterns(text: &str) -> Patterns {
    Patterns::compress(&Alignment::read(&Source::new("alignment", text)).unwrap())
}

pub(crate) fn sim12() -> Patterns {
    patterns(SIM12[0])
}

/// The general model at values like none of its special cases.
pub(crate) fn gtr() -> Substitution {
    Substitution::gtr([1.2, 3.5, 0.8, 0.9, 4.1, 1.0], [0.30, 0.22, 0.18, 0.30]).unwrap()
}

/// Random tips of so many patterns, all of weight 2.
pub(crate) fn random_patterns(taxa: usize, count: usize) -> Patterns {
    let mut stream = Stream::new(3, 0);
    let mut tip = || (0..count).map(|_| 1 << stream.index(4)).collect();
    Patterns {
        tips: (0..taxa).map(|_| tip()).collect(),
        weights: vec![2; count],
        of_site: Vec::new(),
    }
}

/// The path of a file of real data that may stand beside the checkout, in `../shared/data`.
pub(crate) fn shared_path(name: &str) -> Option<PathBuf> {
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    // Where the crate has moved, no test must pass because it looks in the wrong place.
    assert!(checkout.join("Cargo.lock").exists(), "{} is no checkout", checkout.display());
    Some(checkout.join("../shared/data").join(name)).filter(|path| path.exists())
}

/// The text of the file; without it the caller skips.
pub(crate) fn shared_data(name: &str) -> Option<Source> {
    let path = shared_path(name);
    if path.is_none() {
        let folder = "../shared/data";
        let is_there = shared_path("").is_some();
        testing::skipped(&if is_there { format!("{folder}/{name}") } else { folder.to_string() });
    }
    path.map(|path| Source::read(&path).expect("a file that is there can be read"))
}

/// What a future comes to that never waits, such as a search on this computer.
pub(crate) fn immediately<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("what computes on this computer is always ready"),
    }
}

/// A QS20 at rest that looks for hazards.
pub(crate) fn qs20() -> mmgp_cell::Blade {
    let machine = mmgp_machine::Machine::named("qs20").unwrap();
    let blade = mmgp_cell::Blade::new(&machine, mmgp_cell::KernelTiming::Cached, 0.0);
    blade.set_hazards(mmgp_cell::mfc::Hazards::Checked);
    blade
}
