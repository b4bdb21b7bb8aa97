//! The picture of published figures: what the emulated machine shows over what was published.

use super::scene::{Anchor, Bounds, Font, Place, Scene};
use super::style::{
    self, Entry, GRID, INK, LABEL, MEASURED, Mark, PREDICTED, SHADE, entry, shortened, stroke,
};
use crate::error::{Error, Result};
use crate::table::records::MachineFigure;

/// Ratios beyond this, up or down, are drawn at the edge with an arrow and their value.
const WIDEST_RATIO: f64 = 2.0;

/// How far from 1 the band of good agreement reaches.
const BAND: f64 = 0.1;

/// Lines of the grid.
const TICKS: [f64; 9] = [0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.25, 1.5, 2.0];

const WIDTH: f64 = 1100.0;
const ROW: f64 = 19.0;
const FOOT: f64 = 44.0;
const NAMES: f64 = 470.0;
const MARGIN: f64 = 60.0;

/// The ratio of each figure, one row for each; where only a bound was published there is no ratio
/// to draw.
pub(super) fn scene(title: &str, rows: &[MachineFigure]) -> Result<Scene> {
    let rows: Vec<&MachineFigure> = rows.iter().filter(|row| row.relation.is_empty()).collect();
    if rows.is_empty() {
        return Err(Error::TooLittleData {
            file: "machine.csv".into(),
            found: "no figure with a value".into(),
            advice: "a machine needs at least one".into(),
        });
    }
    for row in &rows {
        let ratio = ratio(row);
        if !(ratio > 0.0 && ratio.is_finite()) {
            return Err(Error::out_of_range(
                "emulated over published",
                format!("{ratio} for {}", row.figure),
                "a positive number",
            ));
        }
    }
    let legend = legend();
    let head = style::head_height(WIDTH, &legend);
    let bottom = head + ROW * rows.len() as f64;
    let mut scene = Scene::new(WIDTH, bottom + FOOT, title);
    style::head(&mut scene, title, &legend);
    grid(&mut scene, [head, bottom]);
    for (index, row) in rows.iter().enumerate() {
        draw_row(&mut scene, row, head + ROW * (index as f64 + 0.5));
    }
    Ok(scene)
}

fn ratio(row: &MachineFigure) -> f64 {
    row.emulated / row.published
}

/// What the marks mean.
fn legend() -> Vec<Entry> {
    vec![
        entry(Mark::Dot(MEASURED), "independent"),
        entry(Mark::Diamond(PREDICTED), "a constant of the machine was taken from it"),
        entry(Mark::Area(SHADE), "within 10 % of what was published"),
    ]
}

/// Band, lines of the grid and their labels.
fn grid(scene: &mut Scene, [top, bottom]: [f64; 2]) {
    scene.rectangle(Bounds::new(x(1.0 - BAND), top, x(1.0 + BAND), bottom), SHADE);
    let label = LABEL.at(Anchor::Middle);
    for tick in TICKS {
        let (color, width) = if tick == 1.0 { (INK, 1.2) } else { (GRID, 1.0) };
        scene.line(vec![[x(tick), top], [x(tick), bottom]], stroke(color, width));
        scene.text(&tick.to_string(), [x(tick), bottom + 12.0], label);
    }
    scene.text("emulated over published", [x(1.0), bottom + 31.0], label);
}

/// The name of a figure and its mark.
fn draw_row(scene: &mut Scene, row: &MachineFigure, y: f64) {
    let name = shortened(&row.what, &LABEL, NAMES - 30.0);
    scene.text(&name, [NAMES - 12.0, y], LABEL.at(Anchor::End));
    let ratio = ratio(row);
    if (1.0 / WIDEST_RATIO..=WIDEST_RATIO).contains(&ratio) {
        mark(row).draw(scene, [x(ratio), y], 3.2);
    } else {
        beyond(scene, row, y);
    }
}

/// The place of a ratio, by its logarithm.
fn x(ratio: f64) -> f64 {
    let (left, right) = (NAMES + 10.0, WIDTH - MARGIN);
    left + (0.5 + 0.5 * ratio.ln() / WIDEST_RATIO.ln()) * (right - left)
}

fn is_independent(row: &MachineFigure) -> bool {
    row.basis == "independent"
}

fn mark(row: &MachineFigure) -> Mark {
    if is_independent(row) { Mark::Dot(MEASURED) } else { Mark::Diamond(PREDICTED) }
}

/// An arrow at the edge, with the ratio beside it.
fn beyond(scene: &mut Scene, row: &MachineFigure, y: f64) {
    let ratio = ratio(row);
    let color = if is_independent(row) { MEASURED } else { PREDICTED };
    let (edge, way) =
        if ratio > 1.0 { (x(WIDEST_RATIO), 1.0) } else { (x(1.0 / WIDEST_RATIO), -1.0) };
    let base = edge - way * 4.0;
    let corners: Vec<Place> = vec![[edge + way * 5.0, y], [base, y - 5.0], [base, y + 5.0]];
    scene.polygon(corners, color);
    let anchor = if way > 0.0 { Anchor::End } else { Anchor::Start };
    let font = Font { color, ..LABEL }.at(anchor);
    style::text_on_white(scene, &format!("{ratio:.2}"), [base - way * 5.0, y], font);
}

#[cfg(test)]
mod tests {
    use super::super::{Format, Kind, Picture, draw};
    use super::*;

    fn figure(name: &str, emulated: f64, basis: &str) -> MachineFigure {
        MachineFigure {
            group: "dma".into(),
            figure: name.into(),
            what: format!("What {name} is"),
            relation: String::new(),
            published: 10.0,
            emulated,
            unit: "ns".into(),
            error_percent: 10.0 * (emulated - 10.0),
            basis: basis.into(),
            fact: name.into(),
            constants: String::new(),
            confirmed: "yes".into(),
            source: "somewhere".into(),
            remark: String::new(),
        }
    }

    fn svg(rows: &[MachineFigure]) -> String {
        String::from_utf8(
            draw(&Picture { title: "title", kind: Kind::Machine(rows) }, Format::Svg).unwrap(),
        )
        .unwrap()
    }

    #[test]
    fn every_figure_with_a_value_has_its_name_and_a_mark() {
        let bound = MachineFigure { relation: "<".into(), ..figure("bound", 5.0, "independent") };
        let rows = [figure("one", 10.0, "independent"), figure("two", 11.0, "calibrated"), bound];
        let text = svg(&rows);
        let document = roxmltree::Document::parse(&text).unwrap();
        let words: Vec<&str> =
            document.descendants().filter_map(|node| node.text()).map(str::trim).collect();
        assert!(words.contains(&"What one is") && words.contains(&"What two is"), "{words:?}");
        assert!(!words.contains(&"What bound is"));
        // A dot each for the legend and for the independent figure.
        let dots = document.descendants().filter(|node| node.has_tag_name("circle"));
        assert_eq!(dots.count(), 2);
    }

    #[test]
    fn equal_ratios_are_equally_far_and_one_is_in_the_middle() {
        approx::assert_relative_eq!(x(1.0) - x(0.5), x(2.0) - x(1.0), epsilon = 1e-9);
        approx::assert_relative_eq!(x(1.25) - x(1.0), x(1.0) - x(0.8), epsilon = 1e-9);
    }

    #[test]
    fn a_ratio_off_the_scale_is_written_beside_its_arrow() {
        let text = svg(&[figure("far", 35.0, "independent"), figure("near", 1.0, "independent")]);
        assert!(text.contains("3.50") && text.contains("0.10"));
    }

    #[test]
    fn what_has_no_ratio_is_refused() {
        for emulated in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let rows = [figure("bad", emulated, "independent")];
            assert!(
                draw(&Picture { title: "title", kind: Kind::Machine(&rows) }, Format::Svg).is_err(),
                "{emulated}"
            );
        }
        assert!(draw(&Picture { title: "title", kind: Kind::Machine(&[]) }, Format::Svg).is_err());
    }

    #[cfg(feature = "png")]
    #[test]
    fn a_png_has_two_pixels_for_each_unit() {
        let rows = [figure("one", 10.0, "independent")];
        let bytes =
            draw(&Picture { title: "title", kind: Kind::Machine(&rows) }, Format::Png).unwrap();
        let header: [u8; 8] = bytes[16..24].try_into().unwrap();
        let [width, height] = [0, 4].map(|at| {
            u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
        });
        assert_eq!(
            (width, height),
            (2 * WIDTH as u32, 2 * scene("title", &rows).unwrap().height as u32)
        );
    }
}
