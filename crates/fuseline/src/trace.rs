//! Tracing a function once, with symbolic extents.

use std::cell::RefCell;
use std::collections::BTreeMap;

use base::{Error, Result};
use graph::{Module, TensorType};
use scalar::{DType, Sym, Var};

use crate::flush;
use crate::param::Param;
use crate::program::Source;
use crate::shape::IntoShape;
use crate::symbolic;
use crate::tensor::Tensor;

/// A trace in progress on this thread.
#[derive(Debug, Default)]
struct Trace {
    /// Example values of the symbolic extents.
    hints: BTreeMap<Var, i64>,
    /// Symbolic extents that were read as numbers.
    fixed: BTreeMap<Var, i64>,
}

thread_local! {
    static CURRENT: RefCell<Option<Trace>> = const { RefCell::new(None) };
}

/// Whether a function is being traced on this thread.
pub(crate) fn active() -> bool {
    CURRENT.with_borrow(Option::is_some)
}

/// The number behind an extent. While tracing, a symbolic extent that is asked for becomes part of the compiled function.
pub(crate) fn concrete(extent: &Sym) -> usize {
    if let Some(n) = extent.as_int() {
        return usize::try_from(n).unwrap_or(0);
    }
    CURRENT.with_borrow_mut(|current| {
        let Some(trace) = current else { return symbolic::number(extent).and_then(|n| usize::try_from(n).ok()).unwrap_or(0) };
        for var in extent.vars() {
            if let Some(&value) = trace.hints.get(&var) {
                trace.fixed.insert(var, value);
            }
        }
        let value = extent.eval(&|v| trace.hints.get(&v).copied());
        value.ok().and_then(|n| usize::try_from(n).ok()).unwrap_or(0)
    })
}

/// What one trace gave.
pub(crate) struct Traced {
    pub(crate) module: Module,
    /// Inputs after the arguments that are read at each run: keys, and parameters that have been replaced.
    pub(crate) late: Vec<Source>,
    /// Parameters that the module holds the values of.
    pub(crate) frozen: Vec<Param>,
    /// Symbolic extents that were read as numbers, with the example value that was used.
    pub(crate) fixed: BTreeMap<Var, i64>,
}

/// One argument of a traced function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgSpec {
    /// Name of the graph input.
    pub name: String,
    /// Type; extents may be symbolic.
    pub ty: TensorType,
}

impl ArgSpec {
    /// An argument of that name, dtype and shape; symbolic extents are `Sym::named("batch")`.
    pub fn new(name: impl Into<String>, dtype: DType, shape: impl IntoShape) -> ArgSpec {
        ArgSpec { name: name.into(), ty: TensorType { dtype, shape: shape.into_shape() } }
    }
}

/// Ends the trace when it goes out of scope, also on a panic in the traced function.
struct Guard;

impl Drop for Guard {
    fn drop(&mut self) {
        CURRENT.set(None);
    }
}

/// Runs a function on placeholders and returns its graph. [`Param`](crate::Param)s and data made inside become frozen inputs.
///
/// # Errors
/// A function that reads values, whose sizes depend on a symbolic extent being a number, or that fails; nested tracing.
///
/// ```
/// use fuseline::{ArgSpec, DType, Sym, trace};
/// let n = Sym::named("n");
/// let module = trace("double", &[ArgSpec::new("x", DType::F32, [n, Sym::from(3i64)])], |x| vec![&x[0] + &x[0]])?;
/// assert_eq!(module.graph.tensor(module.graph.outputs[0].value).to_string(), "f32[n, 3]");
/// # Ok::<(), fuseline::Error>(())
/// ```
pub fn trace(name: &str, args: &[ArgSpec], f: impl FnOnce(&[Tensor]) -> Vec<Tensor>) -> Result<Module> {
    let traced = trace_with(name, args, BTreeMap::new(), f)?;
    match traced.fixed.keys().next() {
        Some(var) => Err(Error::invalid(format!("{name} reads the symbolic extent {var} as a number; use dims() or size()"))),
        None => Ok(traced.module),
    }
}

/// As [`trace`], with example values for the symbolic extents.
pub(crate) fn trace_with(
    name: &str,
    args: &[ArgSpec],
    hints: BTreeMap<Var, i64>,
    f: impl FnOnce(&[Tensor]) -> Vec<Tensor>,
) -> Result<Traced> {
    if active() {
        return Err(Error::invalid(format!("{name}: a function is already being traced on this thread")));
    }
    let hints = if hints.is_empty() { default_hints(args) } else { hints };
    CURRENT.set(Some(Trace { hints, fixed: BTreeMap::new() }));
    let guard = Guard;
    let inputs: Vec<Tensor> = args.iter().enumerate().map(|(slot, arg)| Tensor::input(slot, arg.ty.clone())).collect();
    let outputs = f(&inputs);
    let fixed = CURRENT.with_borrow(|current| current.as_ref().map(|t| t.fixed.clone()).unwrap_or_default());
    drop(guard);
    let (module, sources) = flush::module(name, args, &outputs)?;
    let (mut late, mut frozen) = (Vec::new(), Vec::new());
    for (decl, source) in module.graph.inputs.iter().zip(sources) {
        match source {
            Source::Argument(_) => {}
            Source::Param(param) if decl.frozen => frozen.push(param),
            _ if decl.frozen => {}
            source => late.push(source),
        }
    }
    Ok(Traced { module, late, frozen, fixed })
}

/// Any number will do: reading one is reported.
fn default_hints(args: &[ArgSpec]) -> BTreeMap<Var, i64> {
    args.iter().flat_map(|a| &a.ty.shape).flat_map(|n| n.vars()).map(|v| (v, 2)).collect()
}
