use super::*;

/// The names stand between `|`.
fn check(names: &str, is_right: impl Fn(&Measure) -> bool) {
    for name in names.split('|').map(str::trim) {
        let measure = measure_of(name);
        assert!(is_right(&measure), "{name:?} is {measure:?}");
    }
}

fn check_time(unit: Option<Unit>, names: &str) {
    check(names, |it| *it == Measure::Time(unit));
}

fn check_number(text: &str, decimal: Option<f64>, thousands: Option<f64>) {
    assert_eq!(number(text, Comma::Decimal), decimal, "{text:?} with decimal commas");
    assert_eq!(number(text, Comma::Thousands), thousands, "{text:?} with commas at thousands");
}

fn check_duration(text: &str, seconds: f64) {
    let found = duration(text, Comma::Thousands).unwrap_or_else(|| panic!("{text:?} is refused"));
    assert!((found.seconds - seconds).abs() <= 1e-15 * seconds, "{text:?}: {}", found.seconds);
    assert!(found.has_unit, "{text:?} has a unit");
}

#[test]
fn every_unit_has_its_length_and_each_of_its_spellings_in_any_capitals() {
    for (unit, nanoseconds) in [
        (Unit::Days, 86_400_000_000_000.0),
        (Unit::Hours, 3_600_000_000_000.0),
        (Unit::Minutes, 60_000_000_000.0),
        (Unit::Seconds, 1_000_000_000.0),
        (Unit::Milliseconds, 1_000_000.0),
        (Unit::Microseconds, 1000.0),
        (Unit::Nanoseconds, 1.0),
    ] {
        assert_eq!(unit.seconds(1.0), nanoseconds / 1e9);
        assert_eq!(Unit::named(unit.symbol()), Some(unit));
        let (_, spellings) = SPELLINGS.iter().find(|(known, _)| *known == unit).unwrap();
        for spelling in spellings.split_whitespace() {
            assert_eq!(Unit::named(spelling), Some(unit), "{spelling}");
            assert_eq!(Unit::named(&spelling.to_uppercase()), Some(unit), "{spelling}");
            check_duration(&format!("2 {spelling}"), 2.0 * nanoseconds / 1e9);
            check_time(Some(unit), &format!("elapsed [{spelling}]"));
        }
    }
}

#[test]
fn every_unit_is_known_by_the_spellings_that_people_use() {
    let named = |list: &str| list.split(' ').map(Unit::named).collect::<Vec<_>>();
    assert_eq!(named("s sec secs second seconds Sec."), [Some(Unit::Seconds); 6]);
    assert_eq!(named("ms msec milli millis milliseconds"), [Some(Unit::Milliseconds); 5]);
    assert_eq!(named("us usec \u{b5}s \u{3bc}s micros"), [Some(Unit::Microseconds); 5]);
    assert_eq!(named("ns nsec nanos nanoseconds"), [Some(Unit::Nanoseconds); 4]);
    assert_eq!(named("min minutes"), [Some(Unit::Minutes); 2]);
    assert_eq!(named("h hr hours"), [Some(Unit::Hours); 3]);
    assert_eq!(named("m ks ps cs cycles  ss"), [None; 7]);
}

#[test]
fn a_unit_of_time_is_found_wherever_it_stands_in_a_name() {
    check_time(Some(Unit::Days), "days/ns | time (d) | elapsed days");
    check_time(Some(Unit::Hours), "hour/ns | wall_h | Laufzeit [h] | hours");
    check_time(
        Some(Unit::Minutes),
        "runtime (minutes) | time_min | wall [min] | min/step | min/ns",
    );
    check_time(Some(Unit::Minutes), "time in min | elapsed_mins");
    let seconds = "time_s | time (s) | time/s | Zeit [s] | Ausf\u{fc}hrungszeit (s) | walltimesec | \
        Elapsed [sec] | avg time in seconds | s/step | sec per iteration | mean_s | t_s | seconds | \
        min_time_s | time_s_1 | TIME_S | s/it | end-to-end time (s) | Time (s/step) | run [s] | Time, s | \
        time to solution [s] | kernel_time_s";
    check_time(Some(Unit::Seconds), seconds);
    let milliseconds = "timems | timeMs | TIME_MS | elapsed_msec | ms_per_iter | wall_ms_mean | t_ms | \
        elapsed_milliseconds | median(ms) | latency_p99_ms | compute_ms | ms | time_mSec | iter_ms | \
        elapsedMilliSeconds | elapsed milli seconds | time per token [ms] | score (ms) | runtimems | \
        time_per_iter_ms | time_ms_min | time per step per core [ms]";
    check_time(Some(Unit::Milliseconds), milliseconds);
    check_time(Some(Unit::Microseconds), "time_usec | wall[\u{b5}s] | t (\u{3bc}s) | us/cell/step");
    check_time(
        Some(Unit::Nanoseconds),
        "time.duration.ns | real_ns | elapsedNs | s_ns_time [ns/step]",
    );
}

#[test]
fn a_time_without_a_unit_has_none() {
    let names = "time | elapsed | runtime | wall_clock | mean time | real_time | JobRuntime | wallclock | \
        elapsed_value | real | wall | ElapsedRaw | time1 | Dauer | temps | time per step | time/step | \
        job_completion_time | min_time | time_max | walltimes | totaltime | time_to_solution | \
        Elapsed (wall clock) time (h:mm:ss or m:ss) | parallel time | time per 1000 steps";
    check_time(None, names);
}

#[test]
fn a_rate_is_known_by_its_denominator_or_its_word() {
    let units = [
        ("ns/day | Performance (ns/day)", "ns/day"),
        ("tokens_per_s", "tokens/s"),
        ("steps per second", "steps/second"),
        ("throughput GB/s", "GB/s"),
        ("t/s", "t/s"),
        ("1/s | rate [1/s]", "1/s"),
        ("tokens/gpu/s", "tokens/gpu/s"),
        ("mean_speedup", "speedup"),
        ("figure_of_merit", "figure of merit"),
        ("time efficiency", "efficiency"),
    ];
    for (names, unit) in units {
        check(names, |it| *it == Measure::Rate(unit.into()));
    }
    let names = "it/s | tokens/sec | MB/s | img/s | req/s | ops_per_sec | Hz | GFLOP/s | GFLOPS | gflops | \
        mflops | tflops | flops | MLUPS | MUPS | GUPS | tps | bandwidth | qps | iops | rate | fps | speed | \
        performance | score | MIPS | ops | it/min | it per min | GB s^-1 | cells/s/core | us/day | \
        steps/rank/s | steps per rank per second";
    check(names, |it| matches!(it, Measure::Rate(_)));
}

#[test]
fn a_unit_that_is_not_known_is_never_taken_as_seconds() {
    let units = [
        ("time_foo", "foo"),
        ("time_ticks", "ticks"),
        ("elapsed_jiffies", "jiffies"),
        ("time_ps", "ps"),
        ("time [m]", "m"),
        ("elapsed_min", "min"),
        ("time_100ns", "100 ns"),
        ("time_k_s", "k s"),
        ("core_hours", "core hours"),
        ("cpu_time | user_s | sys time (ms) | cputime | CPU s/step", "processor time"),
        ("cycles", "cycles"),
        ("wall_kcycles", "wall_kcycles"),
    ];
    for (names, unit) in units {
        check(names, |it| *it == Measure::Other(unit.into()));
    }
}

#[test]
fn a_name_that_is_unclear_or_of_something_else_is_no_time_and_no_rate() {
    let is_other = |it: &Measure| matches!(it, Measure::Other(_));
    let rates_without_their_sign = "tokens_sec | iter_s | it_s | MB_s | ns_day | gflops_s | throughput_s | \
        samples/time | steps per wall second | steps per 10 seconds";
    check(rates_without_their_sign, is_other);
    let set = "time_limit_s | timeout_ms | start_time | timestep | time_step_s | delay_us | grain_us | days | \
        arrival_rate (1/s) | sim_ns | grain [us] | simulated days";
    check(set, is_other);
    let factors = "m | p | t | s | h | d | mode | N | size | grid_h | max_h | learning_rate | num_ops | min | \
        mean | day | second | items | perms | minus | wall_thickness | clock_GHz_freq | parallel | ";
    check(factors, is_other);
    let no_times = "stddev_s | time_ms2 | time [s^2] | % time | elapsed_unit | log_time | nanoTime | \
        micro_benchmark_time | wall_ms [s] | ms_per_iter [us] | second_run | min/max | max/min | \
        h/dx | S/N | d/D";
    check(no_times, is_other);
}

#[test]
fn a_number_is_the_nearest_whatever_stands_between_its_thousands() {
    check_number("0.3", Some(0.3), Some(0.3));
    check_number("103,2000", Some(103.2), None);
    check_number("1.234,5", Some(1234.5), None);
    check_number("1,234.5", None, Some(1234.5));
    check_number("1,234,567", None, Some(1_234_567.0));
    check_number("28,400", Some(28.4), Some(28_400.0));
    check_number("1.234.567", Some(1_234_567.0), None);
    check_number("1\u{a0}234", Some(1234.0), Some(1234.0));
    check_number("-1'234", Some(-1234.0), Some(-1234.0));
    check_number("1.5e3", Some(1500.0), Some(1500.0));
    check_number("1.234e3", Some(1234.0), Some(1234.0));
    check_number("0.7725D+01", Some(7.725), Some(7.725));
    check_number(" +5. ", Some(5.0), Some(5.0));
}

#[test]
fn a_text_that_is_no_number_or_may_be_two_is_refused() {
    check_number("1.234", None, Some(1.234));
    check_number("1,23", Some(1.23), None);
    let wrong =
        "|-|.|,|nan|inf|1e999|1e|1 23|1,2345.6|0,123,456|1'234 567|12 s|1.2.3|--1|1,,234|e5";
    for text in wrong.split('|') {
        check_number(text, None, None);
    }
}

#[test]
fn a_duration_is_read_as_programs_print_it() {
    for (text, seconds) in [
        ("72 s", 72.0),
        ("72s", 72.0),
        ("1m12.3s", 72.3),
        ("1m31.50s", 91.5),
        (" 1m 5.2s", 65.2),
        ("1h2m3s", 3723.0),
        ("1h 2m", 3720.0),
        ("2d 3h", 183_600.0),
        ("0:01:12.3", 72.3),
        ("00:01:43.20", 103.2),
        ("1-02:03:04", 93_784.0),
        ("1 day, 2:03:04", 93_784.0),
        ("1:15.90", 75.9),
        ("100:00", 6000.0),
        ("1,234.5 ms", 1.2345),
        ("1.5 min", 90.0),
        ("1.5e3 ms", 1.5),
        ("1 min, 3 sec.", 63.0),
        ("1m60.00s", 120.0),
        ("PT1M12.3S", 72.3),
        ("P1DT2H", 93_600.0),
    ] {
        check_duration(text, seconds);
    }
    let plain = Some(Duration { seconds: 103.2, has_unit: false });
    assert_eq!(duration("103.2", Comma::Thousands), plain);
    assert_eq!(duration("103,2", Comma::Decimal), plain);
    assert_eq!(duration("1:15,9", Comma::Decimal).map(|it| it.seconds), Some(75.9));
}

#[test]
fn a_text_that_is_no_duration_is_refused() {
    let wrong = "|s|5 m|-1|-1 s|-0:01|1h -2m|1s 2m|1m 2m|1.5h 2m|72 s CPU|11.4 ns/day|1:60|1:60:00|1:5|\
        16:9|1-02:03|1-24:00:00|1:2:3:4|1:|2026-01-01 00:00:00|2026-01-01T00:00:00|P|PT|P1M|PT1S2M|\
        P1DT|3 kcycles|0:01:12,345|1,5 s|nan s|1 2 s";
    for text in wrong.split('|') {
        assert_eq!(duration(text, Comma::Thousands), None, "{text:?}");
    }
}

#[test]
fn an_error_behind_a_time_is_none_of_it() {
    for text in ["103.2 \u{b1} 0.5", "103.2+/-0.5", "103.2 +- 0.5 s"] {
        let found = duration(text, Comma::Thousands);
        assert_eq!(found.map(|it| it.seconds), Some(103.2), "{text}");
    }
    check_duration("1m43.2s \u{b1} 0.5s", 103.2);
    check_duration("103200 \u{b1} 500 ms", 103.2);
}
