//! The three functions, each over its share of the patterns.

use super::team::Next;
use super::{CONTROL_TAG, RESIDENT_TAG, RaxmlProgram, SharedCall};
use crate::likelihood::End;
use crate::raxml::memory::{DOUBLES_BYTES, WORDS_BYTES, end_bytes, vector_bytes};
use crate::streaming::{Streams, Transfers};
use mmgp_base::error::Result;
use mmgp_base::units::Bytes;
use mmgp_cell::EffectiveAddress;
use mmgp_cell::element::Element;
use mmgp_cell::mfc::{Command, Direction};
use mmgp_kernels::raxml::{
    self, Child, DIAGONAL_BYTES, Derivatives, Diagonal, Evaluate, FACTOR_BYTES, MATRIX_BYTES,
    NewView, NewtonFactors, Rates, SumTable, TIP_PRODUCT_BYTES, TipProducts, Transition,
};
use mmgp_runtime::Teams;
use mmgp_spu::{LocalAddress, Quadword};

impl RaxmlProgram {
    pub(super) async fn newview(&self, task: &SharedCall<'_, impl Element>) -> Result<()> {
        let SharedCall { spe, arguments, share, .. } = task;
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

    /// The addresses and lengths of the tables.
    fn transition_tables(&self, task: &SharedCall<'_, impl Element>) -> Vec<(LocalAddress, Bytes)> {
        let arguments = &task.arguments;
        let bytes = Bytes(u64::from(arguments.categories) * MATRIX_BYTES.0);
        let matrices = self.map.matrices.map(|at| (at, bytes));
        let is_tip = |side: usize| matches!(arguments.ends[side], End::Tip(_));
        let tips = (0..2).filter(|&side| arguments.rates == Rates::Gamma && is_tip(side));
        let products = tips.map(|side| (self.map.products[side], TIP_PRODUCT_BYTES));
        matrices.into_iter().chain(products).collect()
    }

    /// The transition matrices of both branches, and with GAMMA what they make of tips.
    async fn transitions(&self, task: &SharedCall<'_, impl Element>) {
        let SharedCall { spe, arguments, .. } = task;
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

impl RaxmlProgram {
    /// Each SPE that the host has started puts the sum over its patterns into main memory, which the
    /// host adds in order; a master adds those of its workers first.
    pub(super) async fn evaluate(&self, task: &SharedCall<'_, impl Element>) -> Result<()> {
        let SharedCall { spe, arguments, share, call } = task;
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

/// The place of the sums of a call between its steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SumsPlace {
    /// Local store, with weights and categories, which begin there.
    Local { weights: LocalAddress, categories: LocalAddress, sums: LocalAddress },
    /// Main memory, from where they stream at every step.
    Main,
}

impl RaxmlProgram {
    /// The first SPE puts the z that all agreed on into main memory, and after how many steps.
    pub(super) async fn makenewz(&self, task: &SharedCall<'_, impl Element>) -> Result<()> {
        let place = self.place(task);
        self.sum_table(task, place).await?;
        let mut left = task.arguments.steps;
        let mut steps = 0;
        loop {
            if steps > 0 && self.teams == Teams::ByHost {
                self.factors(task).await;
            }
            task.spe.write(self.map.result, &[Quadword::ZERO])?;
            self.derivatives(task, place).await?;
            let number = task.arguments.sequence << 16 | steps;
            steps += 1;
            if self.agree(task, number, &mut left).await? == Next::Stop {
                break;
            }
        }
        if task.call.share == 0 {
            let [z, _] = task.spe.read(self.branches(), Bytes(16))?[0].0;
            let (local, bytes) = (self.map.result, Bytes(16));
            task.spe.write(local, &[Quadword([z, steps])])?;
            let put =
                Command::new(Direction::Put, local, task.arguments.results, bytes, CONTROL_TAG);
            self.transfer(task.spe, put).await?;
        }
        Ok(())
    }

    /// Local store where there is room.
    fn place(&self, task: &SharedCall<'_, impl Element>) -> SumsPlace {
        let (groups, rates) = (task.share.len() as u64, task.arguments.rates);
        let words = if rates == Rates::Cat { WORDS_BYTES } else { 0 };
        let weights = self.map.resident;
        let categories = weights.offset(Bytes(groups * DOUBLES_BYTES));
        let sums = categories.offset(Bytes(groups * words));
        if sums.offset(Bytes(groups * vector_bytes(rates))) <= self.map.end {
            SumsPlace::Local { weights, categories, sums }
        } else {
            SumsPlace::Main
        }
    }

    /// The sums of all patterns; the first factors are computed while the first block comes.
    async fn sum_table(&self, task: &SharedCall<'_, impl Element>, place: SumsPlace) -> Result<()> {
        let SharedCall { spe, arguments, share, .. } = task;
        let rates = arguments.rates;
        let ends = arguments.ends.map(|end| end_bytes(rates).lanes(end));
        let inputs = ends.concat();
        let out = [(arguments.sums, vector_bytes(rates))];
        let streamed = if place == SumsPlace::Main { &out[..] } else { &[] };
        let streams = Streams::new(self.buffers(rates), share, &inputs, streamed);
        streams.prefetch(*spe).await?;
        if let SumsPlace::Local { weights, categories, .. } = place {
            self.fetch_resident(task, weights, (arguments.weights, DOUBLES_BYTES)).await?;
            if rates == Rates::Cat {
                let from = (arguments.pattern_categories, WORDS_BYTES);
                self.fetch_resident(task, categories, from).await?;
            }
        }
        if !self.is_worker(task.call) {
            self.factors(task).await;
        }
        self.share_tables(task, &[self.factor_table(task)]).await?;
        let mut done = 0;
        let compute = async |set: u32, groups: u32| {
            let at = |lane| streams.at(set, lane);
            let out = match place {
                SumsPlace::Local { sums, .. } => sums.offset(Bytes(done * vector_bytes(rates))),
                SumsPlace::Main => at(inputs.len()),
            };
            let kernel = SumTable {
                version: self.version,
                rates,
                groups,
                model: self.map.model,
                ends: [
                    kernel_end(arguments.ends[0], 0, at),
                    kernel_end(arguments.ends[1], ends[0].len(), at),
                ],
                out,
            };
            spe.compute(&kernel).await;
            done += u64::from(groups);
        };
        streams.run(*spe, compute).await?;
        spe.wait_for(RESIDENT_TAG).await;
        Ok(())
    }

    /// The addresses and lengths of the tables.
    pub(super) fn factor_table(
        &self,
        task: &SharedCall<'_, impl Element>,
    ) -> (LocalAddress, Bytes) {
        let bytes = u64::from(task.arguments.categories) * FACTOR_BYTES.0;
        (self.map.factors, Bytes(bytes))
    }

    /// The exponentials for the branch as it is now.
    pub(super) async fn factors(&self, task: &SharedCall<'_, impl Element>) {
        let category_count = task.arguments.categories;
        let kernel = NewtonFactors {
            version: self.version,
            category_count,
            model: self.map.model,
            branch: self.branches(),
            out: self.map.factors,
            tables: self.map.tables,
        };
        task.spe.compute(&kernel).await;
    }

    /// Adds the derivatives of the SPE's patterns to `result`.
    async fn derivatives(
        &self,
        task: &SharedCall<'_, impl Element>,
        place: SumsPlace,
    ) -> Result<()> {
        let SharedCall { spe, arguments, share, .. } = task;
        let rates = arguments.rates;
        let kernel = |groups, sums, weights, categories| Derivatives {
            version: self.version,
            rates,
            groups,
            category_count: arguments.categories,
            sums,
            factors: self.map.factors,
            categories,
            weights,
            result: self.map.result,
        };
        if let SumsPlace::Local { weights, categories, sums } = place {
            let groups = share.len() as u32;
            spe.loop_begins();
            if groups > 0 {
                let kernel = kernel(groups, sums, weights, categories);
                spe.compute(&kernel).await;
            }
            spe.loop_ends();
            return Ok(());
        }
        let mut inputs =
            vec![(arguments.sums, vector_bytes(rates)), (arguments.weights, DOUBLES_BYTES)];
        if rates == Rates::Cat {
            inputs.push((arguments.pattern_categories, WORDS_BYTES));
        }
        let streams = Streams::new(self.buffers(rates), share, &inputs, &[]);
        let compute = async |set: u32, groups: u32| {
            let at = |lane| streams.at(set, lane);
            let kernel = kernel(groups, at(0), at(1), at(2));
            spe.compute(&kernel).await;
        };
        streams.prefetch(*spe).await?;
        streams.run(*spe, compute).await
    }

    /// Begins to fetch an array of so many bytes a group, to stay during the call.
    async fn fetch_resident(
        &self,
        task: &SharedCall<'_, impl Element>,
        at: LocalAddress,
        (from, group_bytes): (EffectiveAddress, u64),
    ) -> Result<()> {
        let SharedCall { spe, share, .. } = task;
        let from = from.offset(u64::from(share.start) * group_bytes);
        let bytes = share.len() as u64 * group_bytes;
        for offset in (0..bytes).step_by(self.largest.0 as usize) {
            let size = Bytes(self.largest.0.min(bytes - offset));
            let (local, from) = (at.offset(Bytes(offset)), from.offset(offset));
            let get = Command::new(Direction::Get, local, from, size, RESIDENT_TAG);
            spe.enqueue_operands(get).await?;
            if self.buffers(task.arguments.rates).transfers == Transfers::OneByOne {
                spe.wait_for(RESIDENT_TAG).await;
            }
        }
        Ok(())
    }
}
