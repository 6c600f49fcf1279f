//! The table of ops: one function each, by domain and name.

mod activation;
mod attention;
mod control;
mod conv;
mod grid;
mod index;
mod logical;
mod loss;
mod math;
mod matmul;
mod norm;
mod pad;
mod pool;
mod quant;
mod recurrent;
mod reduce;
mod resample;
mod resize;
mod shape;
mod signal;
mod slice;

use std::collections::BTreeMap;

use base::{Error, Result};
use graph::NodeId;

use crate::ctx::Ctx;
use crate::node::{Node, label};
use crate::proto::GraphProto;
use crate::value::Value;

/// Builds a node: its results, of which trailing ones that nobody reads may be left out.
pub(crate) type Build = fn(&mut Ctx, &Node<'_>) -> Result<Vec<Value>>;

type Out = Result<Vec<Value>>;

/// One result.
fn one(id: NodeId) -> Out {
    Ok(vec![id.into()])
}

/// A domain with the default one's two spellings unified.
pub(crate) fn domain(name: &str) -> &str {
    if name == "ai.onnx" { "" } else { name }
}

/// Names of the supported ops of the default domain, ascending.
pub fn supported_ops() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|(name, _)| *name)
}

/// The function of an op.
pub(crate) fn find(domain: &str, op: &str) -> Option<Build> {
    let found = TABLE.binary_search_by_key(&op, |(name, _)| name).ok();
    found.filter(|_| domain.is_empty()).map(|i| TABLE[i].1)
}

/// Ops that are never run at import: they draw random numbers or hold graphs.
pub(crate) fn never_folds(op: &str) -> bool {
    op.starts_with("Random") || matches!(op, "Bernoulli" | "Multinomial" | "If" | "Loop" | "Scan")
}

/// Fails with all unsupported ops of a graph and its subgraphs, with counts.
pub(crate) fn check(graph: &GraphProto, opsets: &BTreeMap<String, i64>) -> Result<()> {
    let mut missing = BTreeMap::new();
    collect(graph, &mut missing);
    if missing.is_empty() {
        return Ok(());
    }
    let show = |(name, (count, first)): (&String, &(usize, String))| format!("{name} ×{count} (first: {first})");
    let list: Vec<String> = missing.iter().map(show).collect();
    let opset = opsets.get("").map_or(String::new(), |v| format!(" (op set {v})"));
    let noun = if list.len() == 1 { "op" } else { "ops" };
    Err(Error::unsupported(format!("{} unsupported {noun}{opset}: {}", list.len(), list.join(", "))))
}

/// Counts unsupported ops, with the label of the first node of each.
fn collect(graph: &GraphProto, missing: &mut BTreeMap<String, (usize, String)>) {
    for node in &graph.node {
        let domain = domain(node.domain());
        if find(domain, node.op_type()).is_none() {
            let name = if domain.is_empty() { node.op_type().to_owned() } else { format!("{domain}::{}", node.op_type()) };
            missing.entry(name).or_insert_with(|| (0, label(node).to_owned())).0 += 1;
        }
        node.attribute.iter().flat_map(|a| a.g.iter().chain(&a.graphs)).for_each(|g| collect(g, missing));
    }
}

/// Ascending by name.
static TABLE: &[(&str, Build)] = &[
    ("Abs", math::unary),
    ("Acos", math::unary),
    ("Acosh", math::unary),
    ("Add", math::binary),
    ("AffineGrid", grid::affine),
    ("And", math::binary),
    ("ArgMax", reduce::arg),
    ("ArgMin", reduce::arg),
    ("Asin", math::unary),
    ("Asinh", math::unary),
    ("Atan", math::unary),
    ("Atanh", math::unary),
    ("Attention", attention::attention),
    ("AveragePool", pool::pool),
    ("BatchNormalization", norm::batch),
    ("BitCast", logical::bit_cast),
    ("BitShift", math::bit_shift),
    ("BitwiseAnd", math::binary),
    ("BitwiseNot", math::unary),
    ("BitwiseOr", math::binary),
    ("BitwiseXor", math::binary),
    ("BlackmanWindow", signal::window),
    ("Cast", logical::cast),
    ("CastLike", logical::cast_like),
    ("CausalConvWithState", signal::causal_conv),
    ("Ceil", math::unary),
    ("Celu", activation::pointwise),
    ("CenterCropPad", shape::center_crop_pad),
    ("Clip", math::clip),
    ("Col2Im", grid::col2im),
    ("Compress", index::compress),
    ("Concat", shape::concat),
    ("Constant", shape::constant),
    ("ConstantOfShape", shape::constant_of_shape),
    ("Conv", conv::conv),
    ("ConvInteger", conv::conv_integer),
    ("ConvTranspose", conv::conv_transpose),
    ("Cos", math::unary),
    ("Cosh", math::unary),
    ("CumProd", math::cumulative),
    ("CumSum", math::cumulative),
    ("DFT", signal::dft),
    ("DepthToSpace", shape::depth_to_space),
    ("DequantizeLinear", quant::dequantize_linear),
    ("Div", math::binary),
    ("Dropout", shape::dropout),
    ("DynamicQuantizeLinear", quant::dynamic),
    ("Einsum", matmul::einsum),
    ("Elu", activation::pointwise),
    ("Equal", math::binary),
    ("Erf", math::unary),
    ("Exp", math::unary),
    ("Expand", shape::expand),
    ("EyeLike", shape::eye_like),
    ("Flatten", shape::flatten),
    ("Floor", math::unary),
    ("GRU", recurrent::layer),
    ("Gather", index::gather),
    ("GatherElements", index::gather_elements),
    ("GatherND", index::gather_nd),
    ("Gelu", activation::pointwise),
    ("Gemm", matmul::gemm),
    ("GlobalAveragePool", reduce::global_pool),
    ("GlobalLpPool", reduce::global_pool),
    ("GlobalMaxPool", reduce::global_pool),
    ("Greater", math::binary),
    ("GreaterOrEqual", math::binary),
    ("GridSample", grid::sample),
    ("GroupNormalization", norm::group),
    ("HammingWindow", signal::window),
    ("HannWindow", signal::window),
    ("HardSigmoid", activation::pointwise),
    ("HardSwish", activation::pointwise),
    ("Hardmax", activation::hardmax),
    ("Identity", shape::identity),
    ("If", control::branch),
    ("InstanceNormalization", norm::instance),
    ("IsInf", math::is_inf),
    ("IsNaN", math::unary),
    ("LRN", pool::lrn),
    ("LSTM", recurrent::layer),
    ("LayerNormalization", norm::layer),
    ("LeakyRelu", activation::pointwise),
    ("Less", math::binary),
    ("LessOrEqual", math::binary),
    ("Log", math::unary),
    ("LogSoftmax", activation::softmax),
    ("Loop", control::repeat),
    ("LpNormalization", norm::lp),
    ("LpPool", pool::pool),
    ("MatMul", matmul::matmul),
    ("MatMulInteger", matmul::matmul_integer),
    ("Max", math::variadic),
    ("MaxPool", pool::pool),
    ("Mean", math::variadic),
    ("MeanVarianceNormalization", norm::mean_variance),
    ("Min", math::variadic),
    ("Mish", activation::pointwise),
    ("Mod", math::modulo),
    ("Mul", math::binary),
    ("Neg", math::unary),
    ("NegativeLogLikelihoodLoss", loss::negative_log_likelihood),
    ("Not", math::unary),
    ("OneHot", index::one_hot),
    ("Or", math::binary),
    ("PRelu", activation::prelu),
    ("Pad", pad::pad),
    ("Pow", math::pow),
    ("QLinearConv", conv::qlinear_conv),
    ("QLinearMatMul", matmul::qlinear_matmul),
    ("QuantizeLinear", quant::quantize_linear),
    ("RMSNormalization", norm::rms),
    ("RNN", recurrent::layer),
    ("Range", shape::range),
    ("Reciprocal", math::unary),
    ("ReduceL1", reduce::reduce),
    ("ReduceL2", reduce::reduce),
    ("ReduceLogSum", reduce::reduce),
    ("ReduceLogSumExp", reduce::reduce),
    ("ReduceMax", reduce::reduce),
    ("ReduceMean", reduce::reduce),
    ("ReduceMin", reduce::reduce),
    ("ReduceProd", reduce::reduce),
    ("ReduceSum", reduce::reduce),
    ("ReduceSumSquare", reduce::reduce),
    ("Relu", activation::pointwise),
    ("Reshape", shape::reshape),
    ("Resize", resize::resize),
    ("ReverseSequence", index::reverse_sequence),
    ("RotaryEmbedding", attention::rotary),
    ("Round", math::unary),
    ("Scan", control::scan),
    ("Scatter", index::scatter_elements),
    ("ScatterElements", index::scatter_elements),
    ("ScatterND", index::scatter_nd),
    ("Selu", activation::pointwise),
    ("Shape", shape::shape),
    ("Shrink", activation::pointwise),
    ("Sigmoid", math::unary),
    ("Sign", math::unary),
    ("Sin", math::unary),
    ("Sinh", math::unary),
    ("Size", shape::size),
    ("Slice", slice::slice),
    ("Softmax", activation::softmax),
    ("SoftmaxCrossEntropyLoss", loss::softmax_cross_entropy),
    ("Softplus", activation::pointwise),
    ("Softsign", activation::pointwise),
    ("SpaceToDepth", shape::space_to_depth),
    ("Split", shape::split),
    ("Sqrt", math::unary),
    ("Squeeze", shape::squeeze),
    ("Sub", math::binary),
    ("Sum", math::variadic),
    ("Swish", activation::pointwise),
    ("Tan", math::unary),
    ("Tanh", math::unary),
    ("TensorScatter", signal::cache_write),
    ("ThresholdedRelu", activation::pointwise),
    ("Tile", shape::tile),
    ("TopK", index::top_k),
    ("Transpose", shape::transpose),
    ("Trilu", shape::trilu),
    ("Unsqueeze", shape::unsqueeze),
    ("Upsample", resize::upsample),
    ("Where", logical::choose),
    ("Xor", math::binary),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_is_sorted() {
        assert!(TABLE.windows(2).all(|w| w[0].0 < w[1].0));
    }
}
