//! A panel's caption, axes and grid.

use plotters::chart::ChartBuilder;
use plotters::coord::ranged1d::Ranged;
use plotters::prelude::{DrawingAreaErrorKind, DrawingBackend};

use super::Area;
use super::axis::Axis;
use super::canvas::{Pixel, px};
use super::style::{self, FAINT, GRID, INK, LABEL, LEFT_AXIS, RIGHT_MARGIN, TEXT};

/// What stands around the data of a panel.
pub(super) struct Surround<'a> {
    /// Above it.
    pub caption: &'a str,
    /// Below the horizontal axis.
    pub x_title: &'a str,
    /// Beside the vertical axis.
    pub y_title: &'a str,
    /// Height of the space between caption and data, in units of the SVG.
    pub above: i32,
    /// Height of the space below the data.
    pub below: i32,
}

/// Where the data of a panel go.
pub(super) struct Frame {
    x: Axis,
    y: Axis,
    /// Left and right edge of the data in plotters' pixels of the panel.
    pub x_limits: (i32, i32),
    /// Upper and lower edge.
    pub y_limits: (i32, i32),
}

impl Frame {
    /// Draws everything but the data.
    pub fn draw<DB: DrawingBackend>(
        area: &Area<DB>,
        x: Axis,
        y: Axis,
        surround: &Surround<'_>,
    ) -> Result<Self, DrawingAreaErrorKind<DB::ErrorType>> {
        let caption = px(28);
        let at = (px(LEFT_AXIS / 2), px(11));
        style::write(area, surround.caption, &style::text(TEXT, INK), at)?;
        let mut chart = ChartBuilder::on(area)
            .margin_top(caption + px(surround.above))
            .margin_right(px(RIGHT_MARGIN))
            .margin_bottom(px(8))
            .margin_left(px(12))
            .y_label_area_size(px(LEFT_AXIS - 12))
            .x_label_area_size(px(surround.below))
            .build_cartesian_2d(x.clone(), y.clone())?;
        chart
            .configure_mesh()
            .bold_line_style(style::stroke(GRID, 1.0))
            .light_line_style(style::stroke(FAINT, 1.0))
            .axis_style(style::stroke(INK, 1.0))
            .label_style(style::text(LABEL, INK))
            .axis_desc_style(style::text(TEXT, INK))
            .y_label_offset(px(2))
            .set_all_tick_mark_size(px(5))
            .x_desc(surround.x_title)
            .y_desc(surround.y_title)
            .draw()?;
        let (left, top) = area.get_base_pixel();
        let (x_range, y_range) = chart.plotting_area().get_pixel_range();
        Ok(Self {
            x,
            y,
            x_limits: (x_range.start - left, x_range.end - left),
            y_limits: (y_range.start - top, y_range.end - top),
        })
    }

    /// The pixel of a point with these two values.
    pub fn at(&self, x: f64, y: f64) -> Pixel {
        let (top, bottom) = self.y_limits;
        (self.x.map(&x, self.x_limits), self.y.map(&y, (bottom, top)))
    }
}
