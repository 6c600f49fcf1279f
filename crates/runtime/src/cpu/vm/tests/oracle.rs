//! The meaning of nests, one point at a time.

use std::collections::BTreeMap;

use program::{Affine, Bound, Instr, Nest, Reg, Stage, TileAxis};
use scalar::{Combiner, DType, Scalar, ScalarOp, eval};

use super::Data;

/// Registers by point: the coordinates that a register does not vary over are 0.
type Values = BTreeMap<(i64, i64), Scalar>;

struct Machine<'a> {
    nest: &'a Nest,
    data: Vec<Data>,
    regs: Vec<Values>,
    index: Vec<i64>,
    in_block: bool,
    extents: Vec<i64>,
    /// Combiner of each accumulator's group, and the group.
    dtypes: Vec<DType>,
}

/// Runs a nest on a copy of the memory.
pub(super) fn run(nest: &Nest, data: &[Data]) -> Vec<Data> {
    let mut m = Machine {
        nest,
        data: data.to_vec(),
        regs: vec![Values::new(); nest.regs.len()],
        index: vec![0; nest.extents.len()],
        in_block: false,
        extents: nest.extents.clone(),
        dtypes: super::super::types::infer(
            &nest.regs,
            &nest
                .all_stages()
                .flat_map(|s| [&s.code, &s.finish])
                .map(|c| super::super::prepare::List { init: &[], code: c, result: None })
                .collect::<Vec<_>>(),
            &data.iter().map(|d| d.param.clone()).collect::<Vec<_>>(),
        ),
    };
    let grid: Vec<usize> = nest.grid.to_vec();
    m.loops(&grid, &mut |m| m.point());
    m.data
}

impl Machine<'_> {
    fn tile(&self, axis: usize) -> i64 {
        [self.nest.rows, self.nest.cols].into_iter().flatten().find(|t| t.axis == axis).map_or(1, |t| t.tile as i64)
    }

    fn loops(&mut self, axes: &[usize], f: &mut dyn FnMut(&mut Self)) {
        let Some((&axis, rest)) = axes.split_first() else { return f(self) };
        let step = self.tile(axis);
        while self.index[axis] < self.extents[axis] {
            self.loops(rest, f);
            self.index[axis] += step;
        }
        self.index[axis] = 0;
    }

    fn point(&mut self) {
        let nest = self.nest;
        let Some(s) = &nest.sequence else { return self.stages(&nest.stages) };
        self.stages(&s.before);
        let start = self.index[s.block] * s.length;
        let end = (start + s.length).min(nest.extents[s.axis]);
        self.in_block = true;
        for at in (start..end).step_by(self.tile(s.axis) as usize) {
            self.index[s.axis] = at;
            self.loops(&s.within, &mut |m| m.stages(&nest.stages));
        }
        self.index[s.axis] = 0;
        self.in_block = false;
        self.stages(&s.after);
    }

    fn init(&mut self, combiner: Combiner, accs: &[Reg], inner: &[usize]) {
        let dtype = self.dtypes[usize::from(accs[0])];
        for (&acc, v) in accs.iter().zip(combiner.init(dtype)) {
            self.each(inner, acc, |_, _| v);
        }
    }

    fn stages(&mut self, stages: &[Stage]) {
        for stage in stages {
            for (combiner, accs) in &stage.init {
                self.init(*combiner, accs, &[]);
            }
            let inner = stage.inner.to_vec();
            let whole = self.extents.clone();
            stage.ends.iter().for_each(|&(a, end)| self.extents[a] = end);
            self.loops(&inner, &mut |m| m.code(&stage.code, &inner));
            self.extents = whole;
            self.code(&stage.finish, &[]);
        }
    }

    /// Indices of a tile direction.
    fn span(&self, t: Option<TileAxis>, inner: &[usize]) -> Vec<i64> {
        let Some(t) = t else { return vec![0] };
        let at = self.index[t.axis];
        let in_block = self.in_block && self.nest.sequence.as_ref().is_some_and(|s| s.axes().any(|a| a == t.axis));
        let covered = in_block || self.nest.grid.contains(&t.axis) || inner.contains(&t.axis);
        let end = if covered { (at + t.tile as i64).min(self.extents[t.axis]) } else { at + 1 };
        (at..end).collect()
    }

    fn points(&self, inner: &[usize], rows: bool, cols: bool) -> Vec<(i64, i64)> {
        let rows = if rows { self.span(self.nest.rows, inner) } else { vec![0] };
        let cols = if cols { self.span(self.nest.cols, inner) } else { vec![0] };
        rows.iter().flat_map(|&r| cols.iter().map(move |&c| (r, c))).collect()
    }

    fn each(&mut self, inner: &[usize], dst: Reg, mut f: impl FnMut(&Self, (i64, i64)) -> Scalar) {
        let decl = self.nest.regs[usize::from(dst)];
        for p in self.points(inner, decl.rows, decl.cols) {
            let v = f(self, p);
            self.regs[usize::from(dst)].insert(p, v);
        }
    }

    fn at(&self, reg: Reg, p: (i64, i64)) -> Scalar {
        let decl = self.nest.regs[usize::from(reg)];
        let key = (if decl.rows { p.0 } else { 0 }, if decl.cols { p.1 } else { 0 });
        self.regs[usize::from(reg)][&key]
    }

    /// An affine value at a point; directions that a register does not vary over stay at the tile's first index.
    fn affine(&self, e: &Affine, p: (i64, i64)) -> i64 {
        let mut index = self.index.clone();
        if let Some(t) = self.nest.rows {
            index[t.axis] = index[t.axis].max(p.0);
        }
        if let Some(t) = self.nest.cols {
            index[t.axis] = index[t.axis].max(p.1);
        }
        e.base + (0..index.len()).map(|a| e.at(a) * index[a]).sum::<i64>()
    }

    fn holds(&self, mask: &[Bound], p: (i64, i64)) -> bool {
        mask.iter().all(|b| (b.lo..b.hi).contains(&self.affine(&b.expr, p)))
    }

    fn code(&mut self, code: &[Instr], inner: &[usize]) {
        code.iter().for_each(|i| self.step(i, inner));
    }

    fn step(&mut self, instr: &Instr, inner: &[usize]) {
        let on = |m: &Self, mask: &Option<Reg>, p| mask.is_none_or(|r| m.at(r, p).is_true());
        match instr {
            Instr::Const { dst, bits } => {
                let d = self.dtypes[usize::from(*dst)];
                self.each(inner, *dst, |_, _| Scalar::from_bits(d, *bits));
            }
            Instr::Index { dst, expr } => {
                let d = self.dtypes[usize::from(*dst)];
                self.each(inner, *dst, |m, p| Scalar::from_i64(d, m.affine(expr, p)));
            }
            Instr::Mask { dst, bounds } => self.each(inner, *dst, |m, p| Scalar::bool(m.holds(bounds, p))),
            Instr::Load { dst, param, index, mask, fill } => {
                let d = self.dtypes[usize::from(*dst)];
                self.each(inner, *dst, |m, p| match m.holds(mask, p) {
                    true => m.data[usize::from(*param)].get(m.affine(index, p) as usize),
                    false => super::super::types::scalar(m.nest.regs[usize::from(*dst)].ty, d, *fill),
                });
            }
            Instr::LoadAt { dst, param, index, offset, mask } => self.each(inner, *dst, |m, p| {
                let data = &m.data[usize::from(*param)];
                match on(m, mask, p) {
                    true => data.get((m.affine(index, p) + m.at(*offset, p).as_i64()) as usize),
                    false => Scalar::zero(data.param.dtype),
                }
            }),
            Instr::Check { dst, value, limit, mask, .. } => self.each(inner, *dst, |m, p| match on(m, mask, p) {
                true => Scalar::i64(m.at(*value, p).as_i64().clamp(0, (limit - 1).max(0))),
                false => Scalar::i64(0),
            }),
            Instr::Store { param, index, mask, src } => {
                for p in self.points(inner, true, true) {
                    if self.holds(mask, p) {
                        let (at, v) = (self.affine(index, p), self.at(*src, p));
                        self.write(*param, at, v, None);
                    }
                }
            }
            Instr::StoreAt { param, index, offset, mask, src, combine } => {
                for p in self.points(inner, true, true) {
                    if on(self, mask, p) {
                        let (at, v) = (self.affine(index, p) + self.at(*offset, p).as_i64(), self.at(*src, p));
                        self.write(*param, at, v, *combine);
                    }
                }
            }
            Instr::Op { op, dst, args, .. } => self.each(inner, *dst, |m, p| {
                let args: Vec<Scalar> = args.iter().map(|&a| m.at(a, p)).collect();
                eval(*op, &args)
            }),
            Instr::Init { combiner, acc } => self.init(*combiner, acc, inner),
            Instr::Reduce { combiner, acc, src, merge } => self.reduce(*combiner, acc, src, *merge, inner),
            Instr::Scan { combiner, dst, carry, src, .. } => {
                let decl = self.nest.regs[usize::from(dst[0])];
                for p in self.points(inner, decl.rows, decl.cols) {
                    let key = self.key(carry[0], p);
                    self.combine(*combiner, carry, key, src, p, false);
                    for (&d, &c) in dst.iter().zip(carry) {
                        let v = self.at(c, key);
                        self.regs[usize::from(d)].insert(p, v);
                    }
                }
            }
            Instr::Acc { .. } => unreachable!("no product in these tests"),
        }
    }

    fn key(&self, reg: Reg, p: (i64, i64)) -> (i64, i64) {
        let decl = self.nest.regs[usize::from(reg)];
        (if decl.rows { p.0 } else { 0 }, if decl.cols { p.1 } else { 0 })
    }

    fn reduce(&mut self, combiner: Combiner, acc: &[Reg], src: &[Reg], merge: bool, inner: &[usize]) {
        let varies = |f: fn(&program::RegDecl) -> bool| src.iter().chain(acc).any(|&r| f(&self.nest.regs[usize::from(r)]));
        for p in self.points(inner, varies(|d| d.rows), varies(|d| d.cols)) {
            let key = self.key(acc[0], p);
            self.combine(combiner, acc, key, src, p, merge);
        }
    }

    fn combine(&mut self, combiner: Combiner, acc: &[Reg], key: (i64, i64), src: &[Reg], p: (i64, i64), merge: bool) {
        let state: Vec<Scalar> = acc.iter().map(|&r| self.at(r, key)).collect();
        let values: Vec<Scalar> = src.iter().map(|&r| self.at(r, p)).collect();
        let index = values.get(1).map_or(0, |v| v.as_i64());
        let other = if merge { values } else { combiner.lift(&values, index) };
        for (&r, v) in acc.iter().zip(combiner.combine(&state, &other)) {
            self.regs[usize::from(r)].insert(key, v);
        }
    }

    fn write(&mut self, param: u16, at: i64, v: Scalar, combine: Option<ScalarOp>) {
        let data = &mut self.data[usize::from(param)];
        let v = eval(ScalarOp::Cast(data.param.dtype), &[v]);
        let v = combine.map_or(v, |op| eval(op, &[data.get(at as usize), v]));
        data.set(at as usize, v);
    }
}
