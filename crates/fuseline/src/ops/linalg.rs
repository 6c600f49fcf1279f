//! Products of matrices and einsum.

use base::{Error, Result};
use graph::ContractSpec;
use scalar::{Combiner, DType};
use smallvec::SmallVec;

use crate::op::{Composite, Op};
use crate::promote::{Operand, result_type};
use crate::tensor::{Recorded, Tensor, user_op};

/// Both tensors in their promoted dtype.
fn pair(a: &Tensor, b: &Tensor) -> Recorded<(Tensor, Tensor)> {
    a.ok()?;
    b.ok()?;
    let operands = [Operand::from(a), Operand::from(b)];
    let dtype = result_type(operands.iter());
    if dtype == DType::Bool {
        return Err(Error::invalid(format!("products need numbers, got {} and {}", a.ty(), b.ty())).into());
    }
    Ok((operands[0].cast(dtype)?, operands[1].cast(dtype)?))
}

fn ranked(a: &Tensor, b: &Tensor, rank: usize) -> Recorded<()> {
    if a.ok()?.rank() == rank && b.ok()?.rank() == rank {
        return Ok(());
    }
    Err(Error::invalid(format!("needs two tensors of rank {rank}, got {} and {}; matmul takes any rank", a.ty(), b.ty())).into())
}

fn matmul(a: &Tensor, b: &Tensor) -> Recorded<Tensor> {
    let (x, y) = pair(a, b)?;
    if x.rank() == 0 || y.rank() == 0 {
        return Err(Error::invalid(format!("needs tensors of rank 1 or more, got {} and {}; use mul", a.ty(), b.ty())).into());
    }
    Tensor::apply(Op::Compose(Composite::Matmul), &[&x, &y])
}

impl Tensor {
    /// Matrix product with broadcast leading dims; vectors are treated as in PyTorch.
    ///
    /// ```
    /// use fuseline::Tensor;
    /// let a = Tensor::new([[1.0f32, 2.0], [3.0, 4.0]]);
    /// assert_eq!(a.matmul(&Tensor::new([1.0f32, 1.0])).to_vec::<f32>()?, [3.0, 7.0]);
    /// # Ok::<(), fuseline::Error>(())
    /// ```
    #[track_caller]
    pub fn matmul(&self, other: &Tensor) -> Tensor {
        user_op("matmul", || matmul(self, other))
    }
    /// Product of two matrices.
    #[track_caller]
    pub fn mm(&self, other: &Tensor) -> Tensor {
        user_op("mm", || {
            ranked(self, other, 2)?;
            matmul(self, other)
        })
    }
    /// Products of two batches of matrices.
    #[track_caller]
    pub fn bmm(&self, other: &Tensor) -> Tensor {
        user_op("bmm", || {
            ranked(self, other, 3)?;
            matmul(self, other)
        })
    }
    /// Inner product of two vectors.
    #[track_caller]
    pub fn dot(&self, other: &Tensor) -> Tensor {
        user_op("dot", || {
            ranked(self, other, 1)?;
            matmul(self, other)
        })
    }
    /// Outer product of two vectors.
    #[track_caller]
    pub fn outer(&self, other: &Tensor) -> Tensor {
        user_op("outer", || {
            ranked(self, other, 1)?;
            Ok(self.unsqueeze(1).mul(other.unsqueeze(0)))
        })
    }
    /// Product of a matrix and a vector.
    #[track_caller]
    pub fn mv(&self, vector: &Tensor) -> Tensor {
        user_op("mv", || {
            if self.ok()?.rank() != 2 || vector.ok()?.rank() != 1 {
                return Err(Error::invalid(format!("needs a matrix and a vector, got {} and {}", self.ty(), vector.ty())).into());
            }
            matmul(self, vector)
        })
    }
    /// `self + a · b` for batches of matrices `a` and `b`.
    #[track_caller]
    pub fn baddbmm(&self, a: &Tensor, b: &Tensor) -> Tensor {
        user_op("baddbmm", || {
            ranked(a, b, 3)?;
            Ok(self.add(matmul(a, b)?))
        })
    }
    /// x · y / (‖x‖ · ‖y‖) along a dim, with norms of at least `eps`.
    #[track_caller]
    pub fn cosine_similarity(&self, other: &Tensor, dim: i64, eps: f64) -> Tensor {
        user_op("cosine_similarity", || {
            let (x, y) = (self.ok()?, other.ok()?);
            let norms = x.norm(dim).clamp_min(eps) * y.norm(dim).clamp_min(eps);
            Ok((x * y).sum(dim) / norms)
        })
    }
    /// `self + a · b` for matrices `a` and `b`.
    #[track_caller]
    pub fn addmm(&self, a: &Tensor, b: &Tensor) -> Tensor {
        user_op("addmm", || {
            ranked(a, b, 2)?;
            Ok(self.add(matmul(a, b)?))
        })
    }
}

/// Sums of products by axis labels, such as `"bij,bjk->bik"`; without `->`, the labels that occur once, in alphabetical
/// order. More than two operands are multiplied from left to right.
///
/// ```
/// use fuseline::{Tensor, einsum};
/// let a = Tensor::new([[1.0f32, 2.0], [3.0, 4.0]]);
/// assert_eq!(einsum("ij,ij->i", &[&a, &a]).to_vec::<f32>()?, [5.0, 25.0]);
/// # Ok::<(), fuseline::Error>(())
/// ```
#[track_caller]
pub fn einsum(equation: &str, operands: &[&Tensor]) -> Tensor {
    user_op("einsum", || {
        let (labels, out) = parse(equation)?;
        if labels.len() != operands.len() {
            return Err(Error::invalid(format!("{equation:?} has {} operands, got {}", labels.len(), operands.len())).into());
        }
        for (l, t) in labels.iter().zip(operands) {
            if l.len() != t.ok()?.rank() {
                let name = String::from_utf8_lossy(l);
                return Err(Error::invalid(format!("{equation:?} names {} axes {name:?} of {}", l.len(), t.ty())).into());
            }
        }
        contract_all(&labels, &out, operands)
    })
}

fn parse(equation: &str) -> Result<(Vec<Vec<u8>>, Vec<u8>)> {
    let text: String = equation.chars().filter(|c| !c.is_whitespace()).collect();
    let (inputs, out) = text.split_once("->").map_or((text.as_str(), None), |(i, o)| (i, Some(o)));
    let labels: Vec<Vec<u8>> = inputs.split(',').map(|s| s.as_bytes().to_vec()).collect();
    let all = || labels.iter().flatten().copied();
    let out = out.map_or_else(|| implicit(all()), |o| o.as_bytes().to_vec());
    if let Some(bad) = all().chain(out.iter().copied()).find(|c| !c.is_ascii_alphabetic()) {
        return Err(Error::unsupported(format!("{equation:?}: labels are letters, {:?} is not", char::from(bad))));
    }
    if labels.iter().chain([&out]).any(|l| has_repeat(l)) {
        return Err(Error::unsupported(format!(
            "{equation:?}: a label occurs twice in one operand (diagonals are not supported)"
        )));
    }
    if let Some(bad) = out.iter().find(|&&c| !all().any(|l| l == c)) {
        return Err(Error::invalid(format!("{equation:?}: output label {:?} is in no operand", char::from(*bad))));
    }
    Ok((labels, out))
}

fn implicit(all: impl Iterator<Item = u8>) -> Vec<u8> {
    let mut labels: Vec<u8> = all.collect();
    labels.sort_unstable();
    labels.chunk_by(|a, b| a == b).filter(|run| run.len() == 1).map(|run| run[0]).collect()
}

fn has_repeat(labels: &[u8]) -> bool {
    labels.iter().enumerate().any(|(i, l)| labels[..i].contains(l))
}

fn contract_all(labels: &[Vec<u8>], out: &[u8], operands: &[&Tensor]) -> Recorded<Tensor> {
    let (mut have, mut value) = (labels[0].clone(), operands[0].clone());
    for k in 1..operands.len() {
        let later = |l: &u8| out.contains(l) || labels[k + 1..].iter().any(|o| o.contains(l));
        let mut keep: Vec<u8> =
            if k + 1 == operands.len() { out.to_vec() } else { have.iter().chain(&labels[k]).copied().filter(later).collect() };
        let mut seen = Vec::new();
        keep.retain(|l| {
            !seen.contains(l) && {
                seen.push(*l);
                true
            }
        });
        value = contract_two(&value, &have, operands[k], &labels[k], &keep)?;
        have = keep;
    }
    arrange(&value, &have, out)
}

fn contract_two(a: &Tensor, la: &[u8], b: &Tensor, lb: &[u8], out: &[u8]) -> Recorded<Tensor> {
    let (a, b) = pair(a, b)?;
    let short = |l: &[u8]| -> SmallVec<[u8; 6]> { l.iter().copied().collect() };
    let acc = if a.dtype().is_float() { a.dtype().accumulator() } else { a.dtype() };
    Tensor::apply(Op::Contract(ContractSpec { a: short(la), b: short(lb), out: short(out), acc }), &[&a, &b])
}

/// Sums the labels that are not wanted and orders the others.
fn arrange(x: &Tensor, have: &[u8], out: &[u8]) -> Recorded<Tensor> {
    let gone: SmallVec<[usize; 4]> = (0..have.len()).filter(|&i| !out.contains(&have[i])).collect();
    let left: Vec<u8> = have.iter().copied().filter(|l| out.contains(l)).collect();
    let x = if gone.is_empty() { x.clone() } else { Tensor::apply(Op::Reduce(Combiner::Sum, gone), &[x])? };
    if left == out {
        return Ok(x);
    }
    let perm = out.iter().filter_map(|l| left.iter().position(|h| h == l)).collect();
    Tensor::apply(Op::Permute(perm), &[&x])
}
