//! Random programs of four SPEs and the host, each thing in turn touched by whoever has been told
//! that it may; and the same with one wait, fence, barrier or look taken out. What is right is asked of
//! a graph of all that happens, by looking for paths.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::hazard::tests::*;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const SPES: usize = 4;
const HOST: usize = SPES;
const THINGS: usize = 9;

/// What an actor does.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Act {
    /// A transfer between a thing and a place of its own.
    Move {
        thing: usize,
        direction: Direction,
        local: u32,
        tag: u8,
        order: Order,
    },
    /// The program, or the host, touches it.
    Touch {
        thing: usize,
        touch: Touch,
    },
    Wait(u32),
    Barrier,
    /// Puts a word of its own into another local store, and spins on it.
    Flag {
        to: usize,
        number: u32,
        tag: u8,
        order: Order,
    },
    SeeFlag(u32),
    Signal {
        to: usize,
        signal: Signal,
        tag: u8,
        order: Order,
    },
    SeeSignal(Signal),
    Line(u32),
    SeeLine(u32),
    /// A word of the host to an SPE, or of an SPE to the host.
    Post {
        spe: usize,
    },
    Take {
        spe: usize,
    },
    Pause(u64),
}

/// What each actor does, the host last.
type Programs = Vec<Vec<Act>>;

/// Things 0 to 3 lie in the local stores of the SPEs, the others in main memory.
fn place(thing: usize, main: EffectiveAddress) -> EffectiveAddress {
    if thing < SPES {
        EffectiveAddress::local_store(thing as u32, DATA)
    } else {
        main.offset(128 * thing as u64)
    }
}

struct Writer {
    rng: Xoshiro256PlusPlus,
    programs: Programs,
    /// Tags of transfers that the owner of a thing has not waited for.
    open: Vec<Vec<u8>>,
    words: u32,
    places: u32,
    signals: BTreeMap<usize, u32>,
    mails: [u32; SPES],
}

impl Writer {
    fn programs(seed: u64) -> Programs {
        let mut own = Self {
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            programs: vec![Vec::new(); SPES + 1],
            open: vec![Vec::new(); THINGS],
            words: 0,
            places: 0,
            signals: BTreeMap::new(),
            mails: [0; SPES],
        };
        let mut owners: Vec<usize> = (0..THINGS).map(|thing| thing % SPES).collect();
        for _ in 0..30 {
            let thing = own.rng.random_range(0..THINGS);
            for _ in 0..own.rng.random_range(1..3) {
                own.touch(owners[thing], thing);
            }
            let to = own.rng.random_range(0..=HOST);
            if to != owners[thing] && own.give(owners[thing], to, thing) {
                owners[thing] = to;
            }
        }
        (0..SPES).for_each(|spe| own.programs[spe].push(Act::Wait(u32::MAX)));
        own.programs
    }

    fn coin(&mut self) -> bool {
        self.rng.random_range(0..2) == 0
    }

    fn act(&mut self, actor: usize, act: Act) {
        if self.rng.random_range(0..4) == 0 {
            let pause = Act::Pause(self.rng.random_range(1..2000));
            self.programs[actor].push(pause);
        }
        self.programs[actor].push(act);
    }

    fn wait(&mut self, actor: usize, thing: usize) {
        let mask =
            std::mem::take(&mut self.open[thing]).iter().fold(0, |mask, tag| mask | 1 << tag);
        if mask != 0 {
            self.act(actor, Act::Wait(mask));
        }
    }

    /// The tag of all its open transfers, if they have one and are to be ordered by it.
    fn ordered(&mut self, thing: usize) -> Option<(u8, Order)> {
        let first = *self.open[thing].first()?;
        let alike = self.open[thing].iter().all(|&tag| tag == first);
        let order = if self.coin() { Order::Fence } else { Order::Barrier };
        (alike && self.coin()).then_some((first, order))
    }

    fn touch(&mut self, actor: usize, thing: usize) {
        let touch = if self.coin() { Touch::Reads } else { Touch::Writes };
        let local = thing == actor && self.coin();
        if actor == HOST || local {
            self.wait(actor, thing);
            return self.act(actor, Act::Touch { thing, touch });
        }
        let any = (self.rng.random_range(0..3), Order::Free);
        let (tag, order) = match self.ordered(thing) {
            Some(ordered) => ordered,
            None if !self.open[thing].is_empty() && self.coin() => {
                self.act(actor, Act::Barrier);
                any
            }
            None => {
                self.wait(actor, thing);
                any
            }
        };
        let direction = if touch == Touch::Reads { Direction::Get } else { Direction::Put };
        self.places += 1;
        let local = 0x8000 + 128 * self.places;
        self.act(actor, Act::Move { thing, direction, local, tag, order });
        self.open[thing].push(tag);
    }

    /// Tells `to` that it may touch a thing now; whether there was a way.
    fn give(&mut self, from: usize, to: usize, thing: usize) -> bool {
        if from == HOST {
            if self.mails[to] == 4 {
                return false;
            }
            self.mails[to] += 1;
            self.act(HOST, Act::Post { spe: to });
            self.act(to, Act::Take { spe: to });
            return true;
        }
        if to == HOST {
            self.wait(from, thing);
            self.act(from, Act::Post { spe: from });
            self.act(HOST, Act::Take { spe: from });
            return true;
        }
        let mut how = (self.rng.random_range(0..3), Order::Free);
        if let Some(ordered) = self.ordered(thing) {
            how = ordered;
        } else if !self.open[thing].is_empty() && self.coin() {
            self.act(from, Act::Barrier);
        } else {
            self.wait(from, thing);
            if self.coin() {
                self.words += 1;
                self.act(from, Act::Line(self.words));
                self.act(to, Act::SeeLine(self.words));
                return true;
            }
        }
        self.open[thing].clear();
        let (tag, order) = how;
        // Each register once, so that no read takes two.
        let used = self.signals.entry(to).or_default();
        if *used < 2 {
            let signal = Signal::ALL[*used as usize];
            *used += 1;
            self.act(from, Act::Signal { to, signal, tag, order });
            self.act(to, Act::SeeSignal(signal));
        } else {
            self.words += 1;
            self.act(from, Act::Flag { to, number: self.words, tag, order });
            self.act(to, Act::SeeFlag(self.words));
        }
        true
    }
}

/// Takes one thing out that keeps others in order.
fn mutate(programs: &mut Programs, rng: &mut Xoshiro256PlusPlus) {
    let mut places = Vec::new();
    for (actor, program) in programs.iter().enumerate() {
        for (index, act) in program.iter().enumerate() {
            let is_last = index + 1 == program.len();
            let is_order = match act {
                Act::Wait(_) => !is_last,
                Act::Barrier | Act::SeeFlag(_) | Act::SeeSignal(_) | Act::SeeLine(_) => true,
                Act::Move { order, .. } | Act::Flag { order, .. } | Act::Signal { order, .. } => {
                    *order != Order::Free
                }
                _ => false,
            };
            if is_order {
                places.push((actor, index));
            }
        }
    }
    if places.is_empty() {
        return;
    }
    let (actor, index) = places[rng.random_range(0..places.len())];
    match &mut programs[actor][index] {
        Act::Move { order, .. } | Act::Flag { order, .. } | Act::Signal { order, .. } => {
            *order = Order::Free;
        }
        act => *act = Act::Pause(1),
    }
}

const WORDS: u32 = 0x30000;

async fn spe_life(spe: Spe, program: Vec<Act>, main: EffectiveAddress) -> Result<()> {
    let line = |number: u32| main.offset(4096 + 128 * u64::from(number));
    for act in program {
        match act {
            Act::Move { thing, direction, local, tag, order } => {
                let there = place(thing, main);
                let command = Command::new(direction, LocalAddress(local), there, Bytes(128), tag);
                spe.mfc.enqueue(command.ordered(order)).await?;
            }
            Act::Touch { touch: Touch::Reads, .. } => drop(spe.read(DATA, Bytes(64))?),
            Act::Touch { touch: Touch::Writes, .. } => spe.write(DATA, &[Quadword::splat(3); 4])?,
            Act::Wait(mask) => spe.mfc.wait_for_all(mask).await,
            Act::Barrier => spe.mfc.barrier(9).await?,
            Act::Flag { to, number, tag, order } => {
                let there = LocalAddress(WORDS + 16 * number);
                let there = EffectiveAddress::local_store(to as u32, there);
                let word = Command::new(Direction::Put, LocalAddress(0), there, Bytes(16), tag);
                spe.mfc.enqueue(word.ordered(order)).await?;
            }
            Act::SeeFlag(number) => {
                let at = LocalAddress(WORDS + 16 * number);
                spe.spin(at, |store| store.load(at) != Quadword::ZERO).await;
            }
            Act::Signal { to, signal, tag, order } => {
                let (local, register) = (LocalAddress(0xC), signal.address(to as u32));
                spe.mfc.send_signal(SendSignal { local, register, tag, order }).await?;
            }
            Act::SeeSignal(signal) => drop(spe.signal(signal).read().await),
            Act::Line(number) => {
                let line = LockLine { local: LocalAddress(0x200), effective: line(number) };
                spe.mfc.putlluc(line).await?;
            }
            Act::SeeLine(number) => {
                let line = LockLine { local: LINE, effective: line(number) };
                loop {
                    spe.mfc.getllar(line).await?;
                    if spe.read(LINE, Bytes(16))?[0] != Quadword::ZERO {
                        break;
                    }
                }
            }
            Act::Post { .. } => spe.outbound_mailbox().write(1).await,
            Act::Take { .. } => drop(spe.inbound_mailbox().read().await),
            Act::Pause(cycles) => spe.spend(Cycles(cycles)).await,
        }
    }
    Ok(())
}

async fn host_life(host: HostProcess, spes: Vec<Spe>, program: Vec<Act>, main: EffectiveAddress) {
    host.resume().await;
    for act in program {
        match act {
            Act::Touch { thing, touch: Touch::Reads } => host.reads(place(thing, main), Bytes(64)),
            Act::Touch { thing, .. } => host.writes(place(thing, main), Bytes(64)),
            Act::Post { spe } => host.write_mailbox(&spes[spe], 1).await,
            Act::Take { spe } => {
                host.poll_mailbox(&spes[spe]).await;
                host.read_mailbox(spes[spe].outbound_mailbox()).await;
            }
            _ => {}
        }
    }
    host.release();
}

fn outcome(programs: &Programs) -> Result<()> {
    let blade = blade();
    let main = blade.memory.allocate(0, Bytes(4096 + 128 * 128));
    let spes: Vec<Spe> = (0..SPES as u32).map(|spe| blade.spe(spe).clone()).collect();
    // What they put from places of their own.
    spes.iter().for_each(|spe| spe.zero(LocalAddress(0x8000), Bytes(0x10000)));
    for (spe, program) in spes.iter().zip(programs) {
        start(&blade, spe_life(spe.clone(), program.clone(), main));
    }
    let (host, program) = (blade.host_process(0), programs[HOST].clone());
    start(&blade, async move {
        host_life(host, spes, program, main).await;
        Ok(())
    });
    blade.run().map(|_| ())
}

#[test]
fn right_programs_are_left_alone_and_races_found_where_a_graph_has_them() {
    let (mut races, mut found) = (0, 0);
    for seed in 0..testing::seeds(1000) {
        let programs = Rc::new(Writer::programs(seed));
        assert!(!Graph::of(&programs).has_race(), "program {seed} has a race");
        if let Err(error) = outcome(&programs) {
            panic!("program {seed}: {error}\n{programs:#?}");
        }
        let mut mutant = (*programs).clone();
        mutate(&mut mutant, &mut Xoshiro256PlusPlus::seed_from_u64(seed));
        let has_race = Graph::of(&mutant).has_race();
        let error = outcome(&mutant).err();
        let is_found =
            error.as_ref().is_some_and(|error| error.downcast::<crate::Hazard>().is_some());
        assert!(is_found == error.is_some(), "program {seed}: {error:?}");
        assert!(has_race || !is_found, "program {seed}: {error:?}\n{mutant:#?}");
        races += u64::from(has_race);
        found += u64::from(is_found);
    }
    assert_eq!(found, races);
}

/// What happens, and what comes right after what.
#[derive(Default)]
struct Graph {
    next: Vec<Vec<usize>>,
    /// Who touches which thing.
    touches: Vec<(usize, usize, Touch)>,
}

impl Graph {
    fn node(&mut self, after: impl IntoIterator<Item = usize>) -> usize {
        let node = self.next.len();
        self.next.push(Vec::new());
        after.into_iter().for_each(|before| self.next[before].push(node));
        node
    }

    pub fn of(programs: &Programs) -> Self {
        let mut own = Self::default();
        let mut told: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        let mut seen: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (actor, program) in programs.iter().enumerate() {
            let mut now = own.node([]);
            // Tag, order, how many queue barriers came before, node.
            let mut commands: Vec<(u8, Order, u32, usize)> = Vec::new();
            let mut barriers = 0;
            for &act in program {
                now = own.node([now]);
                let mut command = |own: &mut Self, tag, order| {
                    let before = commands.iter().filter(|earlier| {
                        let same = earlier.0 == tag
                            && (order != Order::Free || earlier.1 == Order::Barrier);
                        same || earlier.2 < barriers
                    });
                    let after: Vec<usize> = before.map(|it| it.3).chain([now]).collect();
                    let node = own.node(after);
                    commands.push((tag, order, barriers, node));
                    node
                };
                match act {
                    Act::Move { thing, direction, tag, order, .. } => {
                        let node = command(&mut own, tag, order);
                        let touch =
                            [Touch::Reads, Touch::Writes][usize::from(direction == Direction::Put)];
                        own.touches.push((node, thing, touch));
                    }
                    Act::Touch { thing, touch } => own.touches.push((now, thing, touch)),
                    Act::Wait(mask) => {
                        let done = commands.iter().filter(|it| mask >> it.0 & 1 != 0);
                        done.for_each(|it| own.next[it.3].push(now));
                    }
                    Act::Barrier => barriers += 1,
                    Act::Flag { number, tag, order, .. } => {
                        let node = command(&mut own, tag, order);
                        told.entry(format!("flag {number}")).or_default().push(node);
                    }
                    Act::Signal { to, signal, tag, order } => {
                        let node = command(&mut own, tag, order);
                        told.entry(format!("{signal:?} of {to}")).or_default().push(node);
                    }
                    Act::Line(number) => {
                        told.entry(format!("line {number}")).or_default().push(now);
                    }
                    Act::Post { spe } => {
                        let to_host = actor != HOST;
                        told.entry(format!("mail {spe} {to_host}")).or_default().push(now);
                    }
                    Act::SeeFlag(number) => {
                        seen.entry(format!("flag {number}")).or_default().push(now);
                    }
                    Act::SeeSignal(signal) => {
                        seen.entry(format!("{signal:?} of {actor}")).or_default().push(now);
                    }
                    Act::SeeLine(number) => {
                        seen.entry(format!("line {number}")).or_default().push(now);
                    }
                    Act::Take { spe } => {
                        let to_host = actor == HOST;
                        seen.entry(format!("mail {spe} {to_host}")).or_default().push(now);
                    }
                    Act::Pause(_) => {}
                }
            }
        }
        for (what, seen) in seen {
            let pairs: Vec<_> = told[&what].iter().copied().zip(seen).collect();
            pairs.into_iter().for_each(|(told, seen)| own.next[told].push(seen));
        }
        own
    }

    fn reaches(&self, from: usize) -> Vec<bool> {
        let (mut found, mut left) = (vec![false; self.next.len()], vec![from]);
        while let Some(node) = left.pop() {
            if !std::mem::replace(&mut found[node], true) {
                left.extend(&self.next[node]);
            }
        }
        found
    }

    pub fn has_race(&self) -> bool {
        let reached: Vec<_> = self.touches.iter().map(|touch| self.reaches(touch.0)).collect();
        let touches = || self.touches.iter().zip(&reached);
        touches().any(|(&(one, thing, how), from_one)| {
            touches().any(|(&(two, other, also), from_two)| {
                let writes = how == Touch::Writes || also == Touch::Writes;
                one < two && thing == other && writes && !from_one[two] && !from_two[one]
            })
        })
    }
}
