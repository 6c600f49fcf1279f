test kernel
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
k0_softmax: Row (n | 512) members %1 %4 %5 %6 %9 -> %9; read 262144 written 262144 flops 720896
  for (i0: n) inner (i1: 512)
    v0: f32 = load x[i0, i1]
    v1: f32 = reduce.max(i1) v0
    v2: f32 = sub v0, v1
    v3: f32 = exp v2
    v4: f32 = reduce.sum(i1) v3
    v5: f32 = div v3, v4
    store %9[i0, i1] = v5
