//! Reductions, scans and contractions.

use base::Result;
use graph::NodeId;
use scalar::{Combiner, DType, Scalar, ScalarOp as S, Sym};

use super::{Gen, Profile};

impl Gen<'_, '_> {
    /// A combiner that the profile allows and that takes one operand of the dtype.
    fn combiner(&mut self, dtype: DType) -> Option<Combiner> {
        let allowed = |c: &Combiner| match self.profile {
            Profile::Any => true,
            Profile::Exact => c.info().exact || (!dtype.is_float() && matches!(c, Combiner::Sum | Combiner::Prod)),
            Profile::Tame => matches!(c, Combiner::Sum | Combiner::Max | Combiner::Min | Combiner::Welford),
        };
        let fit: Vec<Combiner> =
            Combiner::ALL.into_iter().filter(|c| c.info().operands == 1 && allowed(c) && c.results(&[dtype]).is_ok()).collect();
        if fit.is_empty() { None } else { Some(*self.choice.pick(&fit)) }
    }

    pub(super) fn reduction(&mut self) -> Result<Option<NodeId>> {
        let x = self.value();
        let Some(combiner) = self.combiner(self.b.dtype(x)) else { return Ok(None) };
        let rank = self.shape(x).len();
        let mut axes: Vec<usize> = (0..rank).filter(|_| self.choice.chance(128)).collect();
        if axes.is_empty() && rank > 0 {
            axes.push(rank - 1);
        }
        let r = self.b.reduce(combiner, &[x], &axes)?;
        self.result(r, combiner)
    }

    pub(super) fn scan(&mut self) -> Result<Option<NodeId>> {
        let x = self.value();
        let rank = self.shape(x).len();
        let Some(combiner) = self.combiner(self.b.dtype(x)) else { return Ok(None) };
        let simple = matches!(combiner, Combiner::Sum | Combiner::Prod | Combiner::Max | Combiner::Min);
        if rank == 0 || !simple {
            return Ok(None);
        }
        let axis = self.choice.below(rank);
        self.b.scan(combiner, &[x], axis).map(Some)
    }

    fn result(&mut self, r: NodeId, combiner: Combiner) -> Result<Option<NodeId>> {
        match combiner.info().components {
            1 => Ok(Some(r)),
            n => {
                let i = self.choice.below(n);
                self.b.result(r, i as u32).map(Some)
            }
        }
    }

    /// x's last axis against a new weight, or x against its own transpose.
    pub(super) fn contract(&mut self) -> Result<Option<NodeId>> {
        if self.profile == Profile::Exact {
            return Ok(None);
        }
        let x = self.float()?;
        let shape = self.shape(x);
        let dtype = self.b.dtype(x);
        let acc = dtype.accumulator();
        let Some(k) = shape.last().cloned() else { return Ok(None) };
        if shape.len() > 4 {
            return Ok(None);
        }
        let rows: String = ('a'..).take(shape.len() - 1).collect();
        let product = match self.choice.below(4) {
            0 if shape.len() >= 2 => {
                let batch = &rows[..rows.len() - 1];
                self.b.einsum(&format!("{rows}k,{batch}jk->{batch}{}j", &rows[rows.len() - 1..]), x, x, acc)?
            }
            1 => {
                let w = self.fresh(dtype, [Sym::from(4i64), k.clone()])?;
                self.b.einsum(&format!("{rows}k,jk->{rows}j"), x, w, acc)?
            }
            2 => {
                let w = self.fresh(dtype, [k.clone()])?;
                self.b.einsum(&format!("{rows}k,k->{rows}"), x, w, acc)?
            }
            _ => {
                let w = self.fresh(dtype, [k, Sym::from(3i64)])?;
                self.b.einsum(&format!("{rows}k,kj->{rows}j"), x, w, acc)?
            }
        };
        if self.profile != Profile::Tame {
            return Ok(Some(product));
        }
        let scale = self.b.constant(Scalar::from_f64(self.b.dtype(product), 0.25))?;
        let scale = self.spread(scale, &self.shape(product))?;
        self.b.map(S::Mul, &[product, scale]).map(Some)
    }
}
