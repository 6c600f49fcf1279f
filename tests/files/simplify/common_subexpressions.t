test simplify
func f(x: f32[4], z: f32[4]) {
  %a = add %x, %z
  %b = add %z, %x
  %c = mul %a, %b
  return y = %c
}
----
func f(x: f32[4], z: f32[4]) -> (y) {
  %2 = add %0, %1 : f32[4]
  %3 = mul %2, %2 : f32[4]
  return y = %3
}
