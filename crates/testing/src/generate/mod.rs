//! Well-typed graphs from bytes.
//!
//! [`graph()`] makes a small program over every kind of op; [`inputs`] makes arguments for it, with NaN, ±0, infinities and
//! denormals weighted up. Extents are numbers from 0 to 8 and the symbols `n` and `m`.

mod composite;
mod index;
mod inputs;
mod layout;
mod pointwise;
mod reduction;

use base::Result;
use graph::{Builder, Graph, NodeId};
use scalar::{DType, Facts, Shape, Sym};

use crate::Cursor;

pub use inputs::{inputs, sizes};

/// Which programs to make, by how results may be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// Every op and every value.
    Any,
    /// Only ops whose result has the same bits on every engine: no transcendental function and no float sum.
    Exact,
    /// Only continuous, well-conditioned ops on small values: results of another order of summation differ little.
    Tame,
}

/// Most elements of one value, at `n = m = 8`.
const MAX_ELEMENTS: i64 = 4096;

/// A program of up to about `steps` ops.
///
/// # Errors
/// Only on a fault of the generator or the builder.
pub fn graph(choice: &mut Cursor<'_>, profile: Profile, steps: usize) -> Result<Graph> {
    let mut g = Gen { b: Builder::new("generated"), choice, profile, pool: Vec::new(), base: Shape::new(), refused: 0 };
    let rank = g.choice.below(4);
    g.base = (0..rank).map(|_| g.extent()).collect();
    for _ in 0..=g.choice.below(3) {
        g.input()?;
    }
    for _ in 0..steps {
        g.step();
    }
    g.outputs()?;
    Ok(g.b.finish())
}

/// State of the generator; each family of ops adds methods.
struct Gen<'c, 'b> {
    b: Builder,
    choice: &'c mut Cursor<'b>,
    profile: Profile,
    pool: Vec<NodeId>,
    base: Shape,
    refused: usize,
}

impl Gen<'_, '_> {
    /// Adds one value to the pool; a choice that does not fit adds nothing.
    fn step(&mut self) {
        let made = match self.choice.below(20) {
            0..=2 => self.unary(),
            3..=6 => self.binary(),
            7 => self.select(),
            8 => self.cast(),
            9..=12 => self.layout(),
            13 => self.concat(),
            14 | 15 => self.reduction(),
            16 => self.scan(),
            17 => self.composite(),
            18 => self.contract(),
            _ => self.indexed(),
        };
        match made {
            Ok(Some(id)) if self.elements(id) <= MAX_ELEMENTS => self.pool.push(id),
            Ok(_) => {}
            Err(_) => self.refused += 1,
        }
    }

    /// Returns the last values that nothing reads, and one more.
    fn outputs(&mut self) -> Result<()> {
        let users = self.b.graph().users();
        let unread = |v: &NodeId| users[v.index()].is_empty();
        let mut values: Vec<NodeId> = self.pool.iter().copied().filter(unread).rev().take(3).collect();
        values.push(self.value());
        values.into_iter().enumerate().try_for_each(|(i, v)| self.b.output(format!("y{i}"), v))
    }

    fn dtype(&mut self) -> DType {
        use DType::{BF16, Bool, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
        let floats = [F32, F32, F32, F32, F16, BF16, F64];
        let any = [F32, F32, F32, F16, BF16, F64, I64, I32, U8, I8, Bool, I16, U16, U32, U64, F32];
        *if self.profile == Profile::Tame { self.choice.pick(&floats) } else { self.choice.pick(&any) }
    }
    fn extent(&mut self) -> Sym {
        match self.choice.below(10) {
            0 | 1 => Sym::named("n"),
            2 => Sym::named("m"),
            _ => Sym::from(*self.choice.pick(&[3i64, 1, 2, 4, 5, 6, 7, 8, 0, 3])),
        }
    }
    /// An input whose shape is the base shape with some axes 1 or cut off.
    fn input(&mut self) -> Result<NodeId> {
        let cut = if self.choice.chance(64) { self.choice.below(self.base.len() + 1) } else { 0 };
        let base = self.base[cut..].to_vec();
        let shape: Vec<Sym> = base.into_iter().map(|n| if self.choice.chance(40) { Sym::ONE } else { n }).collect();
        let dtype = self.dtype();
        self.fresh(dtype, shape)
    }
    fn fresh(&mut self, dtype: DType, shape: impl IntoIterator<Item = Sym>) -> Result<NodeId> {
        let name = format!("x{}", self.b.graph().inputs.len());
        let id = self.b.input(name, dtype, shape, false)?;
        self.pool.push(id);
        Ok(id)
    }
    /// A value of the pool; recent ones are likelier.
    fn value(&mut self) -> NodeId {
        let n = self.pool.len();
        let back = if self.choice.chance(128) { self.choice.below(n.min(3)) } else { self.choice.below(n) };
        self.pool[n - 1 - back]
    }
    /// A float value, by a cast if need be.
    fn float(&mut self) -> Result<NodeId> {
        let x = self.value();
        if self.b.dtype(x).is_float() { Ok(x) } else { self.b.map(scalar::ScalarOp::Cast(DType::F32), &[x]) }
    }
    fn shape(&self, id: NodeId) -> Shape {
        self.b.shape(id).clone()
    }
    fn facts(&self) -> &Facts {
        self.b.facts()
    }
    /// An axis of a value whose extent is a number of at least `least`.
    fn fixed_axis(&mut self, x: NodeId, least: i64) -> Option<(usize, i64)> {
        let shape = self.shape(x);
        let fit: Vec<(usize, i64)> =
            shape.iter().enumerate().filter_map(|(i, n)| n.as_int().map(|n| (i, n))).filter(|&(_, n)| n >= least).collect();
        if fit.is_empty() { None } else { Some(*self.choice.pick(&fit)) }
    }
    fn elements(&self, id: NodeId) -> i64 {
        self.shape(id).iter().map(|n| n.eval(&|_| Some(8)).unwrap_or(MAX_ELEMENTS)).fold(1, i64::saturating_mul)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed_bytes;

    #[test]
    fn nearly_every_choice_fits() {
        let (mut refused, mut nodes) = (0, 0);
        for seed in 0..300 {
            let bytes = seed_bytes(seed, 600);
            let mut cursor = Cursor::new(&bytes);
            let mut g = Gen {
                b: Builder::new("g"),
                choice: &mut cursor,
                profile: Profile::Any,
                pool: vec![],
                base: Shape::new(),
                refused: 0,
            };
            g.base = (0..2).map(|_| g.extent()).collect();
            g.input().expect("an input is made");
            (0..12).for_each(|_| g.step());
            refused += g.refused;
            nodes += g.b.graph().nodes.len();
        }
        assert!(refused * 50 < nodes, "{refused} refusals against {nodes} nodes");
    }

    #[test]
    fn every_kind_of_op_occurs() {
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..600 {
            let bytes = seed_bytes(seed, 600);
            let g = graph(&mut Cursor::new(&bytes), Profile::Any, 10).expect("generated");
            seen.extend(g.nodes.iter().map(|n| format!("{:?}", n.op)));
        }
        let kinds = [
            "Iota",
            "View(Reshape",
            "View(Permute",
            "View(Expand",
            "View(Slice",
            "View(Flip",
            "View(Pad",
            "View(Window",
            "Concat",
        ];
        let more =
            ["Contract", "Gather", "Materialize", "Reduce(Welford", "Reduce(ArgMax", "Scan(Sum", "Write(Set, Slice", "SymConst"];
        for kind in kinds.into_iter().chain(more).chain(["Write(Set, Dynamic", "Write(Add, Indices", "Map(Select", "Map(Bitcast"])
        {
            assert!(seen.iter().any(|s| s.starts_with(kind)), "{kind} is missing");
        }
    }
}
