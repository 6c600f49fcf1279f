//! Softmax and norms over rows of bf16.

use base::Result;
use graph::compose::{self, Affine};
use graph::{Builder, NodeId};
use scalar::DType::{BF16, F32};
use scalar::ScalarOp as S;

use crate::pointwise::op;
use crate::{Row, Scale, row};

/// Rows, columns, and the target of softmax.
const SIZES: [(i64, i64, &str); 5] =
    [(32768, 1024, "0.95"), (16384, 4096, "0.95"), (8192, 16384, "0.95"), (2048, 65536, "0.92"), (512, 262_144, "0.92")];

type Make = fn(&mut Builder, i64, i64) -> Result<()>;

const NORMS: [(&str, &str, Make); 3] = [
    ("05_rms_norm", "RMS norm", rms_norm),
    ("05_layer_norm", "layer norm", layer_norm),
    ("05_residual_layer_norm", "residual+layer norm", residual_layer_norm),
];

pub(crate) fn rows(scale: Scale) -> Vec<Row> {
    let mut rows = Vec::new();
    for (n, m, target) in SIZES {
        let (n, m) = (scale.of(n), scale.of(m));
        let make = |file: &str, name: &str, target: &str, make: Make| {
            let header = [&*format!("row {name} bf16 [{n}, {m}]"), &*format!("target {target}")];
            row(format!("{file}_{n}x{m}"), &header, |b| make(b, n, m))
        };
        rows.push(make("04_softmax", "softmax", target, softmax));
        rows.extend(NORMS.iter().map(|&(file, name, f)| make(file, name, "0.95", f)));
        if m <= scale.of(16384) {
            rows.push(make("06_layer_norm_backward", "layer norm backward", "0.85", layer_norm_backward));
        }
    }
    rows
}

fn softmax(b: &mut Builder, n: i64, m: i64) -> Result<()> {
    let x = b.input("x", BF16, [n, m], false)?;
    let y = op(b, "softmax", |b| compose::softmax(b, x, 1))?;
    b.output("y", y).map(drop)
}

fn rms_norm(b: &mut Builder, n: i64, m: i64) -> Result<()> {
    let (x, w) = (b.input("x", BF16, [n, m], false)?, b.input("w", BF16, [m], false)?);
    let y = op(b, "rms_norm", |b| compose::rms_norm(b, x, 1, Some(w), 1e-6))?;
    b.output("y", y).map(drop)
}

fn affine(b: &mut Builder, m: i64) -> Result<Affine> {
    Ok(Affine { weight: Some(b.input("w", BF16, [m], false)?), bias: Some(b.input("b", BF16, [m], false)?) })
}

fn layer_norm(b: &mut Builder, n: i64, m: i64) -> Result<()> {
    let x = b.input("x", BF16, [n, m], false)?;
    let p = affine(b, m)?;
    let y = op(b, "layer_norm", |b| compose::layer_norm(b, x, 1, p, 1e-5))?;
    b.output("y", y).map(drop)
}

fn residual_layer_norm(b: &mut Builder, n: i64, m: i64) -> Result<()> {
    let (x, r) = (b.input("x", BF16, [n, m], false)?, b.input("r", BF16, [n, m], false)?);
    let p = affine(b, m)?;
    let s = op(b, "add", |b| b.map(S::Add, &[x, r]))?;
    let y = op(b, "layer_norm", |b| compose::layer_norm(b, s, 1, p, 1e-5))?;
    b.output("s", s)?;
    b.output("y", y).map(drop)
}

/// dx, dw and db from x, dy, w and the statistics that forward kept, in f32.
fn layer_norm_backward(b: &mut Builder, n: i64, m: i64) -> Result<()> {
    let mut wide = |name: &str, shape: &[i64]| -> Result<NodeId> {
        let x = b.input(name, BF16, shape.iter().copied(), false)?;
        compose::cast(b, x, F32)
    };
    let (x, dy, w) = (wide("x", &[n, m])?, wide("dy", &[n, m])?, wide("w", &[m])?);
    let (mean, rstd) = (b.input("mean", F32, [n, 1], false)?, b.input("rstd", F32, [n, 1], false)?);
    op(b, "layer_norm_backward", |b| {
        let centred = compose::binary(b, S::Sub, x, mean)?;
        let normal = compose::binary(b, S::Mul, centred, rstd)?;
        let g = compose::binary(b, S::Mul, dy, w)?;
        let along = b.map(S::Mul, &[g, normal])?;
        let (mean_g, mean_along) = (compose::mean(b, g, &[1], true)?, compose::mean(b, along, &[1], true)?);
        let rest = compose::binary(b, S::Sub, g, mean_g)?;
        let share = compose::binary(b, S::Mul, normal, mean_along)?;
        let inner = b.map(S::Sub, &[rest, share])?;
        let dx = compose::binary(b, S::Mul, inner, rstd)?;
        let down = b.map(S::Mul, &[dy, normal])?;
        let (dw, db) = (compose::sum(b, down, &[0], false)?, compose::sum(b, dy, &[0], false)?);
        for (name, value) in [("dx", dx), ("dw", dw), ("db", db)] {
            let value = compose::cast(b, value, BF16)?;
            b.output(name, value)?;
        }
        Ok(())
    })
}
