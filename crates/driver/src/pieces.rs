//! Pieces of memory that serve several values, one after the other.

/// Pieces by number.
#[derive(Default)]
pub(crate) struct Pieces {
    bytes: Vec<usize>,
    free: Vec<usize>,
}

impl Pieces {
    /// A piece for so many bytes: the smallest free one that has them, else the largest free one, which grows, else a new one.
    pub(crate) fn take(&mut self, bytes: usize) -> usize {
        let size = |at: &usize| self.bytes[self.free[*at]];
        let fits = (0..self.free.len()).filter(|at| size(at) >= bytes).min_by_key(size);
        let Some(at) = fits.or_else(|| (0..self.free.len()).max_by_key(size)) else {
            self.bytes.push(bytes);
            return self.bytes.len() - 1;
        };
        let piece = self.free.swap_remove(at);
        self.bytes[piece] = self.bytes[piece].max(bytes);
        piece
    }
    /// A piece may serve another value.
    pub(crate) fn give(&mut self, piece: usize) {
        self.free.push(piece);
    }
    /// Bytes of each piece.
    pub(crate) fn into_bytes(self) -> Vec<usize> {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_pieces_serve_again_and_grow() {
        let mut pieces = Pieces::default();
        let [a, b] = [100, 10].map(|n| pieces.take(n));
        pieces.give(a);
        pieces.give(b);
        assert_eq!([8, 50].map(|n| pieces.take(n)), [b, a], "the smallest that fits");
        pieces.give(b);
        assert_eq!((pieces.take(30), pieces.take(1)), (b, 2), "a free one grows before a new one is made");
        assert_eq!(pieces.into_bytes(), [100, 30, 1]);
    }
}
