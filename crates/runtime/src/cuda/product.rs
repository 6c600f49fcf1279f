//! From a product to the parameters of cuBLASLt, which thinks in column-major matrices.

use base::{Error, Result};
use program::{Epilogue, Operand, Product};
use scalar::{Activation, DType};
use smallvec::SmallVec;

/// The part of a `cublasLtEpilogue_t` that says that there is a second matrix.
const BESIDE: i32 = 128;
/// And that which says that sums of the result are stored.
const SUMS: i32 = 16;
/// Bytes that the second matrix begins at multiples of, and elements of which its columns are multiples apart.
const BESIDE_BYTES: i64 = 16;
const BESIDE_APART: i64 = 8;

/// Calls that one product may take, for batch axes that do not merge.
const MOST_CALLS: i64 = 1024;

/// A column-major matrix, or a batch of them, as it lies in memory; in elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Matrix {
    pub(crate) dtype: DType,
    pub(crate) rows: i64,
    pub(crate) columns: i64,
    /// Distance between neighbouring columns.
    pub(crate) leading: i64,
    /// Distance between neighbours of the batch.
    pub(crate) stride: i64,
}

impl Matrix {
    /// Elements from the first to the last of a batch.
    pub(crate) fn span(&self, batch: i64) -> i64 {
        (batch - 1) * self.stride + (self.columns - 1) * self.leading + self.rows
    }
}

/// What one call computes: `d = f(op(a)·op(b) + bias)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// `cublasComputeType_t`.
    pub(crate) compute: i32,
    /// Type of the scale factors.
    pub(crate) scale: DType,
    pub(crate) a: Matrix,
    pub(crate) b: Matrix,
    pub(crate) d: Matrix,
    /// Whether the factors are transposed.
    pub(crate) transposed: [bool; 2],
    pub(crate) batch: i64,
    /// `cublasLtEpilogue_t`.
    pub(crate) epilogue: i32,
    pub(crate) k: i64,
}

impl Problem {
    /// Multiply-adds.
    pub(crate) fn work(&self) -> f64 {
        self.d.rows as f64 * self.d.columns as f64 * self.k as f64 * self.batch as f64
    }

    /// Whether there is a second matrix, which lies as d does.
    pub(crate) fn has_beside(&self) -> bool {
        self.epilogue & BESIDE != 0
    }

    /// Whether sums of d are a second result.
    pub(crate) fn has_sums(&self) -> bool {
        self.epilogue & SUMS != 0
    }
}

/// A product as calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mapped {
    /// What each call computes; `None` for a product without elements.
    pub(crate) problem: Option<Problem>,
    /// Whether the library's factors are the product's in the other order.
    pub(crate) swapped: bool,
    /// Elements at which the library's a, b and d of each call begin.
    pub(crate) calls: Vec<[i64; 3]>,
}

/// `cudaDataType_t`.
pub(crate) fn code(dtype: DType) -> Option<i32> {
    Some(match dtype {
        DType::F32 => 0,
        DType::F64 => 1,
        DType::F16 => 2,
        DType::I8 => 3,
        DType::I32 => 10,
        DType::BF16 => 14,
        DType::F8E4M3 => 28,
        DType::F8E5M2 => 29,
        _ => return None,
    })
}

/// A batch axis: extent, and the distances of a, b and d.
#[derive(Clone, Copy, Debug)]
struct Axis {
    extent: i64,
    strides: [i64; 3],
}

/// Maps a product.
///
/// # Errors
/// `Unsupported` for types and layouts that the library does not take.
pub(crate) fn map(product: &Product) -> Result<Mapped> {
    let refuse = |why: &str| Err(Error::unsupported(format!("cuBLASLt takes no product {}: {why}", describe(product))));
    let Some((compute, scale)) = compute(product) else { return refuse("element types") };
    if product.m <= 0 || product.n <= 0 || product.batch.iter().any(|&d| d <= 0) {
        return Ok(Mapped { problem: None, swapped: false, calls: Vec::new() });
    }
    if product.k <= 0 {
        return refuse("nothing to sum over");
    }
    let Some(epilogue) = epilogue(product) else { return refuse("what follows it") };
    let (mut product, mut axes) = (product.clone(), axes(product));
    fold(&mut product, &mut axes);
    // A row-major result is a column-major one of the product in the other order; a single column of it is better left alone.
    let column = product.n == 1 && product.d.rows == 1 && vector_over_rows(&product).is_none();
    let orders = if column { [false, true] } else { [true, false] };
    let Some((swapped, a, b, d, transposed)) = orders.into_iter().find_map(|swapped| matrices(&product, swapped)) else {
        return refuse("neither rows nor columns are adjacent, or a bias over the other axis");
    };
    let inner = axes.pop().unwrap_or(Axis { extent: 1, strides: [0; 3] });
    if axes.iter().map(|axis| axis.extent).product::<i64>() > MOST_CALLS || inner.extent > i64::from(i32::MAX) {
        return refuse("batch axes that do not merge");
    }
    let [sa, sb, sd] = in_order(inner.strides, swapped);
    let batched = |m: Matrix, stride| Matrix { stride, ..m };
    let problem = Problem {
        compute,
        scale,
        a: batched(a, sa),
        b: batched(b, sb),
        d: batched(d, sd),
        transposed,
        batch: inner.extent,
        epilogue,
        k: product.k,
    };
    let start = [product.a.offset, product.b.offset, product.d.offset];
    let calls: Vec<[i64; 3]> = starts(start, &axes).into_iter().map(|at| in_order(at, swapped)).collect();
    if let Some(beside) = &product.epilogue.beside
        && !takes_beside(&problem.d, calls.iter().map(|[_, _, d]| d - product.d.offset + beside.offset))
    {
        return refuse("a second matrix that is not aligned");
    }
    if problem.has_sums() && (problem.batch > 1 || calls.len() > 1) {
        return refuse("sums over a batch");
    }
    Ok(Mapped { problem: Some(problem), swapped, calls })
}

fn describe(p: &Product) -> String {
    let operand = |o: &Operand| format!("{} (rows {}, columns {}, batch {:?})", o.dtype, o.rows, o.columns, o.batch);
    let (a, b, d) = (operand(&p.a), operand(&p.b), operand(&p.d));
    format!("{:?} x {} x {} x {}, a {a}, b {b}, d {d}, in {}", p.batch, p.m, p.n, p.k, p.acc)
}

/// `cublasComputeType_t`, without lower precision than asked for, and the type of the scale factors.
fn compute(p: &Product) -> Option<(i32, DType)> {
    use DType::{BF16, F16, F32, F64, I8, I32};
    let same = p.a.dtype == p.b.dtype;
    if p.a.dtype.f8().is_some() && p.b.dtype.f8().is_some() {
        return (p.acc == F32 && matches!(p.d.dtype, F16 | BF16 | F32)).then_some((68, F32));
    }
    Some(match (p.a.dtype, p.acc, p.d.dtype) {
        _ if !same => return None,
        (F32, F32, F32) => (68, F32),
        (F64, F64, F64) => (70, F64),
        (F16, F32, F16 | F32) | (BF16, F32, BF16 | F32) => (68, F32),
        (I8, I32, I32) => (72, I32),
        _ => return None,
    })
}

/// `cublasLtEpilogue_t`, if there is one.
fn epilogue(p: &Product) -> Option<i32> {
    let Epilogue { bias, activation, beside, sums } = &p.epilogue;
    let is_backward = *activation == Some(Activation::GeluTanhBackward);
    if (bias.is_some() && is_backward) || (sums.is_some() && !is_backward) {
        return None;
    }
    let function = match (activation, beside) {
        (None, None) => 0,
        (Some(Activation::Relu), None) => 2,
        (Some(Activation::GeluTanh), None) => 32,
        (Some(Activation::GeluTanh), Some(_)) => 32 | BESIDE,
        (Some(Activation::GeluTanhBackward), Some(_)) => 64 | BESIDE,
        _ => return None,
    };
    Some(match function | if bias.is_some() { 4 } else { 0 } | if sums.is_some() { SUMS } else { 0 } {
        0 => 1,
        some => some,
    })
}

/// Whether the library takes a second matrix that lies as d does and begins at these elements.
fn takes_beside(d: &Matrix, mut begins: impl Iterator<Item = i64>) -> bool {
    let apart = [d.leading, d.stride].iter().all(|distance| distance % BESIDE_APART == 0);
    apart && begins.all(|at| at * d.dtype.size() as i64 % BESIDE_BYTES == 0)
}

/// Batch axes of more than one element, merged where all operands allow it; outermost first.
fn axes(p: &Product) -> SmallVec<[Axis; 4]> {
    let mut axes: SmallVec<[Axis; 4]> = SmallVec::new();
    let stride = |o: &Operand, i: usize| o.batch.get(i).copied().unwrap_or(0);
    for (i, &extent) in p.batch.iter().enumerate().filter(|(_, d)| **d > 1) {
        let axis = Axis { extent, strides: [stride(&p.a, i), stride(&p.b, i), stride(&p.d, i)] };
        match axes.last_mut() {
            Some(outer) if (0..3).all(|o| outer.strides[o] == axis.strides[o] * extent) => {
                *outer = Axis { extent: outer.extent * extent, strides: axis.strides };
            }
            _ => axes.push(axis),
        }
    }
    axes
}

/// Whether the vector that is read or written after a product varies over rows, if there is one.
fn vector_over_rows(p: &Product) -> Option<bool> {
    let Epilogue { bias, sums, .. } = &p.epilogue;
    bias.as_ref().or(sums.as_ref()).map(|v| v.over_rows)
}

/// Makes the innermost batch axis rows, where b does not vary and a's and d's rows go on from one matrix to the next.
fn fold(p: &mut Product, axes: &mut SmallVec<[Axis; 4]>) {
    let over_rows = vector_over_rows(p) == Some(true);
    while let Some(axis) = axes.last().filter(|_| !over_rows) {
        let [a, b, d] = axis.strides;
        let (mut a_rows, mut d_rows) = (p.a.rows, p.d.rows);
        if p.m == 1 {
            (a_rows, d_rows) = (a, d);
        }
        if b != 0 || a != p.m * a_rows || d != p.m * d_rows {
            return;
        }
        (p.a.rows, p.d.rows, p.m) = (a_rows, d_rows, p.m * axis.extent);
        axes.pop();
    }
}

/// The library's a, b and d, and whether a and b are transposed, for one order of the factors.
fn matrices(p: &Product, swapped: bool) -> Option<(bool, Matrix, Matrix, Matrix, [bool; 2])> {
    if vector_over_rows(p) == Some(swapped) {
        return None;
    }
    let (m, n, k) = (p.m, p.n, p.k);
    let (first, second, d) = if swapped {
        ((n, k, p.b.columns, p.b.rows, p.b.dtype), (k, m, p.a.columns, p.a.rows, p.a.dtype), (n, m, p.d.columns, p.d.rows))
    } else {
        ((m, k, p.a.rows, p.a.columns, p.a.dtype), (k, n, p.b.rows, p.b.columns, p.b.dtype), (m, n, p.d.rows, p.d.columns))
    };
    let leading = leading(d.0, d.1, d.2, d.3)?;
    let d = Matrix { dtype: p.d.dtype, rows: d.0, columns: d.1, leading, stride: 0 };
    let (a, a_transposed) = factor(first)?;
    let (b, b_transposed) = factor(second)?;
    Some((swapped, a, b, d, [a_transposed, b_transposed]))
}

/// The leading dimension of a matrix that is column-major as it is.
fn leading(rows: i64, columns: i64, row_stride: i64, column_stride: i64) -> Option<i64> {
    let adjacent = rows == 1 || row_stride == 1;
    let apart = columns == 1 || column_stride >= rows;
    (adjacent && apart).then_some(if columns == 1 { rows } else { column_stride })
}

/// A factor as it lies in memory, and whether that is its transpose.
fn factor((rows, columns, row_stride, column_stride, dtype): (i64, i64, i64, i64, DType)) -> Option<(Matrix, bool)> {
    let plain = leading(rows, columns, row_stride, column_stride);
    let transposed = leading(columns, rows, column_stride, row_stride);
    // Of a single row with adjacent elements, the transpose has the wider leading dimension, which the fast algorithms need.
    let single_row = rows == 1 && columns > 1 && column_stride == 1;
    match (plain, transposed) {
        (Some(leading), other) if !(single_row && other.is_some()) => {
            Some((Matrix { dtype, rows, columns, leading, stride: 0 }, false))
        }
        (_, Some(leading)) => Some((Matrix { dtype, rows: columns, columns: rows, leading, stride: 0 }, true)),
        _ => None,
    }
}

/// Numbers of a, b and d in the library's order.
fn in_order([a, b, d]: [i64; 3], swapped: bool) -> [i64; 3] {
    if swapped { [b, a, d] } else { [a, b, d] }
}

/// Where each index of the outer axes begins, in a, b and d.
fn starts(start: [i64; 3], axes: &[Axis]) -> Vec<[i64; 3]> {
    let mut all = vec![start];
    for axis in axes {
        let next = |at: &[i64; 3]| {
            let at = *at;
            (0..axis.extent).map(move |i| [0, 1, 2].map(|o| at[o] + i * axis.strides[o]))
        };
        all = all.iter().flat_map(next).collect();
    }
    all
}

#[cfg(test)]
#[path = "product_tests.rs"]
mod tests;
