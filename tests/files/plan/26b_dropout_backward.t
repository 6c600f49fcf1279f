test plan
# row 26: dropout backward, the mask is computed again
# golden 1
func dropout_backward(dy: f32[512, 768], key: i64[], offset: i64[]) -> (dx) {
  %3 = iota 393216 : i64[393216]   # dropout @ model.rs:11
  %4 = view.reshape %offset [1] : i64[1]   # dropout @ model.rs:11
  %5 = view.expand %4 [393216] : i64[393216]   # dropout @ model.rs:11
  %6 = add %3, %5 : i64[393216]   # dropout @ model.rs:11
  %7 = view.reshape %key [1] : i64[1]   # dropout @ model.rs:11
  %8 = view.expand %7 [393216] : i64[393216]   # dropout @ model.rs:11
  %9 = philox.0 %8, %6 : u32[393216]   # dropout @ model.rs:11
  %10 = const u32 8 : u32[]   # dropout @ model.rs:11
  %11 = view.reshape %10 [1] : u32[1]   # dropout @ model.rs:11
  %12 = view.expand %11 [393216] : u32[393216]   # dropout @ model.rs:11
  %13 = shr %9, %12 : u32[393216]   # dropout @ model.rs:11
  %14 = cast.f32 %13 : f32[393216]   # dropout @ model.rs:11
  %15 = const f32 5.960464477539063e-08 : f32[]   # dropout @ model.rs:11
  %16 = view.reshape %15 [1] : f32[1]   # dropout @ model.rs:11
  %17 = view.expand %16 [393216] : f32[393216]   # dropout @ model.rs:11
  %18 = mul %14, %17 : f32[393216]   # dropout @ model.rs:11
  %19 = view.reshape %18 [512, 768] : f32[512, 768]   # dropout @ model.rs:11
  %20 = const f32 0.1 : f32[]   # dropout @ model.rs:11
  %21 = view.reshape %20 [1, 1] : f32[1, 1]   # dropout @ model.rs:11
  %22 = view.expand %21 [512, 768] : f32[512, 768]   # dropout @ model.rs:11
  %23 = ge %19, %22 : bool[512, 768]   # dropout @ model.rs:11
  %24 = const f32 1.1111111111111112 : f32[]   # dropout @ model.rs:11
  %25 = view.reshape %24 [1, 1] : f32[1, 1]   # dropout @ model.rs:11
  %26 = view.expand %25 [512, 768] : f32[512, 768]   # dropout @ model.rs:11
  %27 = mul %dy, %26 : f32[512, 768]   # dropout @ model.rs:11
  %28 = const f32 0.0 : f32[]   # dropout @ model.rs:11
  %29 = view.reshape %28 [1, 1] : f32[1, 1]   # dropout @ model.rs:11
  %30 = view.expand %29 [512, 768] : f32[512, 768]   # dropout @ model.rs:11
  %31 = select %23, %27, %30 : f32[512, 768]   # dropout @ model.rs:11
  return dx = %31
}
----
1 kernels
k0_dropout: Pointwise (512 × 768 | ) members %6 %9 %13 %14 %18 %23 %27 %31 -> %31; read 1572880 written 1572864 flops 10616832
