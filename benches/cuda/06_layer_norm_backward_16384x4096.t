# row layer norm backward bf16 [16384, 4096]
# target 0.85
func layer_norm_backward_16384x4096(x: bf16[16384, 4096], dy: later bf16[16384, 4096], w: later bf16[4096], mean: later f32[16384, 1], rstd: later f32[16384, 1]) -> (dx, dw, db) {
  %1 = cast.f32 %0 : f32[16384, 4096]
  %2 = input dy : bf16[16384, 4096]
  %3 = cast.f32 %2 : f32[16384, 4096]
  %4 = input w : bf16[4096]
  %5 = cast.f32 %4 : f32[4096]
  %6 = input mean : f32[16384, 1]
  %7 = input rstd : f32[16384, 1]
  %8 = view.expand %6 [16384, 4096] : f32[16384, 4096]   # layer_norm_backward
  %9 = sub %1, %8 : f32[16384, 4096]   # layer_norm_backward
  %10 = view.expand %7 [16384, 4096] : f32[16384, 4096]   # layer_norm_backward
  %11 = mul %9, %10 : f32[16384, 4096]   # layer_norm_backward
  %12 = view.reshape %5 [1, 4096] : f32[1, 4096]   # layer_norm_backward
  %13 = view.expand %12 [16384, 4096] : f32[16384, 4096]   # layer_norm_backward
  %14 = mul %3, %13 : f32[16384, 4096]   # layer_norm_backward
  %15 = mul %14, %11 : f32[16384, 4096]   # layer_norm_backward
  %16 = reduce.sum %14 [1] : f32[16384]   # layer_norm_backward
  %17 = view.reshape %16 [16384, 1] : f32[16384, 1]   # layer_norm_backward
  %18 = const f32 4096.0 : f32[]   # layer_norm_backward
  %19 = view.reshape %18 [1, 1] : f32[1, 1]   # layer_norm_backward
  %20 = view.expand %19 [16384, 1] : f32[16384, 1]   # layer_norm_backward
  %21 = div %17, %20 : f32[16384, 1]   # layer_norm_backward
  %22 = reduce.sum %15 [1] : f32[16384]   # layer_norm_backward
  %23 = view.reshape %22 [16384, 1] : f32[16384, 1]   # layer_norm_backward
  %24 = div %23, %20 : f32[16384, 1]   # layer_norm_backward
  %25 = view.expand %21 [16384, 4096] : f32[16384, 4096]   # layer_norm_backward
  %26 = sub %14, %25 : f32[16384, 4096]   # layer_norm_backward
  %27 = view.expand %24 [16384, 4096] : f32[16384, 4096]   # layer_norm_backward
  %28 = mul %11, %27 : f32[16384, 4096]   # layer_norm_backward
  %29 = sub %26, %28 : f32[16384, 4096]   # layer_norm_backward
  %30 = mul %29, %10 : f32[16384, 4096]   # layer_norm_backward
  %31 = mul %3, %11 : f32[16384, 4096]   # layer_norm_backward
  %32 = reduce.sum %31 [0] : f32[4096]   # layer_norm_backward
  %33 = reduce.sum %3 [0] : f32[4096]   # layer_norm_backward
  %34 = cast.bf16 %30 : bf16[16384, 4096]   # layer_norm_backward
  %35 = cast.bf16 %32 : bf16[4096]   # layer_norm_backward
  %36 = cast.bf16 %33 : bf16[4096]   # layer_norm_backward
  return dx = %34, dw = %35, db = %36
}
