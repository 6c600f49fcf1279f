# row cross-entropy bf16 [8192, 128256]
# ruler read
# target 0.92
# below 128256
func cross_entropy(logits: bf16[8192, 128256], target: i64[8192]) -> (loss) {
  %2 = cast.f32 %0 : f32[8192, 128256]   # cross_entropy
  %3 = reduce.max %2 [1] : f32[8192]   # cross_entropy
  %4 = view.reshape %3 [8192, 1] : f32[8192, 1]   # cross_entropy
  %5 = view.expand %4 [8192, 128256] : f32[8192, 128256]   # cross_entropy
  %6 = sub %2, %5 : f32[8192, 128256]   # cross_entropy
  %7 = exp %6 : f32[8192, 128256]   # cross_entropy
  %8 = reduce.sum %7 [1] : f32[8192]   # cross_entropy
  %9 = view.reshape %8 [8192, 1] : f32[8192, 1]   # cross_entropy
  %10 = log %9 : f32[8192, 1]   # cross_entropy
  %11 = view.expand %10 [8192, 128256] : f32[8192, 128256]   # cross_entropy
  %12 = sub %6, %11 : f32[8192, 128256]   # cross_entropy
  %13 = view.reshape %1 [8192, 1] : i64[8192, 1]   # cross_entropy
  %14 = gather %12, %13 [1] : f32[8192, 1]   # cross_entropy
  %15 = view.reshape %14 [8192] : f32[8192]   # cross_entropy
  %16 = neg %15 : f32[8192]   # cross_entropy
  %17 = reduce.sum %16 [0] : f32[]   # cross_entropy
  %18 = const f32 8192.0 : f32[]   # cross_entropy
  %19 = div %17, %18 : f32[]   # cross_entropy
  return loss = %19
}
