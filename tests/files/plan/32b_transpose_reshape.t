test plan
# row 32: transpose and reshape between pointwise ops: div and mod in the load
# golden 1
func transpose_reshape(x: f32[6, 4]) -> (y) {
  %1 = exp %x : f32[6, 4]   # exp @ model.rs:11
  %2 = view.permute %1 [1, 0] : f32[4, 6]   # transpose @ model.rs:12
  %3 = view.reshape %2 [8, 3] : f32[8, 3]   # reshape @ model.rs:13
  %4 = const f32 0.0 : f32[]   # relu @ model.rs:14
  %5 = view.reshape %4 [1, 1] : f32[1, 1]   # relu @ model.rs:14
  %6 = view.expand %5 [8, 3] : f32[8, 3]   # relu @ model.rs:14
  %7 = max %3, %6 : f32[8, 3]   # relu @ model.rs:14
  return y = %7
}
----
1 kernels
k0_exp_relu: Pointwise (8 × 3 | ) members %1 %7 -> %7; read 96 written 96 flops 168
