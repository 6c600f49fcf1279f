//! Large random arrays that are made quickly: a few million random bytes, repeated on the device.

use base::Result;
use runtime::{Array, Pool};
use scalar::{DType, Scalar};

/// Random elements that are made on the host: a prime number, so that no axis of an array repeats its values.
const TILE: usize = 1_048_583;

/// Which values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Values {
    /// Integers are from 0 to this, exclusive.
    pub(crate) below: i64,
    /// Floats are from here to there.
    pub(crate) floats: (f64, f64),
}

/// An array of random values.
///
/// # Errors
/// Out of memory.
pub(crate) fn tiled(pool: &Pool, dtype: DType, shape: &[usize], values: Values, seed: u64) -> Result<Array> {
    let array = Array::contiguous(pool, dtype, shape)?;
    let total = array.elements() * dtype.size();
    let tile = tile(dtype, array.elements().min(TILE), values, seed);
    array.buffer.write(0, &tile)?;
    let mut done = tile.len();
    while done < total {
        let part = done.min(total - done);
        array.buffer.copy_from(done, &array.buffer, 0, part)?;
        done += part;
    }
    Ok(array)
}

fn tile(dtype: DType, count: usize, values: Values, seed: u64) -> Vec<u8> {
    let mut state = seed + 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / (1u64 << 24) as f64
    };
    let mut bytes = Vec::with_capacity(count * dtype.size());
    for _ in 0..count {
        let u = next();
        let value = match dtype {
            DType::Bool => (2.0 * u).floor(),
            d if !d.is_float() => (values.below as f64 * u).floor(),
            _ => values.floats.0 + (values.floats.1 - values.floats.0) * u,
        };
        let scalar = if dtype.is_float() { Scalar::from_f64(dtype, value) } else { Scalar::from_i64(dtype, value as i64) };
        bytes.extend_from_slice(&scalar.bits().to_le_bytes()[..dtype.size()]);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_repeat_to_the_end() {
        let pool = Pool::new();
        let values = Values { below: 7, floats: (-1.0, 1.0) };
        let array = tiled(&pool, DType::I64, &[TILE + 3], values, 1).unwrap();
        let of = |i: usize| array.get(&[i]).unwrap().as_i64();
        assert!((0..1000).all(|i| (0..7).contains(&of(i))) && (0..3).all(|i| of(TILE + i) == of(i)));
    }
}
