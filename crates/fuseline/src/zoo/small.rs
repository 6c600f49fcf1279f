//! Small models and single blocks.

use base::Result;
use scalar::DType;

use super::{Blueprint, Fill, InputSpec};
use crate::nn::{Conv, Conv2d, GroupNorm, LayerNorm, Linear, Lstm, Vars};

/// Three layers with relu, as for MNIST.
pub(super) fn mlp(vars: &Vars) -> Result<Blueprint> {
    let (a, b) = (Linear::new(&vars.sub("fc1"), 784, 1024)?, Linear::new(&vars.sub("fc2"), 1024, 1024)?);
    let c = Linear::new(&vars.sub("fc3"), 1024, 10)?;
    let x = InputSpec::new("x", DType::F32, &[("batch", 64), ("", 784)], Fill::Normal);
    Blueprint::new(vec![x], move |x| {
        let h = a.forward(&x[0]).relu();
        let h = b.forward(&h).relu();
        vec![c.forward(&h).log_softmax(-1)]
    })
}

/// Pre-normalised feed-forward block with a gelu-gated unit (Shazeer 2020), width 1024, inner width 4096.
pub(super) fn geglu_mlp(vars: &Vars) -> Result<Blueprint> {
    let norm = LayerNorm::new(&vars.sub("norm"), 1024, 1e-5)?;
    let (gate, up) = (Linear::new(&vars.sub("gate"), 1024, 4096)?, Linear::new(&vars.sub("up"), 1024, 4096)?);
    let down = Linear::new(&vars.sub("down"), 4096, 1024)?;
    let x = InputSpec::new("x", DType::F32, &[("rows", 256), ("", 1024)], Fill::Normal);
    Blueprint::new(vec![x], move |x| {
        let h = norm.forward(&x[0]);
        let h = gate.forward(&h).gelu() * up.forward(&h);
        vec![&x[0] + down.forward(&h)]
    })
}

/// Two LSTM layers of 512 units over sequences of 256 features, and a classifier on the last state.
pub(super) fn lstm(vars: &Vars) -> Result<Blueprint> {
    let lstm = Lstm::new(&vars.sub("lstm"), 256, 512, 2)?;
    let head = Linear::new(&vars.sub("head"), 512, 128)?;
    let x = InputSpec::new("x", DType::F32, &[("seq", 32), ("batch", 8), ("", 256)], Fill::Normal);
    Blueprint::new(vec![x], move |x| {
        let (out, h, _) = lstm.forward(&x[0]);
        vec![out, head.forward(&h)]
    })
}

/// The residual block of a diffusion U-Net: group norm, silu, convolution, with a time embedding and a 1×1 shortcut, 320 to
/// 640 channels.
pub(super) fn unet_block(vars: &Vars) -> Result<Blueprint> {
    let same = Conv { padding: 1, ..Conv::default() };
    let (norm1, norm2) = (GroupNorm::new(&vars.sub("norm1"), 32, 320)?, GroupNorm::new(&vars.sub("norm2"), 32, 640)?);
    let conv1 = Conv2d::new(&vars.sub("conv1"), 320, 640, 3, same, true)?;
    let conv2 = Conv2d::new(&vars.sub("conv2"), 640, 640, 3, same, true)?;
    let shortcut = Conv2d::new(&vars.sub("conv_shortcut"), 320, 640, 1, Conv::default(), true)?;
    let time = Linear::new(&vars.sub("time_emb_proj"), 1280, 640)?;
    let x = InputSpec::new("x", DType::F32, &[("batch", 1), ("", 320), ("", 32), ("", 32)], Fill::Normal);
    let t = InputSpec::new("time_embedding", DType::F32, &[("batch", 1), ("", 1280)], Fill::Normal);
    Blueprint::new(vec![x, t], move |x| {
        let h = conv1.forward(&norm1.forward(&x[0]).silu());
        let h = h + time.forward(&x[1].silu()).unsqueeze(-1).unsqueeze(-1);
        let h = conv2.forward(&norm2.forward(&h).silu());
        vec![shortcut.forward(&x[0]) + h]
    })
}
