//! Checks a tile program's invariants.

use base::{Error, Result};
use scalar::{Combiner, DType, ScalarOp};

use crate::{Access, Affine, Body, Bound, Gemm, Instr, Nest, PackSource, Param, Phase, Reg, RegDecl, Sequence, TileProgram, Ty};

type Check = std::result::Result<(), String>;

/// Checks register types, directions, axis numbers and parameter numbers, that values are defined before they are read,
/// and that affine accesses stay inside their parameters.
///
/// # Errors
/// The first broken invariant, an internal error.
pub fn verify(program: &TileProgram) -> Result<()> {
    for (number, phase) in program.phases.iter().enumerate() {
        let checked = match phase {
            Phase::Nests(nests) => nests.iter().try_for_each(|nest| check_nest(program, nest)),
            Phase::Gemm(gemm) => check_gemm(program, gemm),
        };
        checked.map_err(|why| Error::internal(format!("tile program {}, phase {number}: {why}", program.name)))?;
    }
    Ok(())
}

fn ensure(ok: bool, why: impl FnOnce() -> String) -> Check {
    if ok { Ok(()) } else { Err(why()) }
}

/// What the code of one list may use.
struct Scope<'a> {
    program: &'a TileProgram,
    regs: &'a [RegDecl],
    extents: Vec<i64>,
    row_axis: Option<usize>,
    col_axis: Option<usize>,
    /// Products whose accumulators an epilogue may read.
    accs: usize,
    acc_ty: Ty,
    defined: Vec<bool>,
}

fn check_nest(program: &TileProgram, nest: &Nest) -> Check {
    let axes = nest.extents.len();
    let tiled = [nest.rows, nest.cols].into_iter().flatten();
    for t in tiled.clone() {
        ensure(t.axis < axes && t.tile > 0, || format!("tile direction a{} by {} of {axes} axes", t.axis, t.tile))?;
    }
    let points: usize = tiled.map(|t| t.tile).product();
    ensure(points <= Body::MAX_TILE, || format!("a tile has {points} points, more than {}", Body::MAX_TILE))?;
    ensure(nest.rows.is_none() || nest.rows.map(|t| t.axis) != nest.cols.map(|t| t.axis), || {
        "rows and columns share an axis".into()
    })?;
    for stage in nest.all_stages() {
        let mut seen = vec![false; axes];
        let sequence = nest.sequence.iter().flat_map(|s| s.axes());
        for a in nest.grid.iter().copied().chain(sequence).chain(stage.inner.iter().copied()) {
            ensure(a < axes && !std::mem::replace(&mut seen[a], true), || format!("axis a{a} is looped over twice or missing"))?;
        }
    }
    if let Some(s) = &nest.sequence {
        check_sequence(nest, s)?;
    }
    let mut scope = Scope {
        program,
        regs: &nest.regs,
        extents: nest.extents.clone(),
        row_axis: nest.rows.map(|t| t.axis),
        col_axis: nest.cols.map(|t| t.axis),
        accs: 0,
        acc_ty: Ty::F32,
        defined: vec![false; nest.regs.len()],
    };
    for stage in nest.all_stages() {
        let ends = stage.ends.iter().all(|&(a, end)| stage.inner.contains(&a) && (1..=nest.extents[a]).contains(&end));
        ensure(ends, || format!("ends {:?} of loops over {:?}", stage.ends, stage.inner))?;
        scope.extents = (0..axes).map(|a| stage.end(a, nest.extents[a])).collect();
        for (combiner, accs) in &stage.init {
            scope.states(*combiner, accs)?;
            accs.iter().for_each(|&r| scope.defined[usize::from(r)] = true);
        }
        let lost = |axis: Option<usize>| axis.is_some_and(|a| stage.inner.contains(&a));
        scope.list(&stage.code)?;
        for instr in &stage.finish {
            for r in instr.reads().iter().chain(&instr.writes()) {
                let decl = scope.reg(*r)?;
                let varies = decl.rows && lost(scope.row_axis) || decl.cols && lost(scope.col_axis);
                ensure(!varies, || format!("`{instr}` after the loops uses r{r}, which varies over an inner direction"))?;
            }
        }
        scope.list(&stage.finish)?;
    }
    Ok(())
}

/// Blocks cover the axis, and what runs around them does not vary over it.
fn check_sequence(nest: &Nest, s: &Sequence) -> Check {
    let tile = [nest.rows, nest.cols].into_iter().flatten().find(|t| t.axis == s.axis).map_or(1, |t| t.tile as i64);
    ensure(nest.grid.contains(&s.block), || format!("the grid lacks the block axis a{}", s.block))?;
    ensure(s.length > 0 && s.length % tile == 0, || format!("a block of {} points in tiles of {tile}", s.length))?;
    let (blocks, extent) = (nest.extents[s.block], nest.extents[s.axis]);
    ensure(blocks * s.length >= extent && (blocks - 1) * s.length < extent.max(1), || {
        format!("{blocks} blocks of {} do not cover {extent} points", s.length)
    })?;
    let turns = |axis: Option<usize>, has: bool| has && axis.is_some_and(|a| s.axes().any(|x| x == a));
    for instr in s.before.iter().chain(&s.after).flat_map(|stage| stage.code.iter().chain(&stage.finish)) {
        for r in instr.reads().iter().chain(&instr.writes()) {
            let Some(decl) = nest.regs.get(usize::from(*r)) else { continue };
            let varies = turns(nest.rows.map(|t| t.axis), decl.rows) || turns(nest.cols.map(|t| t.axis), decl.cols);
            ensure(!varies, || format!("`{instr}` around the block uses r{r}, which varies inside it"))?;
        }
    }
    Ok(())
}

fn check_gemm(program: &TileProgram, gemm: &Gemm) -> Check {
    let extents: Vec<i64> = [&gemm.batch, &gemm.m, &gemm.n, &gemm.k].into_iter().flatten().copied().collect();
    let ends = [gemm.batch.len(), gemm.m.len(), gemm.n.len(), gemm.k.len()];
    let last = |part: usize| {
        let end: usize = ends[..=part].iter().sum();
        (ends[part] > 0).then(|| end - 1)
    };
    ensure(gemm.ty != Ty::Bool, || "a product of bools".into())?;
    let scope = |body: &'_ Body, row_axis, col_axis, accs| Scope {
        program,
        // Bodies outlive the check.
        regs: &[],
        extents: Vec::new(),
        row_axis,
        col_axis,
        accs,
        acc_ty: gemm.ty,
        defined: vec![false; body.regs.len()],
    };
    for &(a, b) in &gemm.products {
        ensure(a < gemm.sources.len() && b < gemm.sources.len(), || {
            format!("a product of sources {a} and {b} of {}", gemm.sources.len())
        })?;
    }
    for (number, source) in gemm.sources.iter().enumerate() {
        match source {
            PackSource::Direct { param, index, mask, .. } => {
                let direct = Scope { regs: &[], extents: extents.clone(), ..scope(&Body::default(), None, None, 0) };
                direct.access(*param, index, mask, false)?;
            }
            PackSource::Computed { body, result, .. } => {
                let is_a = gemm.products.iter().any(|p| p.0 == number);
                let is_b = gemm.products.iter().any(|p| p.1 == number);
                ensure(is_a != is_b, || format!("computed source {number} is both kinds of operand, or none"))?;
                let (rows, cols) = if is_a { (last(1), last(3)) } else { (last(3), last(2)) };
                let mut computed = Scope { regs: &body.regs, extents: extents.clone(), ..scope(body, rows, cols, 0) };
                computed.list(&body.code)?;
                let ty = computed.reg(*result)?.ty;
                ensure(computed.defined[usize::from(*result)] && ty == gemm.ty, || {
                    format!("result r{result} is {ty}, not {}", gemm.ty)
                })?;
            }
        }
    }
    let body = &gemm.epilogue;
    let accs = gemm.products.len();
    // A flattened direction runs past its last axis: index ranges are those of all axes together.
    let mut whole = extents.clone();
    for (flat, part, axes) in [(gemm.flat_m, 1, &gemm.m), (gemm.flat_n, 2, &gemm.n)] {
        if let (true, Some(axis)) = (flat, last(part)) {
            for (a, extent) in (0..axes.len()).rev().zip(whole[..=axis].iter_mut().rev()) {
                *extent = if a + 1 == axes.len() { axes.iter().product() } else { 1 };
            }
        }
    }
    Scope { regs: &body.regs, extents: whole, ..scope(body, last(1), last(2), accs) }.list(&body.code)
}

impl Scope<'_> {
    fn reg(&self, reg: Reg) -> std::result::Result<&RegDecl, String> {
        self.regs.get(usize::from(reg)).ok_or_else(|| format!("register r{reg} is not declared"))
    }

    fn list(&mut self, code: &[Instr]) -> Check {
        for instr in code {
            for r in instr.reads() {
                self.reg(r)?;
                ensure(self.defined[usize::from(r)], || format!("`{instr}` reads r{r} before it is set"))?;
            }
            for r in instr.writes() {
                self.reg(r)?;
            }
            self.instr(instr).map_err(|why| format!("`{instr}`: {why}"))?;
            instr.writes().iter().for_each(|&r| self.defined[usize::from(r)] = true);
        }
        Ok(())
    }

    fn instr(&self, instr: &Instr) -> Check {
        match instr {
            Instr::Const { dst, .. } => {
                let decl = self.reg(*dst)?;
                ensure(!decl.rows && !decl.cols && !decl.is_resident(), || "a constant varies over nothing".into())
            }
            Instr::Index { dst, expr } => {
                self.is(*dst, &[Ty::I32, Ty::I64])?;
                self.covers(*dst, expr)
            }
            Instr::Mask { dst, bounds } => {
                self.is(*dst, &[Ty::Bool])?;
                bounds.iter().try_for_each(|b| self.covers(*dst, &b.expr))
            }
            Instr::Load { dst, param, index, mask, .. } => {
                self.stored(*param, *dst, true)?;
                self.access(*param, index, mask, false)?;
                self.covers(*dst, index)?;
                mask.iter().try_for_each(|b| self.covers(*dst, &b.expr))
            }
            Instr::Store { param, index, mask, src } => {
                self.stored(*param, *src, false)?;
                self.access(*param, index, mask, true)
            }
            Instr::LoadAt { dst, param, index, offset, mask } => {
                self.stored(*param, *dst, true)?;
                self.indirect(*param, index, *offset, *mask)?;
                self.covers(*dst, index)?;
                self.wider(*dst, &[&[*offset], mask.as_slice()].concat())
            }
            Instr::StoreAt { param, index, offset, mask, src, combine } => {
                self.stored(*param, *src, false)?;
                self.indirect(*param, index, *offset, *mask)?;
                let known = [None, Some(ScalarOp::Add), Some(ScalarOp::Mul), Some(ScalarOp::Max), Some(ScalarOp::Min)];
                ensure(known.contains(combine), || "stores combine by add, mul, max or min".into())
            }
            Instr::Check { dst, value, mask, message, .. } => {
                self.is(*dst, &[Ty::I64])?;
                self.is(*value, &[Ty::I64])?;
                mask.iter().try_for_each(|&m| self.is(m, &[Ty::Bool]))?;
                ensure(usize::from(*message) < self.program.checks.len(), || format!("there is no message {message}"))?;
                self.wider(*dst, &[&[*value], mask.as_slice()].concat())
            }
            Instr::Op { op, dtype, dst, args, .. } => self.op(*op, *dtype, *dst, args),
            Instr::Init { combiner, acc } => self.states(*combiner, acc),
            Instr::Reduce { combiner, acc, src, merge } => {
                self.states(*combiner, acc)?;
                self.sources(*combiner, acc, src, *merge)
            }
            Instr::Scan { combiner, dst, carry, src, along_rows } => {
                self.states(*combiner, dst)?;
                self.states(*combiner, carry)?;
                self.sources(*combiner, dst, src, false)?;
                self.wider(dst[0], src)?;
                let (d, c) = (self.reg(dst[0])?, self.reg(carry[0])?);
                let expected = if *along_rows { (false, d.cols) } else { (d.rows, false) };
                ensure((c.rows, c.cols) == expected, || "the carry has other directions than the scan leaves".into())
            }
            Instr::Acc { dst, which } => {
                self.is(*dst, &[self.acc_ty])?;
                let decl = self.reg(*dst)?;
                ensure(usize::from(*which) < self.accs && decl.rows && decl.cols, || format!("no accumulator tile {which}"))
            }
        }
    }

    fn is(&self, reg: Reg, types: &[Ty]) -> Check {
        let ty = self.reg(reg)?.ty;
        ensure(types.contains(&ty), || format!("r{reg} is {ty}, not {}", types[0]))
    }

    /// An affine value varies no more than the register that holds it.
    fn covers(&self, dst: Reg, expr: &Affine) -> Check {
        let decl = self.reg(dst)?;
        let along = |axis: Option<usize>| axis.is_some_and(|a| expr.at(a) != 0);
        ensure(decl.rows || !along(self.row_axis), || format!("{expr} varies over rows, r{dst} does not"))?;
        ensure(decl.cols || !along(self.col_axis), || format!("{expr} varies over columns, r{dst} does not"))
    }

    /// Operands vary no more than the result.
    fn wider(&self, dst: Reg, args: &[Reg]) -> Check {
        let d = *self.reg(dst)?;
        for &a in args {
            let arg = self.reg(a)?;
            ensure((d.rows || !arg.rows) && (d.cols || !arg.cols), || format!("r{a} varies over more than r{dst}"))?;
        }
        Ok(())
    }

    fn param(&self, param: u16) -> std::result::Result<&Param, String> {
        self.program.params.get(usize::from(param)).ok_or_else(|| format!("there is no parameter p{param}"))
    }

    /// The register fits the parameter's dtype, and the parameter may be used so.
    fn stored(&self, param: u16, reg: Reg, is_load: bool) -> Check {
        let p = self.param(param)?;
        self.is(reg, &[Ty::of(p.dtype)])?;
        let forbidden = if is_load { Access::Write } else { Access::Read };
        ensure(p.access != forbidden, || format!("p{param} is declared {:?}", p.access))
    }

    fn indirect(&self, param: u16, index: &Affine, offset: Reg, mask: Option<Reg>) -> Check {
        self.param(param)?;
        self.is(offset, &[Ty::I64])?;
        mask.iter().try_for_each(|&m| self.is(m, &[Ty::Bool]))?;
        self.axes(index)
    }

    fn axes(&self, expr: &Affine) -> Check {
        let used = expr.coef.iter().rposition(|&c| c != 0).map_or(0, |a| a + 1);
        ensure(used <= self.extents.len(), || format!("{expr} names an axis of {}", self.extents.len()))
    }

    /// Least and greatest value over all points; `None` if there is no point.
    fn range(&self, expr: &Affine) -> Option<(i64, i64)> {
        let mut range = (expr.base, expr.base);
        for (axis, &extent) in self.extents.iter().enumerate() {
            let reach = expr.at(axis).checked_mul(extent - 1)?;
            range = (range.0 + reach.min(0), range.1 + reach.max(0));
        }
        (!self.extents.contains(&0)).then_some(range)
    }

    /// Axes exist, and an access without conditions stays inside the parameter. (Conditions may exclude any part; their
    /// effect is the lowering's to prove.)
    fn access(&self, param: u16, index: &Affine, mask: &[Bound], is_store: bool) -> Check {
        let p = self.param(param)?;
        self.axes(index)?;
        mask.iter().try_for_each(|b| self.axes(&b.expr))?;
        let Some((least, most)) = self.range(index).filter(|_| mask.is_empty()) else { return Ok(()) };
        let verb = if is_store { "writes" } else { "reads" };
        ensure(least >= 0 && (most as u64) < p.elements, || {
            format!("{verb} p{param}[{least}..={most}] of {} elements", p.elements)
        })
    }

    fn op(&self, op: ScalarOp, dtype: DType, dst: Reg, args: &[Reg]) -> Check {
        let mut dtypes = vec![dtype; args.len()];
        if op == ScalarOp::Select && !dtypes.is_empty() {
            dtypes[0] = DType::Bool;
        }
        let result = op.result(&dtypes)?;
        for (&reg, &d) in args.iter().zip(&dtypes) {
            self.is(reg, &[Ty::of(d)])?;
        }
        self.is(dst, &[Ty::of(result)])?;
        self.wider(dst, args)
    }

    /// The registers can hold the combiner's state.
    fn states(&self, combiner: Combiner, regs: &[Reg]) -> Check {
        let info = combiner.info();
        ensure(regs.len() == info.components, || format!("{} has {} components", info.name, info.components))?;
        let first = *self.reg(regs[0])?;
        for (k, &r) in regs.iter().enumerate() {
            let decl = self.reg(r)?;
            let is_index = k == 1 && matches!(combiner, Combiner::ArgMax | Combiner::ArgMin);
            let ty = if is_index { Ty::I64 } else { first.ty };
            ensure(decl.ty == ty && (decl.rows, decl.cols) == (first.rows, first.cols), || {
                format!("component r{r} is {decl}, not {ty} with the directions of r{}", regs[0])
            })?;
        }
        Ok(())
    }

    fn sources(&self, combiner: Combiner, acc: &[Reg], src: &[Reg], merge: bool) -> Check {
        let info = combiner.info();
        let is_arg = matches!(combiner, Combiner::ArgMax | Combiner::ArgMin);
        let count = if merge { info.components } else { info.operands + usize::from(is_arg) };
        ensure(src.len() == count, || format!("{} takes {count} sources, got {}", info.name, src.len()))?;
        for (k, &r) in src.iter().enumerate() {
            let like = acc[k.min(acc.len() - 1)];
            self.is(r, &[self.reg(like)?.ty])?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Stage, TileAxis};

    fn program() -> TileProgram {
        let reg = RegDecl { ty: Ty::F32, rows: false, cols: true, resident: 0 };
        let index = Affine { base: 0, coef: [1].into_iter().collect() };
        let code = vec![
            Instr::Load { dst: 0, param: 0, index: index.clone(), mask: vec![], fill: 0 },
            Instr::Op { op: ScalarOp::Exp, dtype: DType::F32, round: true, dst: 1, args: [0].into_iter().collect() },
            Instr::Store { param: 1, index, mask: vec![], src: 1 },
        ];
        let nest = Nest {
            extents: vec![10],
            grid: [0].into_iter().collect(),
            rows: None,
            cols: Some(TileAxis { axis: 0, tile: 8 }),
            regs: vec![reg; 2],
            stages: vec![Stage { code, ..Stage::default() }],
            serial: false,
            sequence: None,
        };
        let param = |access| Param { name: "x".into(), dtype: DType::F32, access, elements: 10 };
        TileProgram {
            name: "t".into(),
            params: vec![param(Access::Read), param(Access::Write)],
            phases: vec![Phase::Nests(vec![nest])],
            checks: vec![],
        }
    }

    fn broken(change: impl Fn(&mut TileProgram, &mut Nest)) -> String {
        let mut p = program();
        let Phase::Nests(mut nests) = p.phases.remove(0) else { unreachable!("a nest") };
        change(&mut p, &mut nests[0]);
        p.phases.push(Phase::Nests(nests));
        verify(&p).unwrap_err().to_string()
    }

    #[test]
    fn a_right_program_passes() {
        verify(&program()).unwrap();
    }

    #[test]
    fn broken_programs_are_named() {
        let cases: [(&str, String); 9] = [
            ("r1 is f64, not f32", broken(|_, n| n.regs[1].ty = Ty::F64)),
            ("reads r0 before it is set", broken(|_, n| n.stages[0].code.remove(0).reads().clear())),
            ("reads p0[0..=9] of 9 elements", broken(|p, _| p.params[0].elements = 9)),
            ("p1 is declared Read", broken(|p, _| p.params[1].access = Access::Read)),
            ("varies over columns, r0 does not", broken(|_, n| n.regs[0].cols = false)),
            ("register r0 is not declared", broken(|_, n| n.regs.clear())),
            ("there is no parameter p1", broken(|p, _| p.params.truncate(1))),
            ("more than 1024", broken(|_, n| n.cols = Some(TileAxis { axis: 0, tile: 1025 }))),
            ("looped over twice", broken(|_, n| n.grid = [0, 0].into_iter().collect())),
        ];
        for (expected, got) in cases {
            assert!(got.contains(expected), "{got:?} does not contain {expected:?}");
        }
    }
}
