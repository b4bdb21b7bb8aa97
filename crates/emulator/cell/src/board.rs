//! What all SPEs of a machine share.

use std::rc::Rc;

use crate::channel::Channels;
use crate::counts::Meter;
use crate::eib::Eib;
use crate::event::Timebase;
use crate::fault::Fault;
use crate::hazard::{Detector, Watchdog};
use crate::trace::Tracer;
use mmgp_machine::Machine;
use mmgp_sim::Sim;

/// The parts of a machine that every SPE refers to.
pub(crate) struct Board {
    pub sim: Sim,
    pub machine: Rc<Machine>,
    pub eib: Rc<Eib>,
    pub channels: Rc<[Channels]>,
    /// Detector of the first SPE.
    pub detector: Detector,
    /// Meters by SPE.
    pub meters: Vec<Rc<Meter>>,
    pub fault: Fault,
    pub trace: Tracer,
}

impl Board {
    pub fn new(
        sim: &Sim,
        machine: &Rc<Machine>,
        eib: &Rc<Eib>,
        timebase: Timebase,
        (fault, trace, hazards): (&Fault, &Tracer, &Rc<Watchdog>),
    ) -> Self {
        let spes = 0..machine.layout.spes();
        let detector = hazards.blade(eib.memory().local_stores());
        let channels = |spe| Channels::new((sim, spe), machine, timebase, &detector.of(spe));
        let channels: Rc<[Channels]> = spes.map(channels).collect();
        let listeners = channels.iter().map(|channels| channels.events.clone());
        eib.memory().lock_lines().listen(listeners);
        let meters = (0..machine.layout.spes()).map(|_| Rc::new(Meter::new(machine.clock)));
        Self {
            meters: meters.collect(),
            sim: sim.clone(),
            machine: Rc::clone(machine),
            eib: Rc::clone(eib),
            channels,
            detector,
            fault: fault.clone(),
            trace: trace.clone(),
        }
    }
}
