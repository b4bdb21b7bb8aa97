//! A program that computes once, however often it runs.

use std::sync::{Arc, Mutex, PoisonError};

use crate::application::{Application, Division, Ran};
use crate::description::Description;
use mmgp_base::Mapping;
use mmgp_base::error::Result;
use mmgp_runtime::Runtime;

/// A program whose first run computes, at whatever mapping, and whose others know what came of it
/// ([`Application::knowing`]): they take the time that they would take, and do not compute again.
/// Runs that begin while the first one is under way wait for it.
#[derive(Debug)]
pub struct Once {
    program: Box<dyn Application>,
    state: Mutex<State>,
}

#[derive(Debug)]
enum State {
    /// No run has ended.
    New,
    /// It computes at every run, for it cannot know.
    Computes,
    Knows(Arc<dyn Application>),
}

impl Once {
    /// The program, before its first run.
    pub fn new(program: Box<dyn Application>) -> Self {
        Self { program, state: Mutex::new(State::New) }
    }
}

impl Application for Once {
    fn name(&self) -> &'static str {
        self.program.name()
    }

    fn division(&self) -> Division {
        self.program.division()
    }

    fn steps(&self) -> u64 {
        self.program.steps()
    }

    fn description(&self) -> Option<Description> {
        self.program.description()
    }

    fn function_before_collective(&self) -> Option<&'static str> {
        self.program.function_before_collective()
    }

    fn run(&self, on: &Runtime, mapping: Mapping) -> Result<Ran> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let known = match &*state {
            State::Knows(program) => Some(Arc::clone(program)),
            State::Computes => None,
            State::New => {
                let ran = self.program.run(on, mapping)?;
                *state = match self.program.knowing(&ran) {
                    Some(program) => State::Knows(program.into()),
                    None => State::Computes,
                };
                return Ok(ran);
            }
        };
        drop(state);
        known.as_deref().unwrap_or(&*self.program).run(on, mapping)
    }
}
