//! The font that measures the texts of pictures, and draws them in bitmaps.

use std::sync::OnceLock;

use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{FontStyle, FontTransform, IntoFont, RGBColor, TextStyle, register_font};

use super::scene::{Anchor, Color, Direction, Font};

/// Plotters places everything at whole numbers and does not smooth edges, so texts are measured and
/// bitmaps drawn this many times larger than they are shown in an SVG.
pub(super) const ENLARGEMENT: f64 = 4.0;

/// The font's name, and what a viewer without it may take instead.
pub(super) const FONT: &str = "DejaVu Sans, Verdana, Arial, sans-serif";

static FONT_DATA: &[u8] = include_bytes!("../../data/fonts/DejaVuSans-subset.ttf");

/// Width of a text in letters of that size.
pub(super) fn text_width(words: &str, size: f64) -> f64 {
    let style = style(&Font::new(size, Color(0, 0, 0)));
    style.font.box_size(words).map_or(0.0, |(width, _)| f64::from(width) / ENLARGEMENT)
}

pub(super) fn rgb(Color(red, green, blue): Color) -> RGBColor {
    RGBColor(red, green, blue)
}

/// Text as plotters is told it, anchored at half its height.
pub(super) fn style(font: &Font) -> TextStyle<'static> {
    static REGISTERED: OnceLock<bool> = OnceLock::new();
    let is_known =
        REGISTERED.get_or_init(|| register_font(FONT, FontStyle::Normal, FONT_DATA).is_ok());
    assert!(is_known, "invariant: the font that is compiled in is valid");
    // Plotters takes the height of a line for the size, and 1.24 times the size of the letters for
    // the height of a line.
    let line = font.size * ENLARGEMENT * 1.24;
    let description = match font.direction {
        Direction::Right => (FONT, line).into_font(),
        Direction::Up => (FONT, line).into_font().transform(FontTransform::Rotate270),
    };
    let anchor = match font.anchor {
        Anchor::Start => HPos::Left,
        Anchor::Middle => HPos::Center,
        Anchor::End => HPos::Right,
    };
    description.color(&rgb(font.color)).pos(Pos::new(anchor, VPos::Center))
}
