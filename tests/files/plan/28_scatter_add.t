test plan
# row 28: x[i] += v with repeated i, then x·2: the scatter is a barrier for its readers, F12
# golden 2
func scatter_add(x: donated f32[30522, 64], i: i64[4096], v: f32[4096, 64]) -> (x, y) {
  %3 = view.reshape %i [4096, 1] : i64[4096, 1]   # index_add @ model.rs:11
  %4 = view.expand %3 [4096, 64] : i64[4096, 64]   # index_add @ model.rs:11
  %5 = write.add.indices %x, %v, %4 [0] : f32[30522, 64]   # index_add @ model.rs:11
  %6 = const f32 2.0 : f32[]   # mul @ model.rs:12
  %7 = view.reshape %6 [1, 1] : f32[1, 1]   # mul @ model.rs:12
  %8 = view.expand %7 [30522, 64] : f32[30522, 64]   # mul @ model.rs:12
  %9 = mul %5, %8 : f32[30522, 64]   # mul @ model.rs:12
  return x = %5, y = %9
}
----
2 kernels
k0_index_add: Scatter (4096 × 64 | ) members %5 -> %5 over %0; read 1081344 written 1048576 flops 16384
k1_mul: Pointwise (30522 × 64 | ) members %9 -> %9; read 7813632 written 7813632 flops 1953408
F12 %5 f32[30522, 64] of k0_index_add -> k1_mul: a write is a barrier for its readers
