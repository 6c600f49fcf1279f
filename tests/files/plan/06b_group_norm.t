test plan
# row 6: group norm
# golden 1
func group_norm(x: f32[8, 64, 56, 56], w: frozen f32[64], b: frozen f32[64]) -> (y) {
  %3 = view.reshape %x [8, 32, 2, 56, 56] : f32[8, 32, 2, 56, 56]   # group_norm @ model.rs:11
  %4 = reduce.sum %3 [2, 3, 4] : f32[8, 32]   # group_norm @ model.rs:11
  %5 = view.reshape %4 [8, 32, 1, 1, 1] : f32[8, 32, 1, 1, 1]   # group_norm @ model.rs:11
  %6 = const f32 6272.0 : f32[]   # group_norm @ model.rs:11
  %7 = view.reshape %6 [1, 1, 1, 1, 1] : f32[1, 1, 1, 1, 1]   # group_norm @ model.rs:11
  %8 = view.expand %7 [8, 32, 1, 1, 1] : f32[8, 32, 1, 1, 1]   # group_norm @ model.rs:11
  %9 = div %5, %8 : f32[8, 32, 1, 1, 1]   # group_norm @ model.rs:11
  %10 = view.expand %9 [8, 32, 2, 56, 56] : f32[8, 32, 2, 56, 56]   # group_norm @ model.rs:11
  %11 = sub %3, %10 : f32[8, 32, 2, 56, 56]   # group_norm @ model.rs:11
  %12 = mul %11, %11 : f32[8, 32, 2, 56, 56]   # group_norm @ model.rs:11
  %13 = reduce.sum %12 [2, 3, 4] : f32[8, 32]   # group_norm @ model.rs:11
  %14 = view.reshape %13 [8, 32, 1, 1, 1] : f32[8, 32, 1, 1, 1]   # group_norm @ model.rs:11
  %15 = const f32 0.0 : f32[]   # group_norm @ model.rs:11
  %16 = sub %6, %15 : f32[]   # group_norm @ model.rs:11
  %17 = max %16, %15 : f32[]   # group_norm @ model.rs:11
  %18 = view.reshape %17 [1, 1, 1, 1, 1] : f32[1, 1, 1, 1, 1]   # group_norm @ model.rs:11
  %19 = view.expand %18 [8, 32, 1, 1, 1] : f32[8, 32, 1, 1, 1]   # group_norm @ model.rs:11
  %20 = div %14, %19 : f32[8, 32, 1, 1, 1]   # group_norm @ model.rs:11
  %21 = const f32 1e-05 : f32[]   # group_norm @ model.rs:11
  %22 = view.reshape %21 [1, 1, 1, 1, 1] : f32[1, 1, 1, 1, 1]   # group_norm @ model.rs:11
  %23 = view.expand %22 [8, 32, 1, 1, 1] : f32[8, 32, 1, 1, 1]   # group_norm @ model.rs:11
  %24 = add %20, %23 : f32[8, 32, 1, 1, 1]   # group_norm @ model.rs:11
  %25 = rsqrt %24 : f32[8, 32, 1, 1, 1]   # group_norm @ model.rs:11
  %26 = view.expand %25 [8, 32, 2, 56, 56] : f32[8, 32, 2, 56, 56]   # group_norm @ model.rs:11
  %27 = mul %11, %26 : f32[8, 32, 2, 56, 56]   # group_norm @ model.rs:11
  %28 = view.reshape %27 [8, 64, 56, 56] : f32[8, 64, 56, 56]   # group_norm @ model.rs:11
  %29 = view.reshape %w [1, 64, 1, 1] : f32[1, 64, 1, 1]   # group_norm @ model.rs:11
  %30 = view.reshape %b [1, 64, 1, 1] : f32[1, 64, 1, 1]   # group_norm @ model.rs:11
  %31 = view.expand %29 [8, 64, 56, 56] : f32[8, 64, 56, 56]   # group_norm @ model.rs:11
  %32 = mul %28, %31 : f32[8, 64, 56, 56]   # group_norm @ model.rs:11
  %33 = view.expand %30 [8, 64, 56, 56] : f32[8, 64, 56, 56]   # group_norm @ model.rs:11
  %34 = add %32, %33 : f32[8, 64, 56, 56]   # group_norm @ model.rs:11
  return y = %34
}
----
1 kernels
k0_group_norm: Row (8 × 32 | 2 × 56 × 56) members %4 %9 %11 %12 %13 %15 %19 %20 %22 %27 %29 -> %29; read 6423040 written 6422528 flops 11241216
