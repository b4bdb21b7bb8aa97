//! A data frame is read as the CSV file of the same values, which is written here as Python writes them.

use mmgp_base::error::{Error, Result, Warning};
use mmgp_base::table::Source;
use mmgp_base::table::records::{Offload, Run};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Column, Frame};
use crate::claims::Claims;
use crate::plan::configurations;
use crate::{runs, told, values};

fn integers(values: &[i64]) -> Column {
    Column::Integers(values.to_vec())
}

fn floats(values: &[f64]) -> Column {
    Column::Floats(values.to_vec())
}

/// Texts, of which empty ones are missing.
fn texts(values: &[&str]) -> Column {
    let text = |text: &&str| (!text.is_empty()).then(|| text.to_string());
    Column::Texts(values.iter().map(text).collect())
}

fn categories(codes: &[i32], texts: &[&str]) -> Column {
    let texts = texts.iter().map(ToString::to_string).collect();
    Column::Categories { codes: codes.to_vec(), texts }
}

const NAN: f64 = f64::NAN;

type Columns<'a> = &'a [(&'a str, Column)];

fn frame(columns: Columns<'_>) -> Frame {
    let columns = columns.iter().map(|(name, values)| (name.to_string(), values.clone()));
    Frame::new("the frame", columns.collect()).expect("a good frame")
}

/// A number as `repr` of Python writes it.
fn repr(value: f64) -> String {
    let text = format!("{value:?}");
    match text.split_once('e') {
        Some((digits, exponent)) => {
            let (sign, digits_of) =
                exponent.strip_prefix('-').map_or(("+", exponent), |it| ("-", it));
            format!("{digits}e{sign}{digits_of:0>2}")
        }
        None => text,
    }
}

/// The file that `to_csv` of pandas writes.
fn file(columns: Columns<'_>) -> Source {
    let text = |values: &Column, row: usize| match values {
        Column::Integers(values) => values[row].to_string(),
        Column::Floats(values) if values[row].is_nan() => String::new(),
        Column::Floats(values) => repr(values[row]),
        Column::Texts(values) => values[row].clone().unwrap_or_default(),
        Column::Categories { codes, texts } => {
            usize::try_from(codes[row]).map_or_else(|_| String::new(), |code| texts[code].clone())
        }
    };
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    let row =
        |row| columns.iter().map(|(_, values)| text(values, row)).collect::<Vec<_>>().join(",");
    let rows: Vec<String> = (0..frame(columns).rows()).map(row).collect();
    Source::new("the frame", &format!("{}\n{}\n", names.join(","), rows.join("\n")))
}

/// Runs with the bits of their times, and all that is said; or the error.
type Outcome = std::result::Result<(Vec<(u32, u32, u32, u64)>, Vec<String>), String>;

fn outcome(read: Result<(Vec<Run>, Vec<Warning>)>) -> Outcome {
    let (runs, warnings) = read.map_err(|error| error.to_string())?;
    let run = |it: &Run| (it.m, it.p, it.repetition, it.time_s.to_bits());
    Ok((runs.iter().map(run).collect(), warnings.iter().map(Warning::to_string).collect()))
}

/// What is said of a file, in the words for a frame: rows from 0 below the header in the place of lines from 1.
fn in_rows(said: &str) -> String {
    let said = said.replacen("the frame, CSV: ", "the frame: ", 1);
    let row = |line: &str| format!("row {} (from 0)", line.parse::<u64>().expect("a line") - 2);
    if let Some((before, behind)) = said.split_once("in line ") {
        let (line, behind) = behind.split_once(',').expect("more behind it");
        return format!("{before}in {},{behind}", row(line));
    }
    match said
        .strip_prefix("the frame:")
        .filter(|it| it.starts_with(|it: char| it.is_ascii_digit()))
    {
        Some(rest) => {
            let parts: Vec<&str> = rest.splitn(3, ':').collect();
            format!("the frame, {}:{}", row(parts[0]), parts[2])
        }
        None => said,
    }
}

/// Reads a frame and the file of it, which must come to the same.
fn check(columns: Columns<'_>, claims: &Claims) -> Outcome {
    let of_file = outcome(runs(&file(columns), claims));
    let in_rows = |texts: Vec<String>| texts.iter().map(|text| in_rows(text)).collect();
    let of_file: Outcome = match of_file {
        Ok((runs, said)) => Ok((runs, in_rows(said))),
        Err(error) => Err(in_rows(vec![error]).remove(0)),
    };
    let of_frame = outcome(runs(&frame(columns), claims));
    assert_eq!(of_frame, of_file, "{columns:?}");
    of_frame
}

/// Checks a frame that is read; how many runs it has and what is said of it.
fn check_good(columns: Columns<'_>, claims: &Claims) -> (usize, Vec<String>) {
    let (runs, said) = check(columns, claims).expect("it is read");
    (runs.len(), said)
}

fn check_refused(columns: Columns<'_>, claims: &Claims, error: &str) {
    assert_eq!(check(columns, claims), Err(error.to_string()));
}

fn plain() -> Vec<(&'static str, Column)> {
    vec![
        ("m", integers(&[1, 2, 2, 70])),
        ("p", integers(&[4, 1, 1, 2])),
        ("time_s", floats(&[3.5, 0.1 + 0.2, 1e-7, 12.0])),
    ]
}

fn with(name: &'static str, values: Column) -> Vec<(&'static str, Column)> {
    let mut columns = plain();
    columns.push((name, values));
    columns
}

#[test]
fn numbers_are_read_as_they_are() {
    let none = Claims::default();
    assert_eq!(check_good(&plain(), &none), (4, Vec::new()));
    assert_eq!(check_good(&with("repetition", integers(&[1, 1, 2, 7])), &none), (4, Vec::new()));
    // A slow way, by a filter, comes to the same.
    let filter = Some("time_s > 0.2".to_string());
    assert_eq!(check_good(&plain(), &Claims { filter, ..Claims::default() }).0, 3);
}

#[test]
fn any_number_keeps_its_bits_on_either_way() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(41);
    let mut time = || {
        let power = random.random_range(-320..300);
        (random.random_range(1.0..10.0_f64)) * 10_f64.powi(power)
    };
    let times: Vec<f64> =
        (0..3000).map(|_| time()).chain([0.0, 5e-324, 1e16, 1e15, 1e-4]).collect();
    let counts: Vec<i64> = (0..times.len() as i64).map(|row| row % 90 + 1).collect();
    let p = vec![1; times.len()];
    for name in ["time_s", "time_ms", "time [ns]"] {
        let columns = [("m", integers(&counts)), ("p", integers(&p)), (name, floats(&times))];
        check_good(&columns, &Claims::default());
        let filter = Some("m > 0".to_string());
        check_good(&columns, &Claims { filter, ..Claims::default() });
    }
}

#[test]
fn whole_numbers_among_which_some_are_missing_are_counts() {
    let columns = [
        ("ranks", floats(&[4.0, 8.0, 8.0])),
        ("threads", floats(&[2.0, 1.0, 1.0])),
        ("wall [ms]", floats(&[1500.0, 2500.0, NAN])),
        ("nodes", floats(&[1.0, 2.0, NAN])),
    ];
    let (count, said) = check_good(&columns, &Claims::default());
    assert_eq!(count, 2);
    let failed = "the frame: 1 run failed and was left out, in row 2 (from 0), of (8, 1): \"\" in column \"wall [ms]\"";
    assert_eq!(said.last().map(String::as_str), Some(failed));
    let all = told(&frame(&columns), &Claims::default()).expect("it is read");
    assert_eq!(all.len(), 3);
    // A file would have 1.0, which is no repetition.
    let mut columns = plain();
    columns.push(("repetition", floats(&[1.0, 1.0, 2.0, 1.0])));
    let (read, _) = runs(&frame(&columns), &Claims::default()).expect("it is read");
    assert_eq!(read.iter().map(|run| run.repetition).collect::<Vec<_>>(), [1, 1, 2, 1]);
}

#[test]
fn what_is_no_number_is_refused_at_its_row() {
    let whole = "expected a whole number from 1 to 4294967295";
    let columns =
        |m: Column| [("m", m), ("p", integers(&[1, 1, 1])), ("time_s", floats(&[1.0, 2.0, 3.0]))];
    let check_m = |m, found: &str| {
        check_refused(
            &columns(m),
            &Claims::default(),
            &format!("the frame, row 1 (from 0): found {found} in column \"m\", {whole}"),
        );
    };
    check_m(integers(&[1, 0, 2]), "\"0\"");
    check_m(integers(&[1, -3, 2]), "\"-3\"");
    check_m(integers(&[1, i64::MAX, 2]), "\"9223372036854775807\"");
    check_m(floats(&[1.0, 2.5, 2.0]), "\"2.5\"");
    check_m(floats(&[1.0, NAN, 1.0]), "\"\"");
}

#[test]
fn a_time_is_neither_negative_nor_without_end() {
    let columns = |times: &[f64]| {
        [("m", integers(&[1, 2, 3])), ("p", integers(&[1, 1, 1])), ("time_s", floats(times))]
    };
    for (time, text) in [(-2.5, "-2.5"), (-0.0, "-0.0"), (f64::INFINITY, "inf")] {
        let read = check(&columns(&[1.5, time, 3.0]), &Claims::default());
        match read {
            Err(error) => {
                assert!(error.contains(&format!("row 1 (from 0): found {text:?}")), "{error}")
            }
            Ok((runs, said)) => assert!(runs.len() == 2 && said.len() == 1, "{said:?}"),
        }
    }
    check_good(&columns(&[1.5, NAN, 3.0]), &Claims::default());
}

#[test]
fn a_column_that_varies_is_refused_with_the_same_answers() {
    let mode = texts(&["a", "b", "c", "b"]);
    let error = check(&with("mode", mode.clone()), &Claims::default()).expect_err("it varies");
    assert!(
        error.starts_with("the frame: the runs of (m, p) = (2, 1) differ in \"mode\""),
        "{error}"
    );
    assert!(
        error.contains("; say by mode (an answer for each), or filter mode == \"a\""),
        "{error}"
    );
    let codes = categories(&[2, 0, 1, -1], &["b", " c ", "a"]);
    check(&with("mode", codes), &Claims::default()).expect_err("it varies");
    let claims = |filter: Option<&str>, only: Option<&str>, ignored: &[&str]| Claims {
        filter: filter.map(Into::into),
        only: only.map(|only| ("mode".into(), only.into())),
        ignored: ignored.iter().map(ToString::to_string).collect(),
        ..Claims::default()
    };
    assert_eq!(
        check_good(&with("mode", mode.clone()), &claims(Some("mode != \"c\""), None, &[])).0,
        3
    );
    assert_eq!(check_good(&with("mode", mode.clone()), &claims(None, Some("b"), &[])).0, 2);
    assert_eq!(check_good(&with("mode", mode.clone()), &claims(None, None, &["mode"])).0, 4);
    let found = values(&frame(&with("mode", mode)), "Mode", &Claims::default());
    assert_eq!(found.expect("it is there"), ["a", "b", "c"]);
    assert_eq!(
        check_good(&with("host", categories(&[0, 0, 0, 0], &["here"])), &Claims::default()).0,
        4
    );
}

#[test]
fn what_is_the_same_in_all_rows_says_the_same_as_in_a_file() {
    let none = Claims::default();
    let all = |text| texts(&[text; 4]);
    for (name, values) in [
        ("status", all("ok")),
        ("exit_code", integers(&[0; 4])),
        ("remark", all("pinned")),
        ("N", floats(&[1000.0; 4])),
        ("N", floats(&[NAN; 4])),
        ("mode", categories(&[-1; 4], &[])),
    ] {
        assert_eq!(check_good(&with(name, values), &none).0, 4, "{name}");
    }
    for (name, values) in
        [("status", all("failed")), ("exit_code", integers(&[137; 4])), ("remark", all("crashed"))]
    {
        let error = check(&with(name, values), &none).expect_err("no run is left");
        assert!(error.contains("row 0 (from 0): found"), "{error}");
    }
    // A row that is read by itself among those that are not.
    let mut columns = with("mode", all("a"));
    columns[2].1 = floats(&[1.5, NAN, 2.5, 3.5]);
    assert_eq!(check_good(&columns, &none).0, 3);
    check(&with("N", floats(&[NAN, NAN, 4.5, NAN])), &none).expect_err("it varies");
}

#[test]
fn texts_are_understood_as_those_of_a_file() {
    let time = floats(&[1.25, 2.5, 3.0]);
    let columns = [("ranks x threads", texts(&["8x4", "4x8", "1x1"])), ("time", time.clone())];
    check_good(&columns, &Claims::default());
    let said = "m,p=config".parse().expect("columns");
    let columns = [("config", categories(&[1, 0, 1], &["8x4", "4x8"])), ("seconds", time)];
    check_good(&columns, &Claims { columns: said, ..Claims::default() });
    let rate = [("m", integers(&[1, 2])), ("ns/day", floats(&[3.25, 5.0]))];
    check(&rate, &Claims::default()).ok();
    check_good(&rate, &Claims { rate: Some("ns/day".into()), ..Claims::default() });
    let long = [
        ("np", integers(&[1, 1, 2, 2])),
        ("metric", texts(&["time", "joules", "time", "joules"])),
        ("value", floats(&[1.5, 100.0, 0.75, 120.0])),
    ];
    assert_eq!(check_good(&long, &Claims::default()).0, 2);
    let commands = [
        ("command", texts(&["mpirun -n 4 ./a --threads=2", "mpirun -n 8 ./a --threads=1"])),
        ("mean", floats(&[1.5, 2.5])),
    ];
    check(&commands, &Claims::default()).ok();
    let summed = [
        ("m", texts(&["4", "8", "mean", "sum"])),
        ("p", integers(&[1, 1, 1, 1])),
        ("time_s", floats(&[1.5, 2.5, 2.0, 4.0])),
    ];
    let read = runs(&frame(&summed), &Claims::default()).expect("it is read");
    let note = "the frame: left out as sums or means of others: row 2, 3 (from 0)";
    assert_eq!(read.1.last().expect("a note").to_string(), note);
}

#[test]
fn a_row_that_is_there_twice_is_refused_at_its_row() {
    let columns = with("repetition", integers(&[1, 1, 1, 1]));
    let error = "the frame, row 2 (from 0): found a second row for m = 2, p = 1, repetition = 1, expected one row for each";
    // The keys are compared by `runs` here.
    check_refused(&columns, &Claims::default(), error);
    let claims = Claims { filter: Some("m > 0".into()), ..Claims::default() };
    check_refused(&columns, &claims, error);
}

#[test]
fn a_frame_of_nothing_is_refused() {
    let refused = |columns| runs(&frame(columns), &Claims::default()).unwrap_err().to_string();
    let empty: [(&str, Column); 3] =
        [("m", integers(&[])), ("p", integers(&[])), ("time_s", floats(&[]))];
    assert_eq!(refused(&empty), "the frame: no rows; give one at least");
    let none = configurations(&frame(&empty), &"".parse().unwrap_or_default()).unwrap_err();
    assert_eq!(none.to_string(), "the frame: no rows; give one at least");
    assert!(matches!(runs(&frame(&[]), &Claims::default()), Err(Error::Ambiguous { .. })));
}

#[test]
fn columns_that_are_no_frame_are_refused() {
    let refused = |columns: &[(&str, Column)]| {
        let columns = columns.iter().map(|(name, values)| (name.to_string(), values.clone()));
        Frame::new("the frame", columns.collect()).unwrap_err().to_string()
    };
    assert_eq!(
        refused(&[("m", integers(&[1, 2])), ("p", floats(&[1.0]))]),
        "columns: found 1 values of \"p\" beside 2, expected as many in each column"
    );
    assert_eq!(
        refused(&[("m", integers(&[1])), (" m ", integers(&[1]))]),
        "columns: found a second column \"m\", expected only one"
    );
    assert_eq!(
        refused(&[("x", categories(&[0, 2], &["a", "b"]))]),
        "columns: found category 2 of \"x\", expected one that has a text"
    );
}

#[test]
fn a_table_of_few_rows_is_read_by_its_names() {
    let columns = |times: &[f64]| {
        vec![
            ("bytes", integers(&[8, 8])),
            ("repetition", floats(&[1.0, 2.0])),
            ("round_trips", integers(&[1000, 1000])),
            ("time_s", floats(times)),
            ("note", texts(&["two\nlines, \"quoted\"", "#"])),
        ]
    };
    let records = |columns: &[(&str, Column)]| frame(columns).records::<Offload>();
    let (rows, warnings) = records(&columns(&[0.1 + 0.2, 1e-7])).expect("it is read");
    let times: Vec<f64> = rows.iter().map(|row| row.time_s).collect();
    assert_eq!(times, [0.1 + 0.2, 1e-7]);
    let refused = records(&columns(&[1.5, NAN])).unwrap_err().to_string();
    let expected = "found \"\" in column \"time_s\", expected a finite time of 0 s or more";
    assert_eq!(refused, format!("the frame, row 1 (from 0): {expected}"));
    let ignored = "the frame, names of the columns: column \"note\" is not known and was ignored";
    assert_eq!(warnings.iter().map(Warning::to_string).collect::<Vec<_>>(), [ignored]);
}
