//! What is marked on a map: configurations that ran, the best, and those that cannot be told from it.

use std::collections::BTreeSet;

use super::{Cell, Map, Tile};
use crate::scene::{Bounds, Place, Scene};
use crate::style::{DOT, GRID, INK, Mark, VERMILLION, WHITE, stroke};
use crate::times::Standing;

impl Map<'_> {
    /// A cross over what cannot be chosen.
    pub(super) fn cross_out(&self, scene: &mut Scene) {
        for (mapping, why) in &self.content.times.failed {
            let bounds = self.bounds((self.across.tile(mapping.p()), self.up.tile(mapping.m())));
            let Bounds { left, top, right, bottom } = bounds;
            if self.is_even() {
                scene
                    .rectangle(Bounds::new(left + 0.5, top + 0.5, right - 0.5, bottom - 0.5), GRID);
            }
            let ([x, y], half) = (bounds.middle(), 5.0);
            for side in [-half, half] {
                scene.line(vec![[x - half, y - side], [x + half, y + side]], stroke(INK, 1.4));
            }
            scene.spots.push((bounds, format!("({}, {}): {why}", mapping.m(), mapping.p())));
        }
    }

    /// Dots where configurations are marked: in the corner of a cell with a number.
    pub(super) fn dots(&self, scene: &mut Scene) {
        let marked = self.content.marked.0;
        if self.marks_all() {
            return;
        }
        let is_of_cell = |at: &&(u32, u32)| {
            self.content.cells.binary_search_by_key(*at, |cell| (cell.m, cell.p)).is_ok()
        };
        let places: Vec<Place> = marked
            .iter()
            .filter(is_of_cell)
            .map(|&(m, p)| {
                let Bounds { left, bottom, .. } =
                    self.bounds((self.across.tile(p), self.up.tile(m)));
                if self.is_even() { [left + 5.5, bottom - 5.5] } else { self.at((m, p)) }
            })
            .collect();
        let radius = if places.len() > 200 { 1.0 } else { 2.2 };
        places.iter().for_each(|at| scene.circle(*at, radius + 1.0, WHITE));
        places.iter().for_each(|at| scene.circle(*at, radius, INK));
    }

    /// The best, and those that cannot be told from it: rings in the corners of cells with numbers,
    /// else a line around them.
    pub(super) fn marks(&self, scene: &mut Scene) {
        let best = self.content.best();
        if !self.is_even() {
            if self.content.others().next().is_some() {
                self.outline(scene);
            }
            return Mark::Star.draw(scene, self.at((best.m, best.p)), DOT);
        }
        let corner = |cell: &Cell| {
            let bounds = self.bounds((self.across.tile(cell.p), self.up.tile(cell.m)));
            if bounds.width() > 26.0 && bounds.height() > 26.0 {
                [bounds.right - 2.0, bounds.top + 2.0]
            } else {
                [bounds.right - 4.0, bounds.top + 4.0]
            }
        };
        for cell in self.content.others() {
            Mark::Ring.draw(scene, corner(cell), 0.9 * DOT);
        }
        Mark::Star.draw(scene, corner(best), DOT);
        let Bounds { left, top, right, bottom } =
            self.bounds((self.across.tile(best.p), self.up.tile(best.m)));
        let rim = vec![[left, top], [right, top], [right, bottom], [left, bottom], [left, top]];
        scene.line(rim, stroke(VERMILLION, 2.0));
    }

    /// A line around the tiles of those that cannot be told from the best.
    fn outline(&self, scene: &mut Scene) {
        let is_in = |tile: &&Tile| tile.standing == Standing::Indistinguishable;
        let family: BTreeSet<(usize, usize)> =
            self.tiles.iter().filter(is_in).map(|tile| tile.at).collect();
        let mut sides: Vec<Vec<Place>> = Vec::new();
        for tile in self.tiles.iter().filter(is_in) {
            let (across, up) = tile.at;
            let Bounds { left, top, right, bottom } = tile.bounds;
            let [a, b, c, d] = [[left, bottom], [right, bottom], [right, top], [left, top]];
            let neighbours = [
                ((across, up.wrapping_sub(1)), vec![a, b]),
                ((across + 1, up), vec![b, c]),
                ((across, up + 1), vec![c, d]),
                ((across.wrapping_sub(1), up), vec![d, a]),
            ];
            let open = neighbours.into_iter().filter(|(at, _)| !family.contains(at));
            sides.extend(open.map(|(_, side)| side));
        }
        sides.iter().for_each(|side| scene.line(side.clone(), stroke(WHITE, 3.4)));
        sides.into_iter().for_each(|side| scene.line(side, stroke(VERMILLION, 1.6)));
    }
}
