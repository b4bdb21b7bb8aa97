//! The programs that measure published figures on the emulated machine.
//!
//! Each does what the published measurement did, as far as its description goes, and takes the time
//! from outside: from the pipeline's count of cycles or from virtual time. None reads a constant of
//! the machine, except the clock that turns cycles into seconds.

mod host;
mod spu;
mod transfers;

use std::cell::RefCell;
use std::future::Future;
use std::rc::Rc;

use mmgp_base::error::{Error, Result};
use mmgp_base::units::Seconds;
use mmgp_cell::linux::Sharing;
use mmgp_cell::{Blade, KernelTiming};
use mmgp_machine::Machine;
use mmgp_machine::figures::{Figure, Quantity};

/// A program that measures a figure.
struct Program {
    /// The name of the program in `models/figures/*.toml`.
    name: &'static str,
    /// Runs it on a machine; the number is the figure's `at`.
    measure: fn(&Machine, u32) -> Result<Quantity>,
}

/// All programs, by what they are about.
const PROGRAMS: [&[Program]; 3] = [&spu::PROGRAMS, &transfers::PROGRAMS, &host::PROGRAMS];

/// Measures a figure on `machine`.
///
/// # Errors
/// [`Error::UnknownName`] for a figure whose program there is not, [`Error::Infeasible`] where the
/// machine has fewer SPEs than the measurement takes, and what the program itself runs into.
pub fn measure(machine: &Machine, figure: &Figure) -> Result<Quantity> {
    let mut programs = PROGRAMS.iter().copied().flatten();
    match programs.find(|program| program.name == figure.program) {
        Some(program) => (program.measure)(machine, figure.at),
        None => Err(Error::unknown_name(
            "program to measure a figure",
            figure.program.clone(),
            PROGRAMS.iter().copied().flatten().map(|it| it.name.to_string()),
        )),
    }
}

/// A machine at rest for one measurement.
struct Bench {
    blade: Blade,
    /// The first error of a program on it.
    error: Rc<RefCell<Option<Error>>>,
}

impl Bench {
    fn new(machine: &Machine) -> Self {
        Self { blade: Blade::new(machine, KernelTiming::Cached, 0.0), error: Rc::default() }
    }

    /// A machine whose processes share the hardware threads in that way.
    fn under(machine: &Machine, sharing: &Sharing) -> Self {
        let Self { blade, error } = Self::new(machine);
        Self { blade: blade.under(sharing), error }
    }

    /// A machine whose first Cell has at least so many SPEs.
    fn with_spes(machine: &Machine, spes: u32) -> Result<Self> {
        let apus = machine.layout.spes_per_cell;
        if spes > apus {
            Err(Error::Infeasible { m: 1, p: spes, apus })
        } else {
            Ok(Self::new(machine))
        }
    }

    /// Starts a program.
    fn start(&self, name: &str, program: impl Future<Output = Result<()>> + 'static) {
        let error = Rc::clone(&self.error);
        self.blade.sim.spawn(name, async move {
            if let Err(raised) = program.await {
                error.borrow_mut().get_or_insert(raised);
            }
        });
    }

    /// Time until all programs have ended.
    fn run(&self) -> Result<Seconds> {
        let end = self.blade.run();
        match self.error.borrow_mut().take() {
            Some(error) => Err(error),
            None => Ok(end?.seconds()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mmgp_machine::figures;

    #[test]
    fn every_program_measures_a_published_figure_and_every_figure_has_a_program() {
        let figures = figures::all().unwrap();
        let programs: Vec<&str> = PROGRAMS.iter().copied().flatten().map(|it| it.name).collect();
        for figure in &figures {
            assert!(programs.contains(&figure.program.as_str()), "{} has none", figure.name());
        }
        for name in programs {
            assert!(figures.iter().any(|figure| figure.program == name), "{name} has no figure");
        }
    }
}
