//! Pictures at any number of APUs, and of runs that no validation made.

use super::*;

fn predicted(m: u32, p: u32, time: f64, interval: Option<(f64, f64)>) -> PredictedTime {
    let interval = interval.map(|(low, high)| (Seconds(low), Seconds(high)));
    let (mapping, time) = (Mapping::of(m, p), Seconds(time));
    PredictedTime { mapping, time, interval, standing: Standing::Slower }
}

fn ran(m: u32, p: u32, time: f64, repetitions: u32) -> MeasuredTime {
    MeasuredTime { mapping: Mapping::of(m, p), time: Seconds(time), repetitions }
}

/// Three predictions, one of which ran, and a run that was not predicted.
fn runs() -> Times {
    let interval = Some((2.5, 4.0));
    let rows = vec![predicted(1, 1, 8.0, None), predicted(1, 2, 4.0, None)];
    let rows = rows.into_iter().chain([predicted(2, 2, 3.0, interval)]).collect();
    Times {
        measured: vec![ran(2, 2, 3.3, 3), ran(4, 1, 2.0, 5)],
        measured_as: "emulated".into(),
        measure: Default::default(),
        predicted: Series { name: "the mean of three models".into(), rows },
        beside: None,
        names: Default::default(),
        failed: Vec::new(),
    }
}

fn drawn(kind: Kind<'_>) -> Scene {
    scene(&Picture { title: "", kind }).expect("a picture")
}

fn circles(scene: &Scene, color: scene::Color) -> usize {
    let is_it = |item: &&Item| matches!(item, Item::Circle { fill, .. } if *fill == color);
    scene.items.iter().filter(is_it).count()
}

#[test]
fn runs_and_predictions_need_not_be_of_the_same_configurations() {
    let times = runs();
    let expected = [
        "emulated, 3 to 5 runs each",
        "predicted by the mean of three models",
        "95 % interval of the mean of three models",
        "emulated best (4, 1) 2.000 s",
        "predicted best (2, 2) 3.000 s",
    ];
    check_words(Kind::OverAll(&times), &expected);
    check_words(Kind::Combined(&times), &expected);
    // One of the legend, and one for each run.
    assert_eq!(circles(&drawn(Kind::OverAll(&times)), style::MEASURED), 1 + 2);
}

#[test]
fn parity_shows_what_has_both_times_in_the_words_of_the_caller() {
    let times = runs();
    let axes = ["emulated time [s]", "predicted time [s]", "within 10 % of the emulated time"];
    check_words(Kind::Parity(&times), &axes);
    check_words(Kind::Parity(&times), &["predicted by the mean of three models, mean error 9.1 %"]);
    check_words(
        Kind::Parity(&Times { measured: Vec::new(), ..runs() }),
        &["no configuration has both times above 0"],
    );
}

#[test]
fn a_map_of_predictions_marks_what_ran() {
    let times = runs();
    check_words(Kind::HeatMap(&times), &["predicted time [s]", "emulated"]);
    check_words(Kind::MeasuredHeatMap(&times), &["emulated time [s]"]);
    // One of the legend, and one for the run that has a cell.
    assert_eq!(circles(&drawn(Kind::HeatMap(&times)), style::INK), 1 + 1);
    let rows = study(16);
    let all = compared(&rows, &predictions(&rows, 3.0));
    check_words(Kind::HeatMap(&all), &["all measured"]);
    assert_eq!(circles(&drawn(Kind::HeatMap(&all)), style::INK), 0);
}

/// The rectangles of a map, of any colour but white, and those of its colour bar.
fn tiles(scene: &Scene) -> Vec<Bounds> {
    let tile = |item: &Item| match item {
        Item::Rectangle { bounds, .. } if bounds.right < 900.0 && bounds.top > 60.0 => {
            Some(*bounds)
        }
        _ => None,
    };
    scene.items.iter().filter_map(tile).collect()
}

#[test]
fn a_map_of_thousands_has_cells_that_can_be_seen_with_nothing_between() {
    for apus in [64, 512, 2000] {
        let rows = study(apus);
        let times = compared(&rows, &predictions(&rows, 3.0));
        let tiles = tiles(&drawn(Kind::HeatMap(&times)));
        assert!(tiles.len() > 100 && tiles.len() < 4000, "{} of {apus}", tiles.len());
        for tile in &tiles {
            assert!(tile.width() >= 5.0 && tile.height() >= 5.0, "{tile:?} of {apus}");
            // Whole pixels of a bitmap, so that the borders of neighbours are the same.
            let sides = [tile.left, tile.right];
            assert!(sides.iter().all(|side| (side * 2.0).fract() == 0.0), "{tile:?}");
        }
    }
}

#[cfg(feature = "png")]
#[test]
fn no_line_of_the_ground_shows_between_the_cells_of_a_bitmap() {
    let rows = study(64);
    let times = compared(&rows, &[]);
    let kind = Kind::MeasuredHeatMap(&times);
    let bytes = draw(&Picture { title: "", kind }, Format::Png).expect("a picture");
    let mut reader = ::png::Decoder::new(&bytes[..]).read_info().expect("a PNG");
    let mut pixels = vec![0; reader.output_buffer_size()];
    let width = reader.next_frame(&mut pixels).expect("one picture").width as usize;
    // Up through the middle of the cells of p = 1, clear of the lines of equal m*p.
    let map = drawn(kind);
    let corner = tiles(&map).iter().map(|tile| tile.bottom).fold(0.0, f64::max);
    let column = (2.0 * 90.0) as usize;
    for row in (2.0 * corner) as usize - 1000..(2.0 * corner) as usize - 4 {
        let at = 3 * (row * width + column);
        let [red, ..] = pixels[at..at + 3] else { panic!("no pixel") };
        assert!(
            red < 100,
            "{red} in row {row}: lighter than any time of m = p = 1 and its neighbours"
        );
    }
}

#[test]
fn a_breakdown_has_two_dozen_configurations_at_most_and_says_which() {
    let parameters = published("pbpi-qs20").expect("it is published");
    for (apus, which) in [
        (16, "(m, p): the fastest of each m, 16 of 50"),
        (64, "(m, p): the fastest of m = 1, 2, 3, 4, 6, 8, 12 … and of all, "),
        (512, "(m, p): the fastest of m = 1, 2, 3, 4, 6, 8, 12 … and of all, "),
    ] {
        let rows = study(apus);
        let splits = splits(&rows);
        let kind = Kind::Breakdown { parameters: &parameters, splits: &splits };
        let scene = drawn(kind);
        assert!(words(&scene).iter().any(|words| words.starts_with(which)), "{apus}");
        let upright = |item: &&Item| {
            matches!(item, Item::Text { words, font, .. }
                if font.direction == scene::Direction::Up && words.ends_with('s'))
        };
        let count = scene.items.iter().filter(upright).count();
        assert!((12..=24).contains(&count), "{count} of {apus}");
    }
}

#[test]
fn a_wide_interval_does_not_flatten_the_times() {
    let rows = study(16);
    let narrow = compared(&rows, &[]);
    let mut wide = narrow.clone();
    wide.predicted.rows[3].interval = Some((Seconds(0.0), Seconds(1e9)));
    let height = |times: &Times| {
        let scene = drawn(Kind::AgainstM(times));
        let dots = scene.items.iter().filter_map(|item| match item {
            Item::Circle { center, .. } if center[1] > 100.0 => Some(center[1]),
            _ => None,
        });
        let ends = dots.fold((f64::MAX, f64::MIN), |(low, high), y| (low.min(y), high.max(y)));
        ends.1 - ends.0
    };
    wide.predicted.rows.rotate_left(16);
    assert!(height(&wide) > 0.5 * height(&narrow), "{} {}", height(&wide), height(&narrow));
}
