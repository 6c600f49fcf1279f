test plan
# row 35: symbolic batch and sequence; as row 9: attention with scale, mask and dropout: scores, softmax and dropout, values
# golden 3
func attention(
  q: f32[b, 12, s, 64],
  k: f32[b, 12, s, 64],
  v: f32[b, 12, s, 64],
  mask: f32[b, 1, 1, s],
  key: i64[],
  offset: i64[],
) -> (y) {
  %6 = contract %q, %k "abcd,abed->abce" acc f32 : f32[b, 12, s, s]   # attention @ model.rs:11
  %7 = const f32 0.125 : f32[]   # attention @ model.rs:11
  %8 = view.reshape %7 [1, 1, 1, 1] : f32[1, 1, 1, 1]   # attention @ model.rs:11
  %9 = view.expand %8 [b, 12, s, s] : f32[b, 12, s, s]   # attention @ model.rs:11
  %10 = mul %6, %9 : f32[b, 12, s, s]   # attention @ model.rs:11
  %11 = view.expand %mask [b, 12, s, s] : f32[b, 12, s, s]   # attention @ model.rs:11
  %12 = add %10, %11 : f32[b, 12, s, s]   # attention @ model.rs:11
  %13 = reduce.max %12 [3] : f32[b, 12, s]   # attention @ model.rs:11
  %14 = view.reshape %13 [b, 12, s, 1] : f32[b, 12, s, 1]   # attention @ model.rs:11
  %15 = view.expand %14 [b, 12, s, s] : f32[b, 12, s, s]   # attention @ model.rs:11
  %16 = sub %12, %15 : f32[b, 12, s, s]   # attention @ model.rs:11
  %17 = exp %16 : f32[b, 12, s, s]   # attention @ model.rs:11
  %18 = reduce.sum %17 [3] : f32[b, 12, s]   # attention @ model.rs:11
  %19 = view.reshape %18 [b, 12, s, 1] : f32[b, 12, s, 1]   # attention @ model.rs:11
  %20 = view.expand %19 [b, 12, s, s] : f32[b, 12, s, s]   # attention @ model.rs:11
  %21 = div %17, %20 : f32[b, 12, s, s]   # attention @ model.rs:11
  %22 = iota 12*b*s*s   # attention @ model.rs:11
  %23 = view.reshape %offset [1] : i64[1]   # attention @ model.rs:11
  %24 = view.expand %23 [12*b*s*s]   # attention @ model.rs:11
  %25 = add %22, %24   # attention @ model.rs:11
  %26 = view.reshape %key [1] : i64[1]   # attention @ model.rs:11
  %27 = view.expand %26 [12*b*s*s]   # attention @ model.rs:11
  %28 = philox.0 %27, %25   # attention @ model.rs:11
  %29 = const u32 8 : u32[]   # attention @ model.rs:11
  %30 = view.reshape %29 [1] : u32[1]   # attention @ model.rs:11
  %31 = view.expand %30 [12*b*s*s]   # attention @ model.rs:11
  %32 = shr %28, %31   # attention @ model.rs:11
  %33 = cast.f32 %32   # attention @ model.rs:11
  %34 = const f32 5.960464477539063e-08 : f32[]   # attention @ model.rs:11
  %35 = view.reshape %34 [1] : f32[1]   # attention @ model.rs:11
  %36 = view.expand %35 [12*b*s*s]   # attention @ model.rs:11
  %37 = mul %33, %36   # attention @ model.rs:11
  %38 = view.reshape %37 [b, 12, s, s] : f32[b, 12, s, s]   # attention @ model.rs:11
  %39 = const f32 0.1 : f32[]   # attention @ model.rs:11
  %40 = view.reshape %39 [1, 1, 1, 1] : f32[1, 1, 1, 1]   # attention @ model.rs:11
  %41 = view.expand %40 [b, 12, s, s] : f32[b, 12, s, s]   # attention @ model.rs:11
  %42 = ge %38, %41 : bool[b, 12, s, s]   # attention @ model.rs:11
  %43 = const f32 1.1111111111111112 : f32[]   # attention @ model.rs:11
  %44 = view.reshape %43 [1, 1, 1, 1] : f32[1, 1, 1, 1]   # attention @ model.rs:11
  %45 = view.expand %44 [b, 12, s, s] : f32[b, 12, s, s]   # attention @ model.rs:11
  %46 = mul %21, %45 : f32[b, 12, s, s]   # attention @ model.rs:11
  %47 = const f32 0.0 : f32[]   # attention @ model.rs:11
  %48 = view.reshape %47 [1, 1, 1, 1] : f32[1, 1, 1, 1]   # attention @ model.rs:11
  %49 = view.expand %48 [b, 12, s, s] : f32[b, 12, s, s]   # attention @ model.rs:11
  %50 = select %42, %46, %49 : f32[b, 12, s, s]   # attention @ model.rs:11
  %51 = contract %50, %v "abcd,abde->abce" acc f32 : f32[b, 12, s, 64]   # attention @ model.rs:11
  return y = %51
}
----
3 kernels
k0_attention: Contraction (b × 12 × s × s | 64) members %6 %10 -> %10; read 100663296 written 100663296 flops 3246391296
k1_attention: Row (b × 12 × s | s) members %12 %13 %16 %17 %18 %21 %25 %28 %32 %33 %37 %42 %46 %50 -> %50; read 100728848 written 100663296 flops 981467136
k2_attention: Contraction (b × 12 × s × 64 | s) members %51 -> %51; read 150994944 written 50331648 flops 3221225472
F13 %10 f32[b, 12, s, s] of k0_attention -> k1_attention: a reduction cannot share the tiles of a matrix product
F13 %50 f32[b, 12, s, s] of k1_attention -> k2_attention: a reduction cannot share the tiles of a matrix product
