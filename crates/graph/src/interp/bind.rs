//! Binding dimension variables to the extents of given tensors.

use std::collections::BTreeMap;

use base::{Error, Result};
use scalar::{Shape, Sym, Var};

use super::value::Value;
use crate::{Graph, Guard, InputDecl};

/// Values of the dimension variables of a run.
#[derive(Clone, Debug)]
pub(crate) struct Env {
    vars: BTreeMap<Var, i64>,
}

fn value(s: &Sym, vars: &BTreeMap<Var, i64>) -> Result<i64> {
    s.eval(&|v| vars.get(&v).copied())
}

impl Env {
    pub(crate) fn new(vars: BTreeMap<Var, i64>) -> Env {
        Env { vars }
    }
    /// Value of a symbolic integer.
    pub(crate) fn int(&self, s: &Sym) -> Result<i64> {
        value(s, &self.vars)
    }
    /// Value of an extent.
    pub(crate) fn size(&self, s: &Sym) -> Result<usize> {
        let n = self.int(s)?;
        usize::try_from(n).map_err(|_| Error::invalid(format!("extent {s} is {n}, which is negative, for these input shapes")))
    }
    /// Values of all extents.
    pub(crate) fn sizes(&self, shape: &Shape) -> Result<Vec<usize>> {
        shape.iter().map(|s| self.size(s)).collect()
    }
    /// These bindings and those that a body's inputs add.
    pub(crate) fn within(&self, body: &Graph, inputs: &[Value]) -> Result<Env> {
        let shapes: Vec<&[usize]> = inputs.iter().map(Value::shape).collect();
        Ok(Env { vars: bind_from(body, &shapes, self.vars.clone())? })
    }
}

/// Values of a graph's dimension variables for the shapes of its inputs, one per slot.
///
/// Plain variables bind first; then expressions with one unknown that is linear in them; then every extent, guard and fact
/// is checked.
///
/// # Errors
/// A shape of another rank or extent, a dimension that no shape determines, or a guard or fact that does not hold; the
/// message names the input, what it expects and what was given.
pub fn bind(graph: &Graph, shapes: &[&[usize]]) -> Result<BTreeMap<Var, i64>> {
    bind_from(graph, shapes, BTreeMap::new())
}

/// [`bind`] with some dimensions known beforehand.
///
/// # Errors
/// As [`bind`].
pub fn bind_from(graph: &Graph, shapes: &[&[usize]], mut vars: BTreeMap<Var, i64>) -> Result<BTreeMap<Var, i64>> {
    if shapes.len() != graph.inputs.len() {
        return Err(Error::invalid(format!("graph {} takes {} inputs, got {}", graph.name, graph.inputs.len(), shapes.len())));
    }
    let mut extents: Vec<(&Sym, i64)> = Vec::new();
    for (decl, given) in graph.inputs.iter().zip(shapes) {
        if decl.ty.shape.len() != given.len() {
            return Err(wrong_shape(decl, given, &format!("rank {} is expected", decl.ty.shape.len())));
        }
        extents.extend(decl.ty.shape.iter().zip(given.iter().map(|&n| n as i64)));
    }
    for (s, n) in &extents {
        if let Some(v) = s.as_var() {
            vars.entry(v).or_insert(*n);
        }
    }
    while let Some((v, n)) = extents.iter().find_map(|(s, n)| solve(s, *n, &vars)) {
        vars.insert(v, n);
    }
    check_inputs(graph, shapes, &vars)?;
    check_guards(graph, &vars)?;
    Ok(vars)
}

/// The one unknown of `s = n` if `s` is linear in it.
fn solve(s: &Sym, n: i64, vars: &BTreeMap<Var, i64>) -> Option<(Var, i64)> {
    let unknown: Vec<Var> = s.vars().into_iter().filter(|v| !vars.contains_key(v)).collect();
    let [v] = unknown[..] else { return None };
    let mut trial = vars.clone();
    let mut at = |x: i64| {
        trial.insert(v, x);
        value(s, &trial).ok()
    };
    let (zero, one) = (at(0)?, at(1)?);
    let slope = one.checked_sub(zero).filter(|&k| k != 0)?;
    let x = n.checked_sub(zero).filter(|d| d % slope == 0)? / slope;
    (at(x)? == n).then_some((v, x))
}

fn check_inputs(graph: &Graph, shapes: &[&[usize]], vars: &BTreeMap<Var, i64>) -> Result<()> {
    for (decl, given) in graph.inputs.iter().zip(shapes) {
        for (axis, (s, &n)) in decl.ty.shape.iter().zip(*given).enumerate() {
            match value(s, vars) {
                Err(e) => return Err(wrong_shape(decl, given, &format!("extent {n} does not determine {s}: {e}"))),
                Ok(want) if want != n as i64 => {
                    let because = if s.as_int().is_some() { String::new() } else { format!(" ({s}, from the other extents)") };
                    return Err(wrong_shape(decl, given, &format!("axis {axis} should be {want}{because}")));
                }
                Ok(_) => {}
            }
        }
    }
    Ok(())
}

fn wrong_shape(decl: &InputDecl, given: &[usize], why: &str) -> Error {
    Error::invalid(format!("input {} is {}, got shape {given:?}: {why}", decl.name, decl.ty))
}

fn check_guards(graph: &Graph, vars: &BTreeMap<Var, i64>) -> Result<()> {
    for guard in &graph.guards {
        let sides = value(&guard.left, vars).and_then(|l| Ok((l, value(&guard.right, vars)?)));
        let (left, right) = sides.map_err(|e| e.context(guard.reason.clone()))?;
        if left != right {
            let Guard { left: a, right: b, reason } = guard;
            return Err(Error::invalid(format!(
                "{reason}: {a} is {left} and {b} is {right} for these input shapes, and must be equal"
            )));
        }
    }
    graph.facts.check(&|v| vars.get(&v).copied()).map_err(|e| Error::invalid(format!("graph {}: {e}", graph.name)))
}
