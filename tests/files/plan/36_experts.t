test plan
# weights of chosen experts: they share the indices and an extent, but lie along different axes of a common loop
# golden 2
func experts(choice: i64[48], up: f32[4, 2048, 512], down: f32[4, 512, 1024]) -> (u, d) {
  %3 = const i64 0 : i64[]   # index @ model.rs:11
  %4 = view.reshape %3 [1] : i64[1]   # index @ model.rs:11
  %5 = view.expand %4 [48] : i64[48]   # index @ model.rs:11
  %6 = lt %choice, %5 : bool[48]   # index @ model.rs:11
  %7 = const i64 4 : i64[]   # index @ model.rs:11
  %8 = view.reshape %7 [1] : i64[1]   # index @ model.rs:11
  %9 = view.expand %8 [48] : i64[48]   # index @ model.rs:11
  %10 = add %choice, %9 : i64[48]   # index @ model.rs:11
  %11 = select %6, %10, %choice : i64[48]   # index @ model.rs:11
  %12 = view.reshape %11 [48, 1, 1] : i64[48, 1, 1]   # index @ model.rs:11
  %13 = view.expand %12 [48, 2048, 512] : i64[48, 2048, 512]   # index @ model.rs:11
  %14 = gather %up, %13 [0] : f32[48, 2048, 512]   # index @ model.rs:11
  %15 = view.expand %12 [48, 512, 1024] : i64[48, 512, 1024]   # index @ model.rs:12
  %16 = gather %down, %15 [0] : f32[48, 512, 1024]   # index @ model.rs:12
  return u = %14, d = %16
}
----
2 kernels
k0_index: Row (48 | 2048 × 512) members %6 %10 %11 %14 -> %11 %14; read 16777600 written 201326976 flops 240
k1_index: Pointwise (48 × 512 × 1024 | ) members %16 -> %16; read 8388992 written 100663296 flops 96
F13 %11 i64[48] of k0_index -> k1_index: would take 161058.2 µs longer
