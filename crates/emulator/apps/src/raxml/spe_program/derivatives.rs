//! `makenewz`: the length of a branch by Newton's method.

use super::super::memory::{DOUBLES_BYTES, WORDS_BYTES, end_bytes, vector_bytes};
use super::evaluate::kernel_end;
use super::exchange::Next;
use super::{CONTROL_TAG, RESIDENT_TAG, RaxmlProgram, Task};
use crate::streaming::{Streams, Transfers};
use mmgp_base::error::Result;
use mmgp_base::units::Bytes;
use mmgp_cell::EffectiveAddress;
use mmgp_cell::element::Element;
use mmgp_cell::mfc::{Command, Direction};
use mmgp_kernels::raxml::{Derivatives, FACTOR_BYTES, NewtonFactors, Rates, SumTable};
use mmgp_runtime::Teams;
use mmgp_spu::{LocalAddress, Quadword};

/// Where the sums of a call lie between its steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In local store with weights and categories, which begin there.
    Local { weights: LocalAddress, categories: LocalAddress, sums: LocalAddress },
    /// In main memory, from where they stream at every step.
    Main,
}

impl RaxmlProgram {
    /// The first SPE puts the z that all agreed on into main memory, and after how many steps.
    pub(super) async fn makenewz(&self, task: &Task<'_, impl Element>) -> Result<()> {
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

    /// In local store where there is room.
    fn place(&self, task: &Task<'_, impl Element>) -> Place {
        let (groups, rates) = (task.share.len() as u64, task.arguments.rates);
        let words = if rates == Rates::Cat { WORDS_BYTES } else { 0 };
        let weights = self.map.resident;
        let categories = weights.offset(Bytes(groups * DOUBLES_BYTES));
        let sums = categories.offset(Bytes(groups * words));
        if sums.offset(Bytes(groups * vector_bytes(rates))) <= self.map.end {
            Place::Local { weights, categories, sums }
        } else {
            Place::Main
        }
    }

    /// The sums of all patterns; the first factors are computed while the first block comes.
    async fn sum_table(&self, task: &Task<'_, impl Element>, place: Place) -> Result<()> {
        let Task { spe, arguments, share, .. } = task;
        let rates = arguments.rates;
        let ends = arguments.ends.map(|end| end_bytes(rates).lanes(end));
        let inputs = ends.concat();
        let out = [(arguments.sums, vector_bytes(rates))];
        let streamed = if place == Place::Main { &out[..] } else { &[] };
        let streams = Streams::new(self.buffers(rates), share, &inputs, streamed);
        streams.prefetch(*spe).await?;
        if let Place::Local { weights, categories, .. } = place {
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
                Place::Local { sums, .. } => sums.offset(Bytes(done * vector_bytes(rates))),
                Place::Main => at(inputs.len()),
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

    /// Where they are.
    pub(super) fn factor_table(&self, task: &Task<'_, impl Element>) -> (LocalAddress, Bytes) {
        let bytes = u64::from(task.arguments.categories) * FACTOR_BYTES.0;
        (self.map.factors, Bytes(bytes))
    }

    /// The exponentials for the branch as it is now.
    pub(super) async fn factors(&self, task: &Task<'_, impl Element>) {
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
    async fn derivatives(&self, task: &Task<'_, impl Element>, place: Place) -> Result<()> {
        let Task { spe, arguments, share, .. } = task;
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
        if let Place::Local { weights, categories, sums } = place {
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
        task: &Task<'_, impl Element>,
        at: LocalAddress,
        (from, group_bytes): (EffectiveAddress, u64),
    ) -> Result<()> {
        let Task { spe, share, .. } = task;
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
