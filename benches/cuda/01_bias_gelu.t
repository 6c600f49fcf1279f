# row bias+gelu+scale+shift f16 [8192, 8192]
# target 0.97
func bias_gelu(x: f16[8192, 8192], bias: f16[8192]) -> (y) {
  %2 = view.reshape %1 [1, 8192] : f16[1, 8192]   # add
  %3 = view.expand %2 [8192, 8192] : f16[8192, 8192]   # add
  %4 = add %0, %3 : f16[8192, 8192]   # add
  %5 = cast.f32 %4 : f32[8192, 8192]   # gelu
  %6 = const f32 0.70710677 : f32[]   # gelu
  %7 = view.reshape %6 [1, 1] : f32[1, 1]   # gelu
  %8 = view.expand %7 [8192, 8192] : f32[8192, 8192]   # gelu
  %9 = mul %5, %8 : f32[8192, 8192]   # gelu
  %10 = erf %9 : f32[8192, 8192]   # gelu
  %11 = const f32 1.0 : f32[]   # gelu
  %12 = view.reshape %11 [1, 1] : f32[1, 1]   # gelu
  %13 = view.expand %12 [8192, 8192] : f32[8192, 8192]   # gelu
  %14 = add %10, %13 : f32[8192, 8192]   # gelu
  %15 = const f32 0.5 : f32[]   # gelu
  %16 = view.reshape %15 [1, 1] : f32[1, 1]   # gelu
  %17 = view.expand %16 [8192, 8192] : f32[8192, 8192]   # gelu
  %18 = mul %5, %17 : f32[8192, 8192]   # gelu
  %19 = mul %18, %14 : f32[8192, 8192]   # gelu
  %20 = cast.f16 %19 : f16[8192, 8192]   # gelu
  %21 = const f16 0.5 : f16[]   # mul
  %22 = view.reshape %21 [1, 1] : f16[1, 1]   # mul
  %23 = view.expand %22 [8192, 8192] : f16[8192, 8192]   # mul
  %24 = mul %20, %23 : f16[8192, 8192]   # mul
  %25 = const f16 0.099975586 : f16[]   # add
  %26 = view.reshape %25 [1, 1] : f16[1, 1]   # add
  %27 = view.expand %26 [8192, 8192] : f16[8192, 8192]   # add
  %28 = add %24, %27 : f16[8192, 8192]   # add
  return y = %28
}
