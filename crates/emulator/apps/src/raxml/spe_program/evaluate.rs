//! `evaluate`: the ln likelihood of a tree, seen from a branch.

use super::super::memory::{DOUBLES_BYTES, WORDS_BYTES, end_bytes};
use super::{CONTROL_TAG, RaxmlProgram, Task};
use crate::likelihood::End;
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
        let ends = arguments.ends.map(|end| end_bytes(rates).lanes(end));
        let mut inputs = ends.concat();
        inputs.push((arguments.weights, DOUBLES_BYTES));
        if rates == Rates::Cat {
            inputs.push((arguments.pattern_categories, WORDS_BYTES));
        }
        let kept = arguments.terms.map(|terms| (terms, DOUBLES_BYTES));
        let streams = Streams::new(self.buffers(rates), share, &inputs, kept.as_slice());
        streams.prefetch(*spe).await?;
        let diagonal = self.map.diagonal;
        let category_count = arguments.categories;
        let kernel = Diagonal {
            version,
            category_count,
            model: self.map.model,
            branch: self.branches(),
            out: diagonal,
            tables: self.map.tables,
        };
        if !self.is_worker(*call) {
            spe.compute(&kernel).await;
        }
        let bytes = Bytes(u64::from(category_count) * DIAGONAL_BYTES.0);
        self.share_tables(task, &[(diagonal, bytes)]).await?;
        let (second, places) = (ends[0].len(), inputs.len());
        let weights = ends.concat().len();
        let local = self.map.result;
        spe.write(local, &[Quadword::ZERO])?;
        let compute = async |set: u32, groups: u32| {
            let at = |lane| streams.at(set, lane);
            let kernel = Evaluate {
                version,
                rates,
                groups,
                category_count,
                model: self.map.model,
                ends: [
                    kernel_end(arguments.ends[0], 0, at),
                    kernel_end(arguments.ends[1], second, at),
                ],
                diagonal,
                categories: at(places - 1),
                weights: at(weights),
                terms: kept.map(|_| at(places)),
                tables: self.map.tables,
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
