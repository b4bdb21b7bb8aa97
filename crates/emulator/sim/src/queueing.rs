//! The simulation against queueing theory: stations whose means have closed forms.
//!
//! Formulas: Kleinrock, Queueing Systems, volume 1 (1975) for M/M/1, M/D/1 and the machine
//! repairman, volume 2 (1976), section 4.4, for processor sharing.

use std::cell::RefCell;
use std::future::Future;
use std::rc::Rc;

use rand::SeedableRng;
use rand_distr::{Distribution, Exp1};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Flows, Pool, Sim};
use mmgp_base::units::{Seconds, SimSpan};

/// Mean service time, 1/mu [s].
const SERVICE: f64 = 1e-3;
/// rho = lambda/mu.
const UTILISATION: f64 = 0.5;
const CUSTOMERS: usize = 120_000;
const BATCHES: usize = 30;

fn span(seconds: f64) -> SimSpan {
    SimSpan::from_seconds(Seconds(seconds))
}

fn exponential(random: &mut Xoshiro256PlusPlus, mean: f64) -> f64 {
    let unit: f64 = Exp1.sample(random);
    mean * unit
}

/// Compares the mean of a stationary series with theory; the standard error comes from the means
/// of batches, which are long enough to be independent, and a batch more warms the station up.
fn check(series: &[f64], expected: f64) {
    let batches = series.chunks_exact(series.len() / (BATCHES + 1)).skip(1).take(BATCHES);
    let means: Vec<f64> =
        batches.map(|batch| batch.iter().sum::<f64>() / batch.len() as f64).collect();
    let mean = means.iter().sum::<f64>() / BATCHES as f64;
    let squares = means.iter().map(|batch| (batch - mean).powi(2)).sum::<f64>();
    let standard_error = (squares / (BATCHES * (BATCHES - 1)) as f64).sqrt();
    assert!(standard_error < 0.03 * expected, "{standard_error} tells nothing about {expected}");
    assert!(
        (mean - expected).abs() < 3.0 * standard_error,
        "{mean} +- {standard_error}, expected {expected}"
    );
}

/// What `visit` says of each customer, in the order of leaving. Customers arrive at random; each
/// is a process that visits the station with the work that `work` draws.
fn visits<F: Future<Output = f64> + 'static>(
    sim: &Sim,
    work: fn(&mut Xoshiro256PlusPlus) -> f64,
    visit: impl Fn(f64) -> F + 'static,
) -> Vec<f64> {
    let log = Rc::new(RefCell::new(Vec::with_capacity(CUSTOMERS)));
    let (own, entries) = (sim.clone(), Rc::clone(&log));
    sim.spawn("arrivals", async move {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        for _ in 0..CUSTOMERS {
            own.sleep(span(exponential(&mut random, SERVICE / UTILISATION))).await;
            let (visit, entries) = (visit(work(&mut random)), Rc::clone(&entries));
            own.spawn("customer", async move {
                let entry = visit.await;
                entries.borrow_mut().push(entry);
            });
        }
    });
    sim.run().unwrap();
    log.take()
}

/// How long each customer waits in the queue for one server.
fn waits(work: fn(&mut Xoshiro256PlusPlus) -> f64) -> Vec<f64> {
    let sim = Sim::new();
    let (own, server) = (sim.clone(), Pool::new(&sim, "server", 1));
    visits(&sim, work, move |work| {
        let (own, server) = (own.clone(), server.clone());
        async move {
            let arrival = own.now();
            let _served = server.acquire().await;
            let waited = own.now().since(arrival);
            own.sleep(span(work)).await;
            waited.seconds().0
        }
    })
}

/// How long each customer stays at a server that all share, a single capacity, over its work.
fn stretches(work: fn(&mut Xoshiro256PlusPlus) -> f64) -> Vec<f64> {
    let sim = Sim::new();
    let network = Flows::new(&sim, "server");
    let server = network.add(1.0);
    let own = sim.clone();
    visits(&sim, work, move |work| {
        let (own, network) = (own.clone(), network.clone());
        async move {
            let arrival = own.now();
            // Alone, a customer has the whole of it.
            network.send(&[server], 1.0, work).await;
            own.now().since(arrival).seconds().0 / work
        }
    })
}

#[test]
fn customers_of_m_m_1_wait_as_long_as_theory_says() {
    // W_q = rho / (1 - rho) / mu
    let expected = UTILISATION / (1.0 - UTILISATION) * SERVICE;
    check(&waits(|random| exponential(random, SERVICE)), expected);
}

#[test]
fn customers_of_m_d_1_wait_half_as_long() {
    // W_q = rho / (1 - rho) / (2 mu)
    let expected = UTILISATION / (1.0 - UTILISATION) * SERVICE / 2.0;
    check(&waits(|_| SERVICE), expected);
}

#[test]
fn jobs_that_share_a_server_stay_in_proportion_to_their_work() {
    // T(x) = x / (1 - rho), whatever the distribution of the work x.
    let expected = 1.0 / (1.0 - UTILISATION);
    check(&stretches(|random| exponential(random, SERVICE)), expected);
    check(&stretches(|_| SERVICE), expected);
}

#[test]
fn a_repairman_mends_as_many_machines_as_theory_says() {
    // N machines run for 1/lambda on average, and one man mends each in 1/mu:
    // throughput = mu (1 - p_0),  1/p_0 = sum over k from 0 to N of N!/(N - k)! (lambda/mu)^k
    let (machines, run) = (6_u32, 5.0 * SERVICE);
    let mut term = 1.0;
    let mut sum = 1.0;
    for broken in 0..machines {
        term *= f64::from(machines - broken) * SERVICE / run;
        sum += term;
    }
    let expected = (1.0 - 1.0 / sum) / SERVICE;

    let sim = Sim::new();
    let man = Pool::new(&sim, "repairman", 1);
    let mended = Rc::new(RefCell::new(Vec::new()));
    let horizon = 40_000.0 / expected;
    for machine in 0..machines {
        let (own, man, mended) = (sim.clone(), man.clone(), Rc::clone(&mended));
        let mut random = Xoshiro256PlusPlus::seed_from_u64(u64::from(machine));
        sim.spawn("machine", async move {
            while own.now().seconds().0 < horizon {
                own.sleep(span(exponential(&mut random, run))).await;
                let _mending = man.acquire().await;
                own.sleep(span(exponential(&mut random, SERVICE))).await;
                mended.borrow_mut().push(own.now().seconds().0);
            }
        });
    }
    sim.run().unwrap();
    // Repairs in equal intervals, each as a rate.
    let interval = horizon / (10 * (BATCHES + 1)) as f64;
    let mut rates = vec![0.0; 10 * (BATCHES + 1)];
    for &instant in mended.borrow().iter().filter(|&&instant| instant < horizon) {
        rates[(instant / interval) as usize] += 1.0 / interval;
    }
    check(&rates, expected);
}
