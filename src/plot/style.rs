//! What is the same in every panel: colours, text, marks, title and legend.

use plotters::element::{Circle, PathElement, Polygon};
use plotters::prelude::{DrawingBackend, RGBColor, WHITE};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, IntoFont, ShapeStyle, TextStyle};

use super::canvas::{FONT, Pixel, px};
use super::{Area, Drawn};

// From the palette of Okabe and Ito, which every form of colour vision can tell apart. The marks
// differ as well, for prints in grey.
/// Measured: vermillion dots.
pub(super) const MEASURED: RGBColor = RGBColor(213, 94, 0);
/// Predicted: blue hollow diamonds on a line.
pub(super) const PREDICTED: RGBColor = RGBColor(0, 114, 178);
/// Text and axes.
pub(super) const INK: RGBColor = RGBColor(40, 40, 40);
/// Grid lines at ticks.
pub(super) const GRID: RGBColor = RGBColor(214, 214, 214);
/// Grid lines between them.
pub(super) const FAINT: RGBColor = RGBColor(238, 238, 238);

/// Where the left axis of a panel stands, from its left edge.
pub(super) const LEFT_AXIS: i32 = 78;
/// Space at the right of a panel.
pub(super) const RIGHT_MARGIN: i32 = 24;

/// Size of the labels at ticks.
pub(super) const LABEL: i32 = 12;
/// Size of all other text below the title.
pub(super) const TEXT: i32 = 13;
/// Size of the title.
const TITLE: i32 = 18;

/// Radius of a dot; a diamond is large enough to be seen around it.
const DOT: f64 = 3.2;
const DIAMOND_TO_DOT: f64 = 1.9;

/// Text of a size in units of the SVG, anchored at its left end and half its height.
pub(super) fn text(size: i32, color: RGBColor) -> TextStyle<'static> {
    // Plotters takes the height of a line for the size, and 1.24 times the size of the letters
    // for the height of a line.
    let line = f64::from(px(size)) * 1.24;
    (FONT, line).into_font().color(&color).pos(Pos::new(HPos::Left, VPos::Center))
}

/// The same text anchored elsewhere along the line.
pub(super) fn anchored(style: TextStyle<'static>, at: HPos) -> TextStyle<'static> {
    style.pos(Pos::new(at, VPos::Center))
}

/// Draws a text at its anchor.
pub(super) fn write<DB: DrawingBackend>(
    area: &Area<DB>,
    words: &str,
    style: &TextStyle<'_>,
    (x, y): Pixel,
) -> Drawn<DB> {
    // What plotters takes for half the height is above the middle of the letters: by a tenth of
    // their size in an SVG and by a quarter in a bitmap.
    area.draw_text(words, style, (x, y + px(2)))
}

/// Width of a text in plotters' pixels.
pub(super) fn width(style: &TextStyle<'_>, words: &str) -> i32 {
    let size = style.font.box_size(words);
    size.map_or(0, |(width, _)| width as i32)
}

/// A line of a width in units of the SVG.
pub(super) fn stroke(color: RGBColor, width: f64) -> ShapeStyle {
    color.stroke_width((width * f64::from(px(1))).round() as u32)
}

/// The radius of dots that stand so many of plotters' pixels apart.
pub(super) fn dot_radius(spacing: f64) -> f64 {
    DOT.min(spacing / f64::from(px(1)) / (2.0 * DIAMOND_TO_DOT)).max(0.8)
}

/// A measured time.
pub(super) fn dot<DB: DrawingBackend>(area: &Area<DB>, at: Pixel, radius: f64) -> Drawn<DB> {
    let radius = (radius * f64::from(px(1))).round() as i32;
    area.draw(&Circle::new(at, radius, MEASURED.filled()))
}

/// A predicted time, to go with a dot of that radius.
pub(super) fn diamond<DB: DrawingBackend>(
    area: &Area<DB>,
    (x, y): Pixel,
    dot_radius: f64,
) -> Drawn<DB> {
    // Plotters breaks the corners of a thick closed line, so the outline is what a smaller diamond
    // leaves of a larger one.
    let diamond = |radius: f64, color: RGBColor| {
        let radius = (radius * f64::from(px(1))).round() as i32;
        let corners = [(x, y - radius), (x + radius, y), (x, y + radius), (x - radius, y)];
        Polygon::new(corners.to_vec(), color.filled())
    };
    let radius = dot_radius * DIAMOND_TO_DOT;
    area.draw(&diamond(radius + 1.0, PREDICTED))?;
    area.draw(&diamond(radius - 1.0, WHITE))
}

/// Predicted times that belong together.
pub(super) fn line<DB: DrawingBackend>(area: &Area<DB>, path: Vec<Pixel>) -> Drawn<DB> {
    area.draw(&PathElement::new(path, stroke(PREDICTED, 1.4)))
}

/// The title, on one line.
pub(super) fn title<DB: DrawingBackend>(area: &Area<DB>, words: &str) -> Drawn<DB> {
    let style = text(TITLE, INK);
    let (area_width, _) = area.dim_in_pixel();
    let room = area_width as i32 - px(LEFT_AXIS / 2 + RIGHT_MARGIN);
    write(area, &shortened(words, &style, room), &style, (px(LEFT_AXIS / 2), px(26)))
}

/// The words on one line, cut where they are wider than `room`.
pub(super) fn shortened(words: &str, style: &TextStyle<'_>, room: i32) -> String {
    // XML has no place for these, escaped or not.
    let printable = |letter: char| match letter {
        '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
        letter if letter.is_control() => ' ',
        letter => letter,
    };
    // No picture has room for so many letters; measuring more would only take time.
    let mut line: String = words.chars().take(1000).map(printable).collect();
    let is_whole = line.chars().count() == words.chars().count();
    if is_whole && width(style, &line) <= room {
        return line;
    }
    while !line.is_empty() && width(style, &format!("{line}…")) > room {
        line.pop();
    }
    line + "…"
}

/// What the marks mean, in one row below the title.
pub(super) fn legend<DB: DrawingBackend>(area: &Area<DB>) -> Drawn<DB> {
    let style = text(TEXT, INK);
    let y = px(56);
    let mut x = px(LEFT_AXIS / 2);
    dot(area, (x + px(5), y), DOT * 1.2)?;
    x += px(16);
    write(area, "measured", &style, (x, y))?;
    x += width(&style, "measured") + px(30);
    line(area, vec![(x, y), (x + px(36), y)])?;
    diamond(area, (x + px(18), y), DOT)?;
    write(area, "predicted by the model (equation 11)", &style, (x + px(46), y))
}
