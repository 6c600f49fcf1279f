test plan
# row 34: reshape [b, -1, 32] of [b, 12, s, 32] between pointwise ops
# golden 1
func reshape_minus_one(x: f32[b, 12, s, 32]) -> (y) {
  %1 = exp %x : f32[b, 12, s, 32]   # exp @ model.rs:11
  %2 = view.reshape %1 [b, 12*s, 32]   # reshape @ model.rs:12
  %3 = const f32 2.0 : f32[]   # mul @ model.rs:13
  %4 = view.reshape %3 [1, 1, 1] : f32[1, 1, 1]   # mul @ model.rs:13
  %5 = view.expand %4 [b, 12*s, 32]   # mul @ model.rs:13
  %6 = mul %2, %5   # mul @ model.rs:13
  return y = %6
}
----
1 kernels
k0_exp_mul: Pointwise (b × 12*s × 32 | ) members %1 %6 -> %6; read 25165824 written 25165824 flops 44040192
