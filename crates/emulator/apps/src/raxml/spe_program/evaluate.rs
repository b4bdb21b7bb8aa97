//! `evaluate`: the ln likelihood of a tree, seen from a branch.

use super::super::arguments::{End, Terms};
use super::super::memory::{DOUBLES_BYTES, WORDS_BYTES};
use super::{CONTROL_TAG, RaxmlProgram, Task, lanes};
use crate::streaming::Streams;
use mmgp_base::error::Result;
use mmgp_base::units::Bytes;
use mmgp_cell::element::Element;
use mmgp_cell::mfc::{Command, Direction};
use mmgp_kernels::raxml::{self, DIAGONAL_BYTES, Diagonal, Evaluate, Rates};
use mmgp_spu::{LocalAddress, Quadword};

impl RaxmlProgram {
    /// Each SPE that the host has started puts the sum over its patterns into main memory, which the
    /// host adds in order; a master adds those of its workers first.
    pub(super) async fn evaluate(&self, task: &Task<'_, impl Element>) -> Result<()> {
        let Task { spe, arguments, share, call } = task;
        let (version, rates) = (self.version, arguments.rates);
        let ends = arguments.ends.map(|end| lanes(end, rates));
        let mut inputs = ends.concat();
        inputs.push((arguments.weights, DOUBLES_BYTES));
        if rates == Rates::Cat {
            inputs.push((arguments.pattern_categories, WORDS_BYTES));
        }
        let out = [(arguments.terms, DOUBLES_BYTES)];
        let kept = if arguments.kept == Terms::Kept { &out[..] } else { &[] };
        let streams = Streams::new(self.buffers(rates), share, &inputs, kept);
        streams.prefetch(*spe).await?;
        let diagonal = LocalAddress(self.map.diagonal);
        let category_count = arguments.categories;
        let kernel = Diagonal {
            version,
            category_count,
            model: self.model(),
            branch: self.branches(),
            out: diagonal,
            tables: self.tables(),
        };
        if !self.is_worker(*call) {
            spe.compute(&kernel).await;
        }
        let bytes = Bytes(u64::from(category_count) * DIAGONAL_BYTES.0);
        self.share_tables(task, &[(diagonal, bytes)]).await?;
        let (second, places) = (ends[0].len(), inputs.len());
        let weights = ends.concat().len();
        let local = LocalAddress(self.map.result);
        spe.write(local, &[Quadword::ZERO])?;
        let compute = async |set: u32, groups: u32| {
            let at = |lane: usize| LocalAddress(set + streams.offset(lane));
            let kernel = Evaluate {
                version,
                rates,
                groups,
                category_count,
                model: self.model(),
                ends: [
                    kernel_end(arguments.ends[0], 0, at),
                    kernel_end(arguments.ends[1], second, at),
                ],
                diagonal,
                categories: at(places - 1),
                weights: at(weights),
                terms: (arguments.kept == Terms::Kept).then(|| at(places)),
                tables: self.tables(),
                result: local,
            };
            spe.compute(&kernel).await;
        };
        streams.run(*spe, compute).await?;
        self.join(task).await?;
        if self.is_worker(*call) {
            return Ok(());
        }
        let result = arguments.results.offset(16 * u64::from(call.share));
        let put = Command::new(Direction::Put, local, result, Bytes(16), CONTROL_TAG);
        self.transfer(*spe, put).await
    }
}

/// What a branch ends in, in local store from the lane `first` on.
pub(super) fn kernel_end(end: End, first: usize, at: impl Fn(usize) -> LocalAddress) -> raxml::End {
    match end {
        End::Tip(_) => raxml::End::Tip { codes: at(first) },
        End::Inner(_) => raxml::End::Inner { vectors: at(first), counts: at(first + 1) },
    }
}
