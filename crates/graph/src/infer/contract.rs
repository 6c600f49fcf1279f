//! Rule of the two-operand contraction.

use scalar::{DType, Sym};

use super::{Infer, Inferred, distinct_axes, per_axis, same_dtype};
use crate::{ContractSpec, TensorType};

impl Infer<'_> {
    /// Operands have one dtype, which is the result's; 8-bit integers with an i32 accumulator may be mixed and give i32,
    /// 8-bit floats with an f32 accumulator may be mixed and give f32.
    pub(super) fn contract(&mut self, spec: &ContractSpec, a: &TensorType, b: &TensorType) -> Inferred<TensorType> {
        per_axis(spec.a.len(), a.shape.len(), "a label of the first operand")?;
        per_axis(spec.b.len(), b.shape.len(), "a label of the second operand")?;
        for labels in [&spec.a, &spec.b, &spec.out] {
            let wide: Vec<usize> = labels.iter().map(|&l| usize::from(l)).collect();
            distinct_axes(&wide, 256).map_err(|_| format!("a label occurs twice in {spec}"))?;
        }
        for (i, label) in spec.a.iter().enumerate() {
            if let Some(j) = spec.b.iter().position(|l| l == label) {
                let (m, n) = (&a.shape[i], &b.shape[j]);
                self.equal(m, n, || format!("extents of axis {i} of the first and axis {j} of the second operand ({spec})"))?;
            }
        }
        let shape = spec.out.iter().map(|&l| extent(spec, l, a, b)).collect::<Inferred<_>>()?;
        Ok(TensorType { dtype: dtype(spec.acc, a, b)?, shape })
    }
}

fn extent(spec: &ContractSpec, label: u8, a: &TensorType, b: &TensorType) -> Inferred<Sym> {
    let find = |labels: &[u8], t: &TensorType| labels.iter().position(|&l| l == label).map(|i| t.shape[i].clone());
    find(&spec.a, a).or_else(|| find(&spec.b, b)).ok_or_else(|| format!("an output label is in neither operand ({spec})"))
}

fn dtype(acc: DType, a: &TensorType, b: &TensorType) -> Inferred<DType> {
    let byte = |t: &TensorType| matches!(t.dtype, DType::I8 | DType::U8);
    if acc == DType::I32 && byte(a) && byte(b) {
        return Ok(DType::I32);
    }
    if acc == DType::F32 && a.dtype.f8().is_some() && b.dtype.f8().is_some() {
        return Ok(DType::F32);
    }
    same_dtype(a, b)?;
    let d = a.dtype;
    if d.f8().is_some() {
        return Err(format!("operands of {d} accumulate in f32, not in {acc}"));
    }
    let fits = acc.size() >= d.size() && (acc.is_float() && d.is_float() || acc.is_int() && d.is_int());
    if fits { Ok(d) } else { Err(format!("operands of {d} cannot accumulate in {acc}")) }
}
