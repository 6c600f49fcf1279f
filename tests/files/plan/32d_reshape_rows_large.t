test plan
# row 32: a reshape between two row reductions, F03
# golden 2
func reshape_rows_large(x: f32[6144, 4096]) -> (y) {
  %1 = reduce.max %x [1] : f32[6144]   # softmax @ model.rs:11
  %2 = view.reshape %1 [6144, 1] : f32[6144, 1]   # softmax @ model.rs:11
  %3 = view.expand %2 [6144, 4096] : f32[6144, 4096]   # softmax @ model.rs:11
  %4 = sub %x, %3 : f32[6144, 4096]   # softmax @ model.rs:11
  %5 = exp %4 : f32[6144, 4096]   # softmax @ model.rs:11
  %6 = reduce.sum %5 [1] : f32[6144]   # softmax @ model.rs:11
  %7 = view.reshape %6 [6144, 1] : f32[6144, 1]   # softmax @ model.rs:11
  %8 = view.expand %7 [6144, 4096] : f32[6144, 4096]   # softmax @ model.rs:11
  %9 = div %5, %8 : f32[6144, 4096]   # softmax @ model.rs:11
  %10 = view.reshape %9 [8192, 3072] : f32[8192, 3072]   # reshape @ model.rs:12
  %11 = reduce.max %10 [1] : f32[8192]   # max @ model.rs:13
  return y = %11
}
----
2 kernels
k0_softmax: Row (6144 | 4096) members %1 %4 %5 %6 -> %5 %6; read 100663296 written 100687872 flops 226492416
k1_softmax_max: Row (8192 | 3072) members %9 %11 -> %11; read 100687872 written 32768 flops 75497472
F08 %5 f32[6144, 4096] of k0_softmax -> k1_softmax_max: would take 77295358.0 µs longer
F08 %6 f32[6144] of k0_softmax -> k1_softmax_max: would take 77295358.0 µs longer
