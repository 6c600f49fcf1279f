test plan
# row 13: batch norm in training and ReLU, with the statistics for the running averages; a channel slab of 6 KiB fits L2
# golden 1
func batch_norm_train(x: f32[8, 64, 14, 14], w: f32[64], b: f32[64]) -> (y, mean, var) {
  %3 = reduce.sum %x [0, 2, 3] : f32[64]   # batch_norm @ model.rs:11
  %4 = view.reshape %3 [1, 64, 1, 1] : f32[1, 64, 1, 1]   # batch_norm @ model.rs:11
  %5 = const f32 1568.0 : f32[]   # batch_norm @ model.rs:11
  %6 = view.reshape %5 [1, 1, 1, 1] : f32[1, 1, 1, 1]   # batch_norm @ model.rs:11
  %7 = view.expand %6 [1, 64, 1, 1] : f32[1, 64, 1, 1]   # batch_norm @ model.rs:11
  %8 = div %4, %7 : f32[1, 64, 1, 1]   # batch_norm @ model.rs:11
  %9 = view.expand %8 [8, 64, 14, 14] : f32[8, 64, 14, 14]   # batch_norm @ model.rs:11
  %10 = sub %x, %9 : f32[8, 64, 14, 14]   # batch_norm @ model.rs:11
  %11 = mul %10, %10 : f32[8, 64, 14, 14]   # batch_norm @ model.rs:11
  %12 = reduce.sum %11 [0, 2, 3] : f32[64]   # batch_norm @ model.rs:11
  %13 = view.reshape %12 [1, 64, 1, 1] : f32[1, 64, 1, 1]   # batch_norm @ model.rs:11
  %14 = const f32 0.0 : f32[]   # batch_norm @ model.rs:11
  %15 = sub %5, %14 : f32[]   # batch_norm @ model.rs:11
  %16 = max %15, %14 : f32[]   # batch_norm @ model.rs:11
  %17 = view.reshape %16 [1, 1, 1, 1] : f32[1, 1, 1, 1]   # batch_norm @ model.rs:11
  %18 = view.expand %17 [1, 64, 1, 1] : f32[1, 64, 1, 1]   # batch_norm @ model.rs:11
  %19 = div %13, %18 : f32[1, 64, 1, 1]   # batch_norm @ model.rs:11
  %20 = const f32 1e-05 : f32[]   # batch_norm @ model.rs:11
  %21 = view.reshape %20 [1, 1, 1, 1] : f32[1, 1, 1, 1]   # batch_norm @ model.rs:11
  %22 = view.expand %21 [1, 64, 1, 1] : f32[1, 64, 1, 1]   # batch_norm @ model.rs:11
  %23 = add %19, %22 : f32[1, 64, 1, 1]   # batch_norm @ model.rs:11
  %24 = rsqrt %23 : f32[1, 64, 1, 1]   # batch_norm @ model.rs:11
  %25 = view.expand %24 [8, 64, 14, 14] : f32[8, 64, 14, 14]   # batch_norm @ model.rs:11
  %26 = mul %10, %25 : f32[8, 64, 14, 14]   # batch_norm @ model.rs:11
  %27 = view.reshape %w [1, 64, 1, 1] : f32[1, 64, 1, 1]   # batch_norm @ model.rs:11
  %28 = view.reshape %b [1, 64, 1, 1] : f32[1, 64, 1, 1]   # batch_norm @ model.rs:11
  %29 = view.expand %27 [8, 64, 14, 14] : f32[8, 64, 14, 14]   # batch_norm @ model.rs:11
  %30 = mul %26, %29 : f32[8, 64, 14, 14]   # batch_norm @ model.rs:11
  %31 = view.expand %28 [8, 64, 14, 14] : f32[8, 64, 14, 14]   # batch_norm @ model.rs:11
  %32 = add %30, %31 : f32[8, 64, 14, 14]   # batch_norm @ model.rs:11
  %33 = view.reshape %5 [1] : f32[1]   # batch_norm @ model.rs:11
  %34 = view.expand %33 [64] : f32[64]   # batch_norm @ model.rs:11
  %35 = div %3, %34 : f32[64]   # batch_norm @ model.rs:11
  %36 = view.reshape %16 [1] : f32[1]   # batch_norm @ model.rs:11
  %37 = view.expand %36 [64] : f32[64]   # batch_norm @ model.rs:11
  %38 = div %12, %37 : f32[64]   # batch_norm @ model.rs:11
  %39 = view.reshape %14 [1, 1, 1, 1] : f32[1, 1, 1, 1]   # relu @ model.rs:12
  %40 = view.expand %39 [8, 64, 14, 14] : f32[8, 64, 14, 14]   # relu @ model.rs:12
  %41 = max %32, %40 : f32[8, 64, 14, 14]   # relu @ model.rs:12
  return y = %41, mean = %35, var = %38
}
----
1 kernels
k0_batch_norm_relu: Row (64 | 8 × 14 × 14) members %3 %8 %10 %11 %12 %15 %19 %20 %22 %26 %28 %31 %32 %35 -> %31 %32 %35; read 401920 written 401920 flops 803264
