//! Jobs on the threads of this computer.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use mmgp_base::error::Result;

/// Runs `job` for each item on so many threads of this computer; the results stand in the order of
/// the items, whatever the threads do. After an error no further item is begun.
///
/// # Errors
/// The first error, in the same order.
pub fn on_threads<I: Sync, T: Send>(
    items: &[I],
    threads: usize,
    job: &(dyn Fn(&I) -> Result<T> + Sync),
) -> Result<Vec<T>> {
    let next = AtomicUsize::new(0);
    let has_failed = AtomicBool::new(false);
    let results: Vec<Mutex<Option<Result<T>>>> = items.iter().map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        for _ in 0..threads.min(items.len()).max(1) {
            scope.spawn(|| {
                while !has_failed.load(Ordering::Relaxed) {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(index) else { break };
                    let result = job(item);
                    has_failed.fetch_or(result.is_err(), Ordering::Relaxed);
                    *lock(&results[index]) = Some(result);
                }
            });
        }
    });
    // Items are begun in their order: none before the first that failed was left out.
    let filled = "invariant: each job before the first error was run";
    results.iter().map(|result| lock(result).take().expect(filled)).collect()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mmgp_base::error::Error;

    #[test]
    fn results_stand_in_the_order_of_the_items_whatever_the_threads_do() {
        let items: Vec<u32> = (0..40).collect();
        for threads in [1, 3, 100] {
            let now = AtomicUsize::new(0);
            let job = |&item: &u32| {
                assert!(now.fetch_add(1, Ordering::SeqCst) < threads);
                std::thread::sleep(std::time::Duration::from_micros(u64::from(400 - 10 * item)));
                now.fetch_sub(1, Ordering::SeqCst);
                Ok(item)
            };
            assert_eq!(on_threads(&items, threads, &job).unwrap(), items);
        }
    }

    #[test]
    fn the_first_error_in_that_order_is_returned_and_nothing_is_begun_after_it() {
        let items: Vec<u32> = (0..1000).collect();
        for threads in [1, 4] {
            let begun = AtomicUsize::new(0);
            let job = |&item: &u32| {
                begun.fetch_add(1, Ordering::SeqCst);
                match item {
                    0..7 => Ok(()),
                    7 => Err(Error::Fit(item.to_string())),
                    _ => {
                        std::thread::sleep(std::time::Duration::from_millis(1));
                        Err(Error::Fit(item.to_string()))
                    }
                }
            };
            let error = on_threads(&items, threads, &job).unwrap_err().to_string();
            assert_eq!(error, "the fit did not converge: 7");
            assert!(begun.into_inner() < items.len());
        }
    }
}
