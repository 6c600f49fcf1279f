//! ResNet, MobileNetV2 and a vision transformer.

use base::Result;
use scalar::{DType, Sym};

use super::{Blueprint, Fill, InputSpec};
use crate::nn::{self, Attention, BatchNorm2d, Conv, Conv2d, Init, LayerNorm, Linear, Vars};
use crate::tensor::Tensor;

fn image() -> InputSpec {
    InputSpec::new("image", DType::F32, &[("batch", 1), ("", 3), ("", 224), ("", 224)], Fill::Normal)
}

/// A convolution without bias and its batch norm.
struct ConvNorm {
    conv: Conv2d,
    norm: BatchNorm2d,
}

impl ConvNorm {
    fn new(conv: &Vars, norm: &Vars, widths: (usize, usize), size: usize, stride: i64, groups: usize) -> Result<ConvNorm> {
        let options = Conv { stride, padding: size as i64 / 2, groups: groups as i64, ..Conv::default() };
        Ok(ConvNorm {
            conv: Conv2d::new(conv, widths.0, widths.1, size, options, false)?,
            norm: BatchNorm2d::new(norm, widths.1)?,
        })
    }
    fn forward(&self, x: &Tensor) -> Tensor {
        self.norm.forward(&self.conv.forward(x))
    }
}

/// A residual block: its convolutions in order, with relu between, and a projection where the shape changes.
struct Residual {
    convs: Vec<ConvNorm>,
    project: Option<ConvNorm>,
}

impl Residual {
    /// `plan`: (outputs, kernel, stride) per convolution.
    fn new(vars: &Vars, inputs: usize, plan: &[(usize, usize, i64)]) -> Result<Residual> {
        let mut convs = Vec::new();
        let mut width = inputs;
        for (i, &(outputs, size, stride)) in plan.iter().enumerate() {
            let (conv, norm) = (vars.sub(format!("conv{}", i + 1)), vars.sub(format!("bn{}", i + 1)));
            convs.push(ConvNorm::new(&conv, &norm, (width, outputs), size, stride, 1)?);
            width = outputs;
        }
        let stride = plan.iter().map(|p| p.2).product();
        let down = vars.sub("downsample");
        let project =
            (stride != 1 || inputs != width).then(|| ConvNorm::new(&down.sub(0), &down.sub(1), (inputs, width), 1, stride, 1));
        Ok(Residual { convs, project: project.transpose()? })
    }
    fn forward(&self, x: &Tensor) -> Tensor {
        let mut h = x.clone();
        for (i, conv) in self.convs.iter().enumerate() {
            h = conv.forward(&h);
            if i + 1 < self.convs.len() {
                h = h.relu();
            }
        }
        let shortcut = self.project.as_ref().map_or_else(|| x.clone(), |p| p.forward(x));
        (h + shortcut).relu()
    }
}

/// He et al. 2015: four stages of residual blocks; `expansion` 1 for basic blocks, 4 for bottlenecks.
fn resnet(vars: &Vars, counts: [usize; 4], expansion: usize) -> Result<Blueprint> {
    let stem = ConvNorm::new(&vars.sub("conv1"), &vars.sub("bn1"), (3, 64), 7, 2, 1)?;
    let mut blocks = Vec::new();
    let mut width = 64;
    for (stage, count) in counts.into_iter().enumerate() {
        let inner = 64 << stage;
        for i in 0..count {
            let stride = if stage > 0 && i == 0 { 2 } else { 1 };
            let basic = [(inner, 3, stride), (inner, 3, 1)];
            let bottleneck = [(inner, 1, 1), (inner, 3, stride), (inner * 4, 1, 1)];
            let plan: &[(usize, usize, i64)] = if expansion == 1 { &basic } else { &bottleneck };
            blocks.push(Residual::new(&vars.sub(format!("layer{}", stage + 1)).sub(i), width, plan)?);
            width = inner * expansion;
        }
    }
    let head = Linear::new(&vars.sub("fc"), width, 1000)?;
    Blueprint::new(vec![image()], move |x| {
        let mut h = nn::max_pool2d(&stem.forward(&x[0]).relu(), 3, 2, 1);
        for block in &blocks {
            h = block.forward(&h);
        }
        vec![head.forward(&h.mean([-2, -1]))]
    })
}

pub(super) fn resnet18(vars: &Vars) -> Result<Blueprint> {
    resnet(vars, [2, 2, 2, 2], 1)
}

pub(super) fn resnet50(vars: &Vars) -> Result<Blueprint> {
    resnet(vars, [3, 4, 6, 3], 4)
}

/// Expand, depthwise, project; with a residual sum where the shape stays.
struct Inverted {
    expand: Option<ConvNorm>,
    depthwise: ConvNorm,
    project: ConvNorm,
    residual: bool,
}

impl Inverted {
    fn new(vars: &Vars, inputs: usize, outputs: usize, factor: usize, stride: i64) -> Result<Inverted> {
        let conv = vars.sub("conv");
        let hidden = inputs * factor;
        let expand =
            (factor > 1).then(|| ConvNorm::new(&conv.sub("0.0"), &conv.sub("0.1"), (inputs, hidden), 1, 1, 1)).transpose()?;
        let at = usize::from(expand.is_some());
        let depth = conv.sub(at);
        Ok(Inverted {
            depthwise: ConvNorm::new(&depth.sub(0), &depth.sub(1), (hidden, hidden), 3, stride, hidden)?,
            project: ConvNorm::new(&conv.sub(at + 1), &conv.sub(at + 2), (hidden, outputs), 1, 1, 1)?,
            residual: stride == 1 && inputs == outputs,
            expand,
        })
    }
    fn forward(&self, x: &Tensor) -> Tensor {
        let h = self.expand.as_ref().map_or_else(|| x.clone(), |e| e.forward(x).relu6());
        let h = self.project.forward(&self.depthwise.forward(&h).relu6());
        if self.residual { x + h } else { h }
    }
}

/// Sandler et al. 2018, width 1.
pub(super) fn mobilenet_v2(vars: &Vars) -> Result<Blueprint> {
    const PLAN: [(usize, usize, usize, i64); 7] =
        [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)];
    let features = vars.sub("features");
    let stem = ConvNorm::new(&features.sub("0.0"), &features.sub("0.1"), (3, 32), 3, 2, 1)?;
    let mut blocks = Vec::new();
    let mut width = 32;
    for (factor, outputs, count, stride) in PLAN {
        for i in 0..count {
            let at = features.sub(blocks.len() + 1);
            blocks.push(Inverted::new(&at, width, outputs, factor, if i == 0 { stride } else { 1 })?);
            width = outputs;
        }
    }
    let last = features.sub(blocks.len() + 1);
    let last = ConvNorm::new(&last.sub(0), &last.sub(1), (width, 1280), 1, 1, 1)?;
    let head = Linear::new(&vars.sub("classifier.1"), 1280, 1000)?;
    Blueprint::new(vec![image()], move |x| {
        let mut h = stem.forward(&x[0]).relu6();
        for block in &blocks {
            h = block.forward(&h);
        }
        vec![head.forward(&last.forward(&h).relu6().mean([-2, -1]))]
    })
}

/// One encoder layer, normalised before each part.
struct VitLayer {
    norm1: LayerNorm,
    qkv: Linear,
    out: Linear,
    norm2: LayerNorm,
    up: Linear,
    down: Linear,
}

const VIT_WIDTH: usize = 768;
const VIT_HEADS: usize = 12;

impl VitLayer {
    fn new(vars: &Vars) -> Result<VitLayer> {
        let w = VIT_WIDTH;
        Ok(VitLayer {
            norm1: LayerNorm::new(&vars.sub("norm1"), w, 1e-6)?,
            qkv: Linear::new(&vars.sub("attn.qkv"), w, 3 * w)?,
            out: Linear::new(&vars.sub("attn.proj"), w, w)?,
            norm2: LayerNorm::new(&vars.sub("norm2"), w, 1e-6)?,
            up: Linear::new(&vars.sub("mlp.fc1"), w, 4 * w)?,
            down: Linear::new(&vars.sub("mlp.fc2"), 4 * w, w)?,
        })
    }
    fn forward(&self, x: &Tensor) -> Tensor {
        let (batch, seq) = (x.size(0), x.size(1));
        let heads = [batch.clone(), seq.clone(), 3.into(), VIT_HEADS.into(), (VIT_WIDTH / VIT_HEADS).into()];
        let qkv = self.qkv.forward(&self.norm1.forward(x)).reshape(heads).permute([2, 0, 3, 1, 4]);
        let [q, k, v] = [0, 1, 2].map(|i| qkv.select(0, i));
        let a = nn::scaled_dot_product_attention(&q, &k, &v, Attention::default());
        let x = x + self.out.forward(&a.transpose(1, 2).reshape([batch, seq, VIT_WIDTH.into()]));
        let h = self.up.forward(&self.norm2.forward(&x)).gelu();
        x + self.down.forward(&h)
    }
}

/// Dosovitskiy et al. 2020: 16×16 patches, 12 layers, width 768.
pub(super) fn vit_b16(vars: &Vars) -> Result<Blueprint> {
    let patch = Conv2d::new(&vars.sub("patch_embed.proj"), 3, VIT_WIDTH, 16, Conv { stride: 16, ..Conv::default() }, true)?;
    let class = vars.param("cls_token", &[1, 1, VIT_WIDTH], Init::Normal(0.02))?;
    let places = vars.param("pos_embed", &[1, 197, VIT_WIDTH], Init::Normal(0.02))?;
    let layers = (0..12).map(|i| VitLayer::new(&vars.sub("blocks").sub(i))).collect::<Result<Vec<_>>>()?;
    let norm = LayerNorm::new(&vars.sub("norm"), VIT_WIDTH, 1e-6)?;
    let head = Linear::new(&vars.sub("head"), VIT_WIDTH, 1000)?;
    Blueprint::new(vec![image()], move |x| {
        let patches = patch.forward(&x[0]).flatten([2, 3]).transpose(1, 2);
        let class = class.tensor().expand([x[0].size(0), Sym::from(1), VIT_WIDTH.into()]);
        let mut h = crate::cat(&[class, patches], 1) + places.tensor();
        for layer in &layers {
            h = layer.forward(&h);
        }
        vec![head.forward(&norm.forward(&h).select(1, 0))]
    })
}
