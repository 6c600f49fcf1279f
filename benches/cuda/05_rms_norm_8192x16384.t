# row RMS norm bf16 [8192, 16384]
# target 0.95
func rms_norm_8192x16384(x: bf16[8192, 16384], w: bf16[16384]) -> (y) {
  %2 = cast.f32 %0 : f32[8192, 16384]   # rms_norm
  %3 = mul %2, %2 : f32[8192, 16384]   # rms_norm
  %4 = reduce.sum %3 [1] : f32[8192]   # rms_norm
  %5 = view.reshape %4 [8192, 1] : f32[8192, 1]   # rms_norm
  %6 = const f32 16384.0 : f32[]   # rms_norm
  %7 = view.reshape %6 [1, 1] : f32[1, 1]   # rms_norm
  %8 = view.expand %7 [8192, 1] : f32[8192, 1]   # rms_norm
  %9 = div %5, %8 : f32[8192, 1]   # rms_norm
  %10 = const f32 1e-6 : f32[]   # rms_norm
  %11 = view.reshape %10 [1, 1] : f32[1, 1]   # rms_norm
  %12 = view.expand %11 [8192, 1] : f32[8192, 1]   # rms_norm
  %13 = add %9, %12 : f32[8192, 1]   # rms_norm
  %14 = rsqrt %13 : f32[8192, 1]   # rms_norm
  %15 = view.expand %14 [8192, 16384] : f32[8192, 16384]   # rms_norm
  %16 = mul %2, %15 : f32[8192, 16384]   # rms_norm
  %17 = cast.f32 %1 : f32[16384]   # rms_norm
  %18 = view.reshape %17 [1, 16384] : f32[1, 16384]   # rms_norm
  %19 = view.expand %18 [8192, 16384] : f32[8192, 16384]   # rms_norm
  %20 = mul %16, %19 : f32[8192, 16384]   # rms_norm
  %21 = cast.bf16 %20 : bf16[8192, 16384]   # rms_norm
  return y = %21
}
