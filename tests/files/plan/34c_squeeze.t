test plan
# row 34: squeeze of a computed extent that is 1
# golden 1
func squeeze(x: f32[n, d, 64]) -> (y) {
  %1 = exp %x : f32[n, d, 64]   # exp @ model.rs:11
  %2 = view.reshape %1 [n, 64] : f32[n, 64]   # squeeze @ model.rs:12
  %3 = const f32 1.0 : f32[]   # add @ model.rs:13
  %4 = view.reshape %3 [1, 1] : f32[1, 1]   # add @ model.rs:13
  %5 = view.expand %4 [n, 64] : f32[n, 64]   # add @ model.rs:13
  %6 = add %2, %5 : f32[n, 64]   # add @ model.rs:13
  return y = %6
}
----
1 kernels
k0_exp_add: Pointwise (n × 64 | ) members %1 %6 -> %6; read 32768 written 32768 flops 57344
