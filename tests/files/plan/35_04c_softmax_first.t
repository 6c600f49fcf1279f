test plan
# row 35: symbolic batch and sequence; as row 4: softmax, over the first axis
# golden 1
func softmax_first(x: f32[s, 256]) -> (y) {
  %1 = reduce.max %x [0] : f32[256]   # softmax @ model.rs:11
  %2 = view.reshape %1 [1, 256] : f32[1, 256]   # softmax @ model.rs:11
  %3 = view.expand %2 [s, 256] : f32[s, 256]   # softmax @ model.rs:11
  %4 = sub %x, %3 : f32[s, 256]   # softmax @ model.rs:11
  %5 = exp %4 : f32[s, 256]   # softmax @ model.rs:11
  %6 = reduce.sum %5 [0] : f32[256]   # softmax @ model.rs:11
  %7 = view.reshape %6 [1, 256] : f32[1, 256]   # softmax @ model.rs:11
  %8 = view.expand %7 [s, 256] : f32[s, 256]   # softmax @ model.rs:11
  %9 = div %5, %8 : f32[s, 256]   # softmax @ model.rs:11
  return y = %9
}
----
1 kernels
k0_softmax: Row (256 | s) members %1 %4 %5 %6 %9 -> %9; read 131072 written 131072 flops 360448
