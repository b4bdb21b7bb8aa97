use super::*;
use crate::formats::written;

/// The table as a text; `none` where it is no JSON.
fn table(text: &str, paths: &[&str]) -> String {
    let source = Source::new("x", text);
    let paths: Vec<String> = paths.iter().map(|path| path.to_string()).collect();
    match sheet(&source, &paths).transpose() {
        Some(sheet) => written(sheet),
        None => "none".into(),
    }
}

fn check(text: &str, lines: &[&str]) {
    assert_eq!(table(text, &[]), lines.join("\n"), "{text}");
}

fn check_paths(text: &str, paths: &[&str], lines: &[&str]) {
    assert_eq!(table(text, paths), lines.join("\n"), "{text}");
}

#[test]
fn what_begins_with_no_bracket_is_no_json() {
    for text in ["", "m,p\n1,2\n", "\u{feff} m\n", "\"a\"", "1"] {
        check(text, &["none"]);
    }
}

#[test]
fn records_are_rows_and_objects_inside_are_flattened() {
    check(
        r#" [{"a": 1.50, "in": {"np": "4", "deep": {"x": true}}, "argv": ["b"], "e": {}},
            {"b": " \"\u00b5\" ", "a": null, "in": {"np": 8}}]"#,
        &["JSON of records", "a|in.np|in.deep.x|b", "1.50|4|true|", "|8||\"\u{b5}\""],
    );
    check("\u{feff}[{\"a\": 1e3}]\r\n", &["JSON of records", "a", "1e3"]);
    check("[{\"a \": 1, \"\": 2, \"a\": 3}]", &["JSON of records", "a|2|a 2", "1|2|3"]);
}

#[test]
fn an_array_is_a_field_only_where_others_have_a_text() {
    check(r#"[{"a": [1], "b": [1, 2]}, {"a": 2}]"#, &["JSON of records", "a", "[1]", "2"]);
}

#[test]
fn lines_are_rows() {
    let lines = "{\"m\": 1, \"t\": 2}\r\n\n{\"t\": 3, \"status\": \"failed\"}\n";
    check(lines, &["JSON Lines", "m|t|status", "1|2|", "|3|failed"]);
    check("{\"m\": 1}\n", &["JSON Lines", "m", "1"]);
    check(
        "{\"m\": 1, \"argv\": [\"a\"], \"env\": {\"A\": \"b\"}}",
        &["JSON Lines", "m|env.A", "1|b"],
    );
    // As jq prints them.
    check("{\n  \"m\": 1\n}\n{\n  \"m\": 2\n}\n", &["JSON Lines", "m", "1", "2"]);
    check("{\"m\": 1} {\"m\": 2}", &["JSON Lines", "m", "1", "2"]);
}

#[test]
fn columns_and_split_tables_of_pandas_are_rows() {
    let rows = ["m|t", "1|2.5", "2|"];
    let of = |name| [&[name], &rows[..]].concat();
    check(r#"{"m": {"0": 1, "1": 2}, "t": {"0": 2.5, "1": null}}"#, &of("JSON of columns"));
    check(r#"{"m": [1, 2], "t": [2.5, null]}"#, &of("JSON of columns"));
    check(
        r#"{"columns": ["m", "t"], "index": [0, 1], "data": [[1, 2.5], [2, null]]}"#,
        &of("JSON of a table"),
    );
    check(
        r#"{"columns": ["m", "t"], "data": [[1]]}"#,
        &["x:1:34: found 1 items, expected 2, as there are columns"],
    );
}

#[test]
fn every_time_of_hyperfine_is_a_row() {
    check(
        r#"{"results": [
            {"command": "x 1", "mean": 2.5, "times": [2, 3], "exit_codes": [0, null], "parameters": {"np": "1"}},
            {"command": "x 2", "times": [0.50], "parameters": {"np": "2"}}]}"#,
        &[
            "JSON of hyperfine",
            "np|command|time [s]|exit_code",
            "1|x 1|2|0",
            "1|x 1|3|null",
            "2|x 2|0.50|",
        ],
    );
    check(r#"{"results": []}"#, &["x:1:13: found no results, expected at least one"]);
    check(r#"{"results": [{"times": []}]}"#, &["x:1:24: found no times, expected at least one"]);
    let one = r#"{"times": [1], "parameters": {"m": 1}}"#;
    check(
        &format!("{{\"results\": [{one},\n{one}]}}"),
        &["x:2:30: found a second result for the same parameters, expected one result for each"],
    );
}

#[test]
fn extra_p_of_both_ages_is_the_same_table() {
    let rows =
        ["JSON of Extra-P", "m|p|callpath|metric|time", "1|2|main|time|8.5", "1|2|main|time|8"];
    check(
        r#"{"parameters": ["m", "p"],
            "measurements": {"main": {"time": [{"point": [1, 2], "values": [8.5, 8]}]}}}"#,
        &rows,
    );
    let old = r#"{"parameters": [{"id": 1, "name": "m"}, {"id": 2, "name": "p"}],
        "callpaths": [{"id": 1, "name": "main"}], "metrics": [{"id": 1, "name": "time"}],
        "coordinates": [{"id": 1, "parameter_value_pairs": [
            {"parameter_id": 1, "parameter_value": 1}, {"parameter_id": 2, "parameter_value": 2}]}],
        "measurements": [{"coordinate_id": 1, "callpath_id": 1, "metric_id": 1, "value": 8.5},
            {"coordinate_id": 1, "callpath_id": 1, "metric_id": 1, "value": 8}]}"#;
    check(old, &rows);
    let error = table(
        &old.replace("\"metric_id\": 1, \"value\": 8.5", "\"metric_id\": 7, \"value\": 8.5"),
        &[],
    );
    assert_eq!(error, "x:5:78: found the number 7, expected an id of the file");
    check(
        r#"{"parameters": ["m"], "measurements": {"a": {"time": [{"point": [1], "values": [1]}],
            "flops": [{"point": 1, "values": 7}]}}}"#,
        &["JSON of Extra-P", "m|callpath|metric|value", "1|a|time|1", "1|a|flops|7"],
    );
}

#[test]
fn lines_of_extra_p_have_their_parameters_as_columns() {
    check(
        "{\"params\": {\"m\": 1, \"p\": 2}, \"value\": 8.5}\n{\"params\": {\"m\": 2, \"p\": 2}, \"metric\": \"time\", \"value\": [4, 5]}",
        &["JSON Lines of Extra-P", "m|p|time|metric", "1|2|8.5|", "2|2|4|time", "2|2|5|time"],
    );
    check(
        "{\"params\": {\"m\": 1}, \"metric\": \"flops\", \"value\": [7]}\n{\"params\": {\"m\": 1}, \"value\": [8]}",
        &["JSON Lines of Extra-P", "m|metric|value", "1|flops|7", "1||8"],
    );
    check(
        r#"[{"params": {"m": 1}, "metric": "wall", "value": 7}, {"params": {"m": 2}, "metric": "wall", "value": 8}]"#,
        &["JSON Lines of Extra-P", "m|metric|wall", "1|wall|7", "2|wall|8"],
    );
}

#[test]
fn warm_ups_in_a_log_of_mmgp_are_no_rows() {
    check(
        "{\"id\": 1, \"argv\": [\"a\"], \"m\": 4, \"p\": 1, \"params\": {\"N\": \"9\"}, \"repetition\": 0, \"status\": \"ok\", \"time_s\": 3}
{\"id\": 2, \"argv\": [\"a\"], \"m\": 4, \"p\": 1, \"params\": {\"N\": \"9\"}, \"repetition\": 1, \"status\": \"failed\", \"time_s\": null}",
        &["log of mmgp", "id|m|p|N|repetition|status|time_s", "2|4|1|9|1|failed|"],
    );
}

/// The threads that were seen of a run are not those that it was given.
#[test]
fn what_was_seen_of_a_run_in_a_log_of_mmgp_is_no_column() {
    check(
        "{\"id\": 1, \"m\": 4, \"p\": 1, \"repetition\": 1, \"status\": \"ok\", \"time_s\": 3, \"placement\": \
         {\"at_s\": 0.02, \"processors\": 2, \"threads\": 5, \"processes\": [{\"threads\": 5}]}}",
        &["log of mmgp", "id|m|p|repetition|status|time_s", "1|4|1|1|ok|3"],
    );
}

#[test]
fn a_cache_of_kernel_tuner_may_be_open() {
    let open = r#"{"kernel_name": "k", "tune_params_keys": ["m", "p"], "cache": {
        "1,2": {"m": 1, "p": 2, "time": 5.5, "times": [5, 6], "GFLOP/s": 3},
        "2,2": {"m": 2, "p": 2, "time": "InvalidConfig"},
        "4,2": {"m": 4, "p": 2, "time": 1e20, "__error__": "RuntimeFailedConfig"},"#;
    let lines = [
        "cache of Kernel Tuner",
        "m|p|time [ms]",
        "1|2|5",
        "1|2|6",
        "2|2|InvalidConfig",
        "4|2|RuntimeFailedConfig",
    ];
    check(open, &lines);
    check(&format!("{open}\n"), &lines);
    check(&format!("{}}}}}", open.trim_end_matches(',')), &lines);
    check(
        "{\"cache\": {\"1\": {\"m\": 1",
        &["x:1:23: found EOF while parsing an object, expected JSON"],
    );
}

#[test]
fn t4_results_say_unit_and_status() {
    check(
        r#"{"schema_version": "1.0.0", "results": [
            {"configuration": {"m": 1, "mode": "a"}, "invalidity": "correct", "times": {"runtimes": [2]},
             "measurements": [{"name": "time", "value": 2.5, "unit": "s"}, {"name": "x", "value": 1, "unit": ""}]},
            {"configuration": {"m": 2, "mode": "a"}, "invalidity": "timeout", "measurements": []}]}"#,
        &["T4 results", "m|mode|status|time [s]|x", "1|a|ok|2.5|1", "2|a|timeout||"],
    );
}

#[test]
fn each_experiment_and_context_of_ramble_is_a_row() {
    check(
        r#"{"experiments": [
            {"name": "a", "N_REPEATS": 2, "CONTEXTS": [{"name": "null", "foms": [{"name": "t", "value": "9", "units": "s"}]}]},
            {"name": "a.1", "RAMBLE_STATUS": "SUCCESS", "RAMBLE_VARIABLES": {"n_ranks": "4"}, "N_REPEATS": 0,
             "CONTEXTS": [{"name": "null", "foms": [{"name": "t", "value": "9.0", "units": "s", "origin": "log"},
                {"name": "t", "value": "8", "units": "s", "origin_type": "summary::mean"}]},
                {"name": "step 1", "foms": [{"name": "v", "value": "1", "units": ""}]}]},
            {"name": "b", "EXPERIMENT_STATUS": "FAILED", "n_ranks": "8", "CONTEXTS": []}]}"#,
        &[
            "results of Ramble",
            "name|status|n_ranks|context|t [s]|v",
            "a.1|SUCCESS|4|null|9.0|",
            "a.1|SUCCESS|4|step 1||1",
            "b|FAILED|8|||",
        ],
    );
}

#[test]
fn parameters_of_google_benchmark_stand_in_the_name() {
    check(
        r#"{"context": {}, "benchmarks": [
            {"name": "ns::f/ranks:4/8/min_time:2.0/threads:2", "threads": 1, "real_time": 5.0, "time_unit": "us"},
            {"name": "g/3", "run_type": "iteration", "threads": 4, "error_occurred": true, "error_message": "no file"},
            {"name": "g/3_mean", "run_type": "aggregate", "real_time": 1, "time_unit": "us"},
            {"name": "g/3_mean", "real_time": 1, "time_unit": "us"}]}"#,
        &[
            "JSON of Google Benchmark",
            "name|ranks|arg1|threads|real_time [us]|status",
            "ns::f/min_time:2.0|4|8|2|5.0|",
            "g||3|4||no file",
        ],
    );
    check(
        r#"{"benchmarks": [{"name": "f", "real_time": 5, "cpu_time": 4, "time_unit": "us"},
            {"name": "g", "real_time": 6, "cpu_time": 4, "time_unit": "s"}]}"#,
        &["JSON of Google Benchmark", "name|real_time|cpu_time|time_unit", "f|5|4|us", "g|6|4|s"],
    );
}

#[test]
fn each_test_case_of_reframe_is_a_row() {
    check(
        r#"{"session_info": {}, "runs": [{"testcases": [
            {"result": "pass", "num_tasks": 4, "stagedir": "/x", "time_run": 9.5,
             "perfvalues": {"sys:part:wall": [8.5, 0, null, null, "s", "pass"]}},
            {"result": "fail", "num_tasks": 8, "fail_reason": "no", "time_run": null, "perfvalues": null}]}]}"#,
        &[
            "report of ReFrame",
            "status|num_tasks|time_run [s]|wall [s]|fail_reason",
            "pass|4|9.5|8.5|",
            "fail|8|||no",
        ],
    );
}

/// Values in arrays of arrays, with what repeats over them.
const NESTED: &str = r#"{"machine": {"nodes": 2}, "all": [
    {"np": 1, "times": [2, 3], "codes": [0, 9]}, {"np": 2, "times": [4], "codes": [0], "in": {"a.b": 5}}]}"#;

#[test]
fn paths_go_through_arrays_together_and_repeat_what_stands_before() {
    check_paths(
        NESTED,
        &[
            "machine.nodes",
            "all[*].np",
            "all[*].times[*] [ms]",
            "all[*].codes[*]",
            "all[*].in[\"a.b\"]",
        ],
        &[
            "JSON by paths",
            "machine.nodes|all[*].np|all[*].times[*]|all[*].codes[*]|all[*].in[\"a.b\"]",
            "2|1|2|0|",
            "2|1|3|9|",
            "2|2|4|0|5",
        ],
    );
    check_paths(NESTED, &["all[*].times[0]"], &["JSON by paths", "all[*].times[0]", "2", "4"]);
    // The values of an object are items, too; what has none of them has a row.
    check_paths(
        r#"{"of": {"a": {"t": [1, 2]}, "b": {"t": []}}}"#,
        &["of[*].t[*]"],
        &["JSON by paths", "of[*].t[*]", "1", "2", ""],
    );
}

#[test]
fn paths_are_of_each_record() {
    let rows = ["JSON by paths", "np|t[*]", "1|2", "1|3", "4|5"];
    check_paths(r#"[{"np": 1, "t": [2, 3]}, {"np": 4, "t": [5]}]"#, &["np", "t[*]"], &rows);
    check_paths("{\"np\": 1, \"t\": [2, 3]}\n{\"np\": 4, \"t\": [5]}", &["np", "t[*]"], &rows);
}

#[test]
fn a_column_of_a_known_format_needs_no_path() {
    let text = r#"[{"in": {"np": 1}, "t": 2}]"#;
    for said in [&["in.np", "t [ms]"][..], &["t/1.5"], &["nothing"]] {
        check_paths(text, said, &["JSON of records", "in.np|t", "1|2"]);
    }
}

#[test]
fn a_path_that_leads_nowhere_is_refused_with_one_that_does() {
    let nothing = |path: &str| {
        format!(
            "x:1:1: found nothing at the path {path}, expected a path that is there, such as all[*].np"
        )
    };
    for path in ["all[*].tmie", "all[9].np"] {
        check_paths(NESTED, &[path], &[&nothing(path)]);
    }
    check_paths(
        NESTED,
        &["all[*].times"],
        &[
            "x:2:24: found an array, expected a text or a number; all[*].times[*] is each of its items",
        ],
    );
    check_paths(
        NESTED,
        &["machine.nodes[*]"],
        &["x:1:23: found the number 2, expected an array, as the path has [*]"],
    );
    check_paths(
        r#"{"a": [1, 2], "b": [[1], 2, 3]}"#,
        &["a[*]", "b[*]"],
        &["x:1:20: found 3 items for b[*], expected 2, as for a[*]"],
    );
}

#[test]
fn what_is_no_known_format_is_refused_with_a_path_that_is_there() {
    let two = r#"{"all": [{"np": 1}], "others": [{"p": 2}]}"#;
    let error = table(two, &[]);
    assert!(
        error.starts_with(
            "x:1:1: found an object of no known format, expected an array of objects, "
        )
    );
    assert!(error.contains("\"results\" with \"times\" of hyperfine"), "{error}");
    assert!(error.ends_with("; or columns given by paths, such as all[*].np"), "{error}");
    let error = table(r#"{"version": 1, "in": {"runs": [[{"t": 2}]]}}"#, &[]);
    assert!(error.ends_with("; or columns given by paths, such as in.runs[*][*].t"), "{error}");
    let error = table("[[1, 2]]", &[]);
    assert!(error.ends_with("; or columns given by paths, such as [*][*]"), "{error}");
    check("[]", &["x:1:1: found an empty array, expected at least one object"]);
}

#[test]
fn mistakes_have_their_places() {
    check(
        "[{\"a\": 1},\n 2]",
        &["x:2:2: found what is no object, expected an object, as the first is"],
    );
    check(
        "{\"a\": 1}\n{\"a\": 1, \"a\": 2}\n",
        &["x:2:15: found a second value for \"a\", expected one"],
    );
    check(
        "{\"a\": 1}\n{\"b\": {\"c\": 1, \"c\": 2}}\n",
        &["x:2:21: found a second value for \"b.c\", expected one"],
    );
    check("{\"a\": 1}\n{\"a\": 2\n", &["x:2:7: found EOF while parsing an object, expected JSON"]);
    check(
        "{\"a\": 1} x",
        &[
            "x:1:10: found something behind the end of the first value, expected one array or object, or objects",
        ],
    );
    check(
        "[{\"a\": \"\\ud800\"}]",
        &["x:1:8: found a text, expected a text without broken escapes"],
    );
    for (word, column) in [("NaN", 7), ("Infinity", 7), ("-Infinity", 8)] {
        let said = word.trim_start_matches('-');
        check(
            &format!("[{{\"a\": 1}},\n{{\"a\": {word}}}]"),
            &[&format!(
                "x:2:{column}: found {said}, expected JSON, which has no {said}; where there is no number, null"
            )],
        );
    }
}

#[test]
fn every_field_stands_where_it_says() {
    let texts = [
        r#"[{"a": 12.5, "b": " c "}, {"a": 7, "in": {"d": true}}]"#,
        "{\"a\": 12.5}\n{\"b\": \"\u{b5}\", \"a\": 9}\n",
        r#"{"results": [{"times": [2.5, 3], "exit_codes": [0, null], "parameters": {"np": "4"}}]}"#,
        "{\"tune_params_keys\": [\"m\"], \"cache\": {\"1\": {\"m\": 1, \"times\": [5, 6]},",
        "{\"params\": {\"m\": 1}, \"value\": [4, 5]}\n{\"params\": {\"m\": 2}, \"value\": 7}\n",
    ];
    for text in texts {
        let source = Source::new("x", text);
        let sheet = sheet(&source, &[]).expect("it is good").expect("it is JSON");
        let visited = sheet.rows.visit(&mut |row| {
            for field in row.iter().filter(|field| !field.text.is_empty()) {
                let there = text[field.at..].trim_start_matches(['"', ' ']);
                assert!(there.starts_with(field.text.as_ref()), "{field:?} in {text}");
            }
            Ok(())
        });
        visited.expect("rows");
    }
}

#[test]
fn deep_nesting_is_no_danger() {
    let (many, end) = ("[".repeat(100_000), "]".repeat(100_000));
    check(&many, &["x:1:100000: found EOF while parsing a list, expected JSON"]);
    assert!(table(&format!("{many}{end}"), &[]).contains("found an array of no objects"));
    // What lies too deep is no column.
    let deep = "{\"a\": ".repeat(50_000) + "1" + &"}".repeat(50_000);
    check(&format!("[{{\"m\": 1, \"in\": {deep}}}]"), &["JSON of records", "m", "1"]);
}
