//! What a picture consists of, before it becomes a file: areas, lines and texts in order, the later
//! above the earlier.

use super::font::text_width;

/// A place or a distance in units of the SVG: x to the right, y down.
pub(super) type Place = [f64; 2];

/// Red, green and blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Color(pub u8, pub u8, pub u8);

/// A rectangle whose sides are those of the picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bounds {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

impl Bounds {
    /// By its sides.
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
        text_width(words, self.size)
    }
}

/// Height of capital letters over the size of the font: DejaVu Sans's.
const CAPITAL: f64 = 0.729;

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
#[derive(Debug, Clone)]
pub(super) struct Scene {
    pub width: f64,
    pub height: f64,
    /// What it shows, for those who cannot see it.
    pub title: String,
    pub items: Vec<Item>,
}

impl Scene {
    /// A white one.
    pub fn new(width: f64, height: f64, title: &str) -> Self {
        Self { width, height, title: printable(title), items: Vec::new() }
    }

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
        self.items.push(Item::Text { words: printable(words), at, font });
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
    let half = CAPITAL * font.size / 2.0;
    match font.direction {
        Direction::Right => Bounds::new(x + start, y - half, x + start + width, y + half),
        Direction::Up => Bounds::new(x - half, y - start - width, x + half, y - start),
    }
}

/// How far the baseline is below the middle of the capital letters.
pub(super) fn baseline(font: &Font) -> f64 {
    CAPITAL * font.size / 2.0
}
