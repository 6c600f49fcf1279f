//! Random numbers to measure with: products of zeros take less power, and run at higher clocks, than those of numbers.

use std::cell::OnceCell;

use base::Result;
use half::{bf16, f16};
use scalar::DType;
use scalar::f8::{E4M3, E5M2};

use crate::memory::{Buffer, Pool};

/// Bytes that the host makes; the rest repeats them.
const MADE: usize = 1 << 20;

/// A buffer of `count` numbers of a type: between -1 and 1; of integers any bytes, and below 128 where they are wider.
pub(crate) fn random(pool: &Pool, dtype: DType, count: usize) -> Result<Buffer> {
    let buffer = pool.alloc(count * dtype.size())?;
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut bytes = Vec::with_capacity(MADE);
    while bytes.len() < MADE.min(buffer.len()) {
        let unit = (next() >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
        match dtype {
            DType::F64 => bytes.extend(unit.to_le_bytes()),
            DType::F32 => bytes.extend((unit as f32).to_le_bytes()),
            DType::F16 => bytes.extend(f16::from_f64(unit).to_le_bytes()),
            DType::BF16 => bytes.extend(bf16::from_f64(unit).to_le_bytes()),
            DType::F8E4M3 => bytes.push(E4M3.encode(unit as f32)),
            DType::F8E5M2 => bytes.push(E5M2.encode(unit as f32)),
            DType::Bool => bytes.push(u8::from(unit > 0.0)),
            DType::I8 | DType::U8 => bytes.extend(next().to_le_bytes()),
            wide => bytes.extend(&(next() % 128).to_le_bytes()[..wide.size()]),
        }
    }
    bytes.truncate(buffer.len());
    buffer.write(0, &bytes)?;
    let mut done = bytes.len();
    while done < buffer.len() {
        let more = done.min(buffer.len() - done);
        buffer.copy_from(done, &buffer, 0, more)?;
        done += more;
    }
    Ok(buffer)
}

/// Operands to measure with, made when they are first needed.
pub(super) struct Operands<'a> {
    pool: &'a Pool,
    sizes: Vec<(DType, usize)>,
    made: OnceCell<Vec<Buffer>>,
}

impl<'a> Operands<'a> {
    /// So many elements of a type each.
    pub(super) fn new(pool: &'a Pool, sizes: impl IntoIterator<Item = (DType, usize)>) -> Operands<'a> {
        Operands { pool, sizes: sizes.into_iter().collect(), made: OnceCell::new() }
    }

    /// Their memory.
    pub(super) fn buffers(&self) -> Result<&[Buffer]> {
        if let Some(made) = self.made.get() {
            return Ok(made);
        }
        let made = self.sizes.iter().map(|&(dtype, count)| random(self.pool, dtype, count)).collect::<Result<_>>()?;
        Ok(self.made.get_or_init(|| made))
    }

    /// The addresses of the first of them.
    pub(super) fn addresses<const N: usize>(&self) -> Result<[u64; N]> {
        let buffers = self.buffers()?;
        Ok(std::array::from_fn(|i| buffers[i].as_ptr() as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_fill_the_buffer() {
        let pool = Pool::new();
        let buffer = random(&pool, DType::F32, MADE / 2).unwrap();
        let mut bytes = vec![0; buffer.len()];
        buffer.read(0, &mut bytes).unwrap();
        let numbers: Vec<f32> = bytes.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect();
        assert!(numbers.iter().all(|n| n.abs() <= 1.0));
        assert!(numbers.iter().sum::<f32>().abs() / (numbers.len() as f32) < 0.01);
        assert_eq!(numbers[..1000], numbers[MADE / 4..][..1000]);
    }
}
