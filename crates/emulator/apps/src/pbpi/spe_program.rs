//! What runs on the SPEs: the three likelihood functions, each over its share of the patterns.
//!
//! Inner nodes come from main memory as vectors with their scaling counts, tips as codes. Of these a
//! kernel makes the vectors of a block in local store, in front of the kernel that combines the
//! children: that costs a tip 9 cycles a pattern, and saves 35 of the 36 bytes of its transfer.

use super::rank::{
    ARGUMENTS_BYTES, CHILD_BYTES, COUNTS_BYTES, MATRIX_BYTES, PbpiArguments, VECTOR_BYTES,
    WEIGHTS_BYTES, block,
};
use crate::layout::{InMemory as _, Room};
use crate::likelihood::{End, GroupArray};
use crate::streaming::{Buffers, Streams};
use crate::streaming::{signalling, transfers};
use mmgp_base::error::Result;
use mmgp_base::units::{Bytes, Cycles};
use mmgp_cell::context::SpeImage;
use mmgp_cell::element::{Element, Timed, Values};
use mmgp_cell::element::{Fingerprint, Writer};
use mmgp_cell::mfc::{Command, Direction};
use mmgp_cell::{EffectiveAddress, Spe};
use mmgp_kernels::Version;
use mmgp_kernels::logarithm;
use mmgp_kernels::pbpi::{
    LikelihoodSum, NodeUpdate, RootProduct, TIP_TABLE_BYTES, TipVectors, tip_table,
};
use mmgp_runtime::{Call, Loop, Runtime, SpeProgram, Writing};
use mmgp_spu::local_store::LocalStore;
use mmgp_spu::{Kernel, LocalAddress, Quadword};

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
const FREQUENCIES_BYTES: Bytes = Bytes(128);

/// The scaling counts of a block of a tip, which are never fetched.
const NO_COUNTS_BYTES: Bytes = Bytes(BLOCK_GROUPS as u64 * COUNTS_BYTES);

/// Room for the vectors of a block of a tip, which are made of its codes.
const TIP_BLOCK_BYTES: Bytes = Bytes(BLOCK_GROUPS as u64 * VECTOR_BYTES);

/// The tag of arguments, matrices and results; the lanes of [`Streams`] use 0 to 3.
const CONTROL_TAG: u8 = 4;

/// The places of the program's data in local store, behind its code.
#[derive(Debug, Clone, Copy)]
struct PbpiMap {
    /// The table of the logarithm.
    table: LocalAddress,
    frequencies: LocalAddress,
    /// The vectors of all codes of tips.
    tip_table: LocalAddress,
    /// The scaling counts of a block of any tip, zeros.
    no_counts: LocalAddress,
    arguments: LocalAddress,
    matrices: LocalAddress,
    sum: LocalAddress,
    /// The vectors of a block of up to three tips.
    tips: LocalAddress,
    buffers: LocalAddress,
}

impl PbpiMap {
    fn new() -> Self {
        let mut room = Room::of_lines(CODE.0 as u32);
        Self {
            table: room.take(logarithm::TABLE_BYTES),
            frequencies: room.take(FREQUENCIES_BYTES),
            tip_table: room.take(TIP_TABLE_BYTES),
            no_counts: room.take(NO_COUNTS_BYTES),
            arguments: room.take(ARGUMENTS_BYTES),
            matrices: room.take(Bytes(3 * MATRIX_BYTES)),
            sum: room.take(Bytes(16)),
            tips: room.take(Bytes(3 * TIP_BLOCK_BYTES.0)),
            buffers: room.take(Bytes(0)),
        }
    }
}

/// The program of every SPE.
pub struct PbpiProgram {
    /// How its kernels are written.
    version: Version,
    values: Values,
    map: PbpiMap,
    /// Adding the sum of a block to that of the blocks before: a load and an addition.
    accumulate: Cycles,
}

impl PbpiProgram {
    /// Has the program and its constants loaded into the local store of every SPE.
    ///
    /// # Errors
    /// [`LocalStoreFull`](mmgp_spu::LocalStoreFull) where the code and two sets of buffers do not fit.
    pub fn load(on: &Runtime, version: Version, values: Values) -> Result<std::rc::Rc<Self>> {
        let blade = on.blade();
        let spu = &blade.machine.spu;
        let map = PbpiMap::new();
        // The root product of inner nodes has the most: three children and a result.
        let set = u64::from(BLOCK_GROUPS) * 4 * (VECTOR_BYTES + COUNTS_BYTES);
        blade.create_contexts(&SpeImage {
            name: "PBPI",
            code: CODE,
            data: constants(),
            buffers: Bytes(u64::from(map.buffers.0 - map.arguments.0) + 2 * set),
            zeros: Vec::new(),
            stack: STACK,
        })?;
        let accumulate = spu.load + spu.double;
        let program = std::rc::Rc::new(Self { version, values, map, accumulate });
        on.load(&program, signalling(version));
        Ok(program)
    }

    /// One DMA transfer that the SPE waits for.
    async fn transfer(
        &self,
        spe: &impl Element,
        direction: Direction,
        local: LocalAddress,
        effective: EffectiveAddress,
        bytes: Bytes,
    ) -> Result<()> {
        let command = Command::new(direction, local, effective, bytes, CONTROL_TAG);
        spe.enqueue(command).await?;
        spe.wait_for(CONTROL_TAG).await;
        Ok(())
    }

    fn matrix(&self, child: u32) -> LocalAddress {
        self.map.matrices.offset(Bytes(u64::from(child) * MATRIX_BYTES))
    }

    /// The room for blocks, and how they flow.
    fn buffers(&self) -> Buffers {
        Buffers { at: self.map.buffers.0, groups: BLOCK_GROUPS, transfers: transfers(self.version) }
    }

    /// The vectors of the children of a block, whose lanes begin at those addresses: inner
    /// nodes as they came, tips as vectors that are made of their codes now.
    async fn vectors(
        &self,
        spe: &impl Element,
        children: &[End],
        groups: u32,
        lane: impl Fn(usize) -> LocalAddress,
    ) -> Vec<LocalVector> {
        let mut vectors = Vec::with_capacity(children.len());
        let mut next = 0;
        for (place, child) in (0..).zip(children) {
            vectors.push(match child {
                End::Inner(_) => LocalVector { entries: lane(next), counts: lane(next + 1) },
                End::Tip(_) => {
                    let out = self.map.tips.offset(Bytes(place * TIP_BLOCK_BYTES.0));
                    let kernel = TipVectors {
                        version: self.version,
                        groups,
                        codes: lane(next),
                        tip_table: self.map.tip_table,
                        out,
                    };
                    spe.compute(&kernel).await;
                    LocalVector { entries: out, counts: self.map.no_counts }
                }
            });
            next += CHILD_BYTES.lanes(*child).len();
        }
        vectors
    }

    /// The vectors of a node from those of its children: fetches a matrix for each of them, and runs, on every
    /// block, the kernel of so many groups, the children's vectors, and where entries and counts go.
    async fn node<K: Kernel<Output: Default>>(
        &self,
        spe: &impl Element,
        (arguments, children): (&PbpiArguments, &[End]),
        share: Share,
        kernel: impl Fn(u32, &[LocalVector], [LocalAddress; 2]) -> K,
    ) -> Result<()> {
        let (matrices, bytes) = (self.map.matrices, Bytes(children.len() as u64 * MATRIX_BYTES));
        self.transfer(spe, Direction::Get, matrices, arguments.matrices, bytes).await?;
        let inputs = lanes_of(children);
        let streams =
            Streams::new(self.buffers(), &share, &inputs, &CHILD_BYTES.lanes_of(arguments.out));
        let compute = async |set: u32, groups: u32| {
            let at = |lane| streams.at(set, lane);
            let vectors = self.vectors(spe, children, groups, at).await;
            let out = [0, 1].map(|lane| at(inputs.len() + lane));
            spe.compute(&kernel(groups, &vectors, out)).await;
        };
        streams.prefetch(spe).await?;
        streams.run(spe, compute).await
    }

    async fn likelihood(
        &self,
        spe: &impl Element,
        arguments: &PbpiArguments,
        call: Call,
        share: Share,
    ) -> Result<()> {
        let mut inputs = lanes_of(&arguments.children[..1]);
        inputs.push((arguments.weights, WEIGHTS_BYTES));
        let streams = Streams::new(self.buffers(), &share, &inputs, &[]);
        let mut sum = 0.0;
        let compute = async |set: u32, groups: u32| {
            let at = |lane| streams.at(set, lane);
            let kernel = LikelihoodSum {
                version: self.version,
                groups,
                root: at(0),
                counts: at(1),
                weights: at(2),
                frequencies: self.map.frequencies,
                table: self.map.table,
                result: self.map.sum,
            };
            sum += spe.compute(&kernel).await;
            spe.spend(self.accumulate).await;
        };
        streams.prefetch(spe).await?;
        streams.run(spe, compute).await?;
        spe.write(self.map.sum, &[Quadword::from_doubles([sum, 0.0])])?;
        let result = arguments.results.offset(16 * u64::from(call.share));
        self.transfer(spe, Direction::Put, self.map.sum, result, Bytes(16)).await
    }
}

/// The data of the program: the table of the logarithm, the frequencies of the states, which are
/// equal under JC69, the vectors of all codes of tips, and the counts of a block of a tip.
fn constants() -> Vec<Quadword> {
    let mut store = LocalStore::new();
    logarithm::write_table(&mut store, LocalAddress(0));
    let mut data = store.slice(LocalAddress(0), logarithm::TABLE_BYTES).to_vec();
    let quadwords = FREQUENCIES_BYTES.0 as usize / 16;
    data.extend(std::iter::repeat_n(Quadword::from_doubles([0.25; 2]), quadwords));
    data.extend(tip_table());
    data.extend(std::iter::repeat_n(Quadword::ZERO, NO_COUNTS_BYTES.0 as usize / 16));
    data
}

/// The groups of patterns that one SPE works on.
type Share = std::ops::Range<u32>;

/// The vectors of a child in local store, with their scaling counts.
struct LocalVector {
    entries: LocalAddress,
    counts: LocalAddress,
}

/// The arrays of children, in their order.
fn lanes_of(children: &[End]) -> Vec<GroupArray> {
    children.iter().flat_map(|&child| CHILD_BYTES.lanes(child)).collect()
}

impl PbpiProgram {
    /// Serves a call.
    async fn serve(&self, spe: &impl Element, call: Call) -> Result<()> {
        let local = self.map.arguments;
        self.transfer(spe, Direction::Get, local, call.arguments, ARGUMENTS_BYTES).await?;
        let quadwords = spe.read(local, ARGUMENTS_BYTES)?;
        let arguments = PbpiArguments::from_quadwords(&quadwords);
        let own = block(arguments.groups as usize, call.share as usize, call.shares as usize);
        let share = own.start as u32..own.end as u32;
        match call.function {
            NODE => {
                let kernel =
                    |groups, children: &[LocalVector], [out, out_counts]: [_; 2]| NodeUpdate {
                        version: self.version,
                        groups,
                        left_matrix: self.matrix(0),
                        right_matrix: self.matrix(1),
                        left: children[0].entries,
                        left_counts: children[0].counts,
                        right: children[1].entries,
                        right_counts: children[1].counts,
                        out,
                        out_counts,
                    };
                self.node(spe, (&arguments, &arguments.children[..2]), share, kernel).await
            }
            ROOT => {
                let kernel =
                    |groups, children: &[LocalVector], [out, out_counts]: [_; 2]| RootProduct {
                        version: self.version,
                        groups,
                        matrices: [0, 1, 2].map(|child| self.matrix(child)),
                        vectors: [0, 1, 2].map(|child| children[child].entries),
                        counts: [0, 1, 2].map(|child| children[child].counts),
                        out,
                        out_counts,
                    };
                self.node(spe, (&arguments, &arguments.children), share, kernel).await
            }
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
        let quadword = |index| memory.read(call.arguments.offset(16 * index));
        let quadwords: Vec<Quadword> = (0..ARGUMENTS_BYTES.0 / 16).map(quadword).collect();
        let place = |at| EffectiveAddress(memory.phase(at));
        let placed = PbpiArguments::from_quadwords(&quadwords).placed(ARGUMENTS_BYTES, &place);
        let mut all = Fingerprint::default();
        all.add(u64::from(call.function) << 32 | u64::from(call.shares));
        all.add(memory.phase(call.arguments));
        placed.iter().flat_map(|it| it.0).for_each(|it| all.add(it));
        calls.iter().for_each(|(spe, _)| all.add(u64::from(spe.index)));
        Some(all)
    }

    fn values(&self) -> Values {
        self.values
    }
}
