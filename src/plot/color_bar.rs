//! Colours with their numbers, beside a map.

use super::axis::{Axis, label};
use super::color_map::{self, STEPS};
use super::measure::Better;
use super::scene::{Anchor, Bounds, Scene};
use super::style::{INK, LABEL, TEXT, stroke};

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
        let [top, bottom] =
            [STEPS - step, STEPS - step - 1].map(|part| bar.bottom - height * part as f64);
        let color = color_map::color(shade(STEPS - 1 - step, better));
        scene.rectangle(Bounds::new(bar.left, top, bar.right, bottom), color);
    }
    for &tick in &shades.ticks {
        let y = bar.bottom - shades.fraction(tick) * bar.height();
        scene.line(vec![[bar.right, y], [bar.right + 4.0, y]], stroke(INK, 1.0));
        scene.text(&label(tick), [bar.right + 8.0, y], LABEL);
    }
    scene.text(title, [bar.left - 14.0, bar.middle()[1]], TEXT.at(Anchor::Middle).upwards());
}
