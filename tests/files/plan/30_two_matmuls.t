test plan
# row 30: two big products in sequence, with an F07 or F13 remark
# golden 2
func two_matmuls(x: f32[1024, 1024], w1: frozen f32[1024, 4096], w2: frozen f32[4096, 1024]) -> (y) {
  %3 = contract %x, %w1 "ab,bc->ac" acc f32 : f32[1024, 4096]   # matmul @ model.rs:11
  %4 = contract %3, %w2 "ab,bc->ac" acc f32 : f32[1024, 1024]   # matmul @ model.rs:12
  return y = %4
}
----
