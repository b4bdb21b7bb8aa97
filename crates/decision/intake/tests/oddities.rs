//! What people's tables have that is easily misread: each is read rightly, or refused with the reason.

use mmgp_base::table::Source;
use mmgp_intake::{Claims, runs};

/// The runs as `m p time`, in their order.
fn read(text: &str) -> String {
    match runs(&Source::new("t", text), &Claims::default()) {
        Ok((runs, _)) => {
            let run =
                |it: &mmgp_base::table::records::Run| format!("{} {} {}", it.m, it.p, it.time_s);
            runs.iter().map(run).collect::<Vec<_>>().join("; ")
        }
        Err(error) => error.to_string(),
    }
}

/// Four runs that went well, and one of (8, 4) of which a further column says that it did not.
fn failed(name: &str, good: &str, bad: &str) -> String {
    let mut text = format!("ranks,threads,time_s,{name}\n");
    for (m, p, time) in [(1, 1, 103.2), (1, 2, 53.2), (2, 1, 53.4), (2, 2, 28.4)] {
        text += &format!("{m},{p},{time},{good}\n");
    }
    text + &format!("8,4,0.3,{bad}\n")
}

#[test]
fn a_run_that_failed_is_left_out_however_that_is_said() {
    for (name, good, bad) in [
        ("verification", "SUCCESSFUL", "UNSUCCESSFUL"),
        ("validation", "passed", "failed"),
        ("check", "OK", "WRONG"),
        ("checksum_ok", "1", "0"),
        ("crash", "0", "1"),
        ("errors", "0", "3"),
        ("err", "", "Segmentation fault"),
        ("reason", "None", "NonZeroExitCode"),
        ("termination", "normal", "signal 11"),
        ("exclude", "", "x"),
        ("comment", "", "crashed"),
        ("notes", "", "OOM on node 3"),
        ("stderr", "", "exited on signal 9"),
        ("message", "", "Out of memory"),
        ("error.type", "", "MPIError"),
        ("State", "CD", "TO"),
    ] {
        let found = read(&failed(name, good, bad));
        assert_eq!(found, "1 1 103.2; 1 2 53.2; 2 1 53.4; 2 2 28.4", "{name}");
    }
}

#[test]
fn words_in_the_place_of_a_time_say_that_there_is_none() {
    for word in ["#N/A", "n.a.", "?", "T/O", "(failed)", "3600.0 (timeout)", "error: 137", "-1"] {
        let text = format!("ranks,threads,time_s\n1,1,9\n1,2,5\n2,1,{word}\n");
        assert_eq!(read(&text), "1 1 9; 1 2 5", "{word}");
    }
}

#[test]
fn an_instant_is_no_time() {
    let text = "time,ranks,threads,duration\n1709280000,1,1,103.2\n1709283600,1,2,53.2\n";
    assert_eq!(read(text), "1 1 103.2; 1 2 53.2");
}

#[test]
fn a_comma_beside_hundreds_stands_between_thousands() {
    let text = "ranks;threads;time [ms]\n1;1;10,320\n1;2;772\n";
    assert_eq!(read(text), "1 1 10.32; 1 2 0.772");
    let unclear = read("ranks;threads;time\n1;1;103,200 ms\n1;2;53,200 ms\n");
    assert!(unclear.contains("may be thousands or decimals"), "{unclear}");
    assert_eq!(
        read("ranks;threads;time_s\n1;1;103\u{a0}200\n1;2;5\u{2009}300\n"),
        "1 1 103200; 1 2 5300"
    );
}

#[test]
fn a_column_for_each_number_is_one_where_the_numbers_can_be_that() {
    assert_eq!(read("ranks,1,2,4\n1,8,4,2\n2,4,2,1\n"), "1 1 8; 1 2 4; 1 4 2; 2 1 4; 2 2 2; 2 4 1");
    assert_eq!(read("ranks,1 thread,2 threads\n1,8,4\n2,4,2\n"), "1 1 8; 1 2 4; 2 1 4; 2 2 2");
    assert!(!read("ranks,0,2,4\n1,8,4,2\n2,4,2,1\n").starts_with("1 0"), "no p is 0");
    let other = "threads,1 rank,2 ranks\n1,8,4\n2,4,2\n";
    assert_eq!(read(other), "1 1 8; 2 1 4; 1 2 4; 2 2 2");
    let in_corner = "time in ms,1 thread,2 threads\n1 rank,8,4\n2 ranks,4,2\n";
    assert_eq!(read(in_corner), "1 1 0.008; 1 2 0.004; 2 1 0.004; 2 2 0.002");
    assert_eq!(read("ranks,1,2,3\n1,8,8.1,7.9\n2,4,4,4.1\n").matches("1 1 ").count(), 3);
    assert_eq!(read("ranks (ms),1,2\n1,8000,4000\n2,4000,2000\n"), "1 1 8; 1 2 4; 2 1 4; 2 2 2");
    for header in ["ranks,p50,p95,p99", "ranks,1000,2000,4000", "ranks,t1,t2,t4"] {
        let found = read(&format!("{header}\n1,8.5,4.5,2.5\n2,4.5,2.5,1.5\n"));
        assert!(found.contains("none of which is called as a time is"), "{header}: {found}");
    }
}

#[test]
fn what_stands_above_a_table_says_its_unit() {
    let table = "ranks,threads,time\n1,1,103200\n1,2,53200\n";
    assert_eq!(read(&format!("# all times in milliseconds\n{table}")), "1 1 103.2; 1 2 53.2");
    let markdown =
        "Wall time in ms:\n\n| ranks | threads | time |\n|---|---|---|\n| 1 | 1 | 103200 |\n";
    assert_eq!(read(markdown), "1 1 103.2");
    let speedup =
        "Speedup:\n\n| ranks | 1 | 2 |\n|---|---|---|\n| 1 | 1.0 | 1.9 |\n| 2 | 1.9 | 3.6 |\n";
    assert!(read(speedup).contains("is a rate"), "{}", read(speedup));
    let units = "ranks\tthreads\ttime\n#\t#\t[min]\n1\t1\t1.5\n1\t2\t0.5\n";
    assert_eq!(read(units), "1 1 90; 1 2 30");
    let hours = "ranks,threads,time (h:mm)\n1,1,17:12\n1,2,8:52\n";
    assert!(read(hours).contains("hours and minutes"), "{}", read(hours));
}

#[test]
fn sizes_of_matrices_are_no_processes() {
    let text = "m,n,k,threads,time_s\n8192,64,64,1,9\n8192,64,64,2,5\n";
    assert_eq!(read(text), "1 1 9; 1 2 5");
}

#[test]
fn time_of_processors_and_parts_of_a_time_are_asked_about() {
    for name in ["aggregate time (s)", "cpu_time_s", "core-hours"] {
        let found = read(&format!("ranks,threads,{name}\n1,1,9.5\n1,2,9.8\n"));
        assert!(!found.starts_with("1 1"), "{name}: {found}");
        assert!(name != "cpu_time_s" || !found.contains("time=cpu_time_s"), "{found}");
    }
    let phases = "ranks,threads,setup_s,compute_s,comm_s\n1,1,1.5,9.5,1.5\n1,2,1.5,5.5,1.5\n";
    assert!(read(phases).contains("the time may be any of"), "{}", read(phases));
}

#[test]
fn a_circumstance_that_splits_times_far_apart_is_asked_about() {
    for name in ["id", "hostname", "run_id", "commit"] {
        let mut text = format!("{name},ranks,threads,time_s\n");
        for (value, factor) in [("a", 1.0), ("b", 5.0)] {
            for (m, p, time) in [(1, 1, 8.0), (1, 2, 4.0), (2, 2, 2.0)] {
                text += &format!("{value},{m},{p},{}\n", time * factor);
            }
        }
        let found = read(&text);
        assert!(found.contains(&format!("differ in {name:?}, which has 2 values")), "{found}");
        // Of about the same times, it is none.
        assert!(
            read(&text.replace("40\n", "8\n").replace("20\n", "4\n").replace("10\n", "2\n"))
                .starts_with("1 1 8")
        );
    }
}

#[test]
fn what_stands_around_a_table_is_passed_over() {
    let table = "ranks,threads,time_s\n1,1,9\n1,2,5\n";
    for text in [
        format!("{table}(2 rows)\n"),
        format!("{table}\nMeasured on the old machine.\n"),
        format!("Benchmark: jacobi\n{table}2,2,4\n").replace("2,2,4\n", ""),
        table.replace("1,2,5\n", "ranks,threads,time_s\n1,2,5\n"),
    ] {
        assert_eq!(read(&text), "1 1 9; 1 2 5", "{text}");
    }
}

#[test]
fn cores_without_processes_are_asked_about() {
    let found = read("cores,threads,time_s\n4,2,9\n8,2,5\n8,4,4\n");
    assert!(found.contains("columns m=cores/threads"), "{found}");
}

#[test]
fn of_the_rows_of_a_job_its_steps_count() {
    let text = "JobID|JobName|NTasks|AllocCPUS|Elapsed|State\n\
                7|a||8|00:01:50|COMPLETED\n7.batch|batch|1|8|00:01:50|COMPLETED\n\
                7.extern|extern|1|8|00:01:50|COMPLETED\n7.0|app|4|8|00:01:40|COMPLETED\n\
                8|a||4|00:00:59|FAILED\n8.batch|batch|1|4|00:00:59|FAILED\n8.0|app|4|4|00:00:02|FAILED\n\
                9|a||4|00:02:00|COMPLETED\n9.batch|batch|1|4|00:02:00|COMPLETED\n\
                9.0|app|2|4|00:01:58|COMPLETED\n";
    assert_eq!(read(text), "4 2 100; 2 2 118");
}

#[test]
fn two_numbers_in_one_text_are_offered_as_m_and_p() {
    for (one, other) in [("(8, 4)", "(4, 2)"), ("8 x 4", "4 x 2"), ("n8t4", "n4t2")] {
        let text = format!("layout;time_s\n{one};9\n{other};5\n");
        assert!(read(&text).contains("columns m,p=layout (processes first)"), "{}", read(&text));
        let claims = Claims { columns: "m,p=layout".parse().unwrap(), ..Claims::default() };
        let (found, _) = runs(&Source::new("t", &text), &claims).unwrap();
        assert_eq!(found.iter().map(|it| (it.m, it.p)).collect::<Vec<_>>(), [(8, 4), (4, 2)]);
    }
}

#[test]
fn what_a_command_says_is_read_where_nothing_else_does() {
    let text = "command,mean,stddev,median,user,system,min,max\n\
                OMP_NUM_THREADS=1 mpirun -np 2 ./app,9,1,9,1,1,8,10\n\
                OMP_NUM_THREADS=4 mpirun -np 2 ./app,5,1,5,1,1,4,6\n";
    assert_eq!(read(text), "2 1 9; 2 4 5");
    let json = r#"{"results": [
        {"command": "mpirun -n 2 ./app -t 1", "times": [9.0, 9.1], "exit_codes": [0, 0]},
        {"command": "mpirun -n 4 ./app -t 1", "times": [5.0], "exit_codes": [0]},
        {"command": "mpirun -n 4 ./app -t 2", "times": [3.0], "exit_codes": [0]}]}"#;
    assert!(
        read(json).contains("columns p=-t (it is the threads or APUs of each process)"),
        "{}",
        read(json)
    );
}

#[test]
fn of_the_quantities_of_a_long_table_the_time_counts() {
    let text = "ranks,threads,metric,value\n1,1,visits,7\n1,1,time,9\n1,2,visits,7\n1,2,time,5\n";
    assert_eq!(read(text), "1 1 9; 1 2 5");
    assert_eq!(read(&text.replace(",time,", ",wall [ms],")), "1 1 0.009; 1 2 0.005");
    let none = read(&text.replace(",time,", ",energy,"));
    assert!(none.contains("none of which is called as a time is"), "{none}");
}

/// A table of two blocks, with what stands above each, the second three times as slow.
fn blocks(above: [&str; 2], between: &str) -> String {
    let rows = |factor: f64| -> String {
        let times = [(1, 1, 8.0), (1, 2, 4.0), (2, 2, 2.0)];
        times.iter().map(|(m, p, time)| format!("{m} {p} {}\n", time * factor)).collect()
    };
    format!("{}{}{between}{}{}", above[0], rows(1.0), above[1], rows(3.0))
}

#[test]
fn blocks_of_rows_may_be_of_other_programs() {
    let header = "# ranks threads time\n";
    for (text, asked) in [
        (blocks([header, ""], "\n\n"), "\"block in file\", which has 2 values (1, 2)"),
        (blocks([header, "# second\n"], ""), "\"title\", which has 2 values (block 1, second)"),
        (
            blocks(["# N=10\n# ranks threads time\n", "# N=20\n# ranks threads time\n"], "\n"),
            "\"N\", which has 2 values (10, 20)",
        ),
        (
            blocks(["ranks threads time\n", "ranks threads time\n"], ""),
            "\"block in file\", which has 2 values (1, 2)",
        ),
    ] {
        assert!(read(&text).contains(&format!("differ in {asked}")), "{text}{}", read(&text));
    }
    let table = |time: f64| {
        format!(
            "| ranks | threads | time |\n|---|---|---|\n| 1 | 1 | {time} |\n| 1 | 2 | {time} |\n"
        )
    };
    let text = format!("## Small case\n\n{}\n## Large case\n\n{}", table(1.0), table(9.0));
    let source = Source::new("t", &text);
    assert!(read(&text).contains("differ in \"title\""), "{}", read(&text));
    let all = mmgp_intake::values(&source, "title", &Claims::default()).unwrap();
    assert_eq!(all, ["Large case", "Small case"]);
}

#[test]
fn blocks_that_do_not_tell_programs_apart_are_one_table() {
    let by_m = "# ranks threads time\n1 1 8\n1 2 4\n\n2 1 4\n2 2 2\n";
    assert_eq!(read(by_m), "1 1 8; 1 2 4; 2 1 4; 2 2 2");
    let repeated = "ranks,threads,time\n1,1,8\n1,2,4\n\n1,1,8.1\n1,2,3.9\n";
    assert_eq!(read(repeated), "1 1 8; 1 2 4; 1 1 8.1; 1 2 3.9");
    let of_m = "ranks = 2\nthreads,time\n1,8\n2,4\n\nranks = 4\nthreads,time\n1,4\n2,2\n";
    assert_eq!(read(of_m), "2 1 8; 2 2 4; 4 1 4; 4 2 2");
}

#[test]
fn names_in_several_lines_are_those_of_levels() {
    let unstacked = "threads        1        2\nranks                    \n1         8.000    4.000\n\
                     2         4.000    2.000\n";
    assert_eq!(read(unstacked), "1 1 8; 1 2 4; 2 1 4; 2 2 2");
    let across = "ranks        1        2\nthreads                    \n1         8.000    4.500\n\
                  2         4.000    2.000\n";
    assert_eq!(read(across), "1 1 8; 2 1 4.5; 1 2 4; 2 2 2");
    let written = ",time_ms,time_ms\nthreads,1,2\nranks,,\n1,8000,4000\n2,4000,2000\n";
    assert_eq!(read(written), "1 1 8; 1 2 4; 2 1 4; 2 2 2");
    let speedup = written.replace("time_ms", "speedup");
    assert!(read(&speedup).contains("is a rate (speedup)"), "{}", read(&speedup));
    let indexed = "               time_s\nranks threads        \n1     1         8.000\n      \
                   2         4.000\n2     1         4.000\n      2         2.000\n";
    assert_eq!(read(indexed), "1 1 8; 1 2 4; 2 1 4; 2 2 2");
    let series = "ranks  threads\n1      1          8.000\n       2          4.000\n2      1          \
                  4.000\n       2          2.000\nName: time_s, dtype: float64\n";
    assert_eq!(read(series), "1 1 8; 1 2 4; 2 1 4; 2 2 2");
    let frame = "   ranks  threads  time_s\n0      1        1     8.0\n1      1        2     4.0\n\n\
                 [2 rows x 3 columns]\n";
    assert_eq!(read(frame), "1 1 8; 1 2 4");
}

#[test]
fn a_value_that_stands_once_is_that_of_the_rows_below() {
    let text = "ranks,threads,time_s\n1,1,8\n,2,4\n2,1,4\n,2,2\n";
    assert_eq!(read(text), "1 1 8; 1 2 4; 2 1 4; 2 2 2");
    let sizes = "| N | ranks | threads | time |\n|---|---|---|---|\n| 64 | 1 | 1 | 8 |\n| | 1 | 2 | 4 |\n\
                 | 128 | 1 | 1 | 80 |\n| | 1 | 2 | 40 |\n";
    assert!(read(sizes).contains("\"N\", which has 2 values (64, 128)"), "{}", read(sizes));
    // Here and there a value is missing, or a remark is of one run.
    let gap = "ranks,threads,time_s\n1,1,8\n,2,4\n2,1,4\n2,2,2\n";
    assert!(read(gap).contains("found \"\" in column \"ranks\""), "{}", read(gap));
    let remark = "note,ranks,threads,time_s\ncrashed,1,1,0.1\n,1,2,4\n,2,1,4\n,2,2,2\n";
    assert_eq!(read(remark), "1 2 4; 2 1 4; 2 2 2");
}

#[test]
fn a_line_that_the_end_of_the_file_cuts_off_is_none() {
    let whole = "1 1 8.25; 1 2 4.25; 2 1 4.25; 2 2 2.25; 4 1 2.25";
    let rows = "1,1,8.25\n1,2,4.25\n2,1,4.25\n2,2,2.25\n4,1,2.25\n";
    for (header, separator) in [("ranks,threads,time\n", ","), ("ranks threads time\n", " ")] {
        let text = format!("{header}{rows}").replace(',', separator);
        for cut in ["4", "4,", "4,4"] {
            let found = read(&(text.clone() + &cut.replace(',', separator)));
            let is_failed = cut == "4," && separator == ",";
            assert!(found == whole || is_failed, "{cut}: {found}");
        }
        assert_eq!(
            read(&(text.clone() + &"4,4,1.25".replace(',', separator))),
            format!("{whole}; 4 4 1.25")
        );
        for cut in ["4,4,1", "4,4,1.", "4,4,1.2"] {
            let found = read(&(text.clone() + &cut.replace(',', separator)));
            assert!(
                found.contains("may be cut off") && found.contains("filter time != 1"),
                "{found}"
            );
        }
    }
    // Where the line is ended, it is whole; where decimals vary, nothing is known.
    let header = "ranks,threads,time\n";
    assert_eq!(read(&format!("{header}{rows}4,4,1.2\n")), format!("{whole}; 4 4 1.2"));
    let varying = rows.replace("8.25", "8.5");
    assert!(read(&format!("{header}{varying}4,4,1.2")).ends_with("; 4 4 1.2"));
    let objects =
        "{\"ranks\": 1, \"threads\": 1, \"time\": 8}\n{\"ranks\": 1, \"threads\": 2, \"ti";
    assert_eq!(read(objects), "1 1 8");
}

#[test]
fn a_point_before_three_digits_may_stand_between_thousands() {
    let text = "Prozesse;Threads;Zeit\n1;1;3.818\n1;2;1.968\n2;2;588\n";
    assert!(
        read(text).contains("\"3.818\" in \"Zeit\" may be thousands or decimals"),
        "{}",
        read(text)
    );
    assert!(!read(&text.replace(';', " ")).starts_with("1 1"), "{}", read(text));
    // Another number has decimals for certain.
    assert_eq!(read(&text.replace("588", "0.588")), "1 1 3.818; 1 2 1.968; 2 2 0.588");
    let small = "Prozesse;Threads;Zeit [ms]\n1;1;3.818\n1;2;1.968\n";
    let found = read(small);
    assert!(found.contains("columns time=Zeit [ms]*1 (between thousands)"), "{found}");
    for (said, times) in
        [("time=Zeit [ms]*1", [3.818, 1.968]), ("time=Zeit [ms]/1000", [0.003818, 0.001968])]
    {
        let claims = Claims { columns: said.parse().unwrap(), ..Claims::default() };
        let (found, _) = runs(&Source::new("t", small), &claims).unwrap();
        assert_eq!(found.iter().map(|it| it.time_s).collect::<Vec<_>>(), times);
    }
    assert_eq!(read(&small.replace(';', ",")), "1 1 0.003818; 1 2 0.001968");
    let quoted = "ranks,threads,time_ms\n1,1,\"3,818\"\n1,2,\"1,968\"\n";
    assert!(
        read(quoted).contains("columns time=time_ms/1000 (between thousands)"),
        "{}",
        read(quoted)
    );
}

#[test]
fn a_time_that_is_always_the_same_is_asked_about_beside_a_rate() {
    let text = "ranks,threads,time,tps\n1,1,10.001,100.5\n1,2,10.002,190.5\n2,1,10.001,180.2\n2,2,10.0,350.1\n";
    assert!(read(text).contains("say rate tps"), "{}", read(text));
    let benchmark = |name: &str, rate: u32| {
        format!(
            "{{\"name\": \"BM/{name}\", \"run_type\": \"iteration\", \"real_time\": 5.0, \
             \"time_unit\": \"ms\", \"items_per_second\": {rate}}}"
        )
    };
    let all = ["ranks:1/threads:1", "ranks:1/threads:2", "ranks:2/threads:1", "ranks:2/threads:2"];
    let all: Vec<String> =
        all.iter().zip([1, 2, 2, 4]).map(|(it, rate)| benchmark(it, rate)).collect();
    let found = read(&format!("{{\"benchmarks\": [{}]}}", all.join(",")));
    assert!(found.contains("say rate items_per_second"), "{found}");
}

#[test]
fn a_table_within_json_is_found_with_what_stands_around_it() {
    let runs = "[{\"ranks\": 1, \"time\": 8}, {\"ranks\": 2, \"time\": 4}]";
    assert_eq!(
        read(&format!("{{\"host\": \"a\", \"threads\": 4, \"runs\": {runs}}}")),
        "1 4 8; 2 4 4"
    );
    let deep =
        format!("{{\"setup\": {{\"threads\": 4, \"n\": 9}}, \"out\": {{\"runs\": {runs}}}}}");
    assert_eq!(read(&deep), "1 4 8; 2 4 4");
    let columns = "{\"title\": \"x\", \"ranks\": [1, 2], \"threads\": 4, \"time\": [8, 4]}";
    assert_eq!(read(columns), "1 4 8; 2 4 4");
    let each = "[{\"ranks\": 1, \"threads\": 1, \"times_ms\": [8000, 8100]}, \
                {\"ranks\": 1, \"threads\": 2, \"times_ms\": [4000]}]";
    assert_eq!(read(each), "1 1 8; 1 1 8.1; 1 2 4");
    let keyed = "{\"2x4\": {\"time\": 8}, \"4x2\": {\"time\": 4}}";
    assert!(read(keyed).contains("columns m,p=key (processes first)"), "{}", read(keyed));
}

#[test]
fn results_of_kernel_tuner_are_in_milliseconds_wherever_they_stand() {
    let result = |m: u32, time: f64, times: &str| {
        format!(
            "{{\"np\": {m}, \"threads\": 2, \"time\": {time}, {times}\"compile_time\": 430.5, \
             \"verification_time\": 0, \"benchmark_time\": 9.5}}"
        )
    };
    let text = format!("[{}, {}]", result(1, 8000.0, ""), result(2, 4000.0, ""));
    assert_eq!(read(&text), "1 2 8; 2 2 4");
    let times = "\"times\": [7900, 8100], ";
    let text = format!("[{}, {}]", result(1, 8000.0, times), result(2, 4000.0, times));
    assert_eq!(read(&text), "1 2 7.9; 1 2 8.1; 2 2 7.9; 2 2 8.1");
}

#[test]
fn words_beside_two_numbers_say_which_is_m() {
    for (one, other) in [
        ("mpi8_omp4", "mpi4_omp2"),
        ("8R4T", "4R2T"),
        ("8 ranks x 4 threads", "4 ranks x 2 threads"),
        ("OMP=4 MPI=8", "OMP=2 MPI=4"),
        ("4OMPx8MPI", "2OMPx4MPI"),
    ] {
        assert_eq!(read(&format!("layout;time_s\n{one};9\n{other};5\n")), "8 4 9; 4 2 5", "{one}");
    }
    assert_eq!(read("ranks x threads,time_s\n8x4,9\n4x2,5\n"), "8 4 9; 4 2 5");
    assert_eq!(read("threads/ranks,time_s\n4/8,9\n2/4,5\n"), "8 4 9; 4 2 5");
    let mixed = read("layout,time_s\nmpi8_omp4,9\nomp2_mpi4,5\n");
    assert!(mixed.contains("columns m,p=layout (processes first)"), "{mixed}");
}

#[test]
fn a_column_for_each_number_is_known_by_the_word_beside_it() {
    let all = "1 1 8; 1 2 4; 2 1 4; 2 2 2";
    for (header, factor) in [
        ("ranks,1T (ms),2T (ms)", 1000),
        ("ranks,time_1thread,time_2threads", 1),
        ("ranks,p=1 [ms],p=2 [ms]", 1000),
        ("ranks\\threads,1,2", 1),
        (",threads,\nranks,1,2", 1),
    ] {
        let time = |time: u32| time * factor;
        let text = format!("{header}\n1,{},{}\n2,{},{}\n", time(8), time(4), time(4), time(2));
        assert_eq!(read(&text), all, "{header}");
    }
    let unknown = "ranks,t1,t2,t4\n1,8,4,2\n2,4,2,1\n";
    assert!(
        read(unknown).contains("columns p=t* (a column of times for each)"),
        "{}",
        read(unknown)
    );
    let claims = Claims { columns: "p=t*".parse().unwrap(), ..Claims::default() };
    let (found, _) = runs(&Source::new("t", unknown), &claims).unwrap();
    assert_eq!(
        found.iter().map(|it| (it.m, it.p)).collect::<Vec<_>>()[..3],
        [(1, 1), (1, 2), (1, 4)]
    );
    for header in
        ["ranks (GFLOP/s),1,2", "ranks,1T (GF/s),2T (GF/s)", "ranks,gflops_1thread,gflops_2threads"]
    {
        let found = read(&format!("{header}\n1,8,4\n2,4,2\n"));
        assert!(!found.starts_with("1 1"), "{header}: {found}");
    }
}

#[test]
fn a_line_for_each_quantity_is_a_table_on_its_side() {
    let runs = "1 1 8; 1 2 4; 2 1 4";
    assert_eq!(read("ranks,1,1,2\nthreads,1,2,1\ntime_s,8,4,4\n"), runs);
    let jube = "result:\n| parameter | 0 | 1 | 2 |\n|---|---|---|---|\n| ntasks | 1 | 1 | 2 |\n\
                | threads | 1 | 2 | 1 |\n| time[ms] | 8000 | 4000 | 4000 |\n";
    assert_eq!(read(jube), runs);
    assert_eq!(read("ranks    1  1  2\nthreads  1  2  1\ntime     8  4  4\n"), runs);
}

#[test]
fn an_answer_keeps_what_was_said() {
    let text = "out,width,wall\n1,1,8\n1,2,4\n2,1,4\n";
    let claims = Claims { columns: "m=out,time=wall [ms]".parse().unwrap(), ..Claims::default() };
    let error = runs(&Source::new("t", text), &claims).unwrap_err().to_string();
    assert!(error.contains("say columns m=out,time=wall [ms],p=width"), "{error}");
    let both = Claims { columns: "m,p=layout".parse().unwrap(), ..Claims::default() };
    let error = runs(&Source::new("t", "layout,value\n8x4,1.5\n"), &both).unwrap_err().to_string();
    assert!(error.contains("say columns m,p=layout,time=value [s]"), "{error}");
}

#[test]
fn lines_that_say_the_same_with_other_numbers_are_a_table() {
    for (one, other) in [
        ("8 MPI ranks 4 OMP threads: 9.5 seconds", "4 MPI ranks 2 OMP threads: 5.5 seconds"),
        (
            "MPI Processes 8 | Threads 4 | time = 9.5e+00 s",
            "MPI Processes 4 | Threads 2 | time = 5.5e+00 s",
        ),
        ("Using 8 ranks, 4 threads, took 9.5 s", "Using 4 ranks, 2 threads, took 5.5 s"),
        ("log.np8.omp4: real 0m9.500s", "log.np4.omp2: real 0m5.500s"),
        (
            "== 8 ranks, 4 threads ==\nreal 0m9.500s\nuser 1m1.0s",
            "== 4 ranks, 2 threads ==\nreal 0m5.500s\nuser 1m2.0s",
        ),
        ("ranks: 8, threads: 4, time: 9500 ms", "ranks: 4, threads: 2, time: 5500 ms"),
    ] {
        assert_eq!(read(&format!("{one}\n{other}\n")), "8 4 9.5; 4 2 5.5", "{one}");
    }
    let sizes = "N=64: 8 ranks, 4 threads: 9 s\nN=99: 8 ranks, 4 threads: 5 s\n";
    assert!(read(sizes).contains("differ in \"N\", which has 2 values"), "{}", read(sizes));
    for time in ["9500 \u{b1} 20 ms", "9500 (20) ms", "9,500.0 ms"] {
        let text = format!("8 ranks, 4 threads: {time}\n4 ranks, 2 threads: {time}\n");
        assert_eq!(read(&text), "8 4 9.5; 4 2 9.5", "{time}");
    }
    let unclear = read("8 ranks, 4 threads: 9,500 s\n4 ranks, 2 threads: 5,500 s\n");
    assert!(unclear.contains("may be thousands or decimals"), "{unclear}");
    // On which side of a number its name stands, nothing says.
    let unclear = read("Run 8 mpi 4 omp 9.5\nRun 4 mpi 2 omp 5.5\n");
    assert!(!unclear.starts_with(|it: char| it.is_ascii_digit()), "{unclear}");
}

#[test]
fn columns_of_fixed_width_may_be_empty_and_have_blanks() {
    let text = "JobID           JobName   NTasks  AllocCPUS    Elapsed      State \n\
                ------------ ---------- -------- ---------- ---------- ---------- \n\
                7                 a job                   8   00:01:50  COMPLETED \n\
                7.batch           batch        1          8   00:01:50  COMPLETED \n\
                7.0                 app        4          8   00:01:40  COMPLETED \n\
                8.0                 app        2          4   00:01:58  COMPLETED \n";
    assert_eq!(read(text), "4 2 100; 2 2 118");
    let cut = "JobID           JobName    Elapsed \n------------ ---------- ---------- \n\
               7            mpi8_omp1+   00:01:40 \n8             mpi8_omp4   00:01:00 \n";
    assert!(read(cut).contains("\"mpi8_omp1+\" in column \"JobName\""), "{}", read(cut));
}

#[test]
fn marks_beside_a_time_are_none_of_it() {
    for time in ["~9.5 s", "9.5 (0.2)", "9.5*", "9.5 s (1.9x)", "9.5 (best)", "9.5(12)"] {
        assert_eq!(
            read(&format!("ranks;threads;time\n1;1;{time}\n1;2;5.5\n")),
            "1 1 9.5; 1 2 5.5",
            "{time}"
        );
    }
    assert_eq!(read("ranks;threads;time\n1;1;9.5 (timeout)\n1;2;5.5\n"), "1 2 5.5");
}

#[test]
fn a_caption_says_the_unit_and_a_row_that_it_is_a_mean() {
    let caption = "| ranks | threads | time |\n|---|---|---|\n| 1 | 1 | 9500 |\n\nTable 1: all times in ms.\n";
    assert_eq!(read(caption), "1 1 9.5");
    let text =
        "ranks,threads,rep,time\n1,1,1,9\n1,1,2,10\n1,1,mean,9.5\n1,2,1,5\n1,2,2,5\n1,2,mean,5\n";
    assert_eq!(read(text), "1 1 9; 1 1 10; 1 2 5; 1 2 5");
}

#[test]
fn what_was_measured_beside_the_time_is_neither_time_nor_factor() {
    for (name, values) in [
        ("residual", ["1e-9", "2e-9"]),
        ("error", ["0.0012", "0.0013"]),
        ("total energy", ["-76.02", "-76.03"]),
        ("checksum", ["17", "18"]),
    ] {
        let text = format!(
            "ranks,threads,{name},time\n1,1,{0},9\n1,2,{0},5\n1,1,{1},10\n1,2,{1},6\n",
            values[0], values[1]
        );
        assert_eq!(read(&text), "1 1 9; 1 2 5; 1 1 10; 1 2 6", "{name}");
    }
    let found = read("ranks,threads,E_tot,t_tot\n1,1,-76.5,9.5\n1,2,-76.5,5.5\n");
    assert!(found.contains("time=t_tot [s]") && !found.contains("time=E_tot"), "{found}");
}

#[test]
fn tables_are_found_in_what_papers_and_issues_have() {
    let runs = "1 1 9; 1 2 5";
    let latex = "\\begin{tabular}{rrr}\n\\hline\n\\textbf{Ranks} & Threads & Time (s) \\\\ \\hline\n\
                 1 & 1 & $9$ \\\\\n1 & 2 & \\textbf{5} \\\\\n\\end{tabular}\n";
    assert_eq!(read(latex), runs);
    let fenced = "Here are my times:\n\n```\nranks threads time\n1 1 9\n1 2 5\n```\n";
    assert_eq!(read(fenced), runs);
    let tibble = "# A tibble: 2 \u{d7} 3\n  ranks threads  time\n  <int>   <int> <dbl>\n1     1       1     9\n2     1       2     5\n";
    assert_eq!(read(tibble), runs);
    let polars = "shape: (2, 3)\n\u{250c}\u{2500}\u{252c}\u{2500}\u{252c}\u{2500}\u{2510}\n\
                  \u{2502} ranks \u{2506} threads \u{2506} time \u{2502}\n\u{2502} --- \u{2506} --- \u{2506} --- \u{2502}\n\
                  \u{2502} i64 \u{2506} i64 \u{2506} f64 \u{2502}\n\u{2502} 1 \u{2506} 1 \u{2506} 9 \u{2502}\n\
                  \u{2502} 1 \u{2506} 2 \u{2506} 5 \u{2502}\n";
    assert_eq!(read(polars), runs);
}

#[test]
fn a_residual_that_goes_with_the_time_is_asked_about() {
    let text = "ranks,threads,error,time\n1,1,1e-3,9\n1,2,1e-3,5\n1,1,1e-6,90\n1,2,1e-6,50\n";
    assert!(read(text).contains("differ in \"error\", which has 2 values"), "{}", read(text));
}

#[test]
fn arrays_of_the_same_records_are_told_apart_by_their_keys() {
    let text = "{\"small\": [{\"ranks\": 1, \"time\": 8}, {\"ranks\": 2, \"time\": 4}], \
                \"large\": [{\"ranks\": 1, \"time\": 80}, {\"ranks\": 2, \"time\": 40}]}";
    assert!(
        read(text).contains("differ in \"key\", which has 2 values (large, small)"),
        "{}",
        read(text)
    );
}

#[test]
fn parts_of_a_time_in_columns_of_their_own_are_added() {
    let text = "ranks,threads,min,sec\n1,1,1,43.5\n1,2,0,53.5\n";
    assert!(read(text).contains("columns time=min*60+sec (their sum)"), "{}", read(text));
    let claims = Claims { columns: "time=min*60+sec".parse().unwrap(), ..Claims::default() };
    let (found, _) = runs(&Source::new("t", text), &claims).unwrap();
    assert_eq!(found.iter().map(|it| it.time_s).collect::<Vec<_>>(), [103.5, 53.5]);
}

#[test]
fn a_command_says_what_the_columns_beside_it_do_not() {
    let text = "OMP_NUM_THREADS,cmd,elapsed\n1,mpirun -np 2 ./a,9\n1,mpirun -np 4 ./a,5\n2,mpirun -np 4 ./a,3\n";
    assert_eq!(read(text), "2 1 9; 4 1 5; 4 2 3");
}

#[test]
fn a_title_may_say_m_or_the_unit_for_the_rows_below() {
    let table = |time: u32| {
        format!("| threads | time |\n|---|---|\n| 1 | {time} |\n| 2 | {} |\n", time / 2)
    };
    let units = format!("Case A, time in s\n\n{}\nCase B, time in ms\n\n{}", table(8), table(4));
    let units = units.replace("| threads", "| ranks");
    assert!(read(&units).contains("in another unit"), "{}", read(&units));
    let text = format!(
        "## Results, all\n\n### 2 MPI ranks\n\n{}\n### 4 MPI ranks\n\n{}",
        table(8),
        table(4)
    );
    assert_eq!(read(&text), "2 1 8; 2 2 4; 4 1 4; 4 2 2");
}

#[test]
fn a_percentile_is_no_time_where_there_is_a_mean() {
    for name in ["p90_time_s", "p25 time (s)", "upper_time_s"] {
        let text = format!("ranks,threads,{name},avg_time_s\n1,1,10,9\n1,2,6,5\n");
        assert_eq!(read(&text), "1 1 9; 1 2 5", "{name}");
    }
}

#[test]
fn m_beside_ranks_may_be_a_size() {
    let text = "m,n,ranks,threads,time\n100,100,1,1,9\n100,100,2,1,5\n";
    assert!(read(text).contains("say columns m=m, or columns m=ranks"), "{}", read(text));
}

#[test]
fn of_several_tables_in_markdown_the_one_of_runs_counts() {
    let text = "# Setup\n\n| Dataset | Size |\n|---|---|\n| log | 1 |\n\n# Times\n\n\
                | Ranks | Threads | Time (s) |\n|---|---|---|\n| 1 | 1 | 9 |\n| 1 | 2 | **5** |\n";
    assert_eq!(read(text), "1 1 9; 1 2 5");
}

#[test]
fn what_stands_between_angles_is_a_type_or_a_cell() {
    let table = |types: &str| format!("m p time_s\n{types}\n1 1 9\n1 2 5\n");
    assert_eq!(read(&table("<int> <int> <dbl>")), "1 1 9; 1 2 5");
    // Without two numbers in it, no column is offered as both m and p.
    assert!(!read("z\n<>\n").contains("columns m,p"), "{}", read("z\n<>\n"));
    assert!(read("z\n<8x4>\n").contains("columns m,p=z"), "{}", read("z\n<8x4>\n"));
}
