//! The picture of published figures: what the emulated machine shows over what was published.

use super::axis::Axis;
use super::chart::{Area, CAPTION, Chart, Drawing, Surround, picture};
use super::scene::{Anchor, Color, Font, Scene};
use super::style::{self, INK, LABEL, MEASURED, Mark, PREDICTED, SHADE, entry, shortened};
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
const BELOW: f64 = 52.0;
const NAMES: f64 = 480.0;

/// The ratio of each figure, one row for each; where only a bound was published there is no ratio
/// to draw.
pub(super) fn scene(title: &str, rows: &[MachineFigure]) -> Result<Scene> {
    let rows: Vec<&MachineFigure> = rows.iter().filter(|row| row.relation.is_empty()).collect();
    if rows.is_empty() {
        return Err(Error::too_little(
            "machine.csv",
            "no figure with a value",
            "a machine needs at least one",
        ));
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
    let legend = [
        entry(Mark::Dot(MEASURED), "independent"),
        entry(Mark::Diamond(PREDICTED), "a constant of the machine was taken from it"),
        entry(Mark::Area(SHADE), "within 10 % of what was published"),
    ];
    let height = ROW * rows.len() as f64 + BELOW;
    picture(title, (WIDTH, height), &legend, |area| draw(area, &rows))
}

fn ratio(row: &MachineFigure) -> f64 {
    row.emulated / row.published
}

/// Equal ratios are equally far, and 1 is in the middle.
fn axis() -> Axis {
    Axis::of_marked_ratios(1.0 / WIDEST_RATIO, WIDEST_RATIO, &TICKS)
}

fn draw(area: &Area, rows: &[&MachineFigure]) -> Drawing {
    // Rows hang from the upper end.
    let count = rows.len() as f64;
    let around = Surround {
        x_title: "emulated over published",
        above: -CAPTION,
        below: BELOW,
        left: NAMES,
        ..Surround::default()
    };
    let mut chart = Chart::new(area, [axis(), Axis::of_places(0.0, count)], around)?;
    chart.rectangle([(1.0 - BAND, count), (1.0 + BAND, 0.0)], SHADE)?;
    chart.axes("")?;
    chart.line([(1.0, 0.0), (1.0, count)], INK, 1.2)?;
    for (index, row) in rows.iter().enumerate() {
        let y = count - index as f64 - 0.5;
        let at = chart.at(1.0, y);
        let name = shortened(&row.what, &LABEL, NAMES - 30.0);
        let left = chart.data.left - 12.0;
        chart.sketch(|scene| scene.text(&name, [left, at[1]], LABEL.at(Anchor::End)))?;
        let ratio = ratio(row);
        let (mark, color): (fn(Color) -> Mark, Color) = match row.basis.as_str() {
            "independent" => (Mark::Dot, MEASURED),
            _ => (Mark::Diamond, PREDICTED),
        };
        if (1.0 / WIDEST_RATIO..=WIDEST_RATIO).contains(&ratio) {
            chart.marks((mark(color), 3.2), 0.0, [(ratio, y)])?;
        } else {
            let [edge, y] = chart.at(ratio, y);
            chart.sketch(|scene| beyond(scene, (ratio, color), [edge, y]))?;
        }
    }
    Ok(())
}

/// An arrow at the edge, with the ratio beside it.
fn beyond(scene: &mut Scene, (ratio, color): (f64, Color), [edge, y]: [f64; 2]) {
    let (way, anchor) = if ratio > 1.0 { (1.0, Anchor::End) } else { (-1.0, Anchor::Start) };
    let base = edge - way * 4.0;
    scene.polygon(vec![[edge + way * 5.0, y], [base, y - 5.0], [base, y + 5.0]], color);
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
        let x = |ratio: f64| axis().fraction(ratio);
        approx::assert_relative_eq!(x(1.0), 0.5, epsilon = 1e-6);
        approx::assert_relative_eq!(x(1.25) - x(1.0), x(1.0) - x(0.8), epsilon = 1e-6);
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
}
