//! What policies make of faults that are injected into the machine.

use super::*;
use mmgp_cell::Disturbance;

/// Takes as many times 10 us as the number of the function.
struct Program;

impl SpeProgram for Program {
    async fn call(&self, spe: &Spe, call: Call) -> Result<Vec<Loop>> {
        spe.spend(Cycles(32_000 * u64::from(call.function))).await;
        Ok(Vec::new())
    }
}

/// Two processes on one hardware thread, with an SPE and five tasks each: when they end \[s\], or why they
/// do not.
fn end(policy: &str, faults: &[&str]) -> std::result::Result<f64, String> {
    end_of(policy, faults, (1, &[(0, 0), (2, 1)]))
}

/// The same of this function, of these processes and their SPEs.
fn end_of(
    policy: &str,
    faults: &[&str],
    (function, processes): (u32, &[(u32, u32)]),
) -> std::result::Result<f64, String> {
    let blade = Blade::new(&Machine::named("ps3").unwrap(), KernelTiming::Cached, 0.0);
    let faults: Vec<Disturbance> = faults.iter().map(|text| text.parse().unwrap()).collect();
    blade.inject(&faults).unwrap();
    let on = Runtime::new(blade, policy_named(policy).unwrap());
    on.load(&Rc::new(Program), Signalling::Memory);
    for &(rank, spe) in processes {
        let process = on.process(rank, vec![spe]);
        on.blade().sim.spawn(format!("rank {rank}"), async move {
            process.resume().await;
            for _ in 0..5 {
                process.off_load(Task::new(function, 1, &|_| EffectiveAddress::default())).await;
            }
            process.finish(0);
        });
    }
    on.blade().run().map(|end| end.seconds().0).map_err(|error| error.to_string())
}

/// The part of a deadlock's report after when it was.
fn why(policy: &str, faults: &[&str]) -> String {
    let message = end(policy, faults).unwrap_err();
    let (at, why) = message.split_once(": ").unwrap();
    assert!(at.starts_with("deadlock at "), "{message}");
    why.into()
}

#[test]
fn who_sleeps_until_a_lost_interrupt_sleeps_for_ever_and_who_polls_loses_nothing() {
    let lost = ["interrupt 3 of spe 1 lost"];
    assert_eq!(
        why("mbox", &lost),
        "rank 2 waits for the interrupt of SPE 1; after: interrupt 3 of spe 1 lost"
    );
    // An SPE whose interrupt is lost stays blocked.
    assert!(why("callback", &lost).starts_with("rank 2 waits for "));
    for policy in ["linux", "ynr", "sled", "work-stealing", "edtlp"] {
        assert_eq!(end(policy, &lost), end(policy, &[]), "{policy}");
    }
    // There are five.
    for policy in ["mbox", "callback"] {
        assert_eq!(end(policy, &["interrupt 6 of spe 1 lost"]), end(policy, &[]), "{policy}");
    }
}

#[test]
fn an_spe_that_has_stopped_is_waited_for_in_vain_under_every_policy_that_has_no_other() {
    for policy in policies() {
        if policy.leases_own_only() {
            let why = why(policy.name(), &["spe 1 stops at 25 us"]);
            assert!(why.ends_with("after: spe 1 stopped at 25 us"), "{}: {why}", policy.name());
            assert!(why.contains("rank 2 waits for "), "{}: {why}", policy.name());
        }
    }
}

#[test]
fn a_slow_spe_stretches_the_tasks_of_its_process() {
    // Five tasks of 10 us take as long as ones of 20 us on an SPE that is not slow, but that the poll
    // before each takes twice, too.
    let machine = Machine::named("ps3").unwrap();
    let polls = 5.0 * machine.spu.poll.at(machine.clock).seconds().0;
    let alone = |function, faults| end_of("mbox", faults, (function, &[(2, 1)])).unwrap();
    let more = alone(1, &["spe 1 at 1/2 from 0 s"]) - alone(2, &[]);
    assert!((more - polls).abs() < 1e-9, "{more} {polls}");
    // Under no policy does anything else come of it than a later end.
    for policy in policies() {
        let name = policy.name();
        assert!(end(name, &["spe 1 at 1/2 from 0 s"]).unwrap() > end(name, &[]).unwrap(), "{name}");
    }
}
