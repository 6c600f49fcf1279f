//! Views of memory by extents, strides and first element, on operands whose memory is dense.

use base::Result;
use graph::{At, NodeId, WriteCombine, compose};
use scalar::{ScalarOp, Shape, Sym};

use super::Lower;
use super::ctx::Ctx;
use crate::layout::{Layout, dense_order, inverse, permuted};

pub(super) fn lookup(target: &str) -> Option<Lower> {
    Some(match target {
        "aten.as_strided.default" => as_strided,
        "aten.as_strided_scatter.default" => as_strided_scatter,
        _ => return None,
    })
}

/// A dense operand's memory, and what is shown of it.
struct Memory {
    /// The elements in the order of memory.
    flat: NodeId,
    /// Extents of the operand's axes from the outermost in memory.
    stored: Shape,
    /// Those axes.
    order: Vec<usize>,
    /// What is shown, from `first` on.
    shown: Layout,
    first: i64,
}

impl Memory {
    fn of(c: &mut Ctx<'_>) -> Result<Memory> {
        let (x, (layout, start)) = (c.tensor("self")?, c.layout("self")?);
        let shown = Layout { shape: Shape::from_vec(c.syms("size")?), strides: Shape::from_vec(c.syms("stride")?) };
        let first = if c.has("storage_offset") { c.sym("storage_offset")? - start } else { Sym::ZERO };
        let first = first.as_int().ok_or_else(|| c.unsupported("a symbolic offset"))?;
        let order = dense_order(&layout).ok_or_else(|| c.unsupported("an operand with gaps in memory"))?;
        let stored: Shape = order.iter().map(|&a| layout.shape[a].clone()).collect();
        let count = Sym::product(&stored);
        let x = permuted(c.b, x, &order)?;
        let memory = Memory { flat: c.reshape(x, &Shape::from_iter([count.clone()]))?, stored, order, shown, first };
        let inside =
            memory.whole(&count).is_some() || memory.last().zip(count.as_int()).is_some_and(|(l, n)| first >= 0 && l < n);
        if inside { Ok(memory) } else { Err(c.unsupported("elements beyond the operand, or gaps and symbols")) }
    }

    /// The axes from the outermost in memory, if every element is shown once.
    fn whole(&self, count: &Sym) -> Option<Vec<usize>> {
        let all = self.first == 0 && Sym::product(&self.shown.shape) == *count;
        if all { dense_order(&self.shown) } else { None }
    }

    /// The last element shown.
    fn last(&self) -> Option<i64> {
        let steps = self.shown.shape.iter().zip(&self.shown.strides);
        steps
            .map(|(n, s)| Some((n.as_int()? - 1).max(0) * s.as_int().filter(|&s| s >= 0)?))
            .sum::<Option<i64>>()
            .map(|n| n + self.first)
    }

    /// The element shown at every index, over the extents shown.
    fn positions(&self, c: &mut Ctx<'_>) -> Result<NodeId> {
        let Layout { shape, strides } = &self.shown;
        let first = c.b.sym(Sym::from(self.first))?;
        let mut at = c.expand(first, shape)?;
        for (axis, (n, stride)) in shape.iter().zip(strides).enumerate() {
            let index = c.b.iota(n.clone())?;
            let index = super::index::spread(c, index, axis, shape)?;
            let stride = c.b.sym(stride.clone())?;
            let stride = c.expand(stride, shape)?;
            let step = c.b.map(ScalarOp::Mul, &[index, stride])?;
            at = c.b.map(ScalarOp::Add, &[at, step])?;
        }
        Ok(at)
    }

    /// The operand again, of elements in the order of memory.
    fn restored(&self, c: &mut Ctx<'_>, flat: NodeId) -> Result<NodeId> {
        let x = c.reshape(flat, &self.stored)?;
        permuted(c.b, x, &inverse(&self.order))
    }
}

fn as_strided(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let memory = Memory::of(c)?;
    let shape = &memory.shown.shape;
    if let Some(order) = memory.whole(&c.b.shape(memory.flat)[0].clone()) {
        let x = c.reshape(memory.flat, &order.iter().map(|&a| shape[a].clone()).collect())?;
        return Ok(vec![permuted(c.b, x, &inverse(&order))?]);
    }
    let (at, flat) = (memory.positions(c)?, Shape::from_iter([Sym::product(shape)]));
    let at = c.reshape(at, &flat)?;
    let y = compose::gather(c.b, memory.flat, 0, at)?;
    Ok(vec![c.reshape(y, shape)?])
}

fn as_strided_scatter(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let (src, memory) = (c.tensor("src")?, Memory::of(c)?);
    let count = c.b.shape(memory.flat).clone();
    let written = if let Some(order) = memory.whole(&count[0]) {
        let src = permuted(c.b, src, &order)?;
        c.reshape(src, &count)?
    } else {
        let (at, flat) = (memory.positions(c)?, Shape::from_iter([Sym::product(&memory.shown.shape)]));
        let (at, src) = (c.reshape(at, &flat)?, c.reshape(src, &flat)?);
        c.b.write(WriteCombine::Set, At::Indices { axes: [0][..].into(), unique: false }, memory.flat, src, &[at])?
    };
    Ok(vec![memory.restored(c, written)?])
}
