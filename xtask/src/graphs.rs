//! Graphs of the op benchmarks and of the compile-time benchmark.

use base::Result;
use graph::{Builder, Graph, NodeId, compose};
use scalar::{DType, Scalar, ScalarOp, Sym};

fn input(b: &mut Builder, name: &str, shape: &[i64]) -> Result<NodeId> {
    b.input(name, DType::F32, shape.iter().copied(), false)
}

fn origin<T>(b: &mut Builder, op: &str, f: impl FnOnce(&mut Builder) -> Result<T>) -> Result<T> {
    b.with_origin(op, "", f)
}

fn full(b: &mut Builder, x: NodeId, v: f32) -> Result<NodeId> {
    let shape = b.shape(x).clone();
    let c = b.constant(Scalar::f32(v))?;
    compose::broadcast_to(b, c, &shape)
}

/// Ten cheap ops on two matrices.
pub(crate) fn pointwise(n: i64, m: i64) -> Result<Graph> {
    let mut b = Builder::new("pointwise");
    let (x, y) = (input(&mut b, "x", &[n, m])?, input(&mut b, "y", &[n, m])?);
    let mut v = x;
    let ops = [ScalarOp::Add, ScalarOp::Mul, ScalarOp::Sub, ScalarOp::Max, ScalarOp::Min];
    for (k, op) in ops.into_iter().chain(ops).enumerate() {
        v = origin(&mut b, &op.name(), |b| {
            let other = if k % 3 == 0 { y } else { full(b, x, 0.5 + k as f32)? };
            b.map(op, &[v, other])
        })?;
    }
    b.output("out", v)?;
    Ok(b.finish())
}

/// gelu(x + bias) · 0.5 + 0.1, erf form.
pub(crate) fn gelu(n: i64, m: i64) -> Result<Graph> {
    let mut b = Builder::new("gelu");
    let x = input(&mut b, "x", &[n, m])?;
    let bias = input(&mut b, "bias", &[m])?;
    let s = origin(&mut b, "add", |b| compose::binary(b, ScalarOp::Add, x, bias))?;
    let g = origin(&mut b, "gelu", |b| compose::gelu(b, s))?;
    let half = full(&mut b, g, 0.5)?;
    let h = origin(&mut b, "mul", |b| b.map(ScalarOp::Mul, &[g, half]))?;
    let tenth = full(&mut b, g, 0.1)?;
    let out = origin(&mut b, "add", |b| b.map(ScalarOp::Add, &[h, tenth]))?;
    b.output("out", out)?;
    Ok(b.finish())
}

/// Softmax over the last axis.
pub(crate) fn softmax(n: i64, m: i64) -> Result<Graph> {
    let mut b = Builder::new("softmax");
    let x = input(&mut b, "x", &[n, m])?;
    let out = origin(&mut b, "softmax", |b| compose::softmax(b, x, 1))?;
    b.output("out", out)?;
    Ok(b.finish())
}

/// s = x + r; layer_norm(s)·w + b; both are outputs.
pub(crate) fn residual_norm(n: i64, m: i64) -> Result<Graph> {
    let mut b = Builder::new("residual_norm");
    let (x, r) = (input(&mut b, "x", &[n, m])?, input(&mut b, "r", &[n, m])?);
    let (w, c) = (input(&mut b, "w", &[m])?, input(&mut b, "b", &[m])?);
    let s = origin(&mut b, "add", |b| b.map(ScalarOp::Add, &[x, r]))?;
    let out =
        origin(&mut b, "layer_norm", |b| compose::layer_norm(b, s, 1, compose::Affine { weight: Some(w), bias: Some(c) }, 1e-5))?;
    b.output("s", s)?;
    b.output("out", out)?;
    Ok(b.finish())
}

/// gelu(x·W + b).
pub(crate) fn linear_gelu(m: i64, k: i64, n: i64) -> Result<Graph> {
    let mut b = Builder::new("linear_gelu");
    let x = input(&mut b, "x", &[m, k])?;
    let (w, bias) = (input(&mut b, "w", &[n, k])?, input(&mut b, "bias", &[n])?);
    let y = origin(&mut b, "linear", |b| compose::linear(b, x, w, Some(bias)))?;
    let out = origin(&mut b, "gelu", |b| compose::gelu(b, y))?;
    b.output("out", out)?;
    Ok(b.finish())
}

/// Attention of one sequence, unmasked.
pub(crate) fn attention(heads: i64, seq: i64, width: i64) -> Result<Graph> {
    let mut b = Builder::new("attention");
    let shape = [1, heads, seq, width];
    let (q, k, v) = (input(&mut b, "q", &shape)?, input(&mut b, "k", &shape)?, input(&mut b, "v", &shape)?);
    let out = origin(&mut b, "attention", |b| compose::attention(b, q, k, v, &compose::Attention::default()))?;
    b.output("out", out)?;
    Ok(b.finish())
}

/// `pairs` of (a = a + b, b = a · b).
pub(crate) fn pairs(pairs: usize) -> Result<Graph> {
    let mut b = Builder::new("pairs");
    let (mut x, mut y) = (input(&mut b, "a", &[1024])?, input(&mut b, "b", &[1024])?);
    for _ in 0..pairs {
        x = b.map(ScalarOp::Add, &[x, y])?;
        y = b.map(ScalarOp::Mul, &[x, y])?;
    }
    b.output("a", x)?;
    b.output("b", y)?;
    Ok(b.finish())
}

/// One producer and `readers` readers, each an output.
pub(crate) fn star(readers: usize) -> Result<Graph> {
    let mut b = Builder::new("star");
    let x = input(&mut b, "x", &[1024])?;
    let e = b.map(ScalarOp::Exp, &[x])?;
    for i in 0..readers {
        let c = full(&mut b, x, i as f32)?;
        let r = b.map(ScalarOp::Mul, &[e, c])?;
        b.output(format!("r{i}"), r)?;
    }
    Ok(b.finish())
}

/// `x[i−1] + x[i] + x[i+1]` again and again, through slices.
pub(crate) fn stencil(steps: usize) -> Result<Graph> {
    let mut b = Builder::new("stencil");
    let mut x = input(&mut b, "x", &[(2 * steps + 1024) as i64])?;
    for _ in 0..steps {
        let n = b.shape(x)[0].clone() - 2;
        let parts = (0..3).map(|o| b.slice(x, [Sym::from(o as i64)], [n.clone()], &[1])).collect::<Result<Vec<_>>>()?;
        let sum = b.map(ScalarOp::Add, &[parts[0], parts[1]])?;
        x = b.map(ScalarOp::Add, &[sum, parts[2]])?;
    }
    b.output("out", x)?;
    Ok(b.finish())
}

/// `a[::2] + a[1::2]` while the length allows, on enough elements for `steps` halvings, then again from the input.
pub(crate) fn halving(steps: usize) -> Result<Graph> {
    let mut b = Builder::new("halving");
    let x = input(&mut b, "x", &[1 << 16])?;
    let mut v = x;
    let mut made = 0;
    while made < steps {
        let n = b.shape(v)[0].as_int().unwrap_or(0) / 2;
        if n == 0 {
            b.output(format!("out{made}"), v)?;
            let c = full(&mut b, x, made as f32)?;
            v = b.map(ScalarOp::Add, &[x, c])?;
            made += 1;
            continue;
        }
        let even = b.slice(v, [0], [n], &[2])?;
        let odd = b.slice(v, [1], [n], &[2])?;
        v = b.map(ScalarOp::Add, &[even, odd])?;
        made += 1;
    }
    b.output("out", v)?;
    Ok(b.finish())
}

/// exp between reshapes that regroup the same elements.
pub(crate) fn reshapes(steps: usize) -> Result<Graph> {
    let mut b = Builder::new("reshapes");
    let mut x = input(&mut b, "x", &[64, 48])?;
    for i in 0..steps {
        let shape: [i64; 2] = if i % 2 == 0 { [48, 64] } else { [64, 48] };
        x = b.reshape(x, shape)?;
        x = b.map(ScalarOp::Tanh, &[x])?;
    }
    b.output("out", x)?;
    Ok(b.finish())
}

/// A pre-norm transformer: width 256, 4 heads, 64 positions.
pub(crate) fn transformer(layers: usize) -> Result<Graph> {
    let mut b = Builder::new("transformer");
    let mut x = input(&mut b, "x", &[64, 256])?;
    for i in 0..layers {
        let weight =
            |b: &mut Builder, name: &str, shape: &[i64]| b.input(&format!("{name}{i}"), DType::F32, shape.iter().copied(), true);
        let qkv = weight(&mut b, "qkv", &[768, 256])?;
        let out = weight(&mut b, "out", &[256, 256])?;
        let (up, down) = (weight(&mut b, "up", &[1024, 256])?, weight(&mut b, "down", &[256, 1024])?);
        let none = compose::Affine { weight: None, bias: None };
        let n = origin(&mut b, "layer_norm", |b| compose::layer_norm(b, x, 1, none, 1e-5))?;
        let all = origin(&mut b, "linear", |b| compose::linear(b, n, qkv, None))?;
        let parts = (0..3)
            .map(|k| {
                let part = b.slice(all, [0, 256 * k], [64, 256], &[1, 1])?;
                let heads = b.reshape(part, [64, 4, 64])?;
                b.permute(heads, &[1, 0, 2])
            })
            .collect::<Result<Vec<_>>>()?;
        let a = origin(&mut b, "attention", |b| {
            let scores = b.einsum("hqd,hkd->hqk", parts[0], parts[1], DType::F32)?;
            let scale = full(b, scores, 0.125)?;
            let scaled = b.map(ScalarOp::Mul, &[scores, scale])?;
            let p = compose::softmax(b, scaled, 2)?;
            b.einsum("hqk,hkd->qhd", p, parts[2], DType::F32)
        })?;
        let merged = b.reshape(a, [64, 256])?;
        let o = origin(&mut b, "linear", |b| compose::linear(b, merged, out, None))?;
        x = origin(&mut b, "add", |b| b.map(ScalarOp::Add, &[x, o]))?;
        let n = origin(&mut b, "layer_norm", |b| compose::layer_norm(b, x, 1, none, 1e-5))?;
        let h = origin(&mut b, "linear", |b| compose::linear(b, n, up, None))?;
        let g = origin(&mut b, "gelu", |b| compose::gelu(b, h))?;
        let d = origin(&mut b, "linear", |b| compose::linear(b, g, down, None))?;
        x = origin(&mut b, "add", |b| b.map(ScalarOp::Add, &[x, d]))?;
    }
    b.output("out", x)?;
    Ok(b.finish())
}
