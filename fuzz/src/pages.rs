//! Names and titles that would break out of where they are put: of the page and its data, of files
//! of parameters, of exports, of provenance.

use mmgp::Mapping;
use mmgp::decide::Sampling;
use mmgp::error::Error;
use mmgp::export::Target as Export;
use mmgp::models::parameters::{Phase, Terms};
use mmgp::models::terms::Term;
use mmgp::models::{Parameters, published};
use mmgp::quantity::Quantity;
use mmgp::report::provenance::{InputFile, Provenance};
use mmgp::report::search::{self, Row, Search, SearchedConfiguration};
use mmgp::report::{Picture, Study, page};
use mmgp::table::Source;

use crate::target::{Input, Random, Seen, Target, Verdict, read_otherwise};

/// Names of any letters, which stay what they are, on the page and in files.
pub fn targets() -> Vec<Target> {
    let input = |random: &mut Random| {
        let mut text = || (0..random.below(6)).map(|_| random.word(PIECES)).collect::<String>();
        let texts: Vec<String> = (0..TEXTS).map(|_| text()).collect();
        let json = serde_json::to_string_pretty(&texts).expect("invariant: texts are JSON");
        Input::of("texts.json", json)
    };
    vec![Target { cost: 20, least_taken: 0.9, ..Target::new("hostile-names", input, check_names) }]
}

/// What breaks out of strings, elements, comments and lines.
const PIECES: &str = "</script>¦<script>¦<!--¦-->¦]]>¦<x-evil onload=x>¦&lt;¦&amp;¦&#0;¦\"¦'¦\\¦\\u2028¦\
    \\ud800¦\\\"¦\u{2028}¦\u{2029}¦\u{0}¦\u{1}¦\u{7f}¦\u{85}¦\u{feff}¦\u{202e}¦\u{200b}¦\
    \u{1f600}¦\u{10ffff}¦\n¦\r¦\r\n¦\t¦ ¦*/¦/*¦//¦#¦\"\"\"¦'''¦${x}¦%s¦{}¦{{¦|¦`¦\
    \\end{tabular}¦$¦_¦&¦~¦^¦a¦PBPI¦1e999¦<!--DATA-->¦/*SCRIPT*/¦<!--TITLE-->¦<title>¦\
    </title>¦=¦==¦,¦;¦[terms]¦??/";

/// How many texts a page is made of.
const TEXTS: usize = 12;

fn check_names(input: &Input) -> Verdict {
    let texts: Vec<String> = match serde_json::from_str(&input.0[0].text) {
        Ok(texts) => texts,
        Err(_) => return Ok(Seen::Refused.into()),
    };
    if texts.len() != TEXTS {
        return Ok(Seen::Refused.into());
    }
    let study = study(&texts)?;
    // A file of parameters must not hold what cannot be read again.
    check(&study.parameters)?;
    exports(&study)?;
    let html = page(&study).map_err(|error| format!("no page: {error}"))?;
    on_the_page(&study, &html)?;
    let html = search::page(&texts[9], &of_search(&texts));
    let html = html.map_err(|error| format!("no page of a search: {error}"))?;
    if data_of(&html)?[0]["lines"][1].as_str() != Some(&texts[10]) {
        return Err(format!("the data of a search do not say {:?}", texts[10]));
    }
    nothing_became_an_element(&html)?;
    Ok(Seen::Taken.into())
}

/// A study all of whose names are these texts.
fn study(texts: &[String]) -> Result<Study, String> {
    let mut parameters = published("raxml-qs20").map_err(|error| error.to_string())?;
    parameters.name = texts[0].clone();
    parameters.apus = 4;
    parameters.terms.t_hpu_s.source = Some(texts[1].clone());
    let Terms { t_hpu_s, t_apu_s, c_apu_s, offloads, g_s, collectives, .. } =
        parameters.terms.clone();
    let phase = |name: &String| Phase {
        name: name.clone(),
        t_hpu_s: t_hpu_s.clone(),
        t_apu_s: t_apu_s.clone(),
        c_apu_s: c_apu_s.clone(),
        offloads: offloads.clone(),
        g_s: g_s.clone(),
        collectives: collectives.clone(),
    };
    if !texts[2].is_empty() {
        parameters.phases = vec![phase(&texts[2])];
    }
    let provenance = Provenance {
        command: Some(texts[3].clone()),
        version: Some(texts[4].clone()),
        application: Some(texts[5].clone()),
        inputs: vec![InputFile::new(&Source::new(&texts[6], &texts[7]), &texts[8])],
        warnings: vec![texts[9].clone(), texts[10].clone()],
        ..Provenance::default()
    };
    let written = serde_json::to_string(&provenance).map_err(|error| error.to_string())?;
    let again = Provenance::read(&Source::new("study.json", &written));
    if let Some(wrong) = read_otherwise(again, &provenance, "study.json", &written) {
        return Err(wrong);
    }
    Ok(Study {
        title: texts[11].clone(),
        provenance,
        figures: vec![Picture { title: texts[4].clone(), svg: "<svg></svg>".into() }],
        sampling: Sampling::new(20, 1),
        ..Study::new(parameters)
    })
}

fn of_search(texts: &[String]) -> Search {
    let failed = SearchedConfiguration {
        mapping: Mapping::SEQUENTIAL,
        with: texts[9].clone(),
        believed: None,
        times: Vec::new(),
        trouble: Some(texts[10].clone()),
    };
    Search {
        sentence: texts[0].clone(),
        details: vec![texts[1].clone(), texts[2].clone()],
        names: (texts[3].clone(), texts[4].clone()),
        quantity: Quantity::Rate(texts[8].clone()),
        limit: 0.02,
        origin: vec![("Command".into(), texts[7].clone())],
        warnings: vec![texts[6].clone()],
        captured: vec![texts[8].clone()],
        pictured: texts[9].clone(),
        configurations: vec![failed],
        speed_up: None,
        attempts: vec![Row {
            order: 1,
            m: Mapping::SEQUENTIAL.m(),
            p: 1,
            with: texts[9].clone(),
            kind: texts[5].clone(),
            status: texts[6].clone(),
            number: Some(1.0),
            best: Some(texts[7].clone()),
            ..Row::default()
        }],
        absent: vec![texts[11].clone()],
    }
}

/// The data say what was put in, and nothing became an element.
fn on_the_page(study: &Study, html: &str) -> Result<(), String> {
    let data = data_of(html)?;
    let provenance = &data["provenance"];
    let known = &study.provenance;
    let expected = [
        (&data["title"], Some(&study.title)),
        (&data["parameters"]["name"], Some(&study.parameters.name)),
        (
            &data["parameters"]["phases"][0]["name"],
            study.parameters.phases.first().map(|it| &it.name),
        ),
        (
            &data["parameters"]["terms"]["t_hpu_s"]["source"],
            study.parameters.terms.t_hpu_s.source.as_ref(),
        ),
        (&provenance["command"], known.command.as_ref()),
        (&provenance["application"], known.application.as_ref()),
        (&data["warnings"][0], known.warnings.first()),
    ];
    for (found, expected) in expected {
        if found.as_str() != expected.map(String::as_str) {
            return Err(format!("the page's data say {found} instead of {expected:?}"));
        }
    }
    nothing_became_an_element(html)
}

fn nothing_became_an_element(html: &str) -> Result<(), String> {
    if html.contains("<x-evil") {
        return Err("a name became an element of the page".into());
    }
    // The page's own three: data, policy's script, and none of a name's.
    let scripts = html.matches("<script").count();
    if scripts != html.matches("</script>").count() || scripts > 3 {
        return Err(format!("scripts of the page: {scripts}"));
    }
    Ok(())
}

/// Names stay in strings and comments of programs.
fn exports(study: &Study) -> Result<(), String> {
    let mut plain = study.parameters.clone();
    plain.name = "plain".into();
    plain.terms.t_hpu_s.source = plain.terms.t_hpu_s.source.map(|_| "file.csv".into());
    plain.phases.iter_mut().for_each(|phase| phase.name = "phase".into());
    for target in [Export::CHeader, Export::Rust, Export::Python] {
        let (named, plain) = (target.write(&study.parameters), target.write(&plain));
        if named.lines().count() != plain.lines().count() {
            return Err(format!("a name ends a line of {}", target.name()));
        }
        let ends = |text: &str| text.matches("*/").count();
        if target == Export::CHeader && ends(&named) != ends(&plain) {
            return Err("a name ends a comment of C".into());
        }
    }
    Ok(())
}

/// Numbers are finite, a slowdown slows down, and every format holds the same.
pub fn check(parameters: &Parameters) -> Result<(), String> {
    numbers(parameters)?;
    let text = parameters.to_toml();
    let again = Parameters::read(&Source::new("x.toml", &text));
    if let Some(wrong) = read_otherwise(again, parameters, "x.toml", &text) {
        return Err(wrong);
    }
    let text = Export::Json.write(parameters);
    let read = serde_json::from_str::<serde_json::Value>(&text);
    read.map_err(|error| format!("no JSON is written: {error}: {text:?}"))?;
    for &target in Export::ALL {
        let text = target.write(parameters);
        if !text.ends_with('\n') {
            return Err(format!("{} does not end its last line", target.name()));
        }
        // What a model of StarPU does not know is `nan` there.
        if target != Export::StarPu {
            no_odd_numbers(&text, target.name())?;
        }
    }
    Ok(())
}

fn numbers(parameters: &Parameters) -> Result<(), String> {
    let terms = &parameters.terms;
    for entry in terms.entries() {
        let name = terms.name_of(entry);
        let Some(estimate) = terms.estimate(entry) else {
            return Err(format!("no estimate of an entry: {name}"));
        };
        let least = if entry.term == Term::Alpha { 1.0 } else { 0.0 };
        let numbers = [Some(estimate.value), estimate.std_error, estimate.degrees_of_freedom];
        let is_sound = estimate.value >= least && numbers.iter().flatten().all(|it| it.is_finite());
        let interval = estimate.interval();
        let holds = interval.is_none_or(|(low, high)| {
            low <= estimate.value && estimate.value <= high && high.is_finite()
        });
        if !(is_sound && holds) {
            return Err(format!("a term that is no number: {name}: {estimate:?}, {interval:?}"));
        }
    }
    for (m, p) in [(1, 1), (2, 1), (1, 2), (4, 4), (16, 1), (100, 3)] {
        let mapping = Mapping::of(m, p);
        let (time, refined) = (parameters.time(mapping).0, parameters.refined_time(mapping).0);
        let error = parameters.propagated(&parameters.gradient(mapping)).value;
        if ![time, refined, error].iter().all(|it| it.is_finite() && *it >= 0.0) {
            return Err(format!("a time that is none: {mapping}: {time}, {refined} +- {error}"));
        }
    }
    Ok(())
}

/// Words of a text that a number becomes where it is none.
pub fn no_odd_numbers(text: &str, of: &str) -> Result<(), String> {
    let is_odd = |word: &&str| {
        let word = word.trim_start_matches(['+', '-']);
        ["inf", "NaN", "nan", "Infinity", "inff64", "NaNf64"].contains(&word)
    };
    let ends = [' ', '\n', ',', ';', '(', ')', '=', '"', '{', '}', '[', ']', '|', '&', ':'];
    let Some(word) = text.split(ends).find(is_odd) else { return Ok(()) };
    let at = text.find(word).unwrap_or(0);
    let from = text.floor_char_boundary(at.saturating_sub(100));
    let to = text.ceil_char_boundary((at + 50).min(text.len()));
    Err(format!("no number in {of}: {:?}", &text[from..to]))
}

/// The page holds its data as JSON that can be read, without anything that is no number.
pub fn check_page(parameters: &Parameters) -> Result<(), String> {
    let study = Study { sampling: Sampling::new(100, 1), ..Study::new(parameters.clone()) };
    let html = match page(&study) {
        Ok(html) => html,
        // All that was timed asks for more APUs than the user says there are.
        Err(Error::NothingFeasible { .. }) => return Ok(()),
        Err(error) => return Err(format!("no page of what was fitted: {error}")),
    };
    let data = data_of(&html)?;
    // serde_json writes what is no number as null.
    let columns = &data["configurations"];
    for name in ["time_s", "low_s", "high_s", "speedup", "expected_regret_s", "regret_95_s"] {
        let column = columns[name].as_array().ok_or_else(|| format!("no column {name}"))?;
        if let Some(place) = column.iter().position(|it| !it.is_number()) {
            let (m, p) = (&columns["m"][place], &columns["p"][place]);
            return Err(format!("no number in the page's column {name}: at ({m}, {p})"));
        }
    }
    Ok(())
}

/// What a page tells its script.
pub fn data_of(html: &str) -> Result<serde_json::Value, String> {
    let begin = "<script type=\"application/json\" id=\"data\">";
    let (_, rest) = html.split_once(begin).ok_or("no data in the page")?;
    let (data, _) = rest.split_once("</script>").ok_or("no end of the data in the page")?;
    serde_json::from_str(data).map_err(|error| format!("the page's data are no JSON: {error}"))
}
