# row softmax bf16 [2048, 65536]
# target 0.92
func softmax_2048x65536(x: bf16[2048, 65536]) -> (y) {
  %1 = cast.f32 %0 : f32[2048, 65536]   # softmax
  %2 = reduce.max %1 [1] : f32[2048]   # softmax
  %3 = view.reshape %2 [2048, 1] : f32[2048, 1]   # softmax
  %4 = view.expand %3 [2048, 65536] : f32[2048, 65536]   # softmax
  %5 = sub %1, %4 : f32[2048, 65536]   # softmax
  %6 = exp %5 : f32[2048, 65536]   # softmax
  %7 = reduce.sum %6 [1] : f32[2048]   # softmax
  %8 = view.reshape %7 [2048, 1] : f32[2048, 1]   # softmax
  %9 = view.expand %8 [2048, 65536] : f32[2048, 65536]   # softmax
  %10 = div %6, %9 : f32[2048, 65536]   # softmax
  %11 = cast.bf16 %10 : bf16[2048, 65536]   # softmax
  return y = %11
}
