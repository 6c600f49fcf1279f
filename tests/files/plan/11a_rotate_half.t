test plan
# row 11: RoPE by slices, negation and concat
# golden 1
func rotate_half(x: f32[8, 12, 128, 64], cos: f32[128, 64], sin: f32[128, 64]) -> (y) {
  %3 = view.slice %x start [0, 0, 0, 0] len [8, 12, 128, 32] step [1, 1, 1, 1] : f32[8, 12, 128, 32]   # slice @ model.rs:11
  %4 = view.slice %x start [0, 0, 0, 32] len [8, 12, 128, 32] step [1, 1, 1, 1] : f32[8, 12, 128, 32]   # slice @ model.rs:12
  %5 = neg %4 : f32[8, 12, 128, 32]   # neg @ model.rs:13
  %6 = concat %5, %3 [3] : f32[8, 12, 128, 64]   # concat @ model.rs:14
  %7 = view.reshape %cos [1, 1, 128, 64] : f32[1, 1, 128, 64]   # mul @ model.rs:15
  %8 = view.expand %7 [8, 12, 128, 64] : f32[8, 12, 128, 64]   # mul @ model.rs:15
  %9 = mul %x, %8 : f32[8, 12, 128, 64]   # mul @ model.rs:15
  %10 = view.reshape %sin [1, 1, 128, 64] : f32[1, 1, 128, 64]   # mul @ model.rs:16
  %11 = view.expand %10 [8, 12, 128, 64] : f32[8, 12, 128, 64]   # mul @ model.rs:16
  %12 = mul %6, %11 : f32[8, 12, 128, 64]   # mul @ model.rs:16
  %13 = add %9, %12 : f32[8, 12, 128, 64]   # add @ model.rs:17
  return y = %13
}
----
1 kernels
k0_neg_concat_mul_add: Pointwise (8 × 12 × 128 × 64 | ) members %5 %6 %7 %10 %13 %14 -> %14; read 3211264 written 3145728 flops 3538944
