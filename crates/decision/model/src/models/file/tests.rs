use super::super::parameters::{OverM, Phase, Table};
use super::super::published;
use super::super::refined::Placement;
use super::*;

const GOOD: &str = "\
schema = 1
name = \"toy\"
decomposition = \"data\"
apus = 4
[terms]
t_hpu_s = { value = 1.5, std_error = 0.25, source = \"profile.csv\" }
t_apu_s = 12
c_apu_s = { value = 0.5 }
offloads = 10
o_offload_s = 1e-3
t_csw_s = 2e-3
g_s = { value = 3e-3, combined_with = [\"t_csw_s\"] }
alpha = { m = [1, 2], value = [1.0, 1.28], std_error = [0.0, 0.01], source = \"alpha.csv\" }
o_col_s = 0.0
";

fn read(text: &str) -> Result<Parameters> {
    Parameters::read(&Source::new("p.toml", text))
}

/// `GOOD` with one passage replaced is refused with exactly this message.
fn check(good: &str, bad: &str, message: &str) {
    assert!(GOOD.contains(good), "{good}");
    assert_eq!(read(&GOOD.replacen(good, bad, 1)).unwrap_err().to_string(), message);
}

#[test]
fn a_file_gives_every_value_with_its_error_and_source() {
    let parameters = read(GOOD).unwrap();
    let terms = &parameters.terms;
    assert_eq!((parameters.name.as_str(), parameters.apus), ("toy", 4));
    assert_eq!(parameters.decomposition, Decomposition::Data);
    assert_eq!(terms.t_hpu_s.std_error, Some(0.25));
    assert_eq!(terms.t_hpu_s.source.as_deref(), Some("profile.csv"));
    assert_eq!(terms.t_apu_s, Estimate::exact(12.0));
    assert_eq!(terms.g_s.combined_with, ["t_csw_s"]);
    assert_eq!(terms.collectives, None);
    assert_eq!(terms.alpha.estimates()[1].std_error, Some(0.01));
    assert_eq!(terms.alpha.estimates()[1].source.as_deref(), Some("alpha.csv"));
    assert_eq!(terms.o_col_s, OverM::Constant(Estimate::exact(0.0)));
}

#[test]
fn the_head_of_the_file_is_checked() {
    check("schema = 1", "schema = 3", "p.toml:1:10: found schema 3, expected 1 or 2");
    check(
        "schema = 1\n",
        "",
        "p.toml:1:1: found no value for \"schema\", expected a whole number of at least 1",
    );
    check(
        "\"data\"",
        "\"loop\"",
        "p.toml:3:17: found \"loop\" for \"decomposition\", expected one of data, task",
    );
    check(
        "\"data\"",
        "\"task\"",
        "p.toml:3:17: found a task decomposition without tasks, expected tasks = .. beside it",
    );
    check(
        "\"data\"",
        "\"task\"\ntasks = 0",
        "p.toml:4:9: found the number 0 for \"tasks\", expected a whole number of at least 1",
    );
    check(
        "\"data\"",
        "\"data\"\ntasks = 16",
        "p.toml:4:9: found tasks for a data decomposition, expected none, or decomposition = \
         \"task\"",
    );
    check(
        "apus = 4",
        "apus = 0",
        "p.toml:4:8: found the number 0 for \"apus\", expected a whole number of at least 1",
    );
    check(
        "apus = 4",
        "apus = 4\nspes = 8",
        "p.toml:5:1: found \"spes\", expected one of schema, name, decomposition, tasks, apus, \
         objective, terms, phases, correlation, refined, traced, runs, before_runs",
    );
}

#[test]
fn every_value_is_checked() {
    check(
        "t_apu_s = 12",
        "t_apu_s = -12",
        "p.toml:7:11: found the number -12.0 for \"terms.t_apu_s\", expected 0 or more",
    );
    check(
        "t_apu_s = 12",
        "t_apu_s = inf",
        "p.toml:7:11: found the number inf for \"terms.t_apu_s\", expected a finite number",
    );
    check(
        "t_apu_s = 12",
        "t_apu_s = { value = nan }",
        "p.toml:7:21: found the number NaN for \"terms.t_apu_s.value\", expected a finite number",
    );
    check(
        "std_error = 0.25",
        "std_error = -0.25",
        "p.toml:6:38: found the number -0.25 for \"terms.t_hpu_s.std_error\", expected 0 or more",
    );
    check(
        "std_error = 0.25",
        "sigma = 0.25",
        "p.toml:6:26: found \"terms.t_hpu_s.sigma\", expected one of m, value, std_error, \
         degrees_of_freedom, freedom, source, combined_with, interpolation",
    );
    check(
        "g_s = {",
        "gap_s = {",
        "p.toml:12:1: found \"terms.gap_s\", expected one of t_hpu_s, t_apu_s, c_apu_s, offloads, \
         o_offload_s, t_csw_s, g_s, collectives, alpha, o_col_s",
    );
    check(
        "t_csw_s = 2e-3\n",
        "",
        "p.toml:5:1: found no value for \"terms.t_csw_s\", expected t_csw_s = ..",
    );
    check(
        "o_col_s = 0.0\n",
        "",
        "p.toml:5:1: found no value for \"terms.o_col_s\", expected o_col_s = ..",
    );
}

#[test]
fn a_term_over_m_is_checked() {
    check(
        "m = [1, 2]",
        "m = [2, 2]",
        "p.toml:13:15: found [2, 2] for \"terms.alpha.m\", expected increasing whole numbers, the first at least 1",
    );
    check(
        "m = [1, 2]",
        "m = [0, 2]",
        "p.toml:13:15: found [0, 2] for \"terms.alpha.m\", expected increasing whole numbers, the first at least 1",
    );
    check(
        "m = [1, 2]",
        "m = []",
        "p.toml:13:15: found [] for \"terms.alpha.m\", expected increasing whole numbers, the first at least 1",
    );
    check(
        "value = [1.0, 1.28]",
        "value = [1.0]",
        "p.toml:13:9: found 1 numbers as value for \"terms.alpha\", expected 2, one for each m",
    );
    check(
        "[0.0, 0.01]",
        "[0.0, 0.01, 0.02]",
        "p.toml:13:9: found 3 numbers as std_error for \"terms.alpha\", expected 2, one for each m",
    );
    check(
        "value = [1.0, 1.28], ",
        "",
        "p.toml:13:9: found no value for \"terms.alpha.value\", expected value = ..",
    );
    check(
        "[1.0, 1.28]",
        "[1.0, 0.0]",
        "p.toml:13:9: found 0 for \"terms.alpha\", expected a slowdown above 0",
    );
    check(
        "[1.0, 1.28]",
        "[1.0, -1.28]",
        "p.toml:13:31: found the number -1.28 for \"terms.alpha.value\", expected 0 or more",
    );
    check(
        "o_col_s = 0.0",
        "o_col_s = -0.5",
        "p.toml:14:11: found the number -0.5 for \"terms.o_col_s\", expected 0 or more",
    );
    check(
        "o_col_s = 0.0",
        "o_col_s = \"none\"",
        "p.toml:14:11: found the text \"none\" for \"terms.o_col_s\", expected a number, \
         { value = .. } or, for alpha and o_col_s, a table over m",
    );
    check(
        "o_col_s = 0.0",
        "o_col_s = [{ m = 2, value = 1.0 }, { m = 1, value = 1.0 }]",
        "p.toml:14:11: found [2, 1] for \"terms.o_col_s\", expected increasing whole numbers, the first at least 1",
    );
}

const PHASES: &str = "
[[phases]]
name = \"newview\"
t_hpu_s = 1.0
t_apu_s = 8
c_apu_s = 0.25
offloads = 6
g_s = 4e-3

[[phases]]
name = \"evaluate\"
t_hpu_s = 0.5
t_apu_s = 4
c_apu_s = 0.25
offloads = 4
g_s = 1.5e-3
";

#[test]
fn phases_must_add_up_to_the_whole() {
    let phases = read(&format!("{GOOD}{PHASES}")).unwrap().phases;
    assert_eq!(phases.len(), 2);
    assert_eq!(phases[1].name, "evaluate");
    let check = |good: &str, bad: &str, message: &str| {
        let text = format!("{GOOD}{}", PHASES.replacen(good, bad, 1));
        assert_eq!(read(&text).unwrap_err().to_string(), message);
    };
    check(
        "t_hpu_s = 0.5",
        "t_hpu_s = 0.50001",
        "p.toml:16:1: found phases whose t_hpu_s add up to 1.50001, expected 1.5 as in [terms]",
    );
    check(
        "g_s = 1.5e-3",
        "g_s = 3e-3",
        "p.toml:16:1: found phases whose offloads * g_s add up to 0.036000000000000004, expected \
         0.03 as in [terms]",
    );
    check(
        "g_s = 1.5e-3",
        "g_s = 1.5e-3\ncollectives = 3",
        "p.toml:16:1: found collectives in phase \"evaluate\", expected none, as in [terms]",
    );
    // Within the tolerance, as six digits written by hand are.
    for (good, rounded) in
        [("t_hpu_s = 0.5", "t_hpu_s = 0.5000005"), ("t_apu_s = 4", "t_apu_s = 4.00001")]
    {
        let rounded = PHASES.replacen(good, rounded, 1);
        assert!(read(&format!("{GOOD}{rounded}")).is_ok(), "{rounded}");
    }
}

fn estimate(value: f64, std_error: Option<f64>, source: Option<&str>) -> Estimate {
    Estimate { std_error, source: source.map(str::to_string), ..Estimate::exact(value) }
}

/// Parameters that use every feature of the format and values that are hard to print.
fn intricate() -> Parameters {
    let third = 1.0 / 3.0;
    let phase = |name: &str| Phase {
        name: name.into(),
        t_hpu_s: Estimate::exact(third / 2.0),
        t_apu_s: estimate(0.05, Some(1e-300), None),
        c_apu_s: Estimate::exact(5e-324),
        offloads: Estimate::exact(1e17),
        g_s: Estimate::exact(1e-9),
        collectives: Some(Estimate::exact(1.0)),
    };
    let alpha = vec![
        Estimate::exact(1.0),
        estimate(1.28, Some(0.1 + 0.2), Some("a \"quoted\\path\"\n\tand \u{7f} µ")),
        Estimate {
            combined_with: vec!["t_hpu_s".into(), "x, \"y\"".into()],
            ..estimate(2.0, None, None)
        },
    ];
    let o_col =
        [0.0, 16e-6, 118e-6].map(|value| estimate(value, Some(value / 7.0), Some("mpptest")));
    let terms = Terms {
        t_hpu_s: estimate(third, Some(third * third), Some("")),
        t_apu_s: Estimate::exact(0.1),
        c_apu_s: Estimate::exact(1e-323),
        offloads: Estimate::exact(2e17),
        o_offload_s: Estimate::exact(f64::MIN_POSITIVE),
        t_csw_s: Estimate::exact(f64::MAX),
        g_s: Estimate::exact(1e-9),
        collectives: Some(Estimate::exact(2.0)),
        alpha: OverM::Table(Table::new(vec![1, 2, 40], alpha)),
        o_col_s: OverM::Table(Table::new(vec![1, 2, 4], o_col.to_vec())),
    };
    let entries = vec![Term::HpuTime.entry(0), Term::Alpha.entry(1)];
    let correlation = Correlation::new(entries, vec![1.0, -third, -third, 1.0]).unwrap();
    let decomposition = Decomposition::Task { tasks: u32::MAX };
    Parameters {
        phases: vec![phase("new\"view"), phase("evaluate")],
        correlation: Some(correlation),
        ..Parameters::new("intricate # [terms] \"", decomposition, u32::MAX, terms)
    }
}

#[test]
fn what_is_written_reads_back_exactly() {
    for parameters in [intricate(), read(GOOD).unwrap()] {
        let text = parameters.to_toml();
        assert_eq!(read(&text).unwrap_or_else(|error| panic!("{error}\n{text}")), parameters);
    }
}

#[test]
fn a_table_whose_entries_differ_in_one_way_reads_back_exactly() {
    let plain = || Table::new(vec![2, 3], vec![Estimate::exact(1.5); 2]);
    let changes: [fn(&mut Estimate); 5] = [
        |_| {},
        |estimate| estimate.std_error = Some(0.5),
        |estimate| (estimate.std_error, estimate.degrees_of_freedom) = (Some(0.5), Some(2.5)),
        |estimate| estimate.source = Some("alpha.csv".into()),
        |estimate| estimate.combined_with.push("t_hpu_s".into()),
    ];
    for change in changes {
        let mut parameters = read(GOOD).unwrap();
        let mut table = plain();
        change(&mut table.values[1]);
        parameters.terms.alpha = OverM::Table(table);
        assert_eq!(read(&parameters.to_toml()).unwrap(), parameters);
    }
}

#[test]
fn a_table_that_goes_on_reads_back_exactly_and_makes_it_the_second_version() {
    for interpolation in [Interpolation::Line, Interpolation::Logarithm] {
        let name = interpolation.name().unwrap();
        let mut parameters = read(GOOD).unwrap();
        let OverM::Table(table) = &mut parameters.terms.alpha else { panic!("a table") };
        table.interpolation = interpolation;
        let columns = parameters.to_toml();
        assert!(columns.starts_with("schema = 2\n"), "{columns}");
        assert!(columns.contains(&format!(", interpolation = \"{name}\" }}")), "{columns}");
        assert_eq!(read(&columns).unwrap(), parameters);
        // Each entry with a source of its own.
        parameters.terms.estimate_mut(Term::Alpha.entry(1)).unwrap().source =
            Some("runs.csv".into());
        let rows = parameters.to_toml();
        assert_eq!(rows.matches("interpolation").count(), 1, "{rows}");
        assert_eq!(read(&rows).unwrap(), parameters);
    }
}

#[test]
fn an_interpolation_that_is_none_is_refused() {
    let good = "source = \"alpha.csv\" }";
    check(
        good,
        "interpolation = \"spline\" }",
        "p.toml:13:85: found \"spline\" for \"terms.alpha.interpolation\", expected one of line, \
         logarithm",
    );
    check(
        good,
        "interpolation = 2 }",
        "p.toml:13:85: found another kind of value for \"terms.alpha.interpolation\", expected string \
         or table",
    );
    // It belongs to the first entry, and to no number.
    for misplaced in [
        "[{ m = 1, value = 0.0 }, { m = 2, value = 1e-6, interpolation = \"line\" }]",
        "{ value = 0.0, interpolation = \"line\" }",
    ] {
        let text = GOOD.replacen("o_col_s = 0.0", &format!("o_col_s = {misplaced}"), 1);
        let error = read(&text).unwrap_err().to_string();
        assert!(error.contains("found an interpolation "), "{error}");
    }
}

#[test]
fn the_written_file_is_made_to_be_read() {
    let text = read(GOOD).unwrap().to_toml();
    let expected = "\
schema = 1
name = \"toy\"
decomposition = \"data\"
apus = 4

[terms]
# T_HPU(1,1): time on the host in a sequential run [s]
t_hpu_s = { value = 1.5, std_error = 0.25, source = \"profile.csv\" }
";
    assert!(text.starts_with(expected), "{text}");
    let alpha = "\
# alpha_m: slowdown of host code under m threads
alpha = { m = [1, 2], value = [1.0, 1.28], std_error = [0.0, 0.01], source = \"alpha.csv\" }
";
    assert!(text.contains(alpha), "{text}");
}

#[test]
fn a_correlation_is_read_by_the_names_of_its_entries() {
    let good = "[correlation]\nentries = [\"t_hpu_s\", \"alpha(2)\"]\nt_hpu_s = [1, -0.5]\n\
                \"alpha(2)\" = [-0.5, 1]\n";
    let parameters = read(&format!("{GOOD}{good}")).unwrap();
    let correlation = parameters.correlation.unwrap();
    assert_eq!(correlation.entries(), [Term::HpuTime.entry(0), Term::Alpha.entry(1)]);
    assert_eq!(correlation.of(Term::Alpha.entry(1), Term::HpuTime.entry(0)), -0.5);
    let check = |good_part: &str, bad: &str, expected: &str| {
        let error = read(&format!("{GOOD}{}", good.replacen(good_part, bad, 1))).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    };
    check("alpha(2)", "alpha(3)", "the entry \"alpha(3)\", expected one of t_hpu_s, t_apu_s");
    check("[-0.5, 1]", "[-0.5, 2]", "2 in row 2, expected a symmetric matrix");
    check("\"alpha(2)\" = [-0.5, 1]\n", "", "no row for \"alpha(2)\"");
    check("[1, -0.5]", "[1]", "3 numbers for 2 entries");
}

#[test]
fn degrees_of_freedom_are_read_by_their_old_name_too() {
    let of_five = |value| Estimate {
        std_error: Some(0.5),
        degrees_of_freedom: Some(5.0),
        ..Estimate::exact(value)
    };
    let mut parameters = read(GOOD).unwrap();
    parameters.terms.g_s = of_five(1.5);
    let table = Table::new(vec![2, 3], vec![of_five(1.5), of_five(2.5)]);
    parameters.terms.alpha = OverM::Table(table);
    let text = parameters.to_toml();
    assert_eq!(text.matches("degrees_of_freedom").count(), 2);
    assert_eq!(read(&text.replace("degrees_of_freedom", "freedom")).unwrap(), parameters);
    let both = text.replace("std_error = 0.5", "std_error = 0.5, freedom = 5.0");
    assert!(read(&both).is_err());
}

fn with_evidence() -> Parameters {
    let mut parameters = published("pbpi-qs20").unwrap();
    let observed = |m, time_s| Observation {
        mapping: Mapping::of(m, 2),
        level: 0,
        time: Seconds(time_s),
        repetitions: 3.0,
    };
    let configurations = vec![observed(1, 0.1), observed(4, 7.25)];
    let observations = Observations::new("my \"runs\"", configurations, 1e-4, 4.0);
    let entries = vec![Term::HpuTime.entry(0), Term::Gap.entry(0)];
    let before = Before {
        terms: parameters.terms.clone(),
        correlation: Some(Correlation::new(entries, vec![1.0, 0.5, 0.5, 1.0]).unwrap()),
        unknown: vec![Term::ApuSerialTime],
    };
    parameters.evidence = Some(Evidence { observations, before: Some(before) });
    parameters
}

#[test]
fn evidence_that_is_written_is_read_back() {
    let parameters = with_evidence();
    let text = parameters.to_toml();
    assert!(text.starts_with("schema = 2\n"), "{text}");
    assert_eq!(Parameters::read(&Source::new("p.toml", &text)).unwrap(), parameters);
}

#[test]
fn terms_without_end_beside_runs_are_refused() {
    let endless =
        with_evidence().to_toml().replace("g_s = { value = 0.8", "g_s = { value = 1.7e308");
    let error = Parameters::read(&Source::new("p.toml", &endless)).unwrap_err().to_string();
    assert!(error.contains("runs of which the terms make no finite time"), "{error}");
}

#[test]
fn runs_that_cannot_be_are_refused_with_their_place() {
    let text = with_evidence().to_toml();
    let check = |from: &str, to: &str, expected: &str| {
        let changed = text.replace(from, to);
        assert_ne!(changed, text);
        let error = Parameters::read(&Source::new("p.toml", &changed)).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    check("p = [2, 2]", "p = [2]", "found 2 values of m and 1 of p");
    check("time_s = [0.1, 7.25]", "time_s = [0.1]", "found 1 numbers for \"runs.time_s\"");
    check("time_s = [0.1, 7.25]", "time_s = [0.1, 0.0]", "found 0.0, expected above 0");
    check("scatter = 0.0001", "scatter = -1.0", "expected 0 or more");
    check("unknown = [\"c_apu_s\"]", "unknown = [\"c_apu\"]", "the term \"c_apu\"");
}

fn read_refined(refined: &str) -> Result<Parameters> {
    let base = published("pbpi-qs20").unwrap().to_toml();
    Parameters::read(&Source::new("p.toml", &format!("{base}\n[refined]\n{refined}")))
}

fn check_refused(refined: &str, expected: &str) {
    let error = read_refined(refined).unwrap_err().to_string();
    assert!(error.contains(expected), "{error}");
}

const MEMORY: &str = "memory_demand_bytes_per_s = 2e9\nmemory_bandwidth_bytes_per_s = \
                      { value = 20e9, source = \"memory.csv\" }\nmemories = 2\n\
                      memory_of = \"apu\"\n";

#[test]
fn refined_terms_are_read_and_written_exactly() {
    let all = format!(
        "iterations = 2499\nhardware_contexts = 4\nexposed_transfer_s = {{ value = 9e-8, \
         std_error = 1e-9 }}\nwork_growth_s = 0.01\n{MEMORY}"
    );
    for text in ["", "iterations = 3\n", MEMORY, &all] {
        let parameters = read_refined(text).unwrap();
        let again = Parameters::read(&Source::new("p.toml", &parameters.to_toml())).unwrap();
        assert_eq!(again, parameters);
    }
    let refinements = read_refined(&all).unwrap().refinements.unwrap();
    assert_eq!(refinements.names(), Refinements::NAMES);
    assert_eq!(refinements.hardware_contexts, Some(4));
    let memory = refinements.memory.unwrap();
    assert_eq!((memory.memories, memory.placement), (2, Placement::ByApu));
    assert_eq!(memory.bandwidth_bytes_per_s.source.as_deref(), Some("memory.csv"));
    assert_eq!(published("pbpi-qs20").unwrap().refinements, None);
}

#[test]
fn what_traced_runs_say_is_read_and_written_exactly_and_checked() {
    let read = |sizes: &str, pairs: &str| {
        let text =
            published("pbpi-qs20").unwrap().to_toml().replacen("schema = 1", "schema = 2", 1);
        let traced = format!(
            "[traced]\ncorrelation = {pairs}\nregions = {{ by_m = 0.25, by_p = -0.5 }}\n[traced.sizes]\n{sizes}"
        );
        Parameters::read(&Source::new("p.toml", &format!("{text}\n{traced}\n")))
    };
    let sizes = "host_repeated_s = { value = 1.5, std_error = 0.1 }\nhost_shared_s = 2.0";
    let parameters = read(sizes, "[[\"host_repeated_s\", \"host_shared_s\", -0.9]]").unwrap();
    let again = Parameters::read(&Source::new("p.toml", &parameters.to_toml())).unwrap();
    assert_eq!(again, parameters);
    assert_eq!(parameters.traced.unwrap().time(Mapping::of(4, 2)).0, 2.0);
    for (sizes, pairs) in [
        ("hosts_s = 1", "[]"),
        (sizes, "[[\"host_repeated_s\", \"host_shared_s\", 1.5]]"),
        (sizes, "[[\"host_repeated_s\", \"host_repeated_s\", 1]]"),
    ] {
        assert!(read(sizes, pairs).is_err(), "{sizes} {pairs}");
    }
}

#[test]
fn refined_terms_are_checked() {
    check_refused("iterations = 0\n", "expected a whole number of at least 1");
    check_refused("hardware_contexts = 1.5\n", "expected a whole number of at least 1");
    check_refused("smt = 4\n", "expected one of iterations, hardware_contexts");
    check_refused("work_growth_s = -1\n", "expected 0 or more");
    check_refused(
        "memories = 2\n",
        "expected memory_demand_bytes_per_s, memory_bandwidth_bytes_per_s",
    );
    check_refused(&MEMORY.replace("apu", "node"), "expected one of process, apu");
    check_refused(&MEMORY.replace("20e9", "0"), "expected more than 0 byte/s");
}
