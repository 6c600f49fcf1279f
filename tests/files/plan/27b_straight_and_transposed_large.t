test plan
# row 27: exp(x) read straight and transposed, 4096²
# golden 1
func straight_and_transposed(x: f32[4096, 4096], t: f32[4096, 4096]) -> (plus, times) {
  %2 = exp %x : f32[4096, 4096]   # exp @ model.rs:11
  %3 = const f32 1.0 : f32[]   # add @ model.rs:12
  %4 = view.reshape %3 [1, 1] : f32[1, 1]   # add @ model.rs:12
  %5 = view.expand %4 [4096, 4096] : f32[4096, 4096]   # add @ model.rs:12
  %6 = add %2, %5 : f32[4096, 4096]   # add @ model.rs:12
  %7 = view.permute %2 [1, 0] : f32[4096, 4096]   # transpose @ model.rs:13
  %8 = mul %7, %t : f32[4096, 4096]   # mul @ model.rs:14
  return plus = %6, times = %8
}
----
1 kernels
k0_exp_add_mul: Pointwise (4096 × 4096 | ) members %2 %6 %8 -> %6 %8; read 134217728 written 134217728 flops 134217728
