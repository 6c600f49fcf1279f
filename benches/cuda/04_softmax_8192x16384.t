# row softmax bf16 [8192, 16384]
# target 0.95
func softmax_8192x16384(x: bf16[8192, 16384]) -> (y) {
  %1 = cast.f32 %0 : f32[8192, 16384]   # softmax
  %2 = reduce.max %1 [1] : f32[8192]   # softmax
  %3 = view.reshape %2 [8192, 1] : f32[8192, 1]   # softmax
  %4 = view.expand %3 [8192, 16384] : f32[8192, 16384]   # softmax
  %5 = sub %1, %4 : f32[8192, 16384]   # softmax
  %6 = exp %5 : f32[8192, 16384]   # softmax
  %7 = reduce.sum %6 [1] : f32[8192]   # softmax
  %8 = view.reshape %7 [8192, 1] : f32[8192, 1]   # softmax
  %9 = view.expand %8 [8192, 16384] : f32[8192, 16384]   # softmax
  %10 = div %6, %9 : f32[8192, 16384]   # softmax
  %11 = cast.bf16 %10 : bf16[8192, 16384]   # softmax
  return y = %11
}
