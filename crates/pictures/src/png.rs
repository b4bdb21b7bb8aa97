//! A picture as a bitmap.

use plotters::prelude::BitMapBackend;
use plotters::style::{Color as _, ShapeStyle};
use plotters_backend::{DrawingBackend, DrawingErrorKind};

use super::scene::{Direction, Item, Place, Scene};
use crate::error::{Error, Result};

/// Plotters does not smooth edges, so bitmaps are drawn this many times larger than an SVG is shown.
const ENLARGEMENT: f64 = 4.0;

/// The side of the square of enlarged pixels whose mean is a pixel of the file.
const PIXELS_AVERAGED: usize = 2;

/// The picture as a compressed bitmap with three bytes for each pixel, two pixels for each unit.
pub(super) fn encode(scene: &Scene) -> Result<Vec<u8>> {
    let [width, height] = [scene.width, scene.height].map(|size| pixels(size) as u32);
    // White; to fill so many pixels through plotters would take longer than the whole drawing.
    let mut bytes = vec![u8::MAX; width as usize * height as usize * 3];
    let mut bitmap = BitMapBackend::with_buffer(&mut bytes, (width, height));
    scene
        .items
        .iter()
        .try_for_each(|item| draw(&mut bitmap, item))
        .and_then(|()| bitmap.present())
        .map_err(|error| Error::Plot(error.to_string()))?;
    drop(bitmap);
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

fn draw<DB: DrawingBackend>(
    bitmap: &mut DB,
    item: &Item,
) -> std::result::Result<(), DrawingErrorKind<DB::ErrorType>> {
    match item {
        Item::Rectangle { bounds, fill } => {
            let (left, top) = place([bounds.left, bounds.top]);
            // Plotters fills up to its second corner, without it: neighbours leave nothing between.
            let (right, bottom) = place([bounds.right, bounds.bottom]);
            // Whatever has an area shows, however thin it is.
            let end = (right.max(left + 1), bottom.max(top + 1));
            bitmap.draw_rect((left, top), end, &fill.to_backend_color(), true)
        }
        Item::Polygon { corners, fill } => {
            let corners = corners.iter().map(|&corner| place(corner));
            bitmap.fill_polygon(corners, &fill.to_backend_color())
        }
        Item::Circle { center, radius, fill } => {
            let radius = pixels(*radius) as u32;
            bitmap.draw_circle(place(*center), radius, &fill.to_backend_color(), true)
        }
        Item::Line { path, stroke } => {
            let width = pixels(stroke.width).max(1) as u32;
            let style = ShapeStyle::from(stroke.color).stroke_width(width);
            bitmap.draw_path(path.iter().map(|&corner| place(corner)), &style)
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
            bitmap.draw_text(words, &font.style(ENLARGEMENT), at)
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
