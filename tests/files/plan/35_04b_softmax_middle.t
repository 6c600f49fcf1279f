test plan
# row 35: symbolic batch and sequence; as row 4: softmax, over the middle axis
# golden 1
func softmax_middle(x: f32[b, s, 64]) -> (y) {
  %1 = reduce.max %x [1] : f32[b, 64]   # softmax @ model.rs:11
  %2 = view.reshape %1 [b, 1, 64] : f32[b, 1, 64]   # softmax @ model.rs:11
  %3 = view.expand %2 [b, s, 64] : f32[b, s, 64]   # softmax @ model.rs:11
  %4 = sub %x, %3 : f32[b, s, 64]   # softmax @ model.rs:11
  %5 = exp %4 : f32[b, s, 64]   # softmax @ model.rs:11
  %6 = reduce.sum %5 [1] : f32[b, 64]   # softmax @ model.rs:11
  %7 = view.reshape %6 [b, 1, 64] : f32[b, 1, 64]   # softmax @ model.rs:11
  %8 = view.expand %7 [b, s, 64] : f32[b, s, 64]   # softmax @ model.rs:11
  %9 = div %5, %8 : f32[b, s, 64]   # softmax @ model.rs:11
  return y = %9
}
----
1 kernels
k0_softmax: Row (b × 64 | s) members %1 %4 %5 %6 %9 -> %9; read 4194304 written 4194304 flops 11534336
