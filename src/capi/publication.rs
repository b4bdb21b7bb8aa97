//! What one thread learns at a time, published for readers that never wait.
//!
//! What is published is kept twice. Readers use the copy that the *generation* names, its last bit being
//! the index. A writer, one at a time under a lock, writes the other copy and then names it by the next
//! generation. A reader looks at the generation before and after: where it is the same, the copy was
//! not written meanwhile, as that begins only after the generation has moved on. So a reader never
//! waits for a writer, even one that the system has stopped midway; it reads again only where a whole
//! sample was added during the nanoseconds that it takes.
//!
//! Everything that is written is an atomic, read and written relaxed; two fences make the order: the
//! writer's, after it has seen its own generation and before it writes the other copy, meets the
//! reader's between its data and its second look, so that a reader that saw anything new also sees
//! that the generation is new. `tests/loom` goes through the orders that the memory of a computer
//! allows.
//!
//! A sample is only put down; the next question takes all of them in, which takes as long as a few
//! thousand answers. Who finds that another thread is doing so does not wait, but answers from what is
//! published.

use std::sync::{PoisonError, TryLockError};

use super::sync::{AtomicBool, AtomicU64, Mutex, Ordering, fence, spin_loop};

/// Who learns.
pub trait Learner {
    /// What others see of it, all of it atomics.
    type Copy;

    /// Takes in what was put down.
    fn settle(&mut self);

    /// Writes what it knows, relaxed.
    fn write(&self, copy: &Self::Copy);
}

/// A learner, and what readers see of it.
pub struct Publication<L: Learner> {
    generation: AtomicU64,
    copies: [L::Copy; 2],
    learner: Mutex<L>,
    /// Whether samples wait to be taken in.
    waiting: AtomicBool,
}

impl<L: Learner> Publication<L> {
    /// Publishes what the learner knows, in the first of two copies.
    pub fn new(learner: L, copies: [L::Copy; 2]) -> Self {
        learner.write(&copies[0]);
        Self {
            generation: AtomicU64::new(0),
            copies,
            learner: Mutex::new(learner),
            waiting: AtomicBool::new(false),
        }
    }

    /// Puts down a sample, unless it is refused.
    pub fn put_down<T, E>(&self, put: impl FnOnce(&mut L) -> Result<T, E>) -> Result<T, E> {
        let mut learner = self.learner.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = put(&mut learner)?;
        self.waiting.store(true, Ordering::Release);
        Ok(answer)
    }

    /// What `look` finds in one copy while that is not written.
    #[inline]
    pub fn read<T>(&self, look: impl Fn(&L::Copy) -> T) -> T {
        if self.waiting.load(Ordering::Acquire) {
            self.take_in();
        }
        loop {
            let generation = self.generation.load(Ordering::Acquire);
            let found = look(&self.copies[(generation & 1) as usize]);
            fence(Ordering::Acquire);
            if self.generation.load(Ordering::Relaxed) == generation {
                return found;
            }
            spin_loop();
        }
    }

    /// Takes in the samples that wait, unless another thread is at it, and publishes what follows.
    #[cold]
    fn take_in(&self) {
        let mut learner = match self.learner.try_lock() {
            Ok(learner) => learner,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        if !self.waiting.swap(false, Ordering::Acquire) {
            return;
        }
        learner.settle();
        let next = self.generation.load(Ordering::Relaxed) + 1;
        fence(Ordering::Release);
        learner.write(&self.copies[(next & 1) as usize]);
        self.generation.store(next, Ordering::Release);
    }
}
