# row GeGLU MLP bf16 [8192, 768->3072]
# ruler product
# kernels 4
func geglu(x: bf16[8192, 768], gate: bf16[3072, 768], up: bf16[3072, 768], down: bf16[768, 3072]) -> (y) {
  %4 = contract %0, %1 "ab,cb->ac" acc f32 : bf16[8192, 3072]   # linear
  %5 = cast.f32 %4 : f32[8192, 3072]   # gelu
  %6 = mul %5, %5 : f32[8192, 3072]   # gelu
  %7 = mul %6, %5 : f32[8192, 3072]   # gelu
  %8 = const f32 0.044715 : f32[]   # gelu
  %9 = view.reshape %8 [1, 1] : f32[1, 1]   # gelu
  %10 = view.expand %9 [8192, 3072] : f32[8192, 3072]   # gelu
  %11 = mul %7, %10 : f32[8192, 3072]   # gelu
  %12 = add %5, %11 : f32[8192, 3072]   # gelu
  %13 = const f32 0.7978846 : f32[]   # gelu
  %14 = view.reshape %13 [1, 1] : f32[1, 1]   # gelu
  %15 = view.expand %14 [8192, 3072] : f32[8192, 3072]   # gelu
  %16 = mul %12, %15 : f32[8192, 3072]   # gelu
  %17 = tanh %16 : f32[8192, 3072]   # gelu
  %18 = const f32 1.0 : f32[]   # gelu
  %19 = view.reshape %18 [1, 1] : f32[1, 1]   # gelu
  %20 = view.expand %19 [8192, 3072] : f32[8192, 3072]   # gelu
  %21 = add %17, %20 : f32[8192, 3072]   # gelu
  %22 = const f32 0.5 : f32[]   # gelu
  %23 = view.reshape %22 [1, 1] : f32[1, 1]   # gelu
  %24 = view.expand %23 [8192, 3072] : f32[8192, 3072]   # gelu
  %25 = mul %5, %24 : f32[8192, 3072]   # gelu
  %26 = mul %25, %21 : f32[8192, 3072]   # gelu
  %27 = cast.bf16 %26 : bf16[8192, 3072]   # gelu
  %28 = contract %0, %2 "ab,cb->ac" acc f32 : bf16[8192, 3072]   # linear
  %29 = mul %27, %28 : bf16[8192, 3072]   # mul
  %30 = contract %29, %3 "ab,cb->ac" acc f32 : bf16[8192, 768]   # linear
  return y = %30
}
