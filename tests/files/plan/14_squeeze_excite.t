test plan
# row 14: pool, two small contractions with epilogues, and the scale inlined into the projection that reads it
# golden 4
func squeeze_excite(
  x: f32[1, 96, 56, 56],
  w1: frozen f32[24, 96, 1, 1],
  b1: frozen f32[24],
  w2: frozen f32[96, 24, 1, 1],
  b2: frozen f32[96],
  w3: frozen f32[32, 96, 1, 1],
  b3: frozen f32[32],
) -> (y) {
  %7 = reduce.sum %x [2, 3] : f32[1, 96]   # global_avg_pool @ model.rs:11
  %8 = view.reshape %7 [1, 96, 1, 1] : f32[1, 96, 1, 1]   # global_avg_pool @ model.rs:11
  %9 = const f32 3136.0 : f32[]   # global_avg_pool @ model.rs:11
  %10 = view.reshape %9 [1, 1, 1, 1] : f32[1, 1, 1, 1]   # global_avg_pool @ model.rs:11
  %11 = view.expand %10 [1, 96, 1, 1] : f32[1, 96, 1, 1]   # global_avg_pool @ model.rs:11
  %12 = div %8, %11 : f32[1, 96, 1, 1]   # global_avg_pool @ model.rs:11
  %13 = view.reshape %w1 [24, 96] : f32[24, 96]   # conv @ model.rs:12
  %14 = contract %12, %13 "abcd,eb->aecd" acc f32 : f32[1, 24, 1, 1]   # conv @ model.rs:12
  %15 = view.reshape %b1 [1, 24, 1, 1] : f32[1, 24, 1, 1]   # conv @ model.rs:12
  %16 = add %14, %15 : f32[1, 24, 1, 1]   # conv @ model.rs:12
  %17 = const f32 0.0 : f32[]   # relu @ model.rs:13
  %18 = view.reshape %17 [1, 1, 1, 1] : f32[1, 1, 1, 1]   # relu @ model.rs:13
  %19 = view.expand %18 [1, 24, 1, 1] : f32[1, 24, 1, 1]   # relu @ model.rs:13
  %20 = max %16, %19 : f32[1, 24, 1, 1]   # relu @ model.rs:13
  %21 = view.reshape %w2 [96, 24] : f32[96, 24]   # conv @ model.rs:14
  %22 = contract %20, %21 "abcd,eb->aecd" acc f32 : f32[1, 96, 1, 1]   # conv @ model.rs:14
  %23 = view.reshape %b2 [1, 96, 1, 1] : f32[1, 96, 1, 1]   # conv @ model.rs:14
  %24 = add %22, %23 : f32[1, 96, 1, 1]   # conv @ model.rs:14
  %25 = sigmoid %24 : f32[1, 96, 1, 1]   # sigmoid @ model.rs:15
  %26 = view.expand %25 [1, 96, 56, 56] : f32[1, 96, 56, 56]   # mul @ model.rs:16
  %27 = mul %x, %26 : f32[1, 96, 56, 56]   # mul @ model.rs:16
  %28 = view.reshape %w3 [32, 96] : f32[32, 96]   # conv @ model.rs:17
  %29 = contract %27, %28 "abcd,eb->aecd" acc f32 : f32[1, 32, 56, 56]   # conv @ model.rs:17
  %30 = view.reshape %b3 [1, 32, 1, 1] : f32[1, 32, 1, 1]   # conv @ model.rs:17
  %31 = view.expand %30 [1, 32, 56, 56] : f32[1, 32, 56, 56]   # conv @ model.rs:17
  %32 = add %29, %31 : f32[1, 32, 56, 56]   # conv @ model.rs:17
  return y = %32
}
----
4 kernels
k0_global_avg_pool: Row (96 | 56 × 56) members %7 %12 -> %12; read 1204224 written 384 flops 301248
k1_conv: Row (24 | 96) members %14 %16 -> %16; read 9696 written 96 flops 4632
k2_relu_conv_sigmoid_mul: Row (96 | 56 × 56 × 24) members %20 %22 %24 %25 %27 -> %27; read 1213920 written 1204224 flops 306360
k3_conv: Contraction (32 × 56 × 56 | 96) members %29 %32 -> %32; read 1216640 written 401408 flops 19367936
F07 %27 f32[1, 96, 56, 56] of k2_relu_conv_sigmoid_mul -> k3_conv: 2 products in one kernel
F13 %12 f32[1, 96, 1, 1] of k0_global_avg_pool -> k1_conv: would take 0.6 µs longer
F04 %16 f32[1, 24, 1, 1] of k1_conv -> k2_relu_conv_sigmoid_mul: reductions over different parallel axes need a second pass
