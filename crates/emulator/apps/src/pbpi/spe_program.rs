//! What runs on the SPEs: the three likelihood functions, each over its share of the patterns.
//!
//! Inner nodes come from main memory as vectors with their scaling counts, tips as codes. Of these a
//! kernel makes the vectors of a block in local store, in front of the kernel that combines the
//! children: that costs a tip 9 cycles a pattern, and saves 35 of the 36 bytes of its transfer.

use super::arguments::{ARGUMENTS_BYTES, Arguments, Child};
use super::segment::{
    CODES_BYTES, COUNTS_BYTES, MATRIX_BYTES, VECTOR_BYTES, Vector, WEIGHTS_BYTES, block,
};
use crate::port::{signalling, transfers};
use crate::streaming::{Buffers, Streams};
use mmgp_base::error::Result;
use mmgp_base::units::{Bytes, Cycles};
use mmgp_cell::context::SpeImage;
use mmgp_cell::element::{Element, Timed, Values};
use mmgp_cell::mfc::{Command, Direction};
use mmgp_cell::script::{Fingerprint, Writer};
use mmgp_cell::{EffectiveAddress, Spe};
use mmgp_kernels::logarithm;
use mmgp_kernels::pbpi::{
    LikelihoodSum, NodeUpdate, RootProduct, TIP_TABLE_BYTES, TipVectors, tip_table,
};
use mmgp_kernels::version::Version;
use mmgp_runtime::{Call, Loop, Runtime, SpeProgram, Writing};
use mmgp_spu::local_store::LocalStore;
use mmgp_spu::{LocalAddress, Quadword};

/// The functions, in the order of their numbers.
pub const FUNCTIONS: [&str; 3] = ["node", "root", "likelihood"];
/// Vectors of an inner node from those of two children.
pub const NODE: u32 = 0;
/// Vectors of the root from those of three children.
pub const ROOT: u32 = 1;
/// Log-likelihood from the vectors of the root.
pub const LIKELIHOOD: u32 = 2;

/// Groups of patterns in a block. Nothing overlaps the fetching of the first block, so blocks are
/// small: of 8, 16, 32, 64 and 128 groups, 8 and 16 took the least time on a QS20 with all SPEs
/// busy (107 taxa x 10,000 sites at (2, 8): 32.2, 32.9, 34.7, 37.7, 43.6 ms), and 16 needs half the
/// DMA commands of 8.
pub const BLOCK_GROUPS: u32 = 16;

/// Room for the code of PBPI's module: no figure is published; RAxML's has 117 KB, and the buffers
/// leave room for 100 KB.
const CODE: Bytes = Bytes(14_336);
/// Room for its stack: calls are few and shallow.
const STACK: Bytes = Bytes(2048);

/// Room for the frequencies of the states, four doubles.
const FREQUENCIES_BYTES: u64 = 128;

/// The scaling counts of a block of a tip, which are never fetched.
const NO_COUNTS_BYTES: u64 = BLOCK_GROUPS as u64 * COUNTS_BYTES;

/// Room for the vectors of a block of a tip, which are made of its codes.
const TIP_BLOCK_BYTES: u32 = BLOCK_GROUPS * VECTOR_BYTES as u32;

/// The tag of arguments, matrices and results; the lanes of [`Streams`] use 0 to 3.
const CONTROL_TAG: u8 = 4;

/// The program of every SPE, and where it keeps things in local store.
pub struct PbpiProgram {
    /// Of its kernels.
    version: Version,
    values: Values,
    table: u32,
    frequencies: u32,
    /// The vectors of all codes of tips.
    tip_table: u32,
    /// The scaling counts of a block of any tip, zeros.
    no_counts: u32,
    arguments: u32,
    matrices: u32,
    sum: u32,
    /// The vectors of a block of up to three tips.
    tips: u32,
    buffers: u32,
    /// Adding the sum of a block to that of the blocks before: a load and an addition.
    accumulate: Cycles,
}

impl PbpiProgram {
    /// Has the program and its constants loaded into the local store of every SPE.
    ///
    /// # Errors
    /// [`mmgp_base::error::Error::LocalStoreFull`] where the code and two sets of buffers do not fit.
    pub fn load(on: &Runtime, version: Version, values: Values) -> Result<std::rc::Rc<Self>> {
        let blade = on.blade();
        let spu = &blade.machine.spu;
        let table = CODE.0 as u32;
        let frequencies = table + logarithm::TABLE_BYTES.0 as u32;
        let tip_table = frequencies + FREQUENCIES_BYTES as u32;
        let no_counts = tip_table + TIP_TABLE_BYTES.0 as u32;
        let arguments = no_counts + NO_COUNTS_BYTES as u32;
        let matrices = arguments + ARGUMENTS_BYTES as u32;
        let sum = matrices + 3 * MATRIX_BYTES as u32;
        let tips = sum + 128;
        let buffers = tips + 3 * TIP_BLOCK_BYTES;
        // The root product of inner nodes has the most: three children and a result.
        let set = u64::from(BLOCK_GROUPS) * 4 * (VECTOR_BYTES + COUNTS_BYTES);
        blade.create_contexts(&SpeImage {
            name: "PBPI",
            code: CODE,
            data: constants(),
            buffers: Bytes(u64::from(buffers - arguments) + 2 * set),
            zeros: Vec::new(),
            stack: STACK,
        })?;
        let accumulate = spu.load + spu.double;
        let program = std::rc::Rc::new(Self {
            version,
            values,
            table,
            frequencies,
            tip_table,
            no_counts,
            arguments,
            matrices,
            sum,
            tips,
            buffers,
            accumulate,
        });
        on.load(&program, signalling(version));
        Ok(program)
    }

    /// One DMA transfer that the SPE waits for.
    async fn transfer(
        &self,
        spe: &impl Element,
        direction: Direction,
        local: u32,
        effective: EffectiveAddress,
        bytes: u64,
    ) -> Result<()> {
        let (local, bytes) = (LocalAddress(local), Bytes(bytes));
        let command = Command::new(direction, local, effective, bytes, CONTROL_TAG);
        spe.enqueue(command).await?;
        spe.wait_for(CONTROL_TAG).await;
        Ok(())
    }

    fn matrix(&self, child: u32) -> LocalAddress {
        LocalAddress(self.matrices + child * MATRIX_BYTES as u32)
    }

    /// Where blocks lie, and how they flow.
    fn buffers(&self) -> Buffers {
        Buffers { at: self.buffers, groups: BLOCK_GROUPS, transfers: transfers(self.version) }
    }

    /// Where a kernel finds the children of a block, whose lanes begin at those addresses: inner
    /// nodes as they came, tips as vectors that are made of their codes now.
    async fn vectors(
        &self,
        spe: &impl Element,
        children: &[Child],
        groups: u32,
        lane: impl Fn(usize) -> LocalAddress,
    ) -> Vec<LocalVector> {
        let mut vectors = Vec::with_capacity(children.len());
        let mut next = 0;
        for (place, child) in (0..).zip(children) {
            vectors.push(match child {
                Child::Inner(_) => LocalVector { entries: lane(next), counts: lane(next + 1) },
                Child::Tip(_) => {
                    let out = LocalAddress(self.tips + place * TIP_BLOCK_BYTES);
                    let kernel = TipVectors {
                        version: self.version,
                        groups,
                        codes: lane(next),
                        tip_table: LocalAddress(self.tip_table),
                        out,
                    };
                    spe.compute(&kernel).await;
                    LocalVector { entries: out, counts: LocalAddress(self.no_counts) }
                }
            });
            next += lanes_of_child(child).len();
        }
        vectors
    }

    async fn node(&self, spe: &impl Element, arguments: &Arguments, share: Share) -> Result<()> {
        self.transfer(spe, Direction::Get, self.matrices, arguments.matrices, 2 * MATRIX_BYTES)
            .await?;
        let children = &arguments.children[..2];
        let inputs = lanes_of(children);
        let streams = Streams::new(self.buffers(), &share, &inputs, &lanes(arguments.out));
        let compute = async |set: u32, groups: u32| {
            let at = |lane: usize| LocalAddress(set + streams.offset(lane));
            let vectors = self.vectors(spe, children, groups, at).await;
            let kernel = NodeUpdate {
                version: self.version,
                groups,
                left_matrix: self.matrix(0),
                right_matrix: self.matrix(1),
                left: vectors[0].entries,
                left_counts: vectors[0].counts,
                right: vectors[1].entries,
                right_counts: vectors[1].counts,
                out: at(inputs.len()),
                out_counts: at(inputs.len() + 1),
            };
            spe.compute(&kernel).await;
        };
        streams.prefetch(spe).await?;
        streams.run(spe, compute).await
    }

    async fn root(&self, spe: &impl Element, arguments: &Arguments, share: Share) -> Result<()> {
        self.transfer(spe, Direction::Get, self.matrices, arguments.matrices, 3 * MATRIX_BYTES)
            .await?;
        let inputs = lanes_of(&arguments.children);
        let streams = Streams::new(self.buffers(), &share, &inputs, &lanes(arguments.out));
        let compute = async |set: u32, groups: u32| {
            let at = |lane: usize| LocalAddress(set + streams.offset(lane));
            let vectors = self.vectors(spe, &arguments.children, groups, at).await;
            let kernel = RootProduct {
                version: self.version,
                groups,
                matrices: [0, 1, 2].map(|child| self.matrix(child)),
                vectors: [0, 1, 2].map(|child| vectors[child].entries),
                counts: [0, 1, 2].map(|child| vectors[child].counts),
                out: at(inputs.len()),
                out_counts: at(inputs.len() + 1),
            };
            spe.compute(&kernel).await;
        };
        streams.prefetch(spe).await?;
        streams.run(spe, compute).await
    }

    async fn likelihood(
        &self,
        spe: &impl Element,
        arguments: &Arguments,
        call: Call,
        share: Share,
    ) -> Result<()> {
        let mut inputs = lanes_of(&arguments.children[..1]);
        inputs.push((arguments.weights, WEIGHTS_BYTES));
        let streams = Streams::new(self.buffers(), &share, &inputs, &[]);
        let mut sum = 0.0;
        let compute = async |set: u32, groups: u32| {
            let at = |lane: usize| LocalAddress(set + streams.offset(lane));
            let kernel = LikelihoodSum {
                version: self.version,
                groups,
                root: at(0),
                counts: at(1),
                weights: at(2),
                frequencies: LocalAddress(self.frequencies),
                table: LocalAddress(self.table),
                result: LocalAddress(self.sum),
            };
            sum += spe.compute(&kernel).await;
            spe.spend(self.accumulate).await;
        };
        streams.prefetch(spe).await?;
        streams.run(spe, compute).await?;
        spe.write(LocalAddress(self.sum), &[Quadword::from_doubles([sum, 0.0])])?;
        let result = arguments.results.offset(16 * u64::from(call.share));
        self.transfer(spe, Direction::Put, self.sum, result, 16).await
    }
}

/// The data of the program: the table of the logarithm, the frequencies of the states, which are
/// equal under JC69, the vectors of all codes of tips, and the counts of a block of a tip.
fn constants() -> Vec<Quadword> {
    let mut store = LocalStore::new();
    logarithm::write_table(&mut store, LocalAddress(0));
    let mut data = store.slice(LocalAddress(0), logarithm::TABLE_BYTES).to_vec();
    let quadwords = FREQUENCIES_BYTES as usize / 16;
    data.extend(std::iter::repeat_n(Quadword::from_doubles([0.25; 2]), quadwords));
    data.extend(tip_table());
    data.extend(std::iter::repeat_n(Quadword::ZERO, NO_COUNTS_BYTES as usize / 16));
    data
}

/// The groups of patterns that one SPE works on.
type Share = std::ops::Range<u32>;

/// The vectors of a child in local store, with their scaling counts.
struct LocalVector {
    entries: LocalAddress,
    counts: LocalAddress,
}

/// Entries and counts of a vector as streams.
fn lanes(vector: Vector) -> [(EffectiveAddress, u64); 2] {
    [(vector.entries, VECTOR_BYTES), (vector.counts, COUNTS_BYTES)]
}

/// The arrays of a child as streams.
fn lanes_of_child(child: &Child) -> Vec<(EffectiveAddress, u64)> {
    match *child {
        Child::Tip(codes) => vec![(codes, CODES_BYTES)],
        Child::Inner(vector) => lanes(vector).to_vec(),
    }
}

/// Those of children, in their order.
fn lanes_of(children: &[Child]) -> Vec<(EffectiveAddress, u64)> {
    children.iter().flat_map(lanes_of_child).collect()
}

impl PbpiProgram {
    /// Serves a call.
    async fn serve(&self, spe: &impl Element, call: Call) -> Result<()> {
        self.transfer(spe, Direction::Get, self.arguments, call.arguments, ARGUMENTS_BYTES).await?;
        let quadwords = spe.read(LocalAddress(self.arguments), Bytes(ARGUMENTS_BYTES))?;
        let arguments = Arguments::from_quadwords(&quadwords);
        let own = block(arguments.groups as usize, call.share as usize, call.shares as usize);
        let share = own.start as u32..own.end as u32;
        match call.function {
            NODE => self.node(spe, &arguments, share).await,
            ROOT => self.root(spe, &arguments, share).await,
            _ => self.likelihood(spe, &arguments, call, share).await,
        }
    }
}

impl SpeProgram for PbpiProgram {
    const FUNCTIONS: &'static [&'static str] = &FUNCTIONS;

    async fn call(&self, spe: &Spe, call: Call) -> Result<Vec<Loop>> {
        let timed = Timed::new(spe);
        self.serve(&timed, call).await?;
        Ok(timed.into_loops())
    }

    fn write<'a>(&'a self, writer: &'a Writer, call: Call) -> Option<Writing<'a>> {
        Some(Box::pin(self.serve(writer, call)))
    }

    fn alike(&self, calls: &[(&Spe, Call)]) -> Option<Fingerprint> {
        let (spe, call) = calls.first()?;
        let memory = spe.memory();
        let quadwords =
            (0..ARGUMENTS_BYTES / 16).map(|index| memory.read(call.arguments.offset(16 * index)));
        let mut all = Fingerprint::default();
        all.add(u64::from(call.function) << 32 | u64::from(call.shares));
        all.add(memory.phase(call.arguments));
        Arguments::shape(quadwords, |at| memory.phase(at)).for_each(|word| all.add(word));
        calls.iter().for_each(|(spe, _)| all.add(u64::from(spe.index)));
        Some(all)
    }

    fn values(&self) -> Values {
        self.values
    }
}
