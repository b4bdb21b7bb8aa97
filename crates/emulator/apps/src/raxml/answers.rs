//! What the SPEs have answered in a run, so that they need not compute it again in others.

use std::sync::Arc;

use mmgp_cell::element::Values;

/// What came of an off-load that the host waits for.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// The ln likelihood of a tree.
    Likelihood(f64),
    /// Those of its patterns.
    Patterns(Vec<f64>),
    /// The length of a branch as z, and after how many steps it stayed.
    Branch {
        /// exp(-t).
        z: f64,
        /// Those included that shortened the branch.
        steps: u32,
    },
}

/// The answers of all tasks of a run: by task, in the order in which each asked.
pub type Answers = Vec<Vec<Answer>>;

/// Where an engine has its answers from.
#[derive(Debug, Clone)]
pub(super) enum Book {
    /// From its SPEs; they are noted, by task.
    Noted(Vec<(usize, Vec<Answer>)>),
    /// From another run: the task that it is at, and how many of its answers have been read.
    Known { answers: Arc<Answers>, task: usize, read: usize },
}

impl Book {
    /// A book of known answers, or one in which answers are noted.
    pub fn new(known: Option<&Arc<Answers>>) -> Self {
        match known {
            None => Self::Noted(vec![(0, Vec::new())]),
            Some(answers) => Self::Known { answers: Arc::clone(answers), task: 0, read: 0 },
        }
    }

    pub const fn values(&self) -> Values {
        match self {
            Self::Noted(_) => Values::Computed,
            Self::Known { .. } => Values::Known,
        }
    }

    /// A task begins.
    pub fn begin(&mut self, begun: usize) {
        match self {
            Self::Noted(tasks) => tasks.push((begun, Vec::new())),
            Self::Known { task, read, .. } => (*task, *read) = (begun, 0),
        }
    }

    /// The next answer, where it is known.
    pub fn known(&self) -> Option<&Answer> {
        match self {
            Self::Noted(_) => None,
            Self::Known { answers, task, read } => Some(&answers[*task][*read]),
        }
    }

    /// The answer that was computed, or the next one that is known.
    pub fn answer(&mut self, computed: impl FnOnce() -> Answer) -> Answer {
        match self {
            Self::Noted(tasks) => {
                let answer = computed();
                if let Some((_, answers)) = tasks.last_mut() {
                    answers.push(answer.clone());
                }
                answer
            }
            Self::Known { answers, task, read } => {
                *read += 1;
                answers[*task][*read - 1].clone()
            }
        }
    }

    /// What was noted.
    pub fn into_noted(self) -> Vec<(usize, Vec<Answer>)> {
        match self {
            Self::Noted(tasks) => tasks,
            Self::Known { .. } => Vec::new(),
        }
    }
}
