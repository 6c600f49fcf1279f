//! How far results may differ: the one place of tolerances.

use base::{Error, ErrorKind, Result};
use graph::{Graph, HostTensor, Type};
use scalar::{DType, Scalar};

/// How to compare two results.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    /// Same bits; any NaN equals any NaN.
    Exact,
    /// Same numbers: as `Exact`, and −0.0 equals 0.0.
    Equal,
    /// `|got − want| ≤ factor · (absolute + relative · |want|)`, with the two of the dtype from [`bounds`].
    /// Infinities and NaN must match; integers and bools must be equal.
    Close {
        /// How many times the dtype's bounds.
        factor: f64,
    },
    /// As `Close` with factor 1, but never tighter than the bounds of another dtype: values may have passed through it.
    CloseAs(DType),
}

impl Tolerance {
    /// The default for results that sum in another order or use another approximation of a function.
    pub const CLOSE: Tolerance = Tolerance::Close { factor: 1.0 };
}

/// (absolute, relative) error of a dtype that a short chain of well-conditioned ops stays below.
pub fn bounds(d: DType) -> (f64, f64) {
    match d {
        DType::F8E5M2 => (0.25, 0.25),
        DType::F8E4M3 => (0.125, 0.125),
        DType::F16 => (4e-3, 8e-3),
        DType::BF16 => (3e-2, 5e-2),
        DType::F32 => (2e-5, 2e-5),
        DType::F64 => (1e-12, 1e-12),
        _ => (0.0, 0.0),
    }
}

/// Checks that two lists of results agree.
///
/// # Errors
/// The first position where they do not, with both values.
pub fn compare(want: &[HostTensor], got: &[HostTensor], tolerance: Tolerance) -> Result<()> {
    if want.len() != got.len() {
        return Err(mismatch(format!("{} results expected, got {}", want.len(), got.len())));
    }
    want.iter()
        .zip(got)
        .enumerate()
        .try_for_each(|(i, (w, g))| compare_one(w, g, tolerance).map_err(|e| e.context(format!("output {i}"))))
}

fn compare_one(want: &HostTensor, got: &HostTensor, tolerance: Tolerance) -> Result<()> {
    if want.dtype() != got.dtype() || want.shape() != got.shape() {
        return Err(mismatch(format!("expected {want:?}, got {got:?}")));
    }
    match (0..want.len()).find(|&i| !agree(want.get(i), got.get(i), tolerance)) {
        Some(i) => Err(mismatch(format!("at {:?} expected {}, got {}", position(want.shape(), i), want.get(i), got.get(i)))),
        None => Ok(()),
    }
}

/// Whether two scalars of one dtype agree.
pub fn agree(want: Scalar, got: Scalar, tolerance: Tolerance) -> bool {
    if want == got {
        return true;
    }
    if !want.dtype().is_float() {
        return false;
    }
    let (w, g) = (want.as_f64(), got.as_f64());
    if w.is_nan() || g.is_nan() {
        return w.is_nan() && g.is_nan();
    }
    match tolerance {
        Tolerance::Exact => false,
        Tolerance::Equal => w == g,
        Tolerance::Close { factor } => w == g || within(w, g, factor, bounds(want.dtype())),
        Tolerance::CloseAs(d) => {
            let (own, other) = (bounds(want.dtype()), bounds(d));
            w == g || within(w, g, 1.0, (own.0.max(other.0), own.1.max(other.1)))
        }
    }
}

fn within(w: f64, g: f64, factor: f64, (absolute, relative): (f64, f64)) -> bool {
    w.is_finite() && g.is_finite() && (w - g).abs() <= factor * (absolute + relative * w.abs())
}

/// `CLOSE` loosened to the least precise float dtype of a graph; other tolerances stay.
pub fn for_graph(tolerance: Tolerance, graph: &Graph) -> Tolerance {
    let dtypes = graph.nodes.iter().filter_map(|n| match &n.ty {
        Type::Tensor(t) => Some(t.dtype),
        Type::Tuple(_) => None,
    });
    let weakest = dtypes.filter(|d| d.is_float()).max_by(|a, b| bounds(*a).0.total_cmp(&bounds(*b).0));
    match (tolerance, weakest) {
        (Tolerance::Close { factor: 1.0 }, Some(d)) => Tolerance::CloseAs(d),
        _ => tolerance,
    }
}

/// Multi-index of a row-major position.
fn position(shape: &[usize], mut i: usize) -> Vec<usize> {
    let mut at = vec![0; shape.len()];
    for (a, &n) in at.iter_mut().zip(shape).rev() {
        (*a, i) = (i % n, i / n);
    }
    at
}

fn mismatch(message: String) -> Error {
    Error::new(ErrorKind::Mismatch, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_and_nans() {
        let (plus, minus, nan) = (Scalar::f32(0.0), Scalar::f32(-0.0), Scalar::from_bits(DType::F32, 0x7fc0_0001));
        assert!(!agree(plus, minus, Tolerance::Exact));
        assert!(agree(plus, minus, Tolerance::Equal));
        assert!(agree(Scalar::f32(f32::NAN), nan, Tolerance::Exact));
        assert!(!agree(nan, plus, Tolerance::CLOSE));
        assert!(!agree(Scalar::f32(f32::INFINITY), Scalar::f32(f32::MAX), Tolerance::CLOSE));
    }

    #[test]
    fn close_scales_with_dtype_and_names_the_position() {
        let t = |d, v: &[f64]| HostTensor::from_f64s(d, &[1, 2], v);
        assert!(compare(&[t(DType::F16, &[1.0, 2.0])], &[t(DType::F16, &[1.0, 2.002])], Tolerance::CLOSE).is_ok());
        let e = compare(&[t(DType::F32, &[1.0, 2.0])], &[t(DType::F32, &[1.0, 2.002])], Tolerance::CLOSE).unwrap_err();
        assert_eq!(e.to_string(), "output 0: at [0, 1] expected 2.0, got 2.002");
        assert!(compare(&[t(DType::I32, &[1.0, 2.0])], &[t(DType::I32, &[1.0, 3.0])], Tolerance::CLOSE).is_err());
    }
}
