//! The lowering table: one function per ATen op, by its name with overload.
//!
//! A lowering gives one graph node per result. What it cannot express exactly as eager torch computes it is an
//! [`base::ErrorKind::Unsupported`] error: the node then runs in torch.

mod conv;
mod create;
mod ctx;
mod index;
mod join;
mod linear;
mod pointwise;
mod pool;
mod promote;
mod random;
mod reduce;
mod scan;
mod scatter;
mod strided;
mod upsample;
mod view;

use base::Result;
use graph::NodeId;

pub(crate) use create::is_creation;
pub(crate) use ctx::{Ctx, Operand, Values};

/// Lowers one op.
pub(crate) type Lower = fn(&mut Ctx<'_>) -> Result<Vec<NodeId>>;

/// Version of the table; part of every cache key.
pub const VERSION: u32 = 1;

/// The lowering of an op.
pub(crate) fn lookup(target: &str) -> Option<Lower> {
    let families = [
        pointwise::lookup,
        view::lookup,
        strided::lookup,
        join::lookup,
        create::lookup,
        random::lookup,
        reduce::lookup,
        scan::lookup,
        index::lookup,
        scatter::lookup,
        linear::lookup,
        pool::lookup,
        conv::lookup,
        upsample::lookup,
    ];
    families.iter().find_map(|family| family(target))
}

/// Ops of one instruction an element.
const CHEAP: &[&str] =
    &["abs", "add", "convert_element_type", "eq", "ge", "gt", "le", "lt", "mul", "ne", "neg", "relu", "sub", "where", "_to_copy"];

/// Whether computing an op again costs less than keeping its result in memory.
pub(crate) fn is_cheap(target: &str) -> bool {
    let name = target.split('.').nth(1);
    view::lookup(target).is_some() || name.is_some_and(|name| CHEAP.contains(&name))
}

/// Whether the op has a lowering, perhaps for some arguments only.
pub fn is_lowered(target: &str) -> bool {
    lookup(target).is_some()
}
