test plan
# row 18: token and position embedding and layer norm: no embedding buffer
# golden 1
func embed_layer_norm(
  tokens: i64[8, 128],
  table: frozen f32[30522, 768],
  positions: frozen f32[512, 768],
  w: frozen f32[768],
  b: frozen f32[768],
) -> (y) {
  %5 = view.reshape %tokens [1024] : i64[1024]   # embedding @ model.rs:11
  %6 = view.reshape %5 [1024, 1] : i64[1024, 1]   # embedding @ model.rs:11
  %7 = view.expand %6 [1024, 768] : i64[1024, 768]   # embedding @ model.rs:11
  %8 = gather %table, %7 [0] : f32[1024, 768]   # embedding @ model.rs:11
  %9 = view.reshape %8 [8, 128, 768] : f32[8, 128, 768]   # embedding @ model.rs:11
  %10 = view.slice %positions start [0, 0] len [128, 768] step [1, 1] : f32[128, 768]   # slice @ model.rs:12
  %11 = view.reshape %10 [1, 128, 768] : f32[1, 128, 768]   # add @ model.rs:13
  %12 = view.expand %11 [8, 128, 768] : f32[8, 128, 768]   # add @ model.rs:13
  %13 = add %9, %12 : f32[8, 128, 768]   # add @ model.rs:13
  %14 = reduce.sum %13 [2] : f32[8, 128]   # layer_norm @ model.rs:14
  %15 = view.reshape %14 [8, 128, 1] : f32[8, 128, 1]   # layer_norm @ model.rs:14
  %16 = const f32 768.0 : f32[]   # layer_norm @ model.rs:14
  %17 = view.reshape %16 [1, 1, 1] : f32[1, 1, 1]   # layer_norm @ model.rs:14
  %18 = view.expand %17 [8, 128, 1] : f32[8, 128, 1]   # layer_norm @ model.rs:14
  %19 = div %15, %18 : f32[8, 128, 1]   # layer_norm @ model.rs:14
  %20 = view.expand %19 [8, 128, 768] : f32[8, 128, 768]   # layer_norm @ model.rs:14
  %21 = sub %13, %20 : f32[8, 128, 768]   # layer_norm @ model.rs:14
  %22 = mul %21, %21 : f32[8, 128, 768]   # layer_norm @ model.rs:14
  %23 = reduce.sum %22 [2] : f32[8, 128]   # layer_norm @ model.rs:14
  %24 = view.reshape %23 [8, 128, 1] : f32[8, 128, 1]   # layer_norm @ model.rs:14
  %25 = const f32 0.0 : f32[]   # layer_norm @ model.rs:14
  %26 = sub %16, %25 : f32[]   # layer_norm @ model.rs:14
  %27 = max %26, %25 : f32[]   # layer_norm @ model.rs:14
  %28 = view.reshape %27 [1, 1, 1] : f32[1, 1, 1]   # layer_norm @ model.rs:14
  %29 = view.expand %28 [8, 128, 1] : f32[8, 128, 1]   # layer_norm @ model.rs:14
  %30 = div %24, %29 : f32[8, 128, 1]   # layer_norm @ model.rs:14
  %31 = const f32 1e-05 : f32[]   # layer_norm @ model.rs:14
  %32 = view.reshape %31 [1, 1, 1] : f32[1, 1, 1]   # layer_norm @ model.rs:14
  %33 = view.expand %32 [8, 128, 1] : f32[8, 128, 1]   # layer_norm @ model.rs:14
  %34 = add %30, %33 : f32[8, 128, 1]   # layer_norm @ model.rs:14
  %35 = rsqrt %34 : f32[8, 128, 1]   # layer_norm @ model.rs:14
  %36 = view.expand %35 [8, 128, 768] : f32[8, 128, 768]   # layer_norm @ model.rs:14
  %37 = mul %21, %36 : f32[8, 128, 768]   # layer_norm @ model.rs:14
  %38 = view.reshape %w [1, 1, 768] : f32[1, 1, 768]   # layer_norm @ model.rs:14
  %39 = view.expand %38 [8, 128, 768] : f32[8, 128, 768]   # layer_norm @ model.rs:14
  %40 = mul %37, %39 : f32[8, 128, 768]   # layer_norm @ model.rs:14
  %41 = view.reshape %b [1, 1, 768] : f32[1, 1, 768]   # layer_norm @ model.rs:14
  %42 = view.expand %41 [8, 128, 768] : f32[8, 128, 768]   # layer_norm @ model.rs:14
  %43 = add %40, %42 : f32[8, 128, 768]   # layer_norm @ model.rs:14
  return y = %43
}
----
1 kernels
k0_embedding_add_layer_norm: Row (8 × 128 | 768) members %7 %12 %13 %18 %20 %21 %22 %24 %28 %29 %31 %34 %37 -> %37; read 3553280 written 3145728 flops 6300672
