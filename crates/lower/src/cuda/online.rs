//! Pairs of reductions of which the second needs the first, in one pass.
//!
//! * The greatest element of a row and the sum of exponentials of the differences to it: Milakov and Gimelshein, "Online normalizer
//!   calculation for softmax" (2018). Only sums are reassociated.
//! * The mean and the sum of squared differences to it: Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for
//!   computing sample variances" (1979). Of an infinite element the mean is not infinite but no number.

use kernel::ValueId;
use scalar::{Combiner, DType, ScalarOp};

use crate::flat::{Flat, FlatDef};
use crate::partial::Partial;

/// Replaces reductions `s = Σ x`, `m = s / n`, `Σ (x − m)²` over the n elements of a row; says whether there were any.
pub(crate) fn moments(flat: &mut Flat, partials: &[Partial]) -> bool {
    let mut found = false;
    for squares in 0..flat.values.len() as ValueId {
        let Some((sum, mean)) = deviations(flat, squares) else { continue };
        let shared = partials.iter().any(|p| [sum, squares].contains(&p.value)) || readers(flat, sum) > 1;
        let FlatDef::Reduce { src, axes, .. } = &flat.value(sum).def else { continue };
        if shared {
            continue;
        }
        let both = FlatDef::Reduce { combiner: Combiner::Welford, src: src.clone(), axes: *axes, index: None };
        flat.values[sum as usize].def = both;
        flat.values[mean as usize].def = FlatDef::Component(sum, 0);
        flat.values[squares as usize].def = FlatDef::Component(sum, 1);
        found = true;
    }
    found
}

/// How many values and stores read a value.
fn readers(flat: &Flat, v: ValueId) -> usize {
    let values = (0..flat.values.len() as ValueId).filter(|&o| flat.operands(o).contains(&v)).count();
    values + flat.stores.iter().filter(|s| flat.store_operands(s).contains(&v)).count()
}

/// The sum and the mean of the elements whose squared differences to the mean a value sums.
fn deviations(flat: &Flat, squares: ValueId) -> Option<(ValueId, ValueId)> {
    let FlatDef::Reduce { combiner: Combiner::Sum, src, axes, .. } = &flat.value(squares).def else { return None };
    let FlatDef::Op(ScalarOp::Mul, factors) = &flat.value(src[0]).def else { return None };
    let FlatDef::Op(ScalarOp::Sub, terms) = &flat.value(factors[0]).def else { return None };
    let (x, mean) = (terms[0], terms[1]);
    let FlatDef::Op(scale, parts) = &flat.value(mean).def else { return None };
    let FlatDef::Const(by) = &flat.value(*parts.get(1)?).def else { return None };
    let FlatDef::Reduce { combiner: Combiner::Sum, src, axes: same, .. } = &flat.value(parts[0]).def else { return None };
    let count = flat.points(flat.live(*axes)) as f64;
    let is_mean = match scale {
        ScalarOp::Div => by.as_f64() == count,
        ScalarOp::Mul => (by.as_f64() * count - 1.0).abs() < 1e-6,
        _ => false,
    };
    let float = matches!(flat.value(x).dtype, DType::F32 | DType::F64);
    (float && factors[0] == factors[1] && src[0] == x && axes == same && count > 1.0 && is_mean).then_some((parts[0], mean))
}

/// Replaces pairs of reductions `m = max x`, `Σ exp(x − m)`; gives those that now do both.
pub(crate) fn online(flat: &mut Flat, partials: &[Partial]) -> Vec<ValueId> {
    let mut found = Vec::new();
    for sum in 0..flat.values.len() as ValueId {
        let Some((max, x)) = pair(flat, sum) else { continue };
        let partial = partials.iter().any(|p| p.value == sum || p.value == max);
        if partial || found.contains(&max) {
            continue;
        }
        let FlatDef::Reduce { axes, .. } = flat.value(max).def else { continue };
        let both = FlatDef::Reduce { combiner: Combiner::MaxSum, src: smallvec::smallvec![x], axes, index: None };
        flat.values[max as usize].def = both;
        flat.values[sum as usize].def = FlatDef::Component(max, 1);
        found.push(max);
    }
    found
}

/// The reduction that gives the greatest element, and the elements, if a value sums exponentials of differences to it.
fn pair(flat: &Flat, sum: ValueId) -> Option<(ValueId, ValueId)> {
    let FlatDef::Reduce { combiner: Combiner::Sum, src, axes, .. } = &flat.value(sum).def else { return None };
    let FlatDef::Op(ScalarOp::Exp, exp) = &flat.value(src[0]).def else { return None };
    let FlatDef::Op(ScalarOp::Sub, terms) = &flat.value(exp[0]).def else { return None };
    let (x, max) = (terms[0], terms[1]);
    let FlatDef::Reduce { combiner: Combiner::Max, src, axes: same, .. } = &flat.value(max).def else { return None };
    let float = matches!(flat.value(x).dtype, DType::F32 | DType::F64);
    (float && src[0] == x && axes == same && !flat.live(*axes).is_empty()).then_some((max, x))
}
