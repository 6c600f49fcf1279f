//! What registers hold: dtypes, bits, and when a result must be brought back into a narrow dtype.

use program::{Instr, Param, Reg, RegDecl, Ty};
use scalar::{Combiner, DType, Scalar, ScalarOp};

use super::prepare::List;
use simd::Leaf;
use simd::ops;

/// The dtype of a register about which nothing more is known.
pub(crate) fn natural(ty: Ty) -> DType {
    match ty {
        Ty::Bool => DType::Bool,
        Ty::I32 => DType::I32,
        Ty::I64 => DType::I64,
        Ty::F32 => DType::F32,
        Ty::F64 => DType::F64,
    }
}

/// Dtype of each register, from its definition.
pub(crate) fn infer(regs: &[RegDecl], lists: &[List<'_>], params: &[Param]) -> Vec<DType> {
    let mut dtypes: Vec<DType> = regs.iter().map(|r| natural(r.ty)).collect();
    for instr in lists.iter().flat_map(|l| l.code) {
        match instr {
            Instr::Load { dst, param, .. } | Instr::LoadAt { dst, param, .. } => {
                dtypes[usize::from(*dst)] = params[usize::from(*param)].dtype;
            }
            Instr::Op { op, dtype, dst, .. } => dtypes[usize::from(*dst)] = result(*op, *dtype),
            Instr::Reduce { combiner, acc, src, .. } => states(&mut dtypes, *combiner, src[0], &[acc]),
            Instr::Scan { combiner, dst, carry, src, .. } => states(&mut dtypes, *combiner, src[0], &[carry, dst]),
            _ => {}
        }
    }
    dtypes
}

fn states(dtypes: &mut [DType], combiner: Combiner, src: Reg, targets: &[&[Reg]]) {
    let d = combiner.state_dtype(dtypes[usize::from(src)]);
    for target in targets {
        for (k, &reg) in target.iter().enumerate() {
            let is_index = k == 1 && matches!(combiner, Combiner::ArgMax | Combiner::ArgMin);
            dtypes[usize::from(reg)] = if is_index { DType::I64 } else { d };
        }
    }
}

fn result(op: ScalarOp, dtype: DType) -> DType {
    use ScalarOp as S;
    match op {
        S::Cast(to) | S::Bitcast(to) => to,
        S::Philox(_) => DType::U32,
        S::IsNan | S::IsInf | S::Lt | S::Le | S::Gt | S::Ge | S::Eq | S::Ne => DType::Bool,
        _ => dtype,
    }
}

/// The in-place loop that brings a result into its dtype: wraps narrow integers, rounds floats when `round`.
pub(crate) fn post(op: ScalarOp, dtype: DType, round: bool) -> Option<Leaf> {
    use ScalarOp as S;
    let to = result(op, dtype);
    let stays = match op {
        // The loop from a float saturates in the target's range; a widening cast changes no value.
        S::Cast(to) if to.is_int() => dtype.is_float() || dtype == to,
        S::Cast(_) => dtype == to,
        S::Bitcast(_) | S::Philox(_) => true,
        S::Max | S::Min | S::And | S::Or | S::Xor | S::Rem | S::Mod | S::Shr | S::Select | S::Sign => true,
        S::Neg | S::Abs | S::Floor | S::Ceil | S::Trunc | S::Round => to.is_float(),
        _ => false,
    };
    let wanted = !stays && (round || !to.is_float());
    if wanted { ops::narrow_in_place(to) } else { None }
}

/// Bits of a scalar in a register of a type.
pub(crate) fn register_bits(ty: Ty, s: Scalar) -> u64 {
    match ty {
        Ty::Bool => s.bits(),
        Ty::I32 => u64::from(s.as_i64() as i32 as u32),
        Ty::I64 => s.as_i64() as u64,
        Ty::F32 => u64::from((s.as_f64() as f32).to_bits()),
        Ty::F64 => s.as_f64().to_bits(),
    }
}

/// The scalar of a dtype that register bits stand for.
pub(crate) fn scalar(ty: Ty, dtype: DType, bits: u64) -> Scalar {
    match (ty, dtype) {
        (Ty::F32, low) if low.is_low() => Scalar::from_f64(dtype, f64::from(f32::from_bits(bits as u32))),
        _ => Scalar::from_bits(dtype, bits),
    }
}
