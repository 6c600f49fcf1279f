//! Nests: stages of pointwise code, reductions and scans.
//!
//! Every reduction ends a stage: values that need its result belong to later stages. Values that do not vary over inner
//! axes are computed once per grid point, between the stages; the rest is evaluated again in each stage that needs it,
//! except costly values, which stay resident where the whole row fits.

use std::collections::{BTreeMap, BTreeSet};

use base::{HashMap, Numerics, Result};
use kernel::{AxisSet, ValueId, op_cost};
use program::{Instr, Nest, Reg, Sequence, Stage, TileAxis, TileProgram, Ty};
use scalar::{Combiner, DType, ScalarOp};
use smallvec::{SmallVec, smallvec};

use crate::emit::Emit;
use crate::flat::{Flat, FlatDef, Root};
use crate::partial::{Block, Partial, components};
use crate::schedule::Tiles;
use crate::stages::{Loops, Plan, Stages};
use crate::unsupported;

/// Most bytes of one resident value per tile.
const RESIDENT_BYTES: i64 = 128 << 10;
/// Work (in cheap operations) from which a value is kept rather than evaluated again.
const RESIDENT_COST: f64 = 5.0;

/// Lowers a comp without matrix products to a nest; with a block, to one whose grid points take blocks of an axis and leave
/// partial results.
pub(crate) fn lower(
    flat: &Flat,
    tiles: Tiles,
    block: Option<&Block>,
    numerics: Numerics,
    program: &mut TileProgram,
) -> Result<Nest> {
    let partials = block.map_or(&[][..], |b| &b.partials);
    let mut emit = Emit::new(flat, numerics, &mut program.checks);
    emit.rows = tiles.rows.map(|t| t.0);
    emit.cols = tiles.cols.map(|t| t.0);
    let mut lowering = Lowering {
        flat,
        tiles,
        partials,
        order: Stages::new(flat, partials),
        emit,
        stages: Vec::new(),
        before: Vec::new(),
        after: Vec::new(),
    };
    lowering.run()?;
    let sequential = |a: usize| block.is_some_and(|b| b.axis == a || b.within.contains(&a));
    let numbers_blocks = |a: usize| block.is_some_and(|b| b.block == a);
    let in_grid = |a: usize| !flat.inner.has(a) && !sequential(a) && (flat.extents[a] != 1 || numbers_blocks(a));
    let grid = flat.order.iter().copied().filter(|&a| in_grid(a)).collect();
    let (before, after) = (lowering.before, lowering.after);
    let tile_axis = |t: Option<(usize, usize)>| t.map(|(axis, tile)| TileAxis { axis, tile });
    Ok(Nest {
        extents: flat.extents.clone(),
        grid,
        rows: tile_axis(tiles.rows),
        cols: tile_axis(tiles.cols),
        regs: lowering.emit.regs,
        stages: lowering.stages,
        serial: block.is_none() && flat.stores.iter().any(|s| s.collides),
        sequence: block.map(|b| Sequence {
            axis: b.axis,
            within: b.within.clone(),
            block: b.block,
            length: b.length,
            before,
            after,
        }),
    })
}

struct Lowering<'a> {
    flat: &'a Flat,
    tiles: Tiles,
    partials: &'a [Partial],
    order: Stages<'a>,
    emit: Emit<'a>,
    stages: Vec<Stage>,
    /// Stages before and after a block.
    before: Vec<Stage>,
    after: Vec<Stage>,
}

impl Lowering<'_> {
    fn run(&mut self) -> Result<()> {
        let plan = self.order.plan();
        let resident = self.residents(&plan);
        let levels: BTreeSet<usize> = plan.keys().map(|k| k.level).collect();
        for level in levels {
            self.prelude(level)?;
            for (loops, roots) in plan.iter().filter(|(loops, _)| loops.level == level) {
                let stored_already = |r: &Root| loops.axes.is_empty() && matches!(r, Root::Store(_));
                let roots: Vec<Root> = roots.iter().copied().filter(|r| !stored_already(r)).collect();
                if !roots.is_empty() {
                    self.loop_stage(loops, &roots, &resident)?;
                }
            }
        }
        Ok(())
    }

    /// Costly values that several loop stages over the same axes need, and that fit.
    fn residents(&self, plan: &Plan) -> BTreeSet<ValueId> {
        let mut stages_of: BTreeMap<ValueId, Vec<AxisSet>> = BTreeMap::new();
        for (loops, roots) in plan {
            for v in self.order.reachable(roots) {
                if !self.order.inner_of(self.flat.value(v).free).is_empty() {
                    stages_of.entry(v).or_default().push(loops.axes);
                }
            }
        }
        let tile: AxisSet = [self.tiles.rows, self.tiles.cols].into_iter().flatten().map(|t| t.0).collect();
        let candidates = stages_of.into_iter().filter(|(v, stages)| {
            let inner = self.order.inner_of(self.flat.value(*v).free);
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

    /// Values and stores that do not vary over inner axes and need `level` reductions.
    fn prelude(&mut self, level: usize) -> Result<()> {
        let flat = self.flat;
        for id in 0..flat.values.len() as ValueId {
            let ready = self.order.when[id as usize] == level && self.order.needed[id as usize];
            if ready && self.order.inner_of(flat.value(id).free).is_empty() && !self.emit.have.contains_key(&id) {
                self.emit.value(id)?;
            }
        }
        for s in &flat.stores {
            if self.order.store_level(s) == level && self.order.inner_of(self.order.store_free(s)).is_empty() {
                self.emit.store(s)?;
            }
        }
        let code = self.emit.take_code();
        if !code.is_empty() {
            self.stages.push(Stage { code, ..Stage::default() });
        }
        Ok(())
    }

    fn loop_stage(&mut self, loops: &Loops, roots: &[Root], resident: &BTreeSet<ValueId>) -> Result<()> {
        let axes = loops.axes;
        let before = self.emit.have.clone();
        let mut stage = Stage::default();
        let mut finish = Vec::new();
        let mut results: HashMap<ValueId, Reg> = HashMap::default();
        self.scans(&self.order.reachable(roots), &mut stage)?;
        for &root in roots {
            match root {
                Root::Store(i) => self.emit.store(&self.flat.stores[i])?,
                Root::Value(v) => match self.partials.iter().find(|p| p.value == v) {
                    Some(partial) => self.accumulate_partial(partial, axes)?,
                    None => self.accumulate(v, axes, &mut stage, &mut finish, &mut results)?,
                },
            }
        }
        let mut have = before;
        for &v in resident {
            if let Some(&r) = self.emit.have.get(&v) {
                self.emit.regs[r as usize].resident = self.order.inner_of(self.flat.value(v).free).0;
                have.insert(v, r);
            }
        }
        have.extend(results);
        self.emit.restore(have);
        stage.code = self.emit.take_code();
        stage.finish = finish;
        stage.inner = self.flat.order.iter().copied().filter(|&a| axes.has(a)).collect();
        stage.ends = loops.ends.clone();
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
        let (combiner, acc) = self.reduce(v, axes)?;
        stage.init.push((combiner, acc.clone()));
        let code = self.emit.take_code();
        let dtypes = components(flat, v)?;
        for (k, (&r, (_, from))) in acc.iter().zip(&dtypes).enumerate() {
            let to = if k == 0 { value.dtype } else { *from };
            let wrapped = to.is_low() || matches!(to, DType::I8 | DType::U8 | DType::I16 | DType::U16 | DType::U32);
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

    /// Emits the step of a reduction; gives its combiner and accumulators.
    fn reduce(&mut self, v: ValueId, axes: AxisSet) -> Result<(Combiner, SmallVec<[Reg; 3]>)> {
        let flat = self.flat;
        let value = flat.value(v);
        let dtypes = components(flat, v)?;
        let over = flat.live(axes.union(value.def.reduced()));
        let src: SmallVec<[Reg; 3]> = match &value.def {
            FlatDef::Reduce { src, index, .. } => {
                let mut regs = SmallVec::new();
                for &s in src.iter().chain(index.iter()) {
                    let r = self.emit.value(s)?;
                    regs.push(self.emit.spread(r, flat.value(s).dtype, over)?);
                }
                regs
            }
            FlatDef::Contract { a, b, acc, .. } => smallvec![self.product(*a, *b, *acc, over)?],
            FlatDef::Merge { states, axes, .. } => {
                let free = value.free.union(*axes);
                let parts = states.iter().zip(&dtypes);
                parts.map(|((arg, index), (_, d))| self.emit.state(*arg, index, Ty::of(*d), free)).collect::<Result<_>>()?
            }
            _ => return Err(unsupported("not a reduction")),
        };
        let combiner = dtypes[0].0;
        let free = value.free;
        let acc = dtypes.iter().map(|(_, d)| self.emit.reg_over(Ty::of(*d), free)).collect::<Result<SmallVec<[Reg; 3]>>>()?;
        let merge = matches!(value.def, FlatDef::Merge { .. });
        self.emit.code.push(Instr::Reduce { combiner, acc: acc.clone(), src, merge });
        Ok((combiner, acc))
    }

    /// Accumulates a reduction over a block: set before it, stored after it.
    fn accumulate_partial(&mut self, partial: &Partial, axes: AxisSet) -> Result<()> {
        let flat = self.flat;
        let (combiner, acc) = self.reduce(partial.value, axes)?;
        let kept = self.order.inner_of(flat.value(partial.value).free);
        let inner: SmallVec<[usize; 6]> = flat.order.iter().copied().filter(|&a| kept.has(a)).collect();
        acc.iter().for_each(|&r| self.emit.regs[r as usize].resident = kept.0);
        let init = Instr::Init { combiner, acc: acc.clone() };
        self.before.push(Stage { inner: inner.clone(), code: vec![init], ..Stage::default() });
        let store = |(&src, (arg, index)): (&Reg, &(usize, crate::lin::Lin))| {
            Ok(Instr::Store { param: *arg as u16, index: flat.affine(index, &Some)?, mask: Vec::new(), src })
        };
        let code = acc.iter().zip(&partial.states).map(store).collect::<Result<Vec<_>>>()?;
        self.after.push(Stage { inner, code, ..Stage::default() });
        Ok(())
    }

    fn product(&mut self, a: ValueId, b: ValueId, acc: DType, over: AxisSet) -> Result<Reg> {
        let mut wide = [0; 2];
        for (slot, v) in wide.iter_mut().zip([a, b]) {
            let dtype = self.flat.value(v).dtype;
            let r = self.emit.value(v)?;
            *slot = if Ty::of(dtype) == Ty::of(acc) { r } else { self.emit.op(ScalarOp::Cast(acc), dtype, acc, &[r])? };
        }
        let product = self.emit.op(ScalarOp::Mul, acc, acc, &wide)?;
        self.emit.spread(product, acc, over)
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
                let low = to.is_low();
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
