test plan
# row 15: dx along the rows, dw and db down the columns: one mixed-order kernel with a finish phase
# golden 1
func layer_norm_backward(
  x: f32[512, 768],
  dy: f32[512, 768],
  w: f32[768],
  mean: f32[512, 1],
  rstd: f32[512, 1],
) -> (dx, dw, db) {
  %5 = view.expand %mean [512, 768] : f32[512, 768]   # layer_norm_backward @ model.rs:11
  %6 = sub %x, %5 : f32[512, 768]   # layer_norm_backward @ model.rs:11
  %7 = view.expand %rstd [512, 768] : f32[512, 768]   # layer_norm_backward @ model.rs:11
  %8 = mul %6, %7 : f32[512, 768]   # layer_norm_backward @ model.rs:11
  %9 = view.reshape %w [1, 768] : f32[1, 768]   # layer_norm_backward @ model.rs:11
  %10 = view.expand %9 [512, 768] : f32[512, 768]   # layer_norm_backward @ model.rs:11
  %11 = mul %dy, %10 : f32[512, 768]   # layer_norm_backward @ model.rs:11
  %12 = reduce.sum %11 [1] : f32[512]   # layer_norm_backward @ model.rs:11
  %13 = view.reshape %12 [512, 1] : f32[512, 1]   # layer_norm_backward @ model.rs:11
  %14 = const f32 768.0 : f32[]   # layer_norm_backward @ model.rs:11
  %15 = view.reshape %14 [1, 1] : f32[1, 1]   # layer_norm_backward @ model.rs:11
  %16 = view.expand %15 [512, 1] : f32[512, 1]   # layer_norm_backward @ model.rs:11
  %17 = div %13, %16 : f32[512, 1]   # layer_norm_backward @ model.rs:11
  %18 = mul %11, %8 : f32[512, 768]   # layer_norm_backward @ model.rs:11
  %19 = reduce.sum %18 [1] : f32[512]   # layer_norm_backward @ model.rs:11
  %20 = view.reshape %19 [512, 1] : f32[512, 1]   # layer_norm_backward @ model.rs:11
  %21 = div %20, %16 : f32[512, 1]   # layer_norm_backward @ model.rs:11
  %22 = view.expand %17 [512, 768] : f32[512, 768]   # layer_norm_backward @ model.rs:11
  %23 = sub %11, %22 : f32[512, 768]   # layer_norm_backward @ model.rs:11
  %24 = view.expand %21 [512, 768] : f32[512, 768]   # layer_norm_backward @ model.rs:11
  %25 = mul %8, %24 : f32[512, 768]   # layer_norm_backward @ model.rs:11
  %26 = sub %23, %25 : f32[512, 768]   # layer_norm_backward @ model.rs:11
  %27 = mul %26, %7 : f32[512, 768]   # layer_norm_backward @ model.rs:11
  %28 = mul %dy, %8 : f32[512, 768]   # layer_norm_backward @ model.rs:11
  %29 = reduce.sum %28 [0] : f32[768]   # layer_norm_backward @ model.rs:11
  %30 = reduce.sum %dy [0] : f32[768]   # layer_norm_backward @ model.rs:11
  return dx = %27, dw = %29, db = %30
}
----
1 kernels
k0_layer_norm_backward: Mixed (512 | 768) members %6 %8 %11 %12 %17 %18 %19 %21 %23 %25 %26 %27 %28 %29 %30 -> %27 %29 %30; read 3152896 written 1579008 flops 5113856
