test plan
# row 35: symbolic batch and sequence; as row 6: mean and variance without cancellation
# golden 1
func mean_variance(x: f32[s, 1024]) -> (mean, var) {
  %1 = reduce.sum %x [1] : f32[s]   # mean @ model.rs:11
  %2 = const f32 1024.0 : f32[]   # mean @ model.rs:11
  %3 = view.reshape %2 [1] : f32[1]   # mean @ model.rs:11
  %4 = view.expand %3 [s] : f32[s]   # mean @ model.rs:11
  %5 = div %1, %4 : f32[s]   # mean @ model.rs:11
  %6 = view.reshape %1 [s, 1] : f32[s, 1]   # var @ model.rs:12
  %7 = view.reshape %2 [1, 1] : f32[1, 1]   # var @ model.rs:12
  %8 = view.expand %7 [s, 1] : f32[s, 1]   # var @ model.rs:12
  %9 = div %6, %8 : f32[s, 1]   # var @ model.rs:12
  %10 = view.expand %9 [s, 1024] : f32[s, 1024]   # var @ model.rs:12
  %11 = sub %x, %10 : f32[s, 1024]   # var @ model.rs:12
  %12 = mul %11, %11 : f32[s, 1024]   # var @ model.rs:12
  %13 = reduce.sum %12 [1] : f32[s]   # var @ model.rs:12
  %14 = const f32 1.0 : f32[]   # var @ model.rs:12
  %15 = sub %2, %14 : f32[]   # var @ model.rs:12
  %16 = const f32 0.0 : f32[]   # var @ model.rs:12
  %17 = max %15, %16 : f32[]   # var @ model.rs:12
  %18 = view.reshape %17 [1] : f32[1]   # var @ model.rs:12
  %19 = view.expand %18 [s] : f32[s]   # var @ model.rs:12
  %20 = div %13, %19 : f32[s]   # var @ model.rs:12
  return mean = %5, var = %20
}
----
1 kernels
k0_mean_var: Row (s | 1024) members %1 %5 %9 %11 %12 %13 %17 -> %5 %17; read 524288 written 1024 flops 524672
