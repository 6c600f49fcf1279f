test plan
# row 33: one position into a donated cache, then attention over the positions so far: the update costs its slice,
# and two kernels of attention follow: the row statistics are a finish phase of the scores
# golden 3
func cache_attention(cache: donated f32[1024, 2, 12, 64], new: f32[1, 2, 12, 64], q: f32[12, 1, 64], at: i64[]) -> (y, cache) {
  %4 = write.set.dynamic %cache, %new, %at [0] : f32[1024, 2, 12, 64]   # cache_update @ model.rs:11
  %5 = view.slice %4 start [0, 0, 0, 0] len [1024, 1, 12, 64] step [1, 1, 1, 1] : f32[1024, 1, 12, 64]   # select @ model.rs:12
  %6 = view.reshape %5 [1024, 12, 64] : f32[1024, 12, 64]   # select @ model.rs:12
  %7 = view.permute %6 [1, 0, 2] : f32[12, 1024, 64]   # select @ model.rs:12
  %8 = view.slice %4 start [0, 1, 0, 0] len [1024, 1, 12, 64] step [1, 1, 1, 1] : f32[1024, 1, 12, 64]   # select @ model.rs:13
  %9 = view.reshape %8 [1024, 12, 64] : f32[1024, 12, 64]   # select @ model.rs:13
  %10 = view.permute %9 [1, 0, 2] : f32[12, 1024, 64]   # select @ model.rs:13
  %11 = iota 1024 : i64[1024]   # mask @ model.rs:14
  %12 = view.reshape %at [1] : i64[1]   # mask @ model.rs:14
  %13 = view.expand %12 [1024] : i64[1024]   # mask @ model.rs:14
  %14 = le %11, %13 : bool[1024]   # mask @ model.rs:14
  %15 = contract %q, %7 "abc,adc->abd" acc f32 : f32[12, 1, 1024]   # attention @ model.rs:15
  %16 = const f32 0.125 : f32[]   # attention @ model.rs:15
  %17 = view.reshape %16 [1, 1, 1] : f32[1, 1, 1]   # attention @ model.rs:15
  %18 = view.expand %17 [12, 1, 1024] : f32[12, 1, 1024]   # attention @ model.rs:15
  %19 = mul %15, %18 : f32[12, 1, 1024]   # attention @ model.rs:15
  %20 = const f32 -inf : f32[]   # attention @ model.rs:15
  %21 = view.reshape %14 [1, 1, 1024] : bool[1, 1, 1024]   # attention @ model.rs:15
  %22 = view.expand %21 [12, 1, 1024] : bool[12, 1, 1024]   # attention @ model.rs:15
  %23 = view.reshape %20 [1, 1, 1] : f32[1, 1, 1]   # attention @ model.rs:15
  %24 = view.expand %23 [12, 1, 1024] : f32[12, 1, 1024]   # attention @ model.rs:15
  %25 = select %22, %19, %24 : f32[12, 1, 1024]   # attention @ model.rs:15
  %26 = reduce.max %25 [2] : f32[12, 1]   # attention @ model.rs:15
  %27 = view.reshape %26 [12, 1, 1] : f32[12, 1, 1]   # attention @ model.rs:15
  %28 = view.expand %27 [12, 1, 1024] : f32[12, 1, 1024]   # attention @ model.rs:15
  %29 = sub %25, %28 : f32[12, 1, 1024]   # attention @ model.rs:15
  %30 = exp %29 : f32[12, 1, 1024]   # attention @ model.rs:15
  %31 = reduce.sum %30 [2] : f32[12, 1]   # attention @ model.rs:15
  %32 = view.reshape %31 [12, 1, 1] : f32[12, 1, 1]   # attention @ model.rs:15
  %33 = view.expand %32 [12, 1, 1024] : f32[12, 1, 1024]   # attention @ model.rs:15
  %34 = div %30, %33 : f32[12, 1, 1024]   # attention @ model.rs:15
  %35 = contract %34, %10 "abc,acd->abd" acc f32 : f32[12, 1, 64]   # attention @ model.rs:15
  return y = %35, cache = %4
}
----
3 kernels
k0_cache_update: Pointwise (2 × 12 × 64 | ) members %4 -> %4 over %0; read 6152 written 6144 flops 2
k1_mask_attention: Mixed (12 × 1024 | 64) members %12 %13 %17 %23 %24 -> %23 %24; read 3148808 written 49200 flops 1610752
k2_attention: Row (12 × 64 | 1024) members %27 %28 %29 %32 %33 -> %33; read 3194928 written 3072 flops 1695744
F12 %4 f32[1024, 2, 12, 64] of k0_cache_update -> k1_mask_attention: a write is a barrier for its readers
F12 %4 f32[1024, 2, 12, 64] of k0_cache_update -> k2_attention: a write is a barrier for its readers
F04 %23 f32[12, 1, 1024] of k1_mask_attention -> k2_attention: a reduction of a result of the finish phase needs another pass
F04 %24 f32[12, 1] of k1_mask_attention -> k2_attention: a reduction of a result of the finish phase needs another pass
