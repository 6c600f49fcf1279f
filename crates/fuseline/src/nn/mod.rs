//! Neural-network functions, and small structs that hold their [`Param`](crate::Param)s; names and layouts as in PyTorch.
//!
//! Layers are made from [`Vars`], which names their parameters and gives them values: seeded, or loaded from a file.
//!
//! ```
//! use fuseline::{Tensor, nn};
//! let vars = nn::Vars::seeded(0);
//! let layer = nn::Linear::new(&vars.sub("head"), 3, 2)?;
//! assert_eq!(layer.weight.name(), "head.weight");
//! assert_eq!(layer.forward(&Tensor::ones([5, 3], fuseline::DType::F32)).shape(), [5, 2]);
//! # Ok::<(), fuseline::Error>(())
//! ```

mod functional;
mod layers;
mod recurrent;
mod vars;

pub use functional::{
    Attention, Conv, Norm, Reduction, adaptive_avg_pool2d, avg_pool1d, avg_pool2d, batch_norm, batch_norm_train,
    binary_cross_entropy_with_logits, conv_transpose1d, conv_transpose2d, conv1d, conv2d, cross_entropy, dropout, dropout_with,
    embedding, gelu, group_norm, interpolate_nearest, l1_loss, layer_norm, linear, log_softmax, max_pool1d, max_pool2d, mse_loss,
    nll_loss, pad, prelu, relu, rms_norm, rope, scaled_dot_product_attention, silu, softmax,
};
pub use layers::{BatchNorm2d, Conv1d, Conv2d, ConvTranspose2d, Dropout, Embedding, GroupNorm, LayerNorm, Linear, RmsNorm};
pub use recurrent::{Gru, Lstm};
pub use vars::{Init, Vars};
