use super::*;
use mmgp_lists::Values;

fn settings(sublists: u32, in_flight: u32, threads: u32) -> Settings {
    let (order, operation) = (Order::Random, Operation::Sum);
    Settings { order, operation, sublists, in_flight, threads, seed: 3 }
}

#[test]
fn every_prefix_is_that_of_a_sequential_program() {
    for nodes in [1, 2, 3, 17, 1000, 20_000] {
        for order in Order::ALL {
            let list = List::generate(nodes, order, Values::Sparse, 5).unwrap();
            for operation in Operation::ALL {
                let expected = rank_sequentially(&list, operation);
                for (sublists, in_flight, threads) in
                    [(1, 1, 1), (2, 1, 3), (64, 8, 1), (64, 16, 3), (512, 5, 16), (100_000, 64, 2)]
                {
                    let settings = settings(sublists, in_flight, threads);
                    let settings = Settings { order, operation, ..settings };
                    let measured = measure(&list, settings, 2).unwrap();
                    let case = format!("{nodes} nodes, {settings:?}");
                    assert_eq!(measured.prefixes, expected, "{case}");
                    assert_eq!(measured.wrong, 0, "{case}");
                    assert_eq!(measured.loads.iter().sum::<u64>(), u64::from(nodes), "{case}");
                    assert!(measured.loads.len() <= threads as usize, "{case}");
                }
            }
        }
    }
}

#[test]
fn sublists_of_an_ordered_list_are_as_long_as_each_other() {
    let list = List::generate(1200, Order::Ordered, Values::Ones, 1).unwrap();
    let settings = Settings { order: Order::Ordered, ..settings(12, 4, 4) };
    let measured = measure(&list, settings, 1).unwrap();
    assert_eq!((measured.loads, measured.sublists), (vec![300; 4], 12));
}

#[test]
fn each_run_is_timed_step_by_step() {
    let list = List::generate(100_000, Order::Random, Values::Ones, 1).unwrap();
    let measured = measure(&list, settings(64, 8, 2), 5).unwrap();
    assert_eq!((measured.steps.len(), measured.sequential.len()), (5, 5));
    for [heads, sublists, totals, adding] in &measured.steps {
        // Step 2 takes more than the rest: the others stream, or are about heads alone.
        assert!(sublists.0 > 0.0 && totals.0 < sublists.0, "{:?}", measured.steps);
        assert!(heads.0 > 0.0 && adding.0 > 0.0, "{:?}", measured.steps);
    }
    let time = measured.time();
    assert!(time.least.0 <= time.median.0 && time.median.0 <= time.most.0);
}

#[test]
fn none_and_too_many_are_refused() {
    let list = List::generate(10, Order::Random, Values::Ones, 1).unwrap();
    let check = |settings, repetitions, message: &str| {
        assert_eq!(measure(&list, settings, repetitions).unwrap_err().to_string(), message);
    };
    check(settings(0, 1, 1), 1, "sublists: found 0, expected 1 to 4294967295");
    check(settings(1, 65, 1), 1, "sublists in lock step: found 65, expected 1 to 64");
    check(settings(1, 1, 0), 1, "threads that rank: found 0, expected 1 to 1024");
    check(settings(1, 1, 1), 0, "repetitions of the ranking: found 0, expected 1 to 1024");
}

#[test]
fn the_median_of_an_even_number_of_times_lies_between_two_of_them() {
    let check = |times: &[f64], [median, least, most]: [f64; 3]| {
        let [median, least, most] = [median, least, most].map(Seconds);
        let found = Spread::of(times.iter().map(|&time| Seconds(time)));
        assert_eq!(found, Spread { median, least, most });
    };
    check(&[3.0], [3.0, 3.0, 3.0]);
    check(&[5.0, 1.0], [3.0, 1.0, 5.0]);
    check(&[5.0, 1.0, 2.0], [2.0, 1.0, 5.0]);
    check(&[5.0, 1.0, 2.0, 4.0], [3.0, 1.0, 5.0]);
}

#[test]
fn the_time_of_a_run_is_that_of_its_steps() {
    let steps = vec![[1.0, 2.0, 3.0, 4.0].map(Seconds), [0.0, 9.0, 0.0, 5.0].map(Seconds)];
    let (sequential, prefixes, loads) = (vec![Seconds(1.0)], Vec::new(), Vec::new());
    let measured = RankingTimes { steps, sequential, prefixes, wrong: 0, loads, sublists: 1 };
    assert_eq!(measured.time().median, Seconds(12.0));
    assert_eq!(measured.of_steps().map(|step| step.median.0), [0.5, 5.5, 1.5, 4.5]);
}
