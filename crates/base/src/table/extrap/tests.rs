use super::*;
use crate::error::Result;
use crate::table::Source;

type Reader = fn(&Source, &Columns) -> Result<Vec<Run>>;

fn refused(read: Reader, text: &str, message: &str) {
    let error = read(&Source::new("x", text), &Columns::default())
        .expect_err("must be refused")
        .to_string();
    assert_eq!(error, message, "{text}");
}

const TEXT: &str = "# a comment\nPARAMETER m\nPARAMETER p\nPOINTS (1 1) ( 2 4 )\nPOINTS (4 1)\n\n\
                    REGION run->main\nMETRIC visits\nDATA 1\nMETRIC time\nDATA 8.5 8.25\n\
                    DATA 1.5e0\nDATA 2 3 4\n";

fn expected() -> Vec<Run> {
    [
        (1, 1, 1, 8.5),
        (1, 1, 2, 8.25),
        (2, 4, 1, 1.5),
        (4, 1, 1, 2.0),
        (4, 1, 2, 3.0),
        (4, 1, 3, 4.0),
    ]
    .map(|(m, p, repetition, time_s)| Run { m, p, repetition, time_s })
    .to_vec()
}

#[test]
fn the_three_formats_give_the_same_runs() {
    assert_eq!(text(&Source::new("x", TEXT), &Columns::default()).unwrap(), expected());
    let object = r#"{"parameters": ["p", "m"], "measurements": {"run": {"visits": [],
        "time": [{"point": [1, 1], "values": [8.5, 8.25]}, {"point": [4, 2], "values": 1.5},
        {"point": [1, 4.0], "values": [2, 3, 4]}]}, "other": {"bytes": 3}}}"#;
    assert_eq!(json(&Source::new("x", object), &Columns::default()).unwrap(), expected());
    let lines = r#"{"params": {"m": 1, "p": 1}, "callpath": "run", "value": [8.5, 8.25]}
        {"params": {"m": 1, "p": 1}, "callpath": "run", "metric": "visits", "value": -1}
        {"params": {"p": 4, "m": 2}, "callpath": "run", "metric": "time", "value": 1.5}

        {"params": {"m": 4, "p": 1}, "callpath": "run", "metric": "time", "value": 2}
        {"params": {"m": 4, "p": 1}, "callpath": "run", "metric": "time", "value": [3, 4]}"#;
    assert_eq!(json_lines(&Source::new("x", lines), &Columns::default()).unwrap(), expected());
}

#[test]
fn a_text_that_is_not_as_the_format_asks_is_refused_at_its_place() {
    let check = |old: &str, new: &str, message: &str| {
        assert!(TEXT.contains(old), "{old}");
        refused(text, &TEXT.replacen(old, new, 1), message);
    };
    let time = "expected a finite time of 0 s or more";
    check("8.25", "-8.25", &format!("x:11:10: found \"-8.25\", {time}"));
    check("8.25", "nan", &format!("x:11:10: found \"nan\", {time}"));
    check("8.25", "inf", &format!("x:11:10: found \"inf\", {time}"));
    check(
        "( 2 4 )",
        "( 0 4 )",
        "x:4:16: found \"0\", expected a whole number from 1 to 4294967295",
    );
    check("( 2 4 )", "( 2 4 5 )", "x:4:14: found \" 2 4 5 \", expected (m p)");
    check("( 2 4 )", "2", "x:4:14: found \"2\", expected (m p)");
    check(
        "( 2 4 )",
        "(1 1)",
        "x:11:1: found the point m = 1, p = 1 twice in POINTS, expected each point once",
    );
    check(
        "PARAMETER p",
        "PARAMETER procs",
        "x:4:1: found the parameters m, procs, expected the parameters m (host threads) and p (APUs \
         for each); rename them",
    );
    let uneven = "expected as many lines of DATA as points";
    check("DATA 2 3 4\n", "", &format!("x:13:1: found 2 lines of DATA for 3 points, {uneven}"));
    check(
        "DATA 2 3 4\n",
        "DATA 2\nDATA 3\n",
        &format!("x:14:1: found 4 lines of DATA for 3 points, {uneven}"),
    );
    check(
        "METRIC visits",
        "METRIC time",
        "x:10:1: found 1 lines of DATA for 3 points, expected as many lines of DATA as points",
    );
    check(
        "METRIC time",
        "METRIC s",
        "x:14:1: found no DATA of the metric \"time\", expected one region with the metric \"time\": that of the whole run",
    );
    check("DATA 2 3 4", "DATA", "x:13:1: found no values, expected at least one time");
    check("METRIC visits\n", "", "x:8:1: found DATA before METRIC, expected METRIC time");
    check(
        "REGION",
        "REGIONS",
        "x:7:1: found \"REGIONS\", expected PARAMETER, POINTS, REGION, METRIC or DATA",
    );
    let twice = format!("{TEXT}REGION b\nMETRIC time\nDATA 1\nDATA 2\nDATA 3\n");
    refused(
        text,
        &twice,
        "x:16:1: found a second metric \"time\", expected one region with the metric \"time\": that of the whole run",
    );
    let early = TEXT.replace("PARAMETER m\nPARAMETER p\n", "");
    refused(
        text,
        &early,
        "x:2:1: found POINTS before PARAMETER, expected the parameters m (host threads) and p (APUs for each); rename them",
    );
}

#[test]
fn json_that_is_not_as_the_format_asks_is_refused_at_its_place() {
    let check = |parameters: &str, points: &str, message: &str| {
        let object = format!(
            "{{\"parameters\":{parameters},\n\"measurements\":{{\"r\":{{\"time\":\n{points}}}}}}}"
        );
        refused(json, &object, message);
    };
    let good = r#"["m","p"]"#;
    check(
        good,
        r#"[{"point":[1,1],"values":[1,-1]}]"#,
        "x:3:29: found the number -1, expected a finite time of 0 s or more",
    );
    check(
        good,
        r#"[{"point":[1,1],"values":1e999}]"#,
        "x:3:26: found the number 1e999, expected a finite time of 0 s or more",
    );
    check(
        good,
        r#"[{"point":[1,0],"values":1}]"#,
        "x:3:14: found the number 0, expected a whole number from 1 to 4294967295",
    );
    check(good, r#"[{"point":[1],"values":1}]"#, "x:3:11: found 1 numbers, expected m and p");
    check(
        good,
        r#"[{"point":[1,1],"values":[]}]"#,
        "x:3:26: found no values, expected at least one time",
    );
    check(good, "[]", "x:3:1: found no points, expected at least one");
    check(
        good,
        r#"[{"point":[1,1],"values":1},{"point":[1,1],"values":1}]"#,
        "x:3:38: found a second point for m = 1, p = 1, expected one point for each",
    );
    check(
        r#"["m"]"#,
        "[]",
        "x:1:15: found the parameters m, expected the parameters m (host threads) and p (APUs for each); rename them",
    );
    let region = "expected one region with the metric \"time\": that of the whole run";
    refused(
        json,
        r#"{"parameters":["m","p"],"measurements":{}}"#,
        &format!("x:1:40: found no metric \"time\", {region}"),
    );
    let two = r#"{"parameters":["m","p"],"measurements":{"a":{"time":[]},"b":{"time":[]}}}"#;
    refused(json, two, &format!("x:1:69: found a second metric \"time\", {region}"));
}

#[test]
fn lines_that_are_not_as_the_format_asks_are_refused_at_their_place() {
    let first = r#"{"params":{"m":1,"p":1},"value":1}"#;
    let check = |line: &str, message: &str| {
        refused(json_lines, &format!("{first}\n{line}\n"), message);
    };
    check(
        r#"{"params":{"m":1,"p":1},"value":-0.5}"#,
        "x:2:33: found the number -0.5, expected a finite time of 0 s or more",
    );
    check(
        r#"{"params":{"m":1,"q":1},"value":1}"#,
        "x:2:11: found the parameters m, q, expected the parameters m (host threads) and p (APUs for each); rename them",
    );
    check(
        r#"{"params":{"m":1,"p":1},"callpath":"b","value":1}"#,
        "x:2:1: found a second region \"b\" with the metric \"time\", expected one region with the metric \"time\": that of the whole run",
    );
    check("{", "x:2:1: found EOF while parsing an object, expected JSON");
    refused(
        json_lines,
        "\n",
        "x:2:1: found no line with the metric \"time\", expected at least one",
    );
}

#[test]
fn parameters_and_metric_have_the_names_that_are_chosen() {
    let columns: Columns = "m=ranks,p=threads,time=wall_ms".parse().expect("good columns");
    let expected = [Run { m: 4, p: 2, repetition: 1, time_s: 1.5 }];
    let read = |reader: Reader, text: &str| reader(&Source::new("x", text), &columns).unwrap();
    let of_text = "PARAMETER threads ranks\nPOINTS (2 4)\nMETRIC time\nDATA 9\nMETRIC wall_ms\n\
                   DATA 1500\n";
    assert_eq!(read(text, of_text), expected);
    let object = r#"{"parameters": ["ranks", "threads"], "measurements": {"run": {"time": 3,
        "wall_ms": [{"point": [4, 2], "values": 1500}]}}}"#;
    assert_eq!(read(json, object), expected);
    let lines = r#"{"params": {"threads": 2, "ranks": 4}, "metric": "wall_ms", "value": 1500}"#;
    assert_eq!(read(json_lines, lines), expected);
    let error = text(&Source::new("x", TEXT), &columns).unwrap_err().to_string();
    assert_eq!(
        error,
        "x:4:1: found the parameters m, p, expected the parameters ranks (host threads) and threads \
         (APUs for each); rename them"
    );
}
