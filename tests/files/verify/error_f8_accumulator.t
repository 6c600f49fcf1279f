test verify
func f(x: f8e5m2[4, 4], y: f8e5m2[4, 4]) {
  %a = contract %x, %y "ab,bc->ac" acc f64
  return z = %a
}
----
error: test:2:8: contract(f8e5m2[4, 4], f8e5m2[4, 4]): operands of f8e5m2 accumulate in f32, not in f64
