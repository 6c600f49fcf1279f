//! A convolution, and what follows it, as a graph of cuDNN's operations.

use base::{Error, Result};
use program::{ConvolutionKind, Window};

use super::backend::{Descriptor, Values};
use super::blas::Opaque;
use super::convolution::{Array, Problem, W, X, Y, code};
use super::cudnn::{CROSS_CORRELATION, Dnn, FLOAT, PROPAGATE_NAN, attribute as a, function, sort};

/// Numbers of w, x, y and a bias in a graph.
pub(super) const IDS: [i64; 4] = [1, 2, 3, 4];
/// Numbers of what lies between two operations.
const BETWEEN: [i64; 2] = [5, 6];

/// A problem as a graph of the library, with what it is made of.
pub(super) struct Graph {
    pub(super) descriptor: Descriptor,
    _parts: Vec<Descriptor>,
}

impl Graph {
    pub(super) fn new(dnn: &Dnn, handle: Opaque, problem: &Problem) -> Result<Graph> {
        let dtype = code(problem.dtype).ok_or_else(|| Error::internal(format!("a convolution of {}", problem.dtype)))?;
        let stored = problem.operands().zip(IDS).map(|(array, id)| tensor(dnn, array, dtype, id, false));
        let stored = stored.collect::<Result<Vec<_>>>()?;
        let sum = problem.bias.iter().map(|_| (function::ADD, stored.last()));
        let functions: Vec<_> = sum.chain(problem.activation.iter().map(|_| (function::RELU, None))).collect();
        // What lies between operations stays in f32, and out of memory.
        let between = BETWEEN.iter().take(functions.len()).map(|&id| tensor(dnn, &problem.arrays[Y], FLOAT, id, true));
        let between = between.collect::<Result<Vec<_>>>()?;
        let results: Vec<&Descriptor> = between.iter().chain([&stored[Y]]).collect();
        let mut parts = vec![windows(dnn, &problem.windows)?];
        let mut operations = vec![convolve(dnn, problem.kind, &parts[0], [&stored[W], &stored[X], results[0]])?];
        for ((function, second), ends) in functions.into_iter().zip(results.windows(2)) {
            let function = pointwise(dnn, function)?;
            operations.push(apply(dnn, &function, ends[0], second, ends[1])?);
            parts.push(function);
        }
        let listed: Vec<&Descriptor> = operations.iter().collect();
        let attributes = [(a::GRAPH_HANDLE, Values::Handle(handle)), (a::GRAPH_OPERATIONS, Values::Descriptors(&listed))];
        let descriptor = Descriptor::new(dnn, sort::GRAPH, &attributes)?;
        parts.extend(stored.into_iter().chain(between).chain(operations));
        Ok(Graph { descriptor, _parts: parts })
    }
}

fn tensor(dnn: &Dnn, array: &Array, dtype: i32, id: i64, is_virtual: bool) -> Result<Descriptor> {
    let attributes = [
        (a::TENSOR_TYPE, Values::Type(dtype)),
        (a::TENSOR_EXTENTS, Values::Numbers(&array.extents)),
        (a::TENSOR_STRIDES, Values::Numbers(&array.strides)),
        (a::TENSOR_ID, Values::Numbers(&[id])),
        (a::TENSOR_ALIGNMENT, Values::Numbers(&[array.alignment])),
        (a::TENSOR_VIRTUAL, Values::Flag(is_virtual)),
    ];
    Descriptor::new(dnn, sort::TENSOR, &attributes)
}

/// An operation from w, x and y, one of which it writes.
fn convolve(dnn: &Dnn, kind: ConvolutionKind, windows: &Descriptor, operands: [&Descriptor; 3]) -> Result<Descriptor> {
    let (sort, [alpha, beta, convolution, w, x, y]) = match kind {
        ConvolutionKind::Forward => (sort::FORWARD, a::FORWARD),
        ConvolutionKind::Data => (sort::BACKWARD_DATA, a::BACKWARD_DATA),
        ConvolutionKind::Weights => (sort::BACKWARD_WEIGHTS, a::BACKWARD_WEIGHTS),
    };
    let attributes = [
        (alpha, Values::Factor(1.0)),
        (beta, Values::Factor(0.0)),
        (convolution, Values::One(windows)),
        (w, Values::One(operands[W])),
        (x, Values::One(operands[X])),
        (y, Values::One(operands[Y])),
    ];
    Descriptor::new(dnn, sort, &attributes)
}

/// A function of each element.
fn pointwise(dnn: &Dnn, function: i32) -> Result<Descriptor> {
    let attributes = [
        (a::POINTWISE_FUNCTION, Values::Function(function)),
        (a::POINTWISE_TYPE, Values::Type(FLOAT)),
        (a::POINTWISE_NAN, Values::Nan(PROPAGATE_NAN)),
    ];
    Descriptor::new(dnn, sort::POINTWISE, &attributes)
}

/// An operation that applies a function to an array, or two.
fn apply(
    dnn: &Dnn,
    function: &Descriptor,
    first: &Descriptor,
    second: Option<&Descriptor>,
    result: &Descriptor,
) -> Result<Descriptor> {
    let [what, x, b, y] = a::POINTWISE;
    let attributes = [(what, Some(function)), (x, Some(first)), (b, second), (y, Some(result))];
    let attributes: Vec<_> = attributes.into_iter().filter_map(|(name, d)| Some((name, Values::One(d?)))).collect();
    Descriptor::new(dnn, sort::OPERATION_POINTWISE, &attributes)
}

/// How a filter moves.
fn windows(dnn: &Dnn, windows: &[Window]) -> Result<Descriptor> {
    let numbers = |of: fn(&Window) -> i64| -> Vec<i64> { windows.iter().map(of).collect() };
    let (strides, dilations) = (numbers(|w| w.stride), numbers(|w| w.dilation));
    let (before, after) = (numbers(|w| w.before), numbers(|w| w.after));
    let attributes = [
        (a::CONVOLUTION_TYPE, Values::Type(FLOAT)),
        (a::CONVOLUTION_MODE, Values::Mode(CROSS_CORRELATION)),
        (a::CONVOLUTION_SPATIAL, Values::Numbers(&[windows.len() as i64])),
        (a::CONVOLUTION_STRIDES, Values::Numbers(&strides)),
        (a::CONVOLUTION_DILATIONS, Values::Numbers(&dilations)),
        (a::CONVOLUTION_BEFORE, Values::Numbers(&before)),
        (a::CONVOLUTION_AFTER, Values::Numbers(&after)),
    ];
    Descriptor::new(dnn, sort::CONVOLUTION, &attributes)
}
