//! Matrix products.

use std::collections::BTreeMap;

use base::{Error, Result};
use graph::{NodeId, compose};
use scalar::{DType, ScalarOp as S};

use super::reduce::sum;
use super::{Out, one};
use crate::ctx::Ctx;
use crate::node::Node;

pub(super) fn matmul(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let (a, b) = (ctx.node(n.input(0)?)?, ctx.node(n.input(1)?)?);
    one(compose::matmul(ctx.b(), a, b)?)
}

/// `Gemm`: alpha · A' · B' + beta · C.
pub(super) fn gemm(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let mut sides = [ctx.node(n.input(0)?)?, ctx.node(n.input(1)?)?];
    for (side, attribute) in sides.iter_mut().zip(["transA", "transB"]) {
        if ctx.rank(*side) != 2 {
            return Err(Error::parse(format!("operand has rank {}, not 2", ctx.rank(*side))));
        }
        if n.flag(attribute, false) {
            *side = ctx.b().permute(*side, &[1, 0])?;
        }
    }
    let product = compose::matmul(ctx.b(), sides[0], sides[1])?;
    let mut y = scaled(ctx, product, n.float("alpha", 1.0))?;
    if let Some(c) = n.maybe(2) {
        let c = ctx.node(c)?;
        let c = scaled(ctx, c, n.float("beta", 1.0))?;
        y = ctx.bin(S::Add, y, c)?;
    }
    one(y)
}

fn scaled(ctx: &mut Ctx, x: NodeId, factor: f32) -> Result<NodeId> {
    if factor == 1.0 { Ok(x) } else { ctx.with(S::Mul, x, f64::from(factor)) }
}

/// `MatMulInteger`: 8-bit operands less their zero points, accumulated in i32.
pub(super) fn matmul_integer(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let a = super::quant::centred(ctx, n, 0, 2, rank_of(ctx, n, 0).saturating_sub(2))?;
    let b = super::quant::centred(ctx, n, 1, 3, rank_of(ctx, n, 1).saturating_sub(1))?;
    one(compose::matmul_acc(ctx.b(), a, b, DType::I32)?)
}

fn rank_of(ctx: &Ctx, n: &Node<'_>, i: usize) -> usize {
    n.maybe(i).map_or(0, |v| ctx.extents(v).len())
}

/// `QLinearMatMul`: product of integers, scaled and rounded back.
pub(super) fn qlinear_matmul(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let a = super::quant::centred(ctx, n, 0, 2, rank_of(ctx, n, 0).saturating_sub(2))?;
    let b = super::quant::centred(ctx, n, 3, 5, rank_of(ctx, n, 3).saturating_sub(1))?;
    let y = compose::matmul_acc(ctx.b(), a, b, DType::I32)?;
    let y = ctx.cast(y, DType::F32)?;
    let mut scale = None;
    for i in [1, 4] {
        let s = ctx.node(n.input(i)?)?;
        let s = ctx.cast(s, DType::F32)?;
        let s = if ctx.b().graph().shape(s).iter().all(|d| d.is_one()) { super::math::scalar_of(ctx, s)? } else { s };
        scale = Some(match scale {
            None => s,
            Some(other) => ctx.bin(S::Mul, other, s)?,
        });
    }
    let real = ctx.bin(S::Mul, y, scale.unwrap_or(y))?;
    one(super::quant::quantize(ctx, real, n.input(6)?, n.maybe(7), 1)?)
}

/// `Einsum` of one operand or more, contracted from left to right.
pub(super) fn einsum(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let text: String = n.string("equation", "").chars().filter(|c| !c.is_whitespace()).collect();
    let nodes = n.inputs.iter().flatten().map(|v| ctx.node(v)).collect::<Result<Vec<_>>>()?;
    let ranks: Vec<usize> = nodes.iter().map(|&x| ctx.rank(x)).collect();
    let (terms, out) = labels(&text, &ranks)?;
    let mut parts = Vec::new();
    for (&x, term) in nodes.iter().zip(&terms) {
        parts.push(diagonal(ctx, x, term)?);
    }
    let mut parts = parts.into_iter();
    let (mut x, mut have) = parts.next().ok_or_else(|| Error::parse("no operands"))?;
    let rest: Vec<_> = parts.collect();
    for (i, (y, labels)) in rest.iter().enumerate() {
        let later = |c: &char| out.contains(c) || rest[i + 1..].iter().any(|(_, l)| l.contains(c));
        let mut kept: Vec<char> = Vec::new();
        for c in have.iter().chain(labels).filter(|c| later(c)) {
            if !kept.contains(c) {
                kept.push(*c);
            }
        }
        let spell = |l: &[char]| l.iter().collect::<String>();
        let spec = format!("{},{}->{}", spell(&have), spell(labels), spell(&kept));
        let acc = ctx.dtype(x).accumulator();
        x = ctx.b().einsum(&spec, x, *y, acc)?;
        have = kept;
    }
    one(arrange(ctx, x, &have, &out)?)
}

/// Sums what the output lacks, and permutes the rest into its order.
fn arrange(ctx: &mut Ctx, x: NodeId, have: &[char], out: &[char]) -> Result<NodeId> {
    let gone: Vec<usize> = (0..have.len()).filter(|&i| !out.contains(&have[i])).collect();
    let x = sum(ctx, x, &gone)?;
    let left: Vec<char> = have.iter().copied().filter(|c| out.contains(c)).collect();
    let perm: Option<Vec<usize>> = out.iter().map(|c| left.iter().position(|l| l == c)).collect();
    let perm = perm.ok_or_else(|| Error::parse("the output has a label that no operand has"))?;
    if perm.iter().enumerate().all(|(i, &p)| i == p) { Ok(x) } else { ctx.b().permute(x, &perm) }
}

/// A repeated label of one operand selects the diagonal.
fn diagonal(ctx: &mut Ctx, x: NodeId, term: &[char]) -> Result<(NodeId, Vec<char>)> {
    let (mut x, mut labels) = (x, term.to_vec());
    while let Some((first, second)) = repeated(&labels) {
        let shape = ctx.shape(x);
        let (rows, columns) = (super::reduce::positions(ctx, &shape, first)?, super::reduce::positions(ctx, &shape, second)?);
        let on = ctx.bin(S::Eq, rows, columns)?;
        let zero = ctx.number_node(ctx.dtype(x), 0.0)?;
        let kept = ctx.select(on, x, zero)?;
        x = sum(ctx, kept, &[second])?;
        labels.remove(second);
    }
    Ok((x, labels))
}

fn repeated(labels: &[char]) -> Option<(usize, usize)> {
    (1..labels.len()).find_map(|j| labels[..j].iter().position(|c| *c == labels[j]).map(|i| (i, j)))
}

/// Labels of each operand and of the output; an ellipsis becomes labels of its own, aligned at the last.
fn labels(text: &str, ranks: &[usize]) -> Result<(Vec<Vec<char>>, Vec<char>)> {
    let bad = |why: &str| Error::parse(format!("equation '{text}': {why}"));
    let (left, right) = text.split_once("->").map_or((text, None), |(l, r)| (l, Some(r)));
    let terms: Vec<&str> = left.split(',').collect();
    if terms.len() != ranks.len() {
        return Err(bad("the operand count differs"));
    }
    if text.chars().any(|c| !c.is_ascii_alphabetic() && !".,->".contains(c)) {
        return Err(bad("labels are letters"));
    }
    let mut spare = ('A'..='Z').chain('a'..='z').filter(|c| !text.contains(*c));
    let own = |t: &str| t.chars().filter(char::is_ascii_alphabetic).count();
    let widest =
        terms.iter().zip(ranks).filter(|(t, _)| t.contains("...")).map(|(t, r)| r.saturating_sub(own(t))).max().unwrap_or(0);
    let batch: Vec<char> = spare.by_ref().take(widest).collect();
    if batch.len() < widest {
        return Err(bad("too many labels"));
    }
    let spell = |term: &str, extra: usize| -> Vec<char> {
        let (before, after) = term.split_once("...").unwrap_or((term, ""));
        before.chars().chain(batch[batch.len() - extra..].iter().copied()).chain(after.chars()).collect()
    };
    let mut spelled = Vec::new();
    for (term, &rank) in terms.iter().zip(ranks) {
        let extra = rank.checked_sub(own(term)).ok_or_else(|| bad("more labels than axes"))?;
        if extra > 0 && !term.contains("...") {
            return Err(bad("fewer labels than axes"));
        }
        spelled.push(spell(term, extra));
    }
    let out = match right {
        Some(term) => spell(term, if term.contains("...") { widest } else { 0 }),
        None => implicit(&batch, &spelled),
    };
    if repeated(&out).is_some() || out.contains(&'.') {
        return Err(bad("malformed output"));
    }
    Ok((spelled, out))
}

/// The output of an equation without an arrow: the ellipsis, then labels that occur once, in alphabetical order.
fn implicit(batch: &[char], terms: &[Vec<char>]) -> Vec<char> {
    let mut counts: BTreeMap<char, usize> = BTreeMap::new();
    for c in terms.iter().flatten().filter(|c| !batch.contains(c)) {
        *counts.entry(*c).or_default() += 1;
    }
    batch.iter().copied().chain(counts.into_iter().filter(|(_, n)| *n == 1).map(|(c, _)| c)).collect()
}
