//! Who uses the memories and buses of which Cells, and until when what they did can be felt.
//!
//! What an off-load takes depends on all that moves on its Cells meanwhile, and on what moved there
//! just before: banks that are still busy, lines that are still outstanding. A process that is alone
//! on its Cells, and finds them quiet, takes the same time for the same.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;

use super::eib::Eib;
use mmgp_base::units::SimTime;
use mmgp_machine::Layout;

/// The processes that use each Cell.
pub struct Traffic {
    eib: Rc<Eib>,
    layout: Layout,
    users: RefCell<Vec<BTreeSet<u32>>>,
    /// By Cell: until when it is to be taken for busy, whatever its buses say.
    felt_until: Vec<Cell<SimTime>>,
}

impl Traffic {
    pub(super) fn new(eib: &Rc<Eib>, layout: Layout) -> Self {
        let cells = layout.cells as usize;
        Self {
            eib: Rc::clone(eib),
            layout,
            users: RefCell::new(vec![BTreeSet::new(); cells]),
            felt_until: vec![Cell::new(SimTime::ZERO); cells],
        }
    }

    /// A host process will use the memory or the SPEs of a Cell.
    pub fn uses(&self, process: u32, cell: u32) {
        self.users.borrow_mut()[cell as usize].insert(process);
    }

    /// Whether a host process that works with these SPEs shares no Cell with another.
    pub fn is_alone(&self, process: u32, spes: &[u32]) -> bool {
        let users = self.users.borrow();
        let uses = |cell: usize| users[cell].contains(&process);
        let own = |spe: &u32| uses((spe / self.layout.spes_per_cell) as usize);
        let alone = |cell: usize| !uses(cell) || users[cell].len() == 1;
        spes.iter().all(own) && (0..users.len()).all(alone)
    }

    /// From when on nothing will be felt of what has moved until now, for the SPEs and the Cells of
    /// a process.
    pub fn quiet_from(&self, process: u32, spes: &[u32]) -> SimTime {
        let users = self.users.borrow();
        let cells = (0..users.len()).filter(|&cell| users[cell].contains(&process));
        let felt = cells.map(|cell| self.felt_until[cell].get().max(self.eib.banks_free(cell)));
        let windows = spes.iter().map(|&spe| self.eib.window_open(spe));
        felt.chain(windows).max().unwrap_or(SimTime::ZERO)
    }

    /// What a process did whose time was known is felt until then.
    pub fn feel_until(&self, process: u32, time: SimTime) {
        for (users, felt) in self.users.borrow().iter().zip(&self.felt_until) {
            if users.contains(&process) {
                felt.set(felt.get().max(time));
            }
        }
    }
}
