//! The names of the best configurations above the data, each with a line down to its mark.

use super::scene::{Anchor, Bounds, Color, Font, Place, Scene};
use super::style::{TEXT, stroke};

/// Height of the space above the data that the names take.
pub(super) const HEIGHT: f64 = 2.0 * ROW + 8.0;

/// Height of the row of a name.
const ROW: f64 = 17.0;

/// A configuration to be named.
pub(super) struct Best {
    /// Where its time is drawn.
    pub at: Place,
    /// Its name: "measured best (4, 4) 12.3 ms".
    pub name: String,
    /// The colour of the line and the name.
    pub color: Color,
}

/// Which side of its line a name stands on.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Side {
    Left,
    Right,
}

/// Draws two names at most, and their lines, so that no line runs through the other's name.
pub(super) fn draw(scene: &mut Scene, mut named: Vec<Best>, data: &Bounds) {
    named.sort_by(|one, other| one.at[0].total_cmp(&other.at[0]));
    // Two lines in one column stand side by side.
    if let [one, other] = &mut named[..]
        && one.at[0] == other.at[0]
    {
        one.at[0] -= 1.0;
        other.at[0] += 1.0;
    }
    let (Some(first), Some(last)) = (named.first(), named.last()) else { return };
    let room = named.iter().map(|best| TEXT.width(&best.name)).fold(0.0, f64::max) + 8.0;
    let sides = sides([first.at[0], last.at[0]], room, (data.left, data.right));
    // The line from the upper row passes the lower one, so that row's name must be beyond it.
    let rows = if sides[1] == Side::Right { [0.0, 1.0] } else { [1.0, 0.0] };
    for ((best, side), row) in named.iter().zip(sides).zip(rows) {
        let [x, y] = best.at;
        let row_y = data.top - (2.0 * ROW + 2.0) + ROW * row + ROW / 2.0;
        scene.line(vec![[x, row_y - 6.0], [x, y]], stroke(best.color, 1.0));
        let (name_x, anchor) = match side {
            Side::Right => (x + 6.0, Anchor::Start),
            Side::Left => (x - 6.0, Anchor::End),
        };
        let font = Font { color: best.color, ..TEXT }.at(anchor);
        scene.text(&best.name, [name_x, row_y], font);
    }
}

/// The side of each of two lines, the first not to the right of the second, on which there is
/// `room` for a name: if possible the same side.
fn sides([first, second]: [f64; 2], room: f64, (left, right): (f64, f64)) -> [Side; 2] {
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

    fn check(lines: [f64; 2], expected: [Side; 2]) {
        assert_eq!(sides(lines, 20.0, (0.0, 100.0)), expected);
    }

    #[test]
    fn names_stand_to_the_right_where_both_have_room() {
        check([0.0, 80.0], [Side::Right, Side::Right]);
    }

    #[test]
    fn names_stand_to_the_left_of_lines_near_the_right_edge() {
        check([20.0, 81.0], [Side::Left, Side::Left]);
    }

    #[test]
    fn names_stand_between_lines_at_opposite_edges() {
        check([19.0, 81.0], [Side::Right, Side::Left]);
    }
}
