//! A picture as Scalable Vector Graphics.

use std::fmt::Write as _;

use super::scene::{Anchor, Bounds, Color, Direction, FONT, Font, Item, Place, Scene};

/// The picture as text. Neighbours that look alike share one element.
pub(super) fn encode(scene: &Scene) -> String {
    let (width, height) = (scene.width, scene.height);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\" font-family=\"{FONT}\"{}>\n\
         <title>{}</title>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n",
        spots(scene),
        escaped(&scene.title)
    );
    let mut open = None;
    for item in &scene.items {
        let look = Look::of(item);
        if open != Some(look) {
            svg.push_str(open.map_or("", Look::end));
            look.begin(&mut svg);
        }
        open = Some(look);
        // Writing to a string cannot fail.
        let _ = write_item(&mut svg, item);
    }
    svg.push_str(open.map_or("", Look::end));
    svg.push_str("</svg>\n");
    svg
}

/// What a page that answers to a pointer needs: `x y|words` of points, of cells `x y width height|words`.
fn spots(scene: &Scene) -> String {
    let tenths = |value: f64| (value * 10.0).round() / 10.0;
    let written = |(bounds, words): &(Bounds, String)| {
        let Bounds { left, top, .. } = bounds;
        let [x, y, width, height] = [*left, *top, bounds.width(), bounds.height()].map(tenths);
        let size = if width > 0.0 { format!(" {width} {height}") } else { String::new() };
        // Spots end with a semicolon, and their places with a bar.
        let words = words.replace(';', ",").replace('|', "/");
        format!("{x} {y}{size}|{}", escaped(&words).replace('"', "&quot;"))
    };
    let all: Vec<String> = scene.spots.iter().map(written).collect();
    if all.is_empty() { String::new() } else { format!(" data-spots=\"{}\"", all.join(";")) }
}

/// What the items of one element have in common.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Look {
    /// Rectangles, whose edges are those of pixels, so that neighbours have nothing between them.
    Crisp(Color),
    Filled(Color),
    Circles(Color),
    Line(Color, f64),
    Text(Font),
}

impl Look {
    fn of(item: &Item) -> Self {
        match item {
            Item::Rectangle { fill, .. } => Self::Crisp(*fill),
            Item::Polygon { fill, .. } => Self::Filled(*fill),
            Item::Circle { fill, .. } => Self::Circles(*fill),
            Item::Line { stroke, .. } => Self::Line(stroke.color, stroke.width),
            Item::Text { font, .. } => Self::Text(*font),
        }
    }

    fn begin(self, svg: &mut String) {
        let _ = match self {
            Self::Crisp(color) => {
                write!(svg, "<path shape-rendering=\"crispEdges\" fill=\"{}\" d=\"", hex(color))
            }
            Self::Filled(color) => write!(svg, "<path fill=\"{}\" d=\"", hex(color)),
            Self::Circles(color) => write!(svg, "<g fill=\"{}\">", hex(color)),
            Self::Line(color, width) => write!(
                svg,
                "<path fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" d=\"",
                hex(color),
                number(width)
            ),
            Self::Text(font) => {
                let anchor = match font.anchor {
                    Anchor::Start => "start",
                    Anchor::Middle => "middle",
                    Anchor::End => "end",
                };
                write!(
                    svg,
                    "<g fill=\"{}\" font-size=\"{}\" text-anchor=\"{anchor}\">",
                    hex(font.color),
                    number(font.size)
                )
            }
        };
    }

    fn end(self) -> &'static str {
        match self {
            Self::Crisp(_) | Self::Filled(_) | Self::Line(..) => "\"/>\n",
            Self::Circles(_) | Self::Text(_) => "</g>\n",
        }
    }
}

fn write_item(svg: &mut String, item: &Item) -> std::fmt::Result {
    match item {
        Item::Rectangle { bounds, .. } => {
            let (width, height) = (number(bounds.width()), number(bounds.height()));
            let (left, top) = (number(bounds.left), number(bounds.top));
            write!(svg, "M{left} {top}h{width}v{height}h-{width}z")
        }
        Item::Polygon { corners, .. } => {
            write_path(svg, corners)?;
            svg.write_char('z')
        }
        Item::Line { path, .. } => write_path(svg, path),
        Item::Circle { center: [x, y], radius, .. } => {
            let (x, y, radius) = (number(*x), number(*y), number(*radius));
            write!(svg, "<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"/>")
        }
        Item::Text { words, at: [x, y], font } => {
            let (turned, [x, y]) = match font.direction {
                Direction::Right => ("", [*x, y + font.baseline()]),
                // Turned about the origin, what was the place (x, y) is (-y, x).
                Direction::Up => (" transform=\"rotate(-90)\"", [-y, x + font.baseline()]),
            };
            let (x, y) = (number(x), number(y));
            write!(svg, "<text x=\"{x}\" y=\"{y}\"{turned}>{}</text>", escaped(words))
        }
    }
}

fn write_path(svg: &mut String, path: &[Place]) -> std::fmt::Result {
    for (index, [x, y]) in path.iter().enumerate() {
        let command = if index == 0 { 'M' } else { 'L' };
        write!(svg, "{command}{} {}", number(*x), number(*y))?;
    }
    Ok(())
}

/// Hundredths of a unit are less than anyone can see.
fn number(value: f64) -> f64 {
    // Adding 0 makes -0 a 0.
    (value * 100.0).round() / 100.0 + 0.0
}

fn hex(Color(red, green, blue): Color) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

fn escaped(words: &str) -> String {
    words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
