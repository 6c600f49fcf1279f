test plan
# row 26: two dropouts with one key and different streams: different masks
# golden 1
func two_dropouts(x: f32[512, 768], r: f32[512, 768], key: i64[], offset: i64[]) -> (y) {
  %4 = iota 393216 : i64[393216]   # dropout @ model.rs:11
  %5 = view.reshape %offset [1] : i64[1]   # dropout @ model.rs:11
  %6 = view.expand %5 [393216] : i64[393216]   # dropout @ model.rs:11
  %7 = add %4, %6 : i64[393216]   # dropout @ model.rs:11
  %8 = view.reshape %key [1] : i64[1]   # dropout @ model.rs:11
  %9 = view.expand %8 [393216] : i64[393216]   # dropout @ model.rs:11
  %10 = philox.0 %9, %7 : u32[393216]   # dropout @ model.rs:11
  %11 = const u32 8 : u32[]   # dropout @ model.rs:11
  %12 = view.reshape %11 [1] : u32[1]   # dropout @ model.rs:11
  %13 = view.expand %12 [393216] : u32[393216]   # dropout @ model.rs:11
  %14 = shr %10, %13 : u32[393216]   # dropout @ model.rs:11
  %15 = cast.f32 %14 : f32[393216]   # dropout @ model.rs:11
  %16 = const f32 5.960464477539063e-08 : f32[]   # dropout @ model.rs:11
  %17 = view.reshape %16 [1] : f32[1]   # dropout @ model.rs:11
  %18 = view.expand %17 [393216] : f32[393216]   # dropout @ model.rs:11
  %19 = mul %15, %18 : f32[393216]   # dropout @ model.rs:11
  %20 = view.reshape %19 [512, 768] : f32[512, 768]   # dropout @ model.rs:11
  %21 = const f32 0.1 : f32[]   # dropout @ model.rs:11
  %22 = view.reshape %21 [1, 1] : f32[1, 1]   # dropout @ model.rs:11
  %23 = view.expand %22 [512, 768] : f32[512, 768]   # dropout @ model.rs:11
  %24 = ge %20, %23 : bool[512, 768]   # dropout @ model.rs:11
  %25 = const f32 1.1111111111111112 : f32[]   # dropout @ model.rs:11
  %26 = view.reshape %25 [1, 1] : f32[1, 1]   # dropout @ model.rs:11
  %27 = view.expand %26 [512, 768] : f32[512, 768]   # dropout @ model.rs:11
  %28 = mul %x, %27 : f32[512, 768]   # dropout @ model.rs:11
  %29 = const f32 0.0 : f32[]   # dropout @ model.rs:11
  %30 = view.reshape %29 [1, 1] : f32[1, 1]   # dropout @ model.rs:11
  %31 = view.expand %30 [512, 768] : f32[512, 768]   # dropout @ model.rs:11
  %32 = select %24, %28, %31 : f32[512, 768]   # dropout @ model.rs:11
  %33 = add %32, %r : f32[512, 768]   # add @ model.rs:12
  %34 = philox.1 %9, %7 : u32[393216]   # dropout @ model.rs:13
  %35 = shr %34, %13 : u32[393216]   # dropout @ model.rs:13
  %36 = cast.f32 %35 : f32[393216]   # dropout @ model.rs:13
  %37 = mul %36, %18 : f32[393216]   # dropout @ model.rs:13
  %38 = view.reshape %37 [512, 768] : f32[512, 768]   # dropout @ model.rs:13
  %39 = ge %38, %23 : bool[512, 768]   # dropout @ model.rs:13
  %40 = mul %33, %27 : f32[512, 768]   # dropout @ model.rs:13
  %41 = select %39, %40, %31 : f32[512, 768]   # dropout @ model.rs:13
  return y = %41
}
----
1 kernels
k0_dropout_add: Pointwise (512 × 768 | ) members %7 %10 %14 %15 %19 %24 %28 %32 %33 %34 %35 %36 %37 %39 %40 %41 -> %41; read 3145744 written 1572864 flops 21233664
