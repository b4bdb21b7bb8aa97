//! No text leaves a picture, overlaps another, or lacks a letter of the font.

use super::*;

/// Draws all pictures of rows that there is something to draw of.
fn check_all(name: &str, rows: &[Validation], percent: f64) {
    let parameters = published("pbpi-qs20").expect("it is published");
    let (predictions, splits) = (predictions(rows, percent), splits(rows));
    let times = compared(rows, &predictions);
    for (kind_name, kind) in pictures(&times, (&parameters, &splits)) {
        match scene(&Picture { title: &"long title ".repeat(30), kind }) {
            Ok(scene) => check_texts(&format!("{name}, {kind_name}"), &scene),
            Err(Error::TooLittleData { .. }) => {}
            Err(error) => panic!("{name}, {kind_name}: {error}"),
        }
    }
}

/// No text leaves the picture or overlaps another.
pub(super) fn check_texts(name: &str, scene: &Scene) {
    let texts: Vec<(&str, Bounds)> = scene
        .items
        .iter()
        .filter_map(|item| match item {
            Item::Text { words, at, font } => Some((words.as_str(), text_bounds(words, *at, font))),
            _ => None,
        })
        .collect();
    let mut sorted: Vec<&(&str, Bounds)> = texts.iter().collect();
    sorted.sort_by(|one, other| one.1.left.total_cmp(&other.1.left));
    for (index, (words, bounds)) in sorted.iter().enumerate() {
        assert!(scene.bounds().holds(bounds), "{name}: {words:?} is cut: {bounds:?}");
        // Those that begin further right than this one ends cannot overlap it.
        let near = sorted[index + 1..].iter().take_while(|(_, other)| other.left < bounds.right);
        for (others, other) in near {
            assert!(!bounds.overlaps(other), "{name}: {words:?} overlaps {others:?}");
        }
    }
}

#[test]
fn no_text_leaves_a_picture_or_overlaps_another() {
    for (name, rows) in extremes() {
        check_all(name, &rows, 3.0);
        check_all(&format!("{name}, no uncertainty"), &rows, 0.0);
    }
}

/// Studies that leave little to draw, or much, or draw it at the ends of the scales.
fn extremes() -> Vec<(&'static str, Vec<Validation>)> {
    let one_m = study(16).into_iter().filter(|row| row.m == 1).collect();
    let identical = study(16).iter().map(|one| row(one.m, one.p, 0.3, 0.3)).collect();
    let zero = study(16).iter().map(|one| row(one.m, one.p, 0.0, 0.0)).collect();
    let plain = study(16).into_iter().map(|it| row(it.m, it.p, it.measured_s, it.predicted_s));
    let powers = (0..11).map(|k| row(1 << k, 1, 1.0, 1.0)).collect();
    let mut apart = study(16);
    apart[0].predicted_s = 15.0;
    apart[49].measured_s = 20.0;
    vec![
        ("a usual one", study(16)),
        ("no refined model", plain.collect()),
        ("six APUs", study(6)),
        ("one row", vec![row(1, 1, 2.0, 2.1)]),
        ("one row in neither curve", vec![row(4, 6, 2.0, 2.1)]),
        ("one m", one_m),
        ("identical times", identical),
        ("no time at all", zero),
        ("two hundred configurations", study(50)),
        ("thousands", study(512)),
        ("nanoseconds", scaled(16, 1e-9 / 30.0)),
        ("megaseconds", scaled(16, 1e6 / 30.0)),
        ("all magnitudes", vec![row(1, 1, 1e-9, 1e6), row(1, 2, 5e-324, 1e14)]),
        ("powers of two", powers),
        (
            "large counts",
            vec![row(1, 1, 1.0, 2.0), row(u32::MAX / 2, 2, 1.0, 2.0), row(u32::MAX, 1, 1.0, 1.0)],
        ),
        ("best ones at opposite edges", apart),
    ]
}

#[test]
fn no_text_of_panels_leaves_the_picture_or_overlaps_another() {
    let long = "a long <name> ".repeat(20);
    let odd = Panel {
        points: vec![[0.0, -1.0], [f64::NAN, 1.0]],
        fit: vec![],
        ..panel("", Scale::Log, 1.0)
    };
    for factor in [1e-9, 1.0, 1e9, 0.0] {
        let mut panels = vec![odd.clone()];
        for scale in [Scale::Linear, Scale::Log] {
            panels.extend([panel("short", scale, factor), panel(&long, scale, factor)]);
        }
        let kind = Kind::Benchmarks(&panels);
        check_texts("panels", &scene(&Picture { title: &long, kind }).expect("a picture"));
    }
}

#[test]
fn no_text_of_a_run_leaves_the_picture_or_overlaps_another() {
    for factor in [1e-9, 1e-3, 1e6] {
        for names in ["SPE", &"long name".repeat(20)] {
            let trace = trace(names, factor);
            for window in [Window::default(), Window { from_s: Some(3.0 * factor), to_s: None }] {
                let kind = Kind::Gantt { trace: &trace, window };
                check_texts(names, &scene(&Picture { title: names, kind }).expect("a picture"));
            }
        }
    }
}

/// Every letter of a picture is in the font that is shipped.
#[test]
fn the_font_has_every_letter_that_pictures_use() {
    // A letter that is missing is drawn as the first glyph, a box.
    let width = |letter: &str| scene::Font::new(100.0, style::INK).width(letter);
    let missing = width("\u{4e00}");
    for letter in ["µ", "×", "·", "−", "…", "±", "α"] {
        assert!(width(letter) != missing, "{letter} is not in the font");
    }
}
