test plan
# row 27: exp(x) read straight and transposed, 64²
# golden 1
func straight_and_transposed(x: f32[64, 64], t: f32[64, 64]) -> (plus, times) {
  %2 = exp %x : f32[64, 64]   # exp @ model.rs:11
  %3 = const f32 1.0 : f32[]   # add @ model.rs:12
  %4 = view.reshape %3 [1, 1] : f32[1, 1]   # add @ model.rs:12
  %5 = view.expand %4 [64, 64] : f32[64, 64]   # add @ model.rs:12
  %6 = add %2, %5 : f32[64, 64]   # add @ model.rs:12
  %7 = view.permute %2 [1, 0] : f32[64, 64]   # transpose @ model.rs:13
  %8 = mul %7, %t : f32[64, 64]   # mul @ model.rs:14
  return plus = %6, times = %8
}
----
1 kernels
k0_exp_add_mul: Pointwise (64 × 64 | ) members %2 %6 %8 -> %6 %8; read 32768 written 32768 flops 32768
