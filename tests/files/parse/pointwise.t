test parse
func f(x: f32[n, 4], y: f32[n, 4]) {
  %s = add %x, %y   # residual @ model.rs:3
  %e = exp %s
  return out = %e
}
----
func f(x: f32[n, 4], y: f32[n, 4]) -> (out) {
  %2 = add %0, %1 : f32[n, 4]   # residual @ model.rs:3
  %3 = exp %2 : f32[n, 4]
  return out = %3
}
