test plan
# row 32: a reshape between pointwise ops: one linear axis
# golden 1
func reshape_pointwise(x: f32[6, 4]) -> (y) {
  %1 = exp %x : f32[6, 4]   # exp @ model.rs:11
  %2 = view.reshape %1 [8, 3] : f32[8, 3]   # reshape @ model.rs:12
  %3 = const f32 0.0 : f32[]   # relu @ model.rs:13
  %4 = view.reshape %3 [1, 1] : f32[1, 1]   # relu @ model.rs:13
  %5 = view.expand %4 [8, 3] : f32[8, 3]   # relu @ model.rs:13
  %6 = max %2, %5 : f32[8, 3]   # relu @ model.rs:13
  return y = %6
}
----
1 kernels
k0_exp_relu: Pointwise (8 × 3 | ) members %1 %6 -> %6; read 96 written 96 flops 168
