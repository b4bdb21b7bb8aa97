//! `newview`: the vector of an inner node from those of two children.

use super::super::arguments::End;
use super::super::memory::{WORDS_BYTES, vector_bytes};
use super::{RaxmlProgram, Task, lanes};
use crate::streaming::Streams;
use mmgp_base::error::Result;
use mmgp_base::units::Bytes;
use mmgp_cell::element::Element;
use mmgp_kernels::raxml::{
    Child, MATRIX_BYTES, NewView, Rates, TIP_PRODUCT_BYTES, TipProducts, Transition,
};
use mmgp_spu::{LocalAddress, Quadword};

impl RaxmlProgram {
    pub(super) async fn newview(&self, task: &Task<'_, impl Element>) -> Result<()> {
        let Task { spe, arguments, share, .. } = task;
        let (version, rates) = (self.version, arguments.rates);
        let children = arguments.ends.map(|end| lanes(end, rates));
        let mut inputs = children.concat();
        if rates == Rates::Cat {
            inputs.push((arguments.pattern_categories, WORDS_BYTES));
        }
        let out =
            [(arguments.out.entries, vector_bytes(rates)), (arguments.out.counts, WORDS_BYTES)];
        let streams = Streams::new(self.buffers(rates), share, &inputs, &out);
        streams.prefetch(*spe).await?;
        if !self.is_worker(task.call) {
            self.transitions(task).await;
        }
        self.share_tables(task, &self.transition_tables(task)).await?;
        let (right, places) = (children[0].len(), inputs.len());
        let compute = async |set: u32, groups: u32| {
            let at = |lane: usize| LocalAddress(set + streams.offset(lane));
            let child = |side: usize, first: usize| match arguments.ends[side] {
                End::Tip(_) => {
                    Child::Tip { codes: at(first), products: self.products(rates, side) }
                }
                End::Inner(_) => Child::Inner {
                    vectors: at(first),
                    counts: at(first + 1),
                    matrices: LocalAddress(self.map.matrices[side]),
                },
            };
            let kernel = NewView {
                version,
                rates,
                groups,
                category_count: arguments.categories,
                model: self.model(),
                left: child(0, 0),
                right: child(1, right),
                categories: at(places - 1),
                out: at(places),
                out_counts: at(places + 1),
            };
            spe.compute(&kernel).await;
        };
        streams.run(*spe, compute).await?;
        // The loop adds nothing up: that it is done is all that a worker reports.
        spe.write(LocalAddress(self.map.result), &[Quadword::ZERO])?;
        self.join(task).await
    }

    /// Where they are.
    fn transition_tables(&self, task: &Task<'_, impl Element>) -> Vec<(LocalAddress, Bytes)> {
        let arguments = &task.arguments;
        let bytes = Bytes(u64::from(arguments.categories) * MATRIX_BYTES.0);
        let matrices = self.map.matrices.map(|at| (LocalAddress(at), bytes));
        let is_tip = |side: usize| matches!(arguments.ends[side], End::Tip(_));
        let tips = (0..2).filter(|&side| arguments.rates == Rates::Gamma && is_tip(side));
        let products = tips.map(|side| (LocalAddress(self.map.products[side]), TIP_PRODUCT_BYTES));
        matrices.into_iter().chain(products).collect()
    }

    /// The transition matrices of both branches, and with GAMMA what they make of tips.
    async fn transitions(&self, task: &Task<'_, impl Element>) {
        let Task { spe, arguments, .. } = task;
        let (version, category_count) = (self.version, arguments.categories);
        let [left, right] = self.map.matrices.map(LocalAddress);
        let kernel = Transition {
            version,
            category_count,
            model: self.model(),
            branches: self.branches(),
            left,
            right,
            tables: self.tables(),
        };
        spe.compute(&kernel).await;
        if arguments.rates == Rates::Cat {
            return;
        }
        for (side, end) in arguments.ends.iter().enumerate() {
            if matches!(end, End::Tip(_)) {
                let matrices = LocalAddress(self.map.matrices[side]);
                let out = LocalAddress(self.map.products[side]);
                let kernel = TipProducts { version, matrices, model: self.model(), out };
                spe.compute(&kernel).await;
            }
        }
    }

    /// What a tip's codes select from: products of codes with GAMMA, the matrices with CAT.
    fn products(&self, rates: Rates, side: usize) -> LocalAddress {
        LocalAddress(match rates {
            Rates::Gamma => self.map.products[side],
            Rates::Cat => self.map.matrices[side],
        })
    }
}
