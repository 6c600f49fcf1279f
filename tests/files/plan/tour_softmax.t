test plan
# golden 1
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
1 kernels
k0_softmax: Row (n | 512) members %1 %4 %5 %6 %9 -> %9; read 262144 written 262144 flops 720896
