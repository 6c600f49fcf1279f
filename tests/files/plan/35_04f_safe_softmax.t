test plan
# row 35: symbolic batch and sequence; as row 4: softmax, masked fill before it, and all-masked rows give 0
# golden 1
func safe_softmax(scores: f32[b, 12, s, s], hidden: bool[b, 1, s, s]) -> (y) {
  %2 = const f32 -inf : f32[]   # masked_fill @ model.rs:11
  %3 = view.expand %hidden [b, 12, s, s] : bool[b, 12, s, s]   # masked_fill @ model.rs:11
  %4 = view.reshape %2 [1, 1, 1, 1] : f32[1, 1, 1, 1]   # masked_fill @ model.rs:11
  %5 = view.expand %4 [b, 12, s, s] : f32[b, 12, s, s]   # masked_fill @ model.rs:11
  %6 = select %3, %5, %scores : f32[b, 12, s, s]   # masked_fill @ model.rs:11
  %7 = reduce.max %6 [3] : f32[b, 12, s]   # softmax @ model.rs:12
  %8 = view.reshape %7 [b, 12, s, 1] : f32[b, 12, s, 1]   # softmax @ model.rs:12
  %9 = view.expand %8 [b, 12, s, s] : f32[b, 12, s, s]   # softmax @ model.rs:12
  %10 = sub %6, %9 : f32[b, 12, s, s]   # softmax @ model.rs:12
  %11 = exp %10 : f32[b, 12, s, s]   # softmax @ model.rs:12
  %12 = reduce.sum %11 [3] : f32[b, 12, s]   # softmax @ model.rs:12
  %13 = view.reshape %12 [b, 12, s, 1] : f32[b, 12, s, 1]   # softmax @ model.rs:12
  %14 = view.expand %13 [b, 12, s, s] : f32[b, 12, s, s]   # softmax @ model.rs:12
  %15 = div %11, %14 : f32[b, 12, s, s]   # softmax @ model.rs:12
  %16 = reduce.all %hidden [3] : bool[b, 1, s]   # all @ model.rs:13
  %17 = view.reshape %16 [b, 1, s, 1] : bool[b, 1, s, 1]   # all @ model.rs:13
  %18 = const f32 0.0 : f32[]   # masked_fill @ model.rs:14
  %19 = view.expand %17 [b, 12, s, s] : bool[b, 12, s, s]   # masked_fill @ model.rs:14
  %20 = view.reshape %18 [1, 1, 1, 1] : f32[1, 1, 1, 1]   # masked_fill @ model.rs:14
  %21 = view.expand %20 [b, 12, s, s] : f32[b, 12, s, s]   # masked_fill @ model.rs:14
  %22 = select %19, %21, %15 : f32[b, 12, s, s]   # masked_fill @ model.rs:14
  return y = %22
}
----
1 kernels
k0_masked_fill_softmax_all: Row (b × 12 × s | s) members %6 %7 %10 %11 %12 %15 %16 %22 -> %22; read 102760448 written 100663296 flops 329252864
