//! BERT, GPT-2 and a Llama block.

use base::Result;
use scalar::{DType, Sym};

use super::{Blueprint, Fill, InputSpec};
use crate::nn::{self, Attention, Embedding, LayerNorm, Linear, RmsNorm, Vars};
use crate::tensor::Tensor;

/// Widths of a transformer.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    layers: usize,
    width: usize,
    heads: usize,
    inner: usize,
    vocab: usize,
    context: usize,
}

/// Devlin et al. 2018.
pub(super) const BERT_BASE: Shape = Shape { layers: 12, width: 768, heads: 12, inner: 3072, vocab: 30522, context: 512 };
/// Turc et al. 2019.
pub(super) const BERT_MINI: Shape = Shape { layers: 4, width: 256, heads: 4, inner: 1024, vocab: 30522, context: 512 };
/// Radford et al. 2019, the small model.
pub(super) const GPT2: Shape = Shape { layers: 12, width: 768, heads: 12, inner: 3072, vocab: 50257, context: 1024 };
/// GPT-2 at a size for tests.
pub(super) const GPT2_MINI: Shape = Shape { layers: 2, width: 128, heads: 4, inner: 512, vocab: 1000, context: 256 };

/// `[batch, seq, heads · d]` to `[batch, heads, seq, d]`.
fn split_heads(x: &Tensor, heads: usize) -> Tensor {
    let d = x.size(-1).floor_div(&Sym::from(heads));
    x.reshape([x.size(0), x.size(1), Sym::from(heads), d]).transpose(1, 2)
}

/// The inverse of [`split_heads`].
fn merge_heads(x: &Tensor) -> Tensor {
    let width = x.size(1) * x.size(3);
    x.transpose(1, 2).reshape([x.size(0), x.size(2), width])
}

/// One encoder layer, normalised after each residual sum.
struct BertLayer {
    query: Linear,
    key: Linear,
    value: Linear,
    out: Linear,
    norm1: LayerNorm,
    up: Linear,
    down: Linear,
    norm2: LayerNorm,
    heads: usize,
}

impl BertLayer {
    fn new(vars: &Vars, s: &Shape) -> Result<BertLayer> {
        let attention = vars.sub("attention");
        let own = attention.sub("self");
        Ok(BertLayer {
            query: Linear::new(&own.sub("query"), s.width, s.width)?,
            key: Linear::new(&own.sub("key"), s.width, s.width)?,
            value: Linear::new(&own.sub("value"), s.width, s.width)?,
            out: Linear::new(&attention.sub("output.dense"), s.width, s.width)?,
            norm1: LayerNorm::new(&attention.sub("output.LayerNorm"), s.width, 1e-12)?,
            up: Linear::new(&vars.sub("intermediate.dense"), s.width, s.inner)?,
            down: Linear::new(&vars.sub("output.dense"), s.inner, s.width)?,
            norm2: LayerNorm::new(&vars.sub("output.LayerNorm"), s.width, 1e-12)?,
            heads: s.heads,
        })
    }
    fn forward(&self, x: &Tensor, mask: &Tensor) -> Tensor {
        let (q, k, v) = (self.query.forward(x), self.key.forward(x), self.value.forward(x));
        let (q, k, v) = (split_heads(&q, self.heads), split_heads(&k, self.heads), split_heads(&v, self.heads));
        let options = Attention { mask: Some(mask), ..Attention::default() };
        let a = merge_heads(&nn::scaled_dot_product_attention(&q, &k, &v, options));
        let x = self.norm1.forward(&(x + self.out.forward(&a)));
        let h = self.down.forward(&self.up.forward(&x).gelu());
        self.norm2.forward(&(x + h))
    }
}

/// The encoder and pooler: token ids, mask and segments to (hidden states, pooled first state).
pub(super) fn bert(vars: &Vars, s: &Shape) -> Result<Blueprint> {
    let embeddings = vars.sub("embeddings");
    let words = Embedding::new(&embeddings.sub("word_embeddings"), s.vocab, s.width)?;
    let places = Embedding::new(&embeddings.sub("position_embeddings"), s.context, s.width)?;
    let kinds = Embedding::new(&embeddings.sub("token_type_embeddings"), 2, s.width)?;
    let norm = LayerNorm::new(&embeddings.sub("LayerNorm"), s.width, 1e-12)?;
    let layers = (0..s.layers).map(|i| BertLayer::new(&vars.sub("encoder.layer").sub(i), s)).collect::<Result<Vec<_>>>()?;
    let pooler = Linear::new(&vars.sub("pooler.dense"), s.width, s.width)?;
    let dims = [("batch", 1), ("seq", 128)];
    let inputs = vec![
        InputSpec::new("input_ids", DType::I64, &dims, Fill::Integers { low: 0, high: s.vocab as i64 }),
        InputSpec::new("attention_mask", DType::I64, &dims, Fill::Ones),
        InputSpec::new("token_type_ids", DType::I64, &dims, Fill::Integers { low: 0, high: 2 }),
    ];
    Blueprint::new(inputs, move |x| {
        let seq = x[0].size(1);
        let e = words.forward(&x[0]) + places.forward(&Tensor::iota(&seq)) + kinds.forward(&x[2]);
        let mut h = norm.forward(&e);
        let mask = x[1].ne(0).unsqueeze(1).unsqueeze(1);
        for layer in &layers {
            h = layer.forward(&h, &mask);
        }
        let pooled = pooler.forward(&h.select(1, 0)).tanh();
        vec![h, pooled]
    })
}

/// One decoder layer, normalised before each part.
struct Gpt2Layer {
    norm1: LayerNorm,
    qkv: Linear,
    out: Linear,
    norm2: LayerNorm,
    up: Linear,
    down: Linear,
    heads: usize,
}

impl Gpt2Layer {
    fn new(vars: &Vars, s: &Shape) -> Result<Gpt2Layer> {
        Ok(Gpt2Layer {
            norm1: LayerNorm::new(&vars.sub("ln_1"), s.width, 1e-5)?,
            qkv: Linear::new(&vars.sub("attn.c_attn"), s.width, 3 * s.width)?,
            out: Linear::new(&vars.sub("attn.c_proj"), s.width, s.width)?,
            norm2: LayerNorm::new(&vars.sub("ln_2"), s.width, 1e-5)?,
            up: Linear::new(&vars.sub("mlp.c_fc"), s.width, s.inner)?,
            down: Linear::new(&vars.sub("mlp.c_proj"), s.inner, s.width)?,
            heads: s.heads,
        })
    }
    fn forward(&self, x: &Tensor) -> Tensor {
        let parts = self.qkv.forward(&self.norm1.forward(x)).chunk(3, -1);
        let [q, k, v] = [0, 1, 2].map(|i| split_heads(&parts[i], self.heads));
        let options = Attention { causal: true, ..Attention::default() };
        let a = merge_heads(&nn::scaled_dot_product_attention(&q, &k, &v, options));
        let x = x + self.out.forward(&a);
        let h = self.up.forward(&self.norm2.forward(&x)).gelu_tanh();
        x + self.down.forward(&h)
    }
}

/// The decoder with its tied output head: token ids to logits.
pub(super) fn gpt2(vars: &Vars, s: &Shape) -> Result<Blueprint> {
    let words = Embedding::new(&vars.sub("wte"), s.vocab, s.width)?;
    let places = Embedding::new(&vars.sub("wpe"), s.context, s.width)?;
    let layers = (0..s.layers).map(|i| Gpt2Layer::new(&vars.sub("h").sub(i), s)).collect::<Result<Vec<_>>>()?;
    let norm = LayerNorm::new(&vars.sub("ln_f"), s.width, 1e-5)?;
    let ids =
        InputSpec::new("input_ids", DType::I64, &[("batch", 1), ("seq", 64)], Fill::Integers { low: 0, high: s.vocab as i64 });
    Blueprint::new(vec![ids], move |x| {
        let mut h = words.forward(&x[0]) + places.forward(&Tensor::iota(x[0].size(1)));
        for layer in &layers {
            h = layer.forward(&h);
        }
        vec![nn::linear(&norm.forward(&h), &words.weight.tensor(), None)]
    })
}

/// One block of TinyLlama (Zhang et al. 2024): rms norm, rotary grouped-query attention, silu-gated feed-forward.
pub(super) fn llama_block(vars: &Vars) -> Result<Blueprint> {
    const WIDTH: usize = 2048;
    const HEADS: usize = 32;
    const KV_HEADS: usize = 4;
    const INNER: usize = 5632;
    let narrow = WIDTH / HEADS * KV_HEADS;
    let (attn, mlp) = (vars.sub("self_attn"), vars.sub("mlp"));
    let linear = |at: &Vars, name: &str, i, o| Linear::without_bias(&at.sub(name), i, o);
    let (q, o) = (linear(&attn, "q_proj", WIDTH, WIDTH)?, linear(&attn, "o_proj", WIDTH, WIDTH)?);
    let (k, v) = (linear(&attn, "k_proj", WIDTH, narrow)?, linear(&attn, "v_proj", WIDTH, narrow)?);
    let (gate, up) = (linear(&mlp, "gate_proj", WIDTH, INNER)?, linear(&mlp, "up_proj", WIDTH, INNER)?);
    let down = linear(&mlp, "down_proj", INNER, WIDTH)?;
    let norm1 = RmsNorm::new(&vars.sub("input_layernorm"), WIDTH, 1e-5)?;
    let norm2 = RmsNorm::new(&vars.sub("post_attention_layernorm"), WIDTH, 1e-5)?;
    let x = InputSpec::new("x", DType::F32, &[("batch", 1), ("seq", 64), ("", WIDTH)], Fill::Normal);
    Blueprint::new(vec![x], move |x| {
        let x = &x[0];
        let places = Tensor::iota(x.size(1));
        let h = norm1.forward(x);
        let turned = |layer: &Linear, heads| nn::rope(&split_heads(&layer.forward(&h), heads), &places, 10000.0);
        let (qh, kh, vh) = (turned(&q, HEADS), turned(&k, KV_HEADS), split_heads(&v.forward(&h), KV_HEADS));
        let options = Attention { causal: true, ..Attention::default() };
        let a = merge_heads(&nn::scaled_dot_product_attention(&qh, &kh, &vh, options));
        let x = x + o.forward(&a);
        let h = norm2.forward(&x);
        let h = gate.forward(&h).silu() * up.forward(&h);
        vec![x + down.forward(&h)]
    })
}
