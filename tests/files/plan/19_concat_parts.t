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
1 kernels
k0_exp_tanh_mul_concat_and_1: Pointwise (512 × 1024 | ) members %3 %4 %8 %9 %13 -> %13; read 2097152 written 2097152 flops 3932160
