# row RMS norm bf16 [512, 262144]
# target 0.95
func rms_norm_512x262144(x: bf16[512, 262144], w: bf16[262144]) -> (y) {
  %2 = cast.f32 %0 : f32[512, 262144]   # rms_norm
  %3 = mul %2, %2 : f32[512, 262144]   # rms_norm
  %4 = reduce.sum %3 [1] : f32[512]   # rms_norm
  %5 = view.reshape %4 [512, 1] : f32[512, 1]   # rms_norm
  %6 = const f32 262144.0 : f32[]   # rms_norm
  %7 = view.reshape %6 [1, 1] : f32[1, 1]   # rms_norm
  %8 = view.expand %7 [512, 1] : f32[512, 1]   # rms_norm
  %9 = div %5, %8 : f32[512, 1]   # rms_norm
  %10 = const f32 1e-6 : f32[]   # rms_norm
  %11 = view.reshape %10 [1, 1] : f32[1, 1]   # rms_norm
  %12 = view.expand %11 [512, 1] : f32[512, 1]   # rms_norm
  %13 = add %9, %12 : f32[512, 1]   # rms_norm
  %14 = rsqrt %13 : f32[512, 1]   # rms_norm
  %15 = view.expand %14 [512, 262144] : f32[512, 262144]   # rms_norm
  %16 = mul %2, %15 : f32[512, 262144]   # rms_norm
  %17 = cast.f32 %1 : f32[262144]   # rms_norm
  %18 = view.reshape %17 [1, 262144] : f32[1, 262144]   # rms_norm
  %19 = view.expand %18 [512, 262144] : f32[512, 262144]   # rms_norm
  %20 = mul %16, %19 : f32[512, 262144]   # rms_norm
  %21 = cast.bf16 %20 : bf16[512, 262144]   # rms_norm
  return y = %21
}
