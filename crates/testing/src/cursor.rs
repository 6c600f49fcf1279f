//! Choices driven by bytes, so that a fuzzer or a seed decides them.

/// Reads choices from a byte string; when it is used up every choice is the first one.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
}

impl<'a> Cursor<'a> {
    /// Choices from the bytes in order.
    pub fn new(bytes: &'a [u8]) -> Cursor<'a> {
        Cursor { bytes }
    }
    /// Whether all bytes are used.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
    /// The next byte, or 0.
    pub fn byte(&mut self) -> u8 {
        match self.bytes.split_first() {
            Some((&first, rest)) => {
                self.bytes = rest;
                first
            }
            None => 0,
        }
    }
    /// Eight bytes as a number.
    pub fn word(&mut self) -> u64 {
        (0..8).fold(0, |w, _| w << 8 | u64::from(self.byte()))
    }
    /// A number below `n`, which is 1 to 65,536.
    pub fn below(&mut self, n: usize) -> usize {
        if n <= 256 { usize::from(self.byte()) * n / 256 } else { (usize::from(self.byte()) << 8 | usize::from(self.byte())) % n }
    }
    /// True `of` times in 256.
    pub fn chance(&mut self, of: u8) -> bool {
        self.byte() >= 255 - of && of > 0
    }
    /// One of a list that is not empty.
    pub fn pick<'t, T>(&mut self, list: &'t [T]) -> &'t T {
        &list[self.below(list.len())]
    }
}

/// `len` bytes that look random and depend only on the seed (SplitMix64).
pub fn seed_bytes(seed: u64, len: usize) -> Vec<u8> {
    let mut state = seed;
    let mut word = || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (state ^ state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    };
    (0..len.div_ceil(8)).flat_map(|_| word().to_le_bytes()).take(len).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn used_up_means_first() {
        let mut c = Cursor::new(&[255, 255]);
        assert_eq!(c.below(3), 2);
        assert!(c.chance(1));
        assert!(c.is_empty());
        assert_eq!((c.below(7), c.word(), c.chance(200)), (0, 0, false));
    }

    #[test]
    fn seeds_spread() {
        let bytes = seed_bytes(7, 4096);
        let mut seen = [0usize; 4];
        let mut c = Cursor::new(&bytes);
        (0..4000).for_each(|_| seen[c.below(4)] += 1);
        assert!(seen.iter().all(|&n| (800..1200).contains(&n)), "{seen:?}");
        assert_ne!(seed_bytes(8, 16), seed_bytes(7, 16));
    }
}
