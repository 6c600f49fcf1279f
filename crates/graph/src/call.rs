//! The registry of [`crate::Op::Call`] definitions: work that is no composition of the structural ops.

mod order;

use std::collections::BTreeMap;

use base::{Error, Result};

use crate::text::did_you_mean;
use crate::{HostTensor, TensorType};

/// Static attributes of a call, by name.
pub type Attrs = BTreeMap<String, i64>;

/// One definition.
pub struct CallDef {
    /// Name, as in [`crate::Op::Call`].
    pub name: &'static str,
    /// Result types for operand types and attributes, or a sentence fragment that says what is wrong.
    pub infer: fn(&[&TensorType], &Attrs) -> Result<Vec<TensorType>, String>,
    /// Results for operand values of types that `infer` accepts.
    pub eval: fn(&[HostTensor], &Attrs) -> Result<Vec<HostTensor>>,
    /// Whether two equal calls may not be merged, nor a call without readers dropped.
    pub effects: bool,
}

/// Every definition, by name.
static DEFS: [CallDef; 2] = [
    CallDef { name: "sort", infer: order::infer_sort, eval: order::eval_sort, effects: false },
    CallDef { name: "topk", infer: order::infer_topk, eval: order::eval_topk, effects: false },
];

/// The definition of that name.
pub fn lookup(name: &str) -> Option<&'static CallDef> {
    DEFS.iter().find(|d| d.name == name)
}

/// The definition of that name, or a sentence fragment with the nearest name.
pub(crate) fn find(name: &str) -> Result<&'static CallDef, String> {
    lookup(name).ok_or_else(|| format!("unknown call '{name}'{}", did_you_mean(name, DEFS.iter().map(|d| d.name))))
}

/// Evaluates a call on host values.
///
/// # Errors
/// An unknown name, or values that the definition rejects.
pub fn eval(name: &str, args: &[HostTensor], attrs: &Attrs) -> Result<Vec<HostTensor>> {
    let def = find(name).map_err(Error::invalid)?;
    (def.eval)(args, attrs).map_err(|e| e.context(format!("call {name}")))
}
