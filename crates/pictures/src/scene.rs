//! A picture in memory: areas, lines and texts in order, the later above the earlier. It is what plotters
//! draws on.
//!
//! Plotters' own SVG has whole numbers, no title that a screen reader could say, and an element for each
//! of thousands of marks that look alike; so [`super::svg`] writes what is gathered here, and
//! [`super::png`] hands the same on to plotters' bitmaps.

use std::convert::Infallible;
use std::sync::OnceLock;

use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{FontStyle, FontTransform, IntoFont, ShapeStyle, TextStyle, register_font};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
};

pub(super) use plotters::style::RGBColor as Color;

/// A place or a distance in units of the SVG: x to the right, y down.
pub(super) type Place = [f64; 2];

/// Plotters places everything at whole pixels; so many of them are a unit.
const PIXELS: f64 = 100.0;

/// Pixels of plotters for a distance in units.
pub(super) fn px(units: f64) -> i32 {
    (units * PIXELS).round() as i32
}

/// The place of a pixel.
pub(super) fn place((x, y): BackendCoord) -> Place {
    [x, y].map(|pixels| f64::from(pixels) / PIXELS)
}

/// A rectangle whose sides are those of the picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bounds {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

impl Bounds {
    /// A rectangle by its sides.
    pub const fn new(left: f64, top: f64, right: f64, bottom: f64) -> Self {
        Self { left, top, right, bottom }
    }

    pub fn width(&self) -> f64 {
        self.right - self.left
    }

    pub fn height(&self) -> f64 {
        self.bottom - self.top
    }

    pub fn middle(&self) -> Place {
        [self.left.midpoint(self.right), self.top.midpoint(self.bottom)]
    }

    /// Whether they share more than a border.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    /// Whether the other lies within.
    pub fn holds(&self, other: &Self) -> bool {
        self.left <= other.left
            && other.right <= self.right
            && self.top <= other.top
            && other.bottom <= self.bottom
    }
}

/// How a line is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Stroke {
    pub color: Color,
    pub width: f64,
}

impl From<Stroke> for ShapeStyle {
    fn from(stroke: Stroke) -> Self {
        Self::from(stroke.color).stroke_width(px(stroke.width) as u32)
    }
}

/// Which part of a text stands at its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// Which way a text runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Right,
    /// Turned by a quarter, so that it is read from the right side of the picture.
    Up,
}

/// How a text looks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Font {
    /// Size of the letters.
    pub size: f64,
    pub color: Color,
    pub anchor: Anchor,
    pub direction: Direction,
}

/// The font's name, and what a viewer without it may take instead.
pub(super) const FONT: &str = "DejaVu Sans, Verdana, Arial, sans-serif";

static FONT_DATA: &[u8] = include_bytes!("../fonts/DejaVuSans-subset.ttf");

/// Height of capital letters over the size of the font: DejaVu Sans's.
const CAPITAL: f64 = 0.729;

/// Height of a line, which is what plotters calls the size of a font, over the size of the letters.
const LINE: f64 = 1.24;

impl Font {
    /// Anchored at its left end and half the height of its capital letters.
    pub const fn new(size: f64, color: Color) -> Self {
        Self { size, color, anchor: Anchor::Start, direction: Direction::Right }
    }

    pub const fn at(self, anchor: Anchor) -> Self {
        Self { anchor, ..self }
    }

    pub const fn upwards(self) -> Self {
        Self { direction: Direction::Up, ..self }
    }

    /// Width of the words as written.
    pub fn width(&self, words: &str) -> f64 {
        let width = self.style(PIXELS).font.box_size(words).map_or(0, |(width, _)| width);
        f64::from(width) / PIXELS
    }

    /// How far the baseline is below the middle of the capital letters.
    pub fn baseline(&self) -> f64 {
        CAPITAL * self.size / 2.0
    }

    /// The same for plotters, where so many pixels are a unit.
    pub fn style(&self, pixels: f64) -> TextStyle<'static> {
        static REGISTERED: OnceLock<bool> = OnceLock::new();
        let is_known =
            REGISTERED.get_or_init(|| register_font(FONT, FontStyle::Normal, FONT_DATA).is_ok());
        assert!(is_known, "invariant: the font that is compiled in is valid");
        let upright = (FONT, self.size * LINE * pixels).into_font();
        let font = match self.direction {
            Direction::Right => upright,
            Direction::Up => upright.transform(FontTransform::Rotate270),
        };
        let anchor = match self.anchor {
            Anchor::Start => HPos::Left,
            Anchor::Middle => HPos::Center,
            Anchor::End => HPos::Right,
        };
        font.color(&self.color).pos(Pos::new(anchor, VPos::Center))
    }
}

impl From<Font> for TextStyle<'static> {
    fn from(font: Font) -> Self {
        font.style(PIXELS)
    }
}

/// Something to draw.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Item {
    Rectangle { bounds: Bounds, fill: Color },
    Polygon { corners: Vec<Place>, fill: Color },
    Circle { center: Place, radius: f64, fill: Color },
    Line { path: Vec<Place>, stroke: Stroke },
    Text { words: String, at: Place, font: Font },
}

/// A whole picture.
#[derive(Debug, Clone, Default)]
pub(super) struct Scene {
    pub width: f64,
    pub height: f64,
    /// What it shows, for those who cannot see it.
    pub title: String,
    pub items: Vec<Item>,
    /// Points and cells that may answer to a pointer on a page, and with what: `(m, p)`, or other words.
    pub spots: Vec<(Bounds, String)>,
}

impl Scene {
    /// A white one.
    pub fn new(width: f64, height: f64, title: &str) -> Self {
        Self { width, height, title: printable(title), ..Self::default() }
    }

    #[cfg(test)]
    pub fn bounds(&self) -> Bounds {
        Bounds::new(0.0, 0.0, self.width, self.height)
    }

    pub fn rectangle(&mut self, bounds: Bounds, fill: Color) {
        self.items.push(Item::Rectangle { bounds, fill });
    }

    pub fn polygon(&mut self, corners: Vec<Place>, fill: Color) {
        self.items.push(Item::Polygon { corners, fill });
    }

    pub fn circle(&mut self, center: Place, radius: f64, fill: Color) {
        self.items.push(Item::Circle { center, radius, fill });
    }

    pub fn line(&mut self, path: Vec<Place>, stroke: Stroke) {
        if path.len() > 1 {
            self.items.push(Item::Line { path, stroke });
        }
    }

    pub fn text(&mut self, words: &str, at: Place, font: Font) {
        if !words.is_empty() {
            self.items.push(Item::Text { words: printable(words), at, font });
        }
    }
}

/// The words with blanks for letters that no file can hold and no font can show.
fn printable(words: &str) -> String {
    let letter = |letter: char| match letter {
        '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
        letter if letter.is_control() => ' ',
        letter => letter,
    };
    words.chars().map(letter).collect()
}

/// The space that a text takes: from its baseline to the top of a capital letter.
pub(super) fn text_bounds(words: &str, [x, y]: Place, font: &Font) -> Bounds {
    let width = font.width(words);
    let start = match font.anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => -width / 2.0,
        Anchor::End => -width,
    };
    let half = font.baseline();
    match font.direction {
        Direction::Right => Bounds::new(x + start, y - half, x + start + width, y + half),
        Direction::Up => Bounds::new(x - half, y - start - width, x + half, y - start),
    }
}

type Recording = Result<(), DrawingErrorKind<Infallible>>;

fn rgb(color: BackendColor) -> Color {
    let (red, green, blue) = color.rgb;
    Color(red, green, blue)
}

fn stroke_of<S: BackendStyle>(style: &S) -> Stroke {
    Stroke { color: rgb(style.color()), width: f64::from(style.stroke_width()) / PIXELS }
}

impl DrawingBackend for Scene {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        (px(self.width) as u32, px(self.height) as u32)
    }

    fn ensure_prepared(&mut self) -> Recording {
        Ok(())
    }

    fn present(&mut self) -> Recording {
        Ok(())
    }

    fn draw_pixel(&mut self, at: BackendCoord, color: BackendColor) -> Recording {
        let [left, top] = place(at);
        self.rectangle(Bounds::new(left, top, left + 1.0, top + 1.0), rgb(color));
        Ok(())
    }

    fn draw_line<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
    ) -> Recording {
        self.draw_path([from, to], style)
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        (left, top): BackendCoord,
        (right, bottom): BackendCoord,
        style: &S,
        _fill: bool,
    ) -> Recording {
        let ([left, top], [right, bottom]) = (place((left, top)), place((right, bottom)));
        self.rectangle(Bounds::new(left, top, right, bottom), rgb(style.color()));
        Ok(())
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Recording {
        self.line(path.into_iter().map(place).collect(), stroke_of(style));
        Ok(())
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        center: BackendCoord,
        radius: u32,
        style: &S,
        _fill: bool,
    ) -> Recording {
        self.circle(place(center), f64::from(radius) / PIXELS, rgb(style.color()));
        Ok(())
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        corners: I,
        style: &S,
    ) -> Recording {
        self.polygon(corners.into_iter().map(place).collect(), rgb(style.color()));
        Ok(())
    }

    fn draw_text<S: BackendTextStyle>(
        &mut self,
        words: &str,
        style: &S,
        at: BackendCoord,
    ) -> Recording {
        let direction = match style.transform() {
            FontTransform::Rotate270 => Direction::Up,
            _ => Direction::Right,
        };
        let anchor = match style.anchor().h_pos {
            HPos::Left => Anchor::Start,
            HPos::Center => Anchor::Middle,
            HPos::Right => Anchor::End,
        };
        let size = (style.size() / LINE / PIXELS * 100.0).round() / 100.0;
        let font = Font { size, color: rgb(style.color()), anchor, direction };
        let down = match style.anchor().v_pos {
            VPos::Top => font.baseline(),
            VPos::Center => 0.0,
            VPos::Bottom => -font.baseline(),
        };
        let [x, y] = place(at);
        let at = match direction {
            Direction::Right => [x, y + down],
            Direction::Up => [x + down, y],
        };
        self.text(words, at, font);
        Ok(())
    }
}
