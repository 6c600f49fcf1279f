//! Convolution.

use base::Result;
use graph::NodeId;
use graph::compose::{self, Conv};
use scalar::{DType, Sym};

use super::Lower;
use super::ctx::Ctx;

pub(super) fn lookup(target: &str) -> Option<Lower> {
    (target == "aten.convolution.default").then_some(convolution)
}

/// A forward convolution of f32 or f64 with a batch axis. On one thread oneDNN is as fast on the whole (ResNet-50 and
/// MobileNet layers: 0.87 to 1.3 of its time, 1.7 for a 3×3 with stride 2), and here neighbours fuse. A half type rounds
/// before its bias here and after it there, and a transposed one would multiply the zeros between elements.
fn convolution(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let (x, w, bias) = (c.tensor("input")?, c.tensor("weight")?, c.optional_tensor("bias")?);
    if c.flag("transposed")? || !matches!(c.dtype()?, DType::F32 | DType::F64) || c.rank(x) != c.rank(w) || c.rank(x) < 3 {
        return Err(c.unsupported("transposed, not f32 or f64, or without a batch axis"));
    }
    let spatial = c.rank(x) - 2;
    let pads = c.per_axis("padding", spatial, &[])?.into_iter().map(|p| (Sym::from(p), Sym::from(p))).collect();
    let (stride, dilation) = (c.per_axis("stride", spatial, &[])?, c.per_axis("dilation", spatial, &[])?);
    let geometry = Conv { stride, pads, dilation, groups: c.int("groups")? };
    Ok(vec![compose::conv(c.b, x, w, bias, &geometry)?])
}
