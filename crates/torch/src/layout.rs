//! Strided memory as dense memory and views: graphs have no strides.

use base::{Error, Result};
use graph::{Builder, InputDecl, NodeId, TensorType};
use scalar::{DType, Shape, Sym};

/// Extents and strides in elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Extents.
    pub shape: Shape,
    /// Distances of neighbours.
    pub strides: Shape,
}

/// The axes of a dense layout from the outermost in memory to the innermost; `None` if it has gaps or overlaps.
///
/// Axes of extent 1 have no say: they come first.
pub fn dense_order(layout: &Layout) -> Option<Vec<usize>> {
    let Layout { shape, strides } = layout;
    if shape.iter().any(Sym::is_zero) {
        return Some((0..shape.len()).collect());
    }
    let (mut left, mut order): (Vec<usize>, Vec<usize>) = (0..shape.len()).partition(|&a| !shape[a].is_one());
    let mut inner = Vec::new();
    let mut step = Sym::ONE;
    while !left.is_empty() {
        let at = left.iter().rposition(|&a| strides[a] == step)?;
        let axis = left.remove(at);
        step = step * shape[axis].clone();
        inner.push(axis);
    }
    inner.reverse();
    order.extend(inner);
    Some(order)
}

/// Row-major strides of a shape.
pub fn row_major(shape: &Shape) -> Shape {
    let mut strides = Shape::from_elem(Sym::ONE, shape.len());
    for a in (1..shape.len()).rev() {
        strides[a - 1] = strides[a].clone() * shape[a].clone();
    }
    strides
}

/// The inverse of a permutation.
pub fn inverse(order: &[usize]) -> Vec<usize> {
    let mut inverse = vec![0; order.len()];
    for (at, &axis) in order.iter().enumerate() {
        inverse[axis] = at;
    }
    inverse
}

/// Declares an input over strided memory: a dense input, and views of it that read the given layout.
///
/// # Errors
/// Unsupported if no dense memory contains the layout (overlapping axes, strides that do not divide).
pub fn strided_input(b: &mut Builder, name: &str, dtype: DType, layout: &Layout) -> Result<NodeId> {
    if let Some(order) = dense_order(layout) {
        let x = declare(b, name, dtype, order.iter().map(|&a| layout.shape[a].clone()).collect())?;
        return permuted(b, x, &inverse(&order));
    }
    let Container { dense, order } = container(layout)?;
    let x = declare(b, name, dtype, dense.clone())?;
    let rank = dense.len();
    let mut kept: Shape = order.iter().map(|&a| layout.shape[a].clone()).collect();
    kept.resize(rank, Sym::ONE);
    let zeros = Shape::from_elem(Sym::ZERO, rank);
    let x = if kept == dense { x } else { b.slice(x, zeros, kept.clone(), &vec![1; rank])? };
    // Back to the layout's axes: those of extent 1 and those that repeat return as extent 1, then repeat.
    let mut once: Shape = Shape::from_elem(Sym::ONE, layout.shape.len());
    for &a in &order {
        once[a] = layout.shape[a].clone();
    }
    let x = b.reshape(x, order.iter().map(|&a| layout.shape[a].clone()))?;
    let mut sorted: Vec<usize> = order.clone();
    sorted.sort_unstable();
    let position: Vec<usize> = sorted.iter().map(|a| order.iter().position(|o| o == a).unwrap_or(0)).collect();
    let x = permuted(b, x, &position)?;
    let x = b.reshape(x, once.clone())?;
    if once == layout.shape { Ok(x) } else { b.expand(x, layout.shape.clone()) }
}

/// Dense memory that contains a layout with gaps.
struct Container {
    /// Its extents: one per axis of `order`, perhaps one more for the step of the innermost.
    dense: Shape,
    /// Axes that move, from the outermost in memory.
    order: Vec<usize>,
}

fn container(layout: &Layout) -> Result<Container> {
    let Layout { shape, strides } = layout;
    let moving = (0..shape.len()).filter(|&a| !shape[a].is_one() && !strides[a].is_zero());
    let mut order: Vec<(i64, usize)> = moving
        .map(|a| match (strides[a].as_int(), shape[a].as_int()) {
            (Some(s), Some(_)) if s > 0 => Ok((s, a)),
            _ => Err(Error::unsupported(format!("strides {strides:?} of shape {shape:?} have gaps and symbols"))),
        })
        .collect::<Result<_>>()?;
    order.sort_by(|x, y| y.cmp(x));
    let mut dense = Shape::new();
    for (at, &(stride, axis)) in order.iter().enumerate() {
        let (next, extent) = (order.get(at + 1), shape[axis].as_int().unwrap_or(0));
        if at == 0 {
            dense.push(Sym::from(extent));
        }
        let inner = next.map_or(1, |n| n.0);
        let room = next.map_or(1, |n| shape[n.1].as_int().unwrap_or(0));
        if stride % inner != 0 || stride / inner < room {
            return Err(Error::unsupported(format!("strides {strides:?} of shape {shape:?} overlap")));
        }
        if next.is_some() || stride > 1 {
            dense.push(Sym::from(stride / inner));
        }
    }
    Ok(Container { dense, order: order.into_iter().map(|(_, a)| a).collect() })
}

fn declare(b: &mut Builder, name: &str, dtype: DType, shape: Shape) -> Result<NodeId> {
    let ty = TensorType { dtype, shape };
    b.input_decl(InputDecl { name: name.to_owned(), ty, frozen: false, donated: false })
}

/// A permutation that makes no node when nothing moves.
pub fn permuted(b: &mut Builder, x: NodeId, perm: &[usize]) -> Result<NodeId> {
    if perm.iter().enumerate().all(|(i, &p)| i == p) { Ok(x) } else { b.permute(x, perm) }
}
