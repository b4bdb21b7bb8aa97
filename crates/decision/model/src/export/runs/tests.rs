use super::*;
use mmgp_base::table::Source;
use mmgp_intake::Claims;

fn runs(rows: &[(u32, u32, u32, f64)]) -> Vec<Run> {
    rows.iter().map(|&(m, p, repetition, time_s)| Run { m, p, repetition, time_s }).collect()
}

fn refusal(target: RunsTarget, rows: &[(u32, u32, u32, f64)]) -> String {
    target.write(&runs(rows)).expect_err("must be refused").to_string()
}

#[test]
fn every_format_gives_back_the_runs_to_the_last_bit() {
    let rows = runs(&[
        (1, 1, 1, 0.1 + 0.2),
        (1, 1, 2, 1e-9),
        (2, 4, 1, 123_456_789.123_456_78),
        (2, 4, 2, 0.0),
        (16, 1, 1, 5e-324),
        (16, 1, 2, 1e300),
    ]);
    for &target in RunsTarget::ALL {
        let text = target.write(&rows).unwrap();
        let read = mmgp_intake::runs(&Source::new("x", &text), &Claims::default()).unwrap().0;
        assert_eq!(read, rows, "{}", target.name());
        assert_eq!(target.name().parse::<RunsTarget>().unwrap(), target);
    }
}

#[test]
fn uneven_repetitions_are_refused_as_text_and_written_as_json() {
    let rows = [(1, 1, 1, 1.0), (1, 1, 2, 1.5), (2, 1, 7, 0.5)];
    assert_eq!(
        refusal(RunsTarget::ExtraP, &rows),
        "runs: found 1 repetitions of m = 2, p = 1, but 2 of the first, expected as many of each in \
         Extra-P text; use extra-p-json or extra-p-jsonl"
    );
    for target in [RunsTarget::ExtraPJson, RunsTarget::ExtraPJsonLines] {
        let text = target.write(&runs(&rows)).unwrap();
        assert_eq!(
            mmgp_intake::runs(&Source::new("x", &text), &Claims::default()).unwrap().0.len(),
            3
        );
    }
}

#[test]
fn one_configuration_is_not_enough_for_lines() {
    assert_eq!(
        refusal(RunsTarget::ExtraPJsonLines, &[(1, 1, 1, 1.0)]),
        "runs: found one configuration, expected two or more in Extra-P JSON Lines; use extra-p-json"
    );
    assert_eq!(refusal(RunsTarget::ExtraPJson, &[]), "runs: found no runs, expected at least one");
}

#[test]
fn the_command_names_the_reader_and_quotes_the_file() {
    assert_eq!(
        RunsTarget::ExtraP.command("it's.txt"),
        "extrap --text 'it'\\''s.txt' --modeler multi-parameter --options '#spm=Default' \
         '#spo=allow_negative_exponents=true'"
    );
}
