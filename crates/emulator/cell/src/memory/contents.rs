//! What a Cell's memory holds, as far as anybody has written it.

use mmgp_spu::register::Quadword;

/// Quadwords in a piece that is kept as a whole: 64 KiB.
const PIECE: usize = 4096;

/// Memory that is zero where nobody has written, and takes room of the host's only where somebody
/// has. Indices count quadwords.
#[derive(Default)]
pub(super) struct Contents {
    len: usize,
    pieces: Vec<Option<Box<[Quadword]>>>,
}

impl Contents {
    /// Quadwords that there are.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Adds quadwords up to `len`.
    pub fn grow(&mut self, len: usize) {
        self.len = self.len.max(len);
        let pieces = self.len.div_ceil(PIECE);
        self.pieces.resize_with(pieces, || None);
    }

    /// The quadword at an index.
    pub fn read(&self, index: usize) -> Quadword {
        self.pieces[index / PIECE].as_ref().map_or(Quadword::ZERO, |piece| piece[index % PIECE])
    }

    /// Copies what begins at an index.
    pub fn load(&self, mut index: usize, mut to: &mut [Quadword]) {
        while !to.is_empty() {
            let (place, count) = (index % PIECE, to.len().min(PIECE - index % PIECE));
            let (now, later) = to.split_at_mut(count);
            match &self.pieces[index / PIECE] {
                Some(piece) => now.copy_from_slice(&piece[place..place + count]),
                None => now.fill(Quadword::ZERO),
            }
            (index, to) = (index + count, later);
        }
    }

    /// Writes from an index on.
    pub fn store(&mut self, mut index: usize, mut from: &[Quadword]) {
        while !from.is_empty() {
            let (place, count) = (index % PIECE, from.len().min(PIECE - index % PIECE));
            self.piece(index)[place..place + count].copy_from_slice(&from[..count]);
            (index, from) = (index + count, &from[count..]);
        }
    }

    /// The quadword at an index, to be written.
    pub fn place(&mut self, index: usize) -> &mut Quadword {
        &mut self.piece(index)[index % PIECE]
    }

    fn piece(&mut self, index: usize) -> &mut [Quadword] {
        let new = || vec![Quadword::ZERO; PIECE].into_boxed_slice();
        self.pieces[index / PIECE].get_or_insert_with(new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_across_pieces_is_read_back_and_the_rest_is_zero() {
        let mut contents = Contents::default();
        contents.grow(3 * PIECE);
        let written: Vec<Quadword> = (1..=100).map(Quadword::splat).collect();
        contents.store(2 * PIECE - 60, &written);
        let mut read = vec![Quadword::splat(7); 102];
        contents.load(2 * PIECE - 61, &mut read);
        assert_eq!(read[1..101], written);
        assert_eq!((read[0], read[101]), (Quadword::ZERO, Quadword::ZERO));
        assert_eq!(contents.read(2 * PIECE), Quadword::splat(61));
        assert!(contents.pieces[0].is_none(), "nobody has written there");
    }
}
