# row layer norm backward bf16 [32768, 1024]
# target 0.85
func layer_norm_backward_32768x1024(x: bf16[32768, 1024], dy: later bf16[32768, 1024], w: later bf16[1024], mean: later f32[32768, 1], rstd: later f32[32768, 1]) -> (dx, dw, db) {
  %1 = cast.f32 %0 : f32[32768, 1024]
  %2 = input dy : bf16[32768, 1024]
  %3 = cast.f32 %2 : f32[32768, 1024]
  %4 = input w : bf16[1024]
  %5 = cast.f32 %4 : f32[1024]
  %6 = input mean : f32[32768, 1]
  %7 = input rstd : f32[32768, 1]
  %8 = view.expand %6 [32768, 1024] : f32[32768, 1024]   # layer_norm_backward
  %9 = sub %1, %8 : f32[32768, 1024]   # layer_norm_backward
  %10 = view.expand %7 [32768, 1024] : f32[32768, 1024]   # layer_norm_backward
  %11 = mul %9, %10 : f32[32768, 1024]   # layer_norm_backward
  %12 = view.reshape %5 [1, 1024] : f32[1, 1024]   # layer_norm_backward
  %13 = view.expand %12 [32768, 1024] : f32[32768, 1024]   # layer_norm_backward
  %14 = mul %3, %13 : f32[32768, 1024]   # layer_norm_backward
  %15 = mul %14, %11 : f32[32768, 1024]   # layer_norm_backward
  %16 = reduce.sum %14 [1] : f32[32768]   # layer_norm_backward
  %17 = view.reshape %16 [32768, 1] : f32[32768, 1]   # layer_norm_backward
  %18 = const f32 1024.0 : f32[]   # layer_norm_backward
  %19 = view.reshape %18 [1, 1] : f32[1, 1]   # layer_norm_backward
  %20 = view.expand %19 [32768, 1] : f32[32768, 1]   # layer_norm_backward
  %21 = div %17, %20 : f32[32768, 1]   # layer_norm_backward
  %22 = reduce.sum %15 [1] : f32[32768]   # layer_norm_backward
  %23 = view.reshape %22 [32768, 1] : f32[32768, 1]   # layer_norm_backward
  %24 = div %23, %20 : f32[32768, 1]   # layer_norm_backward
  %25 = view.expand %21 [32768, 1024] : f32[32768, 1024]   # layer_norm_backward
  %26 = sub %14, %25 : f32[32768, 1024]   # layer_norm_backward
  %27 = view.expand %24 [32768, 1024] : f32[32768, 1024]   # layer_norm_backward
  %28 = mul %11, %27 : f32[32768, 1024]   # layer_norm_backward
  %29 = sub %26, %28 : f32[32768, 1024]   # layer_norm_backward
  %30 = mul %29, %10 : f32[32768, 1024]   # layer_norm_backward
  %31 = mul %3, %11 : f32[32768, 1024]   # layer_norm_backward
  %32 = reduce.sum %31 [0] : f32[1024]   # layer_norm_backward
  %33 = reduce.sum %3 [0] : f32[1024]   # layer_norm_backward
  %34 = cast.bf16 %30 : bf16[32768, 1024]   # layer_norm_backward
  %35 = cast.bf16 %32 : bf16[1024]   # layer_norm_backward
  %36 = cast.bf16 %33 : bf16[1024]   # layer_norm_backward
  return dx = %34, dw = %35, db = %36
}
