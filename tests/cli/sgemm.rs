//! `--app sgemm`

use super::Folder;

const EMULATE: [&str; 5] = ["emulate", "--app", "sgemm", "--format", "json"];

#[test]
fn a_product_tells_how_fast_it_was_and_how_right_it_is() {
    let flags = ["--size", "128", "--m", "1", "--p", "2"];
    let run = Folder::new().json(&[&EMULATE[..], &flags].concat());
    assert_eq!((&run["app"], &run["order"]), (&"sgemm".into(), &128.into()));
    let number = |name: &str| run[name].as_f64().expect("a number");
    let gflops = number("gflops");
    assert!((gflops - 2e-9 * 128.0_f64.powi(3) / number("time_s")).abs() < 1e-9 * gflops);
    // Two SPEs of 25.6 GFLOP/s each.
    assert!((40.0..51.2).contains(&gflops), "{gflops}");
    let error = number("largest_error");
    assert!(0.0 < error && error < 128.0 / f64::from(1 << 23), "{error}");
}

#[test]
fn what_it_cannot_do_is_named_by_its_flag() {
    let folder = Folder::new();
    let check = |flags: &[&str], message: &str| {
        folder.refuses(&[&EMULATE[..], flags].concat(), message);
    };
    check(&["--size", "100"], "--size: found 100, expected a multiple of 64 from 64 to 4096");
    check(&["--m", "2"], "--m: found 2, expected 1, which starts all SPEs: p is how many");
    for (flag, value) in [("--input", "sim12"), ("--tree", "x.nwk"), ("--port", "ppe")] {
        let run = folder.mmgp(&[&EMULATE[..], &[flag, value]].concat());
        let expected = format!("error: unexpected argument '{flag}'");
        assert!(run.code == Some(2) && run.stderr.starts_with(&expected), "{}", run.stderr);
    }
}

#[test]
fn a_study_has_nothing_to_choose() {
    let expected = "a program of several processes, or list-ranking; of this one `mmgp complexity` \
                    says what binds it";
    let message = format!("study: found sgemm, expected {expected}");
    Folder::new().refuses(&["study", "--app", "sgemm"], &message);
}
