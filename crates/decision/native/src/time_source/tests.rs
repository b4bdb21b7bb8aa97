use super::*;

/// What a pattern finds in a line, as seconds or as a rate with its unit, or why not.
fn found(pattern: &str, printed: PrintedKind, line: &str) -> std::result::Result<String, String> {
    let pattern = Pattern::new(pattern, printed).map_err(|it| it.to_string())?;
    let captures = regex(&pattern.text).expect("a pattern");
    let last = captures.captures_iter(line).last().map(|groups| Match {
        groups: captures
            .capture_names()
            .zip(groups.iter())
            .map(|(name, it)| (name.map(Into::into), it.map(|it| it.as_str().into())))
            .collect(),
        line: line.into(),
        span: groups.get(1).map_or((0, 0), |it| (it.start(), it.end())),
    });
    match TimeSource::Output(pattern).time(Seconds(9.0), last.as_ref(), "") {
        Ok(FoundTime { time, quantity }) => Ok(match quantity.unit() {
            None => format!("{}", time.0),
            Some(unit) => format!("{} {unit}", quantity.number(time)),
        }),
        Err(MissingTime::NotThere(why)) => Err(why),
        Err(MissingTime::NotUnderstood(error)) => Err(error.to_string()),
    }
}

fn time(pattern: &str, line: &str) -> String {
    found(pattern, PrintedKind::Time, line).unwrap()
}

fn rate(pattern: &str, line: &str) -> String {
    found(pattern, PrintedKind::Rate, line).unwrap()
}

fn refused(pattern: &str, line: &str) -> String {
    found(pattern, PrintedKind::Time, line).unwrap_err()
}

#[test]
fn a_time_has_the_unit_that_its_group_or_the_next_one_or_the_words_around_it_name() {
    assert_eq!(time("Total time: +([0-9.]+) s", "Total time:   2.5 s"), "2.5");
    assert_eq!(time("took (?<ms>[0-9]+)", "took 1500"), "1.5");
    assert_eq!(time("([0-9.]+) (m?s)", "it was 250 ms"), "0.25");
    assert_eq!(time("t=(.*)", "t= 1e-3 "), "0.001");
    assert_eq!(time("was ([0-9.]+)", "it was 250 ms"), "0.25");
    assert_eq!(time("Elapsed .*: ([0-9.]+)", "Elapsed time (ms): 250"), "0.25");
    assert_eq!(time("of ([0-9.]+)", "Loop time of 12.5 on 8 procs for 100 steps"), "12.5");
}

#[test]
fn a_duration_is_read_whole() {
    let pwscf = "     PWSCF        :   1m12.50s CPU   1m15.90s WALL";
    assert_eq!(time(r"CPU +(\S+) WALL", pwscf), "75.9");
    assert_eq!(time("qe", pwscf), "75.9");
    assert_eq!(time("qe", "     PWSCF        :   1m 2.50s CPU   1m 5.90s WALL"), "65.9");
    assert_eq!(time("qe", "     PWSCF        :     1h20m CPU     1h22m WALL"), "4920");
    let gnu = "\tElapsed (wall clock) time (h:mm:ss or m:ss): 1:15.90";
    assert_eq!(time("gnu-time", gnu), "75.9");
    assert_eq!(time(r"real\s+(\S+)", "real\t1m15.900s"), "75.9");
}

#[test]
fn a_part_of_a_duration_is_refused_with_what_takes_it_whole() {
    let pwscf = "     PWSCF        :   1m12.50s CPU   1m15.90s WALL";
    let why = refused("([0-9.]+)s WALL", pwscf);
    assert!(why.contains("\"15.90\" is a part of the time in"), "{why}");
    assert!(why.ends_with("say time-from qe"), "{why}");
    let why = refused("([0-9.]+)s", "real\t1m15.900s");
    let wider = why.rsplit_once("say time-from ").unwrap().1;
    assert_eq!(time(wider, "real\t1m15.900s"), "75.9");
    let why = refused("took ([0-9]+)", "took 1:15.9");
    let wider = why.rsplit_once("say time-from ").unwrap().1;
    assert_eq!(time(wider, "took 1:15.9"), "75.9");
    assert!(refused("([0-9])$", "took 75").contains("a part of"));
    for (pattern, line, seconds) in [
        ("elapsed: ([0-9.]+)", "Total elapsed: 1.6300E+01", "16.3"),
        ("elapsed: ([0-9.]+)", "Total elapsed: 1.6300D+01", "16.3"),
        ("Total: ([0-9.]+)", "Total: 1 min 16.3 sec", "76.3"),
        ("([0-9.]+) seconds", "Elapsed: 0 days 0 hours 1 minutes 13.5 seconds.", "73.5"),
    ] {
        let why = refused(pattern, line);
        let wider = why.rsplit_once("say time-from ").unwrap_or_else(|| panic!("{why}")).1;
        assert_eq!(time(wider, line), seconds);
    }
    assert!(refused("took ([0-9]+)", "took 16,30").contains("a part of"));
    assert!(refused("([0-9.]+)", "CPU: 98.5%").contains("per cent is no unit of time"));
    let why = found("FOM = ([0-9.]+)", PrintedKind::Rate, "FOM = 6.1e+03").unwrap_err();
    assert!(why.contains("a part of the number"), "{why}");
}

#[test]
fn a_rate_is_no_time() {
    let line = "Performance:       11.400        2.105";
    let why = refused("Performance: +([0-9.]+)", line);
    assert!(
        why.ends_with("of which more is better; say rate-from Performance: +([0-9.]+)"),
        "{why}"
    );
    for line in [
        "tps = 1234.5 (without initial connection time)",
        "it was 55.2 GFLOP/s",
        "speed 12 it/s",
        "queries: 5 per sec.",
        "Throughput: 5.5",
    ] {
        let why = refused("([0-9]+[.]?[0-9]*)", line);
        assert!(why.contains("a rate ("), "{why}");
    }
    assert!(refused("t: ([0-9]+)", "t: 55 cycles").contains("cycles is no unit of time"));
}

#[test]
fn what_programs_print_of_something_else_is_no_time() {
    let llama = "eval time = 123.45 ms / 10 runs (12.34 ms per token, 81.04 tokens per second)";
    assert!(refused("([0-9.]+) tokens", llama).contains("a rate (tokens/second)"));
    assert_eq!(time("eval time = ([0-9.]+)", llama), "0.12345");
    assert!(refused("per day: (.*)", "Simulated years per day: 4.56").contains("a rate"));
    assert!(refused("= (.*)/s", "done = 12 timesteps/s").contains("\"12 timesteps\" as its time"));
    assert!(refused("([0-9.]+) timesteps", "Performance 12.3 timesteps/s").contains("a rate"));
    assert!(refused("SYPD: (.*)", "SYPD: 4.56").contains("a rate"));
    for (line, why) in [
        ("CPU time: 120.5 s", "time of processors is no unit of time"),
        ("Simulation time: 100.5 ps", "ps is no unit of time"),
        ("PSNR: 34.5 dB", "dB is no unit of time"),
        ("0.45user 0.01system", "time of processors"),
        ("Cycles: 123456", "Cycles is no unit of time"),
        ("took 1 minutes 13.4 seconds", "a part of"),
    ] {
        let found = refused("([0-9.]+)[^0-9]*$", line);
        assert!(found.contains(why), "{line}: {found}");
    }
    let abinit = "+overall time at end (sec) : cpu= 12.3 wall= 13.4";
    assert_eq!(time("wall= ([0-9.]+)", abinit), "13.4");
}

#[test]
fn a_rate_keeps_its_unit() {
    assert_eq!(rate("([0-9.]+) ns/day", "Performance: 8 ns/day"), "8 ns/day");
    assert_eq!(rate("([0-9.]+) (ns/day)", "Performance: 8 ns/day"), "8 ns/day");
    assert_eq!(rate("tps = ([0-9.]+)", "tps = 4 (without)"), "4 tps");
    assert_eq!(rate("gromacs", "Performance:       8.000        3.000"), "8 ns/day");
    assert_eq!(rate("lammps", "Performance: 8 ns/day, 3 hours/ns, 4 timesteps/s"), "8 ns/day");
    let hpl = "WR11C2R4       29184   192     2     2             128.00             2.5e+02";
    assert_eq!(rate("hpl", hpl), "250 GFLOP/s");
    assert_eq!(time("hpl", hpl), "128");
    let hpcg = "Final Summary::HPCG result is VALID with a GFLOP/s rating of=4";
    assert_eq!(time("hpcg", hpcg), "4 GFLOP/s");
    let why = found("([0-9.]+) s", PrintedKind::Rate, "took 5 s").unwrap_err();
    assert!(why.ends_with("a time in s; say time-from ([0-9.]+) s"), "{why}");
    assert!(found("vasp", PrintedKind::Rate, "").unwrap_err().contains("prints no rate"));
}

#[test]
fn programs_are_known_by_their_lines() {
    let cp2k = " CP2K                                 1  1.0    0.016    0.028   75.893   75.9";
    for (name, line) in [
        ("gromacs", "       Time:      607.200       75.9      800.0"),
        ("lammps", "Loop time of 75.9 on 8 procs for 100 steps with 32000 atoms"),
        ("cp2k", cp2k),
        ("vasp", "                         Elapsed time (sec):       75.9"),
        ("namd", "WallClock: 75.9  CPUTime: 75.8  Memory: 300 MB"),
    ] {
        assert_eq!(time(name, line), "75.9", "{name}");
    }
}

#[test]
fn what_is_no_time_is_none() {
    assert!(refused("t=([0-9]+)", "nothing").starts_with("its output has no time (the time"));
    assert!(refused("t=(.*)", "t=soon").starts_with("its output has \"soon\" as its time"));
    assert!(refused("([0-9]+) (.*)", "5 eggs").contains("\"eggs\" as unit of time"));
    for nothing in ["t=-1", "t=nan", "t=inf", "t=0"] {
        let why = refused("t=(.*)", nothing);
        assert!(why.contains("as its time"), "{why}");
    }
    assert!(refused("t=[0-9]+", "t=5").contains("without a group"));
    assert!(refused("t=([0-9]+", "t=5").contains("a regular expression ("));
}

#[test]
fn a_number_in_json_is_found_by_its_keys() {
    let of = |path: &str, output: &str| {
        let source = TimeSource::Json(path.split('.').map(Into::into).collect());
        match source.time(Seconds(9.0), None, output) {
            Ok(found) => Ok(found.time.0),
            Err(MissingTime::NotThere(why)) => Err(why),
            Err(MissingTime::NotUnderstood(error)) => Err(error.to_string()),
        }
    };
    assert_eq!(of("a.t", r#"{"a": {"t": 2}}"#), Ok(2.0));
    assert_eq!(of("runs.1.wall_ms", "x\n{\"runs\": [{}, {\"wall_ms\": 5}]}\nbye"), Ok(0.005));
    assert_eq!(of("t", r#"{"t": "0.5"}"#), Ok(0.5));
    assert_eq!(of("t", r#"{"t": "1m5s"}"#), Ok(65.0));
    assert_eq!(of("t", "garbage").unwrap_err(), "its output has no JSON");
    assert_eq!(of("t", "{}").unwrap_err(), "the JSON in its output has no t");
    assert_eq!(of("t", r#"{"t": [1]}"#).unwrap_err(), "t in its output is [1], no number");
    assert!(of("tokens_per_s", r#"{"tokens_per_s": 1}"#).unwrap_err().contains("is a rate"));
}
