# row residual+layer norm bf16 [16384, 4096]
# target 0.95
func residual_layer_norm_16384x4096(x: bf16[16384, 4096], r: bf16[16384, 4096], w: bf16[4096], b: bf16[4096]) -> (s, y) {
  %4 = add %0, %1 : bf16[16384, 4096]   # add
  %5 = cast.f32 %4 : f32[16384, 4096]   # layer_norm
  %6 = reduce.sum %5 [1] : f32[16384]   # layer_norm
  %7 = view.reshape %6 [16384, 1] : f32[16384, 1]   # layer_norm
  %8 = const f32 4096.0 : f32[]   # layer_norm
  %9 = view.reshape %8 [1, 1] : f32[1, 1]   # layer_norm
  %10 = view.expand %9 [16384, 1] : f32[16384, 1]   # layer_norm
  %11 = div %7, %10 : f32[16384, 1]   # layer_norm
  %12 = view.expand %11 [16384, 4096] : f32[16384, 4096]   # layer_norm
  %13 = sub %5, %12 : f32[16384, 4096]   # layer_norm
  %14 = mul %13, %13 : f32[16384, 4096]   # layer_norm
  %15 = reduce.sum %14 [1] : f32[16384]   # layer_norm
  %16 = view.reshape %15 [16384, 1] : f32[16384, 1]   # layer_norm
  %17 = const f32 0.0 : f32[]   # layer_norm
  %18 = sub %8, %17 : f32[]   # layer_norm
  %19 = max %18, %17 : f32[]   # layer_norm
  %20 = view.reshape %19 [1, 1] : f32[1, 1]   # layer_norm
  %21 = view.expand %20 [16384, 1] : f32[16384, 1]   # layer_norm
  %22 = div %16, %21 : f32[16384, 1]   # layer_norm
  %23 = const f32 1e-5 : f32[]   # layer_norm
  %24 = view.reshape %23 [1, 1] : f32[1, 1]   # layer_norm
  %25 = view.expand %24 [16384, 1] : f32[16384, 1]   # layer_norm
  %26 = add %22, %25 : f32[16384, 1]   # layer_norm
  %27 = rsqrt %26 : f32[16384, 1]   # layer_norm
  %28 = view.expand %27 [16384, 4096] : f32[16384, 4096]   # layer_norm
  %29 = mul %13, %28 : f32[16384, 4096]   # layer_norm
  %30 = cast.f32 %2 : f32[4096]   # layer_norm
  %31 = view.reshape %30 [1, 4096] : f32[1, 4096]   # layer_norm
  %32 = view.expand %31 [16384, 4096] : f32[16384, 4096]   # layer_norm
  %33 = mul %29, %32 : f32[16384, 4096]   # layer_norm
  %34 = cast.f32 %3 : f32[4096]   # layer_norm
  %35 = view.reshape %34 [1, 4096] : f32[1, 4096]   # layer_norm
  %36 = view.expand %35 [16384, 4096] : f32[16384, 4096]   # layer_norm
  %37 = add %33, %36 : f32[16384, 4096]   # layer_norm
  %38 = cast.bf16 %37 : bf16[16384, 4096]   # layer_norm
  return s = %4, y = %38
}
