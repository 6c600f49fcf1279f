//! Types of results, by emitting the op into a scratch graph once per distinct combination of op and operand types.

use std::cell::RefCell;
use std::sync::Arc;

use base::{HashMap, Result};
use graph::{Builder, TensorType};
use smallvec::SmallVec;

use crate::emit::emit;
use crate::op::Op;
use crate::tensor::Tensor;

/// Combinations remembered per thread before starting over.
const MEMO: usize = 8192;

type Key = (Op, SmallVec<[TensorType; 3]>);

thread_local! {
    static KNOWN: RefCell<HashMap<Key, Arc<[TensorType]>>> = RefCell::default();
}

/// Types of an op's results.
pub(crate) fn infer(op: &Op, args: &[&Tensor]) -> Result<Arc<[TensorType]>> {
    let key: Key = (op.clone(), args.iter().map(|a| a.ty().clone()).collect());
    if let Some(types) = KNOWN.with_borrow(|known| known.get(&key).cloned()) {
        return Ok(types);
    }
    let types = scratch(op, &key.1)?;
    KNOWN.with_borrow_mut(|known| {
        if known.len() >= MEMO {
            known.clear();
        }
        known.insert(key, types.clone());
    });
    Ok(types)
}

fn scratch(op: &Op, args: &[TensorType]) -> Result<Arc<[TensorType]>> {
    let mut b = Builder::new("scratch");
    for var in args.iter().flat_map(|t| &t.shape).flat_map(|n| n.vars()) {
        b.facts_mut().set_min(var, 1);
    }
    let args =
        args.iter().enumerate().map(|(i, t)| b.input(format!("x{i}"), t.dtype, &t.shape, false)).collect::<Result<Vec<_>>>()?;
    let results = emit(&mut b, op, &args, 0)?;
    Ok(results.iter().map(|&id| b.graph().tensor(id).clone()).collect())
}
