//! Layers: parameters and a `forward`.

use base::Result;

use super::functional::{self as f, Conv, Norm};
use super::vars::{Init, Vars};
use crate::param::Param;
use crate::tensor::Tensor;

/// The bound of PyTorch's default initialisation: 1/√(inputs of one output).
fn bound(fan_in: usize) -> Init {
    Init::Uniform(1.0 / (fan_in.max(1) as f32).sqrt())
}

/// x · weightᵀ + bias.
#[derive(Clone, Debug)]
pub struct Linear {
    /// `[out, in]`.
    pub weight: Param,
    /// `[out]`.
    pub bias: Option<Param>,
}

impl Linear {
    /// With bias.
    ///
    /// # Errors
    /// As [`Vars::param`].
    pub fn new(vars: &Vars, inputs: usize, outputs: usize) -> Result<Linear> {
        let bias = Some(vars.param("bias", &[outputs], bound(inputs))?);
        Ok(Linear { bias, ..Linear::without_bias(vars, inputs, outputs)? })
    }
    /// Without bias.
    ///
    /// # Errors
    /// As [`Vars::param`].
    pub fn without_bias(vars: &Vars, inputs: usize, outputs: usize) -> Result<Linear> {
        Ok(Linear { weight: vars.param("weight", &[outputs, inputs], bound(inputs))?, bias: None })
    }
    /// x `[…, in]` to `[…, out]`.
    #[track_caller]
    pub fn forward(&self, x: &Tensor) -> Tensor {
        f::linear(x, &self.weight.tensor(), self.bias.as_ref().map(Param::tensor).as_ref())
    }
}

macro_rules! conv_layer {
    ($(#[$doc:meta])* $name:ident, $spatial:literal, $f:path) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name {
            /// `[out, in/groups, taps…]`.
            pub weight: Param,
            /// `[out]`.
            pub bias: Option<Param>,
            /// Geometry.
            pub options: Conv,
        }

        impl $name {
            /// `size` taps in every spatial dim, with or without bias.
            ///
            /// # Errors
            /// As [`Vars::param`].
            pub fn new(vars: &Vars, inputs: usize, outputs: usize, size: usize, options: Conv, bias: bool) -> Result<$name> {
                let inputs = inputs / options.groups.max(1) as usize;
                let shape: Vec<usize> = [outputs, inputs].into_iter().chain([size; $spatial]).collect();
                let init = bound(shape[1..].iter().product());
                let bias = if bias { Some(vars.param("bias", &[outputs], init)?) } else { None };
                Ok($name { weight: vars.param("weight", &shape, init)?, bias, options })
            }
            /// x `[N, in, …]` to `[N, out, …]`.
            #[track_caller]
            pub fn forward(&self, x: &Tensor) -> Tensor {
                $f(x, &self.weight.tensor(), self.bias.as_ref().map(Param::tensor).as_ref(), self.options)
            }
        }
    };
}

conv_layer!(
    /// Convolution over one spatial dim.
    Conv1d, 1, f::conv1d
);
conv_layer!(
    /// Convolution over two spatial dims.
    Conv2d, 2, f::conv2d
);

/// Transposed convolution over two spatial dims.
#[derive(Clone, Debug)]
pub struct ConvTranspose2d {
    /// `[in, out/groups, size, size]`.
    pub weight: Param,
    /// `[out]`.
    pub bias: Param,
    /// Geometry.
    pub options: Conv,
}

impl ConvTranspose2d {
    /// `size` taps in both dims.
    ///
    /// # Errors
    /// As [`Vars::param`].
    pub fn new(vars: &Vars, inputs: usize, outputs: usize, size: usize, options: Conv) -> Result<ConvTranspose2d> {
        let shape = [inputs, outputs / options.groups.max(1) as usize, size, size];
        let init = bound(shape[1..].iter().product());
        Ok(ConvTranspose2d { weight: vars.param("weight", &shape, init)?, bias: vars.param("bias", &[outputs], init)?, options })
    }
    /// x `[N, in, H, W]` to `[N, out, …]`.
    #[track_caller]
    pub fn forward(&self, x: &Tensor) -> Tensor {
        f::conv_transpose2d(x, &self.weight.tensor(), Some(&self.bias.tensor()), self.options, 0)
    }
}

/// Normalises the last dim.
#[derive(Clone, Debug)]
pub struct LayerNorm {
    /// `[width]`.
    pub weight: Param,
    /// `[width]`.
    pub bias: Param,
    /// Added to the variance.
    pub eps: f64,
}

impl LayerNorm {
    /// Over a last dim of `width`.
    ///
    /// # Errors
    /// As [`Vars::param`].
    pub fn new(vars: &Vars, width: usize, eps: f64) -> Result<LayerNorm> {
        let weight = vars.param("weight", &[width], Init::Const(1.0))?;
        Ok(LayerNorm { weight, bias: vars.param("bias", &[width], Init::Const(0.0))?, eps })
    }
    /// Same shape.
    #[track_caller]
    pub fn forward(&self, x: &Tensor) -> Tensor {
        let (weight, bias) = (self.weight.tensor(), self.bias.tensor());
        f::layer_norm(x, 1, Norm { weight: Some(&weight), bias: Some(&bias), eps: self.eps })
    }
}

/// Divides the last dim by its root mean square.
#[derive(Clone, Debug)]
pub struct RmsNorm {
    /// `[width]`.
    pub weight: Param,
    /// Added to the mean square.
    pub eps: f64,
}

impl RmsNorm {
    /// Over a last dim of `width`.
    ///
    /// # Errors
    /// As [`Vars::param`].
    pub fn new(vars: &Vars, width: usize, eps: f64) -> Result<RmsNorm> {
        Ok(RmsNorm { weight: vars.param("weight", &[width], Init::Const(1.0))?, eps })
    }
    /// Same shape.
    #[track_caller]
    pub fn forward(&self, x: &Tensor) -> Tensor {
        f::rms_norm(x, 1, Some(&self.weight.tensor()), self.eps)
    }
}

/// Normalises groups of channels.
#[derive(Clone, Debug)]
pub struct GroupNorm {
    /// `[channels]`.
    pub weight: Param,
    /// `[channels]`.
    pub bias: Param,
    /// Number of groups.
    pub groups: i64,
}

impl GroupNorm {
    /// `groups` groups of `channels` channels.
    ///
    /// # Errors
    /// As [`Vars::param`].
    pub fn new(vars: &Vars, groups: i64, channels: usize) -> Result<GroupNorm> {
        let weight = vars.param("weight", &[channels], Init::Const(1.0))?;
        Ok(GroupNorm { weight, bias: vars.param("bias", &[channels], Init::Const(0.0))?, groups })
    }
    /// Same shape.
    #[track_caller]
    pub fn forward(&self, x: &Tensor) -> Tensor {
        let (weight, bias) = (self.weight.tensor(), self.bias.tensor());
        f::group_norm(x, self.groups, Norm { weight: Some(&weight), bias: Some(&bias), eps: 1e-5 })
    }
}

/// Normalises channels with running statistics (inference).
#[derive(Clone, Debug)]
pub struct BatchNorm2d {
    /// `[channels]`.
    pub weight: Param,
    /// `[channels]`.
    pub bias: Param,
    /// `[channels]`.
    pub running_mean: Param,
    /// `[channels]`.
    pub running_var: Param,
}

impl BatchNorm2d {
    /// For `channels` channels; seeded statistics vary a little, so that the layer does something.
    ///
    /// # Errors
    /// As [`Vars::param`].
    pub fn new(vars: &Vars, channels: usize) -> Result<BatchNorm2d> {
        Ok(BatchNorm2d {
            weight: vars.param("weight", &[channels], Init::Const(1.0))?,
            bias: vars.param("bias", &[channels], Init::Normal(0.1))?,
            running_mean: vars.param("running_mean", &[channels], Init::Normal(0.1))?,
            running_var: vars.param("running_var", &[channels], Init::Const(1.0))?,
        })
    }
    /// Same shape.
    #[track_caller]
    pub fn forward(&self, x: &Tensor) -> Tensor {
        let (weight, bias) = (self.weight.tensor(), self.bias.tensor());
        let norm = Norm { weight: Some(&weight), bias: Some(&bias), eps: 1e-5 };
        f::batch_norm(x, &self.running_mean.tensor(), &self.running_var.tensor(), norm)
    }
}

/// A table of vectors.
#[derive(Clone, Debug)]
pub struct Embedding {
    /// `[entries, width]`.
    pub weight: Param,
}

impl Embedding {
    /// `entries` vectors of `width`.
    ///
    /// # Errors
    /// As [`Vars::param`].
    pub fn new(vars: &Vars, entries: usize, width: usize) -> Result<Embedding> {
        Ok(Embedding { weight: vars.param("weight", &[entries, width], Init::Normal(0.02))? })
    }
    /// Integers `[…]` to `[…, width]`.
    #[track_caller]
    pub fn forward(&self, index: &Tensor) -> Tensor {
        f::embedding(index, &self.weight.tensor())
    }
}

/// Zeroes elements while training.
#[derive(Clone, Copy, Debug)]
pub struct Dropout {
    /// Probability of zero.
    pub p: f64,
    /// Whether it does anything.
    pub training: bool,
}

impl Dropout {
    /// Same shape.
    #[track_caller]
    pub fn forward(&self, x: &Tensor) -> Tensor {
        f::dropout(x, self.p, self.training)
    }
}
