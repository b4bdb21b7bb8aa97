//! Pictures of a program under several schedulers.

use super::*;

fn row(scheduler: &str, (workers, tasks): (u32, u32), time_s: f64) -> Scheduled {
    Scheduled {
        scheduler: scheduler.into(),
        workers,
        tasks,
        spes_per_task: 1,
        time_s,
        apu_busy_percent: 50.0,
        apu_idle_per_offload_us: 1e6 * time_s,
        context_switches: 3,
        offloads: 100,
        seed: 1,
    }
}

/// Twelve schedulers, the last of which is the slowest, at these numbers of workers and tasks.
fn rows(places: &[(u32, u32)], factor: f64) -> Vec<Scheduled> {
    let of = |index: u32| {
        let name = format!("scheduler-{index}:ready");
        let excess = 1.0 + 0.01 * f64::from(index);
        let row = move |&(workers, tasks): &(u32, u32)| {
            let time = factor * excess * f64::from(tasks) / f64::from(workers);
            row(&name, (workers, tasks), time)
        };
        places.iter().map(row).collect::<Vec<_>>()
    };
    (0..12).flat_map(of).collect()
}

const QUANTITIES: [Quantity; 3] = [Quantity::Time, Quantity::OverFastest, Quantity::ApuIdle];

#[test]
fn no_text_leaves_a_picture_or_overlaps_another() {
    let follow: Vec<(u32, u32)> = (1..=16).map(|count| (count, count)).collect();
    let crossed = |workers: u32| (1..=workers).flat_map(|m| (0..8).map(move |k| (m, 1 << k)));
    let crossed: Vec<(u32, u32)> = crossed(8).collect();
    let places = [&follow[..], &crossed, &[(8, 16)], &[(1, 1)], &[(2, 4), (u32::MAX, 4)]];
    for places in places {
        for factor in [1e-9, 1.0, 1e6, 0.0] {
            let rows = rows(places, factor);
            for quantity in QUANTITIES {
                let kind = Kind::Schedulers { rows: &rows, quantity };
                let scene = scene(&Picture { title: &"long title ".repeat(30), kind });
                let name = format!("{quantity:?}, {factor}, {places:?}");
                texts::check_texts(&name, &scene.expect("a picture"));
            }
        }
    }
}

#[test]
fn what_has_more_values_lies_on_the_axis_and_the_other_divides_panels() {
    let check = |places: &[(u32, u32)], expected: &[&str]| {
        let rows = rows(places, 1e-3);
        check_words(Kind::Schedulers { rows: &rows, quantity: Quantity::Time }, expected);
    };
    let names = ["scheduler-0:ready", "scheduler-11:ready", "time [ms]"];
    let with = |words: &[&'static str]| [words, &names].concat();
    check(&[(1, 1), (2, 2)], &with(&["A task for each worker", "workers"]));
    check(&[(1, 4), (2, 4), (3, 4)], &with(&["4 tasks", "workers"]));
    check(&[(1, 4), (1, 8), (2, 4), (2, 8)], &with(&["1 worker", "2 workers", "tasks"]));
    // One run of each: bars with their values.
    let ends = ["1 worker, 2 tasks", "2", "2.22", "time [ms]", "scheduler-11:ready"];
    check(&[(1, 2)], &ends);
}

#[test]
fn every_scheduler_has_a_colour_and_a_mark_of_its_own() {
    let rows = rows(&[(1, 1), (2, 2)], 1.0);
    let points = Kind::Schedulers { rows: &rows, quantity: Quantity::Time };
    let scene = scene(&Picture { title: "", kind: points }).expect("a picture");
    // Marks of the legend, by what is drawn after the line of each entry.
    let mut looks = Vec::new();
    for pair in scene.items.windows(2) {
        if let [Item::Line { stroke, .. }, mark] = pair
            && stroke.width == 1.4
        {
            let corners = match mark {
                Item::Polygon { corners, .. } => corners.len(),
                _ => 0,
            };
            let look = (stroke.color.0, stroke.color.1, corners);
            assert!(!looks.contains(&look), "{look:?}");
            looks.push(look);
        }
    }
    assert_eq!(looks.len(), 12);
}

#[test]
fn one_that_is_far_above_all_others_does_not_flatten_them() {
    let words = |far: f64| {
        let place = |count: u32| (count, count);
        let rows: Vec<Scheduled> = (1..4)
            .flat_map(|count| {
                let times = [("one", 1.0), ("other", 1.04), ("far", far)];
                times.map(|(name, time)| row(name, place(count), time))
            })
            .collect();
        let kind = Kind::Schedulers { rows: &rows, quantity: Quantity::OverFastest };
        let scene = scene(&Picture { title: "", kind }).expect("a picture");
        self::words(&scene).join("\n")
    };
    let beyond = "A task for each worker (beyond 1.06: at the upper edge)";
    assert!(words(3.0).contains(beyond), "{}", words(3.0));
    assert!(!words(1.15).contains("beyond"), "{}", words(1.15));
}

#[test]
fn what_cannot_be_drawn_is_refused() {
    let refused = |rows: &[Scheduled], quantity| {
        let kind = Kind::Schedulers { rows, quantity };
        draw(&Picture { title: "", kind }, Format::Svg).expect_err("no picture").to_string()
    };
    assert!(refused(&[], Quantity::Time).contains("no rows"));
    let mut rows = rows(&[(1, 1)], 1.0);
    rows[3].apu_idle_per_offload_us = -1.0;
    assert!(refused(&rows, Quantity::ApuIdle).starts_with("apu_idle_per_offload_us: found -1"));
}

#[test]
fn excerpts_have_a_chart_each_with_the_same_rows() {
    let long = "a long name ".repeat(20);
    for factor in [1e-9, 1e-3, 1e6] {
        let mut first = trace("SPE", factor);
        first.tracks.truncate(4);
        let names = ["edtlp", "edtlp:ready", &long];
        let traces = [first, trace("SPE", factor), trace(&long, factor)];
        let traces: Vec<(String, Trace)> =
            names.iter().map(ToString::to_string).zip(traces).collect();
        let (from_s, to_s) = (Some(3.0 * factor), Some(9.0 * factor));
        let kind = Kind::Excerpts { traces: &traces, window: Window { from_s, to_s } };
        let scene = scene(&Picture { title: &long, kind }).expect("a picture");
        texts::check_texts("excerpts", &scene);
        // The chart of the first has a row for what it lacks.
        let last = words(&scene).iter().filter(|word| **word == "SPE 19").count();
        assert_eq!((last, words(&scene).iter().filter(|it| **it == "edtlp").count()), (3, 1));
    }
    let kind = Kind::Excerpts { traces: &[], window: Window::default() };
    assert!(draw(&Picture { title: "", kind }, Format::Svg).is_err());
}
