test plan
# row 30: two big products in sequence, with an F07 or F13 remark
# golden 2
func two_matmuls(x: f32[1024, 1024], w1: frozen f32[1024, 4096], w2: frozen f32[4096, 1024]) -> (y) {
  %3 = contract %x, %w1 "ab,bc->ac" acc f32 : f32[1024, 4096]   # matmul @ model.rs:11
  %4 = contract %3, %w2 "ab,bc->ac" acc f32 : f32[1024, 1024]   # matmul @ model.rs:12
  return y = %4
}
----
2 kernels
k0_matmul: Contraction (1024 × 4096 | 1024) members %3 -> %3; read 20971520 written 16777216 flops 8589934592
k1_matmul: Contraction (1024 × 1024 | 4096) members %4 -> %4; read 33554432 written 4194304 flops 8589934592
F03 %3 f32[1024, 4096] of k0_matmul -> k1_matmul: products over different contracted axes
