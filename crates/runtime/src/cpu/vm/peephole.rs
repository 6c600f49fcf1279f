//! Which pairs of cheap f32 ops become one step, and which loads may stand for memory.

use program::{Access, Instr, Param, Reg, Ty};
use scalar::{DType, ScalarOp};

use super::code::RegInfo;
use super::prepare::List;
use simd::pairs::Step;

/// The pairs of one code list: a first op runs at the place of its second.
#[derive(Debug, Default)]
pub(crate) struct Pairing {
    first_of: Vec<Option<usize>>,
    second_of: Vec<Option<usize>>,
}

impl Pairing {
    /// Whether the instruction runs later, inside its second.
    pub(crate) fn is_first(&self, at: usize) -> bool {
        self.second_of[at].is_some()
    }
    /// The first op of the pair that runs here.
    pub(crate) fn first_of(&self, at: usize) -> Option<usize> {
        self.first_of[at]
    }
    /// Where the instruction runs.
    pub(crate) fn runs_at(&self, at: usize) -> usize {
        self.second_of[at].unwrap_or(at)
    }
}

/// The first op of a pair: `step(value, other)`.
pub(crate) struct Head {
    pub(crate) value: Reg,
    pub(crate) other: Option<Reg>,
    pub(crate) step: Step,
}

/// The second op of a pair: `step(first's result, other)`.
pub(crate) struct Tail {
    pub(crate) other: Option<Reg>,
    pub(crate) step: Step,
    pub(crate) result: Reg,
}

/// An f32 op without rounding to a narrower dtype.
fn plain_f32(instr: &Instr) -> Option<(ScalarOp, Reg, &[Reg])> {
    match instr {
        Instr::Op { op, dtype, round, dst, args }
            if Ty::of(*dtype) == Ty::F32 && (*dtype == DType::F32 || !round) && args.len() <= 2 =>
        {
            Some((*op, *dst, args))
        }
        _ => None,
    }
}

fn step(op: ScalarOp) -> Option<Step> {
    Some(match op {
        ScalarOp::Add => Step::Add,
        ScalarOp::Sub => Step::Sub,
        ScalarOp::Mul => Step::Mul,
        ScalarOp::Max => Step::Max,
        ScalarOp::Min => Step::Min,
        ScalarOp::Neg => Step::Neg,
        ScalarOp::Abs => Step::Abs,
        _ => return None,
    })
}

/// The same op with its operands exchanged. `Max` and `Min` have none: of two zeros they give the first.
fn exchanged(step: Step) -> Option<Step> {
    match step {
        Step::Add | Step::Mul => Some(step),
        Step::Sub => Some(Step::Rsub),
        _ => None,
    }
}

/// Both halves, if a loop for the pair exists.
pub(crate) fn halves(first: &Instr, second: &Instr, is_vector: impl Fn(Reg) -> bool) -> Option<(Head, Tail)> {
    let (op, between, args) = plain_f32(first)?;
    let head = match *args {
        [x] if is_vector(x) => Head { value: x, other: None, step: step(op)? },
        [x, y] if is_vector(x) => Head { value: x, other: Some(y), step: step(op)? },
        [x, y] if is_vector(y) => Head { value: y, other: Some(x), step: exchanged(step(op)?)? },
        _ => return None,
    };
    let (op, result, args) = plain_f32(second)?;
    let tail = match *args {
        [t] if t == between => Tail { other: None, step: step(op)?, result },
        [t, x] if t == between && x != between => Tail { other: Some(x), step: step(op)?, result },
        [x, t] if t == between && x != between => Tail { other: Some(x), step: exchanged(step(op)?)?, result },
        _ => return None,
    };
    Some((head, tail))
}

/// Chooses pairs from front to back.
pub(crate) fn pair(code: &[Instr], regs: &[RegInfo], lists: &[List<'_>], params: &[Param]) -> Pairing {
    let mut uses = vec![0usize; regs.len()];
    for reg in lists.iter().flat_map(|l| l.code).flat_map(|i| i.reads()).chain(lists.iter().filter_map(|l| l.result)) {
        uses[usize::from(reg)] += 1;
    }
    let mut defined = vec![None; regs.len()];
    let mut pairing = Pairing { first_of: vec![None; code.len()], second_of: vec![None; code.len()] };
    for (at, instr) in code.iter().enumerate() {
        let first = plain_f32(instr).and_then(|(_, result, args)| {
            let fits = |&arg: &Reg| -> Option<usize> {
                let first: usize = defined[usize::from(arg)]?;
                let alone =
                    uses[usize::from(arg)] == 1 && pairing.first_of[first].is_none() && !overwrites(&code[first..at], params);
                (alone && joins(&code[first], instr, arg, result, regs)).then_some(first)
            };
            args.iter().find_map(fits)
        });
        if let Some(first) = first {
            pairing.first_of[at] = Some(first);
            pairing.second_of[first] = Some(at);
        }
        for reg in instr.writes() {
            defined[usize::from(reg)] = Some(at);
        }
    }
    pairing
}

fn joins(first: &Instr, second: &Instr, between: Reg, result: Reg, regs: &[RegInfo]) -> bool {
    let (t, d) = (&regs[usize::from(between)], &regs[usize::from(result)]);
    let same = (t.rows, t.cols) == (d.rows, d.cols) && t.resident == 0 && (d.rows || d.cols);
    let is_vector = |r: Reg| if d.cols { regs[usize::from(r)].cols } else { regs[usize::from(r)].rows };
    same && halves(first, second, is_vector).is_some()
}

/// Whether a parameter that is also read is written here.
fn overwrites(code: &[Instr], params: &[Param]) -> bool {
    code.iter().any(|i| written_param(i).is_some_and(|p| params[usize::from(p)].access != Access::Write))
}

fn written_param(instr: &Instr) -> Option<u16> {
    match instr {
        Instr::Store { param, .. } | Instr::StoreAt { param, .. } => Some(*param),
        _ => None,
    }
}

/// Whether the load at `at` may leave its values in memory: nothing writes the parameter before their last use.
pub(crate) fn may_alias(code: &[Instr], at: usize, lists: &[List<'_>], params: &[Param]) -> bool {
    let Instr::Load { dst, param, .. } = &code[at] else { return false };
    if params[usize::from(*param)].access == Access::Read {
        return true;
    }
    let reads = |i: &Instr| i.reads().contains(dst);
    let local = lists.iter().filter(|l| !std::ptr::eq(l.code, code)).all(|l| !l.code.iter().any(reads));
    let last = code.iter().rposition(reads).unwrap_or(at);
    let written = code.iter().position(|i| written_param(i) == Some(*param)).unwrap_or(code.len());
    local && last <= written
}
