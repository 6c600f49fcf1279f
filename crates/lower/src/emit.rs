//! Values to instructions.

use base::{HashMap, Numerics, Result};
use kernel::ValueId;
use program::{Affine, Bound, Instr, Reg, RegDecl, Ty};
use scalar::{DType, Scalar, ScalarOp};
use smallvec::{SmallVec, smallvec};

use crate::flat::{Flat, FlatCond, FlatDef, FlatStore};
use crate::lin::{Atom, Lin};
use crate::unsupported;

/// Emits the instructions of values on demand; each value gets one register per [`Emit::scope`].
pub(crate) struct Emit<'a> {
    pub(crate) flat: &'a Flat,
    pub(crate) numerics: Numerics,
    pub(crate) rows: Option<usize>,
    pub(crate) cols: Option<usize>,
    /// Loop-axis number of a flat axis in the program.
    pub(crate) axis_number: Vec<Option<usize>>,
    pub(crate) regs: Vec<RegDecl>,
    pub(crate) code: Vec<Instr>,
    /// Registers of values that are available.
    pub(crate) have: HashMap<ValueId, Reg>,
    pub(crate) checks: &'a mut Vec<String>,
    constants: HashMap<(Ty, u64), Reg>,
}

/// Bits of a constant in a register type.
fn bits(c: Scalar, ty: Ty) -> u64 {
    match ty {
        Ty::Bool => u64::from(c.is_true()),
        Ty::I32 => u64::from(c.as_i64() as i32 as u32),
        Ty::I64 => c.as_i64() as u64,
        Ty::F32 => u64::from((c.as_f64() as f32).to_bits()),
        Ty::F64 => c.as_f64().to_bits(),
    }
}

impl<'a> Emit<'a> {
    pub(crate) fn new(flat: &'a Flat, numerics: Numerics, checks: &'a mut Vec<String>) -> Emit<'a> {
        Emit {
            flat,
            numerics,
            rows: None,
            cols: None,
            axis_number: (0..flat.extents.len()).map(Some).collect(),
            regs: Vec::new(),
            code: Vec::new(),
            have: HashMap::default(),
            checks,
            constants: HashMap::default(),
        }
    }

    /// Forgets the values and constants made in a stage whose registers later code must not read.
    pub(crate) fn restore(&mut self, have: HashMap<ValueId, Reg>) {
        self.have = have;
        self.constants.clear();
    }

    pub(crate) fn take_code(&mut self) -> Vec<Instr> {
        std::mem::take(&mut self.code)
    }

    pub(crate) fn reg(&mut self, ty: Ty, rows: bool, cols: bool) -> Result<Reg> {
        let id = Reg::try_from(self.regs.len()).map_err(|_| unsupported("too many registers"))?;
        self.regs.push(RegDecl { ty, rows, cols, resident: 0 });
        Ok(id)
    }

    /// A register with the directions of a set of axes.
    pub(crate) fn reg_over(&mut self, ty: Ty, axes: kernel::AxisSet) -> Result<Reg> {
        let varies = |axis: Option<usize>| axis.is_some_and(|a| axes.has(a));
        self.reg(ty, varies(self.rows), varies(self.cols))
    }

    fn affine(&self, e: &Lin) -> Result<Affine> {
        self.flat.affine(e, &|a| self.axis_number[a])
    }

    pub(crate) fn constant(&mut self, ty: Ty, value: u64) -> Result<Reg> {
        if let Some(&r) = self.constants.get(&(ty, value)) {
            return Ok(r);
        }
        let dst = self.reg(ty, false, false)?;
        self.code.push(Instr::Const { dst, bits: value });
        self.constants.insert((ty, value), dst);
        Ok(dst)
    }

    pub(crate) fn op(&mut self, op: ScalarOp, dtype: DType, result: DType, args: &[Reg]) -> Result<Reg> {
        let varies = |f: &dyn Fn(&RegDecl) -> bool| args.iter().any(|&r| f(&self.regs[r as usize]));
        let (rows, cols) = (varies(&|d| d.rows), varies(&|d| d.cols));
        let dst = self.reg(Ty::of(result), rows, cols)?;
        let low = result.is_low();
        let round = low && (self.numerics == Numerics::Eager || matches!(op, ScalarOp::Cast(_)));
        self.code.push(Instr::Op { op, dtype, round, dst, args: args.iter().copied().collect() });
        Ok(dst)
    }

    /// Register of a value, emitting what it needs.
    pub(crate) fn value(&mut self, v: ValueId) -> Result<Reg> {
        if let Some(&r) = self.have.get(&v) {
            return Ok(r);
        }
        let r = self.emit(v)?;
        self.have.insert(v, r);
        Ok(r)
    }

    fn emit(&mut self, v: ValueId) -> Result<Reg> {
        let flat = self.flat;
        let value = flat.value(v);
        let ty = Ty::of(value.dtype);
        match &value.def {
            FlatDef::Const(c) => self.constant(ty, bits(*c, ty)),
            FlatDef::Index(e) => self.lin(e),
            FlatDef::Pred(conds) => self.mask(conds),
            FlatDef::Load { arg, index, when, fill } => self.load(v, *arg, index, when, *fill),
            FlatDef::Op(op, args) => {
                let regs = args.iter().map(|&a| self.value(a)).collect::<Result<SmallVec<[Reg; 3]>>>()?;
                let dtype = flat.value(args[args.len() - 1]).dtype;
                self.op(*op, dtype, value.dtype, &regs)
            }
            FlatDef::Check { value, limit, when, message } => self.check(*value, *limit, when, message),
            FlatDef::Component(..)
            | FlatDef::Reduce { .. }
            | FlatDef::Scan { .. }
            | FlatDef::Contract { .. }
            | FlatDef::Merge { .. } => Err(unsupported("a reduction is needed before its stage")),
        }
    }

    /// Integer register of an expression.
    pub(crate) fn lin(&mut self, e: &Lin) -> Result<Reg> {
        let (axes, others): (Vec<_>, Vec<_>) = e.terms.iter().cloned().partition(|(a, _)| matches!(a, Atom::Axis(_)));
        let affine = Lin { base: e.base, terms: axes };
        let mut sum = if affine.terms.is_empty() && !others.is_empty() && affine.base == 0 {
            None
        } else if let Some(c) = affine.as_constant() {
            Some(self.constant(Ty::I64, c as u64)?)
        } else {
            let dst = self.reg_over(Ty::I64, self.flat.axes_of(&affine))?;
            let expr = self.affine(&affine)?;
            self.code.push(Instr::Index { dst, expr });
            Some(dst)
        };
        for (atom, c) in &others {
            let mut r = self.atom(atom)?;
            if *c != 1 {
                let by = self.constant(Ty::I64, *c as u64)?;
                r = self.op(ScalarOp::Mul, DType::I64, DType::I64, &[r, by])?;
            }
            sum = Some(match sum {
                None => r,
                Some(s) => self.op(ScalarOp::Add, DType::I64, DType::I64, &[s, r])?,
            });
        }
        sum.map_or_else(|| self.constant(Ty::I64, 0), Ok)
    }

    fn atom(&mut self, atom: &Atom) -> Result<Reg> {
        let binary = |e: &mut Self, op: ScalarOp, x: &Lin, y: &Lin| {
            let (x, y) = (e.lin(x)?, e.lin(y)?);
            e.op(op, DType::I64, DType::I64, &[x, y])
        };
        match atom {
            Atom::Axis(a) => self.lin(&Lin::axis(*a)),
            Atom::Value(v) => self.value(*v),
            Atom::Div(x, d) => binary(self, ScalarOp::FloorDiv, x, &Lin::constant(*d)),
            Atom::Mod(x, d) => binary(self, ScalarOp::Mod, x, &Lin::constant(*d)),
            Atom::Min(x, y) => binary(self, ScalarOp::Min, x, y),
            Atom::Max(x, y) => binary(self, ScalarOp::Max, x, y),
            Atom::Mul(x, y) => binary(self, ScalarOp::Mul, x, y),
        }
    }

    fn bounds(&self, conds: &[FlatCond]) -> Result<Vec<Bound>> {
        conds.iter().map(|c| Ok(Bound { expr: self.affine(&c.expr)?, lo: 0, hi: c.extent })).collect()
    }

    /// Bool register: whether all conditions hold.
    fn mask(&mut self, conds: &[FlatCond]) -> Result<Reg> {
        let (affine, others): (Vec<_>, Vec<_>) = conds.iter().cloned().partition(|c| c.expr.is_affine());
        let mut all = None;
        if !affine.is_empty() {
            let axes = affine.iter().fold(kernel::AxisSet::default(), |s, c| s.union(self.flat.axes_of(&c.expr)));
            let dst = self.reg_over(Ty::Bool, axes)?;
            let bounds = self.bounds(&affine)?;
            self.code.push(Instr::Mask { dst, bounds });
            all = Some(dst);
        }
        for c in &others {
            let x = self.lin(&c.expr)?;
            for (op, limit) in [(ScalarOp::Ge, 0), (ScalarOp::Lt, c.extent)] {
                let limit = self.constant(Ty::I64, limit as u64)?;
                let holds = self.op(op, DType::I64, DType::Bool, &[x, limit])?;
                all = Some(match all {
                    None => holds,
                    Some(a) => self.op(ScalarOp::And, DType::Bool, DType::Bool, &[a, holds])?,
                });
            }
        }
        all.map_or_else(|| self.constant(Ty::Bool, 1), Ok)
    }

    fn mask_if(&mut self, conds: &[FlatCond]) -> Result<Option<Reg>> {
        if conds.is_empty() { Ok(None) } else { self.mask(conds).map(Some) }
    }

    fn load(&mut self, v: ValueId, arg: usize, index: &Lin, when: &[FlatCond], fill: Scalar) -> Result<Reg> {
        let value = self.flat.value(v);
        let ty = Ty::of(value.dtype);
        let param = arg as u16;
        let plain = index.is_affine() && when.iter().all(|c| c.expr.is_affine());
        if plain {
            let (index, mask) = (self.affine(index)?, self.bounds(when)?);
            let dst = self.reg_over(ty, value.free)?;
            self.code.push(Instr::Load { dst, param, index, mask, fill: bits(fill, ty) });
            return Ok(dst);
        }
        let mask = self.mask_if(when)?;
        let (index, offset) = self.split_index(index)?;
        let dst = self.reg_over(ty, value.free)?;
        self.code.push(Instr::LoadAt { dst, param, index, offset, mask });
        match mask {
            Some(mask) if bits(fill, ty) != 0 => {
                let fill = self.constant(ty, bits(fill, ty))?;
                self.op(ScalarOp::Select, value.dtype, value.dtype, &[mask, dst, fill])
            }
            _ => Ok(dst),
        }
    }

    /// Register of a stored state, over a set of axes.
    pub(crate) fn state(&mut self, arg: usize, index: &Lin, ty: Ty, axes: kernel::AxisSet) -> Result<Reg> {
        let (dst, index) = (self.reg_over(ty, axes)?, self.affine(index)?);
        self.code.push(Instr::Load { dst, param: arg as u16, index, mask: Vec::new(), fill: 0 });
        Ok(dst)
    }

    /// Affine part of an index, and a register for the rest.
    fn split_index(&mut self, index: &Lin) -> Result<(Affine, Reg)> {
        let (axes, others): (Vec<_>, Vec<_>) = index.terms.iter().cloned().partition(|(a, _)| matches!(a, Atom::Axis(_)));
        let affine = self.affine(&Lin { base: index.base, terms: axes })?;
        let offset = self.lin(&Lin { base: 0, terms: others })?;
        Ok((affine, offset))
    }

    fn check(&mut self, value: ValueId, limit: i64, when: &[FlatCond], message: &str) -> Result<Reg> {
        let value = self.value(value)?;
        let mask = self.mask_if(when)?;
        let known = self.checks.iter().position(|m| m == message);
        let number = known.unwrap_or_else(|| {
            self.checks.push(message.to_owned());
            self.checks.len() - 1
        });
        let varies = |f: &dyn Fn(&RegDecl) -> bool| mask.into_iter().chain([value]).any(|r| f(&self.regs[r as usize]));
        let (rows, cols) = (varies(&|d| d.rows), varies(&|d| d.cols));
        let dst = self.reg(Ty::I64, rows, cols)?;
        let message = u16::try_from(number).map_err(|_| unsupported("too many checks"))?;
        self.code.push(Instr::Check { dst, value, limit, mask, message });
        Ok(dst)
    }

    /// Emits a store.
    pub(crate) fn store(&mut self, store: &FlatStore) -> Result<()> {
        let src = self.value(store.value)?;
        let param = store.arg as u16;
        let affine = store.index.is_affine() && store.when.iter().all(|c| c.expr.is_affine());
        if affine && store.combine.is_none() {
            let (index, mask) = (self.affine(&store.index)?, self.bounds(&store.when)?);
            self.code.push(Instr::Store { param, index, mask, src });
            return Ok(());
        }
        let mask = self.mask_if(&store.when)?;
        let (index, offset) = self.split_index(&store.index)?;
        let every: kernel::AxisSet = self.flat.order.iter().copied().collect();
        let src = self.spread(src, self.flat.value(store.value).dtype, every)?;
        self.code.push(Instr::StoreAt { param, index, offset, mask, src, combine: store.combine });
        Ok(())
    }

    /// The register spread over both tile directions of `axes`, for sources that vary less than what they are reduced over.
    pub(crate) fn spread(&mut self, r: Reg, dtype: DType, axes: kernel::AxisSet) -> Result<Reg> {
        let decl = self.regs[r as usize];
        let needs = |axis: Option<usize>, has: bool| axis.is_some_and(|a| axes.has(a)) && !has;
        if !needs(self.rows, decl.rows) && !needs(self.cols, decl.cols) {
            return Ok(r);
        }
        let all = self.reg_over(Ty::Bool, axes)?;
        self.code.push(Instr::Mask { dst: all, bounds: Vec::new() });
        let dst = {
            let d = self.regs[all as usize];
            self.reg(decl.ty, d.rows || decl.rows, d.cols || decl.cols)?
        };
        self.code.push(Instr::Op { op: ScalarOp::Select, dtype, round: false, dst, args: smallvec![all, r, r] });
        Ok(dst)
    }
}
