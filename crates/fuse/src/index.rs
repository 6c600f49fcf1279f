//! Index maps of views.

use std::ops::Range;

use graph::View;
use kernel::Cond;
use scalar::{Facts, Scalar, Shape, Sym};

/// Where an output position of a view reads: operand index, and the condition under which it reads at all.
pub struct Pulled {
    /// Index per operand axis.
    pub index: Vec<Sym>,
    /// Conditions for reading; empty means always.
    pub when: Vec<Cond>,
    /// Value where a condition fails.
    pub fill: Option<Scalar>,
}

/// Maps an output position of `view` to its operand's position.
pub fn pull(view: &View, operand: &Shape, output: &Shape, at: &[Sym], facts: &Facts) -> Pulled {
    let plain = |index: Vec<Sym>| Pulled { index, when: Vec::new(), fill: None };
    match view {
        View::Reshape(_) => plain(reindex(output, operand, at, facts)),
        View::Permute(perm) => {
            let mut index = vec![Sym::from(0); perm.len()];
            for (o, &axis) in perm.iter().enumerate() {
                index[axis] = at[o].clone();
            }
            plain(index)
        }
        View::Expand(_) => {
            let index = at.iter().zip(operand).zip(output);
            plain(index.map(|((i, from), to)| if from.is_one() && !to.is_one() { Sym::from(0) } else { i.clone() }).collect())
        }
        View::Slice { start, step, .. } => {
            let read = |((i, s), &k): ((&Sym, &Sym), &i64)| match (s.is_zero(), k) {
                (true, 1) => i.clone(),
                _ => tidy(i * &Sym::from(k) + s.clone(), facts),
            };
            plain(at.iter().zip(start).zip(step).map(read).collect())
        }
        View::Flip(axes) => plain(
            at.iter()
                .enumerate()
                .map(|(d, i)| if axes.contains(&d) { tidy(operand[d].clone() - 1 - i.clone(), facts) } else { i.clone() })
                .collect(),
        ),
        View::Pad { lo, hi, interior, value } => pull_pad(operand, lo, hi, interior, *value, at, facts),
        View::Window { axis, stride, dilation, .. } => {
            let tap = at[at.len() - 1].clone();
            let mut index = at[..at.len() - 1].to_vec();
            index[*axis] = tidy(index[*axis].clone() * *stride + tap * *dilation, facts);
            plain(index)
        }
    }
}

fn pull_pad(operand: &Shape, lo: &Shape, hi: &Shape, interior: &[i64], value: Scalar, at: &[Sym], facts: &Facts) -> Pulled {
    let mut index = Vec::with_capacity(at.len());
    let mut when = Vec::new();
    for (d, i) in at.iter().enumerate() {
        if lo[d].is_zero() && hi[d].is_zero() && interior[d] == 0 {
            index.push(i.clone());
            continue;
        }
        let inside = tidy(i.clone() - lo[d].clone(), facts);
        let step = Sym::from(interior[d] + 1);
        let span = if interior[d] == 0 { operand[d].clone() } else { ((operand[d].clone() - 1) * &step + 1).simplify(facts) };
        when.push(Cond { expr: inside.clone(), extent: span });
        if interior[d] == 0 {
            index.push(inside);
        } else {
            when.push(Cond { expr: inside.modulo(&step).simplify(facts), extent: Sym::from(1) });
            index.push(inside.floor_div(&step).simplify(facts));
        }
    }
    when.retain(|c| !always(c, facts));
    Pulled { index, when, fill: Some(value) }
}

/// The expression simplified; one without divisions is as simple as it gets.
pub(crate) fn tidy(e: Sym, facts: &Facts) -> Sym {
    if e.divides() { e.simplify(facts) } else { e }
}

/// Whether a condition is proved to hold.
pub fn always(cond: &Cond, facts: &Facts) -> bool {
    facts.proves_ge(&cond.expr, &Sym::from(0)) && facts.proves_lt(&cond.expr, &cond.extent)
}

/// Maps an operand position of `view` to the output position that reads it, or `None` where that is not one position per
/// operand position times `fresh` axes: one for each axis that an expand grows.
pub fn push(
    view: &View,
    operand: &Shape,
    output: &Shape,
    at: &[Sym],
    facts: &Facts,
    fresh: &mut dyn Iterator<Item = Sym>,
) -> Option<Vec<Sym>> {
    match view {
        View::Reshape(_) if operand.iter().any(Sym::is_zero) => None,
        View::Reshape(_) => Some(reindex(operand, output, at, facts)),
        View::Permute(perm) => Some(perm.iter().map(|&axis| at[axis].clone()).collect()),
        View::Expand(_) => {
            let pairs = at.iter().zip(operand).zip(output);
            pairs.map(|((i, from), to)| if from.is_one() && !to.is_one() { fresh.next() } else { Some(i.clone()) }).collect()
        }
        View::Flip(axes) => Some(
            at.iter()
                .enumerate()
                .map(|(d, i)| if axes.contains(&d) { tidy(operand[d].clone() - 1 - i.clone(), facts) } else { i.clone() })
                .collect(),
        ),
        View::Slice { .. } | View::Pad { .. } | View::Window { .. } => None,
    }
}

/// Position in `to` of the element at position `at` in `from`, both row-major over the same elements.
///
/// Works on the smallest runs of axes whose element counts agree, so that untouched axes keep their index.
pub fn reindex(from: &Shape, to: &Shape, at: &[Sym], facts: &Facts) -> Vec<Sym> {
    if from.iter().chain(to).any(Sym::is_zero) {
        return vec![Sym::from(0); to.len()];
    }
    let mut out = Vec::with_capacity(to.len());
    for (f, t) in segments(from, to, facts) {
        if f.len() == 1 && t.len() == 1 {
            out.push(at[f.start].clone());
            continue;
        }
        let linear = linearise(&from[f.clone()], &at[f], facts);
        delinearise(&linear, &to[t], facts, &mut out);
    }
    out
}

/// Smallest runs of axes of two shapes whose element counts agree.
pub(crate) fn segments(from: &Shape, to: &Shape, facts: &Facts) -> Vec<(Range<usize>, Range<usize>)> {
    let mut out = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < from.len() || j < to.len() {
        let (end_i, end_j) = segment(from, to, i, j, facts);
        out.push((i..end_i, j..end_j));
        (i, j) = (end_i, end_j);
    }
    out
}

/// Ends of the shortest runs from `i` and `j` with equal products; the rest of both where none is proved.
fn segment(from: &Shape, to: &Shape, i: usize, j: usize, facts: &Facts) -> (usize, usize) {
    if i == from.len() || j == to.len() {
        return (from.len(), to.len());
    }
    let (mut p, mut q) = (from[i].clone(), to[j].clone());
    let (mut a, mut b) = (i + 1, j + 1);
    loop {
        if p == q || facts.proves_eq(&p, &q) {
            return (a, b);
        }
        let grow_from = match (p.as_int(), q.as_int()) {
            (Some(x), Some(y)) => x < y,
            _ => q.exact_div(&p).is_some() || (p.exact_div(&q).is_none() && a - i <= b - j),
        };
        if grow_from && a < from.len() {
            p = (p * &from[a]).simplify(facts);
            a += 1;
        } else if b < to.len() {
            q = (q * &to[b]).simplify(facts);
            b += 1;
        } else if a < from.len() {
            p = (p * &from[a]).simplify(facts);
            a += 1;
        } else {
            return (from.len(), to.len());
        }
    }
}

/// Row-major position of `at` in `shape`.
pub fn linearise(shape: &[Sym], at: &[Sym], facts: &Facts) -> Sym {
    let mut linear = Sym::from(0);
    for (extent, i) in shape.iter().zip(at) {
        linear = linear * extent + i.clone();
    }
    tidy(linear, facts)
}

fn delinearise(linear: &Sym, shape: &[Sym], facts: &Facts, out: &mut Vec<Sym>) {
    let mut stride = Sym::from(1);
    let mut index = vec![Sym::from(0); shape.len()];
    let lead = shape.iter().position(|s| !s.is_one());
    for d in (0..shape.len()).rev() {
        if shape[d].is_one() {
            continue;
        }
        let quotient = linear.floor_div(&stride);
        index[d] = tidy(if Some(d) == lead { quotient } else { quotient.modulo(&shape[d]) }, facts);
        stride = tidy(stride * &shape[d], facts);
    }
    out.extend(index);
}
