test plan
# row 35: symbolic batch and sequence; as row 7: cross-entropy from logits and targets; the mean is the finish phase
# golden 1
func cross_entropy(logits: f32[s, 1000], target: i64[s]) -> (loss) {
  %2 = reduce.max %logits [1] : f32[s]   # cross_entropy @ model.rs:11
  %3 = view.reshape %2 [s, 1] : f32[s, 1]   # cross_entropy @ model.rs:11
  %4 = view.expand %3 [s, 1000] : f32[s, 1000]   # cross_entropy @ model.rs:11
  %5 = sub %logits, %4 : f32[s, 1000]   # cross_entropy @ model.rs:11
  %6 = exp %5 : f32[s, 1000]   # cross_entropy @ model.rs:11
  %7 = reduce.sum %6 [1] : f32[s]   # cross_entropy @ model.rs:11
  %8 = view.reshape %7 [s, 1] : f32[s, 1]   # cross_entropy @ model.rs:11
  %9 = log %8 : f32[s, 1]   # cross_entropy @ model.rs:11
  %10 = view.expand %9 [s, 1000] : f32[s, 1000]   # cross_entropy @ model.rs:11
  %11 = sub %5, %10 : f32[s, 1000]   # cross_entropy @ model.rs:11
  %12 = view.reshape %target [s, 1] : i64[s, 1]   # cross_entropy @ model.rs:11
  %13 = gather %11, %12 [1] : f32[s, 1]   # cross_entropy @ model.rs:11
  %14 = view.reshape %13 [s] : f32[s]   # cross_entropy @ model.rs:11
  %15 = neg %14 : f32[s]   # cross_entropy @ model.rs:11
  %16 = reduce.sum %15 [0] : f32[]   # cross_entropy @ model.rs:11
  %17 = sym s : i64[]   # cross_entropy @ model.rs:11
  %18 = cast.f32 %17 : f32[]   # cross_entropy @ model.rs:11
  %19 = div %16, %18 : f32[]   # cross_entropy @ model.rs:11
  return loss = %19
}
----
1 kernels
k0_cross_entropy: Mixed (s | 1000) members %2 %5 %6 %7 %9 %11 %13 %15 %16 %18 %19 -> %19; read 513024 written 4 flops 1153539
