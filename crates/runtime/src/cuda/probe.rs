//! Whether an engine keeps a NaN where it belongs.

use base::Result;
use half::{bf16, f16};
use program::ConvolutionKind;
use scalar::DType;

use super::convolution::{Array, Problem};
use super::reach::{Reach, Shows};
use crate::memory::Buffer;

/// Runs a problem on operands, one element of which is no number, and looks where results are none. `run` puts the problem on the
/// stream.
pub(super) fn keeps_nan(problem: &Problem, buffers: &[Buffer], run: impl Fn() -> Result<()>) -> Result<bool> {
    let (operands, result) = problem.roles();
    let size = problem.dtype.size();
    for (operand, is_last) in operands.into_iter().flat_map(|o| [(o, false), (o, true)]) {
        let (array, buffer) = (&problem.arrays[operand], &buffers[operand]);
        let element = element(array, is_last);
        let at = array.position(&element) as usize * size;
        let mut usual = vec![0; size];
        buffer.read(at, &mut usual)?;
        buffer.write(at, &not_a_number(problem.dtype))?;
        // An engine that cannot run after all is none.
        let ran = run().is_ok();
        buffer.write(at, &usual)?;
        if !ran || !shows_where_it_should(problem, result, &buffers[result], &problem.reach(operand, &element))? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// An element in the middle; or the last one of the middle of the outermost axis.
fn element(array: &Array, is_last: bool) -> Vec<i64> {
    let of = |(axis, &n): (usize, &i64)| if is_last && axis > 0 { n - 1 } else { n / 2 };
    array.extents.iter().enumerate().map(of).collect()
}

/// Compares a result with what should show. Of data, one of the batch is enough: engines compute them apart from each other.
fn shows_where_it_should(problem: &Problem, result: usize, buffer: &Buffer, reach: &Reach) -> Result<bool> {
    let (array, dtype) = (&problem.arrays[result], problem.dtype);
    let outermost = match problem.kind {
        ConvolutionKind::Weights => 0..array.extents[0],
        _ => array.extents[0] / 2..array.extents[0] / 2 + 1,
    };
    let slice = Array { extents: [&[1], &array.extents[1..]].concat(), ..array.clone() };
    let mut bytes = vec![0; slice.span() as usize * dtype.size()];
    for n in outermost {
        buffer.read((n * array.strides[0]) as usize * dtype.size(), &mut bytes)?;
        let is_nan = |at: usize| is_nan(dtype, &bytes[at * dtype.size()..][..dtype.size()]);
        if !agrees(&slice.strides[1..], &reach.axes[1..], reach.axes[0][n as usize], 0, &is_nan) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether elements from one on are no numbers where that should show.
fn agrees(strides: &[i64], axes: &[Vec<Shows>], outside: Shows, at: usize, is_nan: &impl Fn(usize) -> bool) -> bool {
    let Some((axis, inner)) = axes.split_first() else {
        return outside == Shows::Maybe || is_nan(at) == (outside == Shows::Yes);
    };
    let mut all = axis.iter().enumerate();
    all.all(|(i, &shows)| agrees(&strides[1..], inner, outside.min(shows), at + i * strides[0] as usize, is_nan))
}

fn not_a_number(dtype: DType) -> Vec<u8> {
    match dtype {
        DType::F16 => f16::NAN.to_le_bytes().into(),
        DType::BF16 => bf16::NAN.to_le_bytes().into(),
        _ => f32::NAN.to_le_bytes().into(),
    }
}

fn is_nan(dtype: DType, bytes: &[u8]) -> bool {
    match *bytes {
        [a, b] if dtype == DType::F16 => f16::from_le_bytes([a, b]).is_nan(),
        [a, b] => bf16::from_le_bytes([a, b]).is_nan(),
        [a, b, c, d] => f32::from_le_bytes([a, b, c, d]).is_nan(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use program::Window;

    use super::*;
    use crate::memory::Pool;

    /// A convolution of two groups of one channel and one tap.
    fn problem() -> Problem {
        let array = |extents: [i64; 4]| {
            let [_, c, h, w] = extents;
            Array { extents: extents.to_vec(), strides: vec![c * h * w, h * w, w, 1], alignment: 16 }
        };
        let window = Window { stride: 1, dilation: 1, before: 0, after: 0 };
        let arrays = [array([2, 1, 1, 1]), array([3, 2, 2, 2]), array([3, 2, 2, 2])];
        Problem {
            kind: ConvolutionKind::Forward,
            dtype: DType::F32,
            windows: vec![window; 2],
            arrays,
            bias: None,
            activation: None,
        }
    }

    fn read(buffer: &Buffer) -> Vec<f32> {
        let mut bytes = vec![0; buffer.len()];
        buffer.read(0, &mut bytes).unwrap();
        bytes.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect()
    }

    /// Whether an engine that computes an element of y from its group's w and x, and the other group's, is good.
    fn is_good(engine: impl Fn([f32; 2], [f32; 2]) -> f32) -> bool {
        let (problem, pool) = (problem(), Pool::new());
        let buffers = problem.arrays.each_ref().map(|a| super::super::random(&pool, DType::F32, a.span() as usize).unwrap());
        let run = || {
            let (w, x) = (read(&buffers[0]), read(&buffers[1]));
            let y = |i: usize| engine([w[i / 4 % 2], x[i]], [w[1 - i / 4 % 2], x[i ^ 4]]);
            let bytes: Vec<u8> = (0..x.len()).flat_map(|i| y(i).to_le_bytes()).collect();
            buffers[2].write(0, &bytes)
        };
        keeps_nan(&problem, &buffers, run).unwrap()
    }

    #[test]
    fn engines_that_leak_or_lose_a_nan_are_found() {
        assert!(is_good(|[w, x], _| w * x));
        assert!(!is_good(|[w, x], [_, other]| w * x + 0.0 * other), "zeros beside the group's filter");
        assert!(!is_good(|[w, x], [other, _]| w * x + 0.0 * other), "the other group's filter");
        assert!(!is_good(|[w, x], _| (w * x).max(0.0)), "a maximum that leaves a NaN out");
        assert!(!is_good(|[_, x], _| if x.is_nan() { x } else { f32::NAN }), "nothing but NaN");
    }
}
