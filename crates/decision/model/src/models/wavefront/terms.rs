//! The terms of the models.

use crate::models::parameters::Estimate;

/// A time by the size of a message.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Of a message without data \[s\].
    pub latency_s: Estimate,
    /// For each byte, one over the rate \[s\].
    pub byte_s: Estimate,
}

impl Line {
    /// No time.
    pub fn nothing() -> Self {
        Self { latency_s: Estimate::exact(0.0), byte_s: Estimate::exact(0.0) }
    }

    #[cfg(test)]
    pub(super) fn values_mut(&mut self) -> [&mut Estimate; 2] {
        [&mut self.latency_s, &mut self.byte_s]
    }

    pub(super) fn at(&self, bytes: f64) -> f64 {
        self.latency_s.value + bytes * self.byte_s.value
    }
}

/// What a synchronous message costs on a link.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkTerms {
    /// From the sender's readiness to the receiver's completion, where the receiver waits.
    pub early: Line,
    /// From the receiver's posting to its completion, where the message waits.
    pub late: Line,
    /// From the receiver's completion until the sender goes on.
    pub release: Line,
}

impl LinkTerms {
    /// No time.
    pub fn nothing() -> Self {
        Self { early: Line::nothing(), late: Line::nothing(), release: Line::nothing() }
    }

    /// The cost c of a message of any size, from the later of both, at which both go on. `early` and `late`
    /// count as two terms.
    pub fn symmetric(cost: &Estimate) -> Self {
        let line = Line { latency_s: cost.clone(), ..Line::nothing() };
        Self { early: line.clone(), late: line, release: Line::nothing() }
    }

    /// The same on all links.
    pub fn everywhere(self) -> Links {
        Links([self.clone(), self.clone(), self.clone(), self])
    }

    fn lines(&self) -> [&Line; 3] {
        [&self.early, &self.late, &self.release]
    }

    fn lines_mut(&mut self) -> [&mut Line; 3] {
        [&mut self.early, &mut self.late, &mut self.release]
    }
}

/// What messages cost on each kind of link: within a Cell, between Cells of a blade, between blades of a node,
/// and between nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct Links(pub [LinkTerms; 4]);

impl Links {
    /// Their names in files, in their order.
    pub const NAMES: [&'static str; 4] =
        ["within-cell", "between-cells", "between-blades", "between-nodes"];
}

/// What of a message is timed, in the order of [`LinkTerms`].
pub(crate) const WAYS: [&str; 3] = ["early", "late", "release"];

/// What the time of a wavefront is made of.
#[derive(Debug, Clone, PartialEq)]
pub struct WavefrontTerms {
    /// Of a block without cells: `W_0` \[s\].
    pub block_s: Estimate,
    /// Of a line of cells along x in a block, of which it has jt mk \[s\].
    pub line_s: Estimate,
    /// Of a cell for an angle \[s\].
    pub cell_s: Estimate,
    /// Messages.
    pub links: Links,
}

/// Places of terms of blocks in [`WavefrontTerms::named`]; those of links follow, six a link.
pub(super) const BLOCK: usize = 0;
pub(super) const LINE: usize = 1;
pub(super) const CELL: usize = 2;
const LINKS: usize = 3;

/// The place of a link's line: latency, and then byte.
pub(super) fn place_of(link: usize, way: usize) -> usize {
    LINKS + 6 * link + 2 * way
}

impl WavefrontTerms {
    /// All of them nothing.
    pub fn nothing() -> Self {
        Self {
            block_s: Estimate::exact(0.0),
            line_s: Estimate::exact(0.0),
            cell_s: Estimate::exact(0.0),
            links: LinkTerms::nothing().everywhere(),
        }
    }

    /// All terms, each with its name: `cell_s`, `early_s(between-nodes)`, `early_byte_s(between-nodes)`.
    pub fn named(&self) -> Vec<(String, &Estimate)> {
        let blocks = [
            ("block_s".to_string(), &self.block_s),
            ("line_s".to_string(), &self.line_s),
            ("cell_s".to_string(), &self.cell_s),
        ];
        let links = Links::NAMES.into_iter().zip(&self.links.0).flat_map(|(link, terms)| {
            WAYS.into_iter().zip(terms.lines()).flat_map(move |(way, line)| {
                [
                    (format!("{way}_s({link})"), &line.latency_s),
                    (format!("{way}_byte_s({link})"), &line.byte_s),
                ]
            })
        });
        blocks.into_iter().chain(links).collect()
    }

    /// Changes the terms of a link.
    pub(crate) fn set_line(&mut self, link: usize, way: usize, line: Line) {
        *self.links.0[link].lines_mut()[way] = line;
    }

    /// Changes the value of a term, by its place in [`Self::named`].
    #[cfg(test)]
    pub(super) fn move_by(&mut self, place: usize, step: f64) {
        let lines = self.links.0.iter_mut().flat_map(LinkTerms::lines_mut);
        let links = lines.flat_map(Line::values_mut);
        let blocks = [&mut self.block_s, &mut self.line_s, &mut self.cell_s];
        if let Some(term) = blocks.into_iter().chain(links).nth(place) {
            term.value += step;
        }
    }

    /// The values alone, in the same order.
    pub(super) fn numbers(&self) -> Vec<f64> {
        self.named().into_iter().map(|(_, estimate)| estimate.value).collect()
    }
}
