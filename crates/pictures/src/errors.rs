//! The pictures of what predictions are off by: one time against the other, and errors by counts.

use super::Names;
use super::axis::Axis;
use super::chart::{Area, Chart, Drawing, Surround, panels};
use super::scene::{Anchor, Scene};
use super::style::{self, DOT, INK, SHADE};
use super::times::{Model, Point, Points, all, error_percent, is_many};

/// How far from equality the band of parity reaches.
const NEAR: f64 = 0.1;

/// How far from 0 the band of errors reaches \[%\].
const NEAR_PERCENT: f64 = 100.0 * NEAR;

/// Words where nothing can be compared.
const NO_PAIR: &str = "no configuration has both times above 0";

/// Predicted against measured times, where both are above 0, which a logarithm needs.
pub(super) fn parity(panel: &Area, times: &Points) -> Drawing {
    let has_both = |point: &&Point| {
        let is_positive = |time: Option<f64>| time.is_some_and(|time| time > 0.0);
        is_positive(point.measured) && (is_positive(point.predicted) || is_positive(point.beside))
    };
    let points: Vec<Point> = times.points.iter().filter(has_both).copied().collect();
    let count = times.points.len();
    let largest = all(&points).fold(0.0, f64::max);
    let factor = times.measure.factor(largest);
    let axis = Axis::of_ratios(all(&points).filter(|time| *time > 0.0).map(|time| time * factor));
    let title = times.measure.title(largest);
    let titles = [&*times.measured_as, "predicted"].map(|what| format!("{what} {title}"));
    let caption = match times.measure.name.as_str() {
        "time" => "On the line a prediction is right, above it too long, below it too short",
        _ => "On the line a prediction is right, above it too large, below it too small",
    };
    let around = Surround { caption, x_title: &titles[0], ..Surround::default() };
    let [low, high] = axis.ends();
    let mut chart = Chart::new(panel, [axis.clone(), axis], around)?;
    // Where the band leaves the panel it follows its edge.
    let (inner_low, inner_high) = (low / (1.0 - NEAR), high / (1.0 + NEAR));
    let corner = |measured: f64, factor: f64| (measured, measured * factor);
    let band = vec![
        corner(low, 1.0),
        corner(low, 1.0 + NEAR),
        corner(inner_high, 1.0 + NEAR),
        corner(high, 1.0),
        corner(high, 1.0 - NEAR),
        corner(inner_low, 1.0 - NEAR),
    ];
    chart.polygon(band, SHADE)?;
    chart.axes(&titles[1])?;
    if points.is_empty() {
        return chart.instead_of_data(NO_PAIR);
    }
    chart.line([(low, low), (high, high)], INK, 1.0)?;
    let is_many = is_many(count);
    let measured =
        |point: &Point| point.measured.expect("invariant: the others are left out") * factor;
    for point in points.iter().filter(|_| !is_many) {
        if let Some((low, high)) = point.interval {
            chart.interval(measured(point), (low * factor, high * factor), 0.0)?;
        }
    }
    let radius = if is_many { 1.2 } else { 0.8 * DOT };
    let of = |model: Model, point: &Point| {
        let time = model.of(point).filter(|time| *time > 0.0)?;
        Some((measured(point), time * factor))
    };
    for model in Model::ALL.into_iter().rev() {
        let marked = points.iter().filter_map(|point| of(model, point));
        chart.marks((model.mark(count), radius), 0.0, marked)?;
    }
    let drawn = points.iter().flat_map(|point| {
        let places = Model::ALL.into_iter().filter_map(|model| of(model, point));
        places.map(|(x, y)| (point.name(), chart.at(x, y))).collect::<Vec<_>>()
    });
    chart.spots(drawn)?;
    let worst = |model: Model| {
        let largest = model.errors(&points).max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
        let (point, error) = largest?;
        let (x, y) = of(model, point)?;
        let name = format!("{} {error:+.1} %", point.name()).replace('-', "−");
        Some((name, model.color(), chart.at(x, y)))
    };
    let worst: Vec<_> = Model::ALL.into_iter().filter_map(worst).collect();
    let beside = [
        ([11.0, 0.0], Anchor::Start),
        ([-11.0, 0.0], Anchor::End),
        ([0.0, -15.0], Anchor::Middle),
        ([0.0, 15.0], Anchor::Middle),
    ];
    // Among thousands of dots a name has a ground of its own.
    let write = if is_many { style::text_on_white } else { Scene::text };
    let worst = worst.iter().map(|(name, color, at)| (&**name, *color, *at));
    chart.names(worst, &beside, write)
}

/// What errors stand against: caption, title of the axis, and the count of a point.
type Count<'a> = (&'a str, &'a str, fn(&Point) -> u32);

/// Errors of the predictions in three panels with the same vertical axis.
pub(super) fn residuals(area: &Area, points: &[Point], called: &Names) -> Drawing {
    let ([by_m, by_p, by_both, both], [of_m, of_p]) = (called.errors(), called.axes());
    let counts: [Count<'_>; 3] = [
        (&by_m, &of_m, |point| point.m),
        (&by_p, &of_p, |point| point.p),
        (&by_both, &both, |point| point.m.saturating_mul(point.p)),
    ];
    let errors = || Model::ALL.into_iter().flat_map(|model| model.errors(points).map(|it| it.1));
    let low = errors().fold(-NEAR_PERCENT, f64::min);
    let high = errors().fold(NEAR_PERCENT, f64::max);
    // Intervals may double the reach of the axis; wider ones would flatten all errors.
    let within = |end: f64| end.max(low - (high - low) / 2.0).min(high + (high - low) / 2.0);
    let ends = points.iter().filter_map(|point| interval_of_errors(point, points.len()));
    let ends = ends.flat_map(|(low, high)| [within(low), within(high)]);
    let errors: Vec<f64> = errors().chain(ends).collect();
    let y = Axis::of_differences(errors.iter().copied());
    let areas = panels(area, counts.len(), counts.len());
    areas
        .iter()
        .zip(counts)
        .try_for_each(|(panel, count)| errors_by(panel, points, count, y.clone()))
}

fn errors_by(
    panel: &Area,
    points: &[Point],
    (caption, x_title, of): Count<'_>,
    y: Axis,
) -> Drawing {
    let mut counts: Vec<u32> = points.iter().map(of).collect();
    counts.sort_unstable();
    counts.dedup();
    let x = Axis::of_counts(&counts);
    let [first, last] = x.ends();
    let around = Surround { caption, x_title, ..Surround::default() };
    let mut chart = Chart::new(panel, [x, y], around)?;
    chart.rectangle([(first, NEAR_PERCENT), (last, -NEAR_PERCENT)], SHADE)?;
    chart.axes("error of the prediction [%]")?;
    chart.line([(first, 0.0), (last, 0.0)], INK, 1.0)?;
    if Model::ALL.into_iter().all(|model| model.errors(points).next().is_none()) {
        return chart.instead_of_data(NO_PAIR);
    }
    // The models stand side by side at each count.
    let spacing = chart.data.width() / (counts.len() + 1) as f64;
    let radius = if is_many(points.len()) { 1.2 } else { style::dot_radius(spacing).min(2.6) };
    let is_alone = points.iter().all(|point| point.beside.is_none());
    let aside = if is_alone { 0.0 } else { (spacing / 5.0).min(4.5) };
    for point in points {
        if let Some(ends) = interval_of_errors(point, points.len()) {
            chart.interval(f64::from(of(point)), ends, -aside)?;
        }
    }
    for (model, aside) in Model::ALL.into_iter().zip([-aside, aside]) {
        let placed =
            || model.errors(points).map(|(point, error)| (point, (f64::from(of(point)), error)));
        let marked = placed().map(|it| it.1);
        chart.marks((model.mark(points.len()), radius), aside, marked)?;
        let drawn = placed().map(|(point, (x, y))| {
            let [x, y] = chart.at(x, y);
            (point.name(), [x + aside, y])
        });
        chart.spots(drawn)?;
    }
    Ok(())
}

/// The interval of what is predicted, as errors \[%\]; none where `count` points crowd the panel.
fn interval_of_errors(point: &Point, count: usize) -> Option<(f64, f64)> {
    let (low, high) = point.interval.filter(|_| !is_many(count))?;
    Some((error_percent(point, low)?, error_percent(point, high)?))
}
