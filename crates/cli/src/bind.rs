//! Dimensions and input tensors for one run of a model.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base::{Error, Result};
use fuseline::zoo::Fill;
use graph::{Frozen, HostTensor, InputDecl};
use scalar::{Sym, Var};

use crate::args::ModelArgs;
use crate::error::{Failure, Outcome};
use crate::input::{self, Spec, Value};
use crate::limits;
use crate::model::{Model, Source};
use crate::sizes;
use crate::term::note;

/// Sizes of the dimensions, and the given inputs.
#[derive(Debug)]
pub(crate) struct Binding {
    /// Sizes of all dimensions of the inputs.
    pub(crate) dims: BTreeMap<Var, i64>,
    specs: Vec<Spec>,
    seed: u64,
}

/// Reads `-i` and `--dim` and settles every dimension; prints a note about those that were made up.
///
/// # Errors
/// Malformed or unknown inputs and dimensions.
pub(crate) fn bind(model: &Model, args: &ModelArgs) -> Outcome<Binding> {
    let graph = model.graph();
    let names: Vec<&str> = model.open_slots().into_iter().map(|s| graph.inputs[s].name.as_str()).collect();
    let specs = args.inputs.iter().map(|t| input::parse(t, &names)).collect::<Outcome<Vec<Spec>>>()?;
    if let Some(twice) = specs.iter().enumerate().find_map(|(k, s)| specs[..k].iter().find(|o| o.name == s.name)) {
        return Err(Failure::invalid(format!("input {} is given twice", twice.name), ""));
    }
    let vars: BTreeSet<Var> = graph.inputs.iter().flat_map(|d| d.ty.shape.iter().flat_map(Sym::vars)).collect();
    let mut dims = BTreeMap::new();
    for (name, size) in args.dims.iter().filter(|(name, _)| !model.fixed.contains_key(name)) {
        let var = vars.iter().find(|v| v.name() == name);
        let list = vars.iter().map(|v| v.name()).collect::<Vec<_>>().join(", ");
        let known = if list.is_empty() { "the model has none".to_owned() } else { format!("the model has {list}") };
        let var = var.ok_or_else(|| Failure::invalid(format!("--dim {name}={size}: no such dimension; {known}"), ""))?;
        dims.insert(*var, *size);
    }
    for decl in &graph.inputs {
        if let Some(shape) = given_shape(&specs, decl) {
            bind_shape(&mut dims, decl, &shape);
        }
    }
    for (name, sizes, _) in &model.hints {
        if let Some(decl) = graph.inputs.iter().find(|d| d.name == *name) {
            bind_shape(&mut dims, decl, sizes);
        }
    }
    make_up(model, &vars, &mut dims)?;
    Ok(Binding { dims, specs, seed: args.seed })
}

/// The shape that an argument states, or the length of a list for a vector.
fn given_shape(specs: &[Spec], decl: &InputDecl) -> Option<Vec<usize>> {
    let spec = specs.iter().find(|s| s.name == decl.name)?;
    match (&spec.shape, &spec.value) {
        (Some(shape), _) => Some(shape.clone()),
        (None, Value::List(numbers)) if decl.ty.shape.len() == 1 && numbers.len() > 1 => Some(vec![numbers.len()]),
        _ => None,
    }
}

/// Plain symbols take the extents of a shape, unless they have a size.
fn bind_shape(dims: &mut BTreeMap<Var, i64>, decl: &InputDecl, shape: &[usize]) {
    for (sym, &n) in decl.ty.shape.iter().zip(shape) {
        if let Some(v) = sym.as_var() {
            dims.entry(v).or_insert(n as i64);
        }
    }
}

/// Sizes for what is still open, with a note.
fn make_up(model: &Model, vars: &BTreeSet<Var>, dims: &mut BTreeMap<Var, i64>) -> Outcome<()> {
    let open: BTreeMap<Var, bool> = vars.iter().filter(|v| !dims.contains_key(v)).map(|&v| (v, is_batch(model, v))).collect();
    if open.is_empty() {
        return Ok(());
    }
    let moved = sizes::choose(model.graph(), &open, dims)?;
    let shown: Vec<String> = open.keys().map(|v| format!("{v}={}", dims[v])).collect();
    let why = if moved.is_empty() { String::new() } else { format!("; sizes that the model allows: {}", moved.join(", ")) };
    note(&format!("{} (set with --dim NAME=N{why})", shown.join(", ")));
    Ok(())
}

/// A dimension named after a batch, or, in an ONNX file, one that is only ever the first axis.
fn is_batch(model: &Model, v: Var) -> bool {
    let first_only = || {
        let mut inputs = model.graph().inputs.iter();
        inputs.all(|d| d.ty.shape.iter().skip(1).all(|s| !s.mentions(v)))
    };
    v.name().to_lowercase().contains("batch") || (model.source == Source::Onnx && first_only())
}

impl Binding {
    /// Tensors for the open inputs of a model: data of frozen ones goes into the module, the others come back in slot
    /// order. Inputs without an argument are random, which one note says if it is to `tell`.
    ///
    /// # Errors
    /// Values that do not fit a shape or dtype.
    pub(crate) fn inputs(&self, model: &mut Model, tell: bool) -> Outcome<Vec<HostTensor>> {
        let mut given = Vec::new();
        let mut random = Vec::new();
        for slot in model.open_slots() {
            let decl = &model.graph().inputs[slot];
            let at = |e: Error| e.context(format!("input {}", decl.name));
            let (data, made_up) = self.tensor(model, slot).map_err(at)?;
            if let Some(how) = made_up.filter(|_| !decl.frozen) {
                random.push(format!("{} {}{:?} {how}", decl.name, data.dtype(), data.shape()));
            }
            if decl.frozen {
                model.module.frozen.push(Frozen { slot: slot as u32, data: Arc::new(data) });
            } else {
                given.push(data);
            }
        }
        if tell && !random.is_empty() {
            note(&format!("made-up inputs, seed {}: {}", self.seed, random.join("; ")));
        }
        Ok(given)
    }

    /// The tensor of an input; how it was made up, if it was.
    fn tensor(&self, model: &Model, slot: usize) -> Result<(HostTensor, Option<String>)> {
        let decl = &model.graph().inputs[slot];
        let seed = self.seed.wrapping_add((slot as u64) << 32);
        let spec = self.specs.iter().find(|s| s.name == decl.name);
        let shape = match spec.and_then(|s| s.shape.clone()) {
            Some(shape) => shape,
            None => self.extents(decl)?,
        };
        match spec {
            Some(spec) => {
                let dtype = spec.dtype.unwrap_or(decl.ty.dtype);
                Ok((spec.value.make(dtype, &shape, seed)?, None))
            }
            None => {
                let (value, how) = self.fill(model, slot);
                Ok((value.make(decl.ty.dtype, &shape, seed)?, Some(how)))
            }
        }
    }

    fn extents(&self, decl: &InputDecl) -> Result<Vec<usize>> {
        let extent = |s: &Sym| {
            let n = s.eval(&|v| self.dims.get(&v).copied())?;
            usize::try_from(n).map_err(|_| Error::invalid(format!("extent {s} is {n}: choose other sizes with --dim")))
        };
        decl.ty.shape.iter().map(extent).collect()
    }

    /// Values for an input without an argument, and words for them.
    fn fill(&self, model: &Model, slot: usize) -> (Value, String) {
        let decl = &model.graph().inputs[slot];
        match model.hints.iter().find(|h| h.0 == decl.name).map(|h| h.2) {
            Some(Fill::Normal) => return (Value::Randn, "randn".into()),
            Some(Fill::Ones) => return (Value::Ones, "ones".into()),
            Some(Fill::Integers { low, high }) => return (Value::Randint(low, high), format!("randint({low}..{high})")),
            None => {}
        }
        if decl.ty.dtype.is_float() {
            return (Value::Randn, "randn".into());
        }
        let high = if decl.ty.dtype == scalar::DType::Bool { 2 } else { limits::high(model.graph(), slot, &self.dims) };
        (Value::Randint(0, high), format!("randint(0..{high})"))
    }
}
