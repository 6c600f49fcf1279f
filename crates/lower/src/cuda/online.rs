//! Softmax in one pass: the greatest element of a row and the sum of exponentials of the differences to it, as one reduction.
//!
//! Milakov and Gimelshein, "Online normalizer calculation for softmax" (2018). Only sums are reassociated.

use kernel::ValueId;
use scalar::{Combiner, DType, ScalarOp};

use crate::flat::{Flat, FlatDef};
use crate::partial::Partial;

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
