//! The picture of published figures: what the emulated machine shows over what was published.

use plotters::element::{PathElement, Polygon, Rectangle};
use plotters::prelude::{DrawingBackend, RGBColor};
use plotters::style::Color;
use plotters::style::text_anchor::HPos;

use super::canvas::{self, Pixel, px};
use super::style::{self, GRID, INK, LABEL, MEASURED, PREDICTED};
use super::{Area, Drawn, Format, Picture};
use crate::error::{Error, Result};
use crate::table::records::MachineFigure;

/// Ratios beyond this, up or down, are drawn at the edge with an arrow and their value.
const WIDEST_RATIO: f64 = 2.0;

/// How far from 1 the band of good agreement reaches.
const BAND: f64 = 0.1;

/// Lines of the grid.
const TICKS: [f64; 9] = [0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.25, 1.5, 2.0];

/// The band.
const SHADE: RGBColor = RGBColor(228, 240, 228);

// Sizes in units of the SVG.
const WIDTH: u32 = 1100;
const HEAD: i32 = 76;
const ROW: i32 = 19;
const FOOT: i32 = 44;
const NAMES: i32 = 470;
const MARGIN: i32 = 60;

/// Draws the ratio of each figure, one row for each; where only a bound was published there is no
/// ratio to draw.
///
/// # Errors
/// [`Error::TooLittleData`] where no row has a ratio, [`Error::OutOfRange`] for a ratio that is not
/// positive and finite, and [`Error::Plot`] where the drawing itself fails.
pub fn draw_machine(title: &str, rows: &[MachineFigure], format: Format) -> Result<Vec<u8>> {
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
            return Err(Error::OutOfRange {
                name: "emulated over published",
                found: format!("{ratio} for {}", row.figure),
                expected: "a positive number".into(),
            });
        }
    }
    canvas::render(&Ratios { title, rows: &rows }, format)
}

fn ratio(row: &MachineFigure) -> f64 {
    row.emulated / row.published
}

struct Ratios<'a> {
    title: &'a str,
    rows: &'a [&'a MachineFigure],
}

impl Picture for Ratios<'_> {
    fn size(&self) -> (u32, u32) {
        (WIDTH, (HEAD + FOOT + ROW * self.rows.len() as i32) as u32)
    }

    fn draw<DB: DrawingBackend>(&self, area: &Area<DB>) -> Drawn<DB> {
        style::title(area, self.title)?;
        self.legend(area)?;
        self.grid(area)?;
        for (index, row) in self.rows.iter().enumerate() {
            let y = px(HEAD + ROW * index as i32 + ROW / 2);
            self.row(area, row, y)?;
        }
        Ok(())
    }
}

impl Ratios<'_> {
    fn bottom(&self) -> i32 {
        px(HEAD + ROW * self.rows.len() as i32)
    }

    /// Band, lines of the grid and their labels.
    fn grid<DB: DrawingBackend>(&self, area: &Area<DB>) -> Drawn<DB> {
        let (top, bottom) = (px(HEAD), self.bottom());
        let band = [(x(1.0 - BAND), top), (x(1.0 + BAND), bottom)];
        area.draw(&Rectangle::new(band, SHADE.filled()))?;
        let label = style::anchored(style::text(LABEL, INK), HPos::Center);
        for tick in TICKS {
            let (color, width) = if tick == 1.0 { (INK, 1.2) } else { (GRID, 1.0) };
            let path = vec![(x(tick), top), (x(tick), bottom)];
            area.draw(&PathElement::new(path, style::stroke(color, width)))?;
            style::write(area, &tick.to_string(), &label, (x(tick), bottom + px(12)))?;
        }
        let title = "emulated over published; the band is 10 % to either side";
        style::write(area, title, &label, (x(1.0), bottom + px(31)))
    }

    /// The name of a figure and its mark.
    fn row<DB: DrawingBackend>(&self, area: &Area<DB>, row: &MachineFigure, y: i32) -> Drawn<DB> {
        let names = style::anchored(style::text(LABEL, INK), HPos::Right);
        let name = style::shortened(&row.what, &names, px(NAMES - 30));
        style::write(area, &name, &names, (px(NAMES - 12), y))?;
        let ratio = ratio(row);
        if (1.0 / WIDEST_RATIO..=WIDEST_RATIO).contains(&ratio) {
            mark(area, row, (x(ratio), y))
        } else {
            beyond(area, row, y)
        }
    }

    /// What the marks mean.
    fn legend<DB: DrawingBackend>(&self, area: &Area<DB>) -> Drawn<DB> {
        let style = style::text(LABEL, INK);
        let y = px(56);
        style::dot(area, (px(NAMES), y), 4.0)?;
        style::write(area, "independent", &style, (px(NAMES + 12), y))?;
        style::diamond(area, (px(NAMES + 120), y), 3.0)?;
        let words = "a constant of the machine was taken from it";
        style::write(area, words, &style, (px(NAMES + 132), y))
    }
}

/// The place of a ratio, by its logarithm.
fn x(ratio: f64) -> i32 {
    let (left, right) = (px(NAMES + 10), px(WIDTH as i32 - MARGIN));
    let fraction = 0.5 + 0.5 * ratio.ln() / WIDEST_RATIO.ln();
    left + (fraction * f64::from(right - left)).round() as i32
}

fn is_independent(row: &MachineFigure) -> bool {
    row.basis == "independent"
}

fn mark<DB: DrawingBackend>(area: &Area<DB>, row: &MachineFigure, at: Pixel) -> Drawn<DB> {
    if is_independent(row) { style::dot(area, at, 4.0) } else { style::diamond(area, at, 3.0) }
}

/// An arrow at the edge, with the ratio beside it.
fn beyond<DB: DrawingBackend>(area: &Area<DB>, row: &MachineFigure, y: i32) -> Drawn<DB> {
    let ratio = ratio(row);
    let color = if is_independent(row) { MEASURED } else { PREDICTED };
    let (edge, way) = if ratio > 1.0 { (x(WIDEST_RATIO), 1) } else { (x(1.0 / WIDEST_RATIO), -1) };
    let base = edge - way * px(4);
    let corners = vec![(edge + way * px(5), y), (base, y - px(5)), (base, y + px(5))];
    area.draw(&Polygon::new(corners, color.filled()))?;
    let anchor = if way > 0 { HPos::Right } else { HPos::Left };
    let style = style::anchored(style::text(LABEL, color), anchor);
    style::write(area, &format!("{ratio:.2}"), &style, (base - way * px(4), y))
}

#[cfg(test)]
mod tests {
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
            constants: String::new(),
            confirmed: "yes".into(),
            source: "somewhere".into(),
            remark: String::new(),
        }
    }

    fn svg(rows: &[MachineFigure]) -> String {
        String::from_utf8(draw_machine("title", rows, Format::Svg).unwrap()).unwrap()
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
        assert_eq!(x(1.0) - x(0.5), x(2.0) - x(1.0));
        assert!((x(1.25) - x(1.0) - (x(1.0) - x(0.8))).abs() <= 1);
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
            assert!(draw_machine("title", &rows, Format::Svg).is_err(), "{emulated}");
        }
        assert!(draw_machine("title", &[], Format::Svg).is_err());
    }

    #[test]
    fn a_png_has_two_pixels_for_each_unit() {
        let rows = [figure("one", 10.0, "independent")];
        let bytes = draw_machine("title", &rows, Format::Png).unwrap();
        let header: [u8; 8] = bytes[16..24].try_into().unwrap();
        let [width, height] = [0, 4].map(|at| {
            u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
        });
        assert_eq!((width, height), (2 * WIDTH, 2 * (HEAD + FOOT + ROW) as u32));
    }
}
