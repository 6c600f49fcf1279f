test plan
# row 7: cross-entropy from logits and targets; the mean is the finish phase
# golden 1
func cross_entropy(logits: f32[1024, 1000], target: i64[1024]) -> (loss) {
  %2 = reduce.max %logits [1] : f32[1024]   # cross_entropy @ model.rs:11
  %3 = view.reshape %2 [1024, 1] : f32[1024, 1]   # cross_entropy @ model.rs:11
  %4 = view.expand %3 [1024, 1000] : f32[1024, 1000]   # cross_entropy @ model.rs:11
  %5 = sub %logits, %4 : f32[1024, 1000]   # cross_entropy @ model.rs:11
  %6 = exp %5 : f32[1024, 1000]   # cross_entropy @ model.rs:11
  %7 = reduce.sum %6 [1] : f32[1024]   # cross_entropy @ model.rs:11
  %8 = view.reshape %7 [1024, 1] : f32[1024, 1]   # cross_entropy @ model.rs:11
  %9 = log %8 : f32[1024, 1]   # cross_entropy @ model.rs:11
  %10 = view.expand %9 [1024, 1000] : f32[1024, 1000]   # cross_entropy @ model.rs:11
  %11 = sub %5, %10 : f32[1024, 1000]   # cross_entropy @ model.rs:11
  %12 = view.reshape %target [1024, 1] : i64[1024, 1]   # cross_entropy @ model.rs:11
  %13 = gather %11, %12 [1] : f32[1024, 1]   # cross_entropy @ model.rs:11
  %14 = view.reshape %13 [1024] : f32[1024]   # cross_entropy @ model.rs:11
  %15 = neg %14 : f32[1024]   # cross_entropy @ model.rs:11
  %16 = reduce.sum %15 [0] : f32[]   # cross_entropy @ model.rs:11
  %17 = const f32 1024.0 : f32[]   # cross_entropy @ model.rs:11
  %18 = div %16, %17 : f32[]   # cross_entropy @ model.rs:11
  return loss = %18
}
----
1 kernels
k0_cross_entropy: Mixed (1024 | 1000) members %2 %5 %6 %7 %9 %11 %13 %15 %16 %18 -> %18; read 4104192 written 4 flops 9228289
