//! A step of AdamW on the parameters of BERT-base.

use base::Result;
use graph::{Builder, InputDecl, NodeId, TensorType, compose};
use scalar::DType::F32;
use scalar::ScalarOp as S;

use crate::pointwise::op;
use crate::{Row, Scale, row};

pub(crate) fn rows(scale: Scale) -> Vec<Row> {
    let shapes = parameters(scale);
    let name = format!("row AdamW step, BERT-base, {} tensors f32", shapes.len());
    vec![row("10_adamw", &[&name, "target 0.90"], |b| adamw(b, &shapes))]
}

/// Shapes of the parameters: embeddings and their norm, twelve layers, pooler.
fn parameters(scale: Scale) -> Vec<Vec<i64>> {
    let (width, inner) = (scale.of(768), scale.of(3072));
    let square = [vec![width, width], vec![width]];
    let norm = [vec![width], vec![width]];
    let mut shapes: Vec<Vec<i64>> = [30522, 512, 2].iter().map(|&n| vec![scale.of(n), width]).collect();
    shapes.extend(norm.clone());
    for _ in 0..12 {
        (0..4).for_each(|_| shapes.extend(square.clone()));
        shapes.extend(norm.clone());
        shapes.extend([vec![inner, width], vec![inner], vec![width, inner], vec![width]]);
        shapes.extend(norm.clone());
    }
    shapes.extend(square);
    shapes
}

fn adamw(b: &mut Builder, shapes: &[Vec<i64>]) -> Result<()> {
    let rate = b.input("lr", F32, [] as [i64; 0], false)?;
    let corrections = [b.input("c1", F32, [] as [i64; 0], false)?, b.input("c2", F32, [] as [i64; 0], false)?];
    for (i, shape) in shapes.iter().enumerate() {
        let mut state = |name: &str| {
            let ty = TensorType { dtype: F32, shape: shape.iter().map(|&n| n.into()).collect() };
            b.input_decl(InputDecl { name: format!("{name}{i}"), ty, frozen: false, donated: true })
        };
        let (p, m, v) = (state("p")?, state("m")?, state("v")?);
        let g = b.input(format!("g{i}"), F32, shape.iter().copied(), false)?;
        let made = op(b, "adamw", |b| step(b, [p, g, m, v], rate, corrections))?;
        for (name, value) in ["p", "m", "v"].into_iter().zip(made) {
            b.output(format!("{name}{i}"), value)?;
        }
    }
    Ok(())
}

/// New parameter and moments; decay 0.01, β 0.9 and 0.999.
fn step(b: &mut Builder, [p, g, m, v]: [NodeId; 4], rate: NodeId, [c1, c2]: [NodeId; 2]) -> Result<[NodeId; 3]> {
    let m = blend(b, m, g, 0.9)?;
    let square = b.map(S::Mul, &[g, g])?;
    let v = blend(b, v, square, 0.999)?;
    let spread = compose::binary(b, S::Div, v, c2)?;
    let spread = b.map(S::Sqrt, &[spread])?;
    let spread = compose::with_scalar(b, S::Add, spread, 1e-8)?;
    let direction = compose::binary(b, S::Div, m, c1)?;
    let direction = b.map(S::Div, &[direction, spread])?;
    let decay = compose::with_scalar(b, S::Mul, p, 0.01)?;
    let change = b.map(S::Add, &[direction, decay])?;
    let change = compose::binary(b, S::Mul, change, rate)?;
    Ok([b.map(S::Sub, &[p, change])?, m, v])
}

/// keep · old + (1 − keep) · new.
fn blend(b: &mut Builder, old: NodeId, new: NodeId, keep: f64) -> Result<NodeId> {
    let old = compose::with_scalar(b, S::Mul, old, keep)?;
    let new = compose::with_scalar(b, S::Mul, new, 1.0 - keep)?;
    b.map(S::Add, &[old, new])
}
