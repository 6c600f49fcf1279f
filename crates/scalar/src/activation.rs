//! Functions that libraries apply to what they compute, before they store it.

use serde::{Deserialize, Serialize};

/// A function of one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Activation {
    /// max(x, 0).
    Relu,
    /// Gelu in its tanh form: x/2 · (1 + tanh(√(2/π)·(x + 0.044715·x³))).
    GeluTanh,
    /// The gradient of [`Activation::GeluTanh`]: x · gelu′(z), of another value z for each x.
    GeluTanhBackward,
}
