test plan
# row 8: GeGLU MLP, separate gate and up weights
# golden 2
func geglu(x: f32[512, 768], gate: frozen f32[768, 3072], up: frozen f32[768, 3072], down: frozen f32[3072, 768]) -> (y) {
  %4 = contract %x, %gate "ab,bc->ac" acc f32 : f32[512, 3072]   # matmul @ model.rs:11
  %5 = contract %x, %up "ab,bc->ac" acc f32 : f32[512, 3072]   # matmul @ model.rs:12
  %6 = const f32 0.7071067811865476 : f32[]   # gelu @ model.rs:13
  %7 = view.reshape %6 [1, 1] : f32[1, 1]   # gelu @ model.rs:13
  %8 = view.expand %7 [512, 3072] : f32[512, 3072]   # gelu @ model.rs:13
  %9 = mul %4, %8 : f32[512, 3072]   # gelu @ model.rs:13
  %10 = erf %9 : f32[512, 3072]   # gelu @ model.rs:13
  %11 = const f32 1.0 : f32[]   # gelu @ model.rs:13
  %12 = view.reshape %11 [1, 1] : f32[1, 1]   # gelu @ model.rs:13
  %13 = view.expand %12 [512, 3072] : f32[512, 3072]   # gelu @ model.rs:13
  %14 = add %10, %13 : f32[512, 3072]   # gelu @ model.rs:13
  %15 = const f32 0.5 : f32[]   # gelu @ model.rs:13
  %16 = view.reshape %15 [1, 1] : f32[1, 1]   # gelu @ model.rs:13
  %17 = view.expand %16 [512, 3072] : f32[512, 3072]   # gelu @ model.rs:13
  %18 = mul %4, %17 : f32[512, 3072]   # gelu @ model.rs:13
  %19 = mul %18, %14 : f32[512, 3072]   # gelu @ model.rs:13
  %20 = mul %19, %5 : f32[512, 3072]   # mul @ model.rs:14
  %21 = contract %20, %down "ab,bc->ac" acc f32 : f32[512, 768]   # matmul @ model.rs:15
  return y = %21
}
----
2 kernels
k0_matmul_gelu_mul: Contraction (512 × 3072 | 768) members %4 %5 %9 %10 %14 %18 %19 %20 -> %20; read 20447232 written 6291456 flops 4852285440
k1_matmul: Contraction (512 × 768 | 3072) members %21 -> %21; read 15728640 written 1572864 flops 2415919104
F03 %20 f32[512, 3072] of k0_matmul_gelu_mul -> k1_matmul: products over different rows or columns
