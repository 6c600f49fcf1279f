//! Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011).

const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];

/// Word `counter mod 4` of the block `counter div 4` (low, high, stream, 0) under the key (low, high).
pub(crate) fn philox(key: u64, counter: u64, stream: u32) -> u32 {
    let block = counter / 4;
    let words = philox_block([key as u32, (key >> 32) as u32], [block as u32, (block >> 32) as u32, stream, 0]);
    words[(counter % 4) as usize]
}

/// Ten rounds on one block.
pub(crate) fn philox_block(mut key: [u32; 2], mut c: [u32; 4]) -> [u32; 4] {
    for _ in 0..10 {
        let p0 = u64::from(MULTIPLIERS[0]) * u64::from(c[0]);
        let p1 = u64::from(MULTIPLIERS[1]) * u64::from(c[2]);
        c = [(p1 >> 32) as u32 ^ c[1] ^ key[0], p1 as u32, (p0 >> 32) as u32 ^ c[3] ^ key[1], p0 as u32];
        key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
    }
    c
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random123_vectors() {
        assert_eq!(philox_block([0; 2], [0; 4]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(philox_block([u32::MAX; 2], [u32::MAX; 4]), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
        assert_eq!(
            philox_block([0xa409_3822, 0x299f_31d0], [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344]),
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]
        );
    }

    #[test]
    fn counter_and_stream_select_block_and_word() {
        let block = philox_block([7, 1], [3, 0, 5, 0]);
        for word in 0..4 {
            assert_eq!(philox(7 | 1 << 32, 12 + word, 5), block[word as usize]);
        }
        assert_eq!(philox(0, 1 << 34, 0), philox_block([0; 2], [0, 1, 0, 0])[0]);
    }
}
