test simplify
func f(x: f32[b, m, 8], w: frozen f32[8, 4]) {
  %w1 = view.reshape %w [1, 8, 4]
  %w2 = view.expand %w1 [b, 8, 4]
  %y = contract %x, %w2 "bmk,bkn->bmn" acc f32
  return y = %y
}
----
func f(x: f32[b, m, 8], w: frozen f32[8, 4]) -> (y) {
  %2 = contract %0, %1 "bmk,kn->bmn" acc f32 : f32[b, m, 4]
  return y = %2
}
