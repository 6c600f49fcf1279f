//! Nests: stages of pointwise code, reductions and scans.
//!
//! Every reduction ends a stage: values that need its result belong to later stages. Values that do not vary over inner
//! axes are computed once per grid point, between the stages; the rest is evaluated again in each stage that needs it,
//! except costly values, which stay resident where the whole row fits.

use std::collections::{BTreeMap, BTreeSet};

use base::{HashMap, Numerics, Result};
use kernel::{AxisSet, ValueId, op_cost};
use program::{Instr, Nest, Reg, Stage, TileAxis, TileProgram, Ty};
use scalar::{Combiner, DType, ScalarOp};
use smallvec::{SmallVec, smallvec};

use crate::emit::Emit;
use crate::flat::{Flat, FlatDef};
use crate::schedule::{Tiles, tiles};
use crate::unsupported;

/// Most bytes of one resident value per tile.
const RESIDENT_BYTES: i64 = 128 << 10;
/// Work (in cheap operations) from which a value is kept rather than evaluated again.
const RESIDENT_COST: f64 = 5.0;

/// Lowers a comp without matrix products to a nest.
pub(crate) fn lower(flat: &Flat, numerics: Numerics, program: &mut TileProgram) -> Result<Nest> {
    let tiles = tiles(flat);
    let mut emit = Emit::new(flat, numerics, &mut program.checks);
    emit.rows = tiles.rows.map(|t| t.0);
    emit.cols = tiles.cols.map(|t| t.0);
    let mut lowering = Lowering { flat, tiles, when: availability(flat), needed: needed(flat), emit, stages: Vec::new() };
    lowering.run()?;
    let grid = flat.order.iter().copied().filter(|&a| !flat.inner.has(a) && flat.extents[a] != 1).collect();
    let tile_axis = |t: Option<(usize, usize)>| t.map(|(axis, tile)| TileAxis { axis, tile });
    Ok(Nest {
        extents: flat.extents.clone(),
        grid,
        rows: tile_axis(tiles.rows),
        cols: tile_axis(tiles.cols),
        regs: lowering.emit.regs,
        stages: lowering.stages,
        serial: flat.stores.iter().any(|s| s.collides),
    })
}

/// For each value, how many reductions must be complete before it can be computed.
fn availability(flat: &Flat) -> Vec<usize> {
    let mut when = vec![0; flat.values.len()];
    for id in 0..flat.values.len() as ValueId {
        let before = flat.operands(id).iter().map(|&o| when[o as usize]).max().unwrap_or(0);
        let reduces = matches!(flat.value(id).def, FlatDef::Reduce { .. } | FlatDef::Contract { .. });
        when[id as usize] = before + usize::from(reduces);
    }
    when
}

/// Which values some store depends on.
fn needed(flat: &Flat) -> Vec<bool> {
    let mut needed = vec![false; flat.values.len()];
    for s in &flat.stores {
        flat.store_operands(s).iter().for_each(|&v| needed[v as usize] = true);
    }
    for id in (0..needed.len()).rev() {
        if needed[id] {
            flat.operands(id as ValueId).iter().for_each(|&o| needed[o as usize] = true);
        }
    }
    needed
}

/// What a stage must produce: accumulate reductions, or store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Root {
    Value(ValueId),
    Store(usize),
}

struct Lowering<'a> {
    flat: &'a Flat,
    tiles: Tiles,
    when: Vec<usize>,
    needed: Vec<bool>,
    emit: Emit<'a>,
    stages: Vec<Stage>,
}

/// Inner axes of a loop stage and its roots, keyed by (completed reductions, axes).
type Plan = BTreeMap<(usize, AxisSet), Vec<Root>>;

impl Lowering<'_> {
    fn inner_of(&self, set: AxisSet) -> AxisSet {
        self.flat.live(set.and(self.flat.inner))
    }

    fn run(&mut self) -> Result<()> {
        let plan = self.plan();
        let resident = self.residents(&plan);
        let levels: BTreeSet<usize> = plan.keys().map(|k| k.0).collect();
        for level in levels {
            self.prelude(level)?;
            for ((_, axes), roots) in plan.iter().filter(|((l, _), _)| *l == level) {
                let stored_already = |r: &Root| axes.is_empty() && matches!(r, Root::Store(_));
                let roots: Vec<Root> = roots.iter().copied().filter(|r| !stored_already(r)).collect();
                if !roots.is_empty() {
                    self.loop_stage(*axes, &roots, &resident)?;
                }
            }
        }
        Ok(())
    }

    fn plan(&self) -> Plan {
        let mut plan = Plan::new();
        for id in 0..self.flat.values.len() as ValueId {
            let (FlatDef::Reduce { axes, .. } | FlatDef::Contract { axes, .. }) = &self.flat.value(id).def else { continue };
            if self.needed[id as usize] {
                let varies = self.flat.operands(id).iter().fold(*axes, |s, &o| s.union(self.flat.value(o).free));
                let level = self.when[id as usize] - 1;
                plan.entry((level, self.inner_of(varies))).or_default().push(Root::Value(id));
            }
        }
        for (i, s) in self.flat.stores.iter().enumerate() {
            let operands = self.flat.store_operands(s);
            let level = operands.iter().map(|&v| self.when[v as usize]).max().unwrap_or(0);
            let free = operands.iter().fold(self.flat.axes_of(&s.index), |set, &v| set.union(self.flat.value(v).free));
            plan.entry((level, self.inner_of(free))).or_default().push(Root::Store(i));
        }
        plan
    }

    /// Costly values that several loop stages over the same axes need, and that fit.
    fn residents(&self, plan: &Plan) -> BTreeSet<ValueId> {
        let mut stages_of: BTreeMap<ValueId, Vec<AxisSet>> = BTreeMap::new();
        for ((_, axes), roots) in plan {
            for v in self.reachable(roots) {
                if !self.inner_of(self.flat.value(v).free).is_empty() {
                    stages_of.entry(v).or_default().push(*axes);
                }
            }
        }
        let tile: AxisSet = [self.tiles.rows, self.tiles.cols].into_iter().flatten().map(|t| t.0).collect();
        let candidates = stages_of.into_iter().filter(|(v, stages)| {
            let inner = self.inner_of(self.flat.value(*v).free);
            let fits = self.resident_bytes(*v) <= RESIDENT_BYTES && inner.minus(tile).is_empty();
            stages.len() > 1 && stages.iter().all(|s| *s == stages[0] && *s == inner) && fits
        });
        let candidates: BTreeSet<ValueId> = candidates.map(|c| c.0).collect();
        let costly = candidates.iter().copied().filter(|&v| self.work(v, &candidates) >= RESIDENT_COST);
        costly.collect()
    }

    fn resident_bytes(&self, v: ValueId) -> i64 {
        let value = self.flat.value(v);
        let span = |t: Option<(usize, usize)>| match t {
            Some((a, _)) if value.free.has(a) && self.flat.inner.has(a) => self.flat.extents[a],
            Some((a, tile)) if value.free.has(a) => tile as i64,
            _ => 1,
        };
        span(self.tiles.rows) * span(self.tiles.cols) * Ty::of(value.dtype).size() as i64
    }

    /// Work of evaluating a value again in a later stage.
    fn work(&self, v: ValueId, candidates: &BTreeSet<ValueId>) -> f64 {
        let own = match &self.flat.value(v).def {
            FlatDef::Op(op, _) => op_cost(*op),
            FlatDef::Load { index, .. } if !index.is_affine() => 4.0,
            FlatDef::Scan { .. } => f64::INFINITY,
            _ => return 0.0,
        };
        let below = self.flat.operands(v).into_iter().filter(|o| candidates.contains(o)).map(|o| self.work(o, candidates));
        own + below.sum::<f64>()
    }

    /// Values that a stage's roots need, down to completed reductions.
    fn reachable(&self, roots: &[Root]) -> BTreeSet<ValueId> {
        let mut stack: Vec<ValueId> = roots.iter().flat_map(|r| self.root_operands(*r)).collect();
        let mut seen = BTreeSet::new();
        while let Some(v) = stack.pop() {
            let done = matches!(self.flat.value(v).def, FlatDef::Reduce { .. } | FlatDef::Contract { .. });
            if !done && seen.insert(v) {
                stack.extend(self.flat.operands(v));
            }
        }
        seen
    }

    fn root_operands(&self, root: Root) -> SmallVec<[ValueId; 4]> {
        match root {
            Root::Value(v) => self.flat.operands(v),
            Root::Store(i) => self.flat.store_operands(&self.flat.stores[i]),
        }
    }

    /// Values and stores that do not vary over inner axes and need `level` reductions.
    fn prelude(&mut self, level: usize) -> Result<()> {
        let flat = self.flat;
        for id in 0..flat.values.len() as ValueId {
            let ready = self.when[id as usize] == level && self.needed[id as usize];
            if ready && self.inner_of(flat.value(id).free).is_empty() && !self.emit.have.contains_key(&id) {
                self.emit.value(id)?;
            }
        }
        for s in &flat.stores {
            let operands = flat.store_operands(s);
            let ready = operands.iter().map(|&v| self.when[v as usize]).max() == Some(level);
            let free = operands.iter().fold(flat.axes_of(&s.index), |set, &v| set.union(flat.value(v).free));
            if ready && self.inner_of(free).is_empty() {
                self.emit.store(s)?;
            }
        }
        let code = self.emit.take_code();
        if !code.is_empty() {
            self.stages.push(Stage { code, ..Stage::default() });
        }
        Ok(())
    }

    fn loop_stage(&mut self, axes: AxisSet, roots: &[Root], resident: &BTreeSet<ValueId>) -> Result<()> {
        let before = self.emit.have.clone();
        let mut stage = Stage::default();
        let mut finish = Vec::new();
        let mut results: HashMap<ValueId, Reg> = HashMap::default();
        self.scans(&self.reachable(roots), &mut stage)?;
        for &root in roots {
            match root {
                Root::Store(i) => self.emit.store(&self.flat.stores[i])?,
                Root::Value(v) => self.accumulate(v, axes, &mut stage, &mut finish, &mut results)?,
            }
        }
        let mut have = before;
        for &v in resident {
            if let Some(&r) = self.emit.have.get(&v) {
                self.emit.regs[r as usize].resident = true;
                have.insert(v, r);
            }
        }
        have.extend(results);
        self.emit.restore(have);
        stage.code = self.emit.take_code();
        stage.finish = finish;
        stage.inner = self.flat.order.iter().copied().filter(|&a| axes.has(a)).collect();
        self.stages.push(stage);
        Ok(())
    }

    /// Accumulates a reduction in this stage; its results are registers after `finish`.
    fn accumulate(
        &mut self,
        v: ValueId,
        axes: AxisSet,
        stage: &mut Stage,
        finish: &mut Vec<Instr>,
        results: &mut HashMap<ValueId, Reg>,
    ) -> Result<()> {
        let flat = self.flat;
        let value = flat.value(v);
        let (combiner, src, dtypes) = match &value.def {
            FlatDef::Reduce { combiner, src, index, .. } => {
                let operands: Vec<DType> = src.iter().map(|&s| flat.value(s).dtype).collect();
                let dtypes = combiner.results(&operands).map_err(|e| unsupported(&e))?;
                let mut regs: SmallVec<[Reg; 3]> = SmallVec::new();
                for &s in src.iter().chain(index.iter()) {
                    let r = self.emit.value(s)?;
                    regs.push(self.emit.spread(r, flat.value(s).dtype, flat.live(axes))?);
                }
                (*combiner, regs, dtypes)
            }
            FlatDef::Contract { a, b, acc, .. } => (Combiner::Sum, smallvec![self.product(*a, *b, *acc, axes)?], vec![*acc]),
            _ => return Err(unsupported("not a reduction")),
        };
        let acc = dtypes.iter().map(|d| self.emit.reg_over(Ty::of(*d), value.free)).collect::<Result<SmallVec<[Reg; 3]>>>()?;
        stage.init.push((combiner, acc.clone()));
        self.emit.code.push(Instr::Reduce { combiner, acc: acc.clone(), src, merge: false });
        let code = self.emit.take_code();
        for (k, (&r, from)) in acc.iter().zip(&dtypes).enumerate() {
            let to = if matches!(value.def, FlatDef::Contract { .. }) { value.dtype } else { *from };
            let wrapped = matches!(to, DType::F16 | DType::BF16 | DType::I8 | DType::U8 | DType::I16 | DType::U16 | DType::U32);
            let wide = match Ty::of(to) {
                Ty::F32 => DType::F32,
                Ty::I32 => DType::I32,
                _ => DType::I64,
            };
            let r = if wrapped { self.emit.op(ScalarOp::Cast(to), wide, to, &[r])? } else { r };
            if k == 0 {
                results.insert(v, r);
            }
            for id in 0..flat.values.len() as ValueId {
                if matches!(flat.value(id).def, FlatDef::Component(of, i) if of == v && i == k) {
                    results.insert(id, r);
                }
            }
        }
        finish.extend(self.emit.take_code());
        self.emit.code = code;
        Ok(())
    }

    fn product(&mut self, a: ValueId, b: ValueId, acc: DType, axes: AxisSet) -> Result<Reg> {
        let mut wide = [0; 2];
        for (slot, v) in wide.iter_mut().zip([a, b]) {
            let dtype = self.flat.value(v).dtype;
            let r = self.emit.value(v)?;
            *slot = if Ty::of(dtype) == Ty::of(acc) { r } else { self.emit.op(ScalarOp::Cast(acc), dtype, acc, &[r])? };
        }
        let product = self.emit.op(ScalarOp::Mul, acc, acc, &wide)?;
        self.emit.spread(product, acc, self.flat.live(axes))
    }

    /// Emits the scans that a stage needs, with their carries.
    fn scans(&mut self, reachable: &BTreeSet<ValueId>, stage: &mut Stage) -> Result<()> {
        for &v in reachable {
            let FlatDef::Scan { combiner, src, axis, index } = &self.flat.value(v).def else { continue };
            if self.emit.have.contains_key(&v) {
                continue;
            }
            let along_rows = self.tiles.rows.is_some_and(|t| t.0 == *axis);
            let along_cols = self.tiles.cols.is_some_and(|t| t.0 == *axis);
            let operands: Vec<DType> = src.iter().map(|&s| self.flat.value(s).dtype).collect();
            let dtypes = combiner.results(&operands).map_err(|e| unsupported(&e))?;
            let free = self.flat.value(v).free;
            let mut regs: SmallVec<[Reg; 3]> = SmallVec::new();
            for &s in src.iter().chain(index.iter()) {
                let r = self.emit.value(s)?;
                regs.push(self.emit.spread(r, self.flat.value(s).dtype, free)?);
            }
            let carried = free.minus(AxisSet::one(*axis));
            let carry = dtypes.iter().map(|d| self.emit.reg_over(Ty::of(*d), carried)).collect::<Result<SmallVec<[Reg; 3]>>>()?;
            stage.init.push((*combiner, carry.clone()));
            let dst: SmallVec<[Reg; 3]> = if along_rows || along_cols {
                let dst = dtypes.iter().map(|d| self.emit.reg_over(Ty::of(*d), free)).collect::<Result<SmallVec<[Reg; 3]>>>()?;
                self.emit.code.push(Instr::Scan { combiner: *combiner, dst: dst.clone(), carry, src: regs, along_rows });
                dst
            } else {
                self.emit.code.push(Instr::Reduce { combiner: *combiner, acc: carry.clone(), src: regs, merge: false });
                carry
            };
            for (k, &r) in dst.iter().enumerate() {
                let to = dtypes[k];
                let low = matches!(to, DType::F16 | DType::BF16);
                let r = if low { self.emit.op(ScalarOp::Cast(to), DType::F32, to, &[r])? } else { r };
                if k == 0 {
                    self.emit.have.insert(v, r);
                }
                for id in 0..self.flat.values.len() as ValueId {
                    if matches!(self.flat.value(id).def, FlatDef::Component(of, i) if of == v && i == k) {
                        self.emit.have.insert(id, r);
                    }
                }
            }
        }
        Ok(())
    }
}
