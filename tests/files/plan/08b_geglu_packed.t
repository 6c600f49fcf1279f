test plan
# row 8: GeGLU MLP, one [K, 2F] weight that is split
# golden 2
func geglu_packed(x: f32[512, 768], gate_up: frozen f32[768, 6144], down: frozen f32[3072, 768]) -> (y) {
  %3 = contract %x, %gate_up "ab,bc->ac" acc f32 : f32[512, 6144]   # matmul @ model.rs:11
  %4 = view.slice %3 start [0, 0] len [512, 3072] step [1, 1] : f32[512, 3072]   # split @ model.rs:12
  %5 = view.slice %3 start [0, 3072] len [512, 3072] step [1, 1] : f32[512, 3072]   # split @ model.rs:12
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
k0_matmul_gelu_mul: Contraction (512 × 3072 | 768) members %3 %9 %10 %14 %18 %19 %20 -> %20; read 20447232 written 6291456 flops 4852285440
k1_matmul: Contraction (512 × 768 | 3072) members %21 -> %21; read 15728640 written 1572864 flops 2415919104
F03 %20 f32[512, 3072] of k0_matmul_gelu_mul -> k1_matmul: products over different rows or columns
