test plan
# row 19: concat of three computed parts, then relu
# golden 1
func concat_parts(x: f32[512, 256], y: f32[512, 512], z: f32[512, 256]) -> (y) {
  %3 = exp %x : f32[512, 256]   # exp @ model.rs:11
  %4 = tanh %y : f32[512, 512]   # tanh @ model.rs:12
  %5 = const f32 2.0 : f32[]   # mul @ model.rs:13
  %6 = view.reshape %5 [1, 1] : f32[1, 1]   # mul @ model.rs:13
  %7 = view.expand %6 [512, 256] : f32[512, 256]   # mul @ model.rs:13
  %8 = mul %z, %7 : f32[512, 256]   # mul @ model.rs:13
  %9 = concat %3, %4, %8 [1] : f32[512, 1024]   # concat @ model.rs:14
  %10 = const f32 0.0 : f32[]   # relu @ model.rs:15
  %11 = view.reshape %10 [1, 1] : f32[1, 1]   # relu @ model.rs:15
  %12 = view.expand %11 [512, 1024] : f32[512, 1024]   # relu @ model.rs:15
  %13 = max %9, %12 : f32[512, 1024]   # relu @ model.rs:15
  return y = %13
}
----
3 kernels
k0_exp: Pointwise (512 × 256 | ) members %3 -> %3; read 524288 written 524288 flops 786432
k1_tanh: Pointwise (512 × 512 | ) members %4 -> %4; read 1048576 written 1048576 flops 1572864
k2_mul_concat_relu: Pointwise (512 × 1024 | ) members %8 %9 %13 -> %13; read 2097152 written 2097152 flops 2097152
F08 %4 f32[512, 512] of k1_tanh -> k2_mul_concat_relu: would take 23.2 µs longer
F08 %3 f32[512, 256] of k0_exp -> k2_mul_concat_relu: would take 141.2 µs longer
