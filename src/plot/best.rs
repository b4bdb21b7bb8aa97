//! The names of the best configurations above the data, each with a line down to its mark.

use plotters::element::PathElement;
use plotters::prelude::{DrawingBackend, RGBColor};
use plotters::style::text_anchor::HPos;

use super::canvas::{Pixel, px};
use super::frame::Frame;
use super::style::{self, TEXT};
use super::{Area, Drawn};

/// Height of the space above the data that the names take, in units of the SVG.
pub(super) const HEIGHT: i32 = 2 * ROW + 8;

/// Height of the row of a name.
const ROW: i32 = 17;

/// A configuration to be named.
pub(super) struct Best {
    /// Where its time is drawn.
    pub at: Pixel,
    /// Its name: "measured best (4, 4) 12.3 ms".
    pub name: String,
    /// The colour of the line and the name.
    pub color: RGBColor,
}

/// Which side of its line a name stands on.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Side {
    Left,
    Right,
}

/// Draws two names and their lines so that no line runs through the other's name.
pub(super) fn draw<DB: DrawingBackend>(
    area: &Area<DB>,
    mut pair: [Best; 2],
    frame: &Frame,
) -> Drawn<DB> {
    // Two lines in one column stand side by side.
    if pair[0].at.0 == pair[1].at.0 {
        pair[0].at.0 -= px(1);
        pair[1].at.0 += px(1);
    }
    pair.sort_by_key(|best| best.at.0);
    let widths = pair.iter().map(|best| style::width(&style::text(TEXT, best.color), &best.name));
    let room = widths.max().unwrap_or(0) + px(8);
    let sides = sides([pair[0].at.0, pair[1].at.0], room, frame.x_limits);
    // The line from the upper row passes the lower one, so that row's name must be beyond it.
    let rows = if sides[1] == Side::Right { [0, 1] } else { [1, 0] };
    for ((best, side), row) in pair.iter().zip(sides).zip(rows) {
        let (x, y) = best.at;
        let row_y = frame.y_limits.0 - px(2 * ROW + 2) + px(ROW) * row + px(ROW) / 2;
        let path = vec![(x, row_y - px(6)), (x, y)];
        area.draw(&PathElement::new(path, style::stroke(best.color, 1.0)))?;
        let (name_x, anchor) = match side {
            Side::Right => (x + px(6), HPos::Left),
            Side::Left => (x - px(6), HPos::Right),
        };
        let style = style::anchored(style::text(TEXT, best.color), anchor);
        style::write(area, &best.name, &style, (name_x, row_y))?;
    }
    Ok(())
}

/// The side of each of two lines, the first not to the right of the second, on which there is
/// `room` for a name: if possible the same side.
fn sides([first, second]: [i32; 2], room: i32, (left, right): (i32, i32)) -> [Side; 2] {
    if second + room <= right {
        [Side::Right, Side::Right]
    } else if first - room >= left {
        [Side::Left, Side::Left]
    } else {
        [Side::Right, Side::Left]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(lines: [i32; 2], expected: [Side; 2]) {
        assert_eq!(sides(lines, 20, (0, 100)), expected);
    }

    #[test]
    fn names_stand_to_the_right_where_both_have_room() {
        check([0, 80], [Side::Right, Side::Right]);
    }

    #[test]
    fn names_stand_to_the_left_of_lines_near_the_right_edge() {
        check([20, 81], [Side::Left, Side::Left]);
    }

    #[test]
    fn names_stand_between_lines_at_opposite_edges() {
        check([19, 81], [Side::Right, Side::Left]);
    }
}
