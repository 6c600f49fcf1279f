//! What follows a matrix product in its kernel, as far as a library can do it.

use base::Numerics;
use scalar::{Activation, Combiner, DType, ScalarOp};

use crate::comp::{AxisSet, Comp, Def, Store, ValueId};
use crate::polynomial::{is_gelu_tanh, is_gelu_tanh_backward};
use crate::target::Epilogues;

/// A comp that is one matrix product, to which a bias is added and a function applied before it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Epilogue {
    /// The contraction.
    pub product: ValueId,
    /// The load of a vector over the stored result's last axis, of the result's type.
    pub bias: Option<ValueId>,
    /// The function.
    pub activation: Option<Activation>,
    /// The store of the result.
    pub result: usize,
    /// A second matrix that the function has to do with.
    pub beside: Option<Beside>,
    /// The store of the result's sums over all but its last axis, of the result's type.
    pub sums: Option<usize>,
}

/// A matrix of the result's type, with the same position for each element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beside {
    /// The store of what the function is applied to.
    Kept(usize),
    /// The load of where a derivative is taken.
    At(ValueId),
}

impl Epilogue {
    /// Nothing but a product, which the first store writes.
    pub fn bare(product: ValueId) -> Epilogue {
        Epilogue { product, bias: None, activation: None, result: 0, beside: None, sums: None }
    }

    /// Whether nothing follows the product.
    pub fn is_bare(&self) -> bool {
        *self == Epilogue { result: self.result, ..Epilogue::bare(self.product) }
    }
}

/// What follows the one product of a comp, which is of stored matrices, if a library does the same under the rules of rounding: it
/// rounds once, in the end. That is the same in `eager` numerics where nothing is narrower than the accumulator before the end.
pub fn epilogue(comp: &Comp, library: Epilogues, numerics: Numerics) -> Option<Epilogue> {
    let mut contracts = (0..comp.values.len() as ValueId).filter(|&v| matches!(comp.value(v).def, Def::Contract { .. }));
    let (Some(product), None) = (contracts.next(), contracts.next()) else { return None };
    if comp.stores.iter().any(|store| store.combine.is_some() || store.collides || !store.when.is_empty()) {
        return None;
    }
    let is_stored = |v: &ValueId| matches!(comp.value(*v).def, Def::Load { .. });
    if !comp.operands(product).iter().all(is_stored) {
        return None;
    }
    let find = |result: usize| Finder::new(comp, product, &comp.stores[result], numerics)?.epilogue(result, library);
    match comp.stores.len() {
        1 => find(0),
        2 => (0..2).find_map(|result| {
            let (found, other) = (find(result)?, 1 - result);
            let kept = || keeping(comp, found, other, numerics).filter(|_| library.kept);
            kept().or_else(|| summing(comp, found, other, numerics).filter(|_| library.sums))
        }),
        _ => None,
    }
}

/// An epilogue that also stores what its function is applied to.
fn keeping(comp: &Comp, found: Epilogue, kept: usize, numerics: Numerics) -> Option<Epilogue> {
    let [result, store] = [found.result, kept].map(|n| &comp.stores[n]);
    let finder = Finder::new(comp, found.product, store, numerics)?;
    let x = finder.summed().unwrap_or(found.product);
    let is_kept =
        finder.is_same(finder.before_last_rounding(store.value), x) && finder.is_beside(store.arg, &store.index, result);
    (found.activation == Some(Activation::GeluTanh) && is_kept).then_some(Epilogue { beside: Some(Beside::Kept(kept)), ..found })
}

/// An epilogue that also stores sums of its result: the gradient of what was added before the function.
fn summing(comp: &Comp, found: Epilogue, sums: usize, numerics: Numerics) -> Option<Epilogue> {
    let [result, store] = [found.result, sums].map(|n| &comp.stores[n]);
    let finder = Finder::new(comp, found.product, store, numerics)?;
    let last = result.index.last()?;
    let v = finder.before_last_rounding(store.value);
    let Def::Reduce { combiner: Combiner::Sum, src, .. } = &comp.value(v).def else { return None };
    let unrounded = Finder::new(comp, found.product, result, numerics)?.before_last_rounding(result.value);
    let of_result = src.iter().all(|&x| finder.is_same(x, result.value) || x == unrounded);
    let over_rows = comp.is_cross(v) && comp.value(v).free == comp.free_of(last) && store.index == [last.clone()];
    let alike = finder.dtype == comp.args[result.arg].dtype;
    (found.activation == Some(Activation::GeluTanhBackward) && of_result && over_rows && alike)
        .then_some(Epilogue { sums: Some(sums), ..found })
}

/// What is applied to the product and its bias.
struct Applied {
    /// The product, or its sum with the bias.
    to: ValueId,
    function: Option<Activation>,
    /// The load of where a derivative is taken.
    at: Option<ValueId>,
}

struct Finder<'a> {
    comp: &'a Comp,
    product: ValueId,
    store: &'a Store,
    /// Type of the stored result.
    dtype: DType,
    numerics: Numerics,
    /// The product itself is rounded to less than its accumulator.
    rounds: bool,
}

impl<'a> Finder<'a> {
    fn new(comp: &'a Comp, product: ValueId, store: &'a Store, numerics: Numerics) -> Option<Finder<'a>> {
        let Def::Contract { acc, .. } = comp.value(product).def else { return None };
        let rounds = numerics == Numerics::Eager && comp.value(product).dtype != acc;
        Some(Finder { comp, product, store, dtype: comp.args[store.arg].dtype, numerics, rounds })
    }

    /// What leads from the product to the stored value, which is store number `result`.
    fn epilogue(&self, result: usize, library: Epilogues) -> Option<Epilogue> {
        let applied = self.applied(self.before_last_rounding(self.store.value))?;
        let allowed = match applied.function {
            None => true,
            Some(Activation::Relu) => library.relu,
            Some(Activation::GeluTanh) => library.gelu_tanh,
            Some(Activation::GeluTanhBackward) => library.gelu_tanh_backward,
        };
        let bias = self.bias(applied.to).filter(|_| library.bias && !self.rounds);
        let known = allowed && (bias.is_some() || self.is_same(applied.to, self.product));
        let bare = bias.is_none() && applied.function.is_none();
        let is_float = matches!(self.dtype, DType::F16 | DType::BF16 | DType::F32);
        let beside = applied.at.map(Beside::At);
        (known && (bare || is_float)).then_some(Epilogue {
            product: self.product,
            bias,
            activation: applied.function,
            result,
            beside,
            sums: None,
        })
    }

    fn op(&self, v: ValueId) -> Option<(ScalarOp, &[ValueId])> {
        match &self.comp.value(v).def {
            Def::Op(op, args) => Some((*op, args)),
            _ => None,
        }
    }

    /// A value without conversions that lose nothing.
    fn exact(&self, v: ValueId) -> ValueId {
        match self.op(v) {
            Some((ScalarOp::Cast(DType::F32), &[x])) if matches!(self.comp.value(x).dtype, DType::F16 | DType::BF16) => x,
            _ => v,
        }
    }

    fn is_same(&self, a: ValueId, b: ValueId) -> bool {
        self.exact(a) == self.exact(b)
    }

    /// The stored value, before it is rounded to the type in which it is stored.
    fn before_last_rounding(&self, v: ValueId) -> ValueId {
        match self.op(v) {
            Some((ScalarOp::Cast(to), &[x])) if to == self.dtype && self.comp.value(x).dtype == DType::F32 => x,
            _ => v,
        }
    }

    /// The function that a value is the result of, and what it is applied to.
    fn applied(&self, v: ValueId) -> Option<Applied> {
        let of = |to, function| Some(Applied { to, function, at: None });
        if let Some((ScalarOp::Max, &[a, b])) = self.op(v) {
            let zero = |c: ValueId| matches!(&self.comp.value(c).def, Def::Const(c) if c.as_f64() == 0.0);
            let x = if zero(b) { a } else { Some(b).filter(|_| zero(a))? };
            return of(x, Some(Activation::Relu));
        }
        let x = self.summed().unwrap_or(self.product);
        if self.is_same(v, x) {
            return of(v, None);
        }
        if self.numerics != Numerics::Wide {
            return None;
        }
        if is_gelu_tanh(self.comp, v, &|v| self.is_same(v, x)) {
            return of(x, Some(Activation::GeluTanh));
        }
        let at = self.derived_at(v)?;
        Some(Applied { to: self.product, function: Some(Activation::GeluTanhBackward), at: Some(at) })
    }

    /// The load at which the derivative is taken, if a value is the product times the derivative of gelu.
    fn derived_at(&self, v: ValueId) -> Option<ValueId> {
        let mut loads = (0..self.comp.values.len() as ValueId).filter(|&load| match &self.comp.value(load).def {
            Def::Load { arg, index, when, .. } => when.is_empty() && self.is_beside(*arg, index, self.store),
            _ => false,
        });
        let is_factor = |v: ValueId| self.is_same(v, self.product);
        loads.find(|&z| is_gelu_tanh_backward(self.comp, v, &|v| self.is_same(v, z), &is_factor))
    }

    /// Whether an argument is read or written at the same positions as a stored result, and is like it in shape and type.
    fn is_beside(&self, arg: usize, index: &[scalar::Sym], result: &Store) -> bool {
        let [other, own] = [arg, result.arg].map(|a| &self.comp.args[a]);
        other.shape == own.shape && other.dtype == own.dtype && index == result.index
    }

    /// The sum of the product and something read, if there is one.
    fn summed(&self) -> Option<ValueId> {
        (0..self.comp.values.len() as ValueId).find(|&v| self.addend(v).is_some())
    }

    /// What is added to the product.
    fn addend(&self, v: ValueId) -> Option<ValueId> {
        let Some((ScalarOp::Add, &[a, b])) = self.op(self.exact(v)) else { return None };
        let other = if self.is_same(a, self.product) { b } else { Some(a).filter(|_| self.is_same(b, self.product))? };
        let load = self.exact(other);
        matches!(self.comp.value(load).def, Def::Load { .. }).then_some(load)
    }

    /// The bias of a sum: a vector that varies along the result's last axis only.
    fn bias(&self, sum: ValueId) -> Option<ValueId> {
        let load = self.addend(sum)?;
        let Def::Load { index, when, .. } = &self.comp.value(load).def else { return None };
        let Def::Contract { a, b, .. } = self.comp.value(self.product).def else { return None };
        let (free, [a, b]) = (self.comp.value(load).free, [a, b].map(|v| self.comp.value(v).free));
        let last = |index: &[scalar::Sym]| index.last().map_or(AxisSet::default(), |e| self.comp.free_of(e));
        let along = |own: AxisSet, other: AxisSet| free.minus(own.minus(other)).is_empty();
        let adjacent = !last(index).is_empty() && last(index) == last(&self.store.index);
        let is_vector = when.is_empty() && adjacent && (along(a, b) || along(b, a));
        (is_vector && self.comp.value(load).dtype == self.dtype).then_some(load)
    }
}
