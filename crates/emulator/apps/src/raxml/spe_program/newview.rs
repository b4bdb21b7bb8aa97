//! `newview`: the vector of an inner node from those of two children.

use super::super::memory::{WORDS_BYTES, end_bytes};
use super::{RaxmlProgram, Task};
use crate::likelihood::End;
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
        let children = arguments.ends.map(|end| end_bytes(rates).lanes(end));
        let mut inputs = children.concat();
        if rates == Rates::Cat {
            inputs.push((arguments.pattern_categories, WORDS_BYTES));
        }
        let out = end_bytes(rates).lanes_of(arguments.out);
        let streams = Streams::new(self.buffers(rates), share, &inputs, &out);
        streams.prefetch(*spe).await?;
        if !self.is_worker(task.call) {
            self.transitions(task).await;
        }
        self.share_tables(task, &self.transition_tables(task)).await?;
        let (right, places) = (children[0].len(), inputs.len());
        let compute = async |set: u32, groups: u32| {
            let at = |lane| streams.at(set, lane);
            let child = |side: usize, first: usize| match arguments.ends[side] {
                End::Tip(_) => {
                    Child::Tip { codes: at(first), products: self.products(rates, side) }
                }
                End::Inner(_) => Child::Inner {
                    vectors: at(first),
                    counts: at(first + 1),
                    matrices: self.map.matrices[side],
                },
            };
            let kernel = NewView {
                version,
                rates,
                groups,
                category_count: arguments.categories,
                model: self.map.model,
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
        spe.write(self.map.result, &[Quadword::ZERO])?;
        self.join(task).await
    }

    /// Where they are.
    fn transition_tables(&self, task: &Task<'_, impl Element>) -> Vec<(LocalAddress, Bytes)> {
        let arguments = &task.arguments;
        let bytes = Bytes(u64::from(arguments.categories) * MATRIX_BYTES.0);
        let matrices = self.map.matrices.map(|at| (at, bytes));
        let is_tip = |side: usize| matches!(arguments.ends[side], End::Tip(_));
        let tips = (0..2).filter(|&side| arguments.rates == Rates::Gamma && is_tip(side));
        let products = tips.map(|side| (self.map.products[side], TIP_PRODUCT_BYTES));
        matrices.into_iter().chain(products).collect()
    }

    /// The transition matrices of both branches, and with GAMMA what they make of tips.
    async fn transitions(&self, task: &Task<'_, impl Element>) {
        let Task { spe, arguments, .. } = task;
        let (version, category_count) = (self.version, arguments.categories);
        let [left, right] = self.map.matrices;
        let kernel = Transition {
            version,
            category_count,
            model: self.map.model,
            branches: self.branches(),
            left,
            right,
            tables: self.map.tables,
        };
        spe.compute(&kernel).await;
        if arguments.rates == Rates::Cat {
            return;
        }
        for (side, end) in arguments.ends.iter().enumerate() {
            if matches!(end, End::Tip(_)) {
                let matrices = self.map.matrices[side];
                let out = self.map.products[side];
                let kernel = TipProducts { version, matrices, model: self.map.model, out };
                spe.compute(&kernel).await;
            }
        }
    }

    /// What a tip's codes select from: products of codes with GAMMA, the matrices with CAT.
    fn products(&self, rates: Rates, side: usize) -> LocalAddress {
        match rates {
            Rates::Gamma => self.map.products[side],
            Rates::Cat => self.map.matrices[side],
        }
    }
}
