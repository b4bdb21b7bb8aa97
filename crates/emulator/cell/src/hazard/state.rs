//! Who knows what, and who touched what.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::rc::Rc;

use super::clock::{Actor, Clock, CommandOrder, Epoch, Program, View};
use super::report::{
    Mail, Origin, Record, RecordNumber, Records, Side, Space, Touch, What, Who, hazard,
};
use super::shadow::{Shadow, ShadowAccess, Store, unwritten_of_others, unwritten_of_program};
use crate::fault::Hazard;
use mmgp_base::error::{Error, Result};
use mmgp_base::units::SimTime;
use mmgp_spu::Watch;
use mmgp_spu::local_store::LocalStore;

/// One of those that come with each SPE.
pub(super) struct SpeState {
    pub program: Program,
    pub store: Store,
    /// What is in it.
    contents: Rc<RefCell<LocalStore>>,
    /// What others, and its MFC, have touched in its local store.
    pub shadow: Shadow,
    /// Orders of the queues of the SPU and of the PPE.
    pub queues: [CommandOrder; 2],
    pub mail: BTreeMap<Mail, VecDeque<View>>,
    pub signals: [Clock; 2],
    /// What it has told the host by flags, and the host it.
    pub to_host: Clock,
    pub from_host: Clock,
}

impl SpeState {
    /// References to the records that a report may want.
    fn references(&mut self) -> impl Iterator<Item = &mut RecordNumber> {
        let Self { shadow, store, queues, .. } = self;
        let open = store.open.iter_mut().map(|(_, access)| &mut access.record);
        shadow.references().chain(open).chain(queues.iter_mut().flat_map(CommandOrder::references))
    }
}

/// A lock line of a blade.
pub(super) type Line = (u32, u64);

/// All of it.
pub(super) struct Knowledge {
    pub spes: Vec<SpeState>,
    pub host: Program,
    /// Main memories by blade.
    main: Vec<Shadow>,
    pub lines: BTreeMap<Line, Clock>,
    records: Records,
}

impl Default for Knowledge {
    fn default() -> Self {
        let host = Program::new(Actor::HOST);
        let (spes, main, lines) = (Vec::new(), Vec::new(), BTreeMap::new());
        Self { spes, host, main, lines, records: Records::default() }
    }
}

impl Knowledge {
    /// The number of the blade with these local stores, and of its first SPE.
    pub fn add_blade(&mut self, stores: &[Rc<RefCell<LocalStore>>]) -> (u32, u32) {
        let first = self.spes.len() as u32;
        self.spes.extend((first..).zip(stores).map(|(spe, contents)| SpeState {
            program: Program::new(Actor::spu(spe)),
            store: Store::new(spe),
            contents: Rc::clone(contents),
            shadow: Shadow::default(),
            queues: [0, 1].map(|queue| CommandOrder::new(spe, queue)),
            mail: BTreeMap::new(),
            signals: <[Clock; 2]>::default(),
            to_host: Clock::default(),
            from_host: Clock::default(),
        }));
        self.main.push(Shadow::default());
        (self.main.len() as u32 - 1, first)
    }

    pub fn issuer(&mut self, spe: u32, origin: Origin) -> &mut Program {
        match origin {
            Origin::Spu => &mut self.spes[spe as usize].program,
            Origin::Proxy => &mut self.host,
        }
    }

    /// Notes for reports who does something now.
    pub fn record(&mut self, who: Who, at: SimTime) -> RecordNumber {
        let Self { spes, main, records, .. } = self;
        if records.are_many() {
            let of_main = main.iter_mut().flat_map(Shadow::references);
            records.keep(of_main.chain(spes.iter_mut().flat_map(SpeState::references)));
        }
        records.add(who, at)
    }

    /// Somebody other than a kernel, who knows so much, touches bytes; `own` is the SPE whose program
    /// it is ordered with by itself.
    pub fn access(
        &mut self,
        (space, bytes): (Space, &Range<u64>),
        access: &ShadowAccess,
        view: &View,
        own: Option<u32>,
    ) -> Result<()> {
        let Self { spes, main, records, .. } = self;
        let record = records.get(access.record);
        let later = Side { who: &record.who, at: record.at, touch: access.touch };
        let knows = |epoch| epoch == access.epoch || view.knows(epoch);
        let shadow = match space {
            Space::Main(blade) => &mut main[blade as usize],
            Space::Store(of) => {
                let SpeState { store, contents, shadow, program, .. } = &mut spes[of as usize];
                if own != Some(of)
                    && let Some((bytes, touch, what, at)) = store.clash(bytes, access.touch, view)
                {
                    let who = Who::Program { spe: of, what };
                    let earlier = Side { who: &who, at, touch };
                    return Err(hazard(space, bytes, &later, &earlier));
                }
                match access.touch {
                    Touch::Reads => unwritten_of_others(of, (store, contents), bytes, &later)?,
                    Touch::Writes => store.accesses.fill(bytes),
                }
                if !program.knows(access.epoch) {
                    store.open.push((bytes.clone(), access.clone()));
                }
                shadow
            }
        };
        if let Some((bytes, earlier)) = shadow.access(bytes, access, knows) {
            let Record { who, at } = records.get(earlier.record);
            let earlier = Side { who, at: *at, touch: earlier.touch };
            return Err(hazard(space, bytes, &later, &earlier));
        }
        Ok(())
    }

    pub fn host(
        &mut self,
        space: Space,
        bytes: &Range<u64>,
        touch: Touch,
        at: SimTime,
    ) -> Result<()> {
        let epoch = Epoch { actor: Actor::HOST, value: self.host.event() };
        let view = Rc::new(self.host.view());
        let record = self.record(Who::Host, at);
        let before = matches!(space, Space::Store(_)).then(|| Rc::clone(&view));
        let access = ShadowAccess { epoch, touch, atomic: false, record, view: before };
        self.access((space, bytes), &access, &view, None)
    }

    /// An atomic command of a program touches main memory.
    pub fn atomic(
        &mut self,
        (spe, what, at): (u32, What, SimTime),
        space: Space,
        bytes: &Range<u64>,
        touch: Touch,
    ) -> Result<()> {
        let program = &mut self.spes[spe as usize].program;
        let epoch = Epoch { actor: Actor::spu(spe), value: program.event() };
        let who = Who::Program { spe, what };
        let view = program.view();
        let record = self.record(who, at);
        let access = ShadowAccess { epoch, touch, atomic: true, record, view: None };
        self.access((space, bytes), &access, &view, Some(spe))
    }

    /// The program touches its local store outside its kernels.
    pub fn program(
        &mut self,
        spe: u32,
        (what, at): (What, SimTime),
        touch: Touch,
        bytes: &Range<u64>,
        contents: &LocalStore,
    ) -> Result<()> {
        let Self { spes, records, .. } = self;
        let SpeState { program, store, .. } = &mut spes[spe as usize];
        let value = program.event();
        let who = Who::Program { spe, what };
        let later = Side { who: &who, at, touch };
        check_open(spe, (program, store, records), &later, |_, other| {
            let (start, end) = (bytes.start.max(other.start), bytes.end.min(other.end));
            (start < end).then_some(start..end)
        })?;
        store.event(value, what, at);
        store.touched(bytes, touch, value);
        unwritten_of_program(spe, (store, contents), value, &later)
    }

    /// A kernel is to run, which notes what it touches.
    pub fn begin_kernel(&mut self, spe: u32) -> Watch<'_> {
        let SpeState { program, store, .. } = &mut self.spes[spe as usize];
        store.accesses.watch(program.event() as u32)
    }

    /// The kernel has run.
    pub fn end_kernel(
        &mut self,
        spe: u32,
        (kernel, at): (&'static str, SimTime),
        contents: &LocalStore,
    ) -> Result<()> {
        let Self { spes, records, .. } = self;
        let SpeState { program, store, .. } = &mut spes[spe as usize];
        let value = program.events;
        let run = value as u32;
        let what = What::Kernel(kernel);
        let who = Who::Program { spe, what };
        store.event(value, what, at);
        for touch in [Touch::Reads, Touch::Writes] {
            let later = Side { who: &who, at, touch };
            check_open(spe, (program, store, records), &later, |store, bytes| {
                store.of(touch).first_bytes(run, bytes)
            })?;
        }
        let later = Side { who: &who, at, touch: Touch::Reads };
        unwritten_of_program(spe, (store, contents), value, &later)
    }

    /// Nobody may have left a transfer alone.
    pub fn finish(&self, now: SimTime) -> Result<()> {
        for spe in &self.spes {
            for (queue, issuer) in spe.queues.iter().zip([&spe.program, &self.host]) {
                if let Some(left) = queue.left(issuer) {
                    return Err(Error::other(Hazard {
                        place: left.place(),
                        later: format!("the run ends at {:.4} us", now.seconds().0 * 1e6),
                        problem: "but nobody has waited for",
                        earlier: self.records.get(left.record).text(),
                    }));
                }
            }
        }
        Ok(())
    }
}

/// What commands may still do to what a program touches.
fn check_open(
    spe: u32,
    (program, store, records): (&Program, &mut Store, &Records),
    later: &Side<'_>,
    clash: impl Fn(&Store, &Range<u64>) -> Option<Range<u64>>,
) -> Result<()> {
    if store.open.is_empty() {
        return Ok(());
    }
    store.open.retain(|(_, access)| !program.knows(access.epoch));
    for (bytes, access) in &store.open {
        let writes = later.touch == Touch::Writes || access.touch == Touch::Writes;
        if writes && let Some(bytes) = clash(store, bytes) {
            let Record { who, at } = records.get(access.record);
            let earlier = Side { who, at: *at, touch: access.touch };
            return Err(hazard(Space::Store(spe), bytes, later, &earlier));
        }
    }
    Ok(())
}
