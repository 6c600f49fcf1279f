//! Random numbers as functions of a seed: the `fuseline` ops of the Python package.

use base::Result;
use graph::NodeId;
use graph::compose::{self, Key};
use scalar::{DType, Scalar, ScalarOp as S, Shape, Sym};

use super::Lower;
use super::ctx::Ctx;

pub(super) fn lookup(target: &str) -> Option<Lower> {
    Some(match target {
        "fuseline.rand_bits.default" => bits,
        "fuseline.rand_uniform.default" => |c| drawn(c, compose::rand_uniform),
        "fuseline.rand_normal.default" => |c| drawn(c, compose::randn),
        _ => return None,
    })
}

type Draw = fn(&mut graph::Builder, &Shape, DType, Key) -> Result<NodeId>;

fn key(c: &mut Ctx<'_>) -> Result<Key> {
    let stream = c.int("stream")?;
    let stream = u32::try_from(stream).map_err(|_| c.unsupported(format!("stream {stream}")))?;
    Ok(Key { key: c.tensor("seed")?, offset: c.b.constant(Scalar::i64(0))?, stream })
}

fn drawn(c: &mut Ctx<'_>, draw: Draw) -> Result<Vec<NodeId>> {
    let (key, shape, dtype) = (key(c)?, c.shape()?, c.dtype()?);
    Ok(vec![draw(c.b, &shape, dtype, key)?])
}

/// Word i of the stream for element i, as i64.
fn bits(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let (key, shape) = (key(c)?, c.shape()?);
    let flat = Shape::from_iter([Sym::product(&shape)]);
    let counter = c.b.iota(flat[0].clone())?;
    let seed = c.expand(key.key, &flat)?;
    let word = c.b.map(S::Philox(key.stream), &[seed, counter])?;
    let word = c.cast(word, DType::I64)?;
    Ok(vec![c.reshape(word, &shape)?])
}
