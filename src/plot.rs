//! Pictures of predicted beside measured times, and of emulated beside published figures.
//!
//! Of times there are three panels, after the figures of the MMGP paper (Blagojevic et al., HiPEAC
//! 2008): time against m, time against p, and all feasible configurations together. A picture is
//! drawn in memory; whoever asks for it writes the file.

mod axis;
pub mod benchmarks;
mod best;
mod canvas;
mod curve;
mod frame;
mod machine;
mod over_all;
mod style;
mod unit;

use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::{DrawingArea, DrawingAreaErrorKind, DrawingBackend};

use crate::error::{Error, Result};
use crate::table::records::Validation;
use canvas::px;

pub use machine::draw_machine;

/// What to draw.
#[derive(Debug, Clone, Copy)]
pub struct Figure<'a> {
    /// Stands above the picture: the application and the machine. Any text; it is escaped, and
    /// shortened where it is too long.
    pub title: &'a str,
    /// The rows of a `validation.csv` in any order, each (m, p) at most once.
    pub rows: &'a [Validation],
    /// Which of the pictures.
    pub kind: Kind,
}

/// The pictures that can be drawn of a validation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Time against m, one APU for each host thread: p = 1.
    AgainstM,
    /// Time against p, one host thread: m = 1.
    AgainstP,
    /// Time at every (m, p), grouped by m, with the best measured and the best predicted marked.
    OverAll,
    /// The three others on one page.
    Combined,
}

/// The format of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Scalable Vector Graphics, as UTF-8 text.
    Svg,
    /// Portable Network Graphics, at two pixels for each unit of the SVG's size.
    Png,
}

impl Format {
    /// Chooses by the ending of a file's name, `.svg` or `.png` in small or capital letters.
    pub fn from_path(path: &Path) -> Result<Self> {
        let ending = path.extension().unwrap_or_default().to_string_lossy();
        match ending.to_lowercase().as_str() {
            "svg" => Ok(Self::Svg),
            "png" => Ok(Self::Png),
            _ => Err(Error::UnknownName {
                kind: "picture format",
                name: ending.into_owned(),
                known: vec!["svg".into(), "png".into()],
            }),
        }
    }
}

/// Times beyond this are refused \[s\]: thirty million years.
const LONGEST_S: f64 = 1e15;

/// Draws a figure: the content of a file of that format, the same bytes for the same figure.
///
/// # Errors
/// [`Error::TooLittleData`] where the picture would show no configuration,
/// [`Error::OutOfRange`] for a time that is negative, beyond 10^15 s or not a number, and
/// [`Error::Plot`] where the drawing itself fails.
pub fn draw(figure: &Figure<'_>, format: Format) -> Result<Vec<u8>> {
    let points = points(figure.rows)?;
    if !points.iter().any(|point| figure.kind.shows(point)) {
        return Err(Error::TooLittleData {
            file: "validation.csv".into(),
            found: format!("no configuration {}", figure.kind.condition()),
            advice: "validate at least one such configuration".into(),
        });
    }
    let page = Page { title: figure.title, points: &points, kind: figure.kind };
    canvas::render(&page, format)
}

/// A configuration with its two times \[s\].
#[derive(Debug, Clone, Copy, PartialEq)]
struct Point {
    m: u32,
    p: u32,
    measured: f64,
    predicted: f64,
}

/// The rows by m and, for each m, by p.
fn points(rows: &[Validation]) -> Result<Vec<Point>> {
    let time = |name, value: f64| {
        if (0.0..=LONGEST_S).contains(&value) {
            Ok(value)
        } else {
            Err(Error::OutOfRange {
                name,
                found: value.to_string(),
                expected: format!("a time from 0 to {LONGEST_S:e} s"),
            })
        }
    };
    let mut points = Vec::with_capacity(rows.len());
    for row in rows {
        let measured = time("measured_s", row.measured_s)?;
        let predicted = time("predicted_s", row.predicted_s)?;
        points.push(Point { m: row.m, p: row.p, measured, predicted });
    }
    points.sort_by_key(|point| (point.m, point.p));
    Ok(points)
}

impl Kind {
    /// Whether the picture has a place for this configuration.
    fn shows(self, point: &Point) -> bool {
        match self {
            Self::AgainstM => point.p == 1,
            Self::AgainstP => point.m == 1,
            Self::OverAll | Self::Combined => true,
        }
    }

    /// Which configurations it shows, as words after "configuration".
    fn condition(self) -> &'static str {
        match self {
            Self::AgainstM => "with p = 1",
            Self::AgainstP => "with m = 1",
            Self::OverAll | Self::Combined => "at all",
        }
    }
}

type Area<DB> = DrawingArea<DB, Shift>;

/// What drawing on a backend gives.
type Drawn<DB> = std::result::Result<(), DrawingAreaErrorKind<<DB as DrawingBackend>::ErrorType>>;

/// What can be drawn on either format.
trait Picture {
    /// Width and height in units of the SVG.
    fn size(&self) -> (u32, u32);

    /// Draws everything.
    fn draw<DB: DrawingBackend>(&self, area: &Area<DB>) -> Drawn<DB>;
}

/// A checked figure that knows its size and its layout.
struct Page<'a> {
    title: &'a str,
    points: &'a [Point],
    kind: Kind,
}

impl Picture for Page<'_> {
    fn size(&self) -> (u32, u32) {
        match self.kind {
            Kind::AgainstM | Kind::AgainstP => (640, 460),
            Kind::OverAll => (1200, 560),
            Kind::Combined => (1200, 960),
        }
    }

    /// Draws title, legend and panels.
    fn draw<DB: DrawingBackend>(&self, area: &Area<DB>) -> Drawn<DB> {
        let (head, body) = area.split_vertically(px(76));
        style::title(&head, self.title)?;
        style::legend(&head)?;
        match self.kind {
            Kind::AgainstM => curve::against_m(&body, self.points, ""),
            Kind::AgainstP => curve::against_p(&body, self.points, ""),
            Kind::OverAll => over_all::draw(&body, self.points, ""),
            Kind::Combined => {
                let (top, bottom) = body.split_vertically(px(390));
                let (left, right) = top.split_horizontally(px(600));
                curve::against_m(&left, self.points, "(a) ")?;
                curve::against_p(&right, self.points, "(b) ")?;
                over_all::draw(&bottom, self.points, "(c) ")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::records::MaybeSeconds;

    /// Every (m, p) of so many APUs: predicted by equation 11 with parameters like those of PBPI on a
    /// QS20, measured as predicted but for an error of a few percent that has no pattern.
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
                rows.push(Validation {
                    error_percent: percent,
                    ..row(m, p, measured_s, predicted_s)
                });
            }
        }
        rows
    }

    const KINDS: [Kind; 4] = [Kind::AgainstM, Kind::AgainstP, Kind::OverAll, Kind::Combined];

    fn row(m: u32, p: u32, measured_s: f64, predicted_s: f64) -> Validation {
        let error_percent = 100.0 * (predicted_s - measured_s) / measured_s;
        let refined_s = MaybeSeconds::default();
        Validation { m, p, measured_s, predicted_s, error_percent, refined_s }
    }

    /// All times of a study, multiplied.
    fn scaled(apus: u32, factor: f64) -> Vec<Validation> {
        let times = |one: &Validation| (one.measured_s * factor, one.predicted_s * factor);
        study(apus).iter().map(|one| row(one.m, one.p, times(one).0, times(one).1)).collect()
    }

    fn svg(title: &str, rows: &[Validation], kind: Kind) -> String {
        let bytes = draw(&Figure { title, rows, kind }, Format::Svg).expect("a picture");
        String::from_utf8(bytes).expect("an SVG is text")
    }

    /// Every text of a picture with its box: left, top, right, bottom in plotters' pixels.
    fn texts(svg: &str) -> Vec<(String, [f64; 4])> {
        let document = roxmltree::Document::parse(svg).expect("well-formed XML");
        let nodes = document.descendants().filter(|node| node.has_tag_name("text"));
        nodes
            .map(|node| {
                let number = |name| node.attribute(name).expect(name).parse::<f64>().expect(name);
                let words = node.text().unwrap_or_default().trim().to_string();
                let size = number("font-size");
                let style = style::text((size / f64::from(px(1))).round() as i32, style::INK);
                let width = f64::from(style::width(&style, &words));
                let start = match node.attribute("text-anchor") {
                    Some("start") => 0.0,
                    Some("middle") => -width / 2.0,
                    _ => -width,
                };
                // From the baseline up to the top of a capital letter.
                let baseline = match node.attribute("dy") {
                    Some("0.76em") => 0.76 * size,
                    Some("0.5ex") => 0.27 * size,
                    _ => -0.27 * size,
                };
                let across = [start, start + width];
                let down = [baseline - 0.73 * size, baseline];
                let (x, y) = (number("x"), number("y"));
                let place = match node.attribute("transform") {
                    None => [x + across[0], y + down[0], x + across[1], y + down[1]],
                    Some(turned) if turned.contains("270") => {
                        [x + down[0], y - across[1], x + down[1], y - across[0]]
                    }
                    Some(other) => panic!("text turned by {other}"),
                };
                (words, place)
            })
            .collect()
    }

    fn words(svg: &str) -> Vec<String> {
        texts(svg).into_iter().map(|(words, _)| words).collect()
    }

    fn check_words(rows: &[Validation], kind: Kind, expected: &[&str]) {
        let words = words(&svg("a title", rows, kind));
        for wanted in expected {
            assert!(words.iter().any(|found| found == wanted), "{wanted} is not in {words:?}");
        }
    }

    #[test]
    fn every_picture_names_its_axes_and_both_series() {
        for (kind, x_title) in [
            (Kind::AgainstM, "host threads m"),
            (Kind::AgainstP, "APUs for the host thread p"),
            (Kind::OverAll, "APUs p for each host thread, grouped by host threads m"),
        ] {
            let rows = scaled(16, 1e-3);
            let expected = [
                "a title",
                x_title,
                "time [ms]",
                "measured",
                "predicted by the model (equation 11)",
            ];
            check_words(&rows, kind, &expected);
            check_words(&rows, Kind::Combined, &expected);
        }
    }

    #[test]
    fn the_best_configurations_are_named_with_their_times() {
        let rows = [row(1, 1, 4e-3, 4e-3), row(1, 2, 3e-3, 2.5e-3), row(2, 1, 1.5e-3, 2.75e-3)];
        let expected = ["measured best (2, 1) 1.500 ms", "predicted best (1, 2) 2.500 ms"];
        check_words(&rows, Kind::OverAll, &expected);
        check_words(&rows, Kind::Combined, &expected);
    }

    /// The centres of the measured dots, the vertices of the predicted line, in order of p.
    fn marks(rows: &[Validation]) -> (Vec<[f64; 2]>, Vec<[f64; 2]>) {
        let svg = svg("", rows, Kind::AgainstP);
        let document = roxmltree::Document::parse(&svg).expect("well-formed XML");
        let number = |text: &str| text.parse::<f64>().expect("a number");
        let dots = document.descendants().filter(|node| node.has_tag_name("circle"));
        let dots =
            dots.map(|dot| ["cx", "cy"].map(|name| number(dot.attribute(name).expect(name))));
        let mut lines = document.descendants().filter(|node| node.has_tag_name("polyline"));
        let line = lines.next_back().and_then(|line| line.attribute("points")).expect("a line");
        let vertices = line.split_whitespace().map(|vertex| {
            let (x, y) = vertex.split_once(',').expect("two numbers");
            [number(x), number(y)]
        });
        // The first dot is the legend's.
        (dots.skip(1).collect(), vertices.collect())
    }

    #[test]
    fn more_time_is_further_up_by_its_logarithm() {
        let rows = [row(1, 1, 1.0, 1.0), row(1, 2, 10.0, 1.0), row(1, 4, 100.0, 1.0)];
        let (dots, _) = marks(&rows);
        let [[_, low], [_, middle], [_, high]] = dots[..] else { panic!("{dots:?} are not three") };
        assert!(low > middle, "y counts downwards");
        assert!(((low - middle) - (middle - high)).abs() <= 1.0, "{dots:?}");
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

    /// Studies that leave little to draw, or much, or draw it at the ends of the scales.
    fn extremes() -> Vec<(&'static str, Vec<Validation>)> {
        let one_m = study(16).into_iter().filter(|row| row.m == 1).collect();
        let identical = study(16).iter().map(|one| row(one.m, one.p, 0.3, 0.3)).collect();
        let zero = study(16).iter().map(|one| row(one.m, one.p, 0.0, 0.0)).collect();
        let powers = (0..11).map(|k| row(1 << k, 1, 1.0, 1.0)).collect();
        let mut apart = study(16);
        apart[0].predicted_s = 15.0;
        apart[49].measured_s = 20.0;
        vec![
            ("a usual one", study(16)),
            ("one row", vec![row(1, 1, 2.0, 2.1)]),
            ("one row in neither curve", vec![row(4, 6, 2.0, 2.1)]),
            ("one m", one_m),
            ("identical times", identical),
            ("no time at all", zero),
            ("two hundred configurations", study(50)),
            ("a thousand", study(180)),
            ("nanoseconds", scaled(16, 1e-9 / 30.0)),
            ("megaseconds", scaled(16, 1e6 / 30.0)),
            ("all magnitudes", vec![row(1, 1, 1e-9, 1e6), row(1, 2, 5e-324, 1e15)]),
            ("powers of two", powers),
            (
                "large counts",
                vec![
                    row(1, 1, 1.0, 2.0),
                    row(u32::MAX, u32::MAX, 1.0, 2.0),
                    row(u32::MAX, 1, 1.0, 1.0),
                ],
            ),
            ("best ones at opposite edges", apart),
        ]
    }

    #[test]
    fn no_text_leaves_the_picture_or_overlaps_another() {
        for (name, rows) in extremes() {
            for kind in KINDS
                .into_iter()
                .filter(|kind| points(&rows).expect("valid").iter().any(|point| kind.shows(point)))
            {
                let page = Page { title: "", points: &[], kind };
                let (width, height) = page.size();
                let limits = [f64::from(px(width as i32)), f64::from(px(height as i32))];
                let texts = texts(&svg(&"long title ".repeat(30), &rows, kind));
                for (index, (words, [left, top, right, bottom])) in texts.iter().enumerate() {
                    let is_inside =
                        *left >= 0.0 && *top >= 0.0 && *right <= limits[0] && *bottom <= limits[1];
                    assert!(is_inside, "{name}, {kind:?}: {words:?} is cut");
                    for (others, other) in &texts[..index] {
                        let is_apart = *left >= other[2]
                            || *right <= other[0]
                            || *top >= other[3]
                            || *bottom <= other[1];
                        assert!(is_apart, "{name}, {kind:?}: {words:?} overlaps {others:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_png_has_two_pixels_for_each_unit_and_both_colours() {
        let figure = Figure { title: "", rows: &study(16), kind: Kind::AgainstM };
        let bytes = draw(&figure, Format::Png).expect("a picture");
        let mut reader = png::Decoder::new(&bytes[..]).read_info().expect("a PNG");
        let mut pixels = vec![0; reader.output_buffer_size()];
        let info = reader.next_frame(&mut pixels).expect("one picture");
        assert_eq!((info.width, info.height), (2 * 640, 2 * 460));
        let count = |color: plotters::style::RGBColor| {
            pixels.chunks(3).filter(|pixel| **pixel == [color.0, color.1, color.2]).count()
        };
        assert!(count(style::MEASURED) > 16 * 20, "measured dots are missing");
        assert!(count(style::PREDICTED) > 16 * 20, "the predicted line is missing");
        assert!(count(plotters::style::WHITE) > pixels.len() / 3 / 2, "the ground is not white");
    }

    #[test]
    fn an_svg_is_shown_smaller_than_its_coordinates() {
        let svg = svg("", &study(4), Kind::AgainstM);
        assert!(svg.starts_with(r#"<svg width="640" height="460" viewBox="0 0 2560 1840""#));
    }

    #[test]
    fn the_same_figure_gives_the_same_bytes_in_any_order_of_its_rows() {
        let rows = study(8);
        let reversed: Vec<Validation> = rows.iter().rev().cloned().collect();
        for format in [Format::Svg, Format::Png] {
            let picture = |rows: &[Validation]| {
                draw(&Figure { title: "", rows, kind: Kind::Combined }, format).expect("a picture")
            };
            assert!(picture(&rows) == picture(&reversed), "{format:?}");
        }
    }

    #[test]
    fn a_title_is_text_whatever_it_holds() {
        for title in
            ["<script>alert(1)</script>", "a \" b ' c & d &amp; ]]>", "µ × – … ≤ →", "日本"]
        {
            assert_eq!(words(&svg(title, &study(4), Kind::AgainstM))[0], title);
        }
    }

    #[test]
    fn letters_that_xml_forbids_are_replaced() {
        let title = "a\u{0}b\u{1b}c\nd\u{ffff}e";
        assert_eq!(words(&svg(title, &study(4), Kind::AgainstM))[0], "a b c d\u{fffd}e");
    }

    #[test]
    fn a_long_title_is_cut_where_the_picture_ends() {
        let title = words(&svg(&"word ".repeat(10_000), &study(4), Kind::AgainstM)).remove(0);
        assert!(title.starts_with("word word") && title.ends_with('…'), "{title}");
    }

    fn check_error(rows: &[Validation], kind: Kind, expected: &str) {
        let figure = Figure { title: "", rows, kind };
        let error = draw(&figure, Format::Svg).expect_err("not a picture");
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn a_picture_of_nothing_is_an_error() {
        let advice = "validate at least one such configuration";
        let without_ones = [row(2, 2, 1.0, 1.0)];
        let error = |condition| format!("validation.csv: no configuration {condition}; {advice}");
        check_error(&without_ones, Kind::AgainstM, &error("with p = 1"));
        check_error(&without_ones, Kind::AgainstP, &error("with m = 1"));
        check_error(&[], Kind::Combined, &error("at all"));
    }

    #[test]
    fn a_time_that_no_run_can_take_is_an_error() {
        for time in [-1.0, f64::NAN, f64::INFINITY, 1e16] {
            let expected = format!("found {time}, expected a time from 0 to 1e15 s");
            check_error(&[row(1, 1, time, 1.0)], Kind::OverAll, &format!("measured_s: {expected}"));
            check_error(
                &[row(1, 1, 1.0, time)],
                Kind::OverAll,
                &format!("predicted_s: {expected}"),
            );
        }
    }

    #[test]
    fn the_ending_of_a_name_chooses_the_format() {
        let format = |name| Format::from_path(Path::new(name));
        assert_eq!(format("a/b.svg").expect("an SVG"), Format::Svg);
        assert_eq!(format("b.PNG").expect("a PNG"), Format::Png);
        let error = format("b.jpg").expect_err("not a format");
        assert_eq!(error.to_string(), "there is no picture format \"jpg\"; known: svg, png");
        assert!(format("svg").is_err());
    }
}
