# row softmax bf16 [512, 262144]
# target 0.92
func softmax_512x262144(x: bf16[512, 262144]) -> (y) {
  %1 = cast.f32 %0 : f32[512, 262144]   # softmax
  %2 = reduce.max %1 [1] : f32[512]   # softmax
  %3 = view.reshape %2 [512, 1] : f32[512, 1]   # softmax
  %4 = view.expand %3 [512, 262144] : f32[512, 262144]   # softmax
  %5 = sub %1, %4 : f32[512, 262144]   # softmax
  %6 = exp %5 : f32[512, 262144]   # softmax
  %7 = reduce.sum %6 [1] : f32[512]   # softmax
  %8 = view.reshape %7 [512, 1] : f32[512, 1]   # softmax
  %9 = view.expand %8 [512, 262144] : f32[512, 262144]   # softmax
  %10 = div %6, %9 : f32[512, 262144]   # softmax
  %11 = cast.bf16 %10 : bf16[512, 262144]   # softmax
  return y = %11
}
