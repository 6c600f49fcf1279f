//! Shape arithmetic at import: ops whose operands are known integers, evaluated over [`Sym`].

use scalar::{DType, Facts, Scalar, Sym};

use crate::known::{self, Ints, MAX_INTS};
use crate::node::{Node, axes, axis};

/// The node's single result, if its operands are known and the op is shape arithmetic that can be decided.
pub(crate) fn evaluate(node: &Node<'_>, facts: &Facts) -> Option<Ints> {
    match node.op() {
        "Identity" | "Floor" | "Ceil" | "Round" => ints(node, 0),
        "Add" => arithmetic(node, i64::wrapping_add, |a, b| Some(a + b)),
        "Sub" => arithmetic(node, i64::wrapping_sub, |a, b| Some(a - b)),
        "Mul" => arithmetic(node, i64::wrapping_mul, |a, b| Some(a * b)),
        "Div" => quotient(node, facts),
        "Mod" => remainder(node, facts),
        "Min" => arithmetic(node, i64::min, |a, b| Some(Sym::min(a, b))),
        "Max" => arithmetic(node, i64::max, |a, b| Some(Sym::max(a, b))),
        "Neg" => ints(node, 0)?.map(|v| Some(Sym::ZERO - v)),
        "Equal" => compare(node, |a, b| known::equal(a, b, facts)),
        "Less" => compare(node, |a, b| known::less(a, b, facts)),
        "Greater" => compare(node, |a, b| known::less(b, a, facts)),
        "LessOrEqual" => compare(node, |a, b| known::less(b, a, facts).map(|l| !l)),
        "GreaterOrEqual" => compare(node, |a, b| known::less(a, b, facts).map(|l| !l)),
        "Not" => ints(node, 0)?.map(|v| v.as_int().map(|b| known::flag(b == 0))),
        "And" => compare(node, |a, b| Some(known::truth(a, facts)? && known::truth(b, facts)?)),
        "Or" => compare(node, |a, b| Some(known::truth(a, facts)? || known::truth(b, facts)?)),
        "Where" => select(node, facts),
        "Cast" => ints(node, 0)?.cast(crate::tensor::dtype(node.int("to", 0) as i32).ok()?, facts),
        "CastLike" => ints(node, 0)?.cast(node.maybe(1)?.known.as_ref()?.dtype(), facts),
        "Concat" => concat(node),
        "Gather" => gather(node),
        "Slice" => slice(node),
        "Squeeze" => squeeze(node),
        "Unsqueeze" => unsqueeze(node),
        "Reshape" => reshape(node),
        "Expand" => ints(node, 0)?.expand(&extents(&ints(node, 1)?)?),
        "ReduceProd" => reduce(node, 1, |a, b| a * b),
        "ReduceSum" => reduce(node, 0, |a, b| a + b),
        "Range" => range(node),
        "ConstantOfShape" => constant_of_shape(node),
        _ => None,
    }
}

fn ints(node: &Node<'_>, i: usize) -> Option<Ints> {
    node.maybe(i)?.ints()
}

fn extents(shape: &Ints) -> Option<Vec<usize>> {
    shape.consts()?.into_iter().map(|d| usize::try_from(d).ok()).collect()
}

/// Binary arithmetic; numbers wrap in their dtype as at run time.
fn arithmetic(node: &Node<'_>, number: impl Fn(i64, i64) -> i64, symbol: impl Fn(&Sym, &Sym) -> Option<Sym>) -> Option<Ints> {
    let mut all = node.inputs.iter().map(|v| v.as_ref()?.ints());
    let first = all.next()??;
    all.try_fold(first, |a, b| {
        let dtype = a.dtype;
        a.zip(&b?, dtype, |x, y| match (x.as_int(), y.as_int()) {
            (Some(x), Some(y)) => in_dtype(dtype, number(x, y)),
            _ => symbol(x, y),
        })
    })
}

/// A number as the dtype holds it; a float only where that is exact.
fn in_dtype(dtype: DType, v: i64) -> Option<Sym> {
    let held = Scalar::from_i64(dtype, v).as_i64();
    (held == v || !dtype.is_float()).then(|| Sym::from(held))
}

fn quotient(node: &Node<'_>, facts: &Facts) -> Option<Ints> {
    let (a, b) = (ints(node, 0)?, ints(node, 1)?);
    let float = a.dtype.is_float();
    a.zip(&b, a.dtype, |x, y| match (x.as_int(), y.as_int()) {
        _ if !float => known::div(x, y, facts),
        (Some(x), Some(y)) => (y != 0 && x.checked_rem(y) == Some(0)).then(|| Sym::from(x / y)),
        (None, Some(1)) => Some(x.clone()),
        _ => None,
    })
}

fn remainder(node: &Node<'_>, facts: &Facts) -> Option<Ints> {
    let (a, b) = (ints(node, 0)?, ints(node, 1)?);
    a.zip(&b, a.dtype, |x, y| {
        let plain = facts.proves_ge(x, &Sym::ZERO) || !node.flag("fmod", false);
        if plain { known::modulo(x, y, facts) } else { None }
    })
}

fn compare(node: &Node<'_>, f: impl Fn(&Sym, &Sym) -> Option<bool>) -> Option<Ints> {
    ints(node, 0)?.zip(&ints(node, 1)?, DType::Bool, |a, b| f(a, b).map(known::flag))
}

fn select(node: &Node<'_>, facts: &Facts) -> Option<Ints> {
    let (c, a, b) = (ints(node, 0)?, ints(node, 1)?, ints(node, 2)?);
    let both = a.zip(&b, a.dtype, |x, _| Some(x.clone()))?;
    let first = c.zip(&both, a.dtype, |_, x| Some(x.clone()))?;
    let (c, a, b) = (c.expand(&first.shape)?, a.expand(&first.shape)?, b.expand(&first.shape)?);
    let pick = |i: usize| Some(if known::truth(&c.values[i], facts)? { a.values[i].clone() } else { b.values[i].clone() });
    let values = (0..first.values.len()).map(pick).collect::<Option<Vec<_>>>()?;
    Some(Ints::new(a.dtype, first.shape, values))
}

fn concat(node: &Node<'_>) -> Option<Ints> {
    let parts = node.inputs.iter().map(|v| v.as_ref()?.ints()).collect::<Option<Vec<_>>>()?;
    Ints::concat(&parts, axis(node.int("axis", 1), parts.first()?.shape.len()).ok()?)
}

fn gather(node: &Node<'_>) -> Option<Ints> {
    let (x, at) = (ints(node, 0)?, ints(node, 1)?);
    let axis = axis(node.int("axis", 0), x.shape.len()).ok()?;
    let n = x.shape[axis] as i64;
    let wrap = |i: i64| usize::try_from(if i < 0 { i + n } else { i }).ok();
    let positions = at.consts()?.into_iter().map(wrap).collect::<Option<Vec<_>>>()?;
    let taken = x.take(axis, &positions)?;
    let shape = [&x.shape[..axis], &at.shape, &x.shape[axis + 1..]].concat();
    taken.reshape(shape)
}

/// A list of numbers from an attribute of old op sets, else from an operand.
fn numbers(node: &Node<'_>, attribute: &str, operand: usize) -> Option<Vec<i64>> {
    match node.ints(attribute) {
        Some(list) => Some(list.to_vec()),
        None => ints(node, operand)?.consts(),
    }
}

fn slice(node: &Node<'_>) -> Option<Ints> {
    let mut x = ints(node, 0)?;
    let (starts, ends) = (numbers(node, "starts", 1)?, numbers(node, "ends", 2)?);
    let given = node.has("axes") || node.maybe(3).is_some();
    let list = if given { numbers(node, "axes", 3)? } else { (0..starts.len() as i64).collect() };
    let steps = if node.maybe(4).is_some() { numbers(node, "", 4)? } else { vec![1; starts.len()] };
    if ends.len() != starts.len() || list.len() != starts.len() || steps.len() != starts.len() {
        return None;
    }
    for i in 0..starts.len() {
        let axis = axis(list[i], x.shape.len()).ok()?;
        x = x.take(axis, &positions(x.shape[axis], starts[i], ends[i], steps[i])?)?;
    }
    Some(x)
}

/// Positions that ONNX Slice reads from an axis of extent `n`.
fn positions(n: usize, start: i64, end: i64, step: i64) -> Option<Vec<usize>> {
    let n = n as i64;
    let wrap = |v: i64| if v < 0 { v.saturating_add(n) } else { v };
    let (lo, hi) = if step > 0 { (0, n) } else { (-1, n - 1) };
    let (mut at, end) = (wrap(start).clamp(lo.max(0), hi), if step < 0 && end < -n { -1 } else { wrap(end).clamp(lo, hi) });
    let mut out = Vec::new();
    if step == 0 {
        return None;
    }
    while (step > 0 && at < end) || (step < 0 && at > end) {
        out.push(usize::try_from(at).ok()?);
        at = at.saturating_add(step);
    }
    Some(out)
}

fn squeeze(node: &Node<'_>) -> Option<Ints> {
    let x = ints(node, 0)?;
    let given = node.has("axes") || node.maybe(1).is_some();
    let drop = if given { axes(&numbers(node, "axes", 1)?, x.shape.len()).ok()? } else { Vec::new() };
    let gone = |d: usize| if given { drop.contains(&d) } else { x.shape[d] == 1 };
    x.reshape((0..x.shape.len()).filter(|&d| !gone(d)).map(|d| x.shape[d]).collect())
}

fn unsqueeze(node: &Node<'_>) -> Option<Ints> {
    let x = ints(node, 0)?;
    let list = numbers(node, "axes", 1)?;
    let mut shape = x.shape.clone();
    for d in axes(&list, x.shape.len() + list.len()).ok()? {
        shape.insert(d, 1);
    }
    x.reshape(shape)
}

fn reshape(node: &Node<'_>) -> Option<Ints> {
    let x = ints(node, 0)?;
    let mut target = numbers(node, "shape", 1)?;
    if node.flag("allowzero", false) && target.contains(&0) {
        return None;
    }
    for (d, t) in target.iter_mut().enumerate().filter(|(_, t)| **t == 0) {
        *t = *x.shape.get(d)? as i64;
    }
    if let Some(d) = target.iter().position(|&t| t == -1) {
        let rest = target.iter().enumerate().filter(|&(i, _)| i != d).try_fold(1i64, |n, (_, &t)| n.checked_mul(t))?;
        target[d] = (x.values.len() as i64).checked_div(rest)?;
    }
    x.reshape(target.into_iter().map(|t| usize::try_from(t).ok()).collect::<Option<Vec<_>>>()?)
}

/// Reduction of a vector to one element.
fn reduce(node: &Node<'_>, initial: i64, f: impl Fn(&Sym, &Sym) -> Sym) -> Option<Ints> {
    let x = ints(node, 0)?;
    let given = node.has("axes") || node.maybe(1).is_some();
    let all = !given || numbers(node, "axes", 1)?.iter().all(|&a| a == 0 || a == -1);
    if x.shape.len() != 1 || !all || x.values.iter().any(|v| v.as_int().is_some_and(|n| n.unsigned_abs() > 1 << 31)) {
        return None;
    }
    let total = x.values.iter().fold(Sym::from(initial), |a, b| f(&a, b));
    let shape = if node.flag("keepdims", true) { vec![1] } else { Vec::new() };
    Some(Ints::new(x.dtype, shape, vec![total]))
}

fn range(node: &Node<'_>) -> Option<Ints> {
    let one = |i: usize| ints(node, i)?.consts()?.first().copied();
    let (start, limit, delta) = (one(0)?, one(1)?, one(2)?);
    let dtype = node.maybe(0)?.known.as_ref()?.dtype();
    if delta == 0 || !dtype.is_int() {
        return None;
    }
    let mut values = Vec::new();
    let mut at = start;
    while (delta > 0 && at < limit) || (delta < 0 && at > limit) {
        values.push(Sym::from(at));
        at = at.checked_add(delta)?;
        if values.len() > MAX_INTS {
            return None;
        }
    }
    Some(Ints::new(dtype, vec![values.len()], values))
}

fn constant_of_shape(node: &Node<'_>) -> Option<Ints> {
    let shape = extents(&ints(node, 0)?)?;
    let value = node.tensor("value").ok()?.filter(|t| t.len() == 1 && !t.dtype().is_float())?;
    let count = known::bounded(&shape)?;
    Some(Ints::new(value.dtype(), shape, vec![Sym::from(value.get(0).as_i64()); count]))
}
