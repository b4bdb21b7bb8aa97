mod schedulers;
mod sizes;
mod texts;

use super::benchmarks::{FitPoint, Scale};
use super::scene::{Bounds, Item, text_bounds};
use super::*;
use crate::models::parameters::published;
use crate::table::Source;
use crate::table::records::{Maybe, Prediction, Validation};
use crate::table::trace::{Span, Track};
use crate::units::Seconds;

fn row(m: u32, p: u32, measured_s: f64, predicted_s: f64) -> Validation {
    let error_percent = 100.0 * (predicted_s - measured_s) / measured_s;
    let refined_s = Maybe::default();
    Validation { m, p, measured_s, predicted_s, error_percent, refined_s }
}

/// Every (m, p) of so many APUs: predicted by equation 11 with parameters like those of PBPI on a
/// QS20, measured as predicted but for an error of a few percent that has no pattern; the refined
/// model errs by half as much.
fn study(apus: u32) -> Vec<Validation> {
    let mut rows = Vec::new();
    for m in 1..=apus {
        for p in 1..=apus / m {
            let alpha = if m == 1 { 1.0 } else { 1.28 };
            let o_col = 20_000.0 * 16e-6 * f64::from(m - 1).powf(1.4);
            let predicted_s =
                alpha * 1.3 + 370.0 / f64::from(m * p) + 1.72 + o_col + 0.8 * f64::from(p);
            let percent = f64::from((m * 37 + p * 61) % 13) - 6.0;
            let measured_s = predicted_s / (1.0 + percent / 100.0);
            let refined_s = Maybe(Some(measured_s * (1.0 + percent / 200.0)));
            rows.push(Validation { refined_s, ..row(m, p, measured_s, predicted_s) });
        }
    }
    rows
}

/// All times of a study, multiplied.
fn scaled(apus: u32, factor: f64) -> Vec<Validation> {
    let scale = |one: &Validation| Validation {
        refined_s: Maybe(one.refined_s.0.map(|time| time * factor)),
        ..row(one.m, one.p, one.measured_s * factor, one.predicted_s * factor)
    };
    study(apus).iter().map(scale).collect()
}

/// Predictions of the same configurations, with intervals of so many percent to either side.
fn predictions(rows: &[Validation], percent: f64) -> Vec<Prediction> {
    let prediction = |row: &Validation| Prediction {
        rank: 1,
        m: row.m,
        p: row.p,
        time_s: row.predicted_s,
        low_s: row.predicted_s * (1.0 - percent / 100.0),
        high_s: row.predicted_s * (1.0 + percent / 100.0),
        probability_best: Maybe(Some(0.0)),
        measured_s: Maybe(None),
        beyond: 0,
        speedup: 1.0,
        efficiency: 1.0,
        expected_regret_s: 0.0,
        regret_95_s: 0.0,
        indistinguishable: u32::from(row.p / 2 == row.m || row.m == 3),
    };
    rows.iter().map(prediction).collect()
}

/// A split in which every part takes a sixth.
fn splits(rows: &[Validation]) -> Vec<Split> {
    let split = |row: &Validation| {
        let part = row.measured_s / 6.0;
        Split {
            m: row.m,
            p: row.p,
            time_s: row.measured_s,
            host_s: part,
            start_s: part,
            apu_shared_s: part,
            apu_serial_s: part,
            wait_s: part,
            idle_s: part,
        }
    };
    rows.iter().map(split).collect()
}

/// Rows beside predictions, of which a map has the standings.
fn compared(rows: &[Validation], predictions: &[Prediction]) -> Times {
    let mut times = Times::of_validation(rows, predictions).expect("counts above 0");
    if !predictions.is_empty() {
        times.predicted = Times::of_predictions(predictions).expect("counts above 0").predicted;
    }
    times
}

/// The pictures that are drawn of times, each with its name.
fn pictures<'a>(
    times: &'a Times,
    (parameters, splits): (&'a Parameters, &'a [Split]),
) -> Vec<(&'static str, Kind<'a>)> {
    vec![
        ("m", Kind::AgainstM(times)),
        ("p", Kind::AgainstP(times)),
        ("all", Kind::OverAll(times)),
        ("combined", Kind::Combined(times)),
        ("parity", Kind::Parity(times)),
        ("residuals", Kind::Residuals(times)),
        ("heat map", Kind::HeatMap(times)),
        ("measured heat map", Kind::MeasuredHeatMap(times)),
        ("breakdown", Kind::Breakdown { parameters, splits }),
    ]
}

fn panel(title: &str, scale: Scale, factor: f64) -> Panel {
    let point = |x: f64| FitPoint { x, y: x * factor, interval: Some((0.0, x * factor * 2.0)) };
    Panel {
        title: title.into(),
        x_label: "what stands below".into(),
        y_label: "what stands beside [unit]".into(),
        x_scale: scale,
        y_scale: scale,
        points: [1.0, 2.0, 16.0].map(|x| [x, x * factor]).to_vec(),
        fit: [1.0, 16.0].map(point).to_vec(),
        fit_label: title.into(),
    }
}

fn trace(names: &str, factor: f64) -> Trace {
    let spans = |track: usize| {
        let span = |index: usize| {
            let start_s = factor * (index as f64 + 0.1 * track as f64);
            Span { start_s, end_s: start_s + 0.5 * factor, category: (index % 4) as u8 }
        };
        (0..40).map(span).collect()
    };
    let track = |index| Track { name: format!("{names} {index}"), spans: spans(index) };
    let categories = ["offload", "kernel", "dma", "<something> & else"].map(String::from).to_vec();
    Trace { tracks: (0..20).map(track).collect(), categories }
}

#[test]
fn a_window_outside_the_run_is_an_error() {
    let trace = trace("SPE", 1.0);
    let error = |from_s, to_s| {
        let kind = Kind::Gantt { trace: &trace, window: Window { from_s, to_s } };
        draw(&Picture { title: "", kind }, Format::Svg).expect_err("no picture").to_string()
    };
    assert!(error(Some(5.0), Some(4.0)).contains("found 5 s to 4 s"));
    assert!(error(Some(1e9), None).contains("in the run from 0 s to "));
    assert!(error(Some(f64::NAN), None).starts_with("window: "));
}

fn words(scene: &Scene) -> Vec<&str> {
    let texts = scene.items.iter().filter_map(|item| match item {
        Item::Text { words, .. } => Some(words.as_str()),
        _ => None,
    });
    texts.collect()
}

fn check_words(kind: Kind<'_>, expected: &[&str]) {
    let scene = scene(&Picture { title: "a title", kind }).expect("a picture");
    let words = words(&scene);
    for wanted in expected {
        assert!(words.contains(wanted), "{wanted} is not in {words:?}");
    }
}

#[test]
fn every_picture_names_its_axes_with_units_and_its_series() {
    let rows = scaled(16, 1e-3);
    let predictions = predictions(&rows, 1.0);
    let parameters = published("pbpi-qs20").expect("it is published");
    let splits = splits(&rows);
    let series = [
        "a title",
        "measured",
        "predicted by equation 11",
        "predicted by the refined model",
        "95 % interval of equation 11",
    ];
    let expected: [&[&str]; 9] = [
        &["host threads m", "time [ms]"],
        &["APUs for the host thread p", "time [ms]"],
        &["APUs p for each host thread, grouped by host threads m", "time [ms]"],
        &["host threads m", "APUs for the host thread p"],
        &["measured time [ms]", "predicted time [ms]"],
        &["error of the prediction [%]", "APUs in use m × p"],
        &["predicted time [ms]", "cannot be told from it"],
        &["measured time [ms]", "host threads m"],
        &["part of the measured time [%]", "starting and collecting APUs"],
    ];
    let times = compared(&rows, &predictions);
    let pictures = pictures(&times, (&parameters, &splits));
    for ((name, kind), expected) in pictures.into_iter().zip(expected) {
        check_words(kind, expected);
        if ["m", "p", "all", "combined"].contains(&name) {
            check_words(kind, &series);
        }
    }
}

#[test]
fn the_best_configurations_are_named_with_their_times() {
    let rows = [row(1, 1, 4e-3, 4e-3), row(1, 2, 3e-3, 2.5e-3), row(2, 1, 1.5e-3, 2.75e-3)];
    let times = compared(&rows, &[]);
    let expected = ["measured best (2, 1) 1.500 ms", "predicted best (1, 2) 2.500 ms"];
    check_words(Kind::OverAll(&times), &expected);
    check_words(Kind::MeasuredHeatMap(&times), &["fastest: (2, 1) with 1.500 ms"]);
}

#[test]
fn parity_names_the_mean_error_and_the_worst_of_each_model() {
    // Errors of +10 % and -30 %; the refined model is right but for -4 %.
    let refined = |row: Validation, time| Validation { refined_s: Maybe(Some(time)), ..row };
    let rows = [refined(row(1, 1, 10.0, 11.0), 10.0), refined(row(1, 2, 5.0, 3.5), 4.8)];
    let times = compared(&rows, &[]);
    check_words(
        Kind::Parity(&times),
        &[
            "predicted by equation 11, mean error 20.0 %",
            "predicted by the refined model, mean error 2.0 %",
            "(1, 2) −30.0 %",
            "(1, 2) −4.0 %",
        ],
    );
}

/// The centres of the dots below the legend, and the vertices of the longest line.
fn marks(rows: &[Validation]) -> (Vec<[f64; 2]>, Vec<[f64; 2]>) {
    let times = compared(rows, &[]);
    let kind = Kind::AgainstP(&times);
    let scene = scene(&Picture { title: "", kind }).expect("a picture");
    let dot = |item: &Item| match item {
        Item::Circle { center, .. } => Some(*center),
        _ => None,
    };
    let line = |item: &Item| match item {
        Item::Line { path, stroke } if stroke.color == style::PREDICTED => Some(path.clone()),
        _ => None,
    };
    let vertices = scene.items.iter().filter_map(line).next_back().expect("a line");
    (scene.items.iter().filter_map(dot).skip(1).collect(), vertices)
}

#[test]
fn more_time_is_further_up_by_its_logarithm() {
    let rows = [row(1, 1, 1.0, 1.0), row(1, 2, 10.0, 1.0), row(1, 4, 100.0, 1.0)];
    let (dots, _) = marks(&rows);
    let [[_, low], [_, middle], [_, high]] = dots[..] else { panic!("{dots:?} are not three") };
    assert!(low > middle, "y counts downwards");
    approx::assert_relative_eq!(low - middle, middle - high, epsilon = 0.03);
}

#[test]
fn a_perfect_prediction_runs_through_the_measured_dots() {
    let rows = [row(1, 1, 9.0, 9.0), row(1, 2, 5.0, 5.0), row(1, 4, 2.0, 2.0)];
    let (dots, vertices) = marks(&rows);
    assert_eq!(dots, vertices);
}

#[test]
fn a_prediction_that_is_too_long_runs_above_the_measured_dots() {
    let rows = [row(1, 1, 9.0, 10.0), row(1, 2, 5.0, 6.0)];
    let (dots, vertices) = marks(&rows);
    assert_eq!(dots.len(), 2);
    assert!(dots.iter().zip(&vertices).all(|(dot, vertex)| vertex[1] < dot[1]));
}

#[test]
fn bars_of_the_measured_split_end_at_a_hundred_percent() {
    let parameters = published("pbpi-qs20").expect("it is published");
    let splits = splits(&[row(1, 1, 2.0, 2.0)]);
    let kind = Kind::Breakdown { parameters: &parameters, splits: &splits };
    let scene = scene(&Picture { title: "", kind }).expect("a picture");
    let mut areas = scene.items.iter().filter_map(|item| match item {
        Item::Rectangle { bounds, fill } if *fill == style::GREY => Some(bounds.top),
        _ => None,
    });
    let mut whole = scene.items.iter().filter_map(|item| match item {
        Item::Line { path, stroke } if stroke.width == 0.8 && stroke.color == style::INK => {
            Some(path[0][1])
        }
        _ => None,
    });
    // The last grey area is the last part of the bar; the last line of that width is at 100 %.
    let (top, whole) = (areas.next_back().expect("a bar"), whole.next_back().expect("a line"));
    approx::assert_relative_eq!(top, whole, epsilon = 0.03);
}

#[cfg(feature = "png")]
#[test]
fn a_png_has_two_pixels_for_each_unit_and_all_colours() {
    let rows = study(16);
    let times = compared(&rows, &[]);
    let kind = Kind::AgainstM(&times);
    let bytes = draw(&Picture { title: "", kind }, Format::Png).expect("a picture");
    let scene = scene(&Picture { title: "", kind }).expect("a picture");
    let mut reader = ::png::Decoder::new(&bytes[..]).read_info().expect("a PNG");
    let mut pixels = vec![0; reader.output_buffer_size()];
    let info = reader.next_frame(&mut pixels).expect("one picture");
    let expected = (2 * scene.width as u32, 2 * scene.height as u32);
    assert_eq!((info.width, info.height), expected);
    let count = |color: scene::Color| {
        pixels.chunks(3).filter(|pixel| **pixel == [color.0, color.1, color.2]).count()
    };
    assert!(count(style::MEASURED) > 16 * 20, "measured dots are missing");
    assert!(count(style::PREDICTED) > 16 * 20, "the predicted line is missing");
    assert!(count(style::REFINED) > 16 * 20, "the refined line is missing");
    assert!(count(style::WHITE) > pixels.len() / 3 / 2, "the ground is not white");
}

#[test]
fn the_same_figure_gives_the_same_bytes_in_any_order_of_its_rows() {
    let rows = study(8);
    let reversed: Vec<Validation> = rows.iter().rev().cloned().collect();
    for &format in Format::ALL {
        let picture = |rows: &[Validation]| {
            let times = compared(rows, &[]);
            let kind = Kind::Combined(&times);
            draw(&Picture { title: "", kind }, format).expect("a picture")
        };
        assert!(picture(&rows) == picture(&reversed), "{format:?}");
    }
}

/// The texts of an SVG as a reader of XML sees them.
fn texts_of_svg(title: &str) -> Vec<String> {
    let nothing = compared(&[], &[]);
    let kind = Kind::MeasuredHeatMap(&nothing);
    assert!(draw(&Picture { title, kind }, Format::Svg).is_err());
    let rows = study(4);
    let times = compared(&rows, &[]);
    let kind = Kind::AgainstM(&times);
    let bytes = draw(&Picture { title, kind }, Format::Svg).expect("a picture");
    let svg = String::from_utf8(bytes).expect("an SVG is text");
    let document = roxmltree::Document::parse(&svg).expect("well-formed XML");
    let texts = document.descendants().filter(|node| node.has_tag_name("text"));
    texts.map(|node| node.text().unwrap_or_default().to_string()).collect()
}

#[test]
fn a_title_is_text_whatever_it_holds() {
    for title in ["<script>alert(1)</script>", "a \" b ' c & d &amp; ]]>", "µ × – … ≤ →", "日本"]
    {
        assert_eq!(texts_of_svg(title)[0], title);
    }
}

#[test]
fn letters_that_xml_forbids_are_replaced() {
    assert_eq!(texts_of_svg("a\u{0}b\u{1b}c\nd\u{ffff}e")[0], "a b c d\u{fffd}e");
}

#[test]
fn a_long_title_is_cut_where_the_picture_ends() {
    let title = texts_of_svg(&"word ".repeat(10_000)).remove(0);
    assert!(title.starts_with("word word") && title.ends_with('…'), "{title}");
}

fn check_error(kind: Kind<'_>, expected: &str) {
    let error = draw(&Picture { title: "", kind }, Format::Svg).expect_err("not a picture");
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_picture_of_nothing_is_an_error() {
    let advice = "measure or predict at least one such configuration";
    let rows = [row(2, 2, 1.0, 1.0)];
    let nothing = compared(&[], &[]);
    let times = compared(&rows, &[]);
    let error =
        |condition| format!("predicted and measured times: no configuration {condition}; {advice}");
    check_error(Kind::AgainstM(&times), &error("with p = 1"));
    check_error(Kind::AgainstP(&times), &error("with m = 1"));
    check_error(Kind::Combined(&nothing), &error("at all"));
    assert!(draw(&Picture { title: "", kind: Kind::Benchmarks(&[]) }, Format::Svg).is_err());
    assert!(draw(&Picture { title: "", kind: Kind::HeatMap(&nothing) }, Format::Svg).is_err());
}

#[test]
fn a_time_that_no_run_can_take_is_an_error() {
    for time in [-1.0, f64::NAN, f64::INFINITY, 1e16] {
        let expected = format!("found {time}, expected a time from 0 to 1e15 s");
        for (row, name) in
            [(row(1, 1, time, 1.0), "measured_s"), (row(1, 1, 1.0, time), "predicted_s")]
        {
            let times = compared(&[row], &[]);
            check_error(Kind::OverAll(&times), &format!("{name}: {expected}"));
            check_error(Kind::Residuals(&times), &format!("{name}: {expected}"));
        }
    }
}

#[cfg(feature = "png")]
#[test]
fn the_ending_of_a_name_chooses_the_format() {
    let format = |name| Format::from_path(Path::new(name));
    assert_eq!(format("a/b.svg").expect("an SVG"), Format::Svg);
    assert_eq!(format("b.PNG").expect("a PNG"), Format::Png);
    let error = format("b.jpg").expect_err("not a format");
    assert_eq!(error.to_string(), "there is no picture format \"jpg\"; known: svg, png");
    assert!(format("svg").is_err());
}

#[test]
fn a_trace_that_is_read_is_drawn() {
    let text = r#"[{"ph":"X","pid":1,"tid":2,"ts":0,"dur":5,"name":"a","cat":"kernel"}]"#;
    let trace = Trace::read(&Source::new("run.json", text)).expect("a trace");
    let kind = Kind::Gantt { trace: &trace, window: Window::default() };
    let scene = scene(&Picture { title: "", kind }).expect("a picture");
    let is_kernel = |item: &&Item| matches!(item, Item::Rectangle { bounds, fill } if *fill == style::GREEN && bounds.width() > 900.0);
    assert_eq!(scene.items.iter().filter(is_kernel).count(), 1);
    check_words(kind, &["thread 2", "time since the start [µs]", "kernel"]);
}
