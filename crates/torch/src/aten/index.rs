//! Gathers and scatters.

use base::Result;
use graph::{NodeId, compose};
use scalar::DType;

use super::Lower;
use super::ctx::Ctx;

pub(super) fn lookup(target: &str) -> Option<Lower> {
    Some(match target {
        "aten.embedding.default" => embedding,
        _ => return None,
    })
}

fn embedding(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let (table, index) = (c.tensor("weight")?, c.tensor("indices")?);
    let index = c.cast(index, DType::I64)?;
    Ok(vec![compose::embedding(c.b, table, index)?])
}
