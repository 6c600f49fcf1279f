test plan
# row 35: symbolic batch and sequence; as row 6: argmax(softmax(x))
# golden 1
func argmax_softmax(x: f32[s, 1000]) -> (index) {
  %1 = reduce.max %x [1] : f32[s]   # softmax @ model.rs:11
  %2 = view.reshape %1 [s, 1] : f32[s, 1]   # softmax @ model.rs:11
  %3 = view.expand %2 [s, 1000] : f32[s, 1000]   # softmax @ model.rs:11
  %4 = sub %x, %3 : f32[s, 1000]   # softmax @ model.rs:11
  %5 = exp %4 : f32[s, 1000]   # softmax @ model.rs:11
  %6 = reduce.sum %5 [1] : f32[s]   # softmax @ model.rs:11
  %7 = view.reshape %6 [s, 1] : f32[s, 1]   # softmax @ model.rs:11
  %8 = view.expand %7 [s, 1000] : f32[s, 1000]   # softmax @ model.rs:11
  %9 = div %5, %8 : f32[s, 1000]   # softmax @ model.rs:11
  %10 = reduce.argmax %9 [1]   # argmax @ model.rs:12
  %11 = result %10 [1] : i64[s]   # argmax @ model.rs:12
  return index = %11
}
----
1 kernels
k0_softmax_argmax: Row (s | 1000) members %1 %4 %5 %6 %9 %10 -> %11; read 512000 written 1024 flops 1536000
