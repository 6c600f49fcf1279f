//! Pointwise programs, and transposes.

use base::Result;
use graph::{Builder, NodeId, compose};
use scalar::DType::{self, BF16, F16, F32};
use scalar::ScalarOp as S;

use crate::{Row, Scale, row};

pub(crate) fn rows(scale: Scale) -> Vec<Row> {
    let n = scale.of(8192);
    vec![
        row("01_bias_gelu", &[&format!("row bias+gelu+scale+shift f16 [{n}, {n}]"), "target 0.97"], |b| bias_gelu(b, n)),
        row("02_ten_ops", &[&format!("row ten ops, five tanh f16 [{n}, {n}]"), "target 0.60"], |b| ten_ops(b, n)),
        row("03_add_relu", &[&format!("row add+relu f16 [{n}, {n}]"), "target 0.98"], |b| add_relu(b, n)),
        row("08_transpose_bf16", &[&format!("row transpose bf16 [{n}, {n}]"), "target 0.93"], |b| transpose(b, BF16, n)),
        row("08_transpose_f32", &[&format!("row transpose f32 [{n}, {n}]"), "target 0.95"], |b| transpose(b, F32, n)),
    ]
}

/// Calls `f` with the origin of a user's op.
pub(crate) fn op<T>(b: &mut Builder, name: &str, f: impl FnOnce(&mut Builder) -> Result<T>) -> Result<T> {
    b.with_origin(name, "", f)
}

fn matrix(b: &mut Builder, name: &str, dtype: DType, n: i64) -> Result<NodeId> {
    b.input(name, dtype, [n, n], false)
}

fn bias_gelu(b: &mut Builder, n: i64) -> Result<()> {
    let (x, bias) = (matrix(b, "x", F16, n)?, b.input("bias", F16, [n], false)?);
    let y = op(b, "add", |b| compose::binary(b, S::Add, x, bias))?;
    let y = op(b, "gelu", |b| compose::gelu(b, y))?;
    let y = op(b, "mul", |b| compose::with_scalar(b, S::Mul, y, 0.5))?;
    let y = op(b, "add", |b| compose::with_scalar(b, S::Add, y, 0.1))?;
    b.output("y", y).map(drop)
}

fn ten_ops(b: &mut Builder, n: i64) -> Result<()> {
    let mut x = matrix(b, "x", F16, n)?;
    for _ in 0..5 {
        x = op(b, "tanh", |b| b.map(S::Tanh, &[x]))?;
        x = op(b, "mul", |b| compose::with_scalar(b, S::Mul, x, 1.01))?;
    }
    b.output("y", x).map(drop)
}

fn add_relu(b: &mut Builder, n: i64) -> Result<()> {
    let (x, y) = (matrix(b, "x", F16, n)?, matrix(b, "y", F16, n)?);
    let sum = op(b, "add", |b| b.map(S::Add, &[x, y]))?;
    let z = op(b, "relu", |b| compose::relu(b, sum))?;
    b.output("z", z).map(drop)
}

fn transpose(b: &mut Builder, dtype: DType, n: i64) -> Result<()> {
    let x = matrix(b, "x", dtype, n)?;
    let t = op(b, "transpose", |b| b.permute(x, &[1, 0]))?;
    let y = op(b, "contiguous", |b| b.materialize(t))?;
    b.output("y", y).map(drop)
}
