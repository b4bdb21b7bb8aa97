//! What threads share in the interface for programs in C, in every order of its accesses that the memory
//! model of C++ allows: loom runs each test once for each order in which threads switch up to three
//! times before they have to.

#![cfg(test)]

mod sync {
    pub use loom::hint::spin_loop;
    pub use loom::sync::Mutex;
    pub use loom::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
}

#[path = "../../src/capi/publication.rs"]
mod publication;

use loom::sync::Arc;
use loom::thread;
use publication::{Learner, Publication};
use sync::{AtomicU64, Ordering};

/// Knows how many samples it took in, and publishes that twice.
#[derive(Default)]
struct Counter {
    waiting: u64,
    taken_in: u64,
}

impl Learner for Counter {
    type Copy = [AtomicU64; 2];

    fn settle(&mut self) {
        self.taken_in += std::mem::take(&mut self.waiting);
    }

    fn write(&self, copy: &Self::Copy) {
        for cell in copy {
            cell.store(self.taken_in, Ordering::Relaxed);
        }
    }
}

fn counter() -> Arc<Publication<Counter>> {
    let copy = || [AtomicU64::new(0), AtomicU64::new(0)];
    Arc::new(Publication::new(Counter::default(), [copy(), copy()]))
}

fn add(published: &Publication<Counter>) {
    let put = |counter: &mut Counter| {
        counter.waiting += 1;
        Ok::<(), ()>(())
    };
    published.put_down(put).expect("nothing is refused");
}

/// The number, of which both halves must be of one sample.
fn read(published: &Publication<Counter>) -> u64 {
    let load = |cell: &AtomicU64| cell.load(Ordering::Relaxed);
    let [first, second] = published.read(|[first, second]| [load(first), load(second)]);
    assert_eq!(first, second, "half of a sample");
    first
}

/// Another thread.
fn beside(
    published: &Arc<Publication<Counter>>,
    body: impl FnOnce(&Publication<Counter>) + 'static,
) -> thread::JoinHandle<()> {
    let published = Arc::clone(published);
    thread::spawn(move || body(&published))
}

fn check(threads: impl Fn() + Sync + Send + 'static) {
    let mut model = loom::model::Builder::new();
    // Without a bound, all is well too, but it takes a minute instead of a third of a second.
    model.preemption_bound = Some(3);
    model.check(threads);
}

#[test]
fn a_reader_sees_whole_samples_one_after_the_other() {
    check(|| {
        let published = counter();
        let writer = beside(&published, |published| {
            // The second goes into the copy that a reader of the first state looks at.
            for sample in 1..=2 {
                add(published);
                assert!(read(published) <= sample);
            }
        });
        let earlier = read(&published);
        assert!(read(&published) >= earlier, "an earlier sample after a later one");
        writer.join().unwrap();
        assert_eq!(read(&published), 2);
    });
}

#[test]
fn of_two_writers_no_sample_is_lost() {
    check(|| {
        let published = counter();
        let other = beside(&published, |published| {
            add(published);
            read(published);
        });
        add(&published);
        read(&published);
        other.join().unwrap();
        assert_eq!(read(&published), 2);
    });
}
