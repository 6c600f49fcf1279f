//! What follows a matrix product in its kernel, as far as a library can do it.

use base::Numerics;
use scalar::{Activation, DType, ScalarOp};

use crate::comp::{AxisSet, Comp, Def, Store, ValueId};
use crate::polynomial::is_gelu_tanh;
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
}

/// What follows the one product of a comp, if a library does the same under the rules of rounding: it rounds once, in the end.
/// That is the same in `eager` numerics where nothing is narrower than the accumulator before the end.
pub fn epilogue(comp: &Comp, library: Epilogues, numerics: Numerics) -> Option<Epilogue> {
    let mut contracts = (0..comp.values.len() as ValueId).filter(|&v| matches!(comp.value(v).def, Def::Contract { .. }));
    let (Some(product), None) = (contracts.next(), contracts.next()) else { return None };
    let [store] = &comp.stores[..] else { return None };
    let Def::Contract { acc, .. } = comp.value(product).def else { return None };
    let dtype = comp.args[store.arg].dtype;
    if store.combine.is_some() || store.collides || !store.when.is_empty() {
        return None;
    }
    let finder = Finder { comp, product, dtype, rounds: numerics == Numerics::Eager && comp.value(product).dtype != acc };
    let end = finder.before_last_rounding(store.value);
    let (x, activation) = finder.activation(end, numerics)?;
    let allowed = match activation {
        None => true,
        Some(Activation::Relu) => library.relu,
        Some(Activation::GeluTanh) => library.gelu_tanh,
    };
    let bias = finder.bias(x, store).filter(|_| library.bias && !finder.rounds);
    let known = allowed && (bias.is_some() || finder.is_same(x, product));
    let bare = bias.is_none() && activation.is_none();
    (known && (bare || matches!(dtype, DType::F16 | DType::BF16 | DType::F32))).then_some(Epilogue { product, bias, activation })
}

struct Finder<'a> {
    comp: &'a Comp,
    product: ValueId,
    /// Type of the stored result.
    dtype: DType,
    /// The product itself is rounded to less than its accumulator.
    rounds: bool,
}

impl Finder<'_> {
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
    fn activation(&self, v: ValueId, numerics: Numerics) -> Option<(ValueId, Option<Activation>)> {
        if let Some((ScalarOp::Max, &[a, b])) = self.op(v) {
            let zero = |c: ValueId| matches!(&self.comp.value(c).def, Def::Const(c) if c.as_f64() == 0.0);
            let x = if zero(b) { a } else { Some(b).filter(|_| zero(a))? };
            return Some((x, Some(Activation::Relu)));
        }
        let x = self.summed().unwrap_or(self.product);
        if self.is_same(v, x) {
            return Some((v, None));
        }
        let gelu = numerics == Numerics::Wide && is_gelu_tanh(self.comp, v, &|v| self.is_same(v, x));
        gelu.then_some((x, Some(Activation::GeluTanh)))
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
    fn bias(&self, sum: ValueId, store: &Store) -> Option<ValueId> {
        let load = self.addend(sum)?;
        let Def::Load { index, when, .. } = &self.comp.value(load).def else { return None };
        let Def::Contract { a, b, .. } = self.comp.value(self.product).def else { return None };
        let (free, [a, b]) = (self.comp.value(load).free, [a, b].map(|v| self.comp.value(v).free));
        let last = |index: &[scalar::Sym]| index.last().map_or(AxisSet::default(), |e| self.comp.free_of(e));
        let along = |own: AxisSet, other: AxisSet| free.minus(own.minus(other)).is_empty();
        let adjacent = !last(index).is_empty() && last(index) == last(&store.index);
        let is_vector = when.is_empty() && adjacent && (along(a, b) || along(b, a));
        (is_vector && self.comp.value(load).dtype == self.dtype).then_some(load)
    }
}
