test plan
# row 35: symbolic batch and sequence; as row 11: RoPE by slices, negation and concat
# golden 1
func rotate_half(x: f32[b, 12, s, 64], cos: f32[s, 64], sin: f32[s, 64]) -> (y) {
  %3 = view.slice %x start [0, 0, 0, 0] len [b, 12, s, 32] step [1, 1, 1, 1] : f32[b, 12, s, 32]   # slice @ model.rs:11
  %4 = view.slice %x start [0, 0, 0, 32] len [b, 12, s, 32] step [1, 1, 1, 1] : f32[b, 12, s, 32]   # slice @ model.rs:12
  %5 = neg %4 : f32[b, 12, s, 32]   # neg @ model.rs:13
  %6 = concat %5, %3 [3] : f32[b, 12, s, 64]   # concat @ model.rs:14
  %7 = view.reshape %cos [1, 1, s, 64] : f32[1, 1, s, 64]   # mul @ model.rs:15
  %8 = view.expand %7 [b, 12, s, 64] : f32[b, 12, s, 64]   # mul @ model.rs:15
  %9 = mul %x, %8 : f32[b, 12, s, 64]   # mul @ model.rs:15
  %10 = view.reshape %sin [1, 1, s, 64] : f32[1, 1, s, 64]   # mul @ model.rs:16
  %11 = view.expand %10 [b, 12, s, 64] : f32[b, 12, s, 64]   # mul @ model.rs:16
  %12 = mul %6, %11 : f32[b, 12, s, 64]   # mul @ model.rs:16
  %13 = add %9, %12 : f32[b, 12, s, 64]   # add @ model.rs:17
  return y = %13
}
----
1 kernels
k0_neg_concat_mul_add: Pointwise (b × 12 × s × 64 | ) members %5 %6 %7 %10 %13 %14 -> %14; read 50397184 written 50331648 flops 56623104
