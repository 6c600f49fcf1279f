test plan
# row 32: a reshape between two row reductions, F03
# golden 2
func reshape_rows(x: f32[6, 4]) -> (y) {
  %1 = reduce.max %x [1] : f32[6]   # softmax @ model.rs:11
  %2 = view.reshape %1 [6, 1] : f32[6, 1]   # softmax @ model.rs:11
  %3 = view.expand %2 [6, 4] : f32[6, 4]   # softmax @ model.rs:11
  %4 = sub %x, %3 : f32[6, 4]   # softmax @ model.rs:11
  %5 = exp %4 : f32[6, 4]   # softmax @ model.rs:11
  %6 = reduce.sum %5 [1] : f32[6]   # softmax @ model.rs:11
  %7 = view.reshape %6 [6, 1] : f32[6, 1]   # softmax @ model.rs:11
  %8 = view.expand %7 [6, 4] : f32[6, 4]   # softmax @ model.rs:11
  %9 = div %5, %8 : f32[6, 4]   # softmax @ model.rs:11
  %10 = view.reshape %9 [8, 3] : f32[8, 3]   # reshape @ model.rs:12
  %11 = reduce.max %10 [1] : f32[8]   # max @ model.rs:13
  return y = %11
}
----
2 kernels
k0_softmax: Row (6 | 4) members %1 %4 %5 %6 -> %5 %6; read 96 written 120 flops 216
k1_softmax_max: Row (8 | 3) members %9 %11 -> %11; read 120 written 32 flops 72
F08 %5 f32[6, 4] of k0_softmax -> k1_softmax_max: would take 0.1 µs longer
F08 %6 f32[6] of k0_softmax -> k1_softmax_max: would take 0.1 µs longer
