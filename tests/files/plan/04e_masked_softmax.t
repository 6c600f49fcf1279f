test plan
# row 4: softmax, masked fill before it
# golden 1
func masked_softmax(scores: f32[8, 12, 512, 512], hidden: bool[8, 1, 512, 512]) -> (y) {
  %2 = const f32 -inf : f32[]   # masked_fill @ model.rs:11
  %3 = view.expand %hidden [8, 12, 512, 512] : bool[8, 12, 512, 512]   # masked_fill @ model.rs:11
  %4 = view.reshape %2 [1, 1, 1, 1] : f32[1, 1, 1, 1]   # masked_fill @ model.rs:11
  %5 = view.expand %4 [8, 12, 512, 512] : f32[8, 12, 512, 512]   # masked_fill @ model.rs:11
  %6 = select %3, %5, %scores : f32[8, 12, 512, 512]   # masked_fill @ model.rs:11
  %7 = reduce.max %6 [3] : f32[8, 12, 512]   # softmax @ model.rs:12
  %8 = view.reshape %7 [8, 12, 512, 1] : f32[8, 12, 512, 1]   # softmax @ model.rs:12
  %9 = view.expand %8 [8, 12, 512, 512] : f32[8, 12, 512, 512]   # softmax @ model.rs:12
  %10 = sub %6, %9 : f32[8, 12, 512, 512]   # softmax @ model.rs:12
  %11 = exp %10 : f32[8, 12, 512, 512]   # softmax @ model.rs:12
  %12 = reduce.sum %11 [3] : f32[8, 12, 512]   # softmax @ model.rs:12
  %13 = view.reshape %12 [8, 12, 512, 1] : f32[8, 12, 512, 1]   # softmax @ model.rs:12
  %14 = view.expand %13 [8, 12, 512, 512] : f32[8, 12, 512, 512]   # softmax @ model.rs:12
  %15 = div %11, %14 : f32[8, 12, 512, 512]   # softmax @ model.rs:12
  return y = %15
}
----
1 kernels
k0_masked_fill_softmax: Row (8 × 12 × 512 | 512) members %6 %7 %10 %11 %12 %15 -> %15; read 102760448 written 100663296 flops 301989888
