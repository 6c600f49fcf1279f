test plan
# row 35: symbolic batch and sequence; as row 4: softmax, over the last axis
# golden 1
func softmax_last(x: f32[s, 1024]) -> (y) {
  %1 = reduce.max %x [1] : f32[s]   # softmax @ model.rs:11
  %2 = view.reshape %1 [s, 1] : f32[s, 1]   # softmax @ model.rs:11
  %3 = view.expand %2 [s, 1024] : f32[s, 1024]   # softmax @ model.rs:11
  %4 = sub %x, %3 : f32[s, 1024]   # softmax @ model.rs:11
  %5 = exp %4 : f32[s, 1024]   # softmax @ model.rs:11
  %6 = reduce.sum %5 [1] : f32[s]   # softmax @ model.rs:11
  %7 = view.reshape %6 [s, 1] : f32[s, 1]   # softmax @ model.rs:11
  %8 = view.expand %7 [s, 1024] : f32[s, 1024]   # softmax @ model.rs:11
  %9 = div %5, %8 : f32[s, 1024]   # softmax @ model.rs:11
  return y = %9
}
----
1 kernels
k0_softmax: Row (s | 1024) members %1 %4 %5 %6 %9 -> %9; read 524288 written 524288 flops 1441792
