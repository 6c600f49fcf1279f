test simplify
func f(w: frozen f32[4], x: f32[4]) {
  %a = exp %w
  %b = mul %a, %x
  return y = %b
}
----
func f(w: frozen f32[4], x: f32[4]) -> (y) {
  %2 = exp %0 : f32[4]
  %3 = mul %1, %2 : f32[4]
  return y = %3
}
