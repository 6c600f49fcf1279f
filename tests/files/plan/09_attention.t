test plan
# row 9: attention with scale, mask and dropout: scores, softmax and dropout, values
# golden 3
func attention(
  q: f32[8, 12, 128, 64],
  k: f32[8, 12, 128, 64],
  v: f32[8, 12, 128, 64],
  mask: f32[8, 1, 1, 128],
  key: i64[],
  offset: i64[],
) -> (y) {
  %6 = contract %q, %k "abcd,abed->abce" acc f32 : f32[8, 12, 128, 128]   # attention @ model.rs:11
  %7 = const f32 0.125 : f32[]   # attention @ model.rs:11
  %8 = view.reshape %7 [1, 1, 1, 1] : f32[1, 1, 1, 1]   # attention @ model.rs:11
  %9 = view.expand %8 [8, 12, 128, 128] : f32[8, 12, 128, 128]   # attention @ model.rs:11
  %10 = mul %6, %9 : f32[8, 12, 128, 128]   # attention @ model.rs:11
  %11 = view.expand %mask [8, 12, 128, 128] : f32[8, 12, 128, 128]   # attention @ model.rs:11
  %12 = add %10, %11 : f32[8, 12, 128, 128]   # attention @ model.rs:11
  %13 = reduce.max %12 [3] : f32[8, 12, 128]   # attention @ model.rs:11
  %14 = view.reshape %13 [8, 12, 128, 1] : f32[8, 12, 128, 1]   # attention @ model.rs:11
  %15 = view.expand %14 [8, 12, 128, 128] : f32[8, 12, 128, 128]   # attention @ model.rs:11
  %16 = sub %12, %15 : f32[8, 12, 128, 128]   # attention @ model.rs:11
  %17 = exp %16 : f32[8, 12, 128, 128]   # attention @ model.rs:11
  %18 = reduce.sum %17 [3] : f32[8, 12, 128]   # attention @ model.rs:11
  %19 = view.reshape %18 [8, 12, 128, 1] : f32[8, 12, 128, 1]   # attention @ model.rs:11
  %20 = view.expand %19 [8, 12, 128, 128] : f32[8, 12, 128, 128]   # attention @ model.rs:11
  %21 = div %17, %20 : f32[8, 12, 128, 128]   # attention @ model.rs:11
  %22 = iota 1572864 : i64[1572864]   # attention @ model.rs:11
  %23 = view.reshape %offset [1] : i64[1]   # attention @ model.rs:11
  %24 = view.expand %23 [1572864] : i64[1572864]   # attention @ model.rs:11
  %25 = add %22, %24 : i64[1572864]   # attention @ model.rs:11
  %26 = view.reshape %key [1] : i64[1]   # attention @ model.rs:11
  %27 = view.expand %26 [1572864] : i64[1572864]   # attention @ model.rs:11
  %28 = philox.0 %27, %25 : u32[1572864]   # attention @ model.rs:11
  %29 = const u32 8 : u32[]   # attention @ model.rs:11
  %30 = view.reshape %29 [1] : u32[1]   # attention @ model.rs:11
  %31 = view.expand %30 [1572864] : u32[1572864]   # attention @ model.rs:11
  %32 = shr %28, %31 : u32[1572864]   # attention @ model.rs:11
  %33 = cast.f32 %32 : f32[1572864]   # attention @ model.rs:11
  %34 = const f32 5.960464477539063e-08 : f32[]   # attention @ model.rs:11
  %35 = view.reshape %34 [1] : f32[1]   # attention @ model.rs:11
  %36 = view.expand %35 [1572864] : f32[1572864]   # attention @ model.rs:11
  %37 = mul %33, %36 : f32[1572864]   # attention @ model.rs:11
  %38 = view.reshape %37 [8, 12, 128, 128] : f32[8, 12, 128, 128]   # attention @ model.rs:11
  %39 = const f32 0.1 : f32[]   # attention @ model.rs:11
  %40 = view.reshape %39 [1, 1, 1, 1] : f32[1, 1, 1, 1]   # attention @ model.rs:11
  %41 = view.expand %40 [8, 12, 128, 128] : f32[8, 12, 128, 128]   # attention @ model.rs:11
  %42 = ge %38, %41 : bool[8, 12, 128, 128]   # attention @ model.rs:11
  %43 = const f32 1.1111111111111112 : f32[]   # attention @ model.rs:11
  %44 = view.reshape %43 [1, 1, 1, 1] : f32[1, 1, 1, 1]   # attention @ model.rs:11
  %45 = view.expand %44 [8, 12, 128, 128] : f32[8, 12, 128, 128]   # attention @ model.rs:11
  %46 = mul %21, %45 : f32[8, 12, 128, 128]   # attention @ model.rs:11
  %47 = const f32 0.0 : f32[]   # attention @ model.rs:11
  %48 = view.reshape %47 [1, 1, 1, 1] : f32[1, 1, 1, 1]   # attention @ model.rs:11
  %49 = view.expand %48 [8, 12, 128, 128] : f32[8, 12, 128, 128]   # attention @ model.rs:11
  %50 = select %42, %46, %49 : f32[8, 12, 128, 128]   # attention @ model.rs:11
  %51 = contract %50, %v "abcd,abde->abce" acc f32 : f32[8, 12, 128, 64]   # attention @ model.rs:11
  return y = %51
}
----
3 kernels
k0_attention: Contraction (8 × 12 × 128 × 128 | 64) members %6 %10 -> %10; read 6291456 written 6291456 flops 202899456
k1_attention: Row (8 × 12 × 128 | 128) members %12 %13 %16 %17 %18 %21 %25 %28 %32 %33 %37 %42 %46 %50 -> %50; read 6295568 written 6291456 flops 61341696
k2_attention: Contraction (8 × 12 × 128 × 64 | 128) members %51 -> %51; read 9437184 written 3145728 flops 201326592
F13 %10 f32[8, 12, 128, 128] of k0_attention -> k1_attention: a reduction cannot share the tiles of a matrix product
F13 %50 f32[8, 12, 128, 128] of k1_attention -> k2_attention: a reduction cannot share the tiles of a matrix product
