test simplify
func f(x: f32[n, 4]) {
  %n = sym n
  %two = const i64 2
  %m = mul %n, %two
  %k = add %m, %n
  %d = floordiv %k, %two
  return y = %d
}
----
func f(x: f32[n, 4]) -> (y) {
  %1 = sym n + n//2 : i64[]
  return y = %1
}
