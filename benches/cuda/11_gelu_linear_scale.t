# row gelu(x@W+b)*scale bf16 8192x8192x8192
# ruler product
# kernels 2
func gelu_linear_scale(x: bf16[8192, 8192], w: bf16[8192, 8192], bias: bf16[8192], scale: bf16[8192]) -> (y) {
  %4 = contract %0, %1 "ab,bc->ac" acc f32 : bf16[8192, 8192]   # matmul
  %5 = view.reshape %2 [1, 8192] : bf16[1, 8192]   # add
  %6 = view.expand %5 [8192, 8192] : bf16[8192, 8192]   # add
  %7 = add %4, %6 : bf16[8192, 8192]   # add
  %8 = cast.f32 %7 : f32[8192, 8192]   # gelu
  %9 = const f32 0.70710677 : f32[]   # gelu
  %10 = view.reshape %9 [1, 1] : f32[1, 1]   # gelu
  %11 = view.expand %10 [8192, 8192] : f32[8192, 8192]   # gelu
  %12 = mul %8, %11 : f32[8192, 8192]   # gelu
  %13 = erf %12 : f32[8192, 8192]   # gelu
  %14 = const f32 1.0 : f32[]   # gelu
  %15 = view.reshape %14 [1, 1] : f32[1, 1]   # gelu
  %16 = view.expand %15 [8192, 8192] : f32[8192, 8192]   # gelu
  %17 = add %13, %16 : f32[8192, 8192]   # gelu
  %18 = const f32 0.5 : f32[]   # gelu
  %19 = view.reshape %18 [1, 1] : f32[1, 1]   # gelu
  %20 = view.expand %19 [8192, 8192] : f32[8192, 8192]   # gelu
  %21 = mul %8, %20 : f32[8192, 8192]   # gelu
  %22 = mul %21, %17 : f32[8192, 8192]   # gelu
  %23 = cast.bf16 %22 : bf16[8192, 8192]   # gelu
  %24 = view.reshape %3 [1, 8192] : bf16[1, 8192]   # mul
  %25 = view.expand %24 [8192, 8192] : bf16[8192, 8192]   # mul
  %26 = mul %23, %25 : bf16[8192, 8192]   # mul
  return y = %26
}
