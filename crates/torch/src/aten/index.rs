//! Reads at positions that tensors hold. Indices out of range are an error at run time.

use base::Result;
use graph::{NodeId, compose};
use scalar::{DType, Shape, Sym};

use super::Lower;
use super::ctx::Ctx;
use crate::layout::permuted;

pub(super) fn lookup(target: &str) -> Option<Lower> {
    Some(match target {
        "aten.embedding.default" => embedding,
        "aten.gather.default" => gather,
        "aten.index_select.default" => index_select,
        "aten.index.Tensor" => index,
        _ => return None,
    })
}

fn embedding(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let (table, index) = (c.tensor("weight")?, c.tensor("indices")?);
    let index = c.cast(index, DType::I64)?;
    Ok(vec![compose::embedding(c.b, table, index)?])
}

/// A 0-d tensor as a vector of one.
pub(super) fn vector(c: &mut Ctx<'_>, x: NodeId) -> Result<NodeId> {
    if c.rank(x) == 0 { c.b.reshape(x, [Sym::ONE]) } else { Ok(x) }
}

/// An operand and the axis of `dim`, where 0-d counts as a vector of one.
pub(super) fn with_axis(c: &mut Ctx<'_>, name: &str) -> Result<(NodeId, usize)> {
    let x = c.tensor(name)?;
    let axis = c.axis(x, c.int("dim")?)?.unwrap_or(0);
    Ok((vector(c, x)?, axis))
}

/// An integer index as i64.
pub(super) fn integers(c: &mut Ctx<'_>, name: &str) -> Result<NodeId> {
    let index = c.tensor(name)?;
    if !c.b.dtype(index).is_int() {
        return Err(c.unsupported(format!("an index of {}", c.b.dtype(index))));
    }
    let index = c.cast(index, DType::I64)?;
    vector(c, index)
}

/// `x` cut to the extents of an index on all axes but one.
pub(super) fn cropped(c: &mut Ctx<'_>, x: NodeId, like: &Shape, except: Option<usize>) -> Result<NodeId> {
    if c.rank(x) != like.len() {
        return Err(c.unsupported("an index of another rank"));
    }
    let axes = (0..like.len()).filter(|&a| Some(a) != except);
    axes.into_iter().try_fold(x, |x, a| compose::slice_axis(c.b, x, a, &Sym::ZERO, &like[a], 1))
}

fn gather(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let ((x, axis), index) = (with_axis(c, "self")?, integers(c, "index")?);
    let shape = c.b.shape(index).clone();
    let x = cropped(c, x, &shape, Some(axis))?;
    let y = c.b.gather(x, &[index], &[axis])?;
    let out = c.shape()?;
    Ok(vec![c.reshape(y, &out)?])
}

/// A vector along one axis of `shape`, repeated over the others.
pub(super) fn spread(c: &mut Ctx<'_>, vector: NodeId, axis: usize, shape: &Shape) -> Result<NodeId> {
    let mut column = Shape::from_elem(Sym::ONE, shape.len());
    column[axis] = c.b.shape(vector)[0].clone();
    let column = c.reshape(vector, &column)?;
    c.expand(column, shape)
}

fn index_select(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let ((x, axis), index) = (with_axis(c, "self")?, integers(c, "index")?);
    let y = compose::index_select(c.b, x, axis, index)?;
    let out = c.shape()?;
    Ok(vec![c.reshape(y, &out)?])
}

/// Indexing by tensors on some axes, as numpy does it.
///
/// The indices broadcast to one shape, whose axes replace the indexed ones: in their place when they are neighbours, else in
/// front. As a node, it is an index per axis over `space`, in which all those axes are one, at `first`.
pub(super) struct Advanced {
    /// Order of the operand's axes that makes the indexed ones neighbours.
    pub(super) perm: Vec<usize>,
    /// Indexed axes after that.
    pub(super) axes: Vec<usize>,
    /// An index per indexed axis, over `space`.
    pub(super) parts: Vec<NodeId>,
    /// Extents: of rank of the operand, the count of positions at the first indexed axis and 1 at the others.
    pub(super) space: Shape,
    /// Extents as torch has them.
    pub(super) shape: Shape,
}

/// How the indices, one for each leading axis or none, read `x`.
pub(super) fn advanced(c: &mut Ctx<'_>, x: NodeId, indices: &[Option<NodeId>]) -> Result<Advanced> {
    let indexed: Vec<usize> = (0..indices.len()).filter(|&a| indices[a].is_some()).collect();
    let given: Vec<NodeId> = indices.iter().flatten().copied().collect();
    for &index in &given {
        if !matches!(c.b.dtype(index), DType::I64 | DType::I32) {
            return Err(c.unsupported(format!("an index of {}", c.b.dtype(index))));
        }
    }
    let Some((&first, &last)) = indexed.first().zip(indexed.last()) else { return Err(c.unsupported("no index")) };
    let together = last - first + 1 == indexed.len();
    let first = if together { first } else { 0 };
    let rank = c.rank(x);
    let others: Vec<usize> = (0..rank).filter(|a| !indexed.contains(a)).collect();
    let perm: Vec<usize> = others[..first].iter().chain(&indexed).chain(&others[first..]).copied().collect();
    let extents = |axes: &[usize]| axes.iter().map(|&a| c.b.shape(x)[a].clone()).collect::<Vec<Sym>>();
    let (before, after) = (extents(&others[..first]), extents(&others[first..]));
    let sizes = extents(&indexed);

    let given = compose::broadcast_all(c.b, &given)?;
    let lead = c.b.shape(given[0]).clone();
    let shape: Shape = before.iter().chain(&lead).chain(&after).cloned().collect();
    let flat = Shape::from_iter([Sym::product(&lead)]);
    let ones = vec![Sym::ONE; indexed.len() - 1];
    let space: Shape = before.iter().chain(&flat).chain(&ones).chain(&after).cloned().collect();
    let mut parts = Vec::new();
    for (index, n) in given.into_iter().zip(&sizes) {
        let index = compose::wrap_index(c.b, index, n)?;
        let index = c.reshape(index, &flat)?;
        parts.push(spread(c, index, first, &space)?);
    }
    Ok(Advanced { perm, axes: (first..first + indexed.len()).collect(), parts, space, shape })
}

fn index(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let (x, indices) = (c.tensor("self")?, c.optional_tensors("indices")?);
    let at = advanced(c, x, &indices)?;
    let x = permuted(c.b, x, &at.perm)?;
    let y = c.b.gather(x, &at.parts, &at.axes)?;
    Ok(vec![c.reshape(y, &at.shape)?])
}
