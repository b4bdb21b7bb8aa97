//! What runs on the SPEs: the three functions of RAxML as one module, each over its share of the
//! patterns.
//!
//! Every call fetches its arguments, and the model when it has changed. What depends on a branch
//! alone (matrices, products of tips, exponentials) each SPE computes for itself; groups of patterns
//! are dealt to the SPEs in contiguous blocks and stream through local store.

mod functions;
mod team;

use std::rc::Rc;

use super::memory::{ARGUMENTS_BYTES, MOST_SHARES, RaxmlArguments, WORDS_BYTES, vector_bytes};
use crate::layout::{InMemory as _, Room};
use crate::streaming::Buffers;
use crate::streaming::{Port, signalling, transfers};
use mmgp_base::error::Result;
use mmgp_base::units::{Bytes, Cycles};
use mmgp_cell::context::{Code, SpeImage};
use mmgp_cell::element::{Element, Timed, Values};
use mmgp_cell::element::{Fingerprint, Writer};
use mmgp_cell::mfc::{Command, Direction};
use mmgp_cell::{EffectiveAddress, Spe};
use mmgp_kernels::raxml::{
    DIAGONAL_BYTES, FACTOR_BYTES, MATRIX_BYTES, MAX_CATEGORIES, MODEL_BYTES, Rates, TABLES_BYTES,
    TIP_PRODUCT_BYTES, Version, write_tables,
};
use mmgp_runtime::{Call, Loop, Runtime, SpeProgram, Teams, Writing};
use mmgp_spu::local_store::LocalStore;
use mmgp_spu::{LocalAddress, Quadword};

/// The functions, in the order of their numbers.
pub const FUNCTIONS: [&str; 3] = ["newview", "makenewz", "evaluate"];
/// The vector of an inner node.
pub const NEWVIEW: u32 = 0;
/// The length of a branch.
pub const MAKENEWZ: u32 = 1;
/// The ln likelihood.
pub const EVALUATE: u32 = 2;

/// The tag of arguments, model and results; streams use 0 to 3.
const CONTROL_TAG: u8 = 4;
/// The tag of what SPEs send each other.
const EXCHANGE_TAG: u8 = 5;
/// The tag of what stays in local store during a call.
const RESIDENT_TAG: u8 = 6;

/// The modules in which the code of the functions comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Modules {
    /// One has all functions and stays in local store (PPoPP 2007).
    #[default]
    One,
    /// Each function is one, as large as that: an SPE that is asked for another function than its last
    /// fetches its module from main memory first. Nobody reports it; it is one of the ways in which what
    /// an SPE does alone, and what each further SPE costs, could be as large as published.
    ByFunction,
}

/// The program of every SPE.
pub struct RaxmlProgram {
    version: Version,
    values: Values,
    teams: Teams,
    /// The code of a module, where each function is one.
    module: Option<Code>,
    map: RaxmlMap,
    /// Adding two doubles that are in local store: a load and an addition.
    add: Cycles,
    /// The largest transfer.
    largest: Bytes,
}

/// A call as the functions see it.
struct SharedCall<'a, E> {
    spe: &'a E,
    call: Call,
    arguments: RaxmlArguments,
    /// The groups of patterns that this SPE works on.
    share: std::ops::Range<u32>,
}

impl RaxmlProgram {
    /// Has the program and its tables loaded into the local store of every SPE; a first port is told
    /// of calls by mailbox. Where the values of the run are known, its kernels are not executed.
    ///
    /// # Errors
    /// [`LocalStoreFull`](mmgp_spu::LocalStoreFull) where code, tables and buffers do not fit.
    pub fn load(
        on: &Runtime,
        port: Port,
        values: Values,
        (teams, modules): (Teams, Modules),
    ) -> Result<Rc<Self>> {
        let blade = on.blade();
        let spu = &blade.machine.spu;
        let map = RaxmlMap::new(spu.local_store);
        blade.create_contexts(&SpeImage {
            name: "RAxML",
            code: RaxmlMap::CODE,
            data: RaxmlMap::tables(),
            buffers: map.buffers(),
            zeros: map.zeros(),
            stack: RaxmlMap::STACK,
        })?;
        let version = port.version();
        let signalling = signalling(version);
        let (add, largest) = (spu.load + spu.double, blade.machine.mfc.largest);
        let module = blade.code().filter(|_| modules == Modules::ByFunction);
        let program = Rc::new(Self { version, values, teams, module, map, add, largest });
        on.load(&program, signalling);
        Ok(program)
    }

    /// One DMA transfer that the SPE waits for.
    async fn transfer(&self, spe: &impl Element, command: Command) -> Result<()> {
        spe.enqueue(command).await?;
        spe.wait_for(command.tag).await;
        Ok(())
    }

    async fn fetch_arguments(&self, spe: &impl Element, call: Call) -> Result<RaxmlArguments> {
        let local = self.map.arguments;
        let effective = call.arguments;
        let get = Command::new(Direction::Get, local, effective, ARGUMENTS_BYTES, CONTROL_TAG);
        self.transfer(spe, get).await?;
        Ok(RaxmlArguments::from_quadwords(&spe.read(local, ARGUMENTS_BYTES)?))
    }

    /// Fetches the model where the SPE has another one.
    async fn fetch_model(&self, spe: &impl Element, arguments: &RaxmlArguments) -> Result<()> {
        let [version, function] = spe.read(self.map.held, Bytes(16))?[0].0;
        if version == arguments.model_version {
            return Ok(());
        }
        let (local, bytes) = (self.map.model, MODEL_BYTES);
        let get = Command::new(Direction::Get, local, arguments.model, bytes, CONTROL_TAG);
        self.transfer(spe, get).await?;
        spe.write(self.map.held, &[Quadword([arguments.model_version, function])])
    }

    /// Fetches the module of a function where the SPE has another one.
    async fn fetch_module(&self, spe: &impl Element, function: u32) -> Result<()> {
        let Some(module) = self.module else { return Ok(()) };
        let [version, held] = spe.read(self.map.held, Bytes(16))?[0].0;
        if held == u64::from(function) {
            return Ok(());
        }
        module.fetch(spe).await?;
        spe.write(self.map.held, &[Quadword([version, u64::from(function)])])
    }

    /// The room for blocks, and how they flow: as many groups as fill a buffer.
    fn buffers(&self, rates: Rates) -> Buffers {
        let transfers = transfers(self.version);
        let groups = RaxmlMap::BLOCK_BYTES / vector_bytes(rates) as u32;
        Buffers { at: self.map.streams.0, groups, transfers }
    }

    /// The address of the branches of a call in local store: its arguments begin with them.
    fn branches(&self) -> LocalAddress {
        self.map.arguments
    }
}

impl RaxmlProgram {
    /// Serves a call.
    async fn serve<E: Element>(&self, spe: &E, call: Call) -> Result<()> {
        let arguments = match self.is_worker(call) {
            true => self.wait_for_pass(spe).await?,
            false => self.fetch_arguments(spe, call).await?,
        };
        self.fetch_module(spe, call.function).await?;
        self.fetch_model(spe, &arguments).await?;
        let share = team::share(arguments.groups, call);
        let task = SharedCall { spe, call, arguments, share };
        match call.function {
            NEWVIEW => self.newview(&task).await,
            MAKENEWZ => self.makenewz(&task).await,
            _ => self.evaluate(&task).await,
        }
    }
}

impl SpeProgram for RaxmlProgram {
    const FUNCTIONS: &'static [&'static str] = &FUNCTIONS;

    async fn call(&self, spe: &Spe, call: Call) -> Result<Vec<Loop>> {
        let timed = Timed::new(spe);
        self.serve(&timed, call).await?;
        Ok(timed.into_loops())
    }

    fn write<'a>(&'a self, writer: &'a Writer, call: Call) -> Option<Writing<'a>> {
        Some(Box::pin(self.serve(writer, call)))
    }

    /// Nothing where an SPE will fetch the model or a module, which it keeps.
    fn alike(&self, calls: &[(&Spe, Call)]) -> Option<Fingerprint> {
        let (first, call) = calls.first()?;
        let memory = first.memory();
        let quadwords: Vec<Quadword> = (0..ARGUMENTS_BYTES.0 / 16)
            .map(|index| memory.read(call.arguments.offset(16 * index)))
            .collect();
        let arguments = RaxmlArguments::from_quadwords(&quadwords);
        let wanted = Quadword([arguments.model_version, u64::from(call.function)]);
        let holds = |spe: &Spe| {
            let Quadword([version, function]) = spe.store.borrow().load(self.map.held);
            version == wanted.0[0] && (self.module.is_none() || function == wanted.0[1])
        };
        if !calls.iter().all(|(spe, _)| holds(spe)) {
            return None;
        }
        let mut all = Fingerprint::default();
        all.add(u64::from(call.function) << 32 | u64::from(call.shares));
        all.add(u64::from(call.lead.cast_unsigned()));
        all.add(memory.phase(call.arguments));
        let place = |at| EffectiveAddress(memory.phase(at));
        arguments.shape(&place).iter().flat_map(|it| it.0).for_each(|it| all.add(it));
        calls.iter().for_each(|(spe, _)| all.add(u64::from(spe.index)));
        Some(all)
    }

    fn values(&self) -> Values {
        self.values
    }

    fn teams(&self) -> Teams {
        self.teams
    }
}

/// Addresses in local store \[bytes\]; behind [`RaxmlMap::CODE`] and [`RaxmlMap::tables`] follow the
/// buffers, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct RaxmlMap {
    /// The tables for exponentials and logarithms.
    pub tables: LocalAddress,
    /// The arguments of the call.
    pub arguments: LocalAddress,
    /// The model of the arguments' version.
    pub model: LocalAddress,
    /// What is there: the version of the model, and, where each function is a module, its number.
    pub held: LocalAddress,
    /// Transition matrices of both branches.
    pub matrices: [LocalAddress; 2],
    /// What they make of each of the 16 codes.
    pub products: [LocalAddress; 2],
    /// The exponentials of a branch, for `evaluate`.
    pub diagonal: LocalAddress,
    /// The exponentials of a branch, for Newton's method.
    pub factors: LocalAddress,
    /// What kernels leave: a quadword.
    pub result: LocalAddress,
    /// What the master tells a worker: two quadwords.
    pub pass: LocalAddress,
    /// What goes to other SPEs: two quadwords.
    pub outgoing: LocalAddress,
    /// What comes from the first SPE: two quadwords.
    pub decision: LocalAddress,
    /// What comes from each of the others: two quadwords each.
    pub partial_sums: LocalAddress,
    /// Two sets of buffers of the blocks that flow through.
    pub streams: LocalAddress,
    /// What stays during a call.
    pub resident: LocalAddress,
    /// The first byte behind that.
    pub end: LocalAddress,
}

/// Room for the message of an SPE to another: two quadwords, one a sequence number.
const MESSAGE_BYTES: Bytes = Bytes(32);

impl RaxmlMap {
    /// The module of all three functions: 117 KB (Blagojevic et al., PPoPP 2007).
    pub const CODE: Bytes = Bytes(117 * 1024);
    /// Room for the stack: calls are few and shallow.
    pub const STACK: Bytes = Bytes(2048);
    /// The vectors of a block.
    pub const BLOCK_BYTES: u32 = 8192;

    /// A local store of that size, filled.
    pub fn new(local_store: Bytes) -> Self {
        let mut room = Room::of_lines(Self::CODE.0 as u32);
        let mut take = |bytes| room.take(bytes);
        let categories = |each: Bytes| Bytes(u64::from(MAX_CATEGORIES) * each.0);
        let (quadword, message) = (Bytes(16), MESSAGE_BYTES);
        Self {
            tables: take(TABLES_BYTES),
            arguments: take(ARGUMENTS_BYTES),
            model: take(MODEL_BYTES),
            held: take(quadword),
            matrices: [take(categories(MATRIX_BYTES)), take(categories(MATRIX_BYTES))],
            products: [take(TIP_PRODUCT_BYTES), take(TIP_PRODUCT_BYTES)],
            diagonal: take(categories(DIAGONAL_BYTES)),
            factors: take(categories(FACTOR_BYTES)),
            result: take(quadword),
            pass: take(message),
            outgoing: take(message),
            decision: take(message),
            partial_sums: take(Bytes(MOST_SHARES as u64 * message.0)),
            streams: take(Bytes(u64::from(Self::stream_bytes()))),
            resident: take(Bytes(0)),
            end: LocalAddress(local_store.0 as u32 - Self::STACK.0 as u32),
        }
    }

    /// Two sets of buffers. `newview` with CAT has the most: two children and a result with their
    /// counts, and the categories; a group of counts or categories is an eighth of one of vectors.
    fn stream_bytes() -> u32 {
        let words = Self::BLOCK_BYTES / 128 * WORDS_BYTES as u32;
        2 * (3 * (Self::BLOCK_BYTES + words) + words)
    }

    /// What the buffers take, from the arguments to the stack.
    pub fn buffers(&self) -> Bytes {
        Bytes(u64::from(self.end.0 - self.arguments.0))
    }

    /// What is zero when the program begins: no model is held, the first function is, and no message
    /// has come.
    pub fn zeros(&self) -> Vec<(LocalAddress, Bytes)> {
        vec![
            (self.held, Bytes(16)),
            (self.pass, MESSAGE_BYTES),
            (self.decision, MESSAGE_BYTES),
            (self.partial_sums, Bytes(MOST_SHARES as u64 * MESSAGE_BYTES.0)),
        ]
    }

    /// The data of the program.
    pub fn tables() -> Vec<Quadword> {
        let mut store = LocalStore::new();
        write_tables(&mut store, LocalAddress(0));
        let bytes = Bytes(TABLES_BYTES.0.next_multiple_of(128));
        store.slice(LocalAddress(0), bytes).to_vec()
    }
}
