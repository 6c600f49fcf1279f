//! Convolution.

use base::Result;
use graph::NodeId;
use graph::compose::{self, Conv};
use scalar::Sym;

use super::Lower;
use super::ctx::Ctx;

pub(super) fn lookup(target: &str) -> Option<Lower> {
    (target == "aten.convolution.default").then_some(convolution)
}

fn convolution(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let (x, w, bias) = (c.tensor("input")?, c.tensor("weight")?, c.optional_tensor("bias")?);
    if !c.dtype()?.is_float() || c.rank(x) != c.rank(w) || c.rank(x) < 3 {
        return Err(c.unsupported("integers, or no batch axis"));
    }
    let spatial = c.rank(x) - 2;
    let each = |list: Vec<i64>| if list.len() == 1 { vec![list[0]; spatial] } else { list };
    let pads = each(c.ints("padding")?).into_iter().map(|p| (Sym::from(p), Sym::from(p))).collect();
    let (stride, dilation) = (each(c.ints("stride")?), each(c.ints("dilation")?));
    let geometry = Conv { stride, pads, dilation, groups: c.int("groups")? };
    if c.flag("transposed")? {
        let extra = each(c.ints("output_padding")?);
        return Ok(vec![compose::conv_transpose(c.b, x, w, bias, &geometry, &extra)?]);
    }
    Ok(vec![compose::conv(c.b, x, w, bias, &geometry)?])
}
