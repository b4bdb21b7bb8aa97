//! What a program for phylogenetic inference needs around its likelihood kernels: alignments and
//! their site patterns, trees and their text form, a simulator, and a plain computation of the
//! likelihood that kernels can be held against.
//!
//! Everything here runs on the host, outside the emulated machine.

pub mod alignment;
pub mod jukes_cantor;
pub mod newick;
pub mod patterns;
pub mod simulate;
pub mod splits;
pub mod stream;
pub mod substitution;
pub mod tree;

pub use alignment::Alignment;
pub use patterns::Patterns;
pub use stream::Stream;
pub use tree::Tree;

#[cfg(test)]
pub(crate) mod tests {
    use std::path::Path;

    use mmgp_base::table::Source;

    /// A file of real data that may stand beside the package; tests that need it pass without.
    pub(crate) fn shared_data(name: &str) -> Option<Source> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data").join(name);
        path.exists().then(|| Source::read(&path).expect("a file that is there can be read"))
    }
}
