//! A picture as a bitmap.

use plotters::coord::Shift;
use plotters::element::{Circle, PathElement, Polygon, Rectangle};
use plotters::prelude::{
    BitMapBackend, DrawingArea, DrawingAreaErrorKind, DrawingBackend, IntoDrawingArea,
};
use plotters::style::{Color as _, ShapeStyle};

use super::scene::{Direction, Item, Place, Scene};
use crate::error::{Error, Result};

/// Plotters does not smooth edges, so bitmaps are drawn this many times larger than an SVG is shown.
const ENLARGEMENT: f64 = 4.0;

/// Of the enlarged picture so much is averaged away: a pixel is the mean of a square of this side.
const PIXELS_AVERAGED: usize = 2;

/// The picture as a compressed bitmap with three bytes for each pixel, two pixels for each unit.
pub(super) fn encode(scene: &Scene) -> Result<Vec<u8>> {
    let [width, height] = [scene.width, scene.height].map(|size| pixels(size) as u32);
    // White; to fill so many pixels through plotters would take longer than the whole drawing.
    let mut bytes = vec![u8::MAX; width as usize * height as usize * 3];
    let area = BitMapBackend::with_buffer(&mut bytes, (width, height)).into_drawing_area();
    scene
        .items
        .iter()
        .try_for_each(|item| draw(&area, item))
        .and_then(|()| area.present())
        .map_err(|error| Error::Plot(error.to_string()))?;
    drop(area);
    let means = averaged(&bytes, width as usize);
    let mut file = Vec::new();
    let averaged = PIXELS_AVERAGED as u32;
    let mut encoder = png::Encoder::new(&mut file, width / averaged, height / averaged);
    encoder.set_color(png::ColorType::Rgb);
    // The smallest file of those that take less time to write than to draw.
    encoder.set_compression(png::Compression::Fast);
    encoder.set_filter(png::FilterType::Paeth);
    encoder
        .write_header()
        .and_then(|mut writer| writer.write_image_data(&means))
        .map_err(|error| Error::Plot(error.to_string()))?;
    Ok(file)
}

fn pixels(units: f64) -> i32 {
    (units * ENLARGEMENT).round() as i32
}

fn place([x, y]: Place) -> (i32, i32) {
    (pixels(x), pixels(y))
}

type Drawn<DB> = std::result::Result<(), DrawingAreaErrorKind<<DB as DrawingBackend>::ErrorType>>;

fn draw<DB: DrawingBackend>(area: &DrawingArea<DB, Shift>, item: &Item) -> Drawn<DB> {
    match item {
        Item::Rectangle { bounds, fill } => {
            let (left, top) = place([bounds.left, bounds.top]);
            // Plotters fills up to its second corner, without it: neighbours leave nothing between.
            let (right, bottom) = place([bounds.right, bounds.bottom]);
            // Whatever has an area shows, however thin it is.
            let corners = [(left, top), (right.max(left + 1), bottom.max(top + 1))];
            area.draw(&Rectangle::new(corners, fill.filled()))
        }
        Item::Polygon { corners, fill } => {
            let corners: Vec<_> = corners.iter().map(|&corner| place(corner)).collect();
            area.draw(&Polygon::new(corners, fill.filled()))
        }
        Item::Circle { center, radius, fill } => {
            area.draw(&Circle::new(place(*center), pixels(*radius), fill.filled()))
        }
        Item::Line { path, stroke } => {
            let path: Vec<_> = path.iter().map(|&corner| place(corner)).collect();
            let width = pixels(stroke.width).max(1) as u32;
            let style = ShapeStyle::from(stroke.color).stroke_width(width);
            area.draw(&PathElement::new(path, style))
        }
        Item::Text { words, at, font } => {
            let (x, y) = place(*at);
            // What plotters takes for half the height is above the middle of the capital letters by
            // this part of their size.
            let down = (LOWER * ENLARGEMENT * font.size).round() as i32;
            let at = match font.direction {
                Direction::Right => (x, y + down),
                Direction::Up => (x + down, y),
            };
            area.draw_text(words, &font.style(ENLARGEMENT), at)
        }
    }
}

const LOWER: f64 = 0.125;

/// Replaces each square of pixels by its mean. Millions of them pass here, so they are counted and not
/// iterated: this crate is compiled with little optimisation.
fn averaged(pixels: &[u8], width: usize) -> Vec<u8> {
    let side = PIXELS_AVERAGED;
    let (pixels, _) = pixels.as_chunks::<3>();
    let mut means = Vec::with_capacity(pixels.len() / (side * side));
    for rows in pixels.chunks_exact(width * side) {
        for square in 0..width / side {
            let mut sums = [0_u16; 3];
            for pixel in 0..side * side {
                let [red, green, blue] = rows[pixel / side * width + square * side + pixel % side];
                sums[0] += u16::from(red);
                sums[1] += u16::from(green);
                sums[2] += u16::from(blue);
            }
            let mean = |sum: u16| (sum / (side * side) as u16) as u8;
            means.push([mean(sums[0]), mean(sums[1]), mean(sums[2])]);
        }
    }
    means.into_flattened()
}
