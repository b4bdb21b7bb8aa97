//! What is the same in every picture: colours, text, marks, title and legend.
//!
//! Plotters would stack a legend in a box upon the data; ours stands in rows above them.

use super::axis::{Axis, label};
use super::measure::Better;
use super::scene::{Anchor, Bounds, Color, Font, Place, Scene, Stroke};

// The palette of Okabe and Ito (https://jfly.uni-koeln.de/color/), which every form of colour vision
// can tell apart. Marks differ in shape as well, for prints in grey.
pub(super) const VERMILLION: Color = Color(213, 94, 0);
pub(super) const BLUE: Color = Color(0, 114, 178);
pub(super) const GREEN: Color = Color(0, 158, 115);
pub(super) const SKY: Color = Color(86, 180, 233);
pub(super) const ORANGE: Color = Color(230, 159, 0);
pub(super) const YELLOW: Color = Color(240, 228, 66);
pub(super) const PURPLE: Color = Color(204, 121, 167);
pub(super) const WHITE: Color = Color(255, 255, 255);
/// Text and axes.
pub(super) const INK: Color = Color(40, 40, 40);
/// Lines and areas that belong to nobody.
pub(super) const GREY: Color = Color(150, 150, 150);
/// Grid lines at ticks.
pub(super) const GRID: Color = Color(214, 214, 214);
/// Grid lines between them.
pub(super) const FAINT: Color = Color(238, 238, 238);
/// A band of good agreement.
pub(super) const SHADE: Color = Color(228, 240, 228);

/// An area of intervals.
pub(super) const BAND: Color = Color(208, 232, 248);

/// Measured: dots.
pub(super) const MEASURED: Color = VERMILLION;
/// Predicted by equation 11: hollow diamonds.
pub(super) const PREDICTED: Color = BLUE;
/// Predicted by the refined model: hollow triangles.
pub(super) const REFINED: Color = GREEN;

/// Space at the left of titles, captions and legends.
pub(super) const INDENT: f64 = 39.0;
/// The distance of the left axis of a panel from its left edge.
pub(super) const LEFT_AXIS: f64 = 78.0;
/// Space at the right of a panel.
pub(super) const RIGHT_MARGIN: f64 = 24.0;

/// Labels at ticks.
pub(super) const LABEL: Font = Font::new(12.0, INK);
/// All other text below the title.
pub(super) const TEXT: Font = Font::new(13.0, INK);
/// The title.
const TITLE: Font = Font::new(18.0, INK);

/// Height of title and of a row of the legend.
const TITLE_HEIGHT: f64 = 44.0;
const LEGEND_ROW: f64 = 20.0;

/// Radius of a dot where there is room; a diamond is large enough to be seen around it.
pub(super) const DOT: f64 = 3.2;
const DIAMOND_TO_DOT: f64 = 1.9;

pub(super) const fn stroke(color: Color, width: f64) -> Stroke {
    Stroke { color, width }
}

/// The radius of dots that stand so far apart.
pub(super) fn dot_radius(spacing: f64) -> f64 {
    DOT.min(spacing / (2.0 * DIAMOND_TO_DOT)).max(0.8)
}

/// What stands for a kind of data in a picture and in its legend.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Mark {
    /// A filled dot.
    Dot(Color),
    /// A hollow diamond.
    Diamond(Color),
    /// A hollow triangle.
    Triangle(Color),
    /// A line, by itself or through marks.
    Line(Color),
    /// A line from the lower to the upper end of an interval.
    Interval(Color),
    /// A filled square.
    Area(Color),
    /// A star with a white rim.
    Star,
    /// A ring with a white rim.
    Ring,
}

impl Mark {
    /// Draws it to go with a dot of that radius.
    pub fn draw(self, scene: &mut Scene, [x, y]: Place, dot: f64) {
        match self {
            Self::Dot(color) => scene.circle([x, y], dot, color),
            Self::Diamond(color) => {
                // The outline is what a smaller diamond leaves of a larger one.
                let corners = |r: f64| vec![[x, y - r], [x + r, y], [x, y + r], [x - r, y]];
                let radius = dot * DIAMOND_TO_DOT;
                scene.polygon(corners(radius + 1.0), color);
                scene.polygon(corners((radius - 1.0).max(0.3)), WHITE);
            }
            Self::Triangle(color) => {
                let corners = |r: f64| {
                    vec![[x, y - r], [x + 0.87 * r, y + 0.5 * r], [x - 0.87 * r, y + 0.5 * r]]
                };
                let radius = dot * DIAMOND_TO_DOT;
                scene.polygon(corners(radius + 1.6), color);
                scene.polygon(corners((radius - 1.4).max(0.3)), WHITE);
            }
            Self::Line(color) => {
                scene.line(vec![[x - 16.0, y], [x + 16.0, y]], stroke(color, 1.4));
            }
            Self::Interval(color) => interval(scene, x, [y + 6.0, y - 6.0], color),
            Self::Area(color) => {
                scene.rectangle(Bounds::new(x - 5.0, y - 5.0, x + 5.0, y + 5.0), color);
            }
            Self::Star => {
                let corners = |outer: f64, inner: f64| -> Vec<Place> {
                    let corner = |index: i32| {
                        let angle = std::f64::consts::PI * (f64::from(index) / 5.0 - 0.5);
                        let radius = if index % 2 == 0 { outer } else { inner };
                        [x + radius * angle.cos(), y + radius * angle.sin()]
                    };
                    (0..10).map(corner).collect()
                };
                let radius = 2.2 * dot;
                scene.polygon(corners(radius + 2.6, 0.45 * radius + 2.0), WHITE);
                scene.polygon(corners(radius, 0.42 * radius), VERMILLION);
            }
            Self::Ring => {
                let radius = 1.2 * dot;
                scene.circle([x, y], radius + 1.6, WHITE);
                scene.circle([x, y], radius + 0.4, VERMILLION);
                scene.circle([x, y], (radius - 1.2).max(0.4), WHITE);
            }
        }
    }
}

/// A vertical line with ends, from one y to another.
pub(super) fn interval(scene: &mut Scene, x: f64, [low, high]: [f64; 2], color: Color) {
    let line = stroke(color, 1.0);
    scene.line(vec![[x, low], [x, high]], line);
    for y in [low, high] {
        scene.line(vec![[x - 2.5, y], [x + 2.5, y]], line);
    }
}

/// An entry of a legend: marks that lie upon one another, and what they are.
pub(super) type Entry = (Vec<Mark>, String);

/// An entry with one mark.
pub(super) fn entry(mark: Mark, words: &str) -> Entry {
    (vec![mark], words.to_string())
}

/// The height of title and legend in a picture of that width.
pub(super) fn head_height(width: f64, legend: &[Entry]) -> f64 {
    let rows = places(width, legend).last().map_or(0.0, |[_, row]| row + 1.0);
    TITLE_HEIGHT + LEGEND_ROW * rows + 12.0
}

/// Draws title and legend at the top.
pub(super) fn head(scene: &mut Scene, title: &str, legend: &[Entry]) {
    let width = scene.width;
    let room = width - INDENT - RIGHT_MARGIN;
    scene.text(&shortened(title, &TITLE, room), [INDENT, 26.0], TITLE);
    for ((marks, words), [x, row]) in legend.iter().zip(places(width, legend)) {
        let y = TITLE_HEIGHT + LEGEND_ROW * (row + 0.6);
        for mark in marks {
            mark.draw(scene, [x + mark_width(marks) / 2.0, y], 3.6);
        }
        let x = x + mark_width(marks) + 8.0;
        scene.text(&shortened(words, &TEXT, width - RIGHT_MARGIN - x), [x, y], TEXT);
    }
}

/// The places at which the entries of a legend begin: x, and the row.
fn places(width: f64, legend: &[Entry]) -> Vec<Place> {
    let (mut x, mut row) = (INDENT, 0.0);
    let place = |(marks, words): &Entry| {
        let taken = mark_width(marks) + 8.0 + TEXT.width(words);
        if x > INDENT && x + taken > width - RIGHT_MARGIN {
            (x, row) = (INDENT, row + 1.0);
        }
        let place = [x, row];
        x += taken + 26.0;
        place
    };
    legend.iter().map(place).collect()
}

fn mark_width(marks: &[Mark]) -> f64 {
    if marks.iter().any(|mark| matches!(mark, Mark::Line(_))) { 32.0 } else { 12.0 }
}

/// The words on one line, cut where they are wider than `room`.
pub(super) fn shortened(words: &str, font: &Font, room: f64) -> String {
    // No picture has room for so many letters; measuring more would only take time.
    let line: String = words.chars().take(400).collect();
    let is_whole = line.len() == words.len();
    if is_whole && font.width(&line) <= room {
        return line;
    }
    let ends: Vec<usize> = line.char_indices().map(|(index, _)| index).collect();
    let fits = |&end: &usize| font.width(&format!("{}…", &line[..end])) <= room;
    let fitting = ends.partition_point(fits);
    format!("{}…", &line[..fitting.checked_sub(1).map_or(0, |last| ends[last])])
}

/// Draws a text on a white ground, for places with lines behind.
pub(super) fn text_on_white(scene: &mut Scene, words: &str, at: Place, font: Font) {
    let bounds = super::scene::text_bounds(words, at, &font);
    let Bounds { left, top, right, bottom } = bounds;
    scene.rectangle(Bounds::new(left - 2.0, top - 2.5, right + 2.0, bottom + 2.5), WHITE);
    scene.text(words, at, font);
}

/// Nine colours of viridis (Smith and van der Walt 2015, released as CC0), evenly spaced; between
/// them it is straight to within what an eye can see.
const VIRIDIS: [Color; 9] = [
    Color(68, 1, 84),
    Color(71, 45, 123),
    Color(59, 82, 139),
    Color(44, 114, 142),
    Color(33, 145, 140),
    Color(40, 174, 128),
    Color(94, 201, 98),
    Color(173, 220, 48),
    Color(253, 231, 37),
];

/// Steps of the sequence: cells of the same step share an element of the file.
pub(super) const STEPS: usize = 96;

/// The step of a fraction from 0 to 1.
pub(super) fn step(fraction: f64) -> usize {
    ((fraction.clamp(0.0, 1.0) * STEPS as f64) as usize).min(STEPS - 1)
}

/// The colour of a step; the first is the darkest.
pub(super) fn color(step: usize) -> Color {
    let place = (step as f64 + 0.5) / STEPS as f64 * (VIRIDIS.len() - 1) as f64;
    let index = (place as usize).min(VIRIDIS.len() - 2);
    let part = place - index as f64;
    let (from, to) = (VIRIDIS[index], VIRIDIS[index + 1]);
    let mix = |from: u8, to: u8| {
        (f64::from(from) + part * (f64::from(to) - f64::from(from))).round() as u8
    };
    Color(mix(from.0, to.0), mix(from.1, to.1), mix(from.2, to.2))
}

/// Relative luminance, from 0 (black) to 1 (white), as WCAG 2.2 defines it.
fn luminance(Color(red, green, blue): Color) -> f64 {
    let linear = |part: u8| {
        let part = f64::from(part) / 255.0;
        if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
}

/// Black or white, whichever is read more easily on that colour.
pub(super) fn ink_on(ground: Color) -> Color {
    // The contrasts (1 + 0.05)/(L + 0.05) and (L + 0.05)/0.05 are equal where L is 0.179.
    if luminance(ground) < 0.179 { WHITE } else { Color(0, 0, 0) }
}

/// The colour of a step from small to large numbers: what is better is light.
pub(super) fn shade(step: usize, better: Better) -> usize {
    match better {
        Better::Smaller => STEPS - 1 - step,
        Better::Larger => step,
    }
}

/// The colours with their numbers, the small ones at the bottom.
pub(super) fn color_bar(
    scene: &mut Scene,
    bar: Bounds,
    (shades, better): (&Axis, Better),
    title: &str,
) {
    let height = bar.height() / STEPS as f64;
    for step in 0..STEPS {
        let [top, bottom] = [step + 1, step].map(|part| bar.bottom - height * part as f64);
        let bounds = Bounds::new(bar.left, top, bar.right, bottom);
        scene.rectangle(bounds, color(shade(step, better)));
    }
    for &tick in &shades.ticks {
        let y = bar.bottom - shades.fraction(tick) * bar.height();
        scene.line(vec![[bar.right, y], [bar.right + 4.0, y]], stroke(INK, 1.0));
        scene.text(&label(tick), [bar.right + 8.0, y], LABEL);
    }
    scene.text(title, [bar.left - 14.0, bar.middle()[1]], TEXT.at(Anchor::Middle).upwards());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_is_lighter_than_the_one_before() {
        let lights: Vec<f64> = (0..STEPS).map(|step| luminance(color(step))).collect();
        assert!(lights.windows(2).all(|pair| pair[0] < pair[1]), "{lights:?}");
        assert!(lights[0] < 0.03 && lights[STEPS - 1] > 0.7);
    }

    #[test]
    fn words_have_the_contrast_that_wcag_asks_for() {
        for ground in (0..STEPS).map(color) {
            let (ink, ground) = (luminance(ink_on(ground)), luminance(ground));
            let contrast = (ink.max(ground) + 0.05) / (ink.min(ground) + 0.05);
            assert!(contrast >= 4.5, "{contrast} on {ground}");
        }
    }

    #[test]
    fn fractions_beyond_the_ends_have_the_colours_of_the_ends() {
        assert_eq!((step(-1.0), step(0.0), step(1.0), step(7.0)), (0, 0, STEPS - 1, STEPS - 1));
        assert_eq!(step(f64::NAN), 0);
    }
}
