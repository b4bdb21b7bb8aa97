//! Charts: a title and a legend above panels, each with a caption, axes, a grid and what lies in them.

use std::cell::RefCell;
use std::convert::Infallible;
use std::rc::Rc;

use plotters::chart::{ChartBuilder, ChartContext, LabelAreaPosition};
use plotters::coord::cartesian::Cartesian2d;
use plotters::coord::{CoordTranslate, Shift};
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind};
use plotters::element::{Drawable, PathElement, PointCollection, Polygon, Rectangle};
use plotters::series::LineSeries;
use plotters::style::{Color as _, TextStyle};
use plotters_backend::{BackendCoord, DrawingErrorKind};

use super::axis::{Axis, label};
use super::scene::{Anchor, Bounds, Color, Font, Place, Scene, place, px, text_bounds};
use super::style::{
    self, BAND, Entry, FAINT, GRID, INDENT, INK, LABEL, LEFT_AXIS, Mark, RIGHT_MARGIN, SKY, TEXT,
    shortened, stroke,
};
use crate::error::{Error, Result};

/// A part of a picture.
pub(super) type Area = DrawingArea<Scene, Shift>;

/// What drawing ends with. In memory it does not fail.
pub(super) type Drawing<T = ()> = std::result::Result<T, DrawingAreaErrorKind<Infallible>>;

/// Two opposite corners of a rectangle, in values of both axes.
pub(super) type Corners = [(f64, f64); 2];

/// A picture with title and legend, and what `draw` draws in the area that is left, of this size.
pub(super) fn picture(
    title: &str,
    (width, height): (f64, f64),
    legend: &[Entry],
    draw: impl FnOnce(&Area) -> Drawing,
) -> Result<Scene> {
    let head = style::head_height(width, legend);
    let scene = Rc::new(RefCell::new(Scene::new(width, head + height, title)));
    style::head(&mut scene.borrow_mut(), title, legend);
    let (_, area) = DrawingArea::from(&scene).split_vertically(px(head));
    draw(&area).map_err(|error| Error::Plot(error.to_string()))?;
    Ok(scene.take())
}

/// Panels in rows of at most so many.
pub(super) fn panels(area: &Area, count: usize, in_a_row: usize) -> Vec<Area> {
    let beside = count.min(in_a_row).max(1);
    area.split_evenly((count.div_ceil(beside), beside))
}

/// The bounds of an area in the picture.
pub(super) fn bounds<C: CoordTranslate>(area: &DrawingArea<Scene, C>) -> Bounds {
    let (across, down) = area.get_pixel_range();
    let [left, top] = place((across.start, down.start));
    let [right, bottom] = place((across.end, down.end));
    Bounds::new(left, top, right, bottom)
}

/// What a function draws beside the places of some points, as an element of plotters.
pub(super) struct Sketch<C, F> {
    pub at: Vec<C>,
    pub draw: F,
}

impl<'a, C, F> PointCollection<'a, C> for &'a Sketch<C, F> {
    type Point = &'a C;
    type IntoIter = std::slice::Iter<'a, C>;

    fn point_iter(self) -> Self::IntoIter {
        self.at.iter()
    }
}

impl<C, F: Fn(&mut Scene, &[Place])> Drawable<Scene> for Sketch<C, F> {
    fn draw<I: Iterator<Item = BackendCoord>>(
        &self,
        at: I,
        scene: &mut Scene,
        _: (u32, u32),
    ) -> std::result::Result<(), DrawingErrorKind<Infallible>> {
        (self.draw)(scene, &at.map(place).collect::<Vec<_>>());
        Ok(())
    }
}

/// Draws in units of the picture, anywhere in it.
pub(super) fn sketch<C: CoordTranslate>(
    area: &DrawingArea<Scene, C>,
    draw: impl Fn(&mut Scene),
) -> Drawing
where
    C::From: 'static,
{
    area.draw(&Sketch {
        at: Vec::<C::From>::new(),
        draw: |scene: &mut Scene, _: &[Place]| draw(scene),
    })
}

/// What stands around the data of a panel.
pub(super) struct Surround<'a> {
    /// The words above it.
    pub caption: &'a str,
    /// The title below the horizontal axis.
    pub x_title: &'a str,
    /// Height of the space between caption and data.
    pub above: f64,
    /// Height of the space below the data.
    pub below: f64,
    /// Width of the space at their left.
    pub left: f64,
}

impl Default for Surround<'_> {
    fn default() -> Self {
        Self { caption: "", x_title: "", above: 0.0, below: BELOW, left: LEFT_AXIS }
    }
}

/// Height of the space that labels and title of a horizontal axis take.
pub(super) const BELOW: f64 = 56.0;

/// Height of the caption.
pub(super) const CAPTION: f64 = 28.0;

/// Space between the titles of axes and the edge of their panel, and length of a tick.
const MARGIN: f64 = 10.0;
const TICK: f64 = 4.5;

/// A panel with two axes.
pub(super) struct Chart<'a> {
    context: ChartContext<'a, Scene, Cartesian2d<Axis, Axis>>,
    panel: &'a Area,
    around: Surround<'a>,
    /// The space of the data.
    pub data: Bounds,
}

impl<'a> Chart<'a> {
    /// A panel in which nothing is drawn yet: what comes before [`Self::axes`] lies behind the grid.
    pub fn new(panel: &'a Area, [x, y]: [Axis; 2], around: Surround<'a>) -> Drawing<Self> {
        let context = ChartBuilder::on(panel)
            .margin_top(px(CAPTION + around.above))
            .margin_right(px(RIGHT_MARGIN))
            .margin_bottom(px(MARGIN))
            .margin_left(px(MARGIN))
            .y_label_area_size(px(around.left - MARGIN))
            .x_label_area_size(px(around.below - MARGIN))
            .build_cartesian_2d(x, y)?;
        let data = bounds(context.plotting_area());
        Ok(Self { context, panel, around, data })
    }

    /// Draws everything but the data, with the title of the vertical axis.
    pub fn axes(&mut self, y_title: &str) -> Drawing {
        let panel = bounds(self.panel);
        let Surround { caption, x_title, .. } = self.around;
        let caption = shortened(caption, &TEXT, panel.width() - INDENT - RIGHT_MARGIN);
        self.sketch(|scene| {
            scene.text(&caption, [panel.left + INDENT, panel.top + 11.0], TEXT);
        })?;
        let x_title = shortened(x_title, &TEXT, self.data.width() + RIGHT_MARGIN);
        let y_title = shortened(y_title, &TEXT, self.data.height());
        let labelled = self.labelled();
        let name = |tick: &f64| match labelled.contains(tick) {
            true => label(*tick),
            false => String::new(),
        };
        let label: TextStyle<'_> = LABEL.into();
        let mut mesh = self.context.configure_mesh();
        if !x_title.is_empty() {
            mesh.x_desc(x_title);
        }
        if !y_title.is_empty() {
            mesh.y_desc(y_title);
        }
        mesh.bold_line_style(stroke(GRID, 1.0))
            .light_line_style(stroke(FAINT, 1.0))
            .axis_style(stroke(INK, 1.0))
            .label_style(label)
            .axis_desc_style(TextStyle::from(TEXT))
            .x_label_formatter(&name)
            .set_tick_mark_size(LabelAreaPosition::Bottom, px(TICK))
            .set_tick_mark_size(LabelAreaPosition::Left, px(TICK))
            .draw()
    }

    /// The ticks of the horizontal axis that have room for their label: every so many of a linear one,
    /// and of those none that would touch the one before it.
    fn labelled(&self) -> Vec<f64> {
        let x = self.context.as_coord_spec().x_spec();
        let (half, at) = (
            |tick: f64| LABEL.width(&label(tick)) / 2.0,
            |tick| self.at(tick, self.context.y_range().start)[0],
        );
        let is_clear =
            |pair: &[f64]| at(pair[1]) - at(pair[0]) >= half(pair[0]) + half(pair[1]) + 3.0;
        let every = |stride: usize| x.ticks.iter().copied().step_by(stride).collect::<Vec<f64>>();
        let strides = if x.is_linear() { 1..x.ticks.len().max(2) } else { 1..2 };
        let even = strides.map(every).find(|ticks| ticks.windows(2).all(is_clear));
        let mut labelled: Vec<f64> = Vec::new();
        for tick in even.unwrap_or_else(|| every(1)) {
            let is_within = at(tick) + half(tick) <= bounds(self.panel).right;
            if is_within && labelled.last().is_none_or(|last| is_clear(&[*last, tick])) {
                labelled.push(tick);
            }
        }
        labelled
    }

    /// Draws in units of the picture.
    pub fn sketch(&self, draw: impl Fn(&mut Scene)) -> Drawing {
        sketch(self.panel, draw)
    }

    /// The place of a point in the picture.
    pub fn at(&self, x: f64, y: f64) -> Place {
        place(self.context.backend_coord(&(x, y)))
    }

    /// A line through points.
    pub fn line(
        &mut self,
        points: impl IntoIterator<Item = (f64, f64)>,
        color: Color,
        width: f64,
    ) -> Drawing {
        self.context.draw_series(LineSeries::new(points, stroke(color, width)))?;
        Ok(())
    }

    /// A mark at each point, moved aside by units of the picture.
    pub fn marks(
        &mut self,
        (mark, dot): (Mark, f64),
        aside: f64,
        points: impl IntoIterator<Item = (f64, f64)>,
    ) -> Drawing {
        let draw = move |scene: &mut Scene, at: &[Place]| {
            mark.draw(scene, [at[0][0] + aside, at[0][1]], dot);
        };
        self.context
            .draw_series(points.into_iter().map(|point| Sketch { at: vec![point], draw }))?;
        Ok(())
    }

    /// An area with corners.
    pub fn polygon(&mut self, corners: Vec<(f64, f64)>, color: Color) -> Drawing {
        self.context.draw_series([Polygon::new(corners, color.filled())])?;
        Ok(())
    }

    /// A rectangle from one point to another.
    pub fn rectangle(&mut self, corners: Corners, color: Color) -> Drawing {
        self.context.draw_series([Rectangle::new(corners, color.filled())])?;
        Ok(())
    }

    /// The area between intervals that stand side by side, each at its x.
    pub fn band(&mut self, intervals: &[(f64, (f64, f64))]) -> Drawing {
        if intervals.len() < 2 {
            return Ok(());
        }
        let lower = intervals.iter().map(|&(x, (low, _))| (x, low));
        let upper = intervals.iter().rev().map(|&(x, (_, high))| (x, high));
        self.polygon(lower.chain(upper).collect(), BAND)
    }

    /// An interval at an x, moved aside by units of the picture, open at an end that lies beyond the
    /// axis.
    pub fn interval(&mut self, x: f64, ends: (f64, f64), aside: f64) -> Drawing {
        let range = self.context.y_range();
        let cap = |end: f64| if (range.start..=range.end).contains(&end) { 2.5 } else { 0.0 };
        let caps = [cap(ends.0), cap(ends.1)];
        let draw = move |scene: &mut Scene, at: &[Place]| {
            let x = at[0][0] + aside;
            scene.line(vec![[x, at[0][1]], [x, at[1][1]]], stroke(SKY, 1.0));
            for ([_, y], cap) in at.iter().zip(caps).filter(|(_, cap)| *cap > 0.0) {
                scene.line(vec![[x - cap, *y], [x + cap, *y]], stroke(SKY, 1.0));
            }
        };
        self.context.draw_series([Sketch { at: vec![(x, ends.0), (x, ends.1)], draw }])?;
        Ok(())
    }

    /// A line across the data at a value of the vertical axis.
    pub fn across(&mut self, y: f64, color: Color, width: f64) -> Drawing {
        let range = self.context.x_range();
        let line = PathElement::new(vec![(range.start, y), (range.end, y)], stroke(color, width));
        self.context.draw_series([line])?;
        Ok(())
    }

    /// Notes what is drawn where, for a page: `(m, p)`, or other words.
    pub fn spots(&self, drawn: impl IntoIterator<Item = (String, Place)>) -> Drawing {
        let spot = |(words, [x, y]): (String, Place)| (Bounds::new(x, y, x, y), words);
        let drawn: Vec<(Bounds, String)> = drawn.into_iter().map(spot).collect();
        self.sketch(|scene| scene.spots.extend(drawn.iter().cloned()))
    }

    /// Words in the middle, where data would stand.
    pub fn instead_of_data(&self, words: &str) -> Drawing {
        let words = shortened(words, &TEXT, self.data.width() - 16.0);
        self.sketch(|scene| {
            style::text_on_white(scene, &words, self.data.middle(), TEXT.at(Anchor::Middle));
        })
    }

    /// Names beside points: each is written at the first of some places where it neither leaves the data
    /// nor touches another.
    pub fn names<'n>(
        &self,
        named: impl IntoIterator<Item = (&'n str, Color, Place)>,
        beside: &[([f64; 2], Anchor)],
        write: fn(&mut Scene, &str, Place, Font),
    ) -> Drawing {
        let mut taken: Vec<Bounds> = Vec::new();
        for (name, color, [x, y]) in named {
            let font = Font { color, ..LABEL };
            let places =
                beside.iter().map(|&([dx, dy], anchor)| ([x + dx, y + dy], font.at(anchor)));
            let is_free = |bounds: &Bounds| {
                self.data.holds(bounds) && taken.iter().all(|other| !other.overlaps(bounds))
            };
            let free = places
                .map(|(at, font)| (text_bounds(name, at, &font), at, font))
                .find(|(bounds, ..)| is_free(bounds));
            if let Some((bounds, at, font)) = free {
                self.sketch(|scene| write(scene, name, at, font))?;
                taken.push(bounds);
            }
        }
        Ok(())
    }
}
