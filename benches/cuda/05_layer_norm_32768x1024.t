# row layer norm bf16 [32768, 1024]
# target 0.95
func layer_norm_32768x1024(x: bf16[32768, 1024], w: bf16[1024], b: bf16[1024]) -> (y) {
  %3 = cast.f32 %0 : f32[32768, 1024]   # layer_norm
  %4 = reduce.sum %3 [1] : f32[32768]   # layer_norm
  %5 = view.reshape %4 [32768, 1] : f32[32768, 1]   # layer_norm
  %6 = const f32 1024.0 : f32[]   # layer_norm
  %7 = view.reshape %6 [1, 1] : f32[1, 1]   # layer_norm
  %8 = view.expand %7 [32768, 1] : f32[32768, 1]   # layer_norm
  %9 = div %5, %8 : f32[32768, 1]   # layer_norm
  %10 = view.expand %9 [32768, 1024] : f32[32768, 1024]   # layer_norm
  %11 = sub %3, %10 : f32[32768, 1024]   # layer_norm
  %12 = mul %11, %11 : f32[32768, 1024]   # layer_norm
  %13 = reduce.sum %12 [1] : f32[32768]   # layer_norm
  %14 = view.reshape %13 [32768, 1] : f32[32768, 1]   # layer_norm
  %15 = const f32 0.0 : f32[]   # layer_norm
  %16 = sub %6, %15 : f32[]   # layer_norm
  %17 = max %16, %15 : f32[]   # layer_norm
  %18 = view.reshape %17 [1, 1] : f32[1, 1]   # layer_norm
  %19 = view.expand %18 [32768, 1] : f32[32768, 1]   # layer_norm
  %20 = div %14, %19 : f32[32768, 1]   # layer_norm
  %21 = const f32 1e-5 : f32[]   # layer_norm
  %22 = view.reshape %21 [1, 1] : f32[1, 1]   # layer_norm
  %23 = view.expand %22 [32768, 1] : f32[32768, 1]   # layer_norm
  %24 = add %20, %23 : f32[32768, 1]   # layer_norm
  %25 = rsqrt %24 : f32[32768, 1]   # layer_norm
  %26 = view.expand %25 [32768, 1024] : f32[32768, 1024]   # layer_norm
  %27 = mul %11, %26 : f32[32768, 1024]   # layer_norm
  %28 = cast.f32 %1 : f32[1024]   # layer_norm
  %29 = view.reshape %28 [1, 1024] : f32[1, 1024]   # layer_norm
  %30 = view.expand %29 [32768, 1024] : f32[32768, 1024]   # layer_norm
  %31 = mul %27, %30 : f32[32768, 1024]   # layer_norm
  %32 = cast.f32 %2 : f32[1024]   # layer_norm
  %33 = view.reshape %32 [1, 1024] : f32[1, 1024]   # layer_norm
  %34 = view.expand %33 [32768, 1024] : f32[32768, 1024]   # layer_norm
  %35 = add %31, %34 : f32[32768, 1024]   # layer_norm
  %36 = cast.bf16 %35 : bf16[32768, 1024]   # layer_norm
  return y = %36
}
