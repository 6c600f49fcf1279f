test parse
func softmax(x: f32[n, 512]) -> (p) {
  %one = const f32 1.0   # mul @ model.rs:11
  %one1 = view.reshape %one [1, 1]   # mul @ model.rs:11
  %one2 = view.expand %one1 [n, 512]   # mul @ model.rs:11
  %scaled = mul %x, %one2   # mul @ model.rs:11
  %max = reduce.max %scaled [1]   # softmax @ model.rs:12
  %max1 = view.reshape %max [n, 1]   # softmax @ model.rs:12
  %max2 = view.expand %max1 [n, 512]   # softmax @ model.rs:12
  %low = sub %scaled, %max2   # softmax @ model.rs:12
  %exp = exp %low   # softmax @ model.rs:12
  %sum = reduce.sum %exp [1]   # softmax @ model.rs:12
  %sum1 = view.reshape %sum [n, 1]   # softmax @ model.rs:12
  %sum2 = view.expand %sum1 [n, 512]   # softmax @ model.rs:12
  %p = div %exp, %sum2   # softmax @ model.rs:12
  return p = %p
}
----
func softmax(x: f32[n, 512]) -> (p) {
  %1 = const f32 1.0 : f32[]   # mul @ model.rs:11
  %2 = view.reshape %1 [1, 1] : f32[1, 1]   # mul @ model.rs:11
  %3 = view.expand %2 [n, 512] : f32[n, 512]   # mul @ model.rs:11
  %4 = mul %0, %3 : f32[n, 512]   # mul @ model.rs:11
  %5 = reduce.max %4 [1] : f32[n]   # softmax @ model.rs:12
  %6 = view.reshape %5 [n, 1] : f32[n, 1]   # softmax @ model.rs:12
  %7 = view.expand %6 [n, 512] : f32[n, 512]   # softmax @ model.rs:12
  %8 = sub %4, %7 : f32[n, 512]   # softmax @ model.rs:12
  %9 = exp %8 : f32[n, 512]   # softmax @ model.rs:12
  %10 = reduce.sum %9 [1] : f32[n]   # softmax @ model.rs:12
  %11 = view.reshape %10 [n, 1] : f32[n, 1]   # softmax @ model.rs:12
  %12 = view.expand %11 [n, 512] : f32[n, 512]   # softmax @ model.rs:12
  %13 = div %9, %12 : f32[n, 512]   # softmax @ model.rs:12
  return p = %13
}
