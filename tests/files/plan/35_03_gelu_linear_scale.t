test plan
# row 35: symbolic batch and sequence; as row 3: gelu(x@W + b)·scale
# golden 1
func gelu_linear_scale(x: f32[s, 768], w: frozen f32[768, 3072], b: frozen f32[3072], scale: frozen f32[3072]) -> (y) {
  %4 = contract %x, %w "ab,bc->ac" acc f32 : f32[s, 3072]   # matmul @ model.rs:11
  %5 = view.reshape %b [1, 3072] : f32[1, 3072]   # add @ model.rs:12
  %6 = view.expand %5 [s, 3072] : f32[s, 3072]   # add @ model.rs:12
  %7 = add %4, %6 : f32[s, 3072]   # add @ model.rs:12
  %8 = const f32 0.7071067811865476 : f32[]   # gelu @ model.rs:13
  %9 = view.reshape %8 [1, 1] : f32[1, 1]   # gelu @ model.rs:13
  %10 = view.expand %9 [s, 3072] : f32[s, 3072]   # gelu @ model.rs:13
  %11 = mul %7, %10 : f32[s, 3072]   # gelu @ model.rs:13
  %12 = erf %11 : f32[s, 3072]   # gelu @ model.rs:13
  %13 = const f32 1.0 : f32[]   # gelu @ model.rs:13
  %14 = view.reshape %13 [1, 1] : f32[1, 1]   # gelu @ model.rs:13
  %15 = view.expand %14 [s, 3072] : f32[s, 3072]   # gelu @ model.rs:13
  %16 = add %12, %15 : f32[s, 3072]   # gelu @ model.rs:13
  %17 = const f32 0.5 : f32[]   # gelu @ model.rs:13
  %18 = view.reshape %17 [1, 1] : f32[1, 1]   # gelu @ model.rs:13
  %19 = view.expand %18 [s, 3072] : f32[s, 3072]   # gelu @ model.rs:13
  %20 = mul %7, %19 : f32[s, 3072]   # gelu @ model.rs:13
  %21 = mul %20, %16 : f32[s, 3072]   # gelu @ model.rs:13
  %22 = view.reshape %scale [1, 3072] : f32[1, 3072]   # mul @ model.rs:14
  %23 = view.expand %22 [s, 3072] : f32[s, 3072]   # mul @ model.rs:14
  %24 = mul %21, %23 : f32[s, 3072]   # mul @ model.rs:14
  return y = %24
}
----
1 kernels
k0_matmul_add_gelu_mul: Contraction (s × 3072 | 768) members %4 %7 %11 %12 %16 %20 %21 %24 -> %24; read 9854976 written 1572864 flops 609484800
