//! Views as (base, offset, strides), where they can be.

use graph::{Graph, NodeId, Op, View};
use scalar::{Facts, Shape, Sym};
use serde::{Deserialize, Serialize};

/// A value as a strided window on a stored one, in elements.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Strided {
    /// The stored value.
    pub base: NodeId,
    /// Offset of index 0 in the base's row-major elements.
    pub offset: Sym,
    /// Stride per axis.
    pub strides: Vec<Sym>,
}

/// Row-major strides of a shape.
pub(crate) fn row_major(shape: &Shape) -> Vec<Sym> {
    let mut strides = vec![Sym::from(1); shape.len()];
    for d in (1..shape.len()).rev() {
        strides[d - 1] = strides[d].clone() * &shape[d];
    }
    strides
}

/// The chain of views above a stored value as strides; `None` where elements are not at affine positions.
pub(crate) fn strided(graph: &Graph, value: NodeId) -> Option<Strided> {
    let mut chain = Vec::new();
    let mut base = value;
    while let Op::View(_) = graph.node(base).op {
        chain.push(base);
        base = graph.node(base).args[0];
    }
    let mut s = Strided { base, offset: Sym::from(0), strides: row_major(graph.shape(base)) };
    let mut from = graph.shape(base).clone();
    for node in chain.into_iter().rev() {
        let to = graph.shape(node);
        let Op::View(view) = &graph.node(node).op else { return None };
        s = apply(view, s, &from, to, &graph.facts)?;
        from = to.clone();
    }
    Some(s)
}

fn apply(view: &View, s: Strided, from: &Shape, to: &Shape, facts: &Facts) -> Option<Strided> {
    let Strided { base, mut offset, strides } = s;
    let strides = match view {
        View::Reshape(_) => reshape(&strides, from, to, facts)?,
        View::Permute(perm) => perm.iter().map(|&axis| strides[axis].clone()).collect(),
        View::Expand(_) => {
            let pairs = strides.iter().zip(from).zip(to);
            pairs.map(|((s, f), t)| if f.is_one() && !t.is_one() { Sym::from(0) } else { s.clone() }).collect()
        }
        View::Slice { start, step, .. } => {
            for (i, k) in start.iter().zip(&strides) {
                offset += i.clone() * k;
            }
            strides.iter().zip(step).map(|(s, &k)| s.clone() * k).collect()
        }
        View::Flip(axes) => {
            let mut flipped = strides;
            for &d in axes {
                offset += (from[d].clone() - 1) * &flipped[d];
                flipped[d] = -flipped[d].clone();
            }
            flipped
        }
        View::Window { axis, stride, dilation, .. } => {
            let mut windows = strides;
            let unit = windows[*axis].clone();
            windows[*axis] = unit.clone() * *stride;
            windows.push(unit * *dilation);
            windows
        }
        View::Pad { .. } => return None,
    };
    Some(Strided { base, offset: offset.simplify(facts), strides })
}

/// Strides after a reshape: each run of axes must be mergeable into one before it is split again.
fn reshape(strides: &[Sym], from: &Shape, to: &Shape, facts: &Facts) -> Option<Vec<Sym>> {
    let mut out = Vec::with_capacity(to.len());
    for (f, t) in crate::index::segments(from, to, facts) {
        let live: Vec<usize> = f.clone().filter(|&d| !from[d].is_one()).collect();
        let merged = live.windows(2).all(|w| {
            let want = strides[w[1]].clone() * &from[w[1]];
            strides[w[0]] == want || facts.proves_eq(&strides[w[0]], &want)
        });
        let one_to_one = live.len() == t.clone().filter(|&d| !to[d].is_one()).count() && live.len() <= 1;
        if !merged && !one_to_one {
            return None;
        }
        let unit = live.last().map_or_else(|| Sym::from(1), |&d| strides[d].clone());
        let mut stride = unit;
        let mut part = Vec::new();
        for d in t.rev() {
            part.push(stride.clone());
            stride = (stride * &to[d]).simplify(facts);
        }
        part.reverse();
        out.extend(part);
    }
    Some(out)
}
