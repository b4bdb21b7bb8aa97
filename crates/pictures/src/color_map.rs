//! Colours for numbers: a sequence that gets lighter evenly, which colour-blind readers and grey
//! prints can follow; and their key beside a map.

use super::axis::{Axis, label};
use super::measure::Better;
use super::scene::{Anchor, Bounds, Color, Scene};
use super::style::{INK, LABEL, TEXT, WHITE, stroke};

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
