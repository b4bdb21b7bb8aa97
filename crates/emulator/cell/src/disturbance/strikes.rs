//! The injected faults of a machine, and what they do to its parts.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::grammar::{Disturbance, During, Part, Sort};
use mmgp_base::error::Error;
use mmgp_base::units::{SimSpan, SimTime};
use mmgp_sim::{Sim, Watch};

/// The injected faults of a machine.
pub(crate) struct Disturbances {
    sim: Sim,
    /// Whether there are any, so that nothing else is looked at where there are none.
    any: Cell<bool>,
    all: RefCell<Vec<Injected>>,
    /// Interrupts so far, by SPE.
    interrupts: Vec<Cell<u64>>,
    /// Until when SPUs have work, as far as it is known.
    busy_until: Cell<SimTime>,
    /// How many processes of the host execute code.
    executing: Cell<u32>,
    /// What an SPU that has stopped waits for, in vain.
    going_on: Watch<()>,
}

struct Injected {
    disturbance: Disturbance,
    /// When it first made a difference to anybody.
    met: Cell<Option<SimTime>>,
}

/// What became of an injected fault.
#[derive(Debug, Clone, PartialEq)]
pub struct Strike {
    /// As it was written.
    pub fault: String,
    /// When it struck; nothing where the run had ended before.
    pub struck: Option<SimTime>,
    /// When it first held up somebody; nothing where it made no difference.
    pub met: Option<SimTime>,
}

/// How an SPU's work goes on.
enum Course {
    EndsAt(SimTime),
    StopsAt(SimTime),
}

impl Disturbances {
    /// None, on a machine of so many SPEs.
    pub fn new(sim: &Sim, spes: u32) -> Self {
        Self {
            sim: sim.clone(),
            any: Cell::new(false),
            all: RefCell::default(),
            interrupts: (0..spes).map(|_| Cell::new(0)).collect(),
            busy_until: Cell::new(SimTime::ZERO),
            executing: Cell::new(0),
            going_on: Watch::new(sim, "its SPU, which has stopped", ()),
        }
    }

    /// Adds faults.
    pub fn inject(&self, disturbances: &[Disturbance]) {
        let injected = |disturbance: &Disturbance| Injected {
            disturbance: disturbance.clone(),
            met: Cell::default(),
        };
        self.all.borrow_mut().extend(disturbances.iter().map(injected));
        self.any.set(!self.all.borrow().is_empty());
    }

    /// Whether there are any.
    pub fn any(&self) -> bool {
        self.any.get()
    }

    /// The interrupt of an SPE comes, or never.
    pub async fn interrupt(&self, spe: u32) {
        if self.loses_interrupt(spe) {
            let name = format!("the interrupt of SPE {spe}");
            Watch::new(&self.sim, &name, ()).wait_until(|()| false).await;
        }
    }

    /// What became of each so far.
    pub fn strikes(&self) -> Vec<Strike> {
        let now = self.sim.now();
        let strike = |injected: &Injected| {
            let met = injected.met.get();
            let struck = match injected.disturbance.sort {
                Sort::Stops { at, .. } => (at <= now).then_some(at),
                Sort::Slow { during, .. } | Sort::SlowMemory { during, .. } => {
                    (during.from <= now).then_some(during.from)
                }
                Sort::LosesOne { .. } | Sort::Loses { .. } => met,
            };
            Strike { fault: injected.disturbance.to_string(), struck, met }
        };
        self.all.borrow().iter().map(strike).collect()
    }

    /// A deadlock, with what has struck before it.
    pub fn explain(&self, mut error: Error) -> Error {
        if let (Error::Deadlock { blocked, .. }, Some(account)) = (&mut error, self.account()) {
            let busy_until = self.busy_until.get();
            if self.sim.now().since(busy_until) > PATIENCE {
                blocked.push(format!("nobody has done anything but poll since {busy_until}"));
            }
            blocked.push(account);
        }
        error
    }

    fn account(&self) -> Option<String> {
        let all = self.all.borrow();
        let struck: Vec<String> = self
            .strikes()
            .iter()
            .zip(all.iter())
            .filter(|(strike, _)| strike.struck.is_some())
            .map(|(_, injected)| injected.disturbance.as_struck())
            .collect();
        (!struck.is_empty()).then(|| format!("after: {}", struck.join(", ")))
    }

    /// How `work` of an SPU goes on that begins now.
    fn course(&self, spe: u32, work: SimSpan) -> Course {
        let (mut at, mut left) = (self.sim.now(), work);
        loop {
            let (rate, until) = match self.rate(spe, at) {
                Ok(rate) => rate,
                Err(stopped) => return Course::StopsAt(stopped),
            };
            let end = at + rate.stretch(left);
            match until {
                Some(until) if until < end => {
                    left = left - rate.done(until.since(at));
                    at = until;
                }
                _ => return Course::EndsAt(end),
            }
        }
    }

    /// The rate of an SPU at an instant, and until when it keeps it; when it stopped, if it has.
    fn rate(&self, spe: u32, at: SimTime) -> Result<(Rate, Option<SimTime>), SimTime> {
        let (mut rate, mut until) = (Rate::WHOLE, None);
        for Injected { disturbance, met } in &*self.all.borrow() {
            let meets = || met.set(met.get().or(Some(at)));
            match disturbance.sort {
                Sort::Stops { spe: own, at: stop } if own == spe => {
                    if stop <= at {
                        meets();
                        return Err(stop.max(self.sim.now()));
                    }
                    earlier(&mut until, stop);
                }
                Sort::Slow { spe: own, part, during }
                    if own == spe && rate.during(part, during, at, &mut until) =>
                {
                    meets();
                }
                _ => {}
            }
        }
        Ok((rate, until))
    }

    /// The rate of memory now, and until when it keeps it.
    pub fn memory(&self) -> (Rate, Option<SimTime>) {
        let (at, mut rate, mut until) = (self.sim.now(), Rate::WHOLE, None);
        for Injected { disturbance, met } in &*self.all.borrow() {
            if let Sort::SlowMemory { part, during } = disturbance.sort
                && rate.during(part, during, at, &mut until)
            {
                met.set(met.get().or(Some(at)));
            }
        }
        (rate, until)
    }

    /// Something is done until then that is no polling.
    fn is_busy_until(&self, end: SimTime) {
        self.busy_until.set(self.busy_until.get().max(end));
    }

    /// A process of the host begins to execute code.
    pub fn begins(&self) {
        self.executing.set(self.executing.get() + 1);
    }

    /// It does not any more.
    pub fn ends(&self) {
        self.executing.set(self.executing.get() - 1);
        self.is_busy_until(self.sim.now());
    }

    /// A process that may only poll has its hardware thread; the run ends where nobody has done anything
    /// else for long.
    pub fn polls(&self) {
        let idle = self.sim.now().since(self.busy_until.get());
        if self.any() && self.executing.get() == 0 && idle > PATIENCE {
            self.sim.halt();
        }
    }

    /// An interrupt of an SPE is on its way to the host; whether it is lost.
    pub fn loses_interrupt(&self, spe: u32) -> bool {
        if !self.any() {
            return false;
        }
        let (at, count) = (self.sim.now(), &self.interrupts[spe as usize]);
        count.set(count.get() + 1);
        let mut is_lost = false;
        for Injected { disturbance, met } in &*self.all.borrow() {
            let strikes = match disturbance.sort {
                Sort::LosesOne { spe: own, number } => own == spe && number == count.get(),
                Sort::Loses { spe: own, during } => own == spe && during.contains(at),
                _ => false,
            };
            if strikes {
                met.set(met.get().or(Some(at)));
                is_lost = true;
            }
        }
        is_lost
    }
}

/// Processes that poll in turns do so for ever. With faults injected a run ends when nobody has done
/// anything else for so long: longer than all processes of a blade take to have a slice of the kernel's
/// each, one after the other on one hardware thread.
const PATIENCE: SimSpan = SimSpan::from_ticks(4_000_000_000_000_000);

fn earlier(until: &mut Option<SimTime>, other: SimTime) {
    *until = Some(until.map_or(other, |until| until.min(other)));
}

/// A part of a rate, or several of them at once.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rate {
    of: u128,
    whole: u128,
}

impl Rate {
    /// All of it.
    pub const WHOLE: Self = Self { of: 1, whole: 1 };

    /// Takes in what lasts during that time, and notes when that begins or ends; whether it lasts at `at`.
    fn during(
        &mut self,
        part: Part,
        during: During,
        at: SimTime,
        until: &mut Option<SimTime>,
    ) -> bool {
        let lasts = during.contains(at);
        if lasts {
            self.of = self.of.saturating_mul(part.of.into());
            self.whole = self.whole.saturating_mul(part.whole.into());
            let common = greatest_common_divisor(self.of, self.whole);
            (self.of, self.whole) = (self.of / common, self.whole / common);
        }
        [Some(during.from), during.to]
            .into_iter()
            .flatten()
            .filter(|&change| change > at)
            .for_each(|change| earlier(until, change));
        lasts
    }

    /// How long something takes at this rate that takes `work` at the whole one.
    pub fn stretch(self, work: SimSpan) -> SimSpan {
        let ticks = u128::from(work.ticks()).saturating_mul(self.whole).div_ceil(self.of);
        SimSpan::from_ticks(ticks.min(u128::from(u64::MAX / 2)) as u64)
    }

    /// How much is done meanwhile of what takes that at the whole rate.
    fn done(self, span: SimSpan) -> SimSpan {
        SimSpan::from_ticks((u128::from(span.ticks()).saturating_mul(self.of) / self.whole) as u64)
    }

    /// As a number up to 1.
    pub fn value(self) -> f64 {
        self.of as f64 / self.whole as f64
    }
}

fn greatest_common_divisor(mut one: u128, mut other: u128) -> u128 {
    while other > 0 {
        (one, other) = (other, one % other);
    }
    one
}

/// The time of an SPU; clones refer to the same.
#[derive(Clone)]
pub(crate) struct Pulse {
    sim: Sim,
    disturbances: Rc<Disturbances>,
    spe: u32,
}

impl Pulse {
    pub fn new(sim: &Sim, disturbances: &Rc<Disturbances>, spe: u32) -> Self {
        Self { sim: sim.clone(), disturbances: Rc::clone(disturbances), spe }
    }

    /// Virtual time.
    pub const fn sim(&self) -> &Sim {
        &self.sim
    }

    /// Whose time it is.
    pub const fn spe(&self) -> u32 {
        self.spe
    }

    /// The interrupt that the SPE raises now comes, or never.
    pub async fn interrupt(&self) {
        self.disturbances.interrupt(self.spe).await;
    }

    /// Whether an interrupt that the SPE raises now is lost.
    pub fn loses_interrupt(&self) -> bool {
        self.disturbances.loses_interrupt(self.spe)
    }

    /// Lets the SPU work for a span of its time.
    pub async fn pass(&self, work: SimSpan) {
        if !self.disturbances.any() {
            return self.sim.sleep(work).await;
        }
        match self.disturbances.course(self.spe, work) {
            Course::EndsAt(end) => {
                self.disturbances.is_busy_until(end);
                self.sim.sleep_until(end).await;
            }
            Course::StopsAt(stop) => {
                self.disturbances.is_busy_until(stop);
                self.sim.sleep_until(stop).await;
                self.disturbances.going_on.wait_until(|()| false).await;
            }
        }
    }
}

/// What a channel command takes of an SPU; clones refer to the same SPU.
#[derive(Clone)]
pub(crate) struct Access {
    pulse: Pulse,
    span: SimSpan,
}

impl Access {
    /// So long, of the SPU of that pulse.
    pub fn new(pulse: &Pulse, span: SimSpan) -> Self {
        Self { pulse: pulse.clone(), span }
    }

    /// The same of an SPU that nothing disturbs.
    #[cfg(test)]
    pub fn undisturbed(sim: &Sim, spe: u32, span: SimSpan) -> Self {
        Self::new(&Pulse::new(sim, &Rc::new(Disturbances::new(sim, 0)), spe), span)
    }

    /// Of whose SPU.
    pub const fn pulse(&self) -> &Pulse {
        &self.pulse
    }

    /// Lets it go by.
    pub async fn pass(&self) {
        self.pulse.pass(self.span).await;
    }
}
