//! How two lists of results differ, in one line.

use graph::{Graph, HostTensor, Op, Type};
use scalar::DType;
use testing::tolerance::{Tolerance, agree};

/// The first output that differs: how much of it, where first, and where most; `None` where all agree.
pub(crate) fn difference(want: &[HostTensor], got: &[HostTensor], tolerance: Tolerance) -> Option<String> {
    if want.len() != got.len() {
        return Some(format!("{} results expected, got {}", want.len(), got.len()));
    }
    want.iter().zip(got).enumerate().find_map(|(n, (w, g))| one(w, g, tolerance).map(|text| format!("output {n}: {text}")))
}

fn one(want: &HostTensor, got: &HostTensor, tolerance: Tolerance) -> Option<String> {
    let (dtype, shape) = (want.dtype(), want.shape());
    if dtype != got.dtype() || shape != got.shape() {
        return Some(format!("expected {dtype}{shape:?}, got {}{:?}", got.dtype(), got.shape()));
    }
    if want.bytes() == got.bytes() {
        return None;
    }
    let slack = slack(want, tolerance);
    let near = |i: usize| (want.get(i).as_f64() - got.get(i).as_f64()).abs() <= slack;
    let wrong: Vec<usize> = (0..want.len()).filter(|&i| !agree(want.get(i), got.get(i), tolerance) && !near(i)).collect();
    let &first = wrong.first()?;
    let error = |i: usize| {
        let (w, g) = (want.get(i).as_f64(), got.get(i).as_f64());
        if (w - g).is_finite() { (w - g).abs() } else { f64::INFINITY }
    };
    let worst = wrong.iter().copied().max_by(|&a, &b| error(a).total_cmp(&error(b))).unwrap_or(first);
    let at = |i: usize| format!("{:?} want {} got {}", position(shape, i), want.get(i), got.get(i));
    let mut text = format!("{dtype}{shape:?} {} of {} differ; first {}", wrong.len(), want.len(), at(first));
    if worst != first {
        text += &format!("; worst {}", at(worst));
    }
    Some(text)
}

/// What roundings of terms as large as the results leave where they cancel: an output's own size counts, not one element's.
fn slack(want: &HostTensor, tolerance: Tolerance) -> f64 {
    let Tolerance::Close { factor } = tolerance else { return 0.0 };
    let epsilon = match want.dtype() {
        DType::F32 => f64::from(f32::EPSILON),
        DType::F64 => f64::EPSILON,
        _ => return 0.0,
    };
    let squares = (0..want.len()).map(|i| want.get(i).as_f64()).filter(|v| v.is_finite()).map(|v| v * v).sum::<f64>();
    factor * epsilon * (squares / want.len().max(1) as f64).sqrt()
}

/// Multi-index of a row-major position.
fn position(shape: &[usize], mut i: usize) -> Vec<usize> {
    let mut at = vec![0; shape.len()];
    for (a, &n) in at.iter_mut().zip(shape).rev() {
        (*a, i) = (i % n, i / n);
    }
    at
}

/// Whether a graph has only ops whose fused execution has the bits of one kernel per op.
pub(crate) fn is_pointwise(graph: &Graph) -> bool {
    let pointwise =
        |op: &Op| matches!(op, Op::Input(_) | Op::Const(_) | Op::SymConst(_) | Op::Iota(_) | Op::Map(_) | Op::View(_));
    graph.nodes.iter().all(|n| pointwise(&n.op))
}

/// For whole models and large reductions: the bounds of the least precise type, which sums of thousands of f32 terms in another
/// order may exceed twentyfold.
pub(crate) fn loose(graph: &Graph) -> Tolerance {
    let has = |d: DType| graph.nodes.iter().any(|n| matches!(&n.ty, Type::Tensor(t) if t.dtype == d));
    let narrow = [DType::BF16, DType::F16].into_iter().find(|&d| has(d));
    narrow.map_or(Tolerance::Close { factor: 20.0 }, Tolerance::CloseAs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_and_worst_are_named() {
        let t = |v: &[f64]| HostTensor::from_f64s(DType::F32, &[2, 2], v);
        let (want, got) = (t(&[1.0, 2.0, 3.0, 4.0]), t(&[1.0, 2.5, 3.0, 9.0]));
        assert_eq!(difference(std::slice::from_ref(&want), std::slice::from_ref(&want), Tolerance::Exact), None);
        assert_eq!(
            difference(&[want], &[got], Tolerance::CLOSE).unwrap(),
            "output 0: f32[2, 2] 2 of 4 differ; first [0, 1] want 2.0 got 2.5; worst [1, 1] want 4.0 got 9.0"
        );
    }
}
