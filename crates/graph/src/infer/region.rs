//! Rules of control flow: body graphs against operands.

use scalar::{DType, Shape, Sym};

use super::{Infer, Inferred, arity, list, several};
use crate::{Graph, Region, TensorType, Type};

impl Infer<'_> {
    pub(super) fn region(&mut self, region: &Region, args: &[&TensorType]) -> Inferred<Type> {
        match region {
            Region::If { then, other } => self.branch(then, other, args),
            Region::Loop { trip, carried, scanned, body } => self.repeat(trip, *carried, *scanned, body, args),
        }
    }

    fn branch(&mut self, then: &Graph, other: &Graph, args: &[&TensorType]) -> Inferred<Type> {
        let Some((condition, captures)) = args.split_first() else { return Err("if needs a condition".into()) };
        if condition.dtype != DType::Bool || !condition.shape.is_empty() {
            return Err(format!("the condition must be bool[], got {condition}"));
        }
        self.body_inputs(then, captures)?;
        self.body_inputs(other, captures)?;
        let (left, right) = (outputs(then)?, outputs(other)?);
        if left.len() != right.len() {
            return Err(format!("the bodies give {} and {} results", left.len(), right.len()));
        }
        for (i, (a, b)) in left.iter().zip(&right).enumerate() {
            self.same_type(a, b, || format!("result {i} of the two bodies"))?;
        }
        several(left.into_iter().cloned().collect())
    }

    fn repeat(&mut self, trip: &Sym, carried: usize, scanned: usize, body: &Graph, args: &[&TensorType]) -> Inferred<Type> {
        self.not_negative(trip, "trip count")?;
        if carried.checked_add(scanned).is_none_or(|n| n > args.len()) {
            return Err(format!("{carried} carried and {scanned} scanned operands need more than {} operands", args.len()));
        }
        let (state, rest) = args.split_at(carried);
        let (sequences, captures) = rest.split_at(scanned);
        let step = TensorType { dtype: DType::I64, shape: Shape::new() };
        let slices = sequences.iter().map(|t| self.step_slice(trip, t)).collect::<Inferred<Vec<_>>>()?;
        let inputs: Vec<&TensorType> =
            [&step].into_iter().chain(state.iter().copied()).chain(&slices).chain(captures.iter().copied()).collect();
        self.body_inputs(body, &inputs)?;
        let results = outputs(body)?;
        if results.len() < carried {
            return Err(format!("the body gives {} results, fewer than the {carried} carried values", results.len()));
        }
        for (i, (a, b)) in state.iter().zip(&results).enumerate() {
            self.same_type(a, b, || format!("carried value {i}"))?;
        }
        let stacked = results[carried..].iter().map(|t| stack(trip, t));
        several(state.iter().map(|&t| t.clone()).chain(stacked).collect())
    }

    fn step_slice(&mut self, trip: &Sym, t: &TensorType) -> Inferred<TensorType> {
        let Some(n) = t.shape.first() else { return Err("a scanned operand needs an axis".into()) };
        self.equal(n, trip, || format!("axis 0 of scanned operand {t} and the trip count"))?;
        Ok(TensorType { dtype: t.dtype, shape: t.shape[1..].iter().cloned().collect() })
    }

    fn body_inputs(&mut self, body: &Graph, args: &[&TensorType]) -> Inferred<()> {
        arity(args, body.inputs.len())
            .map_err(|_| format!("body {} takes {} values, got {}", body.name, body.inputs.len(), args.len()))?;
        for (decl, arg) in body.inputs.iter().zip(args) {
            self.same_type(&decl.ty, arg, || format!("input {} of body {}", decl.name, body.name))?;
        }
        Ok(())
    }

    fn same_type(&mut self, a: &TensorType, b: &TensorType, what: impl Fn() -> String) -> Inferred<()> {
        if a.dtype != b.dtype || a.shape.len() != b.shape.len() {
            return Err(format!("{}: {a} is not {b}", what()));
        }
        for (x, y) in a.shape.iter().zip(&b.shape) {
            self.equal(x, y, || format!("{}: shapes {} and {}", what(), list(&a.shape), list(&b.shape)))?;
        }
        Ok(())
    }
}

fn outputs(body: &Graph) -> Inferred<Vec<&TensorType>> {
    let get = |id: crate::NodeId| match body.nodes.get(id.index()).map(|n| &n.ty) {
        Some(Type::Tensor(t)) => Ok(t),
        _ => Err(format!("an output of body {} is not a tensor", body.name)),
    };
    body.outputs.iter().map(|o| get(o.value)).collect()
}

fn stack(trip: &Sym, t: &TensorType) -> TensorType {
    let shape = [trip].into_iter().chain(&t.shape).cloned().collect();
    TensorType { dtype: t.dtype, shape }
}
