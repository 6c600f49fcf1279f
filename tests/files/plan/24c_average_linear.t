test plan
# row 24: average over all positions, then linear
# golden 2
func average_linear(x: f32[8, 512, 7, 7], w: frozen f32[1000, 512], b: frozen f32[1000]) -> (y) {
  %3 = reduce.sum %x [2, 3] : f32[8, 512]   # global_avg_pool @ model.rs:11
  %4 = view.reshape %3 [8, 512, 1, 1] : f32[8, 512, 1, 1]   # global_avg_pool @ model.rs:11
  %5 = const f32 49.0 : f32[]   # global_avg_pool @ model.rs:11
  %6 = view.reshape %5 [1, 1, 1, 1] : f32[1, 1, 1, 1]   # global_avg_pool @ model.rs:11
  %7 = view.expand %6 [8, 512, 1, 1] : f32[8, 512, 1, 1]   # global_avg_pool @ model.rs:11
  %8 = div %4, %7 : f32[8, 512, 1, 1]   # global_avg_pool @ model.rs:11
  %9 = view.reshape %8 [8, 512] : f32[8, 512]   # flatten @ model.rs:12
  %10 = contract %9, %w "ab,cb->ac" acc f32 : f32[8, 1000]   # linear @ model.rs:13
  %11 = view.reshape %b [1, 1000] : f32[1, 1000]   # linear @ model.rs:13
  %12 = view.expand %11 [8, 1000] : f32[8, 1000]   # linear @ model.rs:13
  %13 = add %10, %12 : f32[8, 1000]   # linear @ model.rs:13
  return y = %13
}
----
