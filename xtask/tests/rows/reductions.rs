//! Sums, and cross-entropy.

use base::Result;
use graph::{Builder, compose};
use scalar::DType::{self, BF16, F32, I64};
use scalar::{ScalarOp as S, Sym};

use crate::pointwise::op;
use crate::{Row, Scale, row};

pub(crate) fn rows(scale: Scale) -> Vec<Row> {
    let n = scale.of(16384);
    let mut rows = Vec::new();
    for dtype in [F32, BF16] {
        for (file, name, axes) in [("09_sum_all", "sum of all", &[0, 1][..]), ("09_sum_columns", "sum of columns", &[0])] {
            let header = [&*format!("row {name} {dtype} [{n}, {n}]"), "ruler read", "target 0.95"];
            rows.push(row(format!("{file}_{dtype}"), &header, |b| sum(b, dtype, n, axes)));
        }
    }
    let (n, classes) = (scale.of(8192), scale.of(128_256));
    let name = |what: &str| format!("row cross-entropy{what} bf16 [{n}, {classes}]");
    let below = format!("below {classes}");
    let forward = [&*name(""), "ruler read", "target 0.92", &below];
    let both = [&*name(" and gradient"), "target 0.92", &below];
    rows.push(row("07_cross_entropy", &forward, |b| cross_entropy(b, n, classes, false)));
    rows.push(row("07_cross_entropy_gradient", &both, |b| cross_entropy(b, n, classes, true)));
    rows
}

fn sum(b: &mut Builder, dtype: DType, n: i64, axes: &[usize]) -> Result<()> {
    let x = b.input("x", dtype, [n, n], false)?;
    let y = op(b, "sum", |b| compose::sum(b, x, axes, false))?;
    b.output("y", y).map(drop)
}

/// The mean loss, and the logits' gradient if so wanted.
fn cross_entropy(b: &mut Builder, n: i64, classes: i64, gradient: bool) -> Result<()> {
    let (logits, target) = (b.input("logits", BF16, [n, classes], false)?, b.input("target", I64, [n], false)?);
    op(b, "cross_entropy", |b| {
        let wide = compose::cast(b, logits, F32)?;
        let logp = compose::log_softmax(b, wide, 1)?;
        let loss = compose::nll(b, logp, target, None, compose::Reduction::Mean)?;
        b.output("loss", loss)?;
        if !gradient {
            return Ok(());
        }
        let p = b.map(S::Exp, &[logp])?;
        let hit = compose::one_hot(b, target, &Sym::from(classes), F32)?;
        let d = b.map(S::Sub, &[p, hit])?;
        let d = compose::with_scalar(b, S::Mul, d, 1.0 / n as f64)?;
        let d = compose::cast(b, d, BF16)?;
        b.output("dlogits", d).map(drop)
    })
}
