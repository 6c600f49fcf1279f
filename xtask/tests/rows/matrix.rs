//! Programs around matrix products.

use base::Result;
use graph::{Builder, compose};
use scalar::DType::BF16;
use scalar::ScalarOp as S;

use crate::pointwise::op;
use crate::{Row, Scale, row};

pub(crate) fn rows(scale: Scale) -> Vec<Row> {
    let (n, width, inner) = (scale.of(8192), scale.of(768), scale.of(3072));
    let gelu = format!("row gelu(x@W+b)*scale bf16 {n}x{n}x{n}");
    let geglu = format!("row GeGLU MLP bf16 [{n}, {width}->{inner}]");
    let narrow = scale.of(1024);
    let layers = if scale == Scale::Full { 20 } else { 3 };
    let mlp = format!("row {layers}-layer residual MLP bf16 [1, {narrow}]");
    let kernels = format!("kernels {layers}");
    vec![
        row("11_gelu_linear_scale", &[&gelu, "ruler product", "kernels 2"], |b| gelu_linear_scale(b, n)),
        row("12_geglu", &[&geglu, "ruler product", "kernels 4"], |b| geglu_mlp(b, n, width, inner)),
        row("13_residual_mlp", &[&mlp, "ruler read", &kernels], |b| residual_mlp(b, narrow, layers)),
    ]
}

fn gelu_linear_scale(b: &mut Builder, n: i64) -> Result<()> {
    let (x, w) = (b.input("x", BF16, [n, n], false)?, b.input("w", BF16, [n, n], false)?);
    let (bias, scale) = (b.input("bias", BF16, [n], false)?, b.input("scale", BF16, [n], false)?);
    let y = op(b, "matmul", |b| compose::matmul(b, x, w))?;
    let y = op(b, "add", |b| compose::binary(b, S::Add, y, bias))?;
    let y = op(b, "gelu", |b| compose::gelu(b, y))?;
    let y = op(b, "mul", |b| compose::binary(b, S::Mul, y, scale))?;
    b.output("y", y).map(drop)
}

fn geglu_mlp(b: &mut Builder, n: i64, width: i64, inner: i64) -> Result<()> {
    let x = b.input("x", BF16, [n, width], false)?;
    let (gate, up) = (b.input("gate", BF16, [inner, width], false)?, b.input("up", BF16, [inner, width], false)?);
    let down = b.input("down", BF16, [width, inner], false)?;
    let g = op(b, "linear", |b| compose::linear(b, x, gate, None))?;
    let g = op(b, "gelu", |b| compose::gelu_tanh(b, g))?;
    let u = op(b, "linear", |b| compose::linear(b, x, up, None))?;
    let h = op(b, "mul", |b| b.map(S::Mul, &[g, u]))?;
    let y = op(b, "linear", |b| compose::linear(b, h, down, None))?;
    b.output("y", y).map(drop)
}

fn residual_mlp(b: &mut Builder, width: i64, layers: i64) -> Result<()> {
    let mut x = b.input("x", BF16, [1, width], false)?;
    for i in 0..layers {
        let w = b.input(format!("w{i}"), BF16, [width, width], false)?;
        let bias = b.input(format!("b{i}"), BF16, [width], false)?;
        let h = op(b, "matmul", |b| compose::matmul(b, x, w))?;
        let h = op(b, "add", |b| compose::binary(b, S::Add, h, bias))?;
        let h = op(b, "relu", |b| compose::relu(b, h))?;
        x = op(b, "add", |b| b.map(S::Add, &[h, x]))?;
    }
    b.output("y", x).map(drop)
}
