//! Recorded ops as graph nodes: the only place that knows the builder.

use base::Result;
use graph::{At, Builder, NodeId, WriteCombine, compose};
use scalar::{Scalar, ScalarOp};
use smallvec::{SmallVec, smallvec};

use crate::nn::Reduction;
use crate::op::{Affine, Composite, Loss, Op};

/// Results of one op.
type Results = SmallVec<[NodeId; 1]>;

/// Adds an op to a graph. `stream` tells random ops of one graph apart.
pub(crate) fn emit(b: &mut Builder, op: &Op, args: &[NodeId], stream: u32) -> Result<Results> {
    let x = args.first().copied();
    let x = || x.expect("the op has an operand");
    let one = match op {
        Op::Map(op) => map(b, *op, args),
        Op::Cast(dtype) => compose::cast(b, x(), *dtype),
        Op::Size(n) => b.sym(n),
        Op::Iota(n) => b.iota(n),
        Op::Reduce(combiner, axes) => {
            let node = b.reduce(*combiner, args, axes)?;
            return results(b, node, combiner.info().components);
        }
        Op::Scan(combiner, axis) => b.scan(*combiner, args, *axis),
        Op::Reshape(shape) => b.reshape(x(), shape),
        Op::Permute(perm) => b.permute(x(), perm),
        Op::Expand(shape) => b.expand(x(), shape),
        Op::Slice { start, len, step } => b.slice(x(), start, len, step),
        Op::Flip(axes) => b.flip(x(), axes),
        Op::Pad { lo, hi, value } => b.pad(x(), lo, hi, &vec![0; lo.len()], *value),
        Op::Concat(axis) => b.concat(args, *axis),
        Op::Contract(spec) => b.contract(spec.clone(), args[0], args[1]),
        Op::Gather { axis } => {
            let n = b.shape(args[0])[*axis].clone();
            let index = compose::wrap_index(b, args[1], &n)?;
            b.gather(args[0], &[index], &[*axis])
        }
        Op::Scatter { axis, combine } => scatter(b, args, *axis, *combine),
        Op::Call(name, attrs) => {
            let node = b.call(*name, attrs.clone(), args)?;
            return results(b, node, 2);
        }
        Op::Compose(composite) => return compose_op(b, composite, args, stream),
    };
    Ok(smallvec![one?])
}

fn results(b: &mut Builder, node: NodeId, count: usize) -> Result<Results> {
    (0..count as u32).map(|i| b.result(node, i)).collect()
}

/// Operands are broadcast; dtypes are right already.
fn map(b: &mut Builder, op: ScalarOp, args: &[NodeId]) -> Result<NodeId> {
    let args = if args.len() > 1 { compose::broadcast_all(b, args)? } else { args.to_vec() };
    b.map(op, &args)
}

/// Destination, source, indices: indices along one axis, own positions along the others.
fn scatter(b: &mut Builder, args: &[NodeId], axis: usize, combine: WriteCombine) -> Result<NodeId> {
    let &[dst, src, index] = args else { unreachable!("scatter records three operands") };
    let n = b.shape(dst)[axis].clone();
    let index = compose::wrap_index(b, index, &n)?;
    let at = At::Indices { axes: smallvec![axis], unique: false };
    b.write(combine, at, dst, src, &[index])
}

/// The optional operands that follow the first `from`.
fn affine(args: &[NodeId], from: usize, has: Affine) -> compose::Affine {
    let mut rest = args[from..].iter().copied();
    let weight = if has.weight { rest.next() } else { None };
    let bias = if has.bias { rest.next() } else { None };
    compose::Affine { weight, bias }
}

fn compose_op(b: &mut Builder, op: &Composite, args: &[NodeId], stream: u32) -> Result<Results> {
    use Composite as C;
    let x = args[0];
    let optional = |at: usize, has: bool| if has { args.get(at).copied() } else { None };
    let one = match op {
        C::Relu => compose::relu(b, x),
        C::Relu6 => compose::relu6(b, x),
        C::Selu => compose::selu(b, x),
        C::Gelu => compose::gelu(b, x),
        C::GeluTanh => compose::gelu_tanh(b, x),
        C::Silu => compose::silu(b, x),
        C::HardSwish => compose::hardswish(b, x),
        C::HardSigmoid => compose::hardsigmoid(b, x, 1.0 / 6.0, 0.5),
        C::Mish => compose::mish(b, x),
        C::Softsign => compose::softsign(b, x),
        C::Softplus => compose::softplus(b, x, 1.0, 20.0),
        C::LeakyRelu(slope) => compose::leaky_relu(b, x, slope.get()),
        C::Elu(alpha) => compose::elu(b, x, alpha.get()),
        C::Prelu => compose::prelu(b, x, args[1]),
        C::Softmax(axis) => compose::softmax(b, x, *axis),
        C::LogSoftmax(axis) => compose::log_softmax(b, x, *axis),
        C::LogSumExp((axes, keep)) => compose::logsumexp(b, x, axes, *keep),
        C::Mean((axes, keep)) => compose::mean(b, x, axes, *keep),
        C::Var((axes, keep), correction) => compose::var(b, x, axes, *correction, *keep),
        C::Matmul => compose::matmul(b, x, args[1]),
        C::Linear { bias } => compose::linear(b, x, args[1], optional(2, *bias)),
        C::LayerNorm { first, eps, affine: a } => compose::layer_norm(b, x, *first, affine(args, 1, *a), eps.get()),
        C::RmsNorm { first, eps, weight } => compose::rms_norm(b, x, *first, optional(1, *weight), eps.get()),
        C::GroupNorm { groups, eps, affine: a } => compose::group_norm(b, x, *groups, affine(args, 1, *a), eps.get()),
        C::BatchNorm { eps, affine: a } => compose::batch_norm(b, x, args[1], args[2], affine(args, 3, *a), eps.get()),
        C::BatchNormTrain { eps, affine: a } => {
            let out = compose::batch_norm_train(b, x, affine(args, 1, *a), eps.get())?;
            return Ok([out.y, out.mean, out.var].into_iter().collect());
        }
        C::Conv { geometry, bias } => compose::conv(b, x, args[1], optional(2, *bias), geometry),
        C::ConvTranspose { geometry, output_padding, bias } => {
            compose::conv_transpose(b, x, args[1], optional(2, *bias), geometry, output_padding)
        }
        C::MaxPool(pool) => compose::max_pool(b, x, pool),
        C::AvgPool(pool, count_pads) => compose::avg_pool(b, x, pool, *count_pads),
        C::AdaptiveAvgPool(out) => compose::adaptive_avg_pool(b, x, out),
        C::Attention { causal, scale, mask } => {
            let options = compose::Attention { mask: optional(3, *mask), causal: *causal, scale: scale.map(|s| s.get()) };
            compose::attention(b, x, args[1], args[2], &options)
        }
        C::Embedding => compose::embedding(b, args[1], x),
        C::Dropout(p) => {
            let offset = b.constant(Scalar::i64(0))?;
            compose::dropout(b, x, p.get(), compose::Key { key: args[1], offset, stream })
        }
        C::Rope { dim, base } => {
            let (cos, sin) = compose::rope_tables(b, args[1], *dim, base.get())?;
            compose::rope(b, x, cos, sin, compose::Pairing::Halves)
        }
        C::Lstm { bias, reverse } => {
            let out = compose::lstm(b, x, Some(args[1]), Some(args[2]), &weights(&args[3..], *bias), &layer(*reverse))?;
            return Ok([out.output].into_iter().chain(out.states).collect());
        }
        C::Gru { bias, reverse } => {
            let out = compose::gru(b, x, Some(args[1]), &weights(&args[2..], *bias), &layer(*reverse))?;
            return Ok([out.output].into_iter().chain(out.states).collect());
        }
        C::Loss(loss, how) => loss_op(b, *loss, x, args[1], *how),
    };
    Ok(smallvec![one?])
}

fn weights(args: &[NodeId], bias: bool) -> compose::Weights {
    let bias = |i: usize| if bias { args.get(i).copied() } else { None };
    compose::Weights { input: args[0], recurrent: args[1], input_bias: bias(2), recurrent_bias: bias(3) }
}

fn layer(reverse: bool) -> compose::Layer {
    compose::Layer { reverse, ..compose::Layer::PYTORCH }
}

fn loss_op(b: &mut Builder, loss: Loss, x: NodeId, target: NodeId, how: Reduction) -> Result<NodeId> {
    let how = match how {
        Reduction::None => compose::Reduction::None,
        Reduction::Mean => compose::Reduction::Mean,
        Reduction::Sum => compose::Reduction::Sum,
    };
    match loss {
        Loss::Mse => compose::mse(b, x, target, how),
        Loss::L1 => compose::l1(b, x, target, how),
        Loss::BceWithLogits => compose::bce_with_logits(b, x, target, how),
        Loss::Nll(ignore) => compose::nll(b, x, target, ignore, how),
        Loss::CrossEntropy(ignore) => compose::cross_entropy(b, x, target, ignore, how),
    }
}
