test simplify
func f(x: f32[4], z: f32[4]) {
  %a = exp %z
  %b = neg %x   # neg @ model.rs:1
  return y = %b
}
----
func f(x: f32[4], z: f32[4]) -> (y) {
  %2 = neg %0 : f32[4]   # neg @ model.rs:1
  return y = %2
}
