test plan
# row 1: ten pointwise ops, mixed f16 and f32, two outputs
# golden 1
func mixed_pointwise(x: f16[512, 1024], y: f32[512, 1024], z: f16[1024]) -> (wide, half) {
  %3 = view.reshape %z [1, 1024] : f16[1, 1024]   # add @ model.rs:11
  %4 = view.expand %3 [512, 1024] : f16[512, 1024]   # add @ model.rs:11
  %5 = add %x, %4 : f16[512, 1024]   # add @ model.rs:11
  %6 = cast.f32 %5 : f32[512, 1024]   # mul @ model.rs:12
  %7 = mul %6, %y : f32[512, 1024]   # mul @ model.rs:12
  %8 = sigmoid %7 : f32[512, 1024]   # silu @ model.rs:13
  %9 = mul %7, %8 : f32[512, 1024]   # silu @ model.rs:13
  %10 = sub %9, %6 : f32[512, 1024]   # sub @ model.rs:14
  %11 = abs %10 : f32[512, 1024]   # abs @ model.rs:15
  %12 = const f32 1.0 : f32[]   # sqrt @ model.rs:16
  %13 = view.reshape %12 [1, 1] : f32[1, 1]   # sqrt @ model.rs:16
  %14 = view.expand %13 [512, 1024] : f32[512, 1024]   # sqrt @ model.rs:16
  %15 = add %11, %14 : f32[512, 1024]   # sqrt @ model.rs:16
  %16 = sqrt %15 : f32[512, 1024]   # sqrt @ model.rs:16
  %17 = cast.f16 %16 : f16[512, 1024]   # half @ model.rs:17
  %18 = max %17, %x : f16[512, 1024]   # max @ model.rs:18
  return wide = %16, half = %18
}
----
1 kernels
k0_add_mul_silu_sub_and_4: Pointwise (512 × 1024 | ) members %5 %6 %7 %8 %9 %10 %11 %15 %16 %17 %18 -> %16 %18; read 3147776 written 3145728 flops 8912896
