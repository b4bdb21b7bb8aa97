//! From a picture to the bytes of a file.

use std::sync::OnceLock;

use plotters::prelude::{BitMapBackend, DrawingBackend, IntoDrawingArea, SVGBackend, WHITE};
use plotters::style::{FontStyle, register_font};

use super::{Area, Format, Picture};
use crate::error::{Error, Result};

/// Plotters places everything at whole numbers, so pictures are drawn this many times larger than
/// they are shown: the times on an axis keep their small differences.
const ENLARGEMENT: u32 = 4;

/// Of that, how much is averaged away in a PNG, for smooth edges.
const PIXELS_AVERAGED: u32 = 2;

/// The font's name, and what a viewer without it may take instead.
pub(super) const FONT: &str = "DejaVu Sans, Verdana, Arial, sans-serif";

static FONT_DATA: &[u8] = include_bytes!("../../data/fonts/DejaVuSans-subset.ttf");

/// A place on the enlarged picture, or in one of its areas: x to the right, y down.
pub(super) type Pixel = (i32, i32);

/// A length in units of the SVG, as plotters is told it.
pub(super) const fn px(units: i32) -> i32 {
    units * ENLARGEMENT as i32
}

/// Draws a picture and encodes it.
pub(super) fn render(picture: &impl Picture, format: Format) -> Result<Vec<u8>> {
    static REGISTERED: OnceLock<bool> = OnceLock::new();
    let is_known =
        REGISTERED.get_or_init(|| register_font(FONT, FontStyle::Normal, FONT_DATA).is_ok());
    assert!(is_known, "invariant: the font that is compiled in is valid");
    match format {
        Format::Svg => svg(picture),
        Format::Png => png(picture),
    }
}

fn enlarged(picture: &impl Picture) -> (u32, u32) {
    let (width, height) = picture.size();
    (width * ENLARGEMENT, height * ENLARGEMENT)
}

fn draw<DB: DrawingBackend>(picture: &impl Picture, area: &Area<DB>) -> Result<()> {
    picture.draw(area).and_then(|()| area.present()).map_err(|error| Error::Plot(error.to_string()))
}

/// The picture as text; its coordinates are enlarged, its size is not.
fn svg(picture: &impl Picture) -> Result<Vec<u8>> {
    let mut text = String::new();
    let area = SVGBackend::with_string(&mut text, enlarged(picture)).into_drawing_area();
    area.fill(&WHITE).map_err(|error| Error::Plot(error.to_string()))?;
    draw(picture, &area)?;
    drop(area);
    let (width, height) = enlarged(picture);
    let drawn = format!(r#"<svg width="{width}" height="{height}""#);
    let (width, height) = picture.size();
    let shown = format!(r#"<svg width="{width}" height="{height}""#);
    Ok(text.replacen(&drawn, &shown, 1).into_bytes())
}

/// The picture as a compressed bitmap with three bytes for each pixel.
fn png(picture: &impl Picture) -> Result<Vec<u8>> {
    let (width, height) = enlarged(picture);
    // White; to fill so many pixels through plotters would take longer than the whole drawing.
    let mut pixels = vec![u8::MAX; width as usize * height as usize * 3];
    draw(picture, &BitMapBackend::with_buffer(&mut pixels, (width, height)).into_drawing_area())?;
    let pixels = averaged(&pixels, width as usize);
    let mut bytes = Vec::new();
    let mut encoder =
        png::Encoder::new(&mut bytes, width / PIXELS_AVERAGED, height / PIXELS_AVERAGED);
    encoder.set_color(png::ColorType::Rgb);
    // The smallest file of those that take less time to write than to draw.
    encoder.set_compression(png::Compression::Fast);
    encoder.set_filter(png::FilterType::Paeth);
    encoder
        .write_header()
        .and_then(|mut writer| writer.write_image_data(&pixels))
        .map_err(|error| Error::Plot(error.to_string()))?;
    Ok(bytes)
}

/// Replaces each square of pixels by its mean.
fn averaged(pixels: &[u8], width: usize) -> Vec<u8> {
    let side = PIXELS_AVERAGED as usize;
    let mut means = Vec::with_capacity(pixels.len() / (side * side));
    let mut sums = vec![0_u16; width / side * 3];
    for rows in pixels.chunks_exact(width * 3 * side) {
        sums.fill(0);
        for row in rows.chunks_exact(width * 3) {
            for (sums, square) in sums.chunks_exact_mut(3).zip(row.chunks_exact(3 * side)) {
                for pixel in square.chunks_exact(3) {
                    for (sum, &value) in sums.iter_mut().zip(pixel) {
                        *sum += u16::from(value);
                    }
                }
            }
        }
        means.extend(sums.iter().map(|sum| (sum / (side * side) as u16) as u8));
    }
    means
}
