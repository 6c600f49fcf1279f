# row softmax bf16 [16384, 4096]
# target 0.95
func softmax_16384x4096(x: bf16[16384, 4096]) -> (y) {
  %1 = cast.f32 %0 : f32[16384, 4096]   # softmax
  %2 = reduce.max %1 [1] : f32[16384]   # softmax
  %3 = view.reshape %2 [16384, 1] : f32[16384, 1]   # softmax
  %4 = view.expand %3 [16384, 4096] : f32[16384, 4096]   # softmax
  %5 = sub %1, %4 : f32[16384, 4096]   # softmax
  %6 = exp %5 : f32[16384, 4096]   # softmax
  %7 = reduce.sum %6 [1] : f32[16384]   # softmax
  %8 = view.reshape %7 [16384, 1] : f32[16384, 1]   # softmax
  %9 = view.expand %8 [16384, 4096] : f32[16384, 4096]   # softmax
  %10 = div %6, %9 : f32[16384, 4096]   # softmax
  %11 = cast.bf16 %10 : bf16[16384, 4096]   # softmax
  return y = %11
}
