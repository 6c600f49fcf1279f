test plan
# row 10: x@Wqkv + b, split, reshape, permute to heads: three outputs through store maps, no copies
# golden 1
func qkv_heads(x: f32[8, 128, 768], w: frozen f32[768, 2304], b: frozen f32[2304]) -> (q, k, v) {
  %3 = contract %x, %w "abc,cd->abd" acc f32 : f32[8, 128, 2304]   # matmul @ model.rs:11
  %4 = view.reshape %b [1, 1, 2304] : f32[1, 1, 2304]   # add @ model.rs:12
  %5 = view.expand %4 [8, 128, 2304] : f32[8, 128, 2304]   # add @ model.rs:12
  %6 = add %3, %5 : f32[8, 128, 2304]   # add @ model.rs:12
  %7 = view.slice %6 start [0, 0, 0] len [8, 128, 768] step [1, 1, 1] : f32[8, 128, 768]   # split @ model.rs:13
  %8 = view.slice %6 start [0, 0, 768] len [8, 128, 768] step [1, 1, 1] : f32[8, 128, 768]   # split @ model.rs:13
  %9 = view.slice %6 start [0, 0, 1536] len [8, 128, 768] step [1, 1, 1] : f32[8, 128, 768]   # split @ model.rs:13
  %10 = view.reshape %7 [8, 128, 12, 64] : f32[8, 128, 12, 64]   # heads @ model.rs:14
  %11 = view.permute %10 [0, 2, 1, 3] : f32[8, 12, 128, 64]   # heads @ model.rs:14
  %12 = view.reshape %8 [8, 128, 12, 64] : f32[8, 128, 12, 64]   # heads @ model.rs:15
  %13 = view.permute %12 [0, 2, 1, 3] : f32[8, 12, 128, 64]   # heads @ model.rs:15
  %14 = view.reshape %9 [8, 128, 12, 64] : f32[8, 128, 12, 64]   # heads @ model.rs:16
  %15 = view.permute %14 [0, 2, 1, 3] : f32[8, 12, 128, 64]   # heads @ model.rs:16
  return q = %11, k = %13, v = %15
}
----
1 kernels
k0_matmul_add: Contraction (8 × 128 × 2304 | 768) members %3 %6 -> %6; read 10232832 written 9437184 flops 3626237952
