test parse
func f(x: f16[b, m, k], w: frozen f16[k, 8]) {
  %y = contract %x, %w "bmk,kn->bmn" acc f32
  return y = %y
}
----
func f(x: f16[b, m, k], w: frozen f16[k, 8]) -> (y) {
  %2 = contract %0, %1 "bmk,kn->bmn" acc f32 : f16[b, m, 8]
  return y = %2
}
