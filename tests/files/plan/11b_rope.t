test plan
# row 11: the rope composite, pairs of halves
# golden 1
func rope(x: f32[8, 12, 128, 64], cos: f32[128, 32], sin: f32[128, 32]) -> (y) {
  %3 = view.slice %x start [0, 0, 0, 0] len [8, 12, 128, 32] step [1, 1, 1, 1] : f32[8, 12, 128, 32]   # rope @ model.rs:11
  %4 = view.slice %x start [0, 0, 0, 32] len [8, 12, 128, 32] step [1, 1, 1, 1] : f32[8, 12, 128, 32]   # rope @ model.rs:11
  %5 = view.reshape %cos [1, 1, 128, 32] : f32[1, 1, 128, 32]   # rope @ model.rs:11
  %6 = view.expand %5 [8, 12, 128, 32] : f32[8, 12, 128, 32]   # rope @ model.rs:11
  %7 = mul %3, %6 : f32[8, 12, 128, 32]   # rope @ model.rs:11
  %8 = view.reshape %sin [1, 1, 128, 32] : f32[1, 1, 128, 32]   # rope @ model.rs:11
  %9 = view.expand %8 [8, 12, 128, 32] : f32[8, 12, 128, 32]   # rope @ model.rs:11
  %10 = mul %4, %9 : f32[8, 12, 128, 32]   # rope @ model.rs:11
  %11 = sub %7, %10 : f32[8, 12, 128, 32]   # rope @ model.rs:11
  %12 = mul %4, %6 : f32[8, 12, 128, 32]   # rope @ model.rs:11
  %13 = mul %3, %9 : f32[8, 12, 128, 32]   # rope @ model.rs:11
  %14 = add %12, %13 : f32[8, 12, 128, 32]   # rope @ model.rs:11
  %15 = concat %11, %14 [3] : f32[8, 12, 128, 64]   # rope @ model.rs:11
  return y = %15
}
----
1 kernels
k0_rope: Pointwise (8 × 12 × 128 × 64 | ) members %7 %10 %11 %12 %13 %14 %15 -> %15; read 3178496 written 3145728 flops 3145728
