test simplify
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
  origin 1 mul @ model.rs:11
  %1 = reduce.max %0 [1] : f32[n]   # softmax @ model.rs:12
  %2 = view.reshape %1 [n, 1] : f32[n, 1]   # softmax @ model.rs:12
  %3 = view.expand %2 [n, 512] : f32[n, 512]   # softmax @ model.rs:12
  %4 = sub %0, %3 : f32[n, 512]   # softmax @ model.rs:12
  %5 = exp %4 : f32[n, 512]   # softmax @ model.rs:12
  %6 = reduce.sum %5 [1] : f32[n]   # softmax @ model.rs:12
  %7 = view.reshape %6 [n, 1] : f32[n, 1]   # softmax @ model.rs:12
  %8 = view.expand %7 [n, 512] : f32[n, 512]   # softmax @ model.rs:12
  %9 = div %5, %8 : f32[n, 512]   # softmax @ model.rs:12
  return p = %9
}
