//! What runs on the SPEs.

use std::cell::Cell;
use std::ops::Range;

use super::NODES_PER_STEP;
use super::{
    ARGUMENTS, ARGUMENTS_BYTES, Group, REPORT, REPORT_BYTES, REPORTS, RankingArguments, ThreadMap,
};
use crate::layout::InMemory as _;
use crate::streaming::{Buffers, Streams, Transfers};
use mmgp_base::error::Result;
use mmgp_base::units::Bytes;
use mmgp_cell::element::{Element as _, Timed};
use mmgp_cell::mfc::{Command, Direction, ListCommand, Order};
use mmgp_cell::{EffectiveAddress, Progress, Spe};
use mmgp_kernels::list_ranking::{
    Add, Advance, Ask, NODE_BYTES, NODES_PER_GROUP, Retire, SuccessorSum, TurnOver,
};
use mmgp_lists::{Operation, part};
use mmgp_runtime::{Call, Loop, SpeProgram};
use mmgp_spu::{LocalAddress, Quadword};

/// What its functions are called.
pub const FUNCTIONS: [&str; 3] = ["sum successors", "rank sublists", "add prefixes"];
/// Their numbers.
pub const SUM: u32 = 0;
pub const RANK: u32 = 1;
pub const ADD: u32 = 2;

/// Tags of the first DMA lists that fetch nodes, and of those that store records.
const GETS: u8 = 0;
const PUTS: u8 = 16;

/// Groups of nodes or records of a block that is streamed: 8 KB.
const BLOCK_GROUPS: u32 = 64;
/// Bytes of each group that is streamed.
const GROUP_BYTES: u64 = NODES_PER_GROUP as u64 * NODE_BYTES.0;
/// The room for blocks.
const BLOCKS: u32 = 0x8000;
/// What comes before each sublist, from none on.
const BEFORE: LocalAddress = LocalAddress(0x4000);

/// The program.
#[derive(Debug)]
pub struct ListProgram {
    operation: Operation,
    progress: Progress,
    /// Nodes that have been ranked since the last step of progress.
    ranked: Cell<u64>,
}

impl ListProgram {
    /// The program for prefixes of that operation.
    pub fn new(operation: Operation, progress: Progress) -> Self {
        Self { operation, progress, ranked: Cell::new(0) }
    }

    /// Tells of nodes that threads have come to, the heads of other sublists included.
    fn tell(&self, nodes: u64) {
        let ranked = self.ranked.get() + nodes;
        (0..ranked / NODES_PER_STEP).for_each(|_| self.progress.step());
        self.ranked.set(ranked % NODES_PER_STEP);
    }

    /// Adds the successors of its part of the nodes.
    async fn sum(&self, spe: &Timed<'_>, call: Call, arguments: &RankingArguments) -> Result<()> {
        spe.write(REPORT, &[Quadword::ZERO])?;
        let groups = part(arguments.node_count.div_ceil(NODES_PER_GROUP), call.share, call.shares);
        let streams = Streams::new(buffers(), &groups, &[(arguments.nodes, GROUP_BYTES)], &[]);
        streams.prefetch(spe).await?;
        let sum = async |set, groups| {
            let nodes = streams.at(set, 0);
            spe.compute(&SuccessorSum { groups, nodes, sum: REPORT }).await;
        };
        streams.run(spe, sum).await?;
        report(spe, arguments.report(call.share)).await
    }

    /// Puts what comes before a sublist in front of the prefixes of its part of all records.
    async fn add(&self, spe: &Timed<'_>, call: Call, arguments: &RankingArguments) -> Result<()> {
        let sublists = arguments.sublist_count;
        let table = Bytes(NODE_BYTES.0 * u64::from(sublists + 1));
        let reports = Bytes(REPORT_BYTES * u64::from(arguments.areas_count));
        let get = |at, from, bytes| Command::new(Direction::Get, at, from, bytes, GETS);
        spe.enqueue(get(BEFORE, arguments.sublists, table)).await?;
        spe.enqueue(get(REPORTS, arguments.reports, reports)).await?;
        spe.wait_for(GETS).await;
        let reports = spe.read(REPORTS, reports)?;
        let of_areas: Vec<u32> =
            reports.iter().step_by(REPORT_BYTES as usize / 16).map(|it| it.preferred()).collect();
        let own = part(of_areas.iter().sum(), call.share, call.shares);
        let mut before = 0;
        for (area, &groups) in (0..).zip(&of_areas) {
            let within = own.start.max(before)..own.end.min(before + groups);
            if !within.is_empty() {
                let within = within.start - before..within.end - before;
                self.add_to(spe, arguments.area(area), within, sublists).await?;
            }
            before += groups;
        }
        Ok(())
    }

    /// The same with those groups of an area.
    async fn add_to(
        &self,
        spe: &Timed<'_>,
        area: EffectiveAddress,
        groups: Range<u32>,
        sublists: u32,
    ) -> Result<()> {
        let lane = [(area, GROUP_BYTES)];
        let streams = Streams::new(buffers(), &groups, &lane, &lane);
        streams.prefetch(spe).await?;
        let (operation, before) = (self.operation, BEFORE);
        let add = async |set, groups| {
            let records = streams.at(set, 0);
            let ranked = streams.at(set, 1);
            spe.compute(&Add { operation, groups, records, ranked, before, sublists }).await;
        };
        streams.run(spe, add).await
    }

    /// Ranks its part of the sublists, by software-managed threads.
    async fn rank(&self, spe: &Spe, call: Call, arguments: &RankingArguments) -> Result<()> {
        let own = part(arguments.sublist_count, call.share, call.shares);
        let element = Timed::new(spe);
        if own.is_empty() {
            element.write(REPORT, &[Quadword::ZERO])?;
            return report(&element, arguments.report(call.share)).await;
        }
        let map = ThreadMap::new(own.len() as u32, arguments.buffers);
        let mut area = Area { end: arguments.area(call.share), records: map.records };
        let threads = Threads { program: self, spe, arguments, map: &map, first: own.start };
        let mut groups: Vec<Progressing> = Vec::with_capacity(map.lists.len());
        for (number, group) in (0..).zip(&map.lists) {
            groups.push(threads.begin(number, group).await?);
        }
        while groups.iter().any(|group| group.threads > 0) {
            for group in groups.iter_mut().filter(|group| group.threads > 0) {
                self.tell(group.threads.into());
                threads.turn(group, &mut area).await?;
            }
        }
        for number in 0..groups.len() as u8 {
            spe.mfc.wait_for(PUTS + number).await;
        }
        let outcomes = Bytes(NODE_BYTES.0 * own.len() as u64);
        let to = arguments.outcomes.offset(NODE_BYTES.0 * u64::from(own.start));
        let put = Command::new(Direction::Put, map.outcomes, to, outcomes, PUTS);
        spe.mfc.enqueue(put).await?;
        let used = (area.end.0 - arguments.area(call.share).0) / GROUP_BYTES;
        element.write(REPORT, &[Quadword::splat(used as u32)])?;
        report(&element, arguments.report(call.share)).await
    }
}

const fn buffers() -> Buffers {
    Buffers { at: BLOCKS, groups: BLOCK_GROUPS, transfers: Transfers::DoubleBuffered }
}

/// Puts its report where the host reads it.
async fn report(spe: &Timed<'_>, to: EffectiveAddress) -> Result<()> {
    spe.enqueue(Command::new(Direction::Put, REPORT, to, NODE_BYTES, PUTS)).await?;
    spe.wait_for(PUTS).await;
    Ok(())
}

/// The area of the SPE's records in main memory.
struct Area {
    end: EffectiveAddress,
    records: u32,
}

impl Area {
    /// Room for so many buffers.
    fn take(&mut self, buffers: u32) -> EffectiveAddress {
        let at = self.end;
        self.end = at.offset(NODE_BYTES.0 * u64::from(self.records * buffers));
        at
    }
}

/// The software-managed threads of an SPE.
struct Threads<'a> {
    program: &'a ListProgram,
    spe: &'a Spe,
    arguments: &'a RankingArguments,
    map: &'a ThreadMap,
    /// The first sublist of the SPE.
    first: u32,
}

/// How far the threads of a DMA list are.
struct Progressing<'a> {
    number: u8,
    group: &'a Group,
    /// Threads that go on.
    threads: u32,
    /// Buffers that have been in use since they were turned over last.
    buffers: u32,
    /// Which set of buffers is in use.
    set: usize,
}

impl Threads<'_> {
    /// Fetches the states of the threads of a list and asks for their first nodes.
    async fn begin<'g>(&self, number: u8, group: &'g Group) -> Result<Progressing<'g>> {
        let Self { spe, arguments, map, first, .. } = self;
        let Group { threads, states, .. } = *group;
        let from = NODE_BYTES.0 * u64::from(first + group.first);
        let bytes = Bytes(NODE_BYTES.0 * u64::from(threads));
        let from = arguments.sublists.offset(from);
        spe.mfc.enqueue(Command::new(Direction::Get, states, from, bytes, GETS + number)).await?;
        if !threads.is_multiple_of(2) {
            // The elements of a list are written in pairs: the last thread's is beside that of none.
            spe.write(states.offset(bytes), &[Quadword::ZERO])?;
        }
        spe.mfc.wait_for(GETS + number).await;
        spe.compute(&TurnOver {
            buffers: 0,
            threads,
            records: map.records,
            states,
            list: group.puts,
            room: group.room,
            next: group.buffers[0],
            low: 0,
        })
        .await;
        spe.compute(&Ask { threads, states, list: group.gets, low: self.low() }).await;
        let progressing = Progressing { number, group, threads, buffers: threads, set: 0 };
        self.ask(&progressing).await?;
        Ok(progressing)
    }

    /// The lower half of the effective address of node 0.
    fn low(&self) -> u32 {
        self.arguments.nodes.0 as u32
    }

    /// Asks for the next nodes of the threads of a list.
    async fn ask(&self, progressing: &Progressing<'_>) -> Result<()> {
        let Progressing { number, group, threads, .. } = progressing;
        let list = ListCommand {
            direction: Direction::Get,
            local: group.fetched,
            list: group.gets,
            elements: *threads,
            high: self.arguments.nodes,
            tag: GETS + number,
            order: Order::Free,
        };
        self.spe.mfc.enqueue_list(list).await
    }

    /// When the nodes of a list have come: a turn of its threads.
    async fn turn(&self, own: &mut Progressing<'_>, area: &mut Area) -> Result<()> {
        let (spe, low, group) = (self.spe, self.low(), own.group);
        let Group { states, fetched, gets, room, .. } = *group;
        let (threads, list) = (own.threads, gets);
        spe.mfc.wait_for(GETS + own.number).await;
        let operation = self.program.operation;
        let turn =
            spe.compute(&Advance { operation, threads, states, fetched, list, room, low }).await;
        if turn.ended {
            let outcomes = self.map.outcomes.0.wrapping_sub(16 * (self.first + 1));
            let retire = Retire { threads, states, fetched, list, room, outcomes, low };
            own.threads = spe.compute(&retire).await;
        }
        if turn.full || own.threads == 0 {
            self.turn_over(own, area).await?;
        }
        if own.threads > 0 {
            self.ask(own).await?;
        }
        Ok(())
    }

    /// Sends the buffers of a list to main memory and goes on with the others.
    async fn turn_over(&self, own: &mut Progressing<'_>, area: &mut Area) -> Result<()> {
        let (spe, group, tag) = (self.spe, own.group, PUTS + own.number);
        // Until then the other set is on its way.
        spe.mfc.wait_for(tag).await;
        let at = area.take(own.buffers);
        let next = group.buffers[1 - own.set];
        spe.compute(&TurnOver {
            buffers: own.buffers,
            threads: own.threads,
            records: self.map.records,
            states: group.states,
            list: group.puts,
            room: group.room,
            next,
            low: at.0 as u32,
        })
        .await;
        let list = ListCommand {
            direction: Direction::Put,
            local: group.buffers[own.set],
            list: group.puts,
            elements: own.buffers,
            high: at,
            tag,
            order: Order::Free,
        };
        spe.mfc.enqueue_list(list).await?;
        (own.buffers, own.set) = (own.threads, 1 - own.set);
        Ok(())
    }
}

impl SpeProgram for ListProgram {
    const FUNCTIONS: &'static [&'static str] = &FUNCTIONS;

    async fn call(&self, spe: &Spe, call: Call) -> Result<Vec<Loop>> {
        let timed = Timed::new(spe);
        let get = Command::new(Direction::Get, ARGUMENTS, call.arguments, ARGUMENTS_BYTES, GETS);
        timed.enqueue(get).await?;
        timed.wait_for(GETS).await;
        let arguments = RankingArguments::from_quadwords(&timed.read(ARGUMENTS, ARGUMENTS_BYTES)?);
        match call.function {
            SUM => self.sum(&timed, call, &arguments).await?,
            RANK => {
                timed.loop_begins();
                self.rank(spe, call, &arguments).await?;
                timed.loop_ends();
            }
            _ => self.add(&timed, call, &arguments).await?,
        }
        Ok(timed.into_loops())
    }
}
