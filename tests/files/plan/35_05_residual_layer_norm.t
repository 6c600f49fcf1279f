test plan
# row 35: symbolic batch and sequence; as row 5: two outputs, x and r read once
# golden 1
func residual_layer_norm(x: f32[s, 768], r: f32[s, 768], w: frozen f32[768], b: frozen f32[768]) -> (s, y) {
  %4 = add %x, %r : f32[s, 768]   # add @ model.rs:11
  %5 = reduce.sum %4 [1] : f32[s]   # layer_norm @ model.rs:12
  %6 = view.reshape %5 [s, 1] : f32[s, 1]   # layer_norm @ model.rs:12
  %7 = const f32 768.0 : f32[]   # layer_norm @ model.rs:12
  %8 = view.reshape %7 [1, 1] : f32[1, 1]   # layer_norm @ model.rs:12
  %9 = view.expand %8 [s, 1] : f32[s, 1]   # layer_norm @ model.rs:12
  %10 = div %6, %9 : f32[s, 1]   # layer_norm @ model.rs:12
  %11 = view.expand %10 [s, 768] : f32[s, 768]   # layer_norm @ model.rs:12
  %12 = sub %4, %11 : f32[s, 768]   # layer_norm @ model.rs:12
  %13 = mul %12, %12 : f32[s, 768]   # layer_norm @ model.rs:12
  %14 = reduce.sum %13 [1] : f32[s]   # layer_norm @ model.rs:12
  %15 = view.reshape %14 [s, 1] : f32[s, 1]   # layer_norm @ model.rs:12
  %16 = const f32 0.0 : f32[]   # layer_norm @ model.rs:12
  %17 = sub %7, %16 : f32[]   # layer_norm @ model.rs:12
  %18 = max %17, %16 : f32[]   # layer_norm @ model.rs:12
  %19 = view.reshape %18 [1, 1] : f32[1, 1]   # layer_norm @ model.rs:12
  %20 = view.expand %19 [s, 1] : f32[s, 1]   # layer_norm @ model.rs:12
  %21 = div %15, %20 : f32[s, 1]   # layer_norm @ model.rs:12
  %22 = const f32 1e-05 : f32[]   # layer_norm @ model.rs:12
  %23 = view.reshape %22 [1, 1] : f32[1, 1]   # layer_norm @ model.rs:12
  %24 = view.expand %23 [s, 1] : f32[s, 1]   # layer_norm @ model.rs:12
  %25 = add %21, %24 : f32[s, 1]   # layer_norm @ model.rs:12
  %26 = rsqrt %25 : f32[s, 1]   # layer_norm @ model.rs:12
  %27 = view.expand %26 [s, 768] : f32[s, 768]   # layer_norm @ model.rs:12
  %28 = mul %12, %27 : f32[s, 768]   # layer_norm @ model.rs:12
  %29 = view.reshape %w [1, 768] : f32[1, 768]   # layer_norm @ model.rs:12
  %30 = view.expand %29 [s, 768] : f32[s, 768]   # layer_norm @ model.rs:12
  %31 = mul %28, %30 : f32[s, 768]   # layer_norm @ model.rs:12
  %32 = view.reshape %b [1, 768] : f32[1, 768]   # layer_norm @ model.rs:12
  %33 = view.expand %32 [s, 768] : f32[s, 768]   # layer_norm @ model.rs:12
  %34 = add %31, %33 : f32[s, 768]   # layer_norm @ model.rs:12
  return s = %4, y = %34
}
----
1 kernels
k0_add_layer_norm: Row (s | 768) members %4 %5 %10 %12 %13 %14 %16 %20 %21 %23 %26 %29 -> %4 %29; read 792576 written 786432 flops 787328
