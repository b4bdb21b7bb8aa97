//! What all SPEs of a machine share.

use std::cell::Cell;
use std::rc::Rc;

use crate::channel::Channels;
use crate::decrementer::Timebase;
use crate::eib::Eib;
use crate::fault::Fault;
use crate::meter::Meter;
use crate::mfc::Hazards;
use crate::trace::Tracer;
use mmgp_machine::Machine;
use mmgp_sim::Sim;

/// The parts of a machine that every SPE refers to.
pub(crate) struct Board {
    pub sim: Sim,
    pub machine: Rc<Machine>,
    pub eib: Rc<Eib>,
    pub channels: Rc<[Channels]>,
    pub hazards: Rc<Cell<Hazards>>,
    /// By SPE.
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
        (fault, trace): (&Fault, &Tracer),
    ) -> Self {
        let spes = 0..machine.layout.spes();
        let channels: Rc<[Channels]> =
            spes.map(|spe| Channels::new(sim, machine, timebase, spe)).collect();
        let listeners = channels.iter().map(|channels| channels.events.clone());
        eib.memory().lock_lines().listen(listeners);
        let hazards = if cfg!(test) { Hazards::Checked } else { Hazards::Ignored };
        let meters = (0..machine.layout.spes()).map(|_| Rc::new(Meter::new(machine.clock)));
        Self {
            meters: meters.collect(),
            sim: sim.clone(),
            machine: Rc::clone(machine),
            eib: Rc::clone(eib),
            channels,
            hazards: Rc::new(Cell::new(hazards)),
            fault: fault.clone(),
            trace: trace.clone(),
        }
    }
}
