test cpu
func softmax(x: f32[64, 512]) -> (p) {
  %one = const f32 1.0   # mul @ model.rs:11
  %one1 = view.reshape %one [1, 1]   # mul @ model.rs:11
  %one2 = view.expand %one1 [64, 512]   # mul @ model.rs:11
  %scaled = mul %x, %one2   # mul @ model.rs:11
  %max = reduce.max %scaled [1]   # softmax @ model.rs:12
  %max1 = view.reshape %max [64, 1]   # softmax @ model.rs:12
  %max2 = view.expand %max1 [64, 512]   # softmax @ model.rs:12
  %low = sub %scaled, %max2   # softmax @ model.rs:12
  %exp = exp %low   # softmax @ model.rs:12
  %sum = reduce.sum %exp [1]   # softmax @ model.rs:12
  %sum1 = view.reshape %sum [64, 1]   # softmax @ model.rs:12
  %sum2 = view.expand %sum1 [64, 512]   # softmax @ model.rs:12
  %p = div %exp, %sum2   # softmax @ model.rs:12
  return p = %p
}
----
program k0_softmax
  p0 f32[32768] read x
  p1 f32[32768] write %9
  nest a0=64 a1=512; grid a0; rows a0 by 2; cols a1 by 512
    regs r0 f32[rc], r1 f32[r], r2 f32[rc], r3 f32[rc], r4 f32[rc!], r5 f32[r], r6 f32[rc]
    stage loop a1; r1 = max
      r0 = load p0[512·a0 + a1]
      r1 = reduce max r0
    stage loop a1; r5 = sum
      r2 = load p0[512·a0 + a1]
      r3 = sub.f32 r2, r1
      r4 = exp.f32 r3
      r5 = reduce sum r4
    stage loop a1
      r6 = div.f32 r4, r5
      store p1[512·a0 + a1] = r6
