//! Sample assignments that satisfy the facts, to refute quickly what no proof can show.

use std::collections::BTreeMap;

use super::prove::Prover;
use crate::{Sym, Var};

/// Values of variables at a few points; a point that would break a fact is left out.
pub(super) type Samples = Vec<BTreeMap<Var, i64>>;

/// (Offset of a dimension above its least value, its growth from one dimension to the next, whether axes are at their last value).
const POINTS: [(i64, i64, bool); 3] = [(0, 0, false), (1, 2, true), (9, -1, false)];

impl Prover<'_> {
    /// Whether `e` is negative at a sample.
    pub(super) fn refutes(&self, e: &Sym) -> bool {
        let samples = self.samples.get_or_init(|| self.sample());
        samples.iter().any(|point| e.eval(&|v| point.get(&v).copied()).is_ok_and(|value| value < 0))
    }
    /// ⌊x / d⌋ if it is the same at every sample; 0 if there is no sample.
    pub(super) fn sampled_quotient(&self, x: &Sym, d: &Sym) -> Option<i64> {
        let mut common = None;
        for point in self.samples.get_or_init(|| self.sample()) {
            let value = |v: Var| point.get(&v).copied();
            let (Ok(x), Ok(d)) = (self.facts.rewrite(x).eval(&value), self.facts.rewrite(d).eval(&value)) else { continue };
            if d > 0 && *common.get_or_insert(x.div_euclid(d)) != x.div_euclid(d) {
                return None;
            }
        }
        Some(common.unwrap_or(0))
    }
    fn sample(&self) -> Samples {
        POINTS.iter().filter_map(|&(offset, growth, last)| self.point(offset, growth, last)).collect()
    }
    fn point(&self, offset: i64, growth: i64, last: bool) -> Option<BTreeMap<Var, i64>> {
        let mut point = BTreeMap::new();
        let (axes, dims): (Vec<Var>, Vec<Var>) = self.vars.iter().partition(|&&v| self.facts.below(v).next().is_some());
        for (i, &v) in dims.iter().enumerate() {
            let k = self.facts.divisor(v);
            let wanted = self.least(v).checked_add(offset + growth * i as i64)?;
            let value = wanted.max(self.least(v)).checked_add(k - 1)?.div_euclid(k) * k;
            let top = self.facts.max(v).map_or(value, |max| max.div_euclid(k) * k);
            point.insert(v, value.min(top));
        }
        for _ in 0..axes.len() {
            for &v in axes.iter().filter(|v| !point.contains_key(v)).collect::<Vec<_>>() {
                if let Some(end) = self.end(v, &point) {
                    point.insert(
                        v,
                        if last { (end - 1).div_euclid(self.facts.divisor(v)) * self.facts.divisor(v) } else { self.least(v) },
                    );
                }
            }
        }
        let holds = |(&v, &x): (&Var, &i64)| {
            x >= self.least(v) && self.facts.max(v).is_none_or(|m| x <= m) && self.end(v, &point).is_none_or(|end| x < end)
        };
        point.iter().all(holds).then_some(point)
    }
    /// Least extent above an axis, where its variables have values.
    fn end(&self, v: Var, point: &BTreeMap<Var, i64>) -> Option<i64> {
        let extent = |e: &Sym| self.facts.rewrite(e).eval(&|w| point.get(&w).copied()).ok();
        let extents = self.facts.below(v).map(extent).collect::<Option<Vec<_>>>()?;
        extents.into_iter().chain(self.facts.max(v).and_then(|m| m.checked_add(1))).min()
    }
}
