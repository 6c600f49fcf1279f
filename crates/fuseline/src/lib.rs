//! Operator fusion for deep learning: lazy tensors, compile, nn.
