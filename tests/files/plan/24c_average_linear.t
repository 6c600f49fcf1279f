test plan
# row 24: average over all positions, then linear
# golden 2
func average_linear(x: f32[8, 512, 7, 7], w: frozen f32[1000, 512], b: frozen f32[1000]) -> (y) {
  %3 = reduce.sum %x [2, 3] : f32[8, 512]   # global_avg_pool @ model.rs:11
  %4 = view.reshape %3 [8, 512, 1, 1] : f32[8, 512, 1, 1]   # global_avg_pool @ model.rs:11
  %5 = const f32 49.0 : f32[]   # global_avg_pool @ model.rs:11
  %6 = view.reshape %5 [1, 1, 1, 1] : f32[1, 1, 1, 1]   # global_avg_pool @ model.rs:11
  %7 = view.expand %6 [8, 512, 1, 1] : f32[8, 512, 1, 1]   # global_avg_pool @ model.rs:11
  %8 = div %4, %7 : f32[8, 512, 1, 1]   # global_avg_pool @ model.rs:11
  %9 = view.reshape %8 [8, 512] : f32[8, 512]   # flatten @ model.rs:12
  %10 = contract %9, %w "ab,cb->ac" acc f32 : f32[8, 1000]   # linear @ model.rs:13
  %11 = view.reshape %b [1, 1000] : f32[1, 1000]   # linear @ model.rs:13
  %12 = view.expand %11 [8, 1000] : f32[8, 1000]   # linear @ model.rs:13
  %13 = add %10, %12 : f32[8, 1000]   # linear @ model.rs:13
  return y = %13
}
----
2 kernels
k0_global_avg_pool: Row (8 × 512 | 7 × 7) members %3 %8 -> %8; read 802816 written 16384 flops 208896
k1_linear: Contraction (8 × 1000 | 512) members %10 %13 -> %13; read 2068384 written 32000 flops 8200000
F13 %8 f32[8, 512, 1, 1] of k0_global_avg_pool -> k1_linear: a reduction cannot share the tiles of a matrix product
