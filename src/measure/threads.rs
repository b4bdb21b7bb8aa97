//! Jobs on the threads of this computer.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::Result;

/// Runs `job` for each item on so many threads of this computer; the results stand in the order of
/// the items, whatever the threads do.
///
/// # Errors
/// The first error, in the same order.
pub fn on_threads<I: Sync, T: Send>(
    items: &[I],
    threads: usize,
    job: &(dyn Fn(&I) -> Result<T> + Sync),
) -> Result<Vec<T>> {
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<Result<T>>>> = items.iter().map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        for _ in 0..threads.min(items.len()).max(1) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(index) else { break };
                    *lock(&results[index]) = Some(job(item));
                }
            });
        }
    });
    let filled = "invariant: each job was run";
    results.iter().map(|result| lock(result).take().expect(filled)).collect()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
