# row softmax bf16 [32768, 1024]
# target 0.95
func softmax_32768x1024(x: bf16[32768, 1024]) -> (y) {
  %1 = cast.f32 %0 : f32[32768, 1024]   # softmax
  %2 = reduce.max %1 [1] : f32[32768]   # softmax
  %3 = view.reshape %2 [32768, 1] : f32[32768, 1]   # softmax
  %4 = view.expand %3 [32768, 1024] : f32[32768, 1024]   # softmax
  %5 = sub %1, %4 : f32[32768, 1024]   # softmax
  %6 = exp %5 : f32[32768, 1024]   # softmax
  %7 = reduce.sum %6 [1] : f32[32768]   # softmax
  %8 = view.reshape %7 [32768, 1] : f32[32768, 1]   # softmax
  %9 = view.expand %8 [32768, 1024] : f32[32768, 1024]   # softmax
  %10 = div %6, %9 : f32[32768, 1024]   # softmax
  %11 = cast.bf16 %10 : bf16[32768, 1024]   # softmax
  return y = %11
}
