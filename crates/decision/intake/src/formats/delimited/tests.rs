use csv::{ReaderBuilder, StringRecord, Terminator, Trim};
use mmgp_base::error::Place;
use rand::RngExt as _;
use rand::seq::IndexedRandom as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng as _;

use super::lines::unquoted;
use super::separated::Dialect;
use super::*;
use crate::formats::written;
use crate::sheet::{CUT_OFF, Field};

fn table(text: &str) -> String {
    written(sheet(&Source::new("x", text)))
}

/// The table of a text, with what the commands say.
fn sheet(source: &Source) -> Result<Sheet<'_>> {
    crate::formats::shapes::with_commands(super::sheet(source)?)
}

fn check(text: &str, lines: &[&str]) {
    assert_eq!(table(text), lines.join("\n"), "{text}");
}

/// Line and column of each heading, and of each field of the last row.
fn check_places(text: &str, headings: &[(u64, u64)], fields: &[(u64, u64)]) {
    let source = Source::new("x", text);
    let place = |at: usize| {
        let Place::Text { line, column } = source.position(at).place else { panic!("no text") };
        (line, column)
    };
    let sheet = sheet(&source).expect("a good file");
    let found: Vec<(u64, u64)> = sheet.columns.iter().map(|heading| place(heading.at)).collect();
    assert_eq!(found, headings, "{text}");
    let mut last = Vec::new();
    let visited = sheet.rows.visit(&mut |row| {
        last = row.iter().map(|field| place(field.at)).collect();
        Ok(())
    });
    visited.expect("good rows");
    assert_eq!(last, fields, "{text}");
}

/// The start and the separator of the rows that are lines.
fn lines_of(text: &str) -> Option<(usize, char)> {
    let source = Source::new("x", text);
    let sheet = sheet(&source).expect("a good file");
    sheet.rows.lines().map(|lines| (lines.start, char::from(lines.separator)))
}

#[test]
fn fields_stand_between_one_of_four_signs() {
    check("m,p,time_s\n1,2,3.5\n", &["CSV", "m|p|time_s", "1|2|3.5"]);
    check("m;p;time_s\n1;2;3.5\n", &["CSV with ;", "m|p|time_s", "1|2|3.5"]);
    check("m\tp\ttime_s\n1\t2\t3.5\n", &["CSV with tabs", "m|p|time_s", "1|2|3.5"]);
    check("m|p|time_s\n1|2|3.5\n", &["CSV with |", "m|p|time_s", "1|2|3.5"]);
    check("m\n1\n2", &["CSV", "m", "1", "2"]);
    check("m,p,time_s\n", &["CSV", "m|p|time_s"]);
    // The sign that makes the same of the rows, whatever else the header has.
    check("m;time, s\n1;3.5\n", &["CSV with ;", "m|time, s", "1|3.5"]);
    check("m,p,args (a;b)\n1,2,x;y\n", &["CSV", "m|p|args (a;b)", "1|2|x;y"]);
    check("m, p, time [s]\n1, 2, 3.5\n", &["CSV", "m|p|time [s]", "1|2|3.5"]);
    check(
        "when,wall time\n2026-01-01 00:00,1 m\n",
        &["CSV", "when|wall time", "2026-01-01 00:00|1 m"],
    );
}

#[test]
fn decimal_commas_stand_between_other_signs() {
    let rows = ["Prozesse|Threads|Zeit [s]", "1|1|103,2000", "1|2|53,2000"];
    let of = |name| [&[name], &rows[..]].concat();
    let text = "Prozesse;Threads;Zeit [s]\n1;1;103,2000\n1;2;53,2000\n";
    check(text, &of("CSV with ;"));
    check(&text.replace(';', "\t"), &of("CSV with tabs"));
    check(&text.replace(';', "|"), &of("CSV with |"));
    check("m;Zeit, s\n1;3,5\n", &["CSV with ;", "m|Zeit, s", "1|3,5"]);
    check("# np Zeit\n1 3,5\n2 4,5\n", &["table with blanks", "np|Zeit", "1|3,5", "2|4,5"]);
    check("m p Zeit\n1 1 3,5\n", &["table with blanks", "m|p|Zeit", "1|1|3,5"]);
    check(
        "m,p,time_s\n1,1,103,2\n",
        &["x:2:1: found 4 fields, expected 3 as in the header; write decimals with a point, or \
           separate columns by ;"],
    );
    check("m,p\n1,a,b\n", &["x:2:1: found 3 fields, expected 2 as in the header"]);
}

#[test]
fn what_is_not_of_the_table_is_passed_over() {
    let rows = ["CSV", "m|p|time_s", "1|2|3.5", "2|2|1.5"];
    check("\u{feff}m,p,time_s\r\n1,2,3.5\r\n2,2,1.5", &rows);
    check("\u{feff}# why\n\nm,p,time_s\n# how\n1,2,3.5\n\r\n  \n2,2,1.5\n# end", &rows);
    check(" m , p,time_s \n 1,2 , 3.5\n2,2,1.5\n", &rows);
    check("\"m\",p,\"time_s\"\r\n# how\r\n1,\"2\",3.5\r\n\r\n  \r\n2,2,\"1.5\"\r\n# end", &rows);
    let separator_at_the_end = "m,p,time_s,,\n1,2,3.5,,\n2,2,1.5, ,\n";
    check(separator_at_the_end, &rows);
    assert_eq!(lines_of(separator_at_the_end), None);
    check(&separator_at_the_end.replace("1.5, ,", "1.5,\"\",\"\""), &rows);
    check("m,p,\n1,2,\n1,3,x\n", &["CSV", "m|p|field 3", "1|2|", "1|3|x"]);
    check("m,p,\n1,2\n", &["x:2:1: found 2 fields, expected 3 as in the header"]);
}

#[test]
fn a_field_may_be_quoted_with_all_that_it_has() {
    check(
        "\"m, all\",p,\"a\nb\"\n1,\"2\",\"x \"\"y\"\",\nz\"\n\"2\",3,5\" disk\n",
        &["CSV", "m, all|p|a\nb", "1|2|x \"y\",\nz", "2|3|5\" disk"],
    );
    check("m,p\n\"# 1\",2\n", &["CSV", "m|p", "# 1|2"]);
    check("m,p\n\"1\"x,2\n1,\"2\"\r\n", &["CSV", "m|p", "1x|2", "1|2"]);
    check("m;p\n\"1\";\"a;b\"\n", &["CSV with ;", "m|p", "1|a;b"]);
    check("m,p\n1,\"2\n", &["CSV", "m|p", "1|2"]);
}

#[test]
fn each_field_has_its_place_as_an_editor_counts() {
    check_places("m,p\n1, 2\n", &[(1, 1), (1, 3)], &[(2, 1), (2, 4)]);
    check_places(
        "\u{feff}# why\nm, µ,p\r\n\r\n\"1\",,3",
        &[(2, 1), (2, 4), (2, 6)],
        &[(4, 1), (4, 5), (4, 6)],
    );
    check_places(
        "m,\"a,\n b\",p\n1,1,1\n# why\n\n1,\"2\"\"\n\",  3\n",
        &[(1, 1), (1, 3), (2, 5)],
        &[(6, 1), (6, 3), (7, 5)],
    );
    check_places("m,p,t\n1,  ,\n", &[(1, 1), (1, 3), (1, 5)], &[(2, 1), (2, 5), (2, 6)]);
    check_places("m  p\n 1 22\n", &[(1, 1), (1, 4)], &[(2, 2), (2, 4)]);
    check_places("| m | `p` |\n|-|-|\n| 1 | **22** |\n", &[(1, 3), (1, 8)], &[(3, 3), (3, 9)]);
    check_places("np=1 t='2 s'\nx np=4\n", &[(1, 4), (1, 8), (2, 1)], &[(2, 6), (2, 1), (2, 1)]);
}

#[test]
fn rows_without_quotes_are_lines() {
    assert_eq!(lines_of("m,p\n1,2\n"), Some((4, ',')));
    assert_eq!(lines_of("\u{feff}# why\nm;p\r\n1;2\n"), Some((14, ';')));
    assert_eq!(lines_of("# m\tp\n1\t2\n"), Some((6, '\t')));
    assert_eq!(lines_of("m\n1"), Some((2, ',')));
    for text in ["m,p\n1,\"2\"\n", "m p\n1 2\n", "|m|p|\n|1|2|\n", "m=1,p=2\n"] {
        assert_eq!(lines_of(text), None, "{text}");
    }
}

#[test]
fn the_header_may_be_a_comment_above_the_rows() {
    let rows = ["np|threads|time", "1|1|103.2", "1|2|53.2"];
    let of = |name| [&[name], &rows[..]].concat();
    check("# np threads time\n1 1 103.2\n1 2 53.2\n", &of("table with blanks"));
    check(
        "#np\tthreads  time\n# of May\n 1  1 103.2\n# more\n 1\t2 53.2\n",
        &of("table with blanks"),
    );
    check("# np, threads, time\n1,1,103.2\n1,2,53.2\n", &of("CSV"));
    check(
        "# host np time\nn01 1 103.2\nn02 2 50\n",
        &["table with blanks", "host|np|time", "n01|1|103.2", "n02|2|50"],
    );
    // A comment that is as long as a header by chance.
    check("# a,b,c\nranks,1,2\n1,103.2,53.2\n", &["CSV", "ranks|1|2", "1|103.2|53.2"]);
    check("# some,words\nm,p\n1,2\n", &["CSV", "m|p", "1|2"]);
}

#[test]
fn a_table_without_names_is_refused() {
    let expected = "a number, expected names of the columns in the first line";
    check("1,1,103.2\n1,2,53.2\n", &[&format!("x:1:1: found \"1\", {expected}")]);
    check("# why\n\n  4 1,5\n  8 1,6\n", &[&format!("x:3:3: found \"4\", {expected}")]);
    check("1,1,103.2,OK\n1,2,53.2,OK\n", &[&format!("x:1:1: found \"1\", {expected}")]);
    check("103.2\n", &[&format!("x:1:1: found \"103.2\", {expected}")]);
    check(",1,2\n1,103.2,53.2\n", &["CSV", "field 1|1|2", "1|103.2|53.2"]);
}

#[test]
fn what_is_no_table_is_refused_at_its_place() {
    let empty = "found an empty file, expected a header with the columns m, p, repetition, time_s";
    check("", &[&format!("x:1:1: {empty}")]);
    check("\u{feff}\n", &[&format!("x:2:1: {empty}")]);
    check("# end", &[&format!("x:1:6: {empty}")]);
    check("m,p,m\n1,2,3\n", &["x:1:5: found a second column \"m\", expected only one"]);
    check("m p  p\n1 2 3\n", &["x:1:6: found a second column \"p\", expected only one"]);
    check(
        "m,p,time_s\n1,1,3\n# why\n 1,1\n",
        &["x:4:2: found 2 fields, expected 3 as in the header"],
    );
    check("m,p,time_s\n1,1,\"3\"\n1\n", &["x:3:1: found 1 field, expected 3 as in the header"]);
    check(
        "m,p\r1,2\r",
        &["x:1:1: found lines that end with CR alone, expected lines that end with LF"],
    );
    check("m p t\n1 2\n1 2 3\n", &["x:2:1: found 2 fields, expected 3 as in the header"]);
}

#[test]
fn rows_far_from_the_first_are_not_looked_at_but_counted() {
    let rows = "1,1,3.5\n".repeat(1000);
    check(
        &format!("m,p,time_s\n{rows}1,1\n"),
        &["x:1002:1: found 2 fields, expected 3 as in the header"],
    );
    let rows = "1,1,\"3\n5\"\n".repeat(1000);
    check(
        &format!("m,p,time_s\n{rows}1,1\n"),
        &["x:2002:1: found 2 fields, expected 3 as in the header"],
    );
}

#[test]
fn long_lines_are_looked_at_in_part() {
    let names: Vec<String> = (0..50_000).map(|index| format!("c{index:05}")).collect();
    let row = vec!["1"; names.len()].join(",");
    check(
        &format!("{}\n{row}\n{row}\n1\n", names.join(",")),
        &["x:4:1: found 1 field, expected 50000 as in the header"],
    );
}

#[test]
fn blanks_may_separate_columns() {
    check(
        "ranks threads   time_s\n    1       1  103.2000\n    8       4    7.7250\n",
        &["table with blanks", "ranks|threads|time_s", "1|1|103.2000", "8|4|7.7250"],
    );
    check(
        "mean time  np\n1.5 s  4\n2.5 s\t8\n",
        &["table with blanks", "mean time|np", "1.5 s|4", "2.5 s|8"],
    );
    check("np time\n---- ----\n4 1.5\n", &["table with blanks", "np|time", "4|1.5"]);
    let drawn = "==== ====\nnp   time\n==== ====\n4    1.5\n==== ====\n";
    check(drawn, &["table with blanks", "np|time", "4|1.5"]);
    check("np  wall time\n4  1.5\n", &["table with blanks", "np|wall time", "4|1.5"]);
    // As pandas and R print them.
    check(
        "   np  t\n0   4  1\n1   8  2\n",
        &["table with blanks", "field 1|np|t", "0|4|1", "1|8|2"],
    );
    check(
        "\"np\" \"t\"\n\"1\" 4 1\n\"2\" 8 2\n",
        &["table with blanks", "field 1|np|t", "1|4|1", "2|8|2"],
    );
    check("np t\n4 1\n4 1 3\n", &["x:3:1: found 3 fields, expected 2 as in the header"]);
    check("wall time\n1.5\n", &["CSV", "wall time", "1.5"]);
}

#[test]
fn tables_with_borders_are_read_without_them() {
    let rows = ["np|time (s)", "1|103.2", "|53.2"];
    let of = |name| [&[name], &rows[..]].concat();
    check("| np | time (s) |\n| --- | ---: |\n| 1 | 103.2 |\n|  | 53.2 |\n", &of("Markdown table"));
    check(
        "# Results\n\n  |np|time (s)|\n  |:-|:-:|\n  |`1`|**103.2**|\n||__53.2__|\n",
        &of("Markdown table"),
    );
    check("np | time (s)\n---|---\n1 | 103.2\n | 53.2\n", &of("Markdown table"));
    check(" np | time (s)\n----+---\n 1 | 103.2\n | 53.2\n", &of("Markdown table"));
    check(
        "+----+----------+\n| np | time (s) |\n+====+==========+\n| 1  | 103.2    |\n+----+----------+\n\
         |    | 53.2     |\n+----+----------+\n",
        &of("Markdown table"),
    );
    check(
        "┌────┬──────────┐\n│ np │ time (s) │\n├────┼──────────┤\n│ 1  │ 103.2    │\n\
         │    │ 53.2     │\n└────┴──────────┘\n",
        &of("Markdown table"),
    );
    check(
        "result:\n| np | time (s) |\n|----|----------|\n| 1 | 103.2 |\n| | 53.2 |\n",
        &of("JUBE's table"),
    );
    check("result:\n| `a`[s] |\n|---|\n| `1` |\n", &["JUBE's table", "`a`[s]", "`1`"]);
    check(
        "| a | b |\n|---|---|\n| x\\|y | - |\n| - | - |\n",
        &["Markdown table", "a|b", "x|y|-", "-|-"],
    );
    check("|np|t|\n|4|1|\n", &["Markdown table", "np|t", "4|1"]);
    check("| np | t |\n|---|---|\n| 4 |\n", &["x:3:3: found 1 field, expected 2 as in the header"]);
    check("|m|p\n0|1|2\n", &["CSV with |", "field 1|m|p", "0|1|2"]);
}

#[test]
fn keys_are_columns_in_the_order_in_which_they_come() {
    check(
        "np=4 threads=2 time=1.5\n# why\nthreads=1   np=8 note=x\n",
        &["lines of key=value", "np|threads|time|note", "4|2|1.5|", "8|1||x"],
    );
    let rows = ["lines of key=value", "np|time", "4|1.5", "8|2"];
    for separator in [",", ", ", ";", "; ", " | ", "\t", " "] {
        let line = |np: &str, time: &str| format!("np={np}{separator}time={time}\n");
        check(&(line("4", "1.5") + &line("8", "2")), &rows);
    }
    check(
        "2026-01-01T00:00:00|runner 1.0|num_tasks=1|elapsed=103.2|units=s\n\
         2026-01-01T00:00:00|runner 1.0|num_tasks=2|elapsed=53.4|units=s\n",
        &[
            "lines of key=value",
            "field 1|field 2|num_tasks|elapsed|units",
            "2026-01-01T00:00:00|runner 1.0|1|103.2|s",
            "2026-01-01T00:00:00|runner 1.0|2|53.4|s",
        ],
    );
    check("np=4 args=\"-a b=1\" t=''\n", &["lines of key=value", "np|args|t", "4|-a b=1|"]);
    check("np=4, time=1,5\n", &["lines of key=value", "np|time", "4|1,5"]);
    check("np=4 time=1 np=2\n", &["x:1:16: found a second \"np\" in the line, expected only one"]);
    check("m,args\n4,a=1 b=2\n", &["CSV", "m|args", "4|a=1 b=2"]);
}

#[test]
fn sacct_quotes_nothing_and_its_steps_count() {
    check(
        "JobID|NTasks|NCPUS|Elapsed|State\n100||2|00:01:44|COMPLETED\n100.batch|1|2|00:01:44|COMPLETED\n\
         100.0|1|2|00:01:43|COMPLETED\n100.1|||00:01:43|CANCELLED by 1\n",
        &["sacct -P", "JobID|NTasks|NCPUS|Elapsed|State", "100.0|1|2|00:01:43|COMPLETED"],
    );
    check("JobName|State|\n\"a|FAILED|\n", &["sacct -P", "JobName|State", "\"a|FAILED"]);
}

#[test]
fn a_perflog_has_units_in_its_names() {
    let header = "result|job_completion_time|num_tasks|t_value|t_unit|t_ref|\
                  t_lower_thres|t_upper_thres|bw_value|bw_unit";
    check(
        &format!("{header}\npass|2026|4|1.5|s|0|null|null|7|\nfail|2026|8|2|s|0|null|null|8|\n"),
        &[
            "ReFrame's perflog",
            "result|job_completion_time|num_tasks|t [s]|bw",
            "pass|2026|4|1.5|7",
            "fail|2026|8|2|8",
        ],
    );
    check(
        "result|t_value|t_unit|t_ref\npass|1.5|s|0\npass|200|ms|0\n",
        &["ReFrame's perflog", "result|t_value|t_unit", "pass|1.5|s", "pass|200|ms"],
    );
    check(
        "when|num_tasks|elapsed_value|elapsed_unit\n2026|1|103.2|s\n",
        &["CSV with |", "when|num_tasks|elapsed_value|elapsed_unit", "2026|1|103.2|s"],
    );
}

/// A job log with these commands, and the columns that come of them with the rows.
fn check_commands(commands: &[&str], lines: &[&str]) {
    let header = "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n";
    let row = |command: &&str| format!("1\t:\t1700000000.1\t   103.200\t0\t10\t0\t0\t{command}\n");
    let text = header.to_string() + &commands.iter().map(row).collect::<String>();
    let found = table(&text);
    let mut found = found.lines();
    assert_eq!(found.next(), Some("job log of GNU parallel"));
    let common = "Seq|Host|Starttime|JobRuntime [s]|Send|Receive|Exitval|Signal|Command";
    let names = found.next().and_then(|names| names.strip_prefix(common)).expect("a log");
    let rows = found.zip(commands).map(|(row, command)| {
        let common = format!("1|:|1700000000.1|103.200|0|10|0|0|{command}");
        row.strip_prefix(&common).expect("a row of a log").to_string()
    });
    let found: Vec<String> = std::iter::once(names.to_string()).chain(rows).collect();
    assert_eq!(found, lines, "{text}");
}

#[test]
fn options_and_numbers_of_commands_are_columns() {
    check_commands(
        &["mpirun -n 1 ./app 1", "mpirun -n 2 ./app 1", "mpirun -n 1 ./app 4"],
        &["|np|word 5", "|1|1", "|2|1", "|1|4"],
    );
    check_commands(
        &["./clock.sh gnu 4 2", "./clock.sh gnu 8 1"],
        &["|word 3|word 4", "|4|2", "|8|1"],
    );
    check_commands(
        &[
            "MMGP_ID=7 OMP_NUM_THREADS=2 srun --ntasks=4 -np 3 -t8 ./a --size '5' -x --seed=1 --q",
            "MMGP_ID=8 OMP_NUM_THREADS=1 srun -np 3 --ntasks=8 -t4 ./a --size 6",
        ],
        &["|OMP_NUM_THREADS|ntasks|np|-t|size", "|2|4|3|8|5", "|1|8|3|4|6"],
    );
    check_commands(
        &["mpirun -n 4 -x OMP_NUM_THREADS=2 ./a -n 10"],
        &["|np|OMP_NUM_THREADS|-n 2", "|4|2|10"],
    );
    check_commands(&["./a --Seq 1 \"", "./a --Seq 2"], &["|Seq of the command", "|1", "|2"]);
    check_commands(&["./a 1", "./b"], &["", "", ""]);
    let header = "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n";
    check_places(
        &format!("{header}1\t:\t1\t  2\t0\t0\t0\t0\t./a  -n 4\n"),
        &[(1, 1), (1, 5), (1, 10), (1, 20), (1, 31), (1, 36), (1, 44), (1, 52), (1, 59), (1, 59)],
        &[(2, 1), (2, 3), (2, 5), (2, 9), (2, 11), (2, 13), (2, 15), (2, 17), (2, 19), (2, 27)],
    );
    check(
        &(header.replace('\t', ",").trim_end().to_string()
            + ",V1,Stdout\n1,:,1,2.5,0,0,0,0,\"./a -n 4\",4,\"x\ny\"\n"),
        &[
            "results of GNU parallel",
            "Seq|Host|Starttime|JobRuntime [s]|Send|Receive|Exitval|Signal|Command|V1|Stdout|-n",
            "1|:|1|2.5|0|0|0|0|./a -n 4|4|x\ny|4",
        ],
    );
}

const EXTRAP: &str = "# a comment\nPARAMETER m\nPARAMETER p\nPOINTS (1 1) ( 2 4 )\nPOINTS (4 1)\n\n\
                      REGION run->main\nMETRIC visits\nDATA 1\nMETRIC time\nDATA 8.5 8.25\n\
                      DATA 1.5e0\nDATA 2 3 4\n";

#[test]
fn the_text_of_extra_p_has_a_row_for_each_value() {
    check(
        EXTRAP,
        &[
            "text of Extra-P",
            "m|p|callpath|metric|value",
            "1|1|run->main|visits|1",
            "1|1|run->main|time|8.5",
            "1|1|run->main|time|8.25",
            "2|4|run->main|time|1.5e0",
            "4|1|run->main|time|2",
            "4|1|run->main|time|3",
            "4|1|run->main|time|4",
        ],
    );
    check(
        "PARAMETER p m\nPOINTS (1 2)(2 4)\nMETRIC time\nDATA 8.5\nDATA 1.5\n",
        &["text of Extra-P", "p|m|metric|time", "1|2|time|8.5", "2|4|time|1.5"],
    );
    check(
        "PARAMETER n\nPOINTS 1 2\nMETRIC t\nDATA 8\nDATA 9\n",
        &["text of Extra-P", "n|metric|t", "1|t|8", "2|t|9"],
    );
    check_places(
        EXTRAP,
        &[(2, 11), (3, 11), (9, 6), (9, 6), (9, 6)],
        &[(5, 9), (5, 11), (7, 8), (10, 8), (13, 10)],
    );
}

#[test]
fn a_text_of_extra_p_that_is_not_as_the_format_asks_is_refused_at_its_place() {
    let check = |old: &str, new: &str, message: &str| {
        assert!(EXTRAP.contains(old), "{old}");
        check(&EXTRAP.replacen(old, new, 1), &[message]);
    };
    check("( 2 4 )", "( 2 4 5 )", "x:4:14: found \" 2 4 5 \", expected (m p)");
    check("( 2 4 )", "2", "x:4:14: found \"2\", expected (m p)");
    check(
        "( 2 4 )",
        "(1 1)",
        "x:9:1: found the point m = 1, p = 1 twice in POINTS, expected each point once",
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
        &format!("x:10:1: found 1 lines of DATA for 3 points, {uneven}"),
    );
    check(
        "METRIC time",
        "METRIC s",
        &format!("x:10:1: found 1 lines of DATA for 3 points, {uneven}"),
    );
    check("DATA 2 3 4", "DATA", "x:13:1: found no values, expected at least one time");
    check("METRIC visits\n", "", "x:8:1: found DATA before METRIC, expected METRIC time");
    check(
        "REGION",
        "REGIONS",
        "x:7:1: found \"REGIONS\", expected PARAMETER, POINTS, REGION, METRIC or DATA",
    );
    check(
        "PARAMETER m\nPARAMETER p\n",
        "",
        "x:2:1: found POINTS before PARAMETER, expected PARAMETER m p",
    );
    check("PARAMETER p", "PARAMETER m", "x:3:11: found a second column \"m\", expected only one");
    super::tests::check(
        "PARAMETER m\n",
        &["x:2:1: found no DATA, expected METRIC time, and DATA for each point"],
    );
}

/// A text of pieces that mean something to one of the formats.
fn text_of_pieces(random: &mut Xoshiro256PlusPlus, pieces: &[&str]) -> String {
    let count = random.random_range(1..60);
    (0..count).map(|_| *pieces.choose(random).expect("invariant: there are pieces")).collect()
}

#[test]
fn quoted_records_are_those_of_the_csv_crate_at_their_places() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let pieces = ["\"", "\"\"", ",", ",", "a", "\u{b5}", " ", "\n", "\n", "\r\n", "#", "1.5"];
    for _ in 0..10_000 {
        let text = text_of_pieces(&mut random, &pieces);
        let mut builder = ReaderBuilder::new();
        let builder = builder.has_headers(false).flexible(true).comment(Some(b'#')).trim(Trim::All);
        let mut reader = builder.terminator(Terminator::Any(b'\n')).from_reader(text.as_bytes());
        let records: Vec<StringRecord> = reader.records().map(|it| it.expect("text")).collect();
        let is_record =
            |record: &&StringRecord| record.len() > 1 || record.iter().any(|it| !it.is_empty());
        let expected: Vec<Vec<&str>> =
            records.iter().filter(is_record).map(|record| record.iter().collect()).collect();
        // What the reader makes of a comment that the end of the text cuts off.
        let last = text.lines().last().unwrap_or_default();
        let is_cut_off =
            last.starts_with('#') && expected.last().is_some_and(|it| it.concat() != "");
        let mut found: Vec<Vec<String>> = Vec::new();
        let dialect = Dialect { separator: b',', has_quotes: true };
        let visited = dialect.records(&text, 0, &mut |fields, end| {
            let mut next = 0;
            for field in fields {
                let is_there = text[field.at..].starts_with(['"'])
                    || text[field.at..].starts_with(field.text.as_ref());
                assert!(is_there && field.at >= next && field.at <= end, "{text:?} {field:?}");
                next = field.at + usize::from(!field.text.is_empty());
            }
            found.push(fields.iter().map(|field| field.text.to_string()).collect());
            Ok(())
        });
        visited.expect("nothing is refused");
        // Quotes behind a blank are text to the reader.
        let bare = |text: &str| unquoted(text, 0).text.to_string();
        let all = |rows: Vec<Vec<String>>| -> Vec<Vec<String>> {
            let bare_all = |row: &Vec<String>| row.iter().map(|text| bare(text)).collect();
            let is_record = |row: &Vec<String>| row.len() > 1 || !row[0].is_empty();
            rows.iter().map(bare_all).filter(is_record).collect()
        };
        let owned = |row: &Vec<&str>| row.iter().map(|text| text.to_string()).collect();
        let mut expected = all(expected.iter().map(owned).collect());
        let found = all(found);
        if is_cut_off && expected.len() > found.len() {
            expected.pop();
        }
        assert_eq!(found, expected, "{text:?}");
    }
}

#[test]
fn no_text_is_too_odd() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(2);
    let pieces = [
        "\"",
        "'",
        ",",
        ";",
        "|",
        "\t",
        " ",
        "  ",
        "=",
        "-",
        "--",
        "+",
        "\n",
        "\n",
        "\n",
        "\r",
        "#",
        "\u{b5}",
        "\u{2502}",
        "\u{2500}",
        "\u{feff}",
        "a",
        "np",
        "4",
        "1,5",
        "\\|",
        "**",
        "`",
        "a=1",
        "r:\n",
        "JobID|State",
        "result|t_value|t_unit",
        "PARAMETER m\n",
        "POINTS (1)\n",
        "METRIC t\n",
        "DATA 1\n",
        "(",
        ")",
        "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n",
        "1\t:\t0\t1\t0\t0\t0\t0\t./a -n 4\n",
    ];
    for _ in 0..10_000 {
        let text = text_of_pieces(&mut random, &pieces);
        let source = Source::new("x", &text);
        let Ok(sheet) = sheet(&source) else { continue };
        let lines = sheet.rows.lines();
        let _ = sheet.rows.visit(&mut |row| {
            assert_eq!(row.len(), sheet.columns.len(), "{text:?}");
            assert!(row.iter().all(|field| text.is_char_boundary(field.at)), "{text:?}");
            let is_there = |field: &Field<'_>| {
                field.text == CUT_OFF || text[field.at..].starts_with(field.text.as_ref())
            };
            let whole = row.iter().all(is_there);
            assert!(whole || lines.is_none(), "{text:?}");
            Ok(())
        });
    }
}
