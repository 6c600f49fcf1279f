//! Stages that fold a small window: f32 loads, perhaps times a weight per tap, summed or compared over a few inner steps.
//!
//! The general loop walks the tile once per tap and keeps the accumulator in memory. A window stage walks it once: all
//! taps of a row of results are folded in registers (`simd::window`).

use program::{Affine, Bound, Instr, Nest, Param, Reg, Stage, Ty};
use scalar::{Combiner, DType, ScalarOp};
use simd::window::{self, Fold, Tap};
use smallvec::SmallVec;

use super::code::Prepared;
use super::frame::{Frame, Tile};
use super::mask::{Lin, Mask};
use super::planes::{Operands, Planes, Results};

/// Most inner steps of a window.
const MOST_TAPS: usize = 256;

/// A parameter read at an affine index.
#[derive(Debug)]
struct Source {
    param: usize,
    lin: Lin,
}

impl Source {
    fn at(&self, tile: &Tile<'_>) -> *const f32 {
        tile.ptrs[self.param].cast::<f32>().wrapping_offset(self.lin.at(tile.index) as isize).cast_const()
    }
}

/// What one step of the inner loops adds to the operand's index, the weight's index and each condition.
#[derive(Debug)]
pub(super) struct Offsets {
    pub(super) x: isize,
    pub(super) weight: isize,
    pub(super) conds: SmallVec<[i64; 4]>,
}

/// A window stage.
#[derive(Debug)]
pub(crate) struct Window {
    fold: Fold,
    acc: Reg,
    x: Source,
    mask: Mask,
    weight: Option<Source>,
    taps: Vec<Offsets>,
    /// How to pad, where conditions bound the columns.
    planes: Option<Planes>,
}

/// A load of a stage.
#[derive(Clone, Copy)]
struct Load<'a> {
    dst: Reg,
    param: usize,
    index: &'a Affine,
    mask: &'a [Bound],
    fill: u64,
}

fn load(instr: &Instr) -> Option<Load<'_>> {
    match instr {
        Instr::Load { dst, param, index, mask, fill } => {
            Some(Load { dst: *dst, param: usize::from(*param), index, mask, fill: *fill })
        }
        _ => None,
    }
}

/// The fold of a stage's code, the accumulator, the operand and the weight.
fn parts(code: &[Instr]) -> Option<(Fold, Reg, Load<'_>, Option<Load<'_>>)> {
    let (Instr::Reduce { combiner, acc, src, merge: false }, rest) = code.split_last()? else { return None };
    let (&[acc], &[src]) = (&acc[..], &src[..]) else { return None };
    match (combiner, rest) {
        (Combiner::Sum, [first, second, Instr::Op { op: ScalarOp::Mul, dtype: DType::F32, dst, args, .. }]) => {
            let (a, b) = (load(first)?, load(second)?);
            let both = args[..] == [a.dst, b.dst] || args[..] == [b.dst, a.dst];
            (both && *dst == src).then_some((Fold::MulAdd, acc, a, Some(b)))
        }
        (Combiner::Sum | Combiner::Max | Combiner::Min, [only]) => {
            let x = load(only)?;
            let fold = match combiner {
                Combiner::Sum => Fold::Add,
                Combiner::Max => Fold::Max,
                _ => Fold::Min,
            };
            (x.dst == src).then_some((fold, acc, x, None))
        }
        _ => None,
    }
}

impl Window {
    /// Stage number `at` of all of a nest's stages as a window, if it is one.
    pub(crate) fn of(nest: &Nest, at: usize, params: &[Param]) -> Option<Window> {
        let stage = nest.all_stages().nth(at)?;
        let (fold, acc, mut x, mut weight) = parts(&stage.code)?;
        if let Some(w) = &mut weight
            && nest.regs[usize::from(w.dst)].cols
        {
            std::mem::swap(&mut x, w);
        }
        let (row_axis, col_axis) = (nest.rows.map(|t| t.axis), nest.cols.map(|t| t.axis));
        let source = |l: &Load<'_>| Source { param: l.param, lin: Lin::new(l.index, row_axis, col_axis) };
        let (operand, weights) = (source(&x), weight.as_ref().map(source));
        let mask = Mask::new(x.mask, row_axis, col_axis);
        let taps = offsets(nest, stage, &x, weight.as_ref())?;
        let planes = Planes::of(&mask, &operand.lin, weights.as_ref().map(|w| &w.lin), &taps);
        let window = Window { fold, acc, x: operand, mask, weight: weights, taps, planes };
        let plain = |l: &Load<'_>| params[l.param].dtype == DType::F32;
        let filled = x.mask.is_empty() || f32::from_bits(x.fill as u32) == fold.init();
        let fits = plain(&x) && weight.is_none_or(|w| plain(&w) && w.mask.is_empty()) && filled;
        (fits && window.covers(nest, stage) && read_once(nest, at)).then_some(window)
    }

    /// The accumulator holds an element for each point that the operands vary over, and is this stage's alone.
    fn covers(&self, nest: &Nest, stage: &Stage) -> bool {
        let acc = &nest.regs[usize::from(self.acc)];
        let weight = self.weight.as_ref().map_or((0, 0), |w| (w.lin.row, w.lin.col));
        let rows = self.x.lin.row != 0 || weight.0 != 0 || self.mask.varies().0;
        let own = matches!(&stage.init[..], [(_, accs)] if accs[..] == [self.acc]);
        acc.ty == Ty::F32
            && acc.cols
            && (acc.rows || !rows)
            && !acc.is_resident()
            && weight.1 == 0
            && own
            && self.mask.is_rectangular()
    }

    /// Computes the accumulator over a tile; false, and nothing promised of it, where padding meets a weight that is not finite.
    ///
    /// # Safety
    /// As `run_tile`; the inner axes' indices are 0.
    pub(crate) unsafe fn run(&self, code: &Prepared, frame: &mut Frame, tile: &Tile<'_>) -> bool {
        frame.enter(code, tile);
        let d = frame.home(code, self.acc);
        let rows = if code.regs[usize::from(self.acc)].rows { tile.rows } else { 1 };
        let from = Operands {
            x: self.x.at(tile),
            x_row: self.x.lin.row as isize,
            weight: self.weight.as_ref().map(|w| w.at(tile)),
            weight_row: self.weight.as_ref().map_or(0, |w| w.lin.row as isize),
        };
        let to = Results { start: d.ptr.cast(), row: d.row_stride / size_of::<f32>() as isize, rows, cols: tile.cols };
        let firsts: SmallVec<[i64; 4]> = self.mask.conditions().map(|(lin, ..)| lin.at(tile.index)).collect();
        // SAFETY: the caller's contract: weights are readable at every tap, operands where the mask admits them, and the
        // accumulator's home holds the results.
        let folded = unsafe {
            match &self.planes {
                Some(planes) => planes.fold(self.fold, &self.taps, &firsts, &from, &to, |n| frame.scratch(n)),
                None => self.fold_rows(&firsts, &from, &to),
            }
        };
        frame.places[usize::from(self.acc)] = d;
        folded
    }

    /// Folds the operand where it lies, row by row. False where padding meets a weight that is not finite.
    unsafe fn fold_rows(&self, firsts: &[i64], from: &Operands, to: &Results) -> bool {
        // SAFETY: the caller's contract: weights are readable at every tap and row.
        let weigh =
            |t: &Offsets, r: isize| from.weight.map_or(1.0, |w| unsafe { *w.wrapping_offset(t.weight + from.weight_row * r) });
        let spans: SmallVec<[[(usize, usize); 2]; 32]> = self
            .taps
            .iter()
            .map(|t| self.mask.rectangle(firsts.iter().zip(&t.conds).map(|(a, b)| a + b), to.rows, to.cols))
            .collect();
        let wild = |r: isize| self.taps.iter().any(|t| !weigh(t, r).is_finite());
        let mut taps: SmallVec<[Tap; 32]> = SmallVec::new();
        for r in 0..to.rows {
            if !firsts.is_empty() && (r == 0 || from.weight_row != 0) && wild(r as isize) {
                return false;
            }
            taps.clear();
            let reached = self.taps.iter().zip(&spans).filter(|(_, [down, _])| down.0 <= r && r < down.1);
            taps.extend(reached.map(|(t, [_, along])| Tap { at: t.x, weight: weigh(t, r as isize), span: *along }));
            let (x, d) = (from.x.wrapping_offset(from.x_row * r as isize), to.start.wrapping_offset(r as isize * to.row));
            // SAFETY: the mask admits each tap's span in this row, and the results hold the row.
            unsafe { window::fold(self.fold, d, to.cols, x, &taps, self.x.lin.col as isize) };
        }
        true
    }
}

/// Offsets of every step of the inner loops, the last loop innermost; `None` when there are too many or the loops run over
/// a direction of the tile.
fn offsets(nest: &Nest, stage: &Stage, x: &Load<'_>, weight: Option<&Load<'_>>) -> Option<Vec<Offsets>> {
    let tiled = |a: &usize| [nest.rows, nest.cols].into_iter().flatten().any(|t| t.axis == *a);
    let end = |a: usize| stage.end(a, nest.extents[a]);
    let steps = stage.inner.iter().try_fold(1usize, |n, &a| n.checked_mul(usize::try_from(end(a)).ok()?))?;
    if stage.inner.iter().any(tiled) || !(2..=MOST_TAPS).contains(&steps) {
        return None;
    }
    let mut index = vec![0; nest.extents.len()];
    let at = |e: &Affine, index: &[i64]| e.coef.iter().zip(index).map(|(c, i)| c * i).sum::<i64>();
    let mut taps = Vec::with_capacity(steps);
    for number in 0..steps {
        let mut rest = number as i64;
        for &a in stage.inner.iter().rev() {
            index[a] = rest % end(a);
            rest /= end(a);
        }
        taps.push(Offsets {
            x: at(x.index, &index) as isize,
            weight: weight.map_or(0, |w| at(w.index, &index)) as isize,
            conds: x.mask.iter().map(|b| at(&b.expr, &index)).collect(),
        });
    }
    Some(taps)
}

/// Nothing but a stage's own code reads what that code computes, its accumulator excepted.
fn read_once(nest: &Nest, at: usize) -> bool {
    let own = |instr: &&Instr| !matches!(instr, Instr::Reduce { .. });
    let code = nest.all_stages().nth(at).into_iter().flat_map(|s| &s.code);
    let made: SmallVec<[Reg; 4]> = code.filter(own).flat_map(Instr::writes).collect();
    let others = nest.all_stages().enumerate().flat_map(|(s, stage)| {
        let code: &[Instr] = if s == at { &[] } else { &stage.code };
        code.iter().chain(&stage.finish)
    });
    !others.flat_map(Instr::reads).any(|r| made.contains(&r))
}
