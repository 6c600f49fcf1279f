//! Turns bodies and nests into prepared code.

use std::collections::BTreeMap;

use base::{Error, Result};
use program::{Body, Instr, Param, Reg, RegDecl, Ty};
use scalar::{Combiner, DType, ScalarOp};
use smallvec::SmallVec;

use super::code::{Access, Alu, Fold, FoldLoops, Generic, Indirect, Operand, Prepared, RegInfo, Resident, Shape, Step};
use super::layout::{self, Extents};
use super::mask::{Lin, Mask};
use super::peephole::{self, Pairing};
use super::types;
use simd::ops::{self, Arith};
use simd::{convert, fold, pairs};

/// Code of one list and what runs before it.
pub(crate) struct List<'a> {
    pub(crate) init: &'a [(Combiner, SmallVec<[Reg; 3]>)],
    pub(crate) code: &'a [Instr],
    /// A register that is read after the list has run.
    pub(crate) result: Option<Reg>,
}

/// What surrounds the code.
pub(crate) struct Context<'a> {
    pub(crate) params: &'a [Param],
    pub(crate) row_axis: Option<usize>,
    pub(crate) col_axis: Option<usize>,
    pub(crate) extents: Extents,
}

/// Prepares a body of a product: tiles of at most `rows × cols` points along the given (row, column) axes. `result` is a
/// register that the caller reads from the frame afterwards.
///
/// # Errors
/// An instruction that no loop exists for (an internal error: the verifier accepts none).
pub(crate) fn body(
    body: &Body,
    params: &[Param],
    axes: (Option<usize>, Option<usize>),
    (rows, cols): (usize, usize),
    result: Option<Reg>,
) -> Result<Prepared> {
    let extents = Extents { tile: (rows, cols), whole: (rows, cols), inner: SmallVec::new() };
    let context = Context { params, row_axis: axes.0, col_axis: axes.1, extents };
    code(&body.regs, &[List { init: &[], code: &body.code, result }], &context)
}

/// Prepares code lists over shared registers.
///
/// # Errors
/// An instruction that no loop exists for.
pub(crate) fn code(regs: &[RegDecl], lists: &[List<'_>], context: &Context<'_>) -> Result<Prepared> {
    let dtypes = types::infer(regs, lists, context.params);
    let info = |(decl, dtype): (&RegDecl, &DType)| RegInfo {
        ty: decl.ty,
        size: decl.ty.size(),
        rows: decl.rows,
        cols: decl.cols,
        resident: decl.resident,
        dtype: *dtype,
        home: 0,
    };
    let regs: Vec<RegInfo> = regs.iter().zip(&dtypes).map(info).collect();
    let mut builder = Builder { regs, context, consts: Vec::new(), lost: BTreeMap::new() };
    let pairings: Vec<Pairing> = lists.iter().map(|l| peephole::pair(l.code, &builder.regs, lists, context.params)).collect();
    let mut prepared = Vec::with_capacity(lists.len());
    for (list, pairing) in lists.iter().zip(&pairings) {
        prepared.push(builder.list(list, pairing, lists)?);
    }
    Ok(builder.finish(lists, &pairings, prepared))
}

struct Builder<'a> {
    regs: Vec<RegInfo>,
    context: &'a Context<'a>,
    consts: Vec<(Reg, u64)>,
    /// Compensation register of each f32 sum.
    lost: BTreeMap<Reg, Reg>,
}

impl Builder<'_> {
    fn reg(&self, reg: Reg) -> &RegInfo {
        &self.regs[usize::from(reg)]
    }

    /// A register of the VM's own.
    fn hidden(&mut self, like: RegInfo) -> Reg {
        self.regs.push(like);
        (self.regs.len() - 1) as Reg
    }

    fn hidden_const(&mut self, ty: Ty, bits: u64) -> Reg {
        let dtype = types::natural(ty);
        let reg = self.hidden(RegInfo { ty, size: ty.size(), rows: false, cols: false, resident: 0, dtype, home: 0 });
        self.consts.push((reg, bits));
        reg
    }

    fn finish(self, lists: &[List<'_>], pairings: &[Pairing], prepared: Vec<Vec<Step>>) -> Prepared {
        let mut regs = self.regs;
        let context = self.context;
        let plan = layout::assign(&mut regs, lists, pairings, &context.extents);
        let residents = (0..regs.len()).filter(|&r| regs[r].resident != 0).map(|r| resident(r, &regs[r], context)).collect();
        Prepared { regs, residents, consts: self.consts, lists: prepared, arena: plan.arena, temp: plan.temp }
    }

    fn list(&mut self, list: &List<'_>, pairing: &Pairing, lists: &[List<'_>]) -> Result<Vec<Step>> {
        let mut steps = Vec::new();
        for (combiner, accs) in list.init {
            self.init(*combiner, accs, &mut steps);
        }
        for (at, instr) in list.code.iter().enumerate() {
            if pairing.is_first(at) {
                continue;
            }
            if let Instr::Init { combiner, acc } = instr {
                self.init(*combiner, acc, &mut steps);
                continue;
            }
            let step = match pairing.first_of(at) {
                Some(first) => Some(self.pair(&list.code[first], instr)?),
                None => self.step(list, at, instr, lists)?,
            };
            steps.extend(step);
        }
        self.place_results(&mut steps);
        Ok(steps)
    }

    fn init(&mut self, combiner: Combiner, accs: &[Reg], steps: &mut Vec<Step>) {
        let state = combiner.init(self.reg(accs[0]).dtype);
        for (&reg, scalar) in accs.iter().zip(&state) {
            steps.push(Step::Init { reg, bits: types::register_bits(self.reg(reg).ty, *scalar) });
        }
        if let Some(lost) = self.compensation(combiner, accs[0]) {
            steps.push(Step::Init { reg: lost, bits: 0 });
        }
    }

    /// The hidden second component of an f32 sum.
    fn compensation(&mut self, combiner: Combiner, acc: Reg) -> Option<Reg> {
        if combiner != Combiner::Sum || self.reg(acc).ty != Ty::F32 {
            return None;
        }
        if let Some(&lost) = self.lost.get(&acc) {
            return Some(lost);
        }
        let lost = self.hidden(*self.reg(acc));
        self.lost.insert(acc, lost);
        Some(lost)
    }

    /// Lets pointwise results be computed right into the memory that a later store writes.
    fn place_results(&self, steps: &mut [Step]) {
        for at in 0..steps.len() {
            let Step::Store(store) = &steps[at] else { continue };
            let info = self.reg(store.reg);
            let writable = self.context.params[store.param].access == program::Access::Write;
            if store.convert.is_some() || info.resident != 0 || !writable || (store.rows, store.cols) != (info.rows, info.cols) {
                continue;
            }
            let reg = store.reg;
            for step in &mut steps[..at] {
                if let Step::Alu(alu) = step
                    && alu.dst == reg
                    && alu.out.is_none()
                {
                    alu.out = Some(at);
                }
            }
        }
    }

    fn lin(&self, affine: &program::Affine) -> Lin {
        Lin::new(affine, self.context.row_axis, self.context.col_axis)
    }

    fn mask(&self, bounds: &[program::Bound]) -> Mask {
        Mask::new(bounds, self.context.row_axis, self.context.col_axis)
    }

    fn step(&mut self, list: &List<'_>, at: usize, instr: &Instr, lists: &[List<'_>]) -> Result<Option<Step>> {
        Ok(Some(match instr {
            Instr::Const { dst, bits } => {
                self.consts.push((*dst, *bits));
                return Ok(None);
            }
            Instr::Index { dst, expr } => Step::Index { dst: *dst, lin: self.lin(expr) },
            Instr::Mask { dst, bounds } => Step::Mask { dst: *dst, mask: self.mask(bounds) },
            Instr::Load { dst, .. } => {
                let alias = self.reg(*dst).resident == 0 && peephole::may_alias(list.code, at, lists, self.context.params);
                self.load(instr, alias)
            }
            Instr::Store { .. } => self.store(instr),
            Instr::LoadAt { .. } | Instr::StoreAt { .. } => self.indirect(instr),
            Instr::Check { dst, value, limit, mask, message } => {
                Step::Check { dst: *dst, value: *value, limit: *limit, mask: *mask, message: *message }
            }
            Instr::Op { op, dtype, round, dst, args } => self.op(*op, *dtype, *round, *dst, args)?,
            Instr::Init { .. } => unreachable!("the list sets accumulators"),
            Instr::Reduce { combiner, acc, src, merge } => Step::Reduce(self.fold(*combiner, (acc, src, &[]), *merge)?),
            Instr::Scan { combiner, dst, carry, src, along_rows } => {
                Step::Scan { fold: self.fold(*combiner, (carry, src, dst), false)?, along_rows: *along_rows }
            }
            Instr::Acc { dst, which } => Step::Acc { dst: *dst, which: usize::from(*which) },
        }))
    }

    fn load(&self, instr: &Instr, alias: bool) -> Step {
        let Instr::Load { dst, param, index, mask, fill } = instr else { unreachable!("caller matched a load") };
        let (param, info) = (usize::from(*param), self.reg(*dst));
        let dtype = self.context.params[param].dtype;
        Step::Load(Box::new(Access {
            reg: *dst,
            param,
            size: dtype.size(),
            lin: self.lin(index),
            mask: self.mask(mask),
            rows: info.rows,
            cols: info.cols,
            convert: convert::widen(dtype),
            fill: *fill,
            alias,
        }))
    }

    fn store(&self, instr: &Instr) -> Step {
        let Instr::Store { param, index, mask, src } = instr else { unreachable!("caller matched a store") };
        let (param, info) = (usize::from(*param), self.reg(*src));
        let dtype = self.context.params[param].dtype;
        let (lin, mask) = (self.lin(index), self.mask(mask));
        let varies = mask.varies();
        Step::Store(Box::new(Access {
            reg: *src,
            param,
            size: dtype.size(),
            rows: info.rows || lin.row != 0 || varies.0,
            cols: info.cols || lin.col != 0 || varies.1,
            lin,
            mask,
            convert: convert::narrow(dtype),
            fill: 0,
            alias: false,
        }))
    }

    fn indirect(&self, instr: &Instr) -> Step {
        let (reg, param, index, offset, mask, combine, is_load) = match instr {
            Instr::LoadAt { dst, param, index, offset, mask } => (*dst, *param, index, *offset, *mask, None, true),
            Instr::StoreAt { param, index, offset, mask, src, combine } => (*src, *param, index, *offset, *mask, *combine, false),
            _ => unreachable!("caller matched an indirect access"),
        };
        let (lin, info) = (self.lin(index), *self.reg(reg));
        let fixed = [Some(offset), mask].into_iter().flatten();
        let (mut rows, mut cols) = (info.rows, info.cols);
        if !is_load {
            rows |= lin.row != 0 || fixed.clone().any(|r| self.reg(r).rows);
            cols |= lin.col != 0 || fixed.clone().any(|r| self.reg(r).cols);
        }
        let declared = &self.context.params[usize::from(param)];
        let row_wise = cols && info.cols && lin.col == 1 && !fixed.clone().any(|r| self.reg(r).cols);
        let convert = if is_load { convert::widen(declared.dtype) } else { convert::narrow(declared.dtype) };
        let both_vectors = 0b11;
        let combine_row = combine
            .filter(|_| row_wise && convert.is_none())
            .and_then(|op| ops::binary(op, Arith::of(declared.dtype), both_vectors));
        let indirect = Indirect {
            reg,
            param: usize::from(param),
            dtype: declared.dtype,
            elements: declared.elements,
            lin,
            offset,
            mask,
            rows,
            cols,
            convert,
            combine,
            combine_row,
            row_wise: row_wise && (combine.is_none() || combine_row.is_some()),
        };
        if is_load { Step::LoadAt(Box::new(indirect)) } else { Step::StoreAt(Box::new(indirect)) }
    }

    fn operand(&self, reg: Reg, dst: &RegInfo) -> Operand {
        let info = self.reg(reg);
        Operand { reg, shape: shape(info, dst), size: info.size }
    }

    fn op(&mut self, op: ScalarOp, dtype: DType, round: bool, dst: Reg, args: &[Reg]) -> Result<Step> {
        let info = *self.reg(dst);
        let mut operands: SmallVec<[Operand; 3]> = args.iter().map(|&a| self.operand(a, &info)).collect();
        let vectors = operands.iter().enumerate().fold(0u8, |v, (i, o)| v | (u8::from(o.shape.is_vector()) << i));
        // Without a vector operand one element is computed, from vectors of one element, and repeated.
        let splat = vectors == 0;
        let forms = if splat { 7 } else { vectors };
        let post = types::post(op, dtype, round);
        let arith = Arith::of(dtype);
        let leaf = match (op, args.len()) {
            (ScalarOp::Cast(to), _) => Some(convert::cast(dtype, to)),
            (ScalarOp::Philox(stream), _) => {
                let reg = self.hidden_const(Ty::I32, u64::from(stream));
                operands.push(self.operand(reg, &info));
                Some(ops::philox_leaf(forms))
            }
            (_, 1) => ops::unary(op, arith),
            (_, 2) => ops::binary(op, arith, forms),
            _ => ops::ternary(op, arith, info.size, forms),
        };
        let Some(leaf) = leaf else { return Ok(Step::Generic(Box::new(self.generic(op, dtype, post, dst, args)?))) };
        while operands.len() < 3 {
            operands.push(operands[0]);
        }
        let flat = !splat && operands.iter().all(|o| matches!(o.shape, Shape::Full | Shape::Single));
        let splat = splat && (info.rows || info.cols);
        let args = [operands[0], operands[1], operands[2]];
        Ok(Step::Alu(Box::new(Alu { leaf, post, dst, args, flat, splat, out: None })))
    }

    fn generic(&self, op: ScalarOp, dtype: DType, post: Option<simd::Leaf>, dst: Reg, args: &[Reg]) -> Result<Generic> {
        // f16 and bf16 values sit in f32 registers; only their bits need the true dtype.
        let held = |d: DType| if matches!(op, ScalarOp::Bitcast(_)) { d } else { d.accumulator() };
        let mut dtypes: SmallVec<[DType; 3]> = args.iter().map(|_| held(dtype)).collect();
        if op == ScalarOp::Select {
            dtypes[0] = DType::Bool;
        }
        op.result(&dtypes).map_err(|why| Error::internal(format!("tile program: {why}")))?;
        Ok(Generic { op, dtypes, post, dst, args: args.iter().copied().collect() })
    }

    fn pair(&self, first: &Instr, second: &Instr) -> Result<Step> {
        let info = match second {
            Instr::Op { dst, .. } => *self.reg(*dst),
            _ => return Err(Error::internal("tile program: a pair of something else than ops")),
        };
        let (head, tail) = peephole::halves(first, second, |r| shape(self.reg(r), &info).is_vector())
            .ok_or_else(|| Error::internal("tile program: a pair without a loop"))?;
        let a = self.operand(head.value, &info);
        let b = head.other.map_or(a, |r| self.operand(r, &info));
        let c = tail.other.map_or(b, |r| self.operand(r, &info));
        let vector = |o: Option<Reg>| o.is_some_and(|r| shape(self.reg(r), &info).is_vector());
        let leaf = pairs::pair(head.step, vector(head.other), tail.step, vector(tail.other));
        let flat = [a, b, c].iter().all(|o| matches!(o.shape, Shape::Full | Shape::Single));
        Ok(Step::Alu(Box::new(Alu { leaf, post: None, dst: tail.result, args: [a, b, c], flat, splat: false, out: None })))
    }

    fn fold(&mut self, combiner: Combiner, (acc, src, dst): (&[Reg], &[Reg], &[Reg]), merge: bool) -> Result<Box<Fold>> {
        let first = *self.reg(src[0]);
        let folds = fold::combiner(combiner, Arith::of(first.dtype), merge)
            .ok_or_else(|| Error::internal(format!("tile program: {} of {}", combiner.info().name, first.dtype)))?;
        let mut accs = [acc[0]; 3];
        accs[..acc.len()].copy_from_slice(acc);
        if let Some(lost) = self.compensation(combiner, acc[0]) {
            accs[1] = lost;
        }
        let fill = |regs: &[Reg]| {
            let mut all = [regs.first().copied().unwrap_or(0); 3];
            all[..regs.len()].copy_from_slice(regs);
            all
        };
        let wraps = matches!(combiner, Combiner::Sum | Combiner::Prod) && !first.dtype.is_float();
        Ok(Box::new(Fold {
            loops: FoldLoops(folds),
            sources: src.len(),
            src: fill(src),
            acc: accs,
            dst: fill(dst),
            results: dst.len(),
            rows: src.iter().any(|&r| self.reg(r).rows),
            cols: src.iter().any(|&r| self.reg(r).cols),
            post: if wraps { ops::narrow_in_place(first.dtype) } else { None },
        }))
    }
}

/// How `reg` moves through a destination.
fn shape(reg: &RegInfo, dst: &RegInfo) -> Shape {
    match (reg.rows, reg.cols, dst.cols) {
        (true, true, _) => Shape::Full,
        (false, true, _) => Shape::Shared,
        // Without columns the rows are the vector.
        (true, false, false) => Shape::Shared,
        (true, false, true) => Shape::PerRow,
        (false, false, _) => Shape::Single,
    }
}

fn resident(reg: usize, info: &RegInfo, context: &Context<'_>) -> Resident {
    let e = &context.extents;
    let (rows, cols) = (if info.rows { e.whole.0 } else { 1 }, if info.cols { e.whole.1 } else { 1 });
    let mut strides = SmallVec::new();
    let mut slot = rows * cols * info.size;
    for &(axis, extent) in e.inner.iter().rev().filter(|(axis, _)| info.resident >> axis & 1 == 1) {
        strides.push((axis, slot));
        slot *= extent;
    }
    // A direction whose whole extent exceeds the tile's is an inner axis: the tile lies at its index.
    if let Some(axis) = context.row_axis.filter(|_| info.rows && e.whole.0 > e.tile.0) {
        strides.push((axis, cols * info.size));
    }
    if let Some(axis) = context.col_axis.filter(|_| info.cols && e.whole.1 > e.tile.1) {
        strides.push((axis, info.size));
    }
    Resident { reg: reg as Reg, strides, row_stride: cols * info.size }
}
